"""Group the rows of a table: how many groups there are, what sets each apart, and which row is in which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefit.cli._frame import NOT_CONVERGED, Output, stop, verb
from surefit.cli._table import chosen, table_options

if TYPE_CHECKING:
    import pyarrow as pa


@verb("cluster", __doc__)
@table_options(target=False)
@click.option("--clusters", "-k", type=click.IntRange(min=2), help="How many groups; by default, chosen.")
@click.option(
    "--by",
    type=click.Choice(["silhouette", "gap", "stability", "bic"]),
    default="silhouette",
    help="What the number of groups is chosen by.",
)
@click.option("--out", "folder", metavar="FOLDER", help="Where everything goes; by default TABLE-groups.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of all random draws.")
def command(
    out: Output,
    table: str,
    weight: str | None,
    kinds: tuple[tuple[str, str], ...],
    task: str | None,
    drop: tuple[str, ...],
    sample: int | None,
    clusters: int | None,
    by: Any,
    folder: str | None,
    seed: int,
) -> None:
    """The folder gets report.html, groups.csv with the rows and their group, model.safetensors, which surefit
    predict takes, and script.py, which fits it again.
    """
    given = chosen(table, weight=weight, kinds=kinds, drop=drop, sample=sample)
    out.log(f"grouping the rows of {given.name}")
    from surefit.cli._write import rows_of, write_rows
    from surefit.core.files import atomic
    from surefit.io.save import save
    from surefit.report.groups import write_groups
    from surefit.study.grouping import group_rows

    rows = given.table()
    found = group_rows(
        rows, clusters, by=by, kinds=given.kinds, drop=given.drop, weight=weight, random_state=seed
    )
    place = Path(f"{Path(given.name).stem or 'table'}-groups" if folder is None else folder)
    place.mkdir(parents=True, exist_ok=True)
    save(found.model, place / "model.safetensors")
    write_groups(found, place / "report.html")
    write_rows(str(place / "groups.csv"), rows_of(_labelled(rows, found.labels)))
    with atomic(place / "script.py") as file:
        file.write(found.script.encode())
    if not out.json({**found.to_dict(), "folder": str(place)}):
        how = f"chosen by {by}" if clusters is None else "as asked for"
        out.text(f"{len(found.labels):,} rows in {len(found.sizes)} groups, {how}.")
        told = [
            (s.label, float(found.sizes[s.label]), f"{s.share:.0%}", "; ".join(t.words for t in s.traits))
            for s in found.summaries
        ]
        out.table(("group", "rows", "share", "what sets it apart"), told)
        if found.stability == found.stability:
            out.text(f"Stability: {found.stability:.2f} (1: two thirds of the rows give the same groups).")
        out.text(found.model[-1].certificate_.statement)
        out.text(f"{place}: report.html, groups.csv, model.safetensors, script.py")
    if not found.model[-1].certificate_.holds:
        stop(NOT_CONVERGED, "the certificate of the groups does not hold.")


def _labelled(table: Any, labels: Any) -> Iterator[pa.RecordBatch]:
    """The rows of the table as they are, with their group in a column of its own."""
    import pyarrow as pa

    from surefit.study.table.stream import stream_of

    stream, start = stream_of(table)[0], 0
    names = stream.arrow_schema.names
    name = "group"
    while name in names:
        name += "_"
    for batch in stream.batches():
        if batch.num_rows:
            own = pa.array(labels[start : start + batch.num_rows])
            yield pa.RecordBatch.from_arrays([*batch.columns, own], names=[*names, name])
            start += batch.num_rows
