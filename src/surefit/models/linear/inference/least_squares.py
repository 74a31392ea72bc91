r"""Standard errors, tests and intervals for unpenalised least squares.

All of it follows from :math:`(X'SX)^{-1} = LL'`, with L the ``root`` of a solution. Columns are centred
inside, so that the intercept is independent of the slopes and a large offset does not cancel.

Weights are *frequencies* (weight 2 is the row twice, so they count as rows) or *analytic* (the variance of
a row is inversely proportional to its weight, so rows are counted as they are).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.native.sums.gram import centred_gram
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.solvers.linalg.least_squares import from_gram, from_singular_gram
from surefit.stats.moments import Moments

Covariance = Literal["classical", "HC0", "HC1", "HC2", "HC3", "cluster", "bootstrap"]
Weights = Literal["frequency", "analytic"]


@dataclass(frozen=True, slots=True)
class Basis:
    """What inference starts from: the solution for one target and the sums that it came from.

    count: how many rows the weights stand for. mean: of the columns, zero without an intercept.
    """

    coef: Vector
    intercept: float
    mean: Vector
    root: Matrix
    weight: float
    count: float
    residual_squares: float
    target_squares: float
    column_squares: Vector
    has_intercept: bool
    unidentified: NDArray[np.bool_]

    @property
    def rank(self) -> int:
        """Free parameters, the intercept among them."""
        return self.root.shape[1] + int(self.has_intercept)

    @property
    def freedom(self) -> float:
        """Rows less parameters."""
        return self.count - self.rank

    @property
    def noise(self) -> float:
        """The unbiased estimate of the noise variance."""
        return self.residual_squares / self.freedom if self.freedom > 0 else np.nan

    def centred_design(self, X: Any) -> Matrix:
        """[1 | X - mean], or X; in these coordinates the normal equations are block-diagonal."""
        rows = np.asarray(X, dtype=np.float64) - self.mean
        return np.column_stack([np.ones(len(rows)), rows]) if self.has_intercept else rows

    @property
    def bread(self) -> Matrix:
        """(A'SA)^-1 for the centred design A."""
        slopes = self.root @ self.root.T
        if not self.has_intercept:
            return slopes
        bread = np.zeros((len(slopes) + 1, len(slopes) + 1))
        bread[0, 0] = 1 / self.weight
        bread[1:, 1:] = slopes
        return bread

    def uncentred(self, covariance: Matrix) -> Matrix:
        """Turn the covariance of (centred intercept, slopes) into that of (intercept, slopes)."""
        if not self.has_intercept:
            return covariance
        change = np.eye(len(covariance))
        change[0, 1:] = -self.mean
        return change @ covariance @ change.T

    @property
    def parameters(self) -> Vector:
        """Intercept, if free, and slopes."""
        return np.concatenate([[self.intercept], self.coef]) if self.has_intercept else self.coef


def held_to(name: str, value: Any, choices: Any) -> None:
    """Refuse what is none of the choices of a Literal."""
    known = get_args(choices)
    if value not in known:
        raise ParameterError(f"{name}={value!r} is not allowed; it is one of {', '.join(map(repr, known))}.")


def basis(model: Any, weights: Weights, *, with_noise: bool = True) -> Basis:
    """Gather what inference needs from a fitted LinearRegression; refuse where theory has no answer.

    with_noise: whether a variance of the noise is asked for, which takes more rows than coefficients.
    """
    held_to("weights", weights, Weights)
    if model.positive or model.constraints is not None:
        held = "positive=True" if model.positive else "constraints"
        raise RefusalError(f"no standard errors exist for coefficients held at a bound: fit without {held}.")
    if model.coef_.ndim != 1:
        raise RefusalError("inference is for one target at a time: fit each output by itself.")
    moments: Moments | None = model.__dict__.get("statistic_")
    if moments is None:
        raise RefusalError(
            "there are fewer rows than columns, or too many columns, so the noise variance cannot be "
            "estimated: no standard errors exist for this fit."
        )
    gram, cross = normal_equations(moments, model.fit_intercept)
    root, residual = model.root_, model.residual_squares_
    if root is None:
        root = (from_gram(gram, cross) or from_singular_gram(gram, cross)).root
    target = float(moments.target_scatter[0, 0])
    if not model.fit_intercept:
        target += moments.weight * float(moments.mean_y[0]) ** 2
    found = Basis(
        model.coef_,
        float(model.intercept_),
        moments.mean_x if model.fit_intercept else np.zeros(len(gram)),
        root,
        moments.weight,
        moments.weight if weights == "frequency" else float(moments.rows),
        _residual_squares(gram, cross, target, model.coef_) if residual is None else float(residual[0]),
        target,
        np.diagonal(gram),
        model.fit_intercept,
        _unidentified(root),
    )
    if with_noise and not found.freedom > 0:
        raise RefusalError(
            f"the weights stand for {found.count:g} rows and {found.rank} coefficients were fitted to them, "
            "so no degrees of freedom are left: no standard errors exist; give more rows."
        )
    return found


def _unidentified(root: Matrix) -> NDArray[np.bool_]:
    """The coefficients that a dependency between columns leaves open: those that the row space misses in
    part.
    """
    if root.shape[1] == len(root):
        return np.zeros(len(root), dtype=bool)
    space, _ = np.linalg.qr(root)
    return (space * space).sum(axis=1) < 1 - 1e-8


def _residual_squares(gram: Matrix, cross: Matrix, target: float, coef: Vector) -> float:
    """|y - Xw|^2 from the sums; what cancels is below the rounding of |y|^2."""
    explained = 2 * float(cross[:, 0] @ coef) - float(coef @ gram @ coef)
    return max(target - explained, 0.0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The data of a fit, as far as an estimate of covariance needs them."""

    X: Matrix
    y: Vector
    weight: Vector | None


def with_residuals(base: Basis, rows: Rows) -> Basis:
    """Take the sum of squared residuals from the rows themselves, where nothing cancels."""
    residual = rows.y - (rows.X - base.mean) @ base.coef - (base.intercept + base.mean @ base.coef)
    squares = residual**2 if rows.weight is None else rows.weight * residual**2
    return replace(base, residual_squares=float(squares.sum()))


def parameter_covariance(
    base: Basis,
    kind: Covariance,
    weights: Weights,
    rows: Rows | None,
    groups: Any,
    draws: int,
    random_state: Any,
) -> tuple[Matrix, float]:
    """The covariance of (intercept, slopes), and the degrees of freedom of its t tests."""
    held_to("covariance", kind, Covariance)
    if kind == "classical":
        return base.uncentred(base.noise * base.bread), base.freedom
    if rows is None:
        raise DataError(f"covariance={kind!r} needs the rows: pass the data, as in summary(X, y).")
    if kind == "bootstrap":
        return _bootstrap(base, rows, draws, random_state), base.freedom
    A = base.centred_design(rows.X)
    residual = rows.y - rows.X @ base.coef - base.intercept
    s = np.ones(len(A)) if rows.weight is None else rows.weight
    if kind == "cluster":
        return _clustered(base, A, s * residual, groups, s, weights)
    # A frequency counts a row's term that often; an analytic weight scales the row itself, so it enters
    # twice.
    own = np.einsum("ij,jk,ik->i", A, base.bread, A) * (s if weights == "analytic" else 1.0)
    terms = residual**2 * (s if weights == "frequency" else s * s)
    if kind in ("HC2", "HC3"):
        terms = terms / (1 - own) ** (1 if kind == "HC2" else 2)
    meat = (A * terms[:, None]).T @ A
    factor = base.count / base.freedom if kind == "HC1" else 1.0
    return base.uncentred(factor * base.bread @ meat @ base.bread), base.freedom


def _is_label(each: Any) -> bool:
    alike = each == each
    return each is not None and isinstance(alike, bool | np.bool_) and bool(alike)


def grouped(groups: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the labels of groups, and which of them each row has; a missing label is refused."""
    given = np.asarray(groups)
    if given.dtype.kind in "fO":  # NaN is unlike itself, and of NA nothing is known
        missing = np.flatnonzero([not _is_label(each) for each in given.ravel()])
        if len(missing):
            raise DataError(f"groups[{missing[0]}] is missing: give each row the label of its group.")
    labels, codes = np.unique(given, return_inverse=True)
    return labels, codes


def _clustered(
    base: Basis, A: Matrix, scores: Vector, groups: Any, s: Vector, weights: Weights
) -> tuple[Matrix, float]:
    if groups is None:
        raise DataError("covariance='cluster' needs groups: one label per row.")
    labels, codes = grouped(groups)
    if len(codes) != len(A):
        raise DataError(f"groups has {len(codes)} entries, but X has {len(A)} rows.")
    if len(labels) < 2:
        raise RefusalError("a clustered covariance needs at least two groups.")
    sums = np.zeros((len(labels), A.shape[1]))
    np.add.at(sums, codes, A * scores[:, None])
    g, n = len(labels), base.count
    factor = g / (g - 1) * (n - 1) / base.freedom
    return base.uncentred(factor * base.bread @ (sums.T @ sums) @ base.bread), float(g - 1)


def _bootstrap(base: Basis, rows: Rows, draws: int, random_state: Any) -> Matrix:
    """Draw rows with replacement, each draw a set of frequencies, and refit from sums."""
    if draws < 2:
        raise ParameterError(f"draws={draws!r} is not allowed; a bootstrap needs at least 2.")
    rng = np.random.default_rng(random_state)
    s = np.ones(len(rows.X)) if rows.weight is None else rows.weight
    share, size = s / s.sum(), round(float(s.sum()))
    X = np.ascontiguousarray(rows.X - base.mean)
    found = np.empty((draws, len(base.parameters)))
    for draw in range(draws):
        counts = rng.multinomial(size, share).astype(np.float64)
        sums = centred_gram(X, rows.y, counts)
        p = X.shape[1]
        gram, cross, mean = sums.scatter[:p, :p], sums.scatter[:p, p:], sums.mean
        if not base.has_intercept:
            gram = gram + sums.weight * np.outer(mean[:p], mean[:p])
            cross = cross + sums.weight * np.outer(mean[:p], mean[p:])
        coef = (from_gram(gram, cross) or from_singular_gram(gram, cross)).coef[:, 0]
        if base.has_intercept:
            found[draw] = [mean[p] - (mean[:p] + base.mean) @ coef, *coef]
        else:
            found[draw] = coef
    return np.atleast_2d(np.cov(found, rowvar=False))


def t_interval(center: Any, error: Any, freedom: float, level: float) -> tuple[Any, Any]:
    """center -+ t error."""
    if not 0 < level < 1:
        raise DataError(f"level={level!r} must lie between 0 and 1, such as 0.95.")
    reach = stats.t.ppf(0.5 + level / 2, freedom) * error
    return center - reach, center + reach
