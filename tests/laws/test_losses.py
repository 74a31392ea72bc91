"""What holds for every loss: derivatives, convexity, accuracy far out, constants, weights, inputs, errors."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import surefit.losses
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.registry import lookup, members
from surefit.data.batches.batch import Batch
from surefit.losses.base import Loss
from surefit.losses.cases import Case
from surefit.stats.curvature import Curvature

LOSSES: dict[str, type[Loss]] = dict(members("loss"))  # type: ignore[arg-type]
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, cls in LOSSES.items()
    for number, case in enumerate(cls.cases(np.random.default_rng(7)))
]
each_case = pytest.mark.parametrize("case", CASES)
each_loss = pytest.mark.parametrize("cls", LOSSES.values(), ids=LOSSES.keys())
MAJORANTS = [case for case in CASES if case.values[0].loss.curvature_kind == "majorant"]
EXACT = [case for case in CASES if case.values[0].loss.curvature_kind == "exact"]
CONVEX = [case for case in CASES if case.values[0].loss.convex]
BOUNDED = [case for case in CASES if case.values[0].loss.smoothness is not None]
NUISANCE = [case for case in CASES if case.values[0].loss.nuisance]

EPS = float(np.finfo(np.float64).eps)
# The step that balances the rounding of long doubles against a truncation of sixth order.
STEP = float(np.finfo(np.longdouble).eps) ** (1 / 7)


def central(f: Callable[[Any], Any], h: float) -> Any:
    """Return the derivative at 0 of a function of a shift, to sixth order."""
    near, middle, far = (f(k * h) - f(-k * h) for k in (1, 2, 3))
    return (45 * near - 9 * middle + far) / (60 * h)


def derivative(f: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the derivative, and where it can be trusted: no kink lies within the steps."""
    wide, narrow = central(f, STEP), central(f, STEP / 2)
    return narrow, np.abs(wide - narrow) <= 1e-9 * (1e-6 + np.abs(narrow))


def shifts(z: Any) -> list[Any]:
    """Return the unit shift of each output, in the shape of z."""
    return (
        [np.ones_like(z)]
        if z.ndim == 1
        else [np.eye(z.shape[1], dtype=z.dtype)[k] for k in range(z.shape[1])]
    )


def off_the_grid(case: Case) -> Any:
    """Return scores as long doubles, none at a kink, where central differences give the mean slope."""
    return (case.z + 0.0123).astype(np.longdouble)


def size(array: Any) -> Any:
    """Return absolute values, those beyond float64 as inf."""
    with np.errstate(over="ignore"):
        return np.abs(array).astype(np.float64)


def assert_close(found: Any, wanted: Any, slack: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = np.asarray(wanted).astype(np.float64)
        close = (found == wanted) | (np.abs(found - wanted) <= slack)
    assert close.all(), (found[~close], wanted[~close])


@each_case
def test_the_gradient_is_the_derivative_of_the_value(case: Case) -> None:
    z = off_the_grid(case)
    gradient = case.loss.gradient(case.y, z.astype(np.float64)).reshape(len(z), -1)
    scale = size(case.loss.value(case.y, z)) + 1.0
    for k, shift in enumerate(shifts(z)):
        wanted, trusted = derivative(lambda h, shift=shift: case.loss.value(case.y, z + h * shift))
        assert trusted.mean() > 0.75
        found = gradient[trusted, k]
        assert_close(found, wanted[trusted], 1e-12 * np.abs(found) + 1e-14 * scale[trusted])


@each_case
def test_value_and_gradient_together_are_those_taken_apart(case: Case) -> None:
    loss, y, z = case.loss, case.y, case.z
    value, gradient = loss.value_and_gradient(y, z)
    slope = loss.gradient(y, z)
    assert_close(gradient, slope, 8 * EPS * np.abs(slope))
    # The other way may round z once more, by which the slope moves the value, and add terms of size 1 and y.
    with np.errstate(invalid="ignore"):
        moved = (1.0 + np.abs(z)) * np.abs(slope)
    wanted = loss.value(y, z)
    sway = moved.sum(axis=1) if z.ndim == 2 else moved
    terms = 1.0 + np.abs(case.y).reshape(len(z), -1).max(axis=1)
    assert_close(value, wanted, 32 * EPS * (np.abs(wanted) + sway + terms))


@pytest.mark.parametrize("case", EXACT)
def test_the_curvature_is_the_derivative_of_the_gradient(case: Case) -> None:
    z = off_the_grid(case)
    outputs = len(shifts(z))
    curvature = case.loss.curvature(case.y, z.astype(np.float64)).reshape(len(z), outputs, outputs)
    scale = size(case.loss.gradient(case.y, z)).reshape(len(z), -1) + 1.0
    for k, shift in enumerate(shifts(z)):
        wanted, trusted = derivative(
            lambda h, shift=shift: case.loss.gradient(case.y, z + h * shift).reshape(len(z), -1)
        )
        assert trusted.mean() > 0.75
        found = curvature[:, :, k][trusted]
        assert_close(found, wanted[trusted], 1e-12 * np.abs(found) + 1e-14 * scale[trusted])


@pytest.mark.parametrize("case", MAJORANTS)
def test_a_majorant_lies_above_the_loss_and_touches_it_twice(case: Case) -> None:
    rng = np.random.default_rng(3)
    y, z = case.y, case.z
    f, g, c = (part(y, z) for part in (case.loss.value, case.loss.gradient, case.loss.curvature))
    finite = np.isfinite(c)  # at a kink, no parabola lies above
    y, z, f, g, c = y[finite], z[finite], f[finite], g[finite], c[finite]
    assert len(z) > 50
    assert (c > 0).all()

    def above(d: Any) -> Any:
        return f + g * d + 0.5 * c * d**2 - case.loss.value(y, z + d)

    for reach in (1e-3, 0.1, 1.0, 10.0, 1000.0):
        d = reach * rng.normal(size=z.shape)
        assert (above(d) >= -1e-12 * (1.0 + f + np.abs(g * d))).all()
    # Scores and targets on a grid touch again on a grid, away from where they start: none smaller would do.
    again = [above(d)[np.abs(d) * c > 0.5].min(initial=np.inf) for d in np.arange(-300, 301) / 10]
    assert min(again) < 1e-12


@pytest.mark.skipif(np.finfo(np.longdouble).eps > EPS / 100, reason="long doubles are doubles here")
@each_case
def test_no_digit_is_lost_far_out(case: Case) -> None:
    """The same formula in long doubles has the same digits, but for what one rounding of z explains."""
    loss, y, z = case.loss, case.y, case.z
    wide = z.astype(np.longdouble)
    value, gradient, bend = (size(part(y, wide)) for part in (loss.value, loss.gradient, loss.curvature))
    reach = 1.0 + np.abs(z)
    with np.errstate(invalid="ignore"):
        moved = (reach * gradient).sum(axis=1) if z.ndim == 2 else reach * gradient
        assert_close(loss.value(y, z), loss.value(y, wide), 32 * EPS * (value + moved) + 1e-300)
    if loss.curvature_kind == "exact":
        sway = reach * (bend if z.ndim == 1 else np.diagonal(bend, axis1=1, axis2=2))
        assert_close(loss.gradient(y, z), loss.gradient(y, wide), 32 * EPS * (gradient + sway) + 1e-300)
        blur = bend + (reach * gradient if z.ndim == 1 else bend * reach.max(axis=1)[:, None, None])
        assert_close(loss.curvature(y, z), loss.curvature(y, wide), 32 * EPS * blur + 1e-300)


@each_case
def test_far_scores_give_no_warning_and_no_nan(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = case.loss.subdifferential(case.y, case.z)
        for part in (case.loss.value, case.loss.gradient, case.loss.curvature):
            assert not np.isnan(part(case.y, case.z)).any()
    gradient = case.loss.gradient(case.y, case.z)
    assert ((low <= gradient) & (gradient <= high)).all()
    assert not case.loss.smooth or (low == high).all()


@each_case
def test_convex_exactly_as_declared(case: Case) -> None:
    rng = np.random.default_rng(11)
    violated = False
    for reach in (0.5, 3.0, 30.0):
        a, b = (np.clip(case.z, -30, 30) + reach * rng.normal(size=case.z.shape) for _ in range(2))
        t = rng.random((len(a),) + (1,) * (a.ndim - 1))
        ends = t.ravel() * case.loss.value(case.y, a) + (1 - t.ravel()) * case.loss.value(case.y, b)
        middle = case.loss.value(case.y, t * a + (1 - t) * b)
        violated |= bool((middle > ends + 1e-12 * (1 + np.abs(ends) + np.abs(middle))).any())
    assert violated == (not case.loss.convex)


@pytest.mark.parametrize("case", CONVEX)
def test_the_slopes_of_a_convex_loss_lie_below_it(case: Case) -> None:
    rng = np.random.default_rng(13)
    z = np.clip(case.z, -30, 30)
    f, low_high = case.loss.value(case.y, z), case.loss.subdifferential(case.y, z)
    for _ in range(5):
        d = 3.0 * rng.normal(size=z.shape)
        for slope in low_high:
            rise = (slope * d).sum(axis=1) if d.ndim == 2 else slope * d
            moved = case.loss.value(case.y, z + d)
            assert (moved >= f + rise - 1e-12 * (1 + np.abs(f) + np.abs(moved))).all()


@pytest.mark.parametrize("case", BOUNDED)
def test_the_curvature_stays_below_the_smoothness(case: Case) -> None:
    bend = case.loss.curvature(case.y, case.z)
    greatest = np.linalg.eigvalsh(bend).max() if bend.ndim == 3 else np.abs(bend).max()
    assert 0.5 * case.loss.smoothness < greatest <= case.loss.smoothness * (1 + 1e-12)


@each_case
def test_nothing_costs_less_than_the_best_score_of_the_row(case: Case) -> None:
    if case.loss.task == "multiclass":
        best = 800.0 * np.eye(case.z.shape[1])[case.y] if case.y.ndim == 1 else np.log(case.y)
    else:
        best = np.array([case.loss.best_constant(case.y[i : i + 1]) for i in range(len(case.y))])
    least = case.loss.value(case.y, np.clip(best, -600.0, 600.0))
    value = case.loss.value(case.y, case.z)
    assert (value >= least - 1e-12 * (1 + np.abs(least))).all()
    assert (value > least).any()


@each_case
def test_the_best_constant_is_best_and_a_weight_is_a_repetition(case: Case) -> None:
    weight = np.random.default_rng(17).integers(1, 4, size=len(case.y))
    weight[-2:] = 0
    best = case.loss.best_constant(case.y, weight)
    repeated = case.loss.best_constant(np.repeat(case.y, weight, axis=0))
    np.testing.assert_allclose(best, repeated, rtol=1e-12, atol=1e-12)
    z = np.broadcast_to(best, case.z.shape)
    low, high = (weight @ slope for slope in case.loss.subdifferential(case.y, z))
    slack = 1e-12 * (weight @ np.abs(case.loss.gradient(case.y, z)) + weight.sum())
    assert ((low <= slack) & (high >= -slack)).all()
    cost = weight @ case.loss.value(case.y, z)
    for off in (-2.0, -0.1, 0.1, 2.0):
        tilt = off * np.linspace(1.0, 0.5, z.shape[1]) if z.ndim == 2 else off
        assert weight @ case.loss.value(case.y, z + tilt) >= cost - 1e-12 * abs(cost)


@each_case
def test_weighted_sums_of_rows_are_those_of_repeated_rows(case: Case) -> None:
    rng = np.random.default_rng(19)
    X = rng.normal(size=(len(case.y), 2)) / 4
    weight = rng.integers(0, 3, size=len(case.y))
    w = rng.normal(size=(2, case.z.shape[1])) if case.z.ndim == 2 else rng.normal(size=2)
    at = {"loss": case.loss, "w": w, "intercept": np.zeros(w.shape[1]) if w.ndim == 2 else 0.0}
    once = Curvature.of(Batch(X, case.y, weight.astype(float)), **at)
    again = Curvature.of(Batch(np.repeat(X, weight, axis=0), np.repeat(case.y, weight, axis=0)), **at)
    assert once.distance(again) < 1e-12


@pytest.mark.parametrize("case", NUISANCE)
def test_the_nuisance_gradient_is_a_derivative(case: Case) -> None:
    rows = np.abs(case.z) < 10
    y, z = case.y[rows], case.z[rows].astype(np.longdouble)
    for name, found in case.loss.nuisance_gradient(y, z).items():
        at = np.asarray(getattr(case.loss, name), dtype=np.longdouble)
        for k in range(at.size):
            unit = np.eye(at.size, dtype=np.longdouble)[k].reshape(at.shape)
            reach = 0.1 * np.min(np.diff(at), initial=1.0) if at.ndim else at * 0.1

            def moved(h: float, unit: Any = unit, reach: Any = reach, at: Any = at, name: str = name) -> Any:
                there = at + h * reach * unit
                return case.loss.replaced(**{name: tuple(there) if at.ndim else there}).value(y, z)

            wanted, trusted = derivative(moved)
            slope = (found[:, k] if found.ndim == 2 else found)[trusted] * reach
            assert trusted.mean() > 0.75
            assert_close(slope, wanted[trusted], 1e-10 * (1 + np.abs(slope)))


@each_case
def test_inputs_stay_as_they_are_and_answers_are_float64(case: Case) -> None:
    y, z = case.y.copy(), np.clip(case.z, -20, 20).astype(np.float32)
    before = z.copy()
    y.flags.writeable = z.flags.writeable = False
    parts = [case.loss.value, case.loss.gradient, case.loss.curvature]
    parts += [case.loss.conjugate] if hasattr(case.loss, "conjugate") and case.loss.convex else []
    for part in parts:
        assert part(y, z).dtype == np.float64
        np.testing.assert_array_equal(part(y, z), part(y, z.astype(np.float64)))
        np.testing.assert_array_equal(part(y.tolist(), z.tolist()), part(y, z))
    np.testing.assert_array_equal(z, before)
    np.testing.assert_array_equal(y, case.y)


@each_case
def test_shapes_and_columns(case: Case) -> None:
    rows = len(case.y)
    assert case.loss.value(case.y, case.z).shape == (rows,)
    assert case.loss.gradient(case.y, case.z).shape == case.z.shape
    if case.z.ndim == 2:
        assert case.loss.curvature(case.y, case.z).shape == (rows, case.z.shape[1], case.z.shape[1])
        return
    assert case.loss.curvature(case.y, case.z).shape == (rows,)
    if case.loss.task == "ordinal":
        return
    y, z = np.stack([case.y, case.y[::-1]], 1), np.stack([case.z, case.z[::-1]], 1)
    value = case.loss.value(case.y, case.z)
    np.testing.assert_array_equal(case.loss.value(y, z), value + value[::-1])
    for part in (case.loss.gradient, case.loss.curvature):
        np.testing.assert_array_equal(part(y, z)[:, 0], part(case.y, case.z))
    with pytest.raises(DataError, match=r"y has shape \(64,\) and z has shape \(63,\)"):
        case.loss.value(case.y, case.z[1:])


@each_case
def test_losses_travel_between_processes(case: Case) -> None:
    other = pickle.loads(pickle.dumps(case.loss))
    assert repr(other) == repr(case.loss)
    np.testing.assert_array_equal(other.value(case.y, case.z), case.loss.value(case.y, case.z))


@each_case
def test_a_bad_target_is_named_by_its_row(case: Case) -> None:
    case.loss.check(case.y)
    domain = case.loss.domain
    bad = [np.nan, np.inf]
    bad += [] if domain.low is None else [domain.low - 0.5]
    bad += [] if domain.high is None else [domain.high + 0.5]
    for wrong in bad:
        y = case.y.astype(float)
        y[5:] = wrong
        with pytest.raises(DataError, match=rf"^y\[5\] is .* the {case.loss.name} loss takes .*: correct"):
            case.loss.check(y)


@each_loss
def test_every_loss_is_found_by_the_name_of_its_class(cls: type[Loss]) -> None:
    assert getattr(surefit.losses, cls.__name__) is cls
    assert cls.__name__ in dir(surefit.losses)
    assert lookup("loss", cls.name) is cls
    assert repr(cls()).startswith(cls.__name__)
    with pytest.raises(RefusalError, match="has no parameter 'colour'"):
        cls().replaced(colour=1)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Hubert'"):
        surefit.losses.Hubert  # noqa: B018


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("quantile", {"level": 1.0}),
        ("huber", {"threshold": 0.0}),
        ("huber", {"slope": "one"}),
        ("huber", {"scale": -1.0}),
        ("epsilon_insensitive", {"epsilon": -0.1}),
        ("squared_epsilon_insensitive", {"epsilon": -0.1}),
        ("tweedie", {"power": 0.5}),
        ("negative_binomial", {"dispersion": 0.0}),
        ("cumulative_logit", {"thresholds": (1.0, 1.0)}),
        ("cumulative_logit", {"thresholds": ()}),
    ],
)
def test_a_bad_parameter_is_named(name: str, options: dict[str, Any]) -> None:
    loss = LOSSES[name](**options)
    with pytest.raises(ParameterError, match=f"{next(iter(options))}=.* is not allowed"):
        loss.check([1.0])
