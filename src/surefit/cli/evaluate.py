"""Score a model file on a table whose truth is known, with intervals, by groups, and behind a gate."""

from __future__ import annotations

from typing import Any

import click

from surefit.cli._frame import Output, verb
from surefit.cli._gate import Gate, check_gates, fail_on
from surefit.cli._table import chosen, table_options


@verb("evaluate", __doc__)
@click.argument("model")
@table_options(learning=False)
@click.option("--metric", "metrics", metavar="NAME", multiple=True, help="What to score by; repeatable.")
@click.option("--by", metavar="NAME", help="Score each group of this column by itself, too.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    help="Level of the intervals.",
)
@fail_on
def command(
    out: Output,
    model: str,
    table: str,
    target: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    sample: int | None,
    metrics: tuple[str, ...],
    by: str | None,
    level: float,
    gates: tuple[Gate, ...],
) -> None:
    """The table must hold rows that the model has not learnt from."""
    given = chosen(table, target=target, weight=weight, drop=drop, sample=sample)
    out.log(f"evaluating {model} on {given.name}")
    from surefit.cli._model import opened, target_of
    from surefit.study.fitted.scored_answers import grade, metrics_of
    from surefit.study.fitted.unknown_values import UnknownValues

    applied, rows = opened(model), given.table()
    wanted = metrics_of(applied, metrics)
    wanted |= metrics_of(applied, [gate.metric for gate in gates]) if gates else {}
    truth = target_of(applied, rows, given.target)
    unread = UnknownValues()
    graded = grade(applied, rows, truth, weight=weight, by=by, besides=drop, unread=unread)
    scores = {name: graded.score(metric, level) for name, metric in wanted.items()}
    groups = _by_group(graded, wanted, level) if by is not None else {}
    facts = {
        "model": model,
        "table": given.name,
        "target": truth,
        "rows": len(graded),
        "unread": unread.facts(),
        "level": level,
        "scores": {name: _plain(score) for name, score in scores.items()},
        "groups": {
            group: {"rows": count, "scores": {name: _plain(score) for name, score in found.items()}}
            for group, (count, found) in groups.items()
        },
    }
    if not out.json(facts):
        out.text(f"{model} on {len(graded):,} rows of {given.name}, predicting {truth}")
        for line in (*unread.gaps(len(graded), truth), *unread.lines()):
            out.text(f"  {line}")
        percent = f"{100 * level:g} % interval"
        out.table(
            ("metric", "score", percent, "by"),
            [(n, float(s.estimate), _ends(s), s.method) for n, s in scores.items()],
        )
        if groups:
            columns = (by or "", "rows", *(cell for name in wanted for cell in (name, percent)))
            lines = [
                (group, count, *(cell for s in found.values() for cell in (float(s.estimate), _ends(s))))
                for group, (count, found) in groups.items()
            ]
            out.table(columns, lines)
    check_gates(gates, {name: float(score.estimate) for name, score in scores.items()})


def _by_group(graded: Any, metrics: Any, level: float) -> dict[str, tuple[int, dict[str, Any]]]:
    """Every group, the largest first; a score that a group does not have is NaN."""
    import numpy as np

    from surefit.core.errors import DataError
    from surefit.evaluate.scoring.interval_base import ScoreInterval

    names, codes = np.unique(graded.groups.astype(str), return_inverse=True)
    counts = np.bincount(codes)
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for place in np.argsort(-counts, kind="stable"):
        part = graded.where(codes == place)
        scores = {}
        for name, metric in metrics.items():
            try:
                scores[name] = part.score(metric, level)
            except DataError as error:  # one class only, one row, ...
                scores[name] = ScoreInterval(name, np.nan, np.nan, np.nan, level, f"none: {error}")
        found[str(names[place])] = int(counts[place]), scores
    return found


def _ends(score: Any) -> str:
    return f"[{score.low:.4g}, {score.high:.4g}]"


def _plain(score: Any) -> dict[str, Any]:
    return {"score": score.estimate, "low": score.low, "high": score.high, "method": score.method}
