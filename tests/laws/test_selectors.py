"""What holds for every selector of columns: scikit-learn's contract, and no look at rows outside the fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import surefit
from surefit.core.errors import ParameterError, RefusalError

SELECTORS: list[Any] = [
    surefit.SelectKBest("f_regression", k=1),
    surefit.SelectPercentile("f_regression", percentile=50),
    surefit.SelectFpr("f_regression", alpha=1.0),
    surefit.SelectFdr("f_regression", alpha=1.0),
    surefit.SelectFwe("f_regression", alpha=1.0),
    surefit.SelectByPermutation("correlation", alpha=1.0, draws=3),
    surefit.VarianceThreshold(),
    surefit.SelectFromPath(n_features=1),
    surefit.SelectFromModel(surefit.Ridge()),
    surefit.SequentialFeatureSelector(surefit.Ridge(), n_features_to_select="best", cv=2),
    surefit.ExhaustiveSelector(surefit.Ridge(), cv=2, max_features=1),
    surefit.AnnealingSelector(surefit.Ridge(), n_steps=2, cv=2),
    surefit.GeneticSelector(surefit.Ridge(), population=4, generations=1, cv=2),
]


# The other filters and wrappers differ from one of these in the rule alone, behind the same face.
FACES = [
    surefit.SelectKBest("f_regression", k=1),
    surefit.VarianceThreshold(),
    surefit.SelectFromPath(n_features=1),
    surefit.SelectFromModel(surefit.Ridge()),
    surefit.SequentialFeatureSelector(surefit.Ridge(), n_features_to_select=1, cv=2, n_jobs=1),
]


@parametrize_with_checks(FACES)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_a_pipeline_selects_anew_in_each_fold(selector: Any) -> None:
    """The columns kept in a fold are those of its training rows alone, whatever the test rows hold."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = surefit.make_pipeline(selector, surefit.MeanRegressor())
    pairs = [(np.arange(20), np.arange(20, 40))]
    kept = surefit.cross_validate(model, X, y, split=2, keep_models=True).models
    assert len(kept) == 2
    changed = X.copy()
    changed[20:] = 1e6 * rng.normal(size=(20, 3))
    masks = [
        surefit.cross_validate(model, table, y, split=[*pairs, pairs[0][::-1]], keep_models=True).models[0][0]
        for table in (X, changed)
    ]
    assert (masks[0].get_support() == masks[1].get_support()).all()


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (surefit.SelectKBest(k=-1), "k=-1"),
        (surefit.SelectPercentile(percentile=101), "percentile=101"),
        (surefit.SelectFpr(alpha=2), "alpha=2"),
        (surefit.VarianceThreshold(-1), "threshold=-1"),
        (surefit.SequentialFeatureSelector(surefit.Ridge(), direction="up"), "direction='up'"),
        (
            surefit.SequentialFeatureSelector(surefit.Ridge(), n_features_to_select=9),
            "n_features_to_select=9",
        ),
        (surefit.SelectKBest("none"), "score_func='none'"),
        (surefit.GeneticSelector(surefit.Ridge(), population=2), "population=2"),
        (surefit.AnnealingSelector(surefit.Ridge(), n_steps=0), "n_steps=0"),
        (surefit.SelectFromModel(surefit.Ridge(), threshold="large"), "threshold='large'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_out_of_range_are_refused_by_name(selector: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        selector.fit(np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1])


def test_too_many_subsets_and_scores_without_a_test_are_refused() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 16)), np.arange(20) % 2
    with pytest.raises(RefusalError, match="65535 subsets"):
        surefit.ExhaustiveSelector(surefit.Ridge()).fit(X, y.astype(float))
    with pytest.raises(RefusalError, match="no p-values"):
        surefit.SelectFpr("relieff").fit(X, y)
