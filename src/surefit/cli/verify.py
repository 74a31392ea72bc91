"""Recompute the certificate of a model file from the table that it was learnt from."""

from __future__ import annotations

import click

from surefit.cli._frame import NOT_CONVERGED, Output, stop, verb
from surefit.cli._table import chosen, table_options


@verb("verify", __doc__)
@click.argument("model")
@table_options(learning=False)
def command(
    out: Output,
    model: str,
    table: str,
    target: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    sample: int | None,
) -> None:
    """End with 4 when the certificate does not hold: the model or the data were changed, or it had not
    converged.
    """
    given = chosen(table, target=target, weight=weight, drop=drop, sample=sample)
    out.log(f"verifying {model} on {given.name}")
    from surefit.cli._model import opened, target_of
    from surefit.io.verify import verify

    applied = opened(model)
    learnt_without = applied.last.accepts.target == "none" and given.target is None
    truth = None if learnt_without else target_of(applied, given.path, given.target)
    source = applied.labelled(given.table(), truth, given.weight or applied.weight)
    found = verify(applied.model, source)
    facts = {**dict(found.view()), "model": model, "table": given.name, "target": truth}
    if not out.json(facts):
        out.text(f"{'holds' if found.holds else 'does NOT hold'}: {found.statement}")
        out.table(
            ("claim", "measure", "value", "tolerance"),
            [(found.claim, found.measure, float(found.value), float(found.tolerance))],
        )
    if not found.holds:
        stop(
            NOT_CONVERGED,
            "the certificate does not hold: model or table were changed since, or it never did.",
        )
