"""What every penalty is as an object: scaled, made free, carried about, refused when made wrongly."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.laws.looping import in_one_test
from tests.laws.penalties import CASES, OPTIONAL, each, each_class, each_shape, points

import surefit.penalties
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import parameters_of
from surefit.core.registry import members
from surefit.penalties.base import CASE_COLUMNS, Penalty
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.ordered import Ordered


@each()
@each_shape
@in_one_test("factor", [0.3, 1.0, 7.0])
def test_scaled_is_the_penalty_times_a_number(penalty: Penalty, shape: Any, factor: float) -> None:
    scaled = penalty.scaled(factor)
    assert type(scaled) is type(penalty)
    for v in points(shape, 6):
        w = penalty.prox(v, 0.4 * factor)
        np.testing.assert_allclose(scaled.prox(v, 0.4), w, rtol=1e-12, atol=1e-13)
        assert scaled.value(w) == pytest.approx(factor * penalty.value(w), rel=1e-12)
        if penalty.offers("conjugate"):
            u = penalty.dual_scaling(v) * (1 - 1e-12) * v  # in the domain, also after one more rounding
            assert scaled.conjugate(factor * u) == pytest.approx(factor * penalty.conjugate(u), rel=1e-9)


def freed() -> Iterator[Any]:
    """Yield the penalties at strength 0, and scaled to 0."""
    for case in CASES:
        penalty = case.values[0]
        if "strength" in penalty.parameters and not penalty.parameters.get("positive"):
            yield pytest.param(penalty.replace(strength=0.0), id=f"{case.id}-at-zero")
            yield pytest.param(penalty.scaled(0.0), id=f"{case.id}-scaled-to-zero")


@pytest.mark.parametrize("penalty", list(freed()))
@each_shape
def test_strength_zero_is_no_penalty(penalty: Penalty, shape: Any) -> None:
    none = NoPenalty()
    for v in points(shape, 6):
        np.testing.assert_array_equal(penalty.prox(v, 2.0), v)
        assert penalty.value(v) == 0.0
        for method in ("conjugate", "dual_scaling"):
            if penalty.offers(method):
                for u in (v, np.zeros(shape)):
                    assert getattr(penalty, method)(u) == getattr(none, method)(u)
        if penalty.offers("subdifferential_distance") and penalty.convex:
            np.testing.assert_array_equal(penalty.subdifferential_distance(v, v), np.abs(v))


@pytest.mark.parametrize(
    "penalty", [case for case in CASES if case.values[0].constraint and case.values[0].name != "none"]
)
@each_shape
def test_a_constraint_is_infinite_outside_and_projects_inside(penalty: Penalty, shape: Any) -> None:
    outside = [v for v in points(shape, 15) if not penalty.feasible(v)]
    assert outside
    for v in outside:
        assert penalty.value(v) == math.inf
        w = penalty.prox(v, 1.0)
        assert penalty.feasible(w)
        assert penalty.value(w) == 0.0
        np.testing.assert_array_equal(w, penalty.prox(v, 1e-3))
        np.testing.assert_allclose(penalty.prox(w, 1.0), w, rtol=1e-13, atol=1e-14)
        assert penalty.feasible(penalty.prox(1e8 * v, 1.0))
        if penalty.offers("subdifferential_distance"):
            assert penalty.subdifferential_distance(v, v).max() == math.inf
    assert penalty.scaled(5.0).value(outside[0]) == math.inf


@each(without="constraint")
def test_all_but_constraints_are_finite(penalty: Penalty) -> None:
    signs = np.abs if penalty.parameters.get("positive") else np.asarray
    for v in points((CASE_COLUMNS,), 10):
        if "penalty" in penalty.parameters:  # and a constraint besides
            v = penalty.prox(v, 1.0)
        assert penalty.feasible(signs(v))
        assert penalty.value(signs(v)) >= 0.0


@each()
@each_shape
def test_types_stay_and_inputs_are_left_alone(penalty: Penalty, shape: Any) -> None:
    for v in points(shape, 6):
        before, g = v.copy(), v[::-1].copy()
        v.flags.writeable = g.flags.writeable = False
        w = penalty.prox(v, 0.5)
        assert w.dtype == np.float64
        assert w.flags.writeable
        assert not np.shares_memory(w, v)
        assert type(penalty.value(v)) is float
        for method in ("conjugate", "dual_scaling", "largest"):
            if penalty.offers(method):
                assert type(getattr(penalty, method)(v)) is float
        if penalty.offers("subdifferential_distance"):
            penalty.subdifferential_distance(v, g)
        np.testing.assert_array_equal(v, before)
        np.testing.assert_array_equal(g, before[::-1])
        np.testing.assert_allclose(penalty.prox(np.asfortranarray(v), 0.5), w, rtol=1e-13, atol=1e-14)
        np.testing.assert_array_equal(penalty.prox(v.tolist(), 0.5), w)


@each()
@each_shape
def test_single_precision_goes_in_and_comes_out(penalty: Penalty, shape: Any) -> None:
    for v in points(shape, 6):
        single = v.astype(np.float32)
        w = penalty.prox(single, 0.5)
        assert w.dtype == np.float32
        np.testing.assert_array_equal(w, penalty.prox(single.astype(np.float64), 0.5).astype(np.float32))
        if penalty.name != "box":  # whose bounds may not be single-precision numbers
            assert penalty.feasible(w)
    whole = np.arange(v.size).reshape(shape) - 2
    assert penalty.prox(whole, 0.5).dtype == np.float64


@each()
def test_it_travels_between_processes(penalty: Penalty) -> None:
    v = points((CASE_COLUMNS,), 1)[0]
    w = penalty.prox(v, 0.5)
    for arrived in (pickle.loads(pickle.dumps(penalty)), copy.deepcopy(penalty), penalty.replace()):
        np.testing.assert_array_equal(arrived.prox(v, 0.5), w)
        assert repr(arrived) == repr(penalty)
    assert repr(penalty).startswith(f"{type(penalty).__name__}(")


@each_class
def test_it_is_found_under_both_its_names(cls: type[Penalty]) -> None:
    assert getattr(surefit.penalties, cls.__name__) is cls
    assert cls.__name__ in dir(surefit.penalties)
    assert members("penalty")[cls.name] is cls
    assert type(cls.convex) is type(cls.separable) is type(cls.constraint) is bool


def test_an_unknown_one_gets_the_nearest() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ElasticNett': did you mean 'ElasticNet'"):
        surefit.penalties.ElasticNett  # noqa: B018


@each()
def test_what_it_does_not_offer_it_refuses_in_a_sentence(penalty: Penalty) -> None:
    v = points((CASE_COLUMNS,), 1)[0]
    arguments = {"table": (CASE_COLUMNS,), "subdifferential_distance": (v, v)}
    for method in OPTIONAL:
        if penalty.offers(method):
            getattr(penalty, method)(*arguments.get(method, (v,)))
        else:
            with pytest.raises(RefusalError, match=rf"^{type(penalty).__name__} has no {method}\(\): .*\.$"):
                getattr(penalty, method)(*arguments.get(method, (v,)))


def test_a_users_own_needs_value_and_prox_alone() -> None:
    class Pull(Penalty):
        """Half the squared distance to one."""

        name = "l1"  # taken, but not among ours

        def value(self, w: Any) -> float:
            return 0.5 * float(np.sum((np.asarray(w) - 1) ** 2))

        def prox(self, v: Any, step: float) -> Any:
            return (v + step) / (1 + step)

    own = Pull()
    assert not any(own.offers(method) for method in OPTIONAL)
    assert own.feasible(np.zeros(3))
    assert members("penalty")["l1"] is not Pull
    with pytest.raises(RefusalError, match="Pull has no scaled"):
        own.scaled(2.0)


@pytest.mark.parametrize(
    ("cls", "parameter"),
    [(cls, name) for cls in members("penalty").values() for name in parameters_of(cls)],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_wrong_parameter_is_named(cls: type[Penalty], parameter: str) -> None:
    right = next(cls.cases(np.random.default_rng(0))).parameters
    spoilt: list[Any] = ["much", {}]
    if parameter == "strength":
        spoilt += [-1.0, math.nan, math.inf]
    for value in spoilt:
        with pytest.raises(ParameterError, match=rf"^{cls.__name__}: {parameter}=.* it must be .*\.$"):
            cls(**{**right, parameter: value})


@each()
def test_coefficients_of_another_shape_are_refused(penalty: Penalty) -> None:
    with pytest.raises(DataError, match="3 dimensions"):
        penalty.prox(np.zeros((CASE_COLUMNS, 2, 2)), 1.0)
    if isinstance(penalty, Ordered):
        with pytest.raises(DataError, match=r"groups name column \d, but there are 1 coefficients"):
            penalty.prox(np.zeros(1), 1.0)
    elif any(isinstance(value, list | tuple | np.ndarray) for value in penalty.parameters.values()):
        for method in (penalty.value, lambda v: penalty.prox(v, 1.0)):
            with pytest.raises(DataError, match=r"is for 6 columns, but there are 7 coefficients; give"):
                method(np.zeros(CASE_COLUMNS + 1))
