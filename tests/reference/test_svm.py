"""Support vector machines with kernels: worked numbers, libsvm's answers, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import surefit
from surefit import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import DataError, RefusalError
from surefit.kernels import RBF, Linear, Polynomial

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 3.0]])
SIDES = np.array([-1, -1, 1, 1])
CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
XOR = np.array([1, -1, -1, 1])
LINE = np.arange(4.0)[:, None]
ALTERNATE = np.array([-1, 1, -1, 1])
HARD = {"kernel": "linear", "C": np.inf, "tol": 1e-10}
rng = np.random.default_rng(0)
ROWS = rng.normal(size=(120, 4))
CLASSES = np.where(ROWS[:, 0] + ROWS[:, 1] ** 2 + 0.5 * rng.normal(size=120) > 0.8, 1, 0)
NUMBERS = np.sin(ROWS[:, 0]) + ROWS[:, 1] + 0.2 * rng.normal(size=120)


def multipliers(model, n):
    found = np.zeros(n)
    found[model.support_] = np.abs(model.dual_coef_[0])
    return found


class TestHardMargin:
    @pytest.mark.covers("course_summary:4.1", by="SVC")
    def test_the_margin_is_one_over_the_norm_and_no_scale_changes_it(self):
        model = SVC(**HARD).fit(POINTS, SIDES)
        w, b = model.coef_[0], model.intercept_[0]
        norm = np.linalg.norm(w)
        distance = np.abs(model.decision_function(POINTS)) / norm
        assert distance.min() == pytest.approx(1 / norm) == pytest.approx(1.8027756377)
        margin = (SIDES * (POINTS @ w + b)).min() / norm
        for c in (0.1, 7.0):
            scaled = (SIDES * (POINTS @ (c * w) + c * b)).min() / np.linalg.norm(c * w)
            assert scaled == pytest.approx(margin)

    @pytest.mark.covers("course_summary:4.2", by="SVC")
    def test_every_row_is_on_its_side_and_ties_go_by_the_rule(self):
        model = SVC(**HARD).fit(POINTS, SIDES)
        assert (SIDES * model.decision_function(POINTS) >= 1 - 1e-9).all()
        for tie, wanted in (("second", 1), ("first", -1)):
            even = SVC(kernel="linear", tie=tie).fit([[-1.0], [1.0]], [-1, 1])
            assert even.decision_function([[0.0]]) == 0
            assert even.predict([[0.0]]) == wanted

    @pytest.mark.covers("course_summary:4.2", by="SVC")
    @pytest.mark.covers("ml_lecture_notes:8.7", by="SVC")
    @pytest.mark.covers("ml_lecture_notes:10.15", by="SVC")
    def test_rows_that_no_line_separates_are_named(self):
        with pytest.raises(DataError, match="rows in conflict are 0, 1, 2, 3"):
            SVC(**HARD).fit(CORNERS, XOR)
        twins = np.vstack([POINTS, POINTS[:1]])
        with pytest.raises(DataError, match="rows in conflict are 0, 4:"):
            SVC(**HARD).fit(twins, [-1, -1, 1, 1, 1])

    @pytest.mark.covers("ml_lecture_notes:8.7", by="SVC")
    def test_the_bias_outside_and_inside_of_the_norm(self):
        outside = SVC(**HARD).fit(POINTS, SIDES)
        np.testing.assert_allclose(outside.coef_[0], [4 / 13, 6 / 13], rtol=1e-8)
        assert outside.intercept_[0] == pytest.approx(-17 / 13)
        # Inside: the bias is the weight of a column of ones, and the machine has no other.
        inside = LinearSVC(loss="hinge", C=1e4, tol=1e-8).fit(POINTS, SIDES)
        w = np.append(inside.coef_[0], inside.intercept_[0])
        assert (SIDES * inside.decision_function(POINTS)).min() == pytest.approx(1, abs=1e-4)
        with_ones = np.column_stack([POINTS, np.ones(4)])
        assert np.linalg.norm(w) < np.linalg.norm(np.append(outside.coef_[0], outside.intercept_[0]))
        assert (SIDES * (with_ones @ w)).min() == pytest.approx(1, abs=1e-4)

    @pytest.mark.covers("course_summary:4.5", by="SVC")
    @pytest.mark.covers("course_summary:B.8", by="SVC")
    def test_multipliers_bias_and_rows_without_a_say(self):
        model = SVC(**HARD).fit(POINTS, SIDES)
        alpha = multipliers(model, 4)
        np.testing.assert_allclose(alpha, [0, 2 / 13, 2 / 13, 0], atol=1e-10)
        w = (alpha * SIDES) @ POINTS
        np.testing.assert_allclose(w, model.coef_[0])
        assert alpha.sum() == pytest.approx(w @ w)
        on = model.support_
        assert model.intercept_[0] == pytest.approx(np.mean(SIDES[on] - POINTS[on] @ w))
        fewer = SVC(**HARD).fit(POINTS[on], SIDES[on])
        np.testing.assert_allclose(fewer.decision_function(POINTS), model.decision_function(POINTS))
        report = model.kkt_report(POINTS, SIDES)
        assert report.place.tolist() == ["outside", "on the margin", "on the margin", "outside"]
        assert report.primal == pytest.approx(2 / 13)
        for violation in (report.gap, report.stationarity, report.complementary_slackness):
            assert abs(violation) < 1e-9
        assert model.certificate_.holds
        assert surefit.verify(model, POINTS, SIDES).holds


class TestSoftMargin:
    @pytest.mark.covers("course_summary:4.3", by="SVC")
    @pytest.mark.covers("course_summary:B.9", by="SVC")
    def test_hinge_with_lambda_and_slacks_with_c_have_one_minimiser(self):
        strength = 0.7  # (1/m) sum hinge + lambda/(2m) |w|^2, and C = 1 / lambda
        X, y = ROWS[:40], 2 * CLASSES[:40] - 1
        model = SVC(kernel="linear", C=1 / strength, tol=1e-9).fit(X, y)

        def mean_form(w, b):
            hinge = np.maximum(0, 1 - y * (X @ w + b))
            return hinge.mean() + strength / (2 * len(y)) * w @ w

        best = mean_form(model.coef_[0], model.intercept_[0])
        report = model.kkt_report(X, y)
        assert best == pytest.approx(strength * report.primal / len(y), rel=1e-9)
        draw = np.random.default_rng(1)
        for scale in (1e-3, 0.1, 1.0):
            for _ in range(20):
                step = scale * draw.normal(size=5)
                assert mean_form(model.coef_[0] + step[:4], model.intercept_[0] + step[4]) >= best - 1e-9

    @pytest.mark.covers("course_summary:4.7", by="SVC")
    @pytest.mark.parametrize(
        ("C", "alpha", "w", "objective"),
        [
            (1, [5 / 9, 1, 1, 5 / 9], 2 / 3, 26 / 9),
            (10, [32 / 9, 10, 10, 32 / 9], 2 / 3, 242 / 9),
            (0.1, [0.1] * 4, 0.2, 0.38),
        ],
    )
    def test_four_points_on_a_line(self, C, alpha, w, objective):
        model = SVC(kernel="linear", C=C, tol=1e-12).fit(LINE, ALTERNATE)
        np.testing.assert_allclose(multipliers(model, 4), alpha)
        assert model.coef_[0, 0] == pytest.approx(w)
        report = model.kkt_report(LINE, ALTERNATE)
        assert report.primal == pytest.approx(objective) == pytest.approx(report.dual)
        if C == 0.1:  # no row is on the margin, and the middle of what is allowed is taken
            assert model.intercept_[0] == pytest.approx((-1 + 0.4) / 2)
        else:
            assert model.intercept_[0] == pytest.approx(-1)

    @pytest.mark.covers("course_summary:4.7", by="SVC")
    def test_xor_by_squares(self):
        for kernel in (Polynomial.scaled_by_width(1.0, 2), Polynomial(2, gamma=1.0, coef0=1.0)):
            model = SVC(kernel=kernel, C=np.inf, tol=1e-10).fit(CORNERS, XOR)
            np.testing.assert_allclose(multipliers(model, 4), 1 / 8)
            assert model.intercept_[0] == pytest.approx(0, abs=1e-12)
            np.testing.assert_allclose(model.decision_function([[2.0, 3.0], [-1.0, 0.5]]), [6.0, -0.5])
        plain = SVC(kernel="poly", degree=2, gamma=1.0, coef0=0.0, C=10.0, tol=1e-10).fit(CORNERS, XOR)
        np.testing.assert_allclose(plain.decision_function([[2.0, 3.0]]), [6.0])
        assert plain.kkt_report(CORNERS, XOR).dual == pytest.approx(1 / 4)

    @pytest.mark.covers("course_summary:4.7", by="SVC")
    def test_an_indefinite_kernel_ends_and_claims_no_more_than_it_knows(self):
        def logistic(X, Y):
            return 1 / (1 + np.exp(-(X @ Y.T)))

        values = logistic(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [3.0]]))
        np.testing.assert_allclose(
            np.linalg.eigvalsh(values), [-0.09725781, 0.00921937, 2.80098742], atol=1e-8
        )
        for kernel in (logistic, "sigmoid"):
            model = SVC(kernel=kernel, gamma=2.0, coef0=-1.0, C=5.0).fit(ROWS, CLASSES)
            assert model.certificate_.claim == "stationary"
            assert surefit.verify(model, ROWS, CLASSES).claim == "stationary"
            assert model.certificate_.holds

    def test_the_places_of_rows_follow_from_multipliers_and_slacks(self):
        model = SVC(C=1.0, tol=1e-9).fit(ROWS, CLASSES)
        report = model.kkt_report(ROWS, CLASSES)
        score = (2 * CLASSES - 1) * model.decision_function(ROWS)
        assert (score[report.place == "outside"] >= 1 - 1e-7).all()
        np.testing.assert_allclose(score[report.place == "on the margin"], 1, atol=1e-7)
        assert (score[report.place == "inside"] <= 1 + 1e-7).all()
        assert (score[report.place == "misclassified"] < 0).all()
        assert set(report.place) == {"outside", "on the margin", "inside", "misclassified"}


class TestPrimal:
    @pytest.mark.covers("cs443:13.1", by="SVC")
    def test_labels_of_0_and_1_are_minus_and_plus_1(self):
        zero_one, signs = CLASSES, 2 * CLASSES - 1
        np.testing.assert_array_equal((signs + 1) / 2, zero_one)
        one, two = SVC().fit(ROWS, zero_one), SVC().fit(ROWS, signs)
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
        np.testing.assert_array_equal(2 * one.predict(ROWS) - 1, two.predict(ROWS))

    @pytest.mark.covers("cs443:13.3", by="LinearSVC")
    def test_no_subgradient_step_goes_below_the_minimum_without_a_bias(self):
        X, y, strength = ROWS, 2 * CLASSES - 1, 2.0
        best = LinearSVC(loss="hinge", C=1 / strength, fit_intercept=False, tol=1e-8).fit(X, y).coef_[0]

        def value(w):
            return np.maximum(0, 1 - y * (X @ w)).sum() + strength / 2 * w @ w

        w, draw, lowest = np.zeros(4), np.random.default_rng(0), np.inf
        for t in range(4000):
            n = draw.integers(len(y))
            w = w - (strength * w - len(y) * y[n] * X[n] * (y[n] * X[n] @ w < 1)) / (strength * (t + 1))
            lowest = min(lowest, value(w)) if t % 50 == 0 else lowest
        assert value(best) <= lowest + 1e-6
        assert lowest <= value(best) * 1.05
        width = 2 / np.linalg.norm(best)
        assert width == pytest.approx(2 * np.abs(X @ best / np.linalg.norm(best) / (X @ best)).mean())

    @pytest.mark.covers("cs443:14.8", by="SVC")
    def test_a_linear_kernel_is_the_linear_machine(self):
        X = ROWS - ROWS.mean(axis=0)
        wide = LinearSVC(loss="hinge", intercept_scaling=1e4, tol=1e-9, max_iter=5000)
        with_bias = wide.fit(X, CLASSES)
        model = SVC(kernel="linear", tol=1e-9).fit(X, CLASSES)
        np.testing.assert_allclose(model.coef_, with_bias.coef_, atol=1e-3)
        np.testing.assert_allclose(
            SVC(kernel=Linear(), tol=1e-9).fit(X, CLASSES).decision_function(X),
            model.decision_function(X),
            atol=1e-6,
        )

    @pytest.mark.covers("cs443:14.8", by="SVC")
    def test_a_gaussian_kernel_tells_rings_apart(self):
        angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        X, y = np.vstack([ring, 3 * ring]), np.repeat([0, 1], 40)
        assert SVC().fit(X, y).score(X, y) == 1.0
        assert SVC(kernel="linear").fit(X, y).score(X, y) < 0.7


class TestNumbers:
    def test_the_tube_by_hand(self):
        X, tight = np.arange(5.0)[:, None], {"kernel": "linear", "epsilon": 0.5, "tol": 1e-10}
        model = SVR(C=10.0, **tight).fit(X, X[:, 0])
        np.testing.assert_allclose(model.dual_coef_[0], [-0.1875, 0.1875])
        assert model.kkt_report(X, X[:, 0]).dual == pytest.approx(0.28125)
        y = np.array([0, 1.2, 1.9, 3.4, 8])
        model = SVR(C=1.0, **tight).fit(X, y)
        signed = np.zeros(5)
        signed[model.support_] = model.dual_coef_[0]
        np.testing.assert_allclose(signed, [8 / 45, 0, -1, -8 / 45, 1], atol=1e-9)
        assert model.coef_[0, 0] == pytest.approx(22 / 15)
        assert model.intercept_[0] == pytest.approx(-0.5)
        assert model.kkt_report(X, y).primal == pytest.approx(3.2422222222)

    def test_a_linear_kernel_is_the_linear_regression(self):
        X = ROWS - ROWS.mean(axis=0)
        one = SVR(kernel="linear", tol=1e-9).fit(X, NUMBERS)
        two = LinearSVR(epsilon=0.1, intercept_scaling=1e4, tol=1e-9).fit(X, NUMBERS)
        np.testing.assert_allclose(one.coef_[0], two.coef_, atol=1e-3)

    def test_shares_of_nu(self):
        for nu in (0.1, 0.4, 0.8):
            model = NuSVR(nu=nu, tol=1e-8).fit(ROWS, NUMBERS)
            off = np.abs(NUMBERS - model.predict(ROWS))
            tube = np.median(off[model.support_][np.abs(model.dual_coef_[0]) < 1 - 1e-9])
            assert (off > tube + 1e-6).mean() <= nu <= len(model.support_) / len(NUMBERS) + 1e-9
            same = SVR(epsilon=tube, tol=1e-8).fit(ROWS, NUMBERS)
            np.testing.assert_allclose(same.predict(ROWS), model.predict(ROWS), atol=1e-5)

    def test_shares_of_nu_of_classes_and_outlines(self):
        model = NuSVC(nu=0.3, tol=1e-8).fit(ROWS, CLASSES)
        score = (2 * CLASSES - 1) * model.decision_function(ROWS)
        assert (score < 1 - 1e-6).mean() <= 0.3 <= len(model.support_) / len(CLASSES) + 1e-9
        C = np.abs(model.dual_coef_).sum() / (0.3 * len(CLASSES))
        same = SVC(C=C, tol=1e-8).fit(ROWS, CLASSES)
        np.testing.assert_allclose(same.decision_function(ROWS), model.decision_function(ROWS), atol=1e-5)
        outline = OneClassSVM(nu=0.2, tol=1e-8).fit(ROWS)
        assert (
            (outline.decision_function(ROWS) < -1e-6).mean()
            <= 0.2
            <= len(outline.support_) / len(ROWS) + 1e-9
        )


def same_answers(ours, theirs, X, y, atol):
    args = (X,) if y is None else (X, y)
    ours.fit(*args)
    theirs.fit(*args)
    name = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    found, wanted = getattr(ours, name)(X), getattr(theirs, name)(X)
    np.testing.assert_allclose(found, wanted, atol=atol * max(1.0, np.abs(wanted).max()))
    assert ours.certificate_.holds


class TestAgainstLibsvm:
    """scikit-learn's machines are libsvm."""

    @pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
    @pytest.mark.parametrize("kernel", ["rbf", "poly"])
    def test_strengths(self, C, kernel):
        X, y = ROWS[:60], CLASSES[:60]
        settings = {"C": C, "kernel": kernel, "tol": 1e-6 if C < 1e6 else 1e-3}
        if C == 1e6 and kernel == "poly":  # which libsvm does not solve in any time: ours is no worse
            with pytest.warns(ConvergenceWarning):
                theirs = sklearn.svm.SVC(**settings, max_iter=200_000).fit(X, y)
            report = SVC(**settings).fit(X, y).kkt_report(X, y)
            b = np.zeros(60)
            b[theirs.support_] = theirs.dual_coef_[0]
            K = Polynomial(3, gamma=1 / (4 * X.var()), coef0=0.0)(X)
            assert report.dual >= np.abs(b).sum() - 0.5 * b @ K @ b
            return
        same_answers(SVC(**settings), sklearn.svm.SVC(**settings), X, y, 1e-4 if C < 1e6 else 5e-3)
        if C <= 1e3:
            same_answers(SVR(**settings), sklearn.svm.SVR(**settings), X, NUMBERS[:60], 1e-3)

    def test_duplicates_and_columns_of_other_scales(self):
        X = np.repeat(ROWS[:40], 3, axis=0)
        same_answers(SVC(tol=1e-8), sklearn.svm.SVC(tol=1e-8), X, np.repeat(CLASSES[:40], 3), 1e-6)
        X = ROWS * [1e4, 1.0, 1e-3, 100.0]
        same_answers(SVC(tol=1e-6), sklearn.svm.SVC(tol=1e-6), X, CLASSES, 1e-5)
        same_answers(SVR(tol=1e-6), sklearn.svm.SVR(tol=1e-6), X, NUMBERS, 1e-5)

    @pytest.mark.parametrize("name", ["SVC", "NuSVC"])
    def test_classes_of_iris(self, name):
        X, y = load_iris(return_X_y=True)
        for shape in ("ovr", "ovo"):
            settings = {"decision_function_shape": shape, "tol": 1e-7}
            ours, theirs = getattr(surefit, name)(**settings), getattr(sklearn.svm, name)(**settings)
            same_answers(ours, theirs, X, y, 1e-5)
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
            np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
            assert ours.dual_coef_.shape == theirs.dual_coef_.shape

    def test_numbers_outlines_weights_and_sparse_rows(self):
        same_answers(NuSVR(tol=1e-8), sklearn.svm.NuSVR(tol=1e-8), ROWS, NUMBERS, 1e-5)
        same_answers(OneClassSVM(tol=1e-8), sklearn.svm.OneClassSVM(tol=1e-8), ROWS, None, 1e-6)
        weight = np.random.default_rng(3).uniform(0.1, 3.0, size=len(ROWS))
        ours = SVC(gamma=0.3, tol=1e-8).fit(ROWS, CLASSES, weight)
        theirs = sklearn.svm.SVC(gamma=0.3, tol=1e-8).fit(ROWS, CLASSES, weight)
        np.testing.assert_allclose(ours.decision_function(ROWS), theirs.decision_function(ROWS), atol=1e-5)
        thin = sparse.random(80, 30, density=0.1, random_state=0, format="csr")
        y = np.asarray(thin.sum(axis=1)).ravel() > 1.4
        for kernel in ("linear", "rbf", "poly", "sigmoid"):
            ours, dense = (
                SVC(kernel=kernel, tol=1e-8).fit(thin, y),
                SVC(kernel=kernel, tol=1e-8).fit(thin.toarray(), y),
            )
            assert sparse.issparse(ours.dual_coef_)
            np.testing.assert_allclose(
                ours.decision_function(thin), dense.decision_function(thin.toarray()), atol=1e-6
            )
            assert surefit.verify(ours, thin, y).holds

    def test_precomputed_callable_and_our_own_kernels_are_the_named_one(self):
        K = RBF.from_gamma(0.25)(ROWS)
        wanted = SVC(gamma=0.25, tol=1e-8).fit(ROWS, CLASSES).decision_function(ROWS)
        for kernel, X in (
            ("precomputed", K),
            (RBF.from_gamma(0.25), ROWS),
            (lambda A, B: RBF.from_gamma(0.25)(A, B), ROWS),
        ):
            model = SVC(kernel=kernel, tol=1e-8).fit(X, CLASSES)
            np.testing.assert_allclose(model.decision_function(X), wanted, atol=1e-6)
            assert surefit.verify(model, X, CLASSES).claim == "optimal"


class TestAnswers:
    def test_probabilities_never_contradict_predictions(self):
        draw = np.random.default_rng(5)
        X = draw.normal(size=(200, 2))
        for classes in (2, 4):
            y = np.digitize(X[:, 0] + 0.5 * draw.normal(size=200), np.linspace(-1, 1, classes + 1)[1:-1])
            model = SVC(probability=True, random_state=0).fit(X, y)
            found = model.predict_proba(X)
            np.testing.assert_allclose(found.sum(axis=1), 1)
            np.testing.assert_array_equal(found.argmax(axis=1), model.predict(X))
            assert np.log(found[np.arange(200), y]).mean() > np.log(1 / classes)
        with pytest.raises(AttributeError):
            SVC().fit(X, y).predict_proba(X)

    def test_a_fold_of_one_class_says_so(self):
        with pytest.raises(ValueError, match="number of classes has to be greater than one"):
            SVC().fit(ROWS, np.zeros(120))
        with pytest.raises(DataError, match="positive weights belong to the same class"):
            SVC().fit(ROWS, CLASSES, (CLASSES == 0).astype(float))

    def test_a_bound_on_steps_ends_the_fit_and_the_certificate_says_so(self):
        with pytest.warns(CertificateWarning):
            model = SVC(C=1e4, max_iter=5).fit(ROWS, CLASSES)
        assert not model.certificate_.holds
        assert model.fit_status_ == 1
        assert not surefit.verify(model, ROWS, CLASSES).holds

    def test_a_changed_coefficient_row_or_label_is_found_out(self):
        for model, y in (
            (SVC(), CLASSES),
            (SVR(), NUMBERS),
            (NuSVR(), NUMBERS),
            (NuSVC(), CLASSES),
            (OneClassSVM(), None),
        ):
            args = (ROWS,) if y is None else (ROWS, y)
            assert surefit.verify(model.fit(*args), *args).holds
            largest = np.abs(model.signed_).argmax()
            model.signed_.flat[largest] *= 1.01
            assert not surefit.verify(model, *args).holds
            model.fit(*args).vectors_[0, 0] += 1e-3
            assert not surefit.verify(model, *args).holds
        changed = CLASSES.copy()
        model = SVC().fit(ROWS, CLASSES)
        changed[np.setdiff1d(np.arange(120), model.support_)[0]] ^= 1
        assert not surefit.verify(model, ROWS, changed).holds

    def test_words_by_a_kernel_for_objects(self):
        from surefit.kernels import FromFunction

        words = ["aab", "aba", "aaa", "bbc", "cbb", "bcb"] * 3
        kernel = FromFunction(lambda a, b: float(sum(a.count(c) * b.count(c) for c in "abc")), mercer=True)
        model = SVC(kernel=kernel).fit(words, [0, 0, 0, 1, 1, 1] * 3)
        assert model.predict(["aaaa", "bbb"]).tolist() == [0, 1]
        assert surefit.verify(model, words, [0, 0, 0, 1, 1, 1] * 3).holds

    def test_infinite_strength_of_regressions_is_refused(self):
        for model in (SVR(C=np.inf), NuSVR(C=np.inf)):
            with pytest.raises(RefusalError, match="C=inf"):
                model.fit(ROWS, NUMBERS)


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.3)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_small_sparse_tables_are_solved_as_dense_ones(model, kernel):
    X, y = load_iris(return_X_y=True)
    X = np.where(X < 1.5, 0.0, X)
    dense = clone(model).set_params(kernel=kernel).fit(X, y)
    thin = clone(model).set_params(kernel=kernel).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(thin.support_, dense.support_)
    np.testing.assert_array_equal(thin.dual_coef_.toarray(), dense.dual_coef_)


def test_weights_alike_are_another_C_and_no_other_width():
    X, y = load_iris(return_X_y=True)
    plain = SVC().fit(X, y)
    weighted = SVC(C=4.0).fit(X, y, sample_weight=np.full(len(y), 0.25))
    np.testing.assert_array_equal(weighted.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize("weight", [0.0, -1.0])
def test_weights_of_which_none_is_positive_are_refused(weight):
    with pytest.raises(DataError, match="all samples have zero or negative weights"):
        SVR().fit([[0.0], [1.0]], [0.0, 1.0], sample_weight=[weight, weight])


def test_ties_of_pairs_are_refused_when_they_are_broken():
    X, y = load_iris(return_X_y=True)
    model = SVC(break_ties=True, decision_function_shape="ovo").fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.predict(X)


def test_probabilities_that_were_not_fitted_are_not_there():
    model = SVC().fit([[0.0], [1.0]], [0, 1]).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba([[0.5]])


def test_sparse_kernel_matrices_are_refused():
    with pytest.raises(TypeError, match="Sparse precomputed"):
        SVC(kernel="precomputed").fit(sparse.csr_array(np.eye(2)), [0, 1])
