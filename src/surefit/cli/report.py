"""Draw the report of a study again, from the folder that it left behind."""

from __future__ import annotations

from pathlib import Path

import click

from surefit.cli._frame import Output, verb

RECORD, PREDICTIONS, PAGE = "report.json", "predictions.parquet", "report.html"


@verb("report", __doc__)
@click.argument("study", metavar="STUDY")
@click.option("--out", "target", metavar="FILE", help=f"Where to write the page; {PAGE} beside the record.")
def command(out: Output, study: str, target: str | None) -> None:
    """STUDY is a folder that surefit learn wrote, or its report.json."""
    given = Path(study)
    source = given / RECORD if given.is_dir() else given
    out.log(f"reading {source}")  # before the heavy imports: the first line comes at once
    from surefit.report import write
    from surefit.study.predictions import Predictions
    from surefit.study.record import Record

    record = Record.load(source)
    beside = source.parent / PREDICTIONS
    predictions = Predictions.load(beside) if beside.exists() else None
    if predictions is None:
        out.log(f"{beside} is not there: the page will lack what is drawn from single answers")
    page = write(record, predictions, target or source.parent / PAGE)
    size = page.stat().st_size
    if not out.json({"report": str(page), "bytes": size}):
        out.text(f"{page} ({size / 1e3:.0f} kB)")
