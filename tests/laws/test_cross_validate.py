"""Cross-validation: no row is judged by a model that saw it, whoever computes and however often it stops."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.model_selection import cross_validate as their_cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline as their_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.preprocessing import StandardScaler as TheirScaler
from sklearn.svm import SVC
from tests.laws.validated import FOLDS, KIND, ROWS, SIDE, X, Y

import surefit
from surefit import metrics, resample
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.evaluate.cross_validation.cross_validate import cross_validate
from surefit.evaluate.cross_validation.leaks import share_of_twins

RNG = np.random.default_rng(1)


class Spy(RegressorMixin, BaseEstimator):
    """Remembers the rows that it learnt from, and answers whether it saw a row."""

    def fit(self, X: Any, y: Any) -> Spy:
        self.seen_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict(self, X: Any) -> Any:
        return np.array([float(value in self.seen_) for value in np.asarray(X)[:, 0]])


class SpyScaler(TransformerMixin, BaseEstimator):
    """A transformer that hands on, in place of the rows, whether it was fitted on them."""

    def fit(self, X: Any, y: Any = None) -> SpyScaler:
        self.seen_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def transform(self, X: Any) -> Any:
        return np.array([[float(value in self.seen_)] for value in np.asarray(X)[:, 0]])


class Echo(RegressorMixin, BaseEstimator):
    """Answers with the first column."""

    def fit(self, X: Any, y: Any) -> Echo:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


@pytest.mark.covers("intro_to_ml:7.11", "course_summary:9.1", "cs443:8.6", by="cross_validate")
def test_no_row_is_answered_by_a_model_or_a_step_that_saw_it() -> None:
    identity = np.arange(50.0)[:, None]
    for model in (Spy(), their_pipeline(SpyScaler(), Echo()), surefit.make_pipeline(SpyScaler(), Echo())):
        found = cross_validate(model, identity, np.zeros(50), metrics="max_error", split=5)
        assert (found.predictions() == 0).all()
        assert found.means == {"max_error": 0.0}
        assert found.sizes == [(40, 10)] * 5


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("model", "y", "ours", "theirs"),
    [
        (surefit.Ridge(), Y, "r2_score", "r2"),
        (
            their_pipeline(TheirScaler(), TheirRidge()),
            Y,
            "root_mean_squared_error",
            "neg_root_mean_squared_error",
        ),
        (LogisticRegression(), KIND, "log_loss", "neg_log_loss"),
        (surefit.GaussianNB(), SIDE, "roc_auc_score", "roc_auc"),
        (KNeighborsClassifier(3), KIND, "accuracy_score", "accuracy"),
    ],
    ids=["ridge", "pipeline", "logistic", "bayes", "neighbours"],
)
def test_scores_are_scikit_learns_on_the_same_folds(
    model: Any, y: Any, ours: str, theirs: str, n_jobs: int
) -> None:
    found = cross_validate(model, X, y, split=FOLDS, metrics=[ours, theirs], n_jobs=n_jobs, train_scores=True)
    wanted = their_cross_validate(model, X, y, cv=FOLDS, scoring=theirs, return_train_score=True)
    np.testing.assert_allclose(found.scores[theirs], wanted["test_score"], rtol=1e-10)
    np.testing.assert_allclose(np.abs(found.scores[ours]), np.abs(wanted["test_score"]), rtol=1e-10)
    np.testing.assert_allclose(found.train_scores[theirs], wanted["train_score"], rtol=1e-10)


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda x: x[:, ::-1][:, ::-1],
        sp.csr_matrix,
        pd.DataFrame,
        lambda x: pl.DataFrame(x),
    ],
    ids=["fortran", "strided", "sparse", "pandas", "polars"],
)
def test_any_form_of_the_rows_gives_the_same_scores_with_any_number_of_threads(form: Any) -> None:
    wanted = cross_validate(surefit.Ridge(), X, Y, n_jobs=1).scores["r2_score"]
    readonly = X.copy()
    readonly.flags.writeable = False
    given = form(readonly)
    np.testing.assert_allclose(
        cross_validate(surefit.Ridge(), given, Y, n_jobs=2).scores["r2_score"], wanted, rtol=1e-9
    )
    np.testing.assert_array_equal(cross_validate(surefit.Ridge(), X, Y, n_jobs=2).scores["r2_score"], wanted)


def test_a_source_is_read_fold_by_fold(tmp_path: Path) -> None:
    table = pa.table({**{f"x{k}": X[:, k] for k in range(4)}, "y": Y})
    model = surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge())
    found = cross_validate(model, table, "y", split=3, checkpoint=tmp_path)
    pairs = list(resample.source_folds(surefit.read(table, "y"), 3, shuffle=True, random_state=0))
    assert [test for _, test in found.sizes] == [test.schema.rows for _, test in pairs]
    rows = [np.concatenate([batch.X.column(0) for batch in test]) for _, test in pairs]
    masks = [np.isin(X[:, 0], kept) for kept in rows]
    whole = cross_validate(model, X, Y, split=[(~mask, mask) for mask in masks])
    np.testing.assert_allclose(found.scores["r2_score"], whole.scores["r2_score"], rtol=1e-9)
    again = cross_validate(model, table, "y", split=3, checkpoint=tmp_path)
    np.testing.assert_array_equal(again.scores["r2_score"], found.scores["r2_score"])
    with pytest.raises(RefusalError, match="may not fit in memory"):
        found.predictions()
    with pytest.raises(DataError, match="groups has 2 entries"):
        cross_validate(model, table, "y", groups=[1, 2])
    cut = cross_validate(model, table, "y", split=FOLDS, checkpoint=tmp_path)
    whole = cross_validate(model, X, Y, split=FOLDS)
    np.testing.assert_allclose(cut.scores["r2_score"], whole.scores["r2_score"], rtol=1e-9)


def test_weights_are_repetitions_where_folds_keep_them_together() -> None:
    counts = RNG.integers(0, 3, size=ROWS)
    rows = np.repeat(np.arange(ROWS), counts)
    pairs = list(FOLDS.split(X))
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in pair) for pair in pairs]
    for model in (surefit.Ridge(), their_pipeline(TheirScaler(), TheirRidge())):
        one = cross_validate(model, X, Y, split=pairs, sample_weight=counts)
        two = cross_validate(model, X[rows], Y[rows], split=repeated)
        np.testing.assert_allclose(one.scores["r2_score"], two.scores["r2_score"], rtol=1e-8)
        assert one.pooled["r2_score"] == pytest.approx(two.pooled["r2_score"], rel=1e-8)
    with pytest.raises(RefusalError, match="KNeighborsClassifier takes no sample_weight"):
        cross_validate(KNeighborsClassifier(), X, SIDE, sample_weight=counts)


def test_a_class_missing_in_a_fold_has_probability_zero_there() -> None:
    kind = KIND.copy()
    kind[:3] = "rare"
    pairs = [(np.arange(3, ROWS), np.arange(3)), (np.arange(ROWS - 20), np.arange(ROWS - 20, ROWS))]
    found = cross_validate(LogisticRegression(), X, kind, split=pairs, metrics="log_loss")
    chances = found.folds[0].answers["predict_proba"]
    assert chances.shape == (3, 4)
    assert (chances[:, list(np.unique(kind)).index("rare")] == 0).all()
    with pytest.raises(DataError, match="no training row of class rare"):
        cross_validate(SVC(), X, kind, split=pairs, metrics="top_k_accuracy_score")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (their_pipeline(FrozenEstimator(TheirScaler().fit(X)), TheirRidge()), ("frozenestimator",)),
        (FrozenEstimator(TheirRidge().fit(X, Y)), ("FrozenEstimator",)),
        (
            their_pipeline(
                SelectFromModel(FrozenEstimator(TheirRidge().fit(X, Y)), prefit=True), TheirRidge()
            ),
            ("selectfrommodel",),
        ),
        (
            GridSearchCV(their_pipeline(FrozenEstimator(TheirScaler().fit(X)), TheirRidge()), {}),
            ("estimator__frozenestimator",),
        ),
        (their_pipeline(TheirScaler().fit(X), FunctionTransformer(), TheirRidge()), ()),
        (surefit.make_pipeline(surefit.StandardScaler().fit(X), surefit.Ridge().fit(X, Y)), ()),
    ],
    ids=["frozen step", "frozen model", "prefit", "inside a search", "fitted anew", "ours fitted anew"],
)
def test_a_step_that_was_fitted_outside_is_named(model: Any, names: tuple[str, ...]) -> None:
    found = cross_validate(model, X, Y, split=3)
    assert {"fitted-outside", "twin-rows"} <= set(found.diagnosis.ran)
    assert tuple(name for finding in found.diagnosis for name in finding.columns) == names
    assert ("fitted outside the folds" in repr(found)) == bool(names)


def test_rows_that_are_on_both_sides_are_pointed_out() -> None:
    twice = np.concatenate([X, X])
    found = cross_validate(surefit.Ridge(), twice, np.concatenate([Y, Y]))
    assert found.diagnosis.codes() == ("twin-rows",)
    kept = cross_validate(surefit.Ridge(), twice, np.concatenate([Y, Y]), groups=np.tile(np.arange(ROWS), 2))
    assert kept.diagnosis.codes() == ()
    pairs = [(np.array([0, 1]), np.array([2, 3]))]
    table = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    assert share_of_twins(table, np.array([0, 0, 0, 1]), pairs) == 0.5


def test_a_run_that_was_stopped_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    class Stops(surefit.Ridge):
        fits = 0
        most = 3

        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            type(self).fits += 1
            if type(self).fits > self.most:
                raise RuntimeError("stopped")
            return super().fit(X, y, sample_weight)

    whole = cross_validate(surefit.Ridge(), X, KIND == "low", metrics="r2_score", n_jobs=1)
    with pytest.raises(RuntimeError, match="stopped") as caught:
        cross_validate(Stops(), X, KIND == "low", metrics="r2_score", n_jobs=1, checkpoint=tmp_path)
    assert "in fold 4 of 5" in caught.value.__notes__
    assert len(list(tmp_path.iterdir())) == 3
    Stops.fits, Stops.most = 0, 2
    found = cross_validate(Stops(), X, KIND == "low", metrics="r2_score", n_jobs=1, checkpoint=tmp_path)
    assert Stops.fits == 2
    np.testing.assert_array_equal(found.scores["r2_score"], whole.scores["r2_score"])
    np.testing.assert_array_equal(found.predictions(), whole.predictions())
    # Other data, other options or other folds are other files.
    Stops.fits, Stops.most = 0, 99
    for changed in ({"alpha": 2.0}, {}):
        y = (KIND == "low") if changed else (KIND == "high")
        cross_validate(Stops(**changed), X, y, metrics="r2_score", n_jobs=1, checkpoint=tmp_path)
    assert Stops.fits == 10
    for file in tmp_path.iterdir():
        file.write_bytes(b"broken")
    with pytest.raises(FormatError, match="delete it to begin that fold anew"):
        cross_validate(Stops(), X, KIND == "low", metrics="r2_score", n_jobs=1, checkpoint=tmp_path)


def test_labels_and_frames_survive_a_checkpoint(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    one, two = (cross_validate(LogisticRegression(), frame, KIND, checkpoint=tmp_path) for _ in range(2))
    assert len(list(tmp_path.iterdir())) == 5
    np.testing.assert_array_equal(one.predictions(), two.predictions())
    assert one.intervals == two.intervals


def test_an_interrupt_ends_it_at_once() -> None:
    code = """
import os, signal, threading, time, numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from surefit.evaluate.cross_validation.cross_validate import cross_validate
first = threading.Lock()
class Slow(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        if first.acquire(blocking=False):  # a second interrupt would hit the answer to the first
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(600)
try:
    cross_validate(Slow(), np.zeros((20, 1)), np.arange(20.0), n_jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr


def test_threads_are_held_to_one_each() -> None:
    seen = []

    class Looks(Echo):
        def fit(self, X: Any, y: Any) -> Any:
            from threadpoolctl import threadpool_info

            seen.append({pool["num_threads"] for pool in threadpool_info()} | {surefit.core.config.threads()})
            return super().fit(X, y)

    with surefit.config(n_threads=2):
        cross_validate(Looks(), X, Y, n_jobs=2)
    assert seen == [{1}] * 5


def test_settings_of_scikit_learn_reach_the_threads() -> None:
    from sklearn import config_context, get_config

    seen = []

    class Looks(Echo):
        def fit(self, X: Any, y: Any) -> Any:
            seen.append(get_config()["working_memory"])
            return super().fit(X, y)

    with config_context(working_memory=17):
        cross_validate(Looks(), X, Y, n_jobs=2)
    assert seen == [17] * 5


@pytest.mark.covers("cs443:8.6", by="cross_validate")
def test_leave_one_out_is_scored_over_all_rows() -> None:
    found = cross_validate(surefit.LinearRegression(), X[:30], Y[:30], split=LeaveOneOut())
    H = np.column_stack([np.ones(30), X[:30]])
    hat = H @ np.linalg.pinv(H)
    left_out = (Y[:30] - hat @ Y[:30]) / (1 - np.diag(hat))
    np.testing.assert_allclose(Y[:30] - found.predictions(), left_out, rtol=1e-8)
    estimate = found.intervals["root_mean_squared_error"].estimate
    assert estimate == pytest.approx(np.sqrt(np.mean(left_out**2)), rel=1e-9)
    assert found.intervals["r2_score"].low < found.intervals["r2_score"].estimate
    assert "BCa" in repr(found)


def test_a_single_hold_out_has_the_interval_of_its_rows() -> None:
    hold = resample.HoldOut(0.3, random_state=0)
    found = cross_validate(
        surefit.GaussianNB(), X, SIDE, split=hold, metrics=["accuracy_score", "roc_auc_score"]
    )
    [(_, test)] = hold.split(X)
    guess = found.folds[0].answers["predict"]
    assert found.intervals["accuracy_score"] == surefit.score_interval("accuracy_score", SIDE[test], guess)
    assert found.intervals["roc_auc_score"].method == "DeLong"


def test_a_table_of_folds_can_be_had_and_read() -> None:
    found = cross_validate(surefit.Ridge(), X, Y, train_scores=True)
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.to_frame(backend)
        assert list(frame["fold"].to_pylist() if backend == "pyarrow" else frame["fold"]) == [1, 2, 3, 4, 5]
    assert {"train_r2_score", "root_mean_squared_error", "fit_seconds"} <= set(found.to_frame().columns)
    with pytest.raises(ParameterError, match="backend='csv'"):
        found.to_frame("csv")
    with pytest.raises(RefusalError, match="keep_models=True"):
        found.models  # noqa: B018
    kept = cross_validate(surefit.Ridge(), X, Y, keep_models=True)
    assert len(kept.models) == 5
    repeated = cross_validate(surefit.Ridge(), X, Y, split=resample.RepeatedKFold(n_splits=2, n_repeats=2))
    with pytest.raises(RefusalError, match="exactly once"):
        repeated.predictions()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": ["r2_score", "r2_score"]}, "named twice"),
        ({"metrics": "r2_scor"}, "did you mean 'r2_score'"),
        ({"metrics": "confusion_matrix"}, "not one score"),
        ({"metrics": 3}, "not iterable"),
        ({"metrics": [3]}, "is no metric"),
        ({"level": 1.5}, "level=1.5 must be"),
        ({"n_jobs": 0}, "n_jobs=0 must be"),
        ({"y": Y[:5]}, "y has 5"),
        ({"sample_weight": -np.ones(ROWS)}, "negative"),
        ({"keep_models": True, "checkpoint": "folder"}, "cannot be combined"),
        ({"model": TheirScaler()}, "neither a classifier nor a regressor"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": surefit.Ridge(), "X": X, "y": Y, **change}
    with pytest.raises((ValueError, TypeError, LookupError), match=message):
        cross_validate(**given)


def test_scorers_may_be_functions() -> None:
    scorers = {
        "own": lambda model, X, y: float(np.mean(model.predict(X) > 0)),
        "mae": metrics.mean_absolute_error,
    }
    found = cross_validate(surefit.Ridge(), X, Y, metrics=scorers)
    assert list(found.scores) == ["own", "mae"]
    assert found.pooled["own"] is None
    assert found.pooled["mae"] == pytest.approx(np.abs(Y - found.predictions()).mean())
