"""Predict for the rows of a table with a model file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from surefit.cli._frame import Output, verb
from surefit.cli._table import chosen, table_options

if TYPE_CHECKING:
    import pyarrow as pa

    from surefit.study.fitted.apply import Applied
    from surefit.study.fitted.unknown_values import UnknownValues


@verb("predict", __doc__)
@click.argument("model")
@table_options(target=False, weight=False, learning=False)
@click.option(
    "--output", "-o", metavar="FILE", help="Write .csv, .parquet, .arrow or .jsonl; else CSV is printed."
)
@click.option("--keep", metavar="NAME", multiple=True, help="Write this column of the table too; repeatable.")
@click.option(
    "--probabilities/--no-probabilities", default=True, help="Add the probabilities of the classes."
)
@click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Add intervals of this level."
)
@click.option(
    "--for-spreadsheets",
    is_flag=True,
    help="Put a ' before text that a spreadsheet would run as a formula; for CSV and TSV.",
)
@click.option("--strict", is_flag=True, help="Refuse a table with columns that the model has never seen.")
def command(
    out: Output,
    model: str,
    table: str,
    drop: tuple[str, ...],
    sample: int | None,
    output: str | None,
    keep: tuple[str, ...],
    probabilities: bool,
    level: float | None,
    strict: bool,
    for_spreadsheets: bool,
) -> None:
    """The table is read batch by batch, so that neither it nor the answers need to fit into memory."""
    given = chosen(table, drop=drop, sample=sample)
    out.log(f"predicting for {given.name}")
    from surefit.cli._model import opened
    from surefit.cli._write import SHEETS, check_ending, inert, print_rows, rows_of, write_rows
    from surefit.core.errors import DataError, RefusalError
    from surefit.study.fitted.unknown_values import UnknownValues

    ending = (".jsonl" if out.as_json else ".csv") if output is None else check_ending(output)
    if for_spreadsheets and ending not in SHEETS:
        raise DataError(f"--for-spreadsheets is for {' and '.join(SHEETS)}, not for {ending}: leave it out.")
    applied, rows = opened(model), given.table()
    if level is not None and not hasattr(applied.last, "predict_interval"):
        raise RefusalError(f"{type(applied.last).__name__} gives no intervals: leave --level out.")
    unseen = [name for name in applied.unused(rows) if name not in (*keep, *drop, applied.target)]
    if unseen:
        shown = ", ".join(map(repr, unseen[:10])) + (" and more" if len(unseen) > 10 else "")
        if strict:
            raise DataError(f"the model has never seen {shown}: leave them out with --drop.")
        out.log(f"the model does not use {shown}")
    unread = UnknownValues()
    answers = rows_of(_answers(applied, rows, keep, drop, probabilities, level, unread))
    if for_spreadsheets:
        answers = inert(answers)
    if output is None:
        print_rows(answers, ending)
    else:
        count = write_rows(output, answers)
    for line in unread.lines():
        out.log(line)
    if output is None:
        return
    if not out.json({"file": output, "rows": count, "columns": answers.schema.names}):
        out.text(f"{output}: {count:,} rows of {', '.join(answers.schema.names)}")


def _answers(
    applied: Applied,
    table: Any,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    probabilities: bool,
    level: float | None,
    unread: UnknownValues,
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch, rows in applied.rows(table, keep, besides=drop, unread=unread):
        columns = {name: batch.column(name) for name in keep}
        answer = applied.ask(rows, "predict")
        own = answer if answer.ndim == 2 else answer[:, None]
        for k in range(own.shape[1]):
            columns[_free("prediction" if own.shape[1] == 1 else f"prediction_{k}", keep)] = pa.array(
                own[:, k]
            )
        if applied.classes is not None and probabilities and hasattr(applied.last, "predict_proba"):
            shares = applied.ask(rows, "predict_proba")
            for label, share in zip(applied.classes.tolist(), shares.T, strict=True):
                columns[_free(f"probability_{label}", keep)] = pa.array(share)
        if level is not None:
            ends = applied.ask(rows, "predict_interval", level=level)
            columns[_free("low", keep)], columns[_free("high", keep)] = (pa.array(end) for end in ends.T)
        yield pa.RecordBatch.from_pydict(columns)


def _free(name: str, taken: tuple[str, ...]) -> str:
    """A name that no kept column has."""
    while name in taken:
        name += "_"
    return name
