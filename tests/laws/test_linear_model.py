"""LinearModel: any loss, any penalty, one's own among them; files, sources, proofs and warnings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone, is_classifier, is_regressor

import surefit
from surefit import LinearModel
from surefit.core.certificate import CertificateWarning
from surefit.core.errors import (
    DataError,
    FormatError,
    ParameterError,
    RefusalError,
    SeparationWarning,
)
from surefit.core.registry import members
from surefit.losses import CumulativeLogit, Huber, Logistic, Quantile
from surefit.losses.base import Loss
from surefit.penalties import L1, L2, GroupL1, Intersection, NonNegative, Simplex
from surefit.penalties.base import Penalty

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Z = X @ [1.0, -2.0, 0.5, 0.0] + 0.3
NUMBERS = Z + RNG.normal(size=150)
TWO = np.where(Z + RNG.logistic(size=150) > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(Z + RNG.normal(size=150), [-1.0, 1.0])]
COUNTS = RNG.poisson(np.exp(0.3 * Z))
PAIRS = {
    "squared": (LinearModel(), NUMBERS),
    "several targets": (LinearModel("squared", L2(0.1)), np.column_stack([NUMBERS, Z])),
    "poisson": (LinearModel("poisson", L1(0.01)), COUNTS),
    "logistic": (LinearModel(Logistic(), GroupL1(0.05, groups=[0, 0, 1, 1])), TWO),
    "softmax": (LinearModel("softmax", "l2"), THREE),
    "ordinal": (LinearModel(CumulativeLogit((-1.0, 1.0)), L2(0.01)), np.digitize(Z, [-1.0, 1.0])),
    "hinge": (LinearModel("hinge", L2(0.1)), TWO),
    "quantile": (LinearModel(Quantile(0.8), L1(0.01)), NUMBERS),
    "non-convex": (LinearModel("squared_sigmoid", L2(0.01), tol=1e-5), TWO),
}
each_pair = pytest.mark.parametrize(("model", "y"), PAIRS.values(), ids=PAIRS.keys())


def streamed(tmp_path, y, **options):
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    for number in range(3):
        part = table.slice(50 * number, 50)
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=17)
    return surefit.read(str(tmp_path), target="y", **options)


@each_pair
def test_proved_saved_and_verified(model, y, tmp_path):
    model = clone(model).fit(X, y)
    assert model.certificate_.holds
    surefit.save(model, tmp_path / "model")
    again = surefit.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert surefit.verify(tmp_path / "model", X, y).holds
    assert surefit.inspect(tmp_path / "model")["certificate"]["holds"]
    other = np.roll(y, 7, axis=0)
    assert not surefit.verify(model, X, other).holds
    model.coef_.flat[0] += 0.1
    assert not surefit.verify(model, X, y).holds


def test_the_witness_of_a_kinked_loss_is_in_the_file(tmp_path):
    model = LinearModel("hinge", L2(0.1)).fit(X, TWO)
    slopes = model.certificate_.witness["slopes"]
    assert slopes.shape == (150,)
    surefit.save(model, tmp_path / "model")
    again = surefit.load(tmp_path / "model")
    np.testing.assert_array_equal(again.certificate_.witness["slopes"], slopes)
    again.certificate_.witness["slopes"][:] = 0.0
    assert not surefit.verify(again, X, TWO).holds


class TestTasks:
    def test_regressor_or_classifier(self):
        assert is_regressor(LinearModel())
        assert is_regressor(LinearModel("poisson"))
        assert is_classifier(LinearModel("logistic"))
        assert is_classifier(LinearModel("softmax"))
        assert not hasattr(LinearModel(), "decision_function")
        assert not hasattr(LinearModel("hinge"), "predict_proba")

    def test_probabilities(self):
        for model, y in (PAIRS["logistic"], PAIRS["softmax"], PAIRS["ordinal"]):
            model = clone(model).fit(X, y)
            chances = model.predict_proba(X)
            np.testing.assert_allclose(chances.sum(axis=1), 1.0)
            assert chances.min() >= 0
            assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).mean() > 0.95
            assert model.score(X, y) == np.mean(model.predict(X) == y)

    def test_two_classes_share_a_score(self):
        for loss in ("logistic", "softmax"):
            model = LinearModel(loss, L2(0.1)).fit(X, TWO)
            scores = model.decision_function(X)
            np.testing.assert_array_equal(model.classes_[(scores > 0).astype(int)], model.predict(X))

    def test_means_come_through_the_link(self):
        model = LinearModel("poisson").fit(X, COUNTS)
        np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
        assert model.predict(X).mean() == pytest.approx(COUNTS.mean())

    def test_bad_targets(self):
        with pytest.raises(DataError, match="at least 2 classes in the data, but y holds one class, 'a'"):
            LinearModel("logistic").fit(X[:3], ["a", "a", "a"])
        with pytest.raises(DataError, match=r"The logistic loss takes two classes, but y holds 3"):
            LinearModel("logistic").fit(X, THREE)
        with pytest.raises(
            DataError, match=r"y\[1\] is -1.0, but the poisson loss takes numbers in \[0, inf\)"
        ):
            LinearModel("poisson").fit(X[:2], [1.0, -1.0])


class TestParameters:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"loss": "logistik"}, "no loss named 'logistik': did you mean 'logistic'"),
            ({"penalty": "l11"}, "no penalty named 'l11': did you mean 'l1'"),
            ({"penalty": "tikhonov"}, "the penalty 'tikhonov' has parameters without a default"),
            ({"solver": "newtn"}, "no solver named 'newtn': did you mean 'newton'"),
            ({"loss": 3}, "loss=3 is not allowed"),
            ({"loss": Huber}, "Huber is a class: make an object of it"),
            ({"tol": -1.0}, "tol=-1.0 is not allowed"),
        ],
    )
    def test_named(self, options, message):
        with pytest.raises(ParameterError, match=message):
            LinearModel(**options).fit(X, NUMBERS)

    def test_a_solver_refuses_with_those_that_would_do(self):
        with pytest.raises(
            RefusalError,
            match=r"quadratic \(L2\) penalty, which L1 is not: choose column_newton or proximal_newton or",
        ):
            LinearModel("logistic", L1(0.1), solver="newton").fit(X, TWO)

    @pytest.mark.parametrize("name", members("solver"))
    def test_every_solver_is_there_by_name(self, name):
        model = LinearModel("squared", L2(0.1), solver=name)
        try:
            model.fit(X, NUMBERS)
        except RefusalError as refusal:
            assert "choose" in str(refusal)  # noqa: PT017 (either outcome is one)
        else:
            assert model.solver_ == name
            np.testing.assert_allclose(
                model.coef_, LinearModel("squared", L2(0.1)).fit(X, NUMBERS).coef_, atol=1e-2
            )

    def test_a_warm_start_goes_on(self):
        model = LinearModel("logistic", L2(0.01), warm_start=True, tol=1e-9).fit(X, TWO)
        first = model.n_iter_
        assert model.fit(X, TWO).n_iter_ < first
        model.fit(X[:, :2], TWO)  # another shape starts afresh
        assert model.coef_.shape == (2,)


class Twice(Loss):
    """Twice the squared residual, below Loss and outside surefit."""

    smoothness = 4.0

    def value(self, y, z):
        return 2 * (y - z) ** 2

    def gradient(self, y, z):
        return 4 * (z - y)

    def curvature(self, y, z):
        return np.full_like(z, 4.0)


Twice.name = "twice"  # beyond the registry, which lists surefit's own


class LogCosh:
    """A loss with nothing but value and gradient."""

    def value(self, y, z):
        return np.logaddexp(z - y, y - z)

    def gradient(self, y, z):
        return np.tanh(z - y)


class Halved(Penalty):
    """The absolute value, below Penalty and outside surefit."""

    def value(self, w):
        return 0.5 * float(np.abs(w).sum())

    def prox(self, v, step):
        return np.sign(v) * np.maximum(np.abs(v) - 0.5 * step, 0.0)


class Ring:
    """A penalty with nothing but value and prox: the squared length."""

    convex = True

    def value(self, w):
        return float(0.05 * np.sum(np.square(w)))

    def prox(self, v, step):
        return np.asarray(v) / (1 + 0.1 * step)


class TestOnesOwn:
    def test_a_loss_below_ours(self):
        found = LinearModel(Twice(), L2(4.0)).fit(X, NUMBERS)
        np.testing.assert_allclose(
            found.coef_, LinearModel("squared", L2(1.0)).fit(X, NUMBERS).coef_, rtol=1e-5
        )

    def test_a_loss_of_two_methods(self):
        for penalty in (None, L2(0.1), L1(0.05)):
            model = LinearModel(LogCosh(), penalty, tol=1e-5).fit(X, NUMBERS)
            assert model.certificate_.claim == "stationary"
            assert model.certificate_.holds
            assert surefit.verify(model, X, NUMBERS).holds
            assert model.score(X, NUMBERS) > 0.7

    def test_a_penalty_below_ours(self):
        model = LinearModel("squared", Halved(), tol=1e-5).fit(X, NUMBERS)
        np.testing.assert_allclose(
            model.coef_, LinearModel("squared", L1(0.5)).fit(X, NUMBERS).coef_, atol=1e-3
        )

    def test_a_penalty_of_two_methods(self):
        model = LinearModel("logistic", Ring(), tol=1e-5).fit(X, TWO)
        np.testing.assert_allclose(model.coef_, LinearModel("logistic", L2(0.1)).fit(X, TWO).coef_, atol=1e-3)

    @pytest.mark.parametrize(
        ("loss", "penalty", "message"),
        [
            (
                Ring(),
                None,
                r"loss must be .* with value\(y, z\) and gradient\(y, z\), but Ring has no gradient",
            ),
            (
                "squared",
                LogCosh(),
                r"penalty must be .* and prox\(v, step\), but LogCosh has no prox\(v, step\)",
            ),
        ],
    )
    def test_what_is_missing_is_named(self, loss, penalty, message):
        with pytest.raises(ParameterError, match=message):
            LinearModel(loss, penalty).fit(X, NUMBERS)

    def test_a_file_refuses_it(self, tmp_path):
        for model, culprit in (
            (LinearModel(LogCosh(), tol=1e-5), "LinearModel.loss is a LogCosh"),
            (LinearModel("squared", Halved(), tol=1e-5), "LinearModel.penalty is a Halved"),
        ):
            with pytest.raises(FormatError, match=culprit):
                surefit.save(model.fit(X, NUMBERS), tmp_path / "model")
            assert not (tmp_path / "model").exists()

    def test_nested_penalties_of_ours_are_kept(self, tmp_path):
        model = LinearModel("squared", Intersection([NonNegative(), Simplex(1.5)]), tol=1e-4)
        surefit.save(model.fit(X, NUMBERS), tmp_path / "model")
        again = surefit.load(tmp_path / "model").penalty
        assert repr(again) == repr(model.penalty)


class TestSources:
    @pytest.mark.parametrize("name", ["squared", "poisson", "logistic", "softmax", "non-convex"])
    def test_files_give_the_same(self, name, tmp_path):
        model, y = PAIRS[name]
        inside = clone(model).fit(X, y)
        outside = clone(model).fit(streamed(tmp_path, y))
        assert outside.solver_ == inside.solver_
        np.testing.assert_allclose(outside.coef_, inside.coef_, rtol=1e-6, atol=1e-7)
        assert surefit.verify(outside, X, y).holds

    def test_what_needs_rows_says_so(self, tmp_path):
        with pytest.raises(RefusalError, match="no solver supports the hinge loss with L2 on this table"):
            LinearModel("hinge", L2(0.1)).fit(streamed(tmp_path, TWO))

    def test_dask(self, client):
        dask = pytest.importorskip("dask.array")
        y = np.where(TWO == "yes", 1.0, 0.0)
        model = LinearModel("logistic", L1(0.02), tol=1e-3)
        table = surefit.read(dask.from_array(X, chunks=(40, -1)), target=dask.from_array(y, chunks=40))
        np.testing.assert_allclose(clone(model).fit(table).coef_, model.fit(X, y).coef_, rtol=1e-6, atol=1e-8)


class TestWarnings:
    @pytest.mark.covers("intro_to_ml:5.4", by="LinearModel")
    @pytest.mark.parametrize("loss", ["logistic", "softmax", "exponential"])
    def test_separated_classes(self, loss):
        with pytest.warns(SeparationWarning, match=r"classes are separable.* Add a penalty, such as L2"):
            model = LinearModel(loss).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
        assert model.certificate_.holds  # nothing that matters can be gained
        assert model.certificate_.parts["objective"] < 1e-4
        assert "separated-classes" in model.diagnosis_.codes()
        penalised = LinearModel(loss, L2(0.1)).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
        assert "separated-classes" not in penalised.diagnosis_.codes()

    def test_the_cap_the_gap_and_the_scales(self):
        wild = X * [1e-4, 1.0, 1.0, 1e4]
        with pytest.warns(CertificateWarning) as caught:
            model = LinearModel("logistic", L1(0.01), solver="fista", max_iter=3).fit(wild, TWO)
        message = str(caught[0].message)
        assert "it reached its limit of iterations (3)" in message
        assert f"at {model.certificate_.value:.3g}, above the tolerance of 1e-06" in message
        assert "the largest column varies 1" in message
        assert "standardise the columns" in message
        assert model.n_iter_ == 3

    def test_rows_without_weight_count_for_nothing(self):
        weight = np.ones(150)
        weight[TWO == "yes"] = 0.0
        with pytest.warns(SeparationWarning):
            model = LinearModel("logistic").fit(X, TWO, weight)
        assert (model.predict(X) == "no").all()
