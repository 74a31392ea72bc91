r"""One epoch of stochastic gradient descent on mean loss plus elastic net, a step a row.

.. math:: w \leftarrow (1 - (1 - \rho) \alpha \eta s_i) w - \eta s_i f'(y_i, x_i'w + b) x_i

The absolute part of the penalty is paid by a row's columns when the row comes, up to what all steps so far
ask for. A row of weight s counts as s steps of the same length at once; one of weight 0 is passed over.
Within a set of coefficients, each step ends in its nearest point of the set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.native import compiled
from surefit.core.native.inputs import float64_rows, matrix_arguments, row_weights
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.core.native.linear.row_loss import NAMES, row_loss_twin

Rate = Literal["constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"]
RATES: tuple[Rate, ...] = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
STEEPEST = 1e12  # slopes beyond it count as this, or one bad row would end in infinity


@dataclass(frozen=True, slots=True)
class SgdPlan:
    """How to step; begin: of the optimal rate 1 / (alpha (begin + t - 1)); average: the first step averaged.

    intercept_rate: the intercept's step over the others'. within: what the coefficients keep, if anything.
    """

    loss: str
    parameter: float = 0.0
    alpha: float = 0.0
    l1_ratio: float = 0.0
    penalised: bool = False
    rate: Rate = "constant"
    eta0: float = 0.01
    power_t: float = 0.5
    begin: float = 0.0
    fit_intercept: bool = True
    intercept_rate: float = 1.0
    average: int = 0
    within: CoefficientSet | None = None

    def numbers(self) -> Vector:
        """Return all but the loss and the set, as the kernel reads them."""
        rate = RATES.index(self.rate)
        found = (self.alpha, self.l1_ratio, self.penalised, rate, self.eta0, self.power_t, self.begin)
        return np.array([*found, self.fit_intercept, self.intercept_rate, self.average], dtype=np.float64)


@dataclass(slots=True)
class SgdState:
    """Where the steps have led; changed in place.

    paid: how much of the absolute penalty each coefficient has paid. scalars: intercept, its mean, the
    step length, the number of the next step, and the absolute penalty that all steps so far ask for.
    """

    w: Vector
    mean: Vector
    paid: Vector
    scalars: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 0.01, 1.0, 0.0]))

    @classmethod
    def start(cls, columns: int, eta: float) -> SgdState:
        """Return zeros."""
        state = cls(np.zeros(columns), np.zeros(columns), np.zeros(columns))
        state.step = eta
        return state

    @property
    def intercept(self) -> float:
        """The intercept."""
        return float(self.scalars[0])

    @intercept.setter
    def intercept(self, value: float) -> None:
        self.scalars[0] = value

    @property
    def mean_intercept(self) -> float:
        """The mean of the intercept over the steps averaged."""
        return float(self.scalars[1])

    @mean_intercept.setter
    def mean_intercept(self, value: float) -> None:
        self.scalars[1] = value

    @property
    def step(self) -> float:
        """The step length, which learning_rate='adaptive' shortens."""
        return float(self.scalars[2])

    @step.setter
    def step(self, value: float) -> None:
        self.scalars[2] = value

    @property
    def t(self) -> float:
        """The number of the next step."""
        return float(self.scalars[3])

    @t.setter
    def t(self, value: float) -> None:
        self.scalars[3] = value


@dataclass(frozen=True, slots=True)
class SgdEpoch:
    """The objective, added up over the rows before each one's step, their weight, and how many led to one."""

    objective: float
    weight: float
    moves: int


def sgd_epoch(
    X: Any,
    y: Any,
    weight: Any,
    order: NDArray[np.int64],
    plan: SgdPlan,
    state: SgdState,
    *,
    shuffle: bool = False,
    seed: int = 0,
) -> SgdEpoch:
    """Step once for each row in ``order``, shuffled first if asked; an objective of inf has diverged.

    X is dense in C order, or CSR without entries stored twice.

    >>> state = SgdState.start(1, 0.5)
    >>> plan = SgdPlan("squared", eta0=0.5, fit_intercept=False)
    >>> sgd_epoch(np.array([[1.0], [2.0]]), [2.0, 3.0], None, np.arange(2), plan, state)
    SgdEpoch(objective=2.5, weight=2.0, moves=2)
    >>> state.w
    array([2.])
    """
    native = compiled()
    y = np.ascontiguousarray(y, dtype=np.float64)
    weight = row_weights(weight)
    if native is None:
        return sgd_epoch_twin(X, y, weight, order, plan, state, shuffle=shuffle, seed=seed)
    suffix, arguments = matrix_arguments(X)
    mean = state.mean if plan.average > 0 else None
    paid = state.paid if plan.penalised and plan.l1_ratio > 0 else None
    loss, held = NAMES.index(plan.loss), plan.within
    within = () if held is None else (held.lower, held.upper, held.members, held.starts)
    name = "sgd_epoch" if held is None else "sgd_epoch_within"
    found = getattr(native, f"{name}{suffix}")(
        *arguments,
        y,
        weight,
        order,
        shuffle,
        seed,
        loss,
        plan.parameter,
        plan.numbers(),
        state.w,
        mean,
        paid,
        state.scalars,
        *within,
    )
    return SgdEpoch(*found)


def sgd_epoch_twin(
    X: Any,
    y: Vector,
    weight: Vector | None,
    order: NDArray[np.int64],
    plan: SgdPlan,
    state: SgdState,
    *,
    shuffle: bool = False,
    seed: int = 0,
) -> SgdEpoch:
    """Do the same row by row, with the coefficients and their mean written out."""
    within = plan.within
    if within is not None:
        state.w[:] = within.project(state.w)
    rows, loss, a = float64_rows(X), row_loss_twin(plan.loss, plan.parameter), plan.alpha
    entries = rows != 0 if not isinstance(X, np.ndarray) else np.ones(rows.shape, dtype=bool)
    w, b, mean_b, eta, t, owed = state.w, *(float(v) for v in state.scalars)
    l1, l2 = (plan.l1_ratio * a, (1 - plan.l1_ratio) * a) if plan.penalised else (0.0, 0.0)
    passive, total, count, moves = plan.rate in ("pa1", "pa2"), 0.0, 0.0, 0
    if shuffle:
        shuffle_twin(order, seed)
    for i in order:
        x, s = rows[i], 1.0 if weight is None else float(weight[i])
        if s == 0:
            continue
        z = float(x @ w) + b
        value, slope = loss(float(y[i]), z)
        eta = {"optimal": _optimal, "invscaling": _inverse}.get(plan.rate, _same)(plan, t, eta)
        total += s * (value + (0.0 if passive else l2 / 2 * float(w @ w) + l1 * float(np.abs(w).sum())))
        count += s
        update = _passive(plan, value, slope, float(x @ x)) if passive else -eta * _clipped(slope)
        moves += update != 0
        w *= max(0.0, 1.0 - l2 * eta * s)
        w += s * update * x
        b += s * update * plan.intercept_rate if plan.fit_intercept else 0.0
        share = 1.0 / (t - plan.average + 1) if 0 < plan.average <= t else 0.0
        mean_b += share * (b - mean_b)
        if share and within is None:  # as scikit-learn counts, before the truncation
            state.mean += share * (w - state.mean)
        if plan.penalised and plan.l1_ratio > 0:
            owed += l1 * eta * s
            q = state.paid
            above, below = (w > 0, w < 0) if within is None else within.owing(w)
            cut = np.where(
                above, np.maximum(0, w - owed - q), np.where(below, np.minimum(0, w + owed - q), w)
            )
            cut = np.where(entries[i], cut, w)
            q += cut - w
            w[:] = cut
        if within is not None:
            near = within.project(w)
            state.paid[:] = np.where(near == w, state.paid, within.paid(near, state.paid, owed))
            w[:] = near
            state.mean += share * (w - state.mean)
        t += 1
    if within is not None and 0 < plan.average < t:  # a mean of points of the set is one, but for rounding
        state.mean[:] = within.project(state.mean)
    state.scalars[:] = b, mean_b, eta, t, owed
    finite = np.isfinite(w).all() and np.isfinite(b)
    return SgdEpoch(total if finite else np.inf, count, moves)


def shuffle_twin(order: NDArray[np.int64], seed: int) -> None:
    """Permute in place, by Fisher and Yates with Marsaglia's xorshift."""
    state, n = seed or 1, len(order)
    for i in range(n - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        j = i + (state % 0x80000000) % (n - i)
        order[i], order[j] = order[j], order[i]


def _optimal(plan: SgdPlan, t: float, eta: float) -> float:
    return 1.0 / (plan.alpha * (plan.begin + t - 1))


def _inverse(plan: SgdPlan, t: float, eta: float) -> float:
    return float(plan.eta0 / t**plan.power_t)


def _same(plan: SgdPlan, t: float, eta: float) -> float:
    return eta


def _clipped(slope: float) -> float:
    return min(max(slope, -STEEPEST), STEEPEST)


def _passive(plan: SgdPlan, value: float, slope: float, squares: float) -> float:
    if value == 0 or slope == 0 or (plan.rate == "pa1" and squares == 0):
        return 0.0
    step = min(plan.eta0, value / squares) if plan.rate == "pa1" else value / (squares + 0.5 / plan.eta0)
    return float(-np.sign(slope) * step)
