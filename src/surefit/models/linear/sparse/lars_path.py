"""The exact path of the lasso, and of least angles, as a function of arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from surefit.core.errors import ParameterError
from surefit.core.public import public
from surefit.solvers.squares.columns import SquaredColumns
from surefit.solvers.squares.homotopy import lasso_homotopy
from surefit.solvers.squares.sums import SquaredSums


@public
def lars_path(
    X: Any,
    y: Any,
    Xy: Any = None,
    *,
    Gram: Any = None,
    max_iter: int = 500,
    alpha_min: float = 0,
    method: Literal["lar", "lasso"] = "lar",
    copy_X: bool = True,
    eps: float = np.finfo(float).eps,
    copy_Gram: bool = True,
    verbose: int = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
    sample_weight: Any = None,
    fit_intercept: bool = False,
) -> Any:
    r"""Return the strengths of the knots, the columns active at the end, and coefficients (p, knots).

    Between knots the coefficients are linear. method: "lasso", the minimisers of :math:`\frac{1}{2W} \sum_i
    s_i (y_i - w'x_i)^2 + \alpha \|w\|_1`; "lar", the same without ever dropping a column. Gram: "auto" takes
    sums where there are more rows than columns; any other value goes by the columns. fit_intercept: centre X
    and y first, which scikit-learn leaves to the caller. return_path: False returns the last coefficients
    only. Xy, copy_X, eps, copy_Gram, verbose: without effect.

    >>> alphas, active, coefs = lars_path(np.eye(2), [4.0, 2.0], method="lasso")
    >>> alphas, [int(j) for j in active]
    (array([2., 1., 0.]), [0, 1])
    >>> coefs
    array([[0., 2., 4.],
           [0., 0., 2.]])
    """
    from sklearn.utils import check_array, check_consistent_length

    if method not in ("lar", "lasso"):
        raise ParameterError(f"lars_path: method={method!r} is not allowed; it must be 'lar' or 'lasso'.")
    if positive and method == "lar":
        raise ParameterError(
            "lars_path: Positive constraint not supported for 'lar' coding method. Take method='lasso'."
        )
    if X is None:
        given = (
            "X cannot be None if Gram is not None"
            if Gram is not None
            else "X and Gram cannot both be unspecified"
        )
        raise ParameterError(f"lars_path: {given}: give the rows.")
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32])
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").ravel()
    check_consistent_length(X, y)
    weight = None if sample_weight is None else check_array(sample_weight, ensure_2d=False, dtype=np.float64)
    problem: SquaredColumns | SquaredSums = SquaredColumns(X, y, weight, fit_intercept=fit_intercept)
    if isinstance(Gram, str) and Gram == "auto" and X.shape[0] > X.shape[1]:
        problem = _sums(X, y, weight, fit_intercept)
    found = lasso_homotopy(
        problem, method=method, alpha_min=float(alpha_min), max_iter=max_iter, positive=positive
    )
    active = [int(column) for column in found.active]
    if return_path:
        answer: tuple[Any, ...] = (found.alphas, active, found.coefs.toarray())
    else:
        answer = (found.alphas[-1], active, found.at(float(found.alphas[-1])))
    return (*answer, found.steps) if return_n_iter else answer


def _sums(X: Any, y: Any, weight: Any, fit_intercept: bool) -> SquaredSums:
    from surefit.data.batches.batch import Batch
    from surefit.stats.moments import Moments

    rows = X if isinstance(X, np.ndarray) and X.flags.forc else X.tocsr() if hasattr(X, "tocsr") else X.copy()
    return SquaredSums.of(Moments.of(Batch(rows, y, weight)), fit_intercept=fit_intercept)
