r"""The log-likelihood of a fitted model by its parameters: value, slopes of each row, and information.

All inference follows from these three. Columns are standardised inside, so that neither units nor offsets
cost digits: parameters there are :math:`\theta_{in}`, and ``jacobian`` takes them to those of the model,
:math:`\theta = J \theta_{in}`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.data.source import Source
from surefit.engine.base import choose_engine
from surefit.stats.joint_curvature import Pieces
from surefit.stats.spread import Spread


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows: the standardised design, the intercept's column first, targets, weights and offset."""

    A: Matrix
    y: NDArray[Any]
    s: Vector
    offset: Vector | None
    start: int


@dataclass(frozen=True, slots=True)
class Terms:
    """Of some rows at a point: log-likelihood and slopes of each, and their information, summed."""

    value: Vector
    slopes: Matrix
    information: Matrix


@dataclass
class Likelihood:
    """Base of the likelihoods; a class below writes ``terms``, ``theta``, ``names`` and ``jacobian``.

    source: the rows that were fitted. fit_intercept: whether the design has a column of ones.
    """

    source: Source
    columns: tuple[str, ...]
    fit_intercept: bool

    names: tuple[str, ...] = field(init=False)
    theta: Vector = field(init=False)

    @cached_property
    def spread(self) -> Spread:
        """Mean and scatter of the columns."""
        found: Spread = choose_engine(self.source).accumulate(Spread.of, self.source)
        return found

    @property
    def mean(self) -> Vector:
        """What is taken from each column; nothing where no parameter could take it up."""
        return self.spread.mean if self._centred() else np.zeros_like(self.spread.mean)

    def _centred(self) -> bool:
        return self.fit_intercept

    @cached_property
    def size(self) -> Vector:
        """What each column is divided by."""
        squares = self.spread.variance + (self.spread.mean - self.mean) ** 2
        return np.asarray(np.sqrt(np.where(squares > 0, squares, 1.0)))

    def rows(self) -> Iterator[Rows]:
        """Read the rows that count, one batch after the other."""
        for batch in self.source:
            X: Any = batch.X
            X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
            A = (X - self.mean) / self.size
            A = np.column_stack([np.ones(len(A)), A]) if self.fit_intercept else A
            s = np.ones(len(A)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
            yield Rows(A, np.asarray(batch.y), s, batch.offset, batch.start)

    @abstractmethod
    def terms(self, rows: Rows, theta: Vector, *, observed: bool = True) -> Terms:
        """Evaluate some rows; the information is the observed or the expected one."""

    @property
    @abstractmethod
    def jacobian(self) -> Matrix:
        """The derivative of the model's parameters by those inside."""

    @property
    def inner(self) -> Vector:
        """The fitted parameters, inside."""
        return np.asarray(np.linalg.solve(self.jacobian, self.theta), dtype=np.float64)

    def at(self, theta: Vector, *, observed: bool = True) -> tuple[float, Vector, Matrix]:
        """Return log-likelihood, gradient and information at a point inside, in one pass."""
        value, gradient, information = 0.0, np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        for rows in self.rows():
            found = self.terms(rows, theta, observed=observed)
            counted = rows.s > 0
            value += float(rows.s[counted] @ found.value[counted])
            gradient += rows.s @ found.slopes
            information += found.information
        return value, gradient, information

    def weight(self) -> float:
        """How many rows the weights stand for."""
        return float(self.spread.weight.max(initial=0.0))

    def slope_places(self) -> NDArray[np.intp]:
        """Which parameters belong to columns; all of them are 0 in the model without any."""
        return np.array([k for k, name in enumerate(self.names) if self._is_slope(k)], dtype=np.intp)

    @abstractmethod
    def _is_slope(self, place: int) -> bool:
        """Whether a parameter multiplies a column."""

    def _affine(self) -> Matrix:
        """The derivative of (intercept, slopes) by those of the standardised design."""
        p = len(self.size)
        change = np.diag(1.0 / self.size)
        if not self.fit_intercept:
            return change
        whole = np.zeros((p + 1, p + 1))
        whole[0, 0] = 1.0
        whole[1:, 1:] = change
        whole[0, 1:] = -self.mean / self.size
        return whole


@dataclass
class OneScore(Likelihood):
    """One score a row, :math:`z = Ab` plus an offset, and further parameters v that no column belongs to.

    pieces: value and derivatives of the negative log-likelihood of rows by z and v; expected: the same with
    the expected second derivative by z. estimates: intercept if free, slopes, v. thresholds: v are those of
    ordered classes, which take up the offset of the columns.
    """

    estimates: Vector
    extra: tuple[str, ...]
    pieces: Callable[[Any, Vector, Vector], Pieces]
    expected: Callable[[Any, Vector], Vector] | None = None
    thresholds: bool = False

    def __post_init__(self) -> None:
        head = ("intercept",) if self.fit_intercept else ()
        self.names, self.theta = (*head, *self.columns, *self.extra), self.estimates

    def _centred(self) -> bool:
        return self.fit_intercept or self.thresholds

    def _is_slope(self, place: int) -> bool:
        return int(self.fit_intercept) <= place < len(self.names) - len(self.extra)

    @property
    def jacobian(self) -> Matrix:
        """The design's change, and the thresholds' shift."""
        inside = self._affine()
        q, m = len(inside), len(self.extra)
        whole = np.eye(q + m)
        whole[:q, :q] = inside
        if self.thresholds:
            whole[q:, :q] = self.mean / self.size
        return whole

    def terms(self, rows: Rows, theta: Vector, *, observed: bool = True) -> Terms:
        """Evaluate some rows."""
        q = rows.A.shape[1]
        z = rows.A @ theta[:q]
        z = z if rows.offset is None else z + rows.offset
        at = self.pieces(rows.y, z, theta[q:])
        if not observed and self.expected is not None:
            at = replace(at, zz=self.expected(rows.y, z))
        s = np.where(rows.s > 0, rows.s, 0.0)
        top = (rows.A * (s * at.zz)[:, None]).T @ rows.A
        side = rows.A.T @ (s[:, None] * at.zv)
        own = np.zeros((len(theta) - q, len(theta) - q))
        for j, k, each in at.vv:
            np.add.at(own, (j, k), s * each)
        own = own + np.triu(own, 1).T
        slopes = -np.hstack([at.z[:, None] * rows.A, at.v])
        return Terms(-at.value, slopes, np.block([[top, side], [side.T, own]]))


@dataclass
class ManyScores(Likelihood):
    """The softmax of classes beside the first: :math:`\\log(p_k / p_0) = A b_k`, one block a class."""

    coef: Matrix
    intercept: Vector
    classes: NDArray[Any]

    def __post_init__(self) -> None:
        head = ("intercept",) if self.fit_intercept else ()
        labels = [str(label) for label in self.classes[1:]]
        self.names = tuple(f"{label}: {name}" for label in labels for name in (*head, *self.columns))
        coef, intercept = self.coef[1:] - self.coef[0], self.intercept[1:] - self.intercept[0]
        blocks = np.column_stack([intercept, coef]) if self.fit_intercept else coef
        self.theta = blocks.ravel()

    def _is_slope(self, place: int) -> bool:
        return not self.fit_intercept or place % (len(self.columns) + 1) != 0

    @property
    def jacobian(self) -> Matrix:
        """One block a class."""
        return np.asarray(np.kron(np.eye(len(self.classes) - 1), self._affine()), dtype=np.float64)

    def chances(self, rows: Rows, theta: Vector) -> Matrix:
        """Return the probability of each class."""
        z = rows.A @ theta.reshape(len(self.classes) - 1, -1).T
        z = np.hstack([np.zeros((len(z), 1)), z])
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True), dtype=np.float64)

    def terms(self, rows: Rows, theta: Vector, *, observed: bool = True) -> Terms:
        """Evaluate some rows; the link is canonical, so both informations are the same."""
        codes, p = np.asarray(rows.y).astype(np.intp), self.chances(rows, theta)
        k, q = p.shape[1] - 1, rows.A.shape[1]
        own = np.take_along_axis(p, codes[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            value = np.log(own)
        away = (codes[:, None] == np.arange(1, k + 1)) - p[:, 1:]
        slopes = (away[:, :, None] * rows.A[:, None, :]).reshape(len(p), k * q)
        information = np.zeros((k * q, k * q))
        for a in range(k):
            for b in range(a, k):
                bend = rows.s * p[:, a + 1] * (float(a == b) - p[:, b + 1])
                block = (rows.A * bend[:, None]).T @ rows.A
                information[a * q : (a + 1) * q, b * q : (b + 1) * q] = block
                information[b * q : (b + 1) * q, a * q : (a + 1) * q] = block.T
        return Terms(value, slopes, information)
