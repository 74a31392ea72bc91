"""How ridge is fitted: which sums to gather, by which algorithm to solve, and what proves the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.native.sums.moments import ColumnMoments
from surefit.core.trace import Trace
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.linear.common.leverage import dependencies, inverse_root, leverage
from surefit.models.linear.common.normal_equations import normal_equations
from surefit.models.linear.squares.centred_rows import DenseRows, Passes
from surefit.models.linear.squares.ridge_gap import Scales, certify, spread_of_both
from surefit.models.rows_in_memory import gathered
from surefit.solvers.linalg import ridge
from surefit.solvers.linalg.nonnegative_least_squares import nonnegative_least_squares
from surefit.stats.moments import Moments
from surefit.stats.residuals import Residuals
from surefit.stats.triangular import TriangularFactor

LARGEST_GRAM = 5000  # columns, or rows of a dual problem; beyond it no square matrix is kept
LARGEST_POSITIVE = 20_000  # columns; the active-set method needs their square
DENSE_ENTRIES = 10**8  # of a centred copy of few rows
ITERATIONS = 5000  # of conjugate gradients, unless asked for

# A pass reads 8 n p bytes, and gives two products; a Gram matrix takes n p^2 operations. On machines whose
# cores multiply some thirty times as fast as the memory feeds them, p columns are worth p / 30 passes.
COLUMNS_A_PASS = 30
WORTH_TRYING = 20  # passes that the Gram matrix must cost
LARGE = 10**7  # entries of X, below which all of this takes no time

Solver = Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"]
ITERATIVE = ("lsqr", "sparse_cg", "sag", "saga")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be minimised, and to which gap; ``strength`` is one penalty a target."""

    strength: Vector
    fit_intercept: bool = True
    positive: bool = False
    tolerance: float = 1e-8
    solver: Solver = "auto"
    limit: int = ITERATIONS


@dataclass(frozen=True, slots=True)
class Fitted:
    """Coefficients (p, k) and intercepts (k,), how they were found, and what proves them.

    dof counts the intercept; None where no decomposition tells it. moments: the statistic of all rows, where
    it was gathered.
    """

    coef: Matrix
    intercept: Vector
    dof: Vector | None
    method: str
    certificate: Certificate
    iterations: int = 1
    moments: Moments | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


def strengths(who: str, alpha: Any, targets: int) -> Vector:
    """One penalty a target: the same for all, or as many as there are targets."""
    values = np.atleast_1d(np.asarray(alpha, dtype=np.float64)).ravel()
    if len(values) not in (1, targets):
        raise ParameterError(
            f"{who}: Number of targets and number of penalties do not correspond: "
            f"{len(values)} != {targets}; give one alpha, or one a target."
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(
            f"{who}: alpha={alpha!r} is not allowed; a penalty is a finite number of at least 0."
        )
    return np.array(np.broadcast_to(values, targets))


def fit(
    source: Source, engine: Engine, trace: Trace, problem: Problem, told: Callable[[Fitted], Any]
) -> Fitted:
    """Fit to a source whose target is numbers; ``told`` makes of a fit what callbacks are shown."""
    schema, batch = source.schema, in_memory(source)
    rows, p = schema.rows, schema.width
    short = rows is not None and rows < p
    if problem.positive:
        if p > LARGEST_POSITIVE:
            raise RefusalError(
                f"positive=True works up to {LARGEST_POSITIVE} columns, and there are {p}: "
                "drop the constraint, or some columns."
            )
    elif problem.solver in ITERATIVE:
        return by_passes(source, engine, trace, problem, told)
    elif short and rows is not None and rows <= LARGEST_GRAM and rows * p <= DENSE_ENTRIES:
        return by_rows(source, problem)
    elif problem.solver == "svd":
        moments = engine.accumulate(Moments.of, source)
        return replace(
            by_factor(source, engine, moments, problem), moments=moments if p <= LARGEST_GRAM else None
        )
    elif short or p > LARGEST_GRAM:
        return by_passes(source, engine, trace, problem, told)
    elif problem.solver == "auto" and batch is not None:
        passes = p / COLUMNS_A_PASS
        large = passes >= WORTH_TRYING and len(batch) * p >= LARGE
        if large and len(problem.strength) <= 4 and not sparse.issparse(batch.X):
            found = by_passes(source, engine, trace, problem, told, budget=passes)
            if found.certificate.value <= _target(found.certificate, False) or trace.asked_to_stop:
                return found
    moments = engine.accumulate(Moments.of, source)
    return replace(
        from_sums(source, engine, moments, problem), moments=moments if p <= LARGEST_GRAM else None
    )


def from_sums(source: Source, engine: Engine, moments: Moments, problem: Problem) -> Fitted:
    """From the moments of a source that is still at hand, in case they do not do."""
    if problem.positive:
        return by_moments(moments, problem)
    solved = by_cholesky(moments, problem)
    if solved is None or not solved.certificate.holds:
        solved = by_factor(source, engine, moments, problem)
    penalised = normal_equations(moments, problem.fit_intercept)[0]
    penalised.flat[:: len(penalised) + 1] += problem.strength.min()
    rows_evidence = leverage(source, engine, moments, inverse_root(penalised), problem.fit_intercept)
    return replace(solved, evidence={**solved.evidence, **rows_evidence})


def by_moments(moments: Moments, problem: Problem) -> Fitted:
    """From the moments alone: Cholesky, the active set under a sign constraint, or eigenvectors at worst."""
    if not problem.positive and (solved := by_cholesky(moments, problem)) is not None:
        return solved
    gram, cross = normal_equations(moments, problem.fit_intercept)
    solve = _nonnegative if problem.positive else ridge.from_singular_sums
    found = solve(gram, cross, problem.strength)
    method = "active set" if problem.positive else "eigenvectors"
    return _proved(found, method, moments, problem, cross - gram @ found.coef)


def by_cholesky(moments: Moments, problem: Problem) -> Fitted | None:
    """From the moments by Cholesky; None when the condition does not allow it."""
    gram, cross = normal_equations(moments, problem.fit_intercept)
    found = ridge.from_gram(gram, cross, problem.strength)
    if found is None:
        return None
    return _proved(found, "cholesky", moments, problem, cross - gram @ found.coef)


def by_factor(source: Source, engine: Engine, moments: Moments, problem: Problem) -> Fitted:
    """From the triangular factor of the data, refined once with the residuals of another pass."""
    p, centred = len(moments.mean_x), problem.fit_intercept
    shift = np.concatenate([moments.mean_x, moments.mean_y]) if centred else None
    factor = engine.accumulate(partial(TriangularFactor.of, ones=centred, shift=shift), source)
    R = factor.centred
    found, roots = ridge.from_data_factor(R[:p, :p], R[:p, p:], problem.strength)
    residuals = partial(_residuals, source, engine, moments, centred)
    left = residuals(found.coef) - problem.strength * found.coef
    step = np.column_stack([root @ (root.T @ column) for root, column in zip(roots, left.T, strict=True)])
    found = replace(found, coef=found.coef + step)
    return _proved(found, "triangular factor", moments, problem, residuals(found.coef))


def _residuals(source: Source, engine: Engine, moments: Moments, centred: bool, coef: Matrix) -> Matrix:
    """X'Sr from the data."""
    intercept = moments.mean_y - moments.mean_x @ coef if centred else np.zeros(coef.shape[1])
    centre = moments.mean_x if centred else np.zeros_like(moments.mean_x)
    of = partial(Residuals.of, coef=coef, intercept=intercept, centre=centre)
    cross: Matrix = engine.accumulate(of, source).cross
    return cross


def _proved(
    found: ridge.RidgeSolution, method: str, moments: Moments, problem: Problem, cross: Matrix
) -> Fitted:
    """Certify a solution by X'Sr; the intercept makes the residuals add up to zero."""
    scales = Scales.of_moments(moments, problem.fit_intercept)
    certificate = _certificate(found, cross - problem.strength * found.coef, scales, problem)
    mean_x, mean_y = moments.mean_x, moments.mean_y
    evidence = {
        "condition": found.condition,
        "penalty": float(problem.strength.min()),
        "null_space": dependencies(normal_equations(moments, problem.fit_intercept)[0]),
        "correlation": moments.correlation(),
        "column_moments": _column_moments(moments.weight, mean_x, np.diagonal(moments.gram)),
        "target_moments": _column_moments(moments.weight, mean_y, np.diagonal(moments.target_scatter)),
        "rows": moments.rows,
    }
    intercept = mean_y - mean_x @ found.coef if problem.fit_intercept else np.zeros_like(mean_y)
    dof = found.dof + float(problem.fit_intercept)
    return Fitted(found.coef, intercept, dof, method, certificate, evidence=evidence)


def _certificate(found: ridge.RidgeSolution, left: Matrix, scales: Scales, problem: Problem) -> Certificate:
    return certify(
        left,
        np.zeros(left.shape[1]),
        found.coef,
        problem.strength,
        scales,
        positive=problem.positive,
        tolerance=problem.tolerance,
        parts={"condition number": found.condition},
    )


def _column_moments(weight: float, mean: Vector, scatter: Vector) -> ColumnMoments:
    """Moments without a range know of it only whether it is empty."""
    deviation = np.sqrt(np.maximum(scatter, 0.0) / weight)
    return ColumnMoments(weight, mean, scatter, mean - deviation, mean + deviation)


def _nonnegative(gram: Matrix, cross: Matrix, strength: Vector) -> ridge.RidgeSolution:
    coef, dof = np.empty_like(cross), np.empty(len(strength))
    for k, alpha in enumerate(strength):
        coef[:, k] = nonnegative_least_squares(gram + alpha * np.eye(len(gram)), cross[:, k]).coef
        # Near the answer the free columns move as in a ridge of their own, and the others not at all.
        free = gram[np.ix_(coef[:, k] > 0, coef[:, k] > 0)]
        values = np.maximum(np.linalg.eigvalsh(free), 0.0)
        dof[k] = float(np.divide(values, values + alpha, out=np.zeros_like(values), where=values > 0).sum())
    return ridge.RidgeSolution(coef, dof, float("nan"))


def by_rows(source: Source, problem: Problem) -> Fitted:
    """By the dual, for fewer rows than columns."""
    rows = DenseRows.of(gathered(source), problem.fit_intercept)
    across = np.sqrt(rows.weight) if problem.fit_intercept else None
    found = ridge.from_rows(rows.A, rows.B, problem.strength, across)
    left = rows.A.T @ (rows.B - rows.A @ found.coef) - problem.strength * found.coef
    squares, targets = (rows.A**2).sum(axis=0), (rows.B**2).sum(axis=0)
    weight = float(rows.weight.sum())
    scales = Scales.of(weight, (rows.mean_x, squares), (rows.mean_y, targets), True)
    evidence = {
        "condition": found.condition,
        "penalty": float(problem.strength.min()),
        "column_moments": _column_moments(weight, rows.mean_x, squares),
        "target_moments": _column_moments(weight, rows.mean_y, targets),
        "rows": int(np.count_nonzero(rows.weight)),
    }
    certificate = _certificate(found, left, scales, problem)
    intercept = rows.mean_y - rows.mean_x @ found.coef
    dof = found.dof + float(problem.fit_intercept)
    return Fitted(found.coef, intercept, dof, "dual", certificate, evidence=evidence)


def by_passes(
    source: Source,
    engine: Engine,
    trace: Trace,
    problem: Problem,
    told: Callable[[Fitted], Any],
    budget: float | None = None,
) -> Fitted:
    """By conjugate gradients, one pass over the rows each; a ``budget`` of passes makes it give up early."""
    spreads: Any = engine.accumulate(spread_of_both, source)
    columns, targets = spreads["columns"], spreads["target"]
    weight, strength, centred = float(targets.weight.max()), problem.strength, problem.fit_intercept
    mean_x, mean_y = (part.mean if centred else np.zeros_like(part.mean) for part in (columns, targets))
    scales = Scales.of(weight, (columns.mean, columns.scatter), (targets.mean, targets.scatter), centred)
    rows = Passes(source, engine, mean_x)
    evidence = {"column_moments": columns.moments, "target_moments": targets.moments, "rows": targets.rows}

    def fitted(coef: Matrix, left: Matrix, sums: Vector, iterations: int) -> Fitted:
        certificate = certify(
            left, sums, coef, strength, scales, positive=False, tolerance=problem.tolerance, parts={}
        )
        intercept = mean_y - mean_x @ coef
        return Fitted(
            coef.copy(), intercept, None, "conjugate gradients", certificate, iterations, evidence=evidence
        )

    def looked(coef: Matrix) -> tuple[Matrix, Vector]:
        cross, sums = rows.residuals(coef, mean_y)
        return cross - strength * coef, sums if centred else np.zeros_like(sums)

    coef = np.zeros((len(mean_x), len(strength)))
    left, sums = looked(coef)
    found = fitted(coef, left, sums, 1)
    start, worst = found.certificate.value, np.inf
    iterations, passes = 0, 2
    while _target(found.certificate, budget is not None) < found.certificate.value < 0.5 * worst:
        worst = found.certificate.value
        steps = ridge.descend(rows.product, scales.columns, strength, coef, left)
        for _, (coef, left) in zip(trace.iterations(problem.limit - iterations), steps, strict=False):
            iterations, passes = iterations + 1, passes + 1
            now = fitted(coef, left, sums, iterations)
            value, target = now.certificate.value, _target(now.certificate, budget is not None)
            trace.record(gap=value, passes=passes, learned=partial(told, now))
            if value <= target or _too_dear(start, value, target, iterations, passes, budget):
                break
        left, sums = looked(coef)
        passes += 1
        found = fitted(coef, left, sums, max(iterations, 1))
        if trace.asked_to_stop or iterations >= problem.limit or (budget and passes >= budget):
            break
    return found


def _target(certificate: Certificate, unasked: bool) -> float:
    """Where to stop: two digits of the coefficients beyond the tolerance; a gap is a square, and has four.

    Who did not ask for an iterative solver gets two digits more, close to those of a direct one.
    """
    if certificate.claim != "optimal":
        return certificate.tolerance * 1e-2
    return certificate.tolerance * (1e-8 if unasked else 1e-4)


def _too_dear(
    start: float, value: float, target: float, iterations: int, passes: int, budget: float | None
) -> bool:
    """Whether, at the rate so far, the Gram matrix would be there sooner."""
    if budget is None or iterations < 4:
        return False
    digits = np.log(start / value)
    ahead = np.inf if digits <= 0 else iterations * np.log(value / target) / digits
    return bool(passes + ahead > budget)
