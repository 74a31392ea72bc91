r"""How far a point can be from the minimum: the duality gap, from the data, by a path that calls no solver.

For :math:`P(w, b) = \frac1W \sum_i s_i f(y_i, z_i) + pen(w)` and slopes :math:`u` with no pull along any
direction that is free of penalty, the intercept's among them,

.. math:: P(w, b) - \min P \le
          \frac1W \sum_i s_i \left( f(y_i, z_i) + f^*(y_i, u_i) - z_i u_i \right)
          + pen(w) + pen^*(v) - v'w, \qquad v = -\tfrac1W X'Su .

Both parts are never negative, so that nothing large cancels. A loss whose scale is free as well asks for
slopes with a mean square of 1 at most, and adds what is missing to that. The slopes of the loss at z are made
feasible in two steps: a Newton step along the free directions takes their pull away, weighted by the
curvature so that slopes stay in the conjugate's domain; then a factor brings v into the domain of pen*.
Slopes of 0 are always feasible, so that there is always a bound.

Where loss or penalty is not convex there is no such bound: what is left is how far the point is from being
stationary, by its slopes and by what a Newton step would gain.

How much of the pull on a column rounding alone can have made, which a proof may take away.

With scores known to :math:`\delta`, slopes are, and a column is pulled wrongly by :math:`\sum_i s_i \delta_i
x_{ij}`. What all rows share of :math:`\delta` pulls each column by its mean, all by the same error; only the
rest, which a column's spread carries, is a column's own. Columns far from zero are therefore no excuse for a
pull on the difference of two of them.

The pull that is left on directions that no penalty holds back, in the direction where it counts most.

Slopes u that pull by :math:`r = Z'u` on free directions Z bound the minimum only up to :math:`r'\beta`, and
nothing holds :math:`\beta` back. What has no unit, and no preferred basis, is the greatest cosine of the
slopes with anything in the span of Z,

.. math:: \max_d \frac{|d'r|}{|Zd|\,|u|} = \frac{\sqrt{r'(Z'Z)^{-1} r}}{|u|} .

The cosine with each column of Z alone hides a direction in which columns nearly cancel: a difference that is
a millionth of its columns has a millionth of their pull, and as much to gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.penalties.ordered import Ordered
from surefit.solvers.objective.mean_loss import MeanLoss
from surefit.solvers.objective.newton_decrement import stationary, subgradient_residual
from surefit.stats.duality import Correction, FenchelExcess, Slopes

UNIT = float(np.finfo(float).eps)
ROUNDING = 16 * np.finfo(float).eps  # relative to the lengths that go into a product
KNOWN = 1e-8  # of squares of columns of length 1: half of the digits of such a direction's are true


def greatest_cosine(objective: MeanLoss, free: Matrix, pull: Vector, at: Slopes) -> float:
    """Return the greatest cosine of slopes with a free direction, where ``pull`` is what they leave.

    free: (p, f), directions of the coefficients. pull: (q,) or (q, K), on the coefficients and the intercept.
    """
    p, energy = objective.columns, np.sqrt(at.energy)
    pulls = pull.reshape(len(pull), -1)
    along, level = free.T @ pulls[:p], pulls[p:]  # no row of level, or one
    sizes = np.sqrt(at.free_squares[: len(along)])
    alone = max(_cosine(along, sizes * energy), _cosine(level, np.sqrt(at.squares[p:]) * energy))
    if len(along) < 2 or not ROUNDING < alone < np.inf:
        return alone
    moments = objective.moments
    square, mean = free.T @ moments.gram @ free, free.T @ moments.mean_x
    along, level = along / energy, level / energy
    if len(level):  # centred columns and the intercept have nothing in common
        along = along - mean[:, None] * level
    else:
        square = square + moments.weight * np.outer(mean, mean)
    parts, plain = _in_the_span(square, along, sizes)
    level = level / np.sqrt(moments.weight)
    if not objective.loss.smooth:
        return max(alone, _length(np.vstack([parts, level])))
    # A smooth loss gains the square of what is left, half of it at most, and the gap is in that unit. Where
    # columns nearly cancel the cosine is no more than a lower bound, and stands for itself.
    return max(alone, _length(parts[~plain]), _length(np.vstack([parts[plain], level])) ** 2)


def _in_the_span(square: Matrix, along: Vector, sizes: Vector) -> tuple[Vector, NDArray[np.bool_]]:
    """Return pulls as parts along orthonormal directions, where the products of the given are ``square``.

    sizes: lengths before centring, which is what rounding is relative to. The second answer tells which
    directions are long enough to be known.
    """
    lengths = np.sqrt(np.maximum(np.diagonal(square), 0.0))
    vary = lengths > ROUNDING * sizes
    if not vary.any():
        return along[vary], vary[vary]
    lengths, sizes = lengths[vary], sizes[vary]
    values, axes = linalg.eigh(square[np.ix_(vary, vary)] / lengths[:, None] / lengths, check_finite=False)
    parts = axes.T @ (along[vary] / lengths[:, None])
    # Columns that cancel altogether carry no pull but rounding, whatever the slopes; a pull beyond it shows
    # that they do not. How small the direction is, below what its square resolves, is then not known.
    noise = ROUNDING * (np.abs(axes.T) @ (sizes / lengths))
    parts = np.where(np.abs(parts) > noise[:, None], parts, 0.0)
    least = 8 * len(values) * UNIT
    return parts / np.sqrt(np.maximum(values, least))[:, None], values > KNOWN


def _length(parts: Matrix) -> float:
    return float(np.sqrt((parts**2).sum(axis=0)).max())


def _cosine(pulls: Vector, sizes: Vector) -> float:
    worst = np.abs(pulls).max(axis=1, initial=0.0)
    return float(np.max(worst[sizes > 0] / sizes[sizes > 0], initial=0.0))


DIGITS = 4 * np.finfo(float).eps  # what coefficients and the scores of a proof round by


def score_bound(packed: Vector, at: Slopes) -> float:
    """Return how large the scores of a packed point can be, times the root of the weight."""
    each = np.repeat(at.squares, packed.size // len(at.squares))
    return float(np.abs(np.ravel(packed)) @ np.sqrt(each))


def rounding_cosine(packed: Vector, at: Slopes, fit_intercept: bool) -> float:
    """Return the cosine of slopes and columns that the last digits of a packed point make.

    An intercept carries the size of scores; without one, coefficients of columns far from zero do.
    """
    if fit_intercept:
        size = ROUNDING * float(np.max(np.abs(packed[-1]))) * np.sqrt(at.weight)
    else:
        size = DIGITS * score_bound(packed, at)
    return float(size / np.sqrt(max(at.energy, float(np.finfo(float).tiny))))


def noise_of_slopes(at: Slopes, reach: float) -> Vector:
    """Return how large a sum of slopes times a column the roundings of its own can make."""
    spread = np.sqrt(np.maximum(at.squares - (at.sums / np.sqrt(at.weight)) ** 2, 0.0))
    with np.errstate(over="ignore"):
        noise = ROUNDING * (np.sqrt(at.squares) * np.sqrt(at.energy) + spread * reach)
    return np.where(np.isfinite(noise), noise, 0.0)  # scores beyond all range excuse nothing


def shared_error(gradient: Vector, at: Slopes, reach: float) -> Vector:
    """Return the part of a gradient that an error of all scores explains, as far as they round."""
    squares = np.where(at.squares > 0, at.squares, 1.0)
    each = max(float(np.sum(at.sums**2 / squares)), float(np.finfo(float).tiny))
    most = ROUNDING * reach / np.sqrt(at.weight)
    most = most if np.isfinite(most) else 0.0
    return np.multiply.outer(at.sums, np.clip((at.sums / squares) @ gradient / each, -most, most))


FREE_LIMIT = 5000  # directions that are made orthogonal at once: their square is kept
TINY = float(np.finfo(float).tiny)
SMALL = 0.01  # of the penalty's part: a bound on the loss's that is no larger need not be exact
SLIGHT = 1e-10  # of the scale: a gap that needs no closer look
NEARLY = 1e-8  # cosine of slopes and columns that more digits of w cannot make much smaller
FLAT = 1e-13  # of the greatest curvature: what bends by less is rounding
FLATTER = (1e-9, 1e-6)
JOINT_LIMIT = 2000  # columns whose Gram is made for a closer one
SHARINGS = 60  # rounds in which equal levels agree on their slopes: half is left after each at the worst
UNPENALISED_COSINE = "cosine of the loss derivatives and an unpenalised direction"
ROUNDS = 8  # how often a step may free further one-sided bounds


@dataclass(frozen=True, slots=True)
class Gap:
    """Objective, duality gap, and the pull that is left on free directions.

    gap: nothing can be gained beyond it. left: the cosine of the slopes with the worst free direction, which
    rounding keeps from being 0 and which a dual point that is not feasible shows.
    """

    primal: float
    gap: float
    left: float = 0.0


def certificate(
    objective: MeanLoss, w: Vector, tolerance: float, slopes: Vector | None = None
) -> Certificate:
    """Certify a packed point: by its gap relative to the loss of a constant, or as stationary.

    ``slopes`` (one a row, the witness) stand in for those of a loss with kinks.
    """
    penalty = objective.penalty
    dual = hasattr(objective.loss, "conjugate") and penalty.offers("conjugate")
    if not (objective.loss.convex and penalty.convex and dual):
        return stationarity(objective, w, tolerance)
    found = duality_gap(objective, w, slopes)
    # A constant may cost nothing, as with the perceptron's loss, or not be allowed.
    scale = max(objective.scale, found.primal - objective.targets.floor / objective.targets.weight)
    return proved(found.primal, found.gap, scale, tolerance, left=found.left, slopes=slopes)


def proved(
    primal: float,
    gap: float,
    scale: float,
    tolerance: float,
    *,
    left: float = 0.0,
    slopes: Vector | None = None,
) -> Certificate:
    """Return the certificate of a gap, relative to ``scale``: the loss of a constant above the least one."""
    parts = {"objective": primal, "gap": gap, "scale": scale, "left": left}
    witness = {} if slopes is None else {"slopes": slopes}
    if left > max(gap / scale, tolerance):  # the bound is none, so nothing is said of what could be gained
        return Certificate("stationary", UNPENALISED_COSINE, left, tolerance, parts, witness)
    measure = "duality gap, relative to the loss of a constant"
    return Certificate("optimal", measure, max(gap / scale, left), tolerance, parts, witness)


def worst(proofs: Sequence[Certificate]) -> Certificate:
    """Return the certificate with the greatest value, its objective the sum of all."""
    found = max(proofs, key=lambda proof: proof.value if np.isfinite(proof.value) else np.inf)
    return replace(found, parts={**found.parts, "objective": sum(p.parts["objective"] for p in proofs)})


def duality_gap(objective: MeanLoss, w: Vector, slopes: Vector | None = None) -> Gap:
    """Bound P(w) - min P from above."""
    point = _Point(objective, w, slopes)
    penalty, coef = objective.penalty, point.coef
    paid = float(penalty.value(coef))
    first = point.slopes_at(np.asarray(penalty.free_directions(objective.columns)))
    primal = first.value / first.weight + paid
    if not np.isfinite(primal):
        return Gap(primal, np.inf)
    nothing = primal - objective.targets.floor / first.weight + float(penalty.conjugate(np.zeros_like(coef)))
    best = Gap(primal, max(nothing, 0.0))
    for step, gradient, left in _dual_points(point, first):
        factor = float(penalty.dual_scaling(-gradient))
        if factor == 0.0 and penalty.constraint:
            # What leads out of a cone, as rounding does, is no part of its polar cone, and is told apart.
            outside = -np.asarray(penalty.prox(-gradient, 1.0))
            gradient, left = gradient - outside, max(left, _cosine_of_columns(outside, first, objective))
            factor = float(penalty.dual_scaling(-gradient))
        if factor == 0.0:
            continue
        v = -factor * gradient
        of_penalty = max(paid + float(penalty.conjugate(v)) - float(np.sum(v * coef)), 0.0)
        bound = _excess_bound(objective, step, first) if factor == 1.0 else np.inf
        if bound <= SMALL * of_penalty + ROUNDING * abs(primal):
            excess, square = bound, 0.0
        else:
            excess, square = point.excess(replace(step, factor=factor))
        of_scale = 0.0
        if hasattr(objective.loss, "scale_slack"):
            if square > 1.0:
                factor *= (1.0 - ROUNDING) / np.sqrt(square)
                excess, square = point.excess(replace(step, factor=factor))
            of_scale = float(objective.loss.scale_slack(min(square, 1.0)))
            v = -factor * gradient
            of_penalty = max(paid + float(penalty.conjugate(v)) - float(np.sum(v * coef)), 0.0)
        elif of_penalty > SLIGHT * objective.scale:
            shrunk = _shrunk(penalty, coef, v, paid, primal - paid - objective.targets.floor / first.weight)
            if shrunk < 1.0:
                less, _ = point.excess(replace(step, factor=shrunk * factor))
                pull = shrunk * float(np.sum(v * coef))
                held = max(paid + float(penalty.conjugate(shrunk * v)) - pull, 0.0)
                if less + held < excess + of_penalty:
                    excess, of_penalty = less, held
        gap = excess + of_penalty + of_scale
        if max(gap, left * objective.scale) < max(best.gap, best.left * objective.scale):
            best = Gap(primal, gap, left)
        if best.gap < np.inf and step.signs == (1.0, 1.0) and gap < np.inf:
            break  # the step by signs is for slopes that cannot follow the first one
    if slopes is None and best.gap > SLIGHT * objective.scale:
        joint = _joint_gap(point, primal, first) or best
        if max(joint.gap, joint.left * objective.scale) < max(best.gap, best.left * objective.scale):
            best = joint
    return best


def _shrunk(penalty: Any, coef: Vector, v: Vector, paid: float, loss: float) -> float:
    """Return a factor of the dual point that promises a far smaller gap, by what squares lose to it, or 1.

    A slope that passes the l1 of an elastic net by little costs much where its squares are weak.
    """
    short = np.append(0.0, np.geomspace(1e-9, 1.0, 46)[:-1])
    pull = float(np.sum(v * coef))
    cost = [t * t * loss + paid + float(penalty.conjugate((1 - t) * v)) - (1 - t) * pull for t in short]
    return 1.0 - float(short[np.argmin(cost)]) if min(cost) < 0.1 * cost[0] else 1.0


def _joint_gap(point: _Point, primal: float, first: Slopes) -> Gap | None:
    r"""Bound by a Newton step on the loss and a quadratic penalty w'Aw/2 together; None for any other.

    With :math:`(H + A) \beta = g + A w` the slopes :math:`u - H X \beta` pull by :math:`-A (w - \beta)`: that
    is in the range of A, however small its eigenvalues, and leaves :math:`\frac12 \beta' A \beta` open. The
    inverse of A, which makes much of the rounding in g, is not needed. A diagonal A needs no such step but
    where columns or targets far from zero make much of the last digits of w: then g + A w is next to nothing.
    It has an inverse, and is left to other bounds where it has none. Outputs have a step each.
    """
    objective, p = point.objective, point.objective.columns
    coupled = first.bend.ndim == 4
    A = objective.penalty.quadratic(p) if p <= JOINT_LIMIT and not coupled else None
    if A is None:
        return None
    coef = point.coef.reshape(p, -1)
    squares = A[:, None] if A.ndim == 1 else None
    if squares is not None:
        open_pull = first.gradient.reshape(-1, coef.shape[1])[:p] / first.weight + squares * coef
        blur = rounding_cosine(point.packed, first, objective.fit_intercept)
        if not squares.all() or _cosine_of_columns(open_pull, first, objective) > max(NEARLY, blur):
            return None
        A = np.diag(A)
    at = point.slopes_at(np.eye(p))
    pull = at.gradient.reshape(-1, coef.shape[1]) / at.weight
    pull[:p] += A @ coef
    beta, left = np.empty_like(pull), np.empty_like(pull)
    for k, bend in enumerate(at.bend):
        whole = bend / at.weight
        whole[:p, :p] += A
        beta[:, k] = _solve(whole, pull[:, k])
        left[:, k] = pull[:, k] - whole @ beta[:, k]
    step, of_scale = Correction(np.eye(p), beta.reshape(at.gradient.shape)), 0.0
    excess, square = point.excess(step)
    if hasattr(objective.loss, "scale_slack"):
        if square > 1.0:
            step = replace(step, factor=(1.0 - ROUNDING) / np.sqrt(square))
            excess, square = point.excess(step)
        of_scale = float(objective.loss.scale_slack(min(square, 1.0)))
    short = (1.0 - step.factor) * coef + step.factor * beta[:p]  # slopes pull by -A (w - short)
    held = 0.5 * float(np.sum(short * (A @ short)))
    if squares is not None:  # its inverse tells what the step left on each coefficient
        held = 0.5 * float(np.sum((squares * short + step.factor * left[:p]) ** 2 / squares))
        left[:p] = 0.0
    size = np.sqrt(at.squares) * np.sqrt(at.energy) / at.weight
    cosines = np.abs(left)[size > 0].max(axis=1, initial=0.0) / size[size > 0]
    return Gap(primal, excess + held + of_scale, float(cosines.max(initial=0.0)))


class _Point:
    """A packed point of an objective, with its slopes."""

    def __init__(self, objective: MeanLoss, w: Vector, slopes: Vector | None) -> None:
        self.objective = objective
        self.packed = w
        self.coef, self.intercept = objective.split(w)
        self.given = slopes is not None and not objective.loss.smooth
        self._context: dict[str, Any] = {
            "loss": objective.loss,
            "w": self.coef,
            "intercept": self.intercept,
            "slopes": slopes,
        }

    def slopes_at(self, free: Matrix, signs: tuple[float, float] = (1.0, 1.0)) -> Slopes:
        found: Slopes = self.objective.accumulate(partial(Slopes.of, free=free, signs=signs, **self._context))
        return found

    def excess(self, step: Correction) -> tuple[float, float]:
        """Return what the dual point leaves open, and the mean square of its slopes."""
        found = self.objective.accumulate(partial(FenchelExcess.of, step=step, **self._context))
        return float(found.total / found.weight), float(found.energy / found.weight)


def _excess_bound(objective: MeanLoss, step: Correction, at: Slopes) -> float:
    r"""Bound what a small step of the intercept leaves open, without a pass over the rows.

    Slopes of classes are shares less labels, those of counts means less counts, and what they leave is a
    Kullback-Leibler divergence, which the chi-squared :math:`\beta' H \beta` of shares moved by
    :math:`H \beta` is never below.
    """
    shift = step.beta if step.beta.ndim == 2 else step.beta[:, None]
    alone = objective.fit_intercept and len(shift) == 1 and step.signs == (1.0, 1.0)
    if (
        not (alone and getattr(objective.loss, "divergence", False))
        or max(np.abs(shift).max(), np.ptp(shift)) > 1.0
    ):
        return np.inf
    square = at.bend[..., -1, -1].reshape(shift.size, shift.size)
    return max(float(shift[0] @ square @ shift[0]), 0.0) / at.weight


def _dual_points(point: _Point, at: Slopes) -> Iterator[tuple[Correction, Vector, float]]:
    """Yield ways to take the pull along free directions away: the step, the mean gradient it leaves for the
    coefficients, and the cosine that is left.
    """
    objective = point.objective
    free = np.asarray(objective.penalty.free_directions(objective.columns))
    for _ in range(ROUNDS):
        basis = _with_intercept(free, objective.fit_intercept)
        if basis.shape[1] > FREE_LIMIT:
            break
        beta, moved = _newton_along(at, basis)
        left = greatest_cosine(objective, free, moved, at)
        gradient = _held(point, moved, free, at)
        also = _beyond(free, np.asarray(objective.penalty.free_directions(objective.columns, -gradient)))
        if not also.shape[1]:
            yield Correction(free, beta), gradient, left
            # Where classes are told apart, or counts are 0, the loss hardly bends: a step for the last of the
            # pull takes slopes beyond their ends, and what pull there is is next to nothing.
            for flat in FLATTER if basis.shape[1] > 1 else ():
                beta, moved = _newton_along(at, basis, flat)
                left = greatest_cosine(objective, free, moved, at)
                yield Correction(free, beta), _held(point, moved, free, at), left
            break
        free = np.hstack([free, also])
        at = point.slopes_at(free)
    low, high = -at.by_sign[0], at.by_sign[1]
    if objective.fit_intercept and at.gradient.ndim == 1 and low > 0 and high > 0:
        signs = (min(1.0, high / low), min(1.0, low / high))
        free = np.asarray(objective.penalty.free_directions(objective.columns))
        scaled = point.slopes_at(free, signs)
        gradient = _held(point, scaled.gradient, free, scaled)
        left = greatest_cosine(objective, free, scaled.gradient, scaled)
        yield Correction(free, np.zeros(free.shape[1] + 1), signs=signs), gradient, left


def _with_intercept(free: Matrix, fit_intercept: bool) -> Matrix:
    basis = np.zeros((len(free) + fit_intercept, free.shape[1] + fit_intercept))
    basis[: len(free), : free.shape[1]] = free
    if fit_intercept:
        basis[-1, -1] = 1.0
    return basis


def _held(point: _Point, total: Vector, free: Matrix, at: Slopes) -> Matrix:
    """Return the mean gradient of the coefficients without the free directions, and without mere rounding."""
    gradient = point.objective.split(total)[0]
    # Slopes that are given come from no score, and targets in large units are no excuse for them.
    reach = 0.0 if point.given else score_bound(point.packed, at)
    noise = point.objective.split(noise_of_slopes(at, reach))[0]
    if not point.objective.fit_intercept:  # an intercept takes the mean of all errors away
        gradient = gradient - shared_error(gradient, at, reach)
    for _ in range(2):  # the second time takes away what rounding left
        gradient = gradient - free @ (free.T @ gradient)
    noise = noise if gradient.ndim == 1 else noise[:, None]
    penalty = point.objective.penalty
    if isinstance(penalty, Ordered):
        return _nearer(penalty, point.coef, gradient / at.weight, noise / at.weight)
    if penalty.separable:  # each slope may be nearer to zero by what rounding made of it
        return np.asarray((gradient - np.clip(gradient, -noise, noise)) / at.weight)
    return np.zeros_like(gradient) if (np.abs(gradient) <= noise).all() else gradient / at.weight


def _nearer(penalty: Ordered, coef: Vector, gradient: Vector, noise: Vector) -> Vector:
    """Return a gradient, each slope nearer to what keeps the point where it is by what rounding made of it.

    Levels of a block share what is asked of them; one that rounds less leaves more of it to the others.
    """
    moved = np.zeros_like(gradient)
    for _ in range(SHARINGS):
        asked = penalty.beyond(coef, -(gradient + moved))
        before, moved = moved, np.clip(moved + asked, -noise, noise)
        if (np.abs(moved - before) <= ROUNDING * noise).all():  # less than a slope's own last digits
            break
    return np.asarray(gradient + moved)


def _beyond(free: Matrix, others: Matrix) -> Matrix:
    """Return orthonormal directions of what others add to the free ones."""
    new = others - free @ (free.T @ others)
    new = new[:, np.linalg.norm(new, axis=0) > 1e-9]
    if not new.shape[1]:
        return new
    axes, lengths, _ = np.linalg.svd(new, full_matrices=False)
    return np.asarray(axes[:, lengths > 1e-9])


def _cosine_of_columns(gradient: Vector, at: Slopes, objective: MeanLoss) -> float:
    """Return the greatest cosine with a column that makes up a mean gradient."""
    size = np.sqrt(objective.split(at.squares)[0]) * np.sqrt(at.energy) / at.weight
    pulls = np.abs(gradient).reshape(len(gradient), -1).max(axis=1, initial=0.0)
    return float(np.max(pulls[size > 0] / size[size > 0], initial=0.0))


def _newton_along(at: Slopes, basis: Matrix, flat: float | None = None) -> tuple[Vector, Vector]:
    """Return the step along the basis that takes the gradient's pull along it away, and what is left.

    flat: of the greatest curvature of a row; directions that bend by less are left alone.
    """
    sizes = None if flat is None else np.sqrt(np.maximum(at.free_squares, TINY))
    cut = FLAT if flat is None else flat
    single = at.gradient.ndim == 1
    gradient = at.gradient[:, None] if single else at.gradient
    if at.bend.ndim == 4:
        outputs, f = gradient.shape[1], basis.shape[1]
        matrix = np.einsum("qf,abqg->afbg", basis, at.bend).reshape(outputs * f, outputs * f)
        every = None if sizes is None else np.tile(sizes, outputs)
        beta = _solve(matrix, (basis.T @ gradient).T.ravel(), cut, every).reshape(outputs, f).T
        return beta, gradient - np.einsum("abqf,fb->qa", at.bend, beta)
    beta = np.column_stack(
        [_solve(basis.T @ bend, basis.T @ g, cut, sizes) for bend, g in zip(at.bend, gradient.T, strict=True)]
    )
    left = gradient - np.column_stack([bend @ b for bend, b in zip(at.bend, beta.T, strict=True)])
    return (beta[:, 0], left[:, 0]) if single else (beta, left)


def _solve(matrix: Matrix, right: Vector, flat: float = FLAT, size: Vector | None = None) -> Vector:
    """Solve a symmetric system, a singular one by least squares, whatever the scales of its columns."""
    if not len(right):
        return np.zeros(0)
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0.0)) if size is None else size.copy()
    size[size == 0] = 1.0
    scaled = matrix / size[:, None] / size
    if not (np.isfinite(scaled).all() and np.isfinite(right).all()):
        return np.zeros_like(right)  # beyond the range of floats there is no step, and no proof
    found: Vector = linalg.lstsq(scaled, right / size, cond=flat, check_finite=False)[0] / size
    return found


def stationarity(objective: MeanLoss, w: Vector, tolerance: float) -> Certificate:
    """Certify a point by the cosine of the slopes with each column, after the penalty's own pull."""
    point = _Point(objective, w, None)
    at = point.slopes_at(np.zeros((objective.columns, 0)))
    gradient, intercept = objective.split(at.gradient / at.weight)
    pull = subgradient_residual(objective.penalty, point.coef, gradient)
    if objective.fit_intercept:
        pull = np.concatenate([pull, np.abs(np.asarray(intercept))[None]])
    size = np.sqrt(at.squares) * np.sqrt(at.energy) / at.weight
    worst = pull if pull.ndim == 1 else pull.max(axis=1, initial=0.0)
    value = float(np.max(worst / np.maximum(size, TINY), initial=0.0))
    primal = at.value / at.weight + float(objective.penalty.value(point.coef))
    value = value if np.isfinite(primal) else np.inf
    return stationary(objective, w, primal, value, tolerance)
