"""The kernel of the logistic and the softmax loss against its twin, in every form of rows."""

from __future__ import annotations

import numpy as np
import pytest

from surefit.core.native.class_loss import class_loss, class_loss_twin, takes
from surefit.losses import Logistic, Softmax
from surefit.penalties import NoPenalty
from surefit.solvers.objective import Objective

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9000, 7))  # more than one chunk
FORMS = {
    "C": X,
    "Fortran": np.asfortranarray(X),
    "float32": X.astype(np.float32),
    "one row": X[:1],
    "no rows": X[:0],
    "one column": np.ascontiguousarray(X[:, :1]),
}
each_form = pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS.keys())


def alike(one, two, scale):
    np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12 * scale)


@each_form
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "weighted"])
def test_logistic_as_its_twin(rows, plain):
    n, p = rows.shape
    rows.flags.writeable = False
    y, coef = RNG.uniform(size=n), RNG.normal(size=p)
    about = () if plain else (0.3, RNG.integers(0, 3, n).astype(float), RNG.normal(size=n))
    found, right = (
        class_loss(rows, y, coef, *about, rows=True),
        class_loss_twin(rows, y, coef, *about, rows=True),
    )
    for one, two in zip(found, right, strict=True):
        alike(one, two, n + 1)
    again = class_loss(rows, y, coef, *about, rows=True, _threads=1)
    assert again.value == found.value
    np.testing.assert_array_equal(again.gradient, found.gradient)


@each_form
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_softmax_as_its_twin(rows, classes):
    n, p = rows.shape
    y, coef, weight = RNG.integers(0, classes, n), RNG.normal(size=(p, classes)), RNG.uniform(size=n)
    about = (RNG.normal(size=classes), weight, RNG.normal(size=n))
    found, right = class_loss(rows, y, coef, *about), class_loss_twin(rows, y, coef, *about)
    alike(found.value, right.value, n + 1)
    alike(found.gradient, right.gradient, n + 1)
    np.testing.assert_array_equal(class_loss(rows, y, coef, *about, _threads=1).gradient, found.gradient)


def test_far_out_nothing_overflows():
    rows = np.array([[-800.0], [800.0]])
    found = class_loss(rows, np.array([1.0, 1.0]), np.ones(1), rows=True)
    assert found.value == 800.0
    np.testing.assert_array_equal(found.gradient, [800.0, -1.0])
    several = class_loss(rows, np.array([0, 0]), np.array([[1.0, 0.0]]))
    assert several.value == 800.0
    np.testing.assert_array_equal(several.gradient, [[800.0, -800.0], [-1.0, 1.0]])


@pytest.mark.parametrize(
    "rows", [X, np.asfortranarray(X), X.astype(np.float32)], ids=["C", "Fortran", "float32"]
)
def test_objectives_use_it_and_agree_with_the_loss_alone(rows, monkeypatch):
    y = RNG.integers(0, 2, len(X))
    points = {1: (Logistic(), None, RNG.normal(size=8)), 2: (Softmax(), 2, RNG.normal(size=(8, 2)))}
    for loss, outputs, w in points.values():
        assert takes(rows)
        objective = Objective.of_arrays(rows, y, loss, NoPenalty(), outputs=outputs)
        fused = objective.at(w, 2)
        first = objective.at(w, 1)
        with monkeypatch.context() as patch:
            patch.setattr(type(loss), "over_rows", None)
            alone = objective.at(w, 2)
        for one, two in ((fused, alone), (first, alone)):
            alike(one.value, two.value, 1)
            alike(one.gradient, two.gradient, 1)
        alike(fused.hessian, alone.hessian, 1)


def test_a_code_outside_the_classes_is_refused():
    with pytest.raises(ValueError, match="outside the classes"):
        class_loss(X[:2], np.array([0, 5]), np.zeros((7, 2)))
