"""Compare model classes, or model files, on one table: who is better, and who cannot be told apart."""

from __future__ import annotations

from typing import Any

import click

from surefit.cli._frame import Output, verb
from surefit.cli._table import Chosen, chosen, table_options

ENDING = ".safetensors"
COLUMNS = ("rank", "model", "score", "interval", "p", "group")


@verb("compare", __doc__)
@table_options()
@click.argument("models", nargs=-1, required=True)
@click.option("--metric", metavar="NAME", help="What to compare by.")
@click.option("--folds", type=click.IntRange(min=2), default=10, help="Of cross-validation.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    help="Level of the intervals.",
)
@click.option("--seed", type=int, default=0, help="The seed of random draws.")
def command(
    out: Output,
    table: str,
    models: tuple[str, ...],
    target: str | None,
    weight: str | None,
    kinds: tuple[tuple[str, str], ...],
    task: str | None,
    drop: tuple[str, ...],
    sample: int | None,
    metric: str | None,
    folds: int,
    level: float,
    seed: int,
) -> None:
    """MODELS are names of classes, such as Ridge, which are cross-validated, or model files, which are asked
    about rows that they have not learnt from.
    """
    given = chosen(table, target=target, weight=weight, kinds=kinds, task=task, drop=drop, sample=sample)
    files = [name for name in models if name.endswith(ENDING)]
    if len(models) < 2:
        raise click.UsageError("a comparison needs at least two models.")
    if files and len(files) < len(models):
        raise click.UsageError("compare classes with classes, and files with files: these are both.")
    if len(set(models)) < len(models):
        raise click.UsageError("a model is named twice.")
    out.log(f"comparing {len(models)} models on {given.name}")
    facts = (
        _files(given, models, metric, level) if files else _classes(given, models, metric, folds, level, seed)
    )
    if not out.json(facts):
        out.text(f"{len(models)} models by {facts['metric']} ({facts['better']} is better), {facts['how']}")
        out.table(
            (*COLUMNS[:3], f"{100 * level:g} % interval", *COLUMNS[4:]),
            [
                (k, e["name"], e["score"], f"[{e['low']:.4g}, {e['high']:.4g}]", e["p"], e["group"])
                for k, e in enumerate(facts["models"], 1)
            ],
        )
        out.text("Models that share a letter cannot be told apart; p: against the best, adjusted (Holm).")


def _classes(
    given: Chosen, names: tuple[str, ...], metric: str | None, folds: int, level: float, seed: int
) -> dict[str, Any]:
    from surefit.core.errors import DataError
    from surefit.evaluate.compare.compare import compare
    from surefit.metrics.usual import usual_metric
    from surefit.study.table.decide import decide

    if given.target is None:
        raise DataError("name the column to predict with --target NAME.")
    table = given.table()
    decided = decide(table, given.target, given.kinds, given.task, weight=given.weight, drop=given.drop)
    task = decided.task.task
    found = compare(
        {name: _pipeline(name, task) for name in names},
        decided.read(table),
        metrics=[metric or usual_metric(task)],
        split=folds,
        level=level,
        random_state=seed,
    )
    entries = [
        {"name": name, "score": s.estimate, "low": s.low, "high": s.high, "p": p, "group": group}
        for name, s, p, group in zip(
            found.names, found.intervals, found.pvalues[0].tolist(), found.letters(), strict=True
        )
    ]
    entries[0]["p"] = None
    return {
        "metric": found.metric,
        "better": found.better,
        "how": f"{folds} folds",
        "task": task,
        "target": given.target,
        "simplest": found.simplest,
        "models": entries,
    }


def _pipeline(name: str, task: str) -> Any:
    """A class by its name, behind a preparer for tables."""
    from sklearn.base import is_classifier, is_regressor

    from surefit.core.errors import DataError
    from surefit.core.registry import lookup
    from surefit.evaluate.pipeline import make_pipeline
    from surefit.models.prepare.tables.table_preparer import TablePreparer

    cls: Any = lookup("estimator", name)
    candidate = cls.candidate
    try:
        model = cls(**({} if candidate is None else candidate.given))
    except TypeError:
        raise DataError(f"{name} is a meta-estimator, which needs other models: leave it out.") from None
    if not (is_classifier(model) if task == "classification" else is_regressor(model)):
        raise DataError(f"{name} does not support {task}: leave it out, or change the task with --task.")
    purpose: Any = "linear" if candidate is None else candidate.purpose
    return make_pipeline(TablePreparer(purpose, identifiers="keep"), model)  # what is one was decided before


def _files(given: Chosen, paths: tuple[str, ...], metric: str | None, level: float) -> dict[str, Any]:
    from surefit.cli._model import opened, target_of
    from surefit.core.errors import DataError
    from surefit.study.fitted.scored_answers import grade, metrics_of, ranked

    table = given.table()
    applied = {path: opened(path) for path in paths}
    first = applied[paths[0]]
    truth = target_of(first, table, given.target)
    if len({model.classes is None for model in applied.values()}) > 1:
        raise DataError(
            "some of the models are classifiers and some are regressors: compare models of one task."
        )
    name = metric or next(iter(metrics_of(first)))
    metrics = {path: metrics_of(model, [name])[name] for path, model in applied.items()}
    graded = {
        path: grade(model, table, truth, weight=given.weight, besides=given.drop)
        for path, model in applied.items()
    }
    places = ranked(graded, metrics, level)
    return {
        "metric": name,
        "better": metrics[paths[0]].better,
        "how": f"{len(graded[paths[0]]):,} rows",
        "target": truth,
        "models": [
            {
                "name": place.name,
                "score": float(place.score.estimate),
                "low": place.score.low,
                "high": place.score.high,
                "p": place.p,
                "group": place.group,
            }
            for place in places
        ],
    }
