"""Marginal effects: what a column does to the mean of y, or to the probability of each class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.core.arrays import Matrix, Vector
from surefit.losses.joint import CumulativeLink
from surefit.losses.links import Link
from surefit.models.linear.inference.likelihood import Likelihood

NEAR = 1e-4  # of a standard error: the step of the differences by which effects follow the parameters


@dataclass(frozen=True, slots=True)
class MarginalEffects:
    """Effects with their errors, tests and intervals: (p,), or (K, p) with a row a class.

    names: the columns. classes: None where y is a number.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...] | None
    effect: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    z: NDArray[np.float64]
    p_value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    at: str
    level: float

    def __str__(self) -> str:
        width = max(12, *(len(name) for name in self.names))
        head = f"{'':{width}} {'effect':>12} {'std. error':>12} {'z':>9} {'p':>9}"
        lines = [f"Marginal effects ({self.at})", ""]
        labels = (None,) if self.classes is None else self.classes
        blocks = [np.atleast_2d(part) for part in (self.effect, self.standard_error, self.z, self.p_value)]
        ends = [np.atleast_2d(part) for part in (self.lower, self.upper)]
        for k, label in enumerate(labels):
            lines.append(
                f"{head}   {100 * self.level:g} % interval" + ("" if label is None else f"   ({label})")
            )
            for j, name in enumerate(self.names):
                effect, error, z, p = (float(block[k, j]) for block in blocks)
                low, high = (float(end[k, j]) for end in ends)
                lines.append(
                    f"{name:{width}} {effect:12.5g} {error:12.4g} {z:9.3f} {p:9.3g}   {low:.5g} to {high:.5g}"
                )
        return "\n".join(lines)


class Effects:
    """How predictions follow from columns and parameters; a class below writes ``of`` and ``slope``."""

    classes: tuple[str, ...] | None = None

    @abstractmethod
    def of(self, X: Matrix, offset: Any, theta: Vector) -> Matrix:
        """Return the predictions, (n, K) with K = 1 for a number."""

    @abstractmethod
    def slope(self, X: Matrix, offset: Any, theta: Vector) -> NDArray[np.float64]:
        """Return their derivatives by the columns, (n, K, p)."""


@dataclass
class MeanEffects(Effects):
    """The mean of y behind a link."""

    link: Link
    fit_intercept: bool

    def _score(self, X: Matrix, offset: Any, theta: Vector) -> tuple[Vector, Vector]:
        w = theta[int(self.fit_intercept) :][: X.shape[1]]
        z = X @ w + (theta[0] if self.fit_intercept else 0.0)
        return (z if offset is None else z + offset), w

    def of(self, X: Matrix, offset: Any, theta: Vector) -> Matrix:
        """Return the means."""
        return np.asarray(self.link.inverse(self._score(X, offset, theta)[0]), dtype=np.float64)[:, None]

    def slope(self, X: Matrix, offset: Any, theta: Vector) -> NDArray[np.float64]:
        """Return mean' times the coefficients."""
        z, w = self._score(X, offset, theta)
        return np.asarray(self.link.inverse_derivative(z))[:, None, None] * w


@dataclass
class SoftmaxEffects(Effects):
    """The probabilities of classes by the softmax, the first class being the base."""

    fit_intercept: bool
    classes: tuple[str, ...] = ()

    def _blocks(self, theta: Vector) -> tuple[Vector, Matrix]:
        blocks = np.vstack(
            [np.zeros((1, len(theta) // (len(self.classes) - 1))), theta.reshape(len(self.classes) - 1, -1)]
        )
        return (blocks[:, 0], blocks[:, 1:]) if self.fit_intercept else (np.zeros(len(blocks)), blocks)

    def of(self, X: Matrix, offset: Any, theta: Vector) -> Matrix:
        """Return the probabilities."""
        b, W = self._blocks(theta)
        z = X @ W.T + b
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))

    def slope(self, X: Matrix, offset: Any, theta: Vector) -> NDArray[np.float64]:
        """Return p_k (w_k - mean of w)."""
        p, W = self.of(X, offset, theta), self._blocks(theta)[1]
        return np.asarray(p[:, :, None] * (W - (p @ W)[:, None, :]))


@dataclass
class OrderedEffects(Effects):
    """The probabilities of ordered classes."""

    link: CumulativeLink
    classes: tuple[str, ...] = ()

    def _distances(self, X: Matrix, theta: Vector) -> tuple[Matrix, Matrix, Vector]:
        w = theta[: X.shape[1]]
        edges = np.concatenate([[-np.inf], theta[X.shape[1] :], [np.inf]])
        z = (X @ w)[:, None]
        return edges[:-1] - z, edges[1:] - z, w

    def of(self, X: Matrix, offset: Any, theta: Vector) -> Matrix:
        """Return the probabilities."""
        low, high, _ = self._distances(X, theta)
        return np.asarray(self.link.chance(low, high), dtype=np.float64)

    def slope(self, X: Matrix, offset: Any, theta: Vector) -> NDArray[np.float64]:
        """Return the difference of the densities at the thresholds, times the coefficients."""
        low, high, w = self._distances(X, theta)
        return np.asarray((self.link.density(low) - self.link.density(high))[:, :, None] * w)


def marginal_effects(
    effects: Effects, likelihood: Likelihood, covariance: Matrix, at: str, dummies: bool, level: float
) -> MarginalEffects:
    """Average the effects over the rows, or take them at the means, with errors by the delta method."""
    theta = likelihood.theta
    zero_one = _zero_one(likelihood) if dummies else np.zeros(len(likelihood.size), dtype=bool)

    def found(parameters: Vector) -> Matrix:
        if at == "means":
            return _of(effects, likelihood.spread.mean[None], None, parameters, zero_one)[0]
        total: Any = 0.0
        weight = 0.0
        for batch in likelihood.source:
            X: Any = batch.X
            X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
            s = np.ones(len(X)) if batch.weight is None else batch.weight
            total = total + np.tensordot(s, _of(effects, X, batch.offset, parameters, zero_one), axes=1)
            weight += float(s.sum())
        return np.asarray(total / weight)

    effect = found(theta)
    step = NEAR * np.sqrt(np.maximum(np.diagonal(covariance), np.finfo(float).tiny))

    def along(h: Vector) -> Matrix:
        apart = [found(theta + each) - found(theta - each) for each in np.diag(h)]
        return np.column_stack([change.ravel() / (2 * each) for change, each in zip(apart, h, strict=True)])

    change = (4.0 * along(0.5 * step) - along(step)) / 3.0  # the squares of the step cancel (Richardson)
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", change, covariance, change), 0.0)).reshape(
        effect.shape
    )
    reach = stats.norm.ppf(0.5 + level / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = effect / error
    parts = [effect, error, z, 2 * stats.norm.sf(np.abs(z)), effect - reach, effect + reach]
    shown: list[Any] = [part[0] if effects.classes is None else part for part in parts]
    effect, error, z, p, lower, upper = shown
    return MarginalEffects(likelihood.columns, effects.classes, effect, error, z, p, lower, upper, at, level)


def _of(effects: Effects, X: Matrix, offset: Any, theta: Vector, zero_one: Any) -> NDArray[np.float64]:
    slope = effects.slope(X, offset, theta)
    for j in np.flatnonzero(zero_one):
        on, off = np.array(X), np.array(X)
        on[:, j], off[:, j] = 1.0, 0.0
        slope[:, :, j] = effects.of(on, offset, theta) - effects.of(off, offset, theta)
    return slope


def _zero_one(likelihood: Likelihood) -> NDArray[np.bool_]:
    spread = likelihood.spread
    shares = (spread.minimum == 0) & (spread.maximum == 1)
    # Values of 0 and 1 alone have the variance m (1 - m), the greatest that their range allows.
    return np.asarray(shares & (np.abs(spread.variance - spread.mean * (1 - spread.mean)) < 1e-9))
