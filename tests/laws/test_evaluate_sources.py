"""Evaluation over a table that is read in batches has the numbers of the same rows in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline as sklearn_pipeline
from sklearn.preprocessing import StandardScaler

import surefit
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.evaluate.rows import source_models
from surefit.evaluate.select import filters as select_filters
from surefit.resample import KFold, source_sample

RNG = np.random.default_rng(4)
ROWS = 120
NAMES = ["a", "b", "far", "tiny", "count", "same"]
FRAME = pd.DataFrame(RNG.normal(size=(ROWS, 4)), columns=NAMES[:4])
FRAME["far"] += 1e6
FRAME["tiny"] *= 1e-12
FRAME["count"] = RNG.poisson(2.0, ROWS).astype(float)
FRAME["same"] = 7.3
Y = FRAME["a"] - 0.5 * (FRAME["far"] - 1e6) + 0.3 * FRAME["count"] + 0.5 * RNG.normal(size=ROWS)
LOW, MIDDLE = np.quantile(Y, [0.2, 0.5])
KIND = np.where(Y > MIDDLE, "yes", np.where(Y > LOW, "maybe", "no"))
TWO = np.where(Y > MIDDLE, "yes", "no")
COUNTS = pd.DataFrame(RNG.poisson(2.0, (ROWS, 3)).astype(float), columns=["u", "v", "w"])


def written(place: Path, frame: pd.DataFrame) -> Path:
    """Three files, of batches that no fold's border respects."""
    place.mkdir()
    for number, piece in enumerate((frame[:20], frame[20:75], frame[75:])):
        pq.write_table(
            pa.Table.from_pandas(piece, preserve_index=False), place / f"{number}.parquet", row_group_size=13
        )
    return place


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: Any) -> Path:
    return written(tmp_path_factory.mktemp("t") / "numbers", FRAME.assign(y=Y))


@pytest.fixture(scope="module")
def classes(tmp_path_factory: Any) -> Path:
    return written(tmp_path_factory.mktemp("t") / "classes", FRAME.assign(y=KIND))


@pytest.fixture(scope="module")
def two(tmp_path_factory: Any) -> Path:
    return written(tmp_path_factory.mktemp("t") / "two", FRAME.assign(y=TWO))


def alike(one: Any, other: Any, floor: float = 1e-12) -> bool:
    pair = np.asarray(one, float), np.asarray(other, float)
    return np.allclose(*pair, rtol=1e-9, atol=floor, equal_nan=True)


FILTERS = {
    "correlation": "numbers",
    "f_regression": "numbers",
    "dispersion": "numbers",
    "binned_info_regression": "numbers",
    "mutual_info_regression": "numbers",
    "f_classif": "classes",
    "binned_info_classif": "classes",
    "mutual_info_classif": "classes",
    "relief": "classes",
    "relieff": "classes",
    "f_score": "two",
}
TARGETS: dict[str, Any] = {"numbers": Y, "classes": KIND, "two": TWO}


@pytest.mark.parametrize("name", FILTERS)
def test_scores_of_columns_are_those_of_memory(name: str, request: Any) -> None:
    table = request.getfixturevalue(FILTERS[name])
    held = surefit.SelectKBest(name, k=2).fit(FRAME, TARGETS[FILTERS[name]])
    read = surefit.SelectKBest(name, k=2).fit(table, "y")
    assert alike(held.scores_, read.scores_)
    assert (held.pvalues_ is None) == (read.pvalues_ is None)
    assert held.pvalues_ is None or alike(held.pvalues_, read.pvalues_)
    assert held.get_support().tolist() == read.get_support().tolist()
    assert read.get_feature_names_out().tolist() == held.get_feature_names_out().tolist()


def test_every_named_score_is_compared() -> None:
    assert set(select_filters.NAMED) == {*FILTERS, "chi2"}


def test_counts_are_tested_as_in_memory(tmp_path: Path) -> None:
    table = written(tmp_path / "counts", COUNTS.assign(y=KIND))
    held, read = surefit.SelectFpr("chi2").fit(COUNTS, KIND), surefit.SelectFpr("chi2").fit(table, "y")
    assert alike(held.scores_, read.scores_)
    assert alike(held.pvalues_, read.pvalues_)
    with pytest.raises(DataError, match="below 0"):
        surefit.SelectFpr("chi2").fit(written(tmp_path / "less", -COUNTS.assign(y=1.0 * (KIND == "no"))), "y")


SELECTORS: dict[str, Any] = {
    "VarianceThreshold": surefit.VarianceThreshold(1e-20),
    "SelectByPermutation": surefit.SelectByPermutation("correlation", draws=19),
    "SelectFdr": surefit.SelectFdr("f_regression"),
    "SelectFromModel": surefit.SelectFromModel(surefit.Lasso(0.05)),
    "SelectFromPath": surefit.SelectFromPath(n_features=2),
    "Forward": surefit.SequentialFeatureSelector(surefit.Ridge(), n_features_to_select=2, cv=3),
    "Exhaustive": surefit.ExhaustiveSelector(surefit.LinearRegression(), max_features=2, cv=3),
    "Annealing": surefit.AnnealingSelector(surefit.Ridge(), n_steps=5, cv=2),
    "Genetic": surefit.GeneticSelector(surefit.Ridge(), population=4, generations=1, cv=2),
    "scikit-learn's": surefit.SequentialFeatureSelector(LinearRegression(), n_features_to_select=1, cv=2),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_choose_and_measure_as_in_memory(name: str, numbers: Path) -> None:
    # Ridge makes nothing of a constant or a column of 1e-12: subsets with and without them tie to rounding.
    columns = ["a", "b", "far", "count"] if "estimator" in SELECTORS[name].get_params() else NAMES
    table = surefit.read(numbers, "y", columns=columns)
    held, read = clone(SELECTORS[name]).fit(FRAME[columns], Y), clone(SELECTORS[name]).fit(table)
    assert held.get_support().tolist() == read.get_support().tolist()
    for found in ("variances_", "pvalues_", "importances_", "strengths_", "score_", "n_subsets_"):
        if hasattr(held, found):
            assert alike(getattr(held, found), getattr(read, found)), found
    kept = np.concatenate([batch.X.numbers for batch in read.transform(table)])
    assert (kept == held.transform(FRAME[columns])).all()


def test_a_selector_in_a_pipeline_over_a_table_chooses_anew_in_each_fold(numbers: Path) -> None:
    model = surefit.make_pipeline(
        surefit.StandardScaler(), surefit.SelectKBest("f_regression", k=2), surefit.LinearRegression()
    )
    split = KFold(3)
    held = surefit.cross_validate(model, FRAME, Y, split=split)
    read = surefit.cross_validate(model, numbers, "y", split=split)
    assert alike(*([fold.scores["r2_score"] for fold in run.folds] for run in (held, read)))
    assert alike(model.fit(FRAME, Y).predict(FRAME), model.fit(numbers, "y").predict(numbers))


def test_models_of_scikit_learn_learn_from_a_table_and_are_scored_as_it_is_read(
    numbers: Path, classes: Path
) -> None:
    for model, table, target in (
        (sklearn_pipeline(StandardScaler(), LinearRegression()), numbers, Y),
        (sklearn_pipeline(StandardScaler(), LogisticRegression()), classes, KIND),
    ):
        options: Any = {"split": KFold(3), "train_scores": True}
        held = surefit.cross_validate(model, FRAME.to_numpy(), target, **options)
        read = surefit.cross_validate(model, table, "y", **options)
        for name, interval in held.intervals.items():
            assert alike(interval.estimate, read.intervals[name].estimate)
        for one, other in zip(held.folds, read.folds, strict=True):
            assert alike(list(one.train_scores.values()), list(other.train_scores.values()))


def test_what_needs_all_rows_says_how_many_it_holds(numbers: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(source_models, "MOST_CELLS", 300)
    with pytest.raises(RefusalError, match=r"mutual_info_regression .* more than 300 numbers.*source_sample"):
        surefit.SelectKBest("mutual_info_regression", k=1).fit(numbers, "y")
    with pytest.raises(RefusalError, match=r"LinearRegression needs all rows"):
        surefit.cross_validate(LinearRegression(), numbers, "y")
    some = source_sample(surefit.read(numbers, "y"), 30, random_state=0)
    assert some.schema.rows == 30
    assert surefit.SelectKBest("mutual_info_regression", k=1).fit(some).get_support().sum() == 1
    with pytest.raises(ParameterError, match="rows=0"):
        source_sample(surefit.read(numbers, "y"), 0)


def test_columns_that_are_not_there_are_named(numbers: Path) -> None:
    chosen = surefit.SelectKBest("f_regression", k=2).fit(numbers, "y")
    with pytest.raises(DataError, match="lacks columns that were chosen: a"):
        chosen.transform(surefit.read(numbers, "y", columns=["b", "far", "tiny", "count", "same"]))


PLAIN = ["a", "b", "far", "count"]


@pytest.fixture(scope="module")
def table(numbers: Path) -> Any:
    return surefit.read(numbers, "y", columns=PLAIN)


@pytest.fixture(scope="module")
def labelled(classes: Path) -> Any:
    return surefit.read(classes, "y", columns=PLAIN)


def test_curves_are_those_of_memory(table: Any, labelled: Any) -> None:
    X, sizes = FRAME[PLAIN], (0.3, 1.0)
    bayes = surefit.GaussianNB()
    for model, rows, y in ((surefit.Ridge(0.1), table, Y), (bayes, labelled, KIND)):
        held = surefit.learning_curve(model, X, y, sizes=sizes, split=3)
        read = surefit.learning_curve(model, rows, sizes=sizes, split=3)
        assert list(held.values) == list(read.values)
        assert alike(held.test, read.test)
        assert alike(held.train, read.train)
    alphas: Any = [0.1, 10.0, 1000.0]
    options: Any = {"complexity": "decreasing", "split": KFold(3)}
    held = surefit.validation_curve(surefit.Ridge(), X, Y, "alpha", alphas, **options)
    read = surefit.complexity_curve(surefit.Ridge(), table, None, "alpha", alphas, **options)
    assert alike(held.test, read.test)
    assert (held.best, held.careful) == (read.best, read.careful)


@pytest.mark.parametrize("name", ["at once", "one by one", "classes", "groups"])
def test_permutation_tests_are_those_of_memory(name: str, table: Any, labelled: Any, numbers: Path) -> None:
    models: dict[str, Any] = {"classes": surefit.GaussianNB(), "one by one": surefit.Lasso(0.1)}
    model, options = models.get(name, surefit.Ridge()), {"draws": 5, "split": 3}
    if name == "classes":
        held = surefit.permutation_test(model, FRAME[PLAIN], KIND, **options)
        read = surefit.permutation_test(model, labelled, **options)
    elif name == "groups":
        held = surefit.permutation_test(model, FRAME[PLAIN], Y, groups=FRAME["count"], **options)
        read = surefit.permutation_test(
            model, surefit.read(numbers, "y", columns=PLAIN), groups="count", **options
        )
    else:
        held = surefit.permutation_test(model, FRAME[PLAIN], Y, **options)
        read = surefit.permutation_test(model, table, **options)
    assert alike(held.shuffled, read.shuffled)
    assert alike([held.score, held.p_value], [read.score, read.p_value])


@pytest.mark.parametrize("metric", ["r2_score", "mean_absolute_error", "max_error"])
def test_importances_are_those_of_memory(metric: str, table: Any) -> None:
    X = FRAME[PLAIN].to_numpy()
    models = [surefit.LinearRegression().fit(X, Y), LinearRegression().fit(X, Y)]
    for model in models:
        held = surefit.permutation_importance(model, FRAME[PLAIN].to_numpy(), Y, metric=metric, repeats=2)
        read = surefit.permutation_importance(model, table, metric=metric, repeats=2)
        assert read.names == PLAIN
        assert held.method == read.method
        for part in ("importances", "mean", "low", "high"):  # answers around 1e6 round to 1e-10
            assert alike(getattr(held, part), getattr(read, part), floor=1e-9), part


def test_importances_of_classes_are_those_of_memory(labelled: Any) -> None:
    model = surefit.GaussianNB().fit(FRAME[PLAIN], KIND)
    held = surefit.permutation_importance(model, FRAME[PLAIN], KIND, metric="log_loss", columns=[0, 2])
    read = surefit.permutation_importance(model, labelled, metric="log_loss", columns=[0, 2])
    assert alike(held.importances, read.importances)


@pytest.mark.parametrize("method", ["split", "cross", "cqr"])
def test_conformal_intervals_are_those_of_memory(method: str, table: Any) -> None:
    inner: Any = surefit.QuantileRegressor(alpha=0.0) if method == "cqr" else surefit.Ridge()
    model = surefit.ConformalRegressor(inner, method=method, folds=3, random_state=0)  # type: ignore[arg-type]
    held = clone(model).fit(FRAME[PLAIN], Y)
    read = clone(model).fit(table)
    # Quantiles of few rows are vertices, which a source reaches to its solver's tolerance only.
    close = 1e-6 if method == "cqr" else 1e-9
    assert np.allclose(
        held.predict_interval(FRAME[PLAIN]), read.predict_interval(table), rtol=close, atol=close
    )
    assert np.allclose(held.predict(FRAME[PLAIN]), read.predict(table), rtol=close, atol=close)


def test_conformal_sets_are_those_of_memory(labelled: Any) -> None:
    for inner, rows in (
        (surefit.GaussianNB(), FRAME[PLAIN]),
        (sklearn_pipeline(StandardScaler(), LogisticRegression()), FRAME[PLAIN].to_numpy()),
    ):
        model = surefit.ConformalClassifier(inner, method="aps", random_state=1)
        held, read = clone(model).fit(rows, KIND), clone(model).fit(labelled)
        assert alike(held.strangeness_, read.strangeness_)
        assert (held.predict_set(rows) == read.predict_set(labelled)).all()
        assert (held.predict(rows) == read.predict(labelled)).all()


def test_rows_drawn_again_weigh_more_where_they_are_read(table: Any, labelled: Any) -> None:
    X, at = FRAME[PLAIN], FRAME[PLAIN][:10]
    held = surefit.bias_variance(surefit.Ridge(), (X, Y), at, Y[:10], draws=4)
    read = surefit.bias_variance(surefit.Ridge(), table, at, Y[:10], draws=4)
    assert alike([held.bias, held.variance], [read.bias, read.variance])
    assert alike(held.points["main"], read.points["main"])
    for model, rows, y in ((surefit.Ridge(), table, Y), (surefit.GaussianNB(), labelled, KIND)):
        one = surefit.bootstrap_validate(model, X, y, n_samples=3)
        other = surefit.bootstrap_validate(model, rows, n_samples=3)
        assert alike([one.train, one.left_out, one.plus_632], [other.train, other.left_out, other.plus_632])


def test_parameters_dependence_and_nested_folds_are_those_of_memory(table: Any) -> None:
    X = FRAME[PLAIN]
    held = surefit.effective_parameters(surefit.Ridge(50.0), X, Y, probes=3)
    read = surefit.effective_parameters(surefit.Ridge(50.0), table, probes=3)
    assert np.isclose(held.value, read.value, rtol=1e-7)  # a difference of answers, over a small step
    model = surefit.LinearRegression().fit(X, Y)
    drawn = [surefit.partial_dependence(model, rows, "count", values=3) for rows in (X, table)]
    assert alike(drawn[0].individual, drawn[1].individual)
    grid, folds = {"alpha": [0.1, 100.0]}, KFold(3)
    runs = [
        surefit.nested_cross_validate(surefit.Ridge(), grid, *given, inner=folds, split=folds)
        for given in ((X, Y), (table,))
    ]
    assert runs[0].chosen == runs[1].chosen
    assert alike(*([fold.scores["r2_score"] for fold in run.folds] for run in runs))


def test_models_are_averaged_and_verified_as_in_memory(table: Any, labelled: Any) -> None:
    X = FRAME[PLAIN]
    numbers = [surefit.LinearRegression(), surefit.Lasso(0.3)]
    held, read = (
        surefit.BayesianModelAverage(numbers).fit(X, Y),
        surefit.BayesianModelAverage(numbers).fit(table),
    )
    assert alike(held.log_evidence_, read.log_evidence_)
    assert alike(held.predict(X), read.predict(table), floor=1e-9)  # answers around 1e6 round to 1e-10
    assert surefit.verify(read, table).holds
    sets = surefit.ConformalClassifier(surefit.GaussianNB()).fit(labelled)
    assert surefit.verify(sets, labelled).holds
    assert surefit.verify(surefit.ConformalRegressor(surefit.Ridge(), method="cross").fit(table), X, Y).holds
