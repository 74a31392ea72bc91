"""Learn from a table: compare the models that suit it, fit the simplest of the best, and report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefit.cli._frame import NOT_CONVERGED, Output, stop, verb
from surefit.cli._gate import Gate, check_gates, fail_on
from surefit.cli._table import chosen, table_options

if TYPE_CHECKING:
    from surefit.study.record import Record

PAGE = "report.html"
INTERRUPTED = 130  # as shells count it


class _CostsType(click.ParamType):
    name = "FP,FN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read two numbers."""
        try:
            one, two = (float(cost) for cost in value.split(","))
        except ValueError:
            self.fail(f"{value!r} must be two numbers with a comma between them, such as 1,5.", param, ctx)
        return one, two


@verb("learn", __doc__)
@table_options()
@click.option("--metric", metavar="NAME", help="The score to choose by, as r2_score or log_loss.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="Time limit; more time narrows the intervals.",
)
@click.option("--costs", type=_CostsType(), help="What a false positive and a false negative cost, as 1,5.")
@click.option("--out", "folder", metavar="FOLDER", help="Where everything goes; by default TABLE-study.")
@click.option("--models", metavar="A,B,...", help="Classes to compare; by default all that suit the table.")
@click.option("--folds", type=click.IntRange(min=2), help="How many folds; 10 of few rows, 5 of many.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, True, True),
    default=0.95,
    help="Level of the intervals.",
)
@click.option("--seed", type=int, default=0, help="The seed of the folds.")
@click.option("--resume", is_flag=True, help="Go on where a run was interrupted.")
@click.option("--dask", metavar="ADDRESS", help="Read the table on the cluster of this scheduler.")
@fail_on
def command(
    out: Output,
    metric: str | None,
    budget: float,
    costs: tuple[float, float] | None,
    folder: str | None,
    models: str | None,
    folds: int | None,
    level: float,
    seed: int,
    resume: bool,
    dask: str | None,
    gates: tuple[Gate, ...],
    **about: Any,
) -> None:
    """TABLE is a file, a folder of files, a pattern, or - for standard input."""
    if about.get("target") is None:
        raise click.UsageError("name the column to predict: --target NAME.")
    table = chosen(**about)
    place = Path(folder or f"{'standard-input' if table.kept else Path(table.path).stem}-study")
    out.log(f"reading {table.name}")  # before the heavy imports: the first line comes at once
    from surefit.cli._learn_screen import screen
    from surefit.study.learn import learn
    from surefit.study.race.metric_choice import told_of

    _known(gates, told_of(metric))
    with _cluster(dask), screen(out) as told:
        try:
            study = learn(
                table.table(),
                table.target,
                task=table.task,
                kinds=table.kinds,
                metric=metric,
                budget=budget,
                seed=seed,
                costs=costs,
                weight=table.weight,
                level=level,
                drop=table.drop,
                folder=place,
                resume=resume,
                models=None if models is None else [each.strip() for each in models.split(",")],
                folds=folds,
                name=table.name if table.kept else None,
                command=shlex.join(["surefit", *sys.argv[1:]]),
                on_event=told,
            )
        except KeyboardInterrupt:
            stop(INTERRUPTED, f"interrupted; the folds that ended are in {place}: go on with --resume.")
    out.log("drawing the report")
    from surefit.report import write
    from surefit.study.fitted.result import record_with_files

    write(record_with_files(study), study.predictions, place / PAGE)
    _print(out, study.record, place)
    _judge(study.record, gates)


def _known(gates: Sequence[Gate], scores: Sequence[str]) -> None:
    unknown = [gate.metric for gate in gates if gate.metric not in scores]
    if unknown:
        raise click.UsageError(f"--fail-on does not support {unknown[0]}: choose among {', '.join(scores)}.")


def _cluster(address: str | None) -> AbstractContextManager[Any]:
    if address is None:
        return nullcontext()
    from surefit.engine.dask import connected

    return connected(address)


def _print(out: Output, record: Record, place: Path) -> None:
    files = [*sorted(path.name for path in place.iterdir() if path.is_file())]
    found = {
        "answer": record.answer,
        "metric": record.metric,
        "score": None if record.score is None else asdict(record.score),
        "chosen": {
            "name": record.chosen.name,
            "settings": record.chosen.settings,
            "why": record.chosen.why,
            "certificate": None if record.chosen.certificate is None else asdict(record.chosen.certificate),
        },
        "threshold": None if record.threshold is None else asdict(record.threshold),
        "leaderboard": [asdict(entry) for entry in record.leaderboard],
        "unsuited": record.unsuited,
        "folder": str(place),
        "files": files,
    }
    if out.json(found):
        return
    for sentence in record.answer:
        out.text(sentence)
    from surefit.cli._learn_screen import NARROW, head, left_out, lines
    from surefit.plots.words import metric_words

    narrow = out.results.width < NARROW
    out.table(head(record.level, narrow), lines(record.leaderboard, record.chosen.name, narrow))
    out.text(
        f"Scores are {metric_words(record.metric)}, {record.better} is better; models that share a letter "
        "cannot be told apart; > is the one to take."
    )
    for line in left_out(record.leaderboard, record.unsuited):
        out.text(f"Left out: {line}")
    out.text(f"{place}: {', '.join(files)}")


def _judge(record: Record, gates: tuple[Gate, ...]) -> None:
    """End with 3 for a gate that failed, and with 4 for a fit that proves nothing."""
    entry = next(entry for entry in record.leaderboard if entry.name == record.chosen.name)
    scores = {name: others[0] for name, others in entry.others.items()}
    assert record.score is not None
    scores[record.metric] = record.score.value
    _known(gates, list(scores))
    check_gates(gates, scores)
    certificate = record.chosen.certificate
    if certificate is not None and not certificate.holds:
        stop(NOT_CONVERGED, f"the fit of {record.chosen.name} did not converge: {certificate.statement}")
