"""Lasso and elastic net for a whole row of strengths, each begun at the answer to the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError
from surefit.core.native.columns.finite import all_finite
from surefit.core.parameters import Fraction
from surefit.core.public import public
from surefit.models.linear.common.candidate_strengths import candidate_strengths
from surefit.models.linear.squares.separable_penalty import within
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.penalties.elastic_net import ElasticNet
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.problems import Problem

_FLOATS = (np.float64, np.float32)


@dataclass(frozen=True, slots=True)
class Path:
    """For each strength: coefficients (strengths, p), intercept, duality gap and rounds.

    With several targets that share their columns, coefficients are (strengths, p, k).
    """

    coefs: Matrix
    intercepts: Matrix
    gaps: Vector
    rounds: NDArray[np.intp]


def path_of(
    problem: Problem, alphas: Vector, l1_ratio: float, positive: bool, tolerance: float, max_iter: int
) -> Path:
    """Solve for strengths from large to small."""
    steps = _tables(alphas, l1_ratio, positive, problem.columns)
    coefs: Matrix = np.empty((0, problem.columns))
    beside: list[tuple[Any, float, int]] = []
    for one in problem.path(steps, tolerance=within(problem, tolerance), max_iter=max_iter):
        if not beside:  # filled as the steps come: a long path of many columns is not held twice
            coefs = np.empty((len(alphas), *one.coef.shape))
        coefs[len(beside)] = one.coef
        beside.append((one.intercept, one.gap, one.epochs))
    intercepts, gaps, rounds = zip(*beside, strict=True) if beside else ((), (), ())
    return Path(coefs, np.array(intercepts), np.array(gaps), np.array(rounds))


def _tables(alphas: Vector, l1_ratio: float, positive: bool, columns: int) -> Iterator[CoordinateTable]:
    unit = ElasticNet(1.0, l1_ratio=l1_ratio, positive=positive).table(columns)
    for alpha in alphas:
        yield CoordinateTable(alpha * unit.l1, alpha * unit.l2, unit.lower, unit.upper)


def largest_strength(slopes: Matrix, l1_ratio: float, positive: bool = False) -> float:
    """Return the least strength at which all coefficients are zero, given X'Sy / W, (p,) or (p, k)."""
    sizes = np.linalg.norm(slopes, axis=1) if slopes.ndim == 2 else slopes if positive else np.abs(slopes)
    return float(np.max(sizes, initial=0.0)) / l1_ratio


def strengths(who: str, alphas: Any, largest: float, eps: float) -> Vector:
    """Return strengths from large to small: those given, or so many from ``largest`` to its share ``eps``."""
    if np.ndim(alphas) == 0:
        resolution = np.finfo(float).resolution
        if largest <= resolution:
            return np.full(int(alphas), resolution)
        return np.geomspace(largest, largest * eps, num=int(alphas))
    return np.sort(candidate_strengths(who, alphas))[::-1]


@public
def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: Fraction = 0.5,
    eps: Fraction = 1e-3,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    sample_weight: Any = None,
    fit_intercept: bool = False,
    **params: Any,
) -> Any:
    r"""Return strengths, coefficients (p, strengths) and duality gaps of elastic nets, from strong to weak.

    Each minimises :math:`\frac{1}{2W} \sum_i s_i (y_i - w'x_i)^2 + \alpha (\rho \|w\|_1 + \frac{1 - \rho}{2}
    \|w\|^2)`; with several targets the coefficients are (targets, p, strengths), and those of one column are
    zero together. alphas: how many strengths, or which. eps: the weakest over the strongest. fit_intercept:
    centre X and y first, which scikit-learn leaves to the caller. return_n_iter: also return the rounds that
    each took. precompute, Xy, copy_X, coef_init, verbose, check_input: without effect.

    >>> X = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T
    >>> alphas, coefs, gaps = enet_path(X, [1.0, 2.0, 3.1], l1_ratio=0.8, alphas=[5.0, 1.0, 0.5])
    >>> coefs.round(2)
    array([[0.  , 0.16, 0.49],
           [0.26, 0.37, 0.23]])
    """
    from sklearn.utils import check_array, check_consistent_length

    if params:
        raise ParameterError(f"enet_path: Unexpected parameters in params: {sorted(params)}; leave them out.")
    doubtful = type(X) is not np.ndarray or X.dtype not in _FLOATS or not X.flags.forc or not all_finite(X)
    X = check_array(X, accept_sparse="csc", dtype=list(_FLOATS), ensure_all_finite=doubtful)
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(X, y)
    weight = None if sample_weight is None else check_array(sample_weight, ensure_2d=False, dtype=np.float64)
    problem: Any
    if y.ndim == 2:
        from surefit.solvers.tasks.columns import TaskColumns

        if positive:
            raise ParameterError(
                "enet_path: positive=True is not supported for several targets: leave positive=False, or "
                "give one target at a time."
            )
        problem = TaskColumns(X, y, weight, fit_intercept=fit_intercept)
    else:
        problem = SquaredColumns(X, y, weight, fit_intercept=fit_intercept)
    if l1_ratio == 0 and np.ndim(alphas) == 0:
        raise ParameterError(
            "enet_path: Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a "
            "grid by providing your estimator with the appropriate `alphas=` argument."
        )
    largest = largest_strength(problem.slopes_at_zero, l1_ratio, positive) if np.ndim(alphas) == 0 else 0.0
    row = strengths("enet_path", alphas, largest, eps)
    found = path_of(problem, row, l1_ratio, positive, tol, max_iter)
    # (strengths, p) becomes (p, strengths), and (strengths, p, k) becomes (k, p, strengths).
    answer = (row, found.coefs.T, found.gaps)
    return (*answer, found.rounds.tolist()) if return_n_iter else answer


@public
def lasso_path(X: Any, y: Any, *, eps: Fraction = 1e-3, alphas: Any = 100, **options: Any) -> Any:
    """Return the path of the lasso: :func:`enet_path` without a squared penalty, and with its options.

    >>> X = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T
    >>> lasso_path(X, [1.0, 2.0, 3.1], alphas=[5.0, 1.0, 0.5])[1].round(2)
    array([[0.  , 0.  , 0.47],
           [0.22, 0.44, 0.24]])
    """
    return enet_path(X, y, l1_ratio=1.0, eps=eps, alphas=alphas, **options)
