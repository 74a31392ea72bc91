"""Say what is wrong with a table, what each column is, and what changed since another."""

from __future__ import annotations

import click

from surefit.cli._frame import GATE_FAILED, Output, stop, verb
from surefit.cli._table import chosen, table_options
from surefit.core.diagnosis import SEVERITIES

_STYLE = {"problem": "bold red", "warning": "yellow", "note": "cyan"}


@verb("audit", __doc__)
@table_options()
@click.option("--against", metavar="TABLE", help="Another table, such as last year's: what changed since?")
@click.option(
    "--fail-on", type=click.Choice(SEVERITIES), help="End with 3 when something as bad as this is found."
)
def command(
    out: Output,
    table: str,
    target: str | None,
    weight: str | None,
    kinds: tuple[tuple[str, str], ...],
    task: str | None,
    drop: tuple[str, ...],
    sample: int | None,
    against: str | None,
    fail_on: str | None,
) -> None:
    """Print the findings, worst first, and the columns with the reason for what each was taken for."""
    given = chosen(table, target=target, weight=weight, kinds=kinds, task=task, drop=drop, sample=sample)
    out.log(f"looking at {given.name}" + (f" against {against}" if against else ""))
    from surefit.study.audit import audit

    found = audit(
        given.table(),
        given.target,
        against,
        kinds=given.kinds,
        task=given.task,
        weight=given.weight,
        drop=given.drop,
    )
    if not out.json(found.to_dict()):
        rows = f"{found.rows:,} rows" + (f", {found.sampled:,} of them looked at" if found.sampled else "")
        out.text(f"{given.name}: {rows}, {len(found.columns):,} columns")
        out.table(
            ("column", "kind", "used", "missing", "values", "why"),
            [(c.name, c.kind, c.used, c.missing, c.distinct, c.why) for c in found.columns],
        )
        if found.task is not None:
            out.text(f"The task: {found.task}, for {found.task_why}.")
        for finding in found:
            out.text(f"{finding.severity}: {finding.code}", style=_STYLE[finding.severity])
            for line in filter(None, (finding.message, finding.remedy)):
                out.text(f"  {line}")
        out.text(f"{len(found.ran)} checks, {len(found)} finding{'s' if len(found) != 1 else ''}.")
    worst = found.worst
    if fail_on is not None and worst is not None and SEVERITIES.index(worst) <= SEVERITIES.index(fail_on):
        stop(GATE_FAILED, f"the gate failed: a {worst} was found ({found.codes()[0]}).")
