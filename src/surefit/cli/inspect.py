"""Show what a model file holds: class, parameters, columns, certificate, coefficients. No code runs."""

from __future__ import annotations

from typing import Any

import click

from surefit.cli._frame import Output, shown, verb

MOST = 30  # coefficients shown to people


@verb("inspect", __doc__)
@click.argument("model")
def command(out: Output, model: str) -> None:
    """MODEL is a file that surefit.save, or surefit learn, wrote."""
    out.log(f"opening {model}")
    from surefit.io.load import inspect

    told = inspect(model)
    facts = {
        "file": model,
        "format": told["format"],
        "surefit": told["surefit"],
        "models": _models(told),
        "target": None,
        "columns": [],
        "classes": None,
        "coefficients": [],
        **_learnt(model),
    }
    if not out.json(facts):
        _show(out, facts)


def _models(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The class, parameters and certificate of every step."""
    if told["class"] == "Pipeline":
        steps = [step for _, step in told["parameters"]["steps"] if isinstance(step, dict)]
        return [entry for step in steps for entry in _models(step)]
    return [{key: told[key] for key in ("class", "parameters", "certificate")}]


def _learnt(path: str) -> dict[str, Any]:
    """Columns, classes and coefficients, by the names of what the last step reads."""
    from surefit.cli._model import opened
    from surefit.core.errors import FormatError

    try:
        applied = opened(path, predicts=False)
    except FormatError:  # a class of the user's own: what its file says of itself must do
        return {}
    columns = [
        {"name": c.name, "kind": c.kind, "levels": None if c.levels is None else c.levels.tolist()}
        for c in applied.columns or ()
    ]
    return {
        "target": applied.target,
        "columns": columns,
        "classes": None if applied.classes is None else applied.classes.tolist(),
        "coefficients": _coefficients(applied),
    }


def _coefficients(applied: Any) -> list[dict[str, Any]]:
    import numpy as np

    weights = getattr(applied.last, "coef_", None)
    if weights is None:
        return []
    rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    names = applied.inner_names()
    if rows.ndim != 2 or len(names) != rows.shape[1]:
        return []
    start = np.broadcast_to(np.asarray(getattr(applied.last, "intercept_", 0.0), dtype=np.float64), len(rows))
    labels = [None] * len(rows)
    if applied.classes is not None:
        classes = applied.classes.tolist()
        labels = [classes[-1]] if len(rows) == 1 else classes[: len(rows)]
    return [
        {"label": label, "intercept": float(first), "weights": dict(zip(names, row.tolist(), strict=True))}
        for label, first, row in zip(labels, start, rows, strict=True)
    ]


def _show(out: Output, facts: dict[str, Any]) -> None:
    out.text(f"{facts['file']}: format {facts['format']}, written by surefit {facts['surefit']}")
    for model in facts["models"]:
        out.text()
        out.text(model["class"], style="bold")
        given = [(name, repr(value)) for name, value in model["parameters"].items()]
        if given:
            out.table(("parameter", "value"), given)
        if model["certificate"] is not None:
            holds = "holds" if model["certificate"].get("holds") else "does NOT hold"
            out.text(f"certificate {holds}: {model['certificate'].get('statement')}")
    if facts["target"] is not None:
        out.text(f"predicts: {facts['target']}")
    if facts["columns"]:
        rows = [(c["name"], c["kind"], _levels(c["levels"])) for c in facts["columns"]]
        out.table(("column", "kind", "levels"), rows)
    if facts["classes"] is not None:
        out.text(f"classes: {', '.join(map(str, facts['classes']))}")
    for entry in facts["coefficients"]:
        of = "" if entry["label"] is None else f" of {entry['label']}"
        order = sorted(entry["weights"].items(), key=lambda each: -abs(each[1]))
        out.table((f"coefficient{of}", "weight"), [("(intercept)", entry["intercept"]), *order[:MOST]])
        if len(order) > MOST:
            out.text(f"and {len(order) - MOST} more; --json lists all")


def _levels(levels: list[Any] | None) -> str:
    if levels is None:
        return ""
    more = f" and {len(levels) - 8} more" if len(levels) > 8 else ""
    return ", ".join(shown(level) for level in levels[:8]) + more
