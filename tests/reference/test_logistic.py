"""Logistic regression against scikit-learn, brute force, and numbers that follow by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.linear_model import LogisticRegressionCV as TheirLogisticRegressionCV

import surefit
from surefit import LogisticRegression, LogisticRegressionCV, RidgeClassifier
from surefit.core.errors import DataError, ParameterError, RefusalError, SeparationWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
Z = X @ [1.0, -0.5, 0.0, 0.0, 0.3]
TWO = np.where(Z + RNG.logistic(size=200) > 0, "yes", "no")
THREE = np.digitize(Z + RNG.logistic(size=200), [-1.0, 1.0])
WEIGHT = RNG.uniform(0.0, 2.0, 200).round(1)
PROBLEMS = {
    "default": {},
    "no penalty": {"C": np.inf},
    "l1": {"C": 0.3, "l1_ratio": 1.0, "solver": "saga"},
    "elastic net": {"C": 0.1, "l1_ratio": 0.5, "solver": "saga"},
    "balanced": {"class_weight": "balanced", "solver": "newton-cholesky"},
    "weights of classes": {"class_weight": {"yes": 3.0, "no": 0.5, 0: 2.0, 1: 1.0, 2: 0.1}},
    "no intercept": {"fit_intercept": False},
    "liblinear": {"solver": "liblinear", "intercept_scaling": 3.0},
}


def objective(model, y, coef, intercept, C=1.0, l1_ratio=0.0, weight=None, **rest):
    """C times the sum of the loss, plus the penalty, said once more."""
    classes = np.unique(y)
    scores = X @ np.asarray(coef).T + np.asarray(intercept)
    if len(classes) == 2:
        scores = np.column_stack([np.zeros(len(X)), scores[:, 0]])
    codes = np.searchsorted(classes, y)
    loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(X)), codes]
    s = np.ones(len(X)) if weight is None else weight
    factor = rest.get("class_weight")
    if factor == "balanced":
        s = s * np.array([s.sum() / len(classes) / s[codes == k].sum() for k in range(len(classes))])[codes]
    elif factor:
        s = s * np.array([factor[label] for label in classes.tolist()])[codes]
    penalty = l1_ratio * np.abs(coef).sum() + 0.5 * (1 - l1_ratio) * np.sum(np.square(coef))
    if rest.get("solver") == "liblinear":
        penalty += 0.5 * float(intercept[0] / rest["intercept_scaling"]) ** 2
    return float(s @ loss) + (0.0 if np.isinf(C) else penalty / C)


@pytest.mark.parametrize("given", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_objective_is_never_above_scikit_learns(given, weight, y):
    if y is THREE and given.get("solver") == "liblinear":
        with pytest.raises(ParameterError, match="does not support multiclass"):
            LogisticRegression(**given).fit(X, y)
        return
    given = dict(given)
    if isinstance(given.get("class_weight"), dict):
        given["class_weight"] = {k: v for k, v in given["class_weight"].items() if k in np.unique(y).tolist()}
    ours = LogisticRegression(**given).fit(X, y, weight)
    theirs = TheirLogisticRegression(**given, tol=1e-8, max_iter=10_000).fit(X, y, weight)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    values = [objective(m, y, m.coef_, m.intercept_, weight=weight, **given) for m in (ours, theirs)]
    assert values[0] <= values[1] * (1 + 1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    assert surefit.verify(ours, X, y, weight).holds


def test_attributes_and_answers_are_scikit_learns():
    ours, theirs = (
        LogisticRegression(tol=1e-10).fit(X, THREE),
        TheirLogisticRegression(tol=1e-10).fit(X, THREE),
    )
    for name in ("predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.n_iter_.shape == (1,)


def test_the_old_penalty_means_what_it_did():
    for penalty, new in (("l2", {}), ("l1", {"l1_ratio": 1.0}), (None, {"C": np.inf})):
        with pytest.warns(FutureWarning, match="penalty"):
            old = LogisticRegression(penalty).fit(X, TWO)
        np.testing.assert_array_equal(old.coef_, LogisticRegression(**new).fit(X, TWO).coef_)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix], ids=["csr", "csc"])
def test_many_sparse_columns(form):
    rng = np.random.default_rng(1)
    wide = sparse.random(150, 900, density=0.05, random_state=rng, format="csc")
    y = (wide @ np.r_[np.full(5, 4.0), np.zeros(895)] + 0.3 * rng.normal(size=150) > 0.1).astype(int)
    model = LogisticRegression(C=3.0, l1_ratio=1.0, tol=1e-6).fit(form(wide), y)
    assert model.solver_ == "column_newton"
    dense = LogisticRegression(C=3.0, l1_ratio=1.0, tol=1e-6).fit(wide.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-4)
    assert surefit.verify(model, form(wide), y).holds
    assert 0 < np.count_nonzero(model.coef_) < 150


class TestFirth:
    @staticmethod
    def brute(A, y):
        """Maximise the likelihood times the root of the determinant, by a general method."""

        def minus(b):
            z = A @ b
            p = 1 / (1 + np.exp(-z))
            information = (A * (p * (1 - p))[:, None]).T @ A
            return np.logaddexp(0, z).sum() - y @ z - 0.5 * np.linalg.slogdet(information)[1]

        return optimize.minimize(minus, np.zeros(A.shape[1]), tol=1e-12).x

    @pytest.mark.parametrize("separated", [False, True], ids=["mixed", "separated"])
    def test_is_the_maximum_of_the_corrected_likelihood(self, separated):
        rng = np.random.default_rng(5)
        few = rng.normal(size=(25, 2))
        y = (few[:, 0] > 0.1).astype(int) if separated else rng.integers(0, 2, 25)
        model = LogisticRegression(correction="firth", tol=1e-12).fit(few, y)
        right = self.brute(np.column_stack([few, np.ones(25)]), y)
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), right, atol=2e-5)
        assert surefit.verify(model, few, y).holds
        assert not surefit.verify(model, few, 1 - y).holds

    # A gain of 1e-14 that is left to be had is about 1e-7 in a coefficient.

    def test_a_single_proportion_gains_half_a_success_and_half_a_failure(self):
        """An intercept alone has the log odds of (k + 1/2) / (n - k + 1/2)."""
        y = np.array([1] * 7 + [0] * 3)
        model = LogisticRegression(correction="firth", tol=1e-12).fit(np.zeros((10, 1)), y)
        np.testing.assert_allclose(model.intercept_, np.log(7.5 / 3.5), rtol=1e-6)
        assert model.coef_[0, 0] == 0.0

    def test_a_table_of_two_by_two_gains_a_half_in_each_cell(self):
        """The saturated table 8, 2 / 0, 5 has the log odds ratio of its cells plus a half."""
        x = np.repeat([1.0, 1.0, 0.0, 0.0], [8, 2, 0, 5])[:, None]
        y = np.repeat([1, 0, 1, 0], [8, 2, 0, 5])
        model = LogisticRegression(correction="firth", tol=1e-12).fit(x, y)
        np.testing.assert_allclose(model.coef_[0, 0], np.log(8.5 * 5.5 / (2.5 * 0.5)), rtol=1e-6)

    def test_weights_are_repetitions_and_dependent_columns_do_no_harm(self):
        twice = LogisticRegression(correction="firth", tol=1e-10)
        weighted = twice.fit(X[:40], TWO[:40], np.full(40, 2.0)).coef_.copy()
        again = twice.fit(np.vstack([X[:40]] * 2), np.tile(TWO[:40], 2)).coef_
        np.testing.assert_allclose(weighted, again, rtol=1e-6)
        doubled = LogisticRegression(correction="firth", tol=1e-10).fit(X[:40, [0, 1, 0]], TWO[:40])
        plain = LogisticRegression(correction="firth", tol=1e-10).fit(X[:40, :2], TWO[:40])
        np.testing.assert_allclose(
            doubled.predict_proba(X[:, [0, 1, 0]]), plain.predict_proba(X[:, :2]), atol=1e-6
        )

    def test_refuses_a_penalty_and_several_classes(self):
        with pytest.raises(ParameterError, match="does not support penalties"):
            LogisticRegression(C=2.0, correction="firth").fit(X, TWO)
        with pytest.raises(ParameterError, match="is for two classes"):
            LogisticRegression(correction="firth").fit(X, THREE)


class TestHardCases:
    def test_separation_warns_without_a_penalty_and_only_then(self):
        y = (X[:, 0] > 0).astype(int)
        with pytest.warns(SeparationWarning, match="separable"):
            LogisticRegression(C=np.inf).fit(X, y)
        LogisticRegression(C=1e4).fit(X, y)

    @pytest.mark.parametrize("columns", [X * 1e-12, X * 1e12, X + 1e6, X[:, [0, 0, 1]], np.ones((200, 2))])
    def test_scales_offsets_duplicates_and_constants(self, columns):
        assert LogisticRegression(C=np.inf).fit(columns, TWO).certificate_.holds

    def test_fewer_rows_than_columns(self):
        wide = RNG.normal(size=(10, 40))
        assert LogisticRegression().fit(wide, TWO[:10]).certificate_.holds

    def test_one_class_is_refused(self):
        with pytest.raises(DataError, match="one class"):
            LogisticRegression().fit(X, np.ones(200))
        with pytest.raises(DataError, match="one class"):
            LogisticRegression().fit(X, TWO, (TWO == "yes").astype(float))

    def test_warm_start_goes_on(self):
        model = LogisticRegression(warm_start=True, tol=1e-8).fit(X, TWO)
        assert model.fit(X, TWO).n_iter_[0] <= 2


class TestCV:
    def test_scores_and_choice_are_scikit_learns(self):
        given = {"Cs": 5, "l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
        ours = LogisticRegressionCV(**given, tol=1e-6).fit(X, TWO)
        theirs = TheirLogisticRegressionCV(**given, tol=1e-7, max_iter=1000).fit(X, TWO)
        assert ours.C_ == theirs.C_
        np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-4)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        assert ours.coefs_paths_.shape == theirs.coefs_paths_.shape
        assert ours.n_iter_.shape == theirs.n_iter_.shape

    def test_one_standard_error_takes_the_stronger_penalty(self):
        best = LogisticRegressionCV(Cs=8).fit(X, TWO)
        calm = LogisticRegressionCV(Cs=8, choice="one_standard_error").fit(X, TWO)
        error = best.scores_[:, 0].std(axis=0, ddof=1)[best.Cs_ == best.C_] / np.sqrt(5)
        mean = best.scores_[:, 0].mean(axis=0)
        assert best.Cs_[mean >= mean.max() - error].min() == calm.C_

    @pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "accuracy"])
    @pytest.mark.parametrize("classes", [2, 3])
    def test_folds_that_lack_a_class_are_scored_as_scikit_learns_are(self, classes, scoring):
        """A class that the rows left out lack, or that only they have."""
        y = np.sort(THREE[:90] if classes == 3 else THREE[:90] > 0)
        cv = [(np.arange(90) >= 20, np.arange(90) < 20), (np.arange(90) < 80, np.arange(90) >= 80)]
        cv = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in cv]
        given = {"cv": cv, "Cs": [0.01, 0.1], "scoring": scoring, "l1_ratios": (0,)}
        given |= {"use_legacy_attributes": False, "tol": 1e-8}
        ours, theirs = (
            cls(**given).fit(X[:90], y) for cls in (LogisticRegressionCV, TheirLogisticRegressionCV)
        )
        np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-4)
        assert ours.C_ == theirs.C_

    def test_refit_false_is_refused(self):
        with pytest.raises(RefusalError, match="minimise no objective"):
            LogisticRegressionCV(refit=False).fit(X, TWO)


def test_least_squares_as_a_classifier_is_ridge_without_a_penalty():
    model = RidgeClassifier(alpha=0.0).fit(X, TWO)
    right, *_ = np.linalg.lstsq(
        np.column_stack([X, np.ones(200)]), np.where(TWO == "yes", 1.0, -1.0), rcond=None
    )
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), right, rtol=1e-9)


class TestManyRows:
    @pytest.mark.parametrize("given", [{}, {"l1_ratio": 1.0, "C": 1e-3}], ids=["l2", "l1"])
    def test_a_sample_to_start_from_and_old_second_derivatives_give_the_same_answer(self, given):
        rng = np.random.default_rng(8)
        A = rng.normal(size=(24_000, 9))
        y = (A @ np.linspace(-1, 1, 9) + rng.logistic(size=24_000) > 0).astype(int)
        found = LogisticRegression(tol=1e-8, **given).fit(A, y)
        assert found.certificate_.holds
        # Three thousand rows eight times over are as many, and few by their weights.
        many = LogisticRegression(tol=1e-8, **given).fit(
            np.repeat(A[:3000], 8, axis=0), np.repeat(y[:3000], 8)
        )
        few = LogisticRegression(tol=1e-8, **given).fit(A[:3000], y[:3000], np.full(3000, 8.0))
        np.testing.assert_allclose(many.coef_, few.coef_, atol=1e-4)
        assert len(found.trace_) <= 12

    @pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
    def test_the_bound_for_a_moved_intercept_is_above_what_it_leaves(self, y):
        from dataclasses import replace

        from surefit.losses import Logistic, Softmax
        from surefit.penalties import L2
        from surefit.solvers.objective.base import Objective
        from surefit.solvers.objective.gap import _dual_points, _excess_bound, _Point

        codes = np.unique(y, return_inverse=True)[1]
        loss, outputs = (Logistic(), None) if y is TWO else (Softmax(), 3)
        bound = Objective.of_arrays(
            X, codes.astype(float if y is TWO else int), loss, L2(0.1), outputs=outputs
        )
        rng = np.random.default_rng(9)
        for size in (0.01, 0.1, 0.5):
            w = size * rng.normal(size=bound.shape)
            point = _Point(bound, w, None)
            first = point.slopes_at(np.zeros((5, 0)))
            step, _, left = next(_dual_points(point, first))
            exact = point.excess(replace(step, factor=1.0))[0]
            above = _excess_bound(bound, step, first)
            assert left < 1e-12
            assert exact <= above <= 4 * exact + 1e-15
            far = replace(step, beta=step.beta + 2.0 * np.arange(1, step.beta.size + 1))
            assert _excess_bound(bound, far, first) == np.inf
