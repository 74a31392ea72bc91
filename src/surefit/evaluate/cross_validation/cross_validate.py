"""Cross-validation: how good a model is for rows that it has not seen, and how sure that is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from surefit.core.config import current_config, threads
from surefit.core.diagnosis import Diagnosis, diagnose
from surefit.core.errors import DataError, ParameterError, SurefitWarning
from surefit.core.progress import progress
from surefit.core.public import public
from surefit.data.checks.cells import check_weights
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.engine.thread_map import in_turn
from surefit.evaluate.cross_validation.fold_store import FoldStore
from surefit.evaluate.cross_validation.leaks import share_of_twins, steps_fitted_outside
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.cross_validation.source_folds import AskedWork, need_own_metrics, source_fold
from surefit.evaluate.rows.dataset import ReadRows
from surefit.evaluate.scoring.fold import Fold, FoldWork, chosen_metrics, classes_of
from surefit.evaluate.scoring.interval_base import check_level
from surefit.evaluate.scoring.intervals import fold_interval, rows_tested
from surefit.metrics.base import Metric
from surefit.resample import source_folds
from surefit.resample.choose import Pair, count_rows, pairs_of
from surefit.resample.source_split import split_source

Metrics = Mapping[str, Any] | Iterable[Any] | str | Metric | Callable[..., float] | None


@public
def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    split: Any = 5,
    metrics: Metrics = None,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    train_scores: bool = False,
    keep_models: bool = False,
    checkpoint: str | Path | None = None,
    random_state: Any = 0,
) -> CrossValidation:
    """Fit copies of a model on the training rows of each fold and score them on its test rows.

    model: an estimator or a whole pipeline, ours or scikit-learn's; every fold fits a fresh copy, so that no
    step sees a row that it is tested on. split: a number of folds (shuffled, by class for a classifier, by
    group with ``groups``), a splitter, or pairs of row numbers; over a table to be read, ``groups`` is the
    name of a column. metrics: names, metrics, or scorers. X may be
    a table to be read, with the name of its target as y: its folds are then read batch by batch. n_jobs:
    folds at a time, by default as many as there are threads; the numbers are the same for any. checkpoint: a
    folder that keeps finished folds, so that a run that was killed goes on where it was.

    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> surefit.cross_validate(surefit.Ridge(0.01), X, y)
    Ridge: 5 folds of 442 rows
      r2_score                 0.4894   [0.2976, 0.6812]      folds 0.33 to 0.6056
      root_mean_squared_error  54.49    [49.79, 59.2]         folds 51.79 to 58.62
      intervals: 95 %, corrected resampled t
    """
    level = check_level(level)
    if checkpoint is None:
        checkpoint = current_config().checkpoint
    if keep_models and checkpoint is not None:
        raise ParameterError(
            "keep_models=True cannot be combined with checkpoint, which stores scores and not models."
        )
    jobs = jobs_of(n_jobs)
    if is_streamed(X, y, sample_weight):
        options = {"train_scores": train_scores, "keep_model": keep_models}
        return _over_source(
            model,
            read(X, target=y, weight=sample_weight),
            (split, groups),
            metrics,
            level,
            checkpoint,
            random_state,
            options,
        )
    classes = classes_of(model, y)
    chosen = chosen_metrics(model, metrics, classes)
    rows = count_rows(X)
    if y is not None and count_rows(y) != rows:
        raise DataError(f"X has {rows} rows and y has {count_rows(y)}; give one target for each row.")
    weight = check_weights(sample_weight, rows)
    pairs = pairs_of(split, X, y, groups, classes=classes is not None, random_state=random_state)
    outside = steps_fitted_outside(model)
    work = FoldWork(model, chosen, X, y, weight, classes, train_scores, keep_models, shared=bool(outside))
    store = (
        None if checkpoint is None else FoldStore.of(checkpoint, model, X, y, weight, chosen, train_scores)
    )
    with warnings.catch_warnings():  # around all threads: the filters belong to the process
        if min(len(test) for _, test in pairs) < 2:
            warnings.simplefilter("ignore", SurefitWarning)  # of scores that one row does not have
        folds = run_folds(work, pairs, jobs, store)
    diagnosis = _diagnosis(outside, share_of_twins(X, y, pairs))
    return _with_answers(model, chosen, folds, pairs, (y, weight), level, diagnosis)


def cross_validate_read(
    model: Any, table: ReadRows, pairs: Sequence[Pair], *, metrics: Metrics = None, level: float = 0.95
) -> CrossValidation:
    """Cross-validate over a table that is read in batches, and keep the answers for each row tested.

    >>> import pyarrow as pa
    >>> import surefit
    >>> model = surefit.MeanRegressor()
    >>> rows = pa.table({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 8.0]})
    >>> table = ReadRows.of(model, rows, "y")
    >>> found = cross_validate_read(model, table, [([0, 1], [2])], metrics="mean_absolute_error")
    >>> found.folds[0].answers["predict"], found.pooled["mean_absolute_error"]
    (array([2.]), 6.0)
    """
    level = check_level(level)
    classes = classes_of(model, table.y)
    chosen = chosen_metrics(model, metrics, classes)
    need_own_metrics(chosen)
    folds = run_folds(AskedWork(model, chosen, table, classes), pairs)
    diagnosis = _diagnosis(steps_fitted_outside(model), None)
    return _with_answers(model, chosen, folds, pairs, (table.y, table.weight), level, diagnosis)


def _with_answers(
    model: Any,
    chosen: Mapping[str, Any],
    folds: Sequence[Fold],
    pairs: Sequence[Pair],
    beside: tuple[Any, Any],
    level: float,
    diagnosis: Diagnosis,
) -> CrossValidation:
    """What is found of folds that keep their answers; ``beside`` the rows are y and weights."""
    y, weight = beside
    sizes = [(len(train), len(test)) for train, test in pairs]
    tested = {name: rows_tested(metric, folds, pairs, y, weight) for name, metric in chosen.items()}
    pooled = {name: _pooled(metric, tested[name]) for name, metric in chosen.items()}
    intervals = {
        name: fold_interval(name, metric, folds, sizes, tested[name], level)
        for name, metric in chosen.items()
    }
    rows = None if y is None else count_rows(y)
    return CrossValidation(clone(model), chosen, folds, intervals, pooled, sizes, diagnosis, pairs, rows)


def jobs_of(n_jobs: int | None) -> int:
    """Return on how many threads folds run; all that are configured for None and -1."""
    if n_jobs is None or n_jobs == -1:
        return threads()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs!r} must be None, -1 or a whole number of at least 1.")
    return int(n_jobs)


def run_folds(
    work: Callable[[Any], Fold], pairs: Sequence[Any], jobs: int = 1, store: FoldStore | None = None
) -> list[Fold]:
    """Work on all folds, ``jobs`` at a time, in threads that run their kernels alone; in order.

    Kernels, ours and scikit-learn's, let go of Python's lock, so threads use all cores without copies of X.
    """

    def kept(numbered: tuple[int, Any]) -> Fold:
        number, pair = numbered
        done = None if store is None else store.load(pair)
        if done is None:
            try:
                done = work(pair)
            except Exception as error:
                error.add_note(f"in fold {number} of {len(pairs)}")
                raise
            if store is not None:
                store.keep(pair, done)
        return done

    found = []
    with progress("cross-validation", total=len(pairs)) as bar:
        for fold in in_turn(kept, list(enumerate(pairs, 1)), min(jobs, len(pairs))):
            found.append(fold)
            bar.advance()
    return found


def _diagnosis(outside: Sequence[str], twins: float | None) -> Diagnosis:
    return diagnose({"steps_fitted_outside": outside, "share_of_twins": twins})


def _pooled(metric: Any, tested: Any) -> float | None:
    """The score of all test rows together, where the metric is one of answers that were kept."""
    return None if tested is None else float(metric.finish(metric.of(*tested)))


def _source_parts(source: Any, split: Any, groups: Any, classes: bool, state: Any) -> tuple[Any, Any]:
    """Pairs of sources, and the rows of each, or their shares where these are not known before reading."""
    if isinstance(split, int | np.integer) and not isinstance(split, bool) and groups is None:
        parts = list(source_folds(source, int(split), shuffle=True, random_state=state))
        if source.schema.rows is None:
            return parts, [(int(split) - 1, 1)] * len(parts)
        return parts, [(train.schema.rows or 0, test.schema.rows or 0) for train, test in parts]
    found = split_source(source, split, groups, classes=classes, random_state=state)
    return [pair for pair, _ in found], [sizes for _, sizes in found]


def _over_source(
    model: Any, source: Any, split: Any, metrics: Any, level: float, checkpoint: Any, state: Any, options: Any
) -> CrossValidation:
    """Folds that are sources: each is read as its fit and its score ask for, which use all threads."""
    chosen = chosen_metrics(model, metrics, None)
    need_own_metrics(chosen)
    folds_of, groups = split
    parts, sizes = _source_parts(source, folds_of, groups, is_classifier(model), state)

    def work(pair: Any) -> Fold:
        return source_fold(model, chosen, *pair, **options)

    wanted = [chosen, *(["train"] if options["train_scores"] else [])]
    store = None if checkpoint is None else FoldStore.of(checkpoint, model, *wanted)
    folds = run_folds(work, parts, 1, store)
    count = source.schema.rows
    intervals = {
        name: fold_interval(name, metric, folds, sizes, None, level) for name, metric in chosen.items()
    }
    nothing: dict[str, float | None] = dict.fromkeys(chosen)
    return CrossValidation(
        clone(model),
        chosen,
        folds,
        intervals,
        nothing,
        sizes,
        _diagnosis(steps_fitted_outside(model), None),
        rows=count,
    )
