"""Coefficients kept as a sparse matrix, which pays where most of them are 0."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted


class SparseCoefficients:
    """A linear model whose ``coef_`` may be made sparse and dense again; predictions are the same."""

    flat_coef: ClassVar[bool] = False  # whether an array of them has one dimension

    coef_: Any
    intercept_: Any

    def sparsify(self) -> Self:
        """Keep the coefficients as a sparse matrix; a further fit makes them dense."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep the coefficients as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self._dense_coef()
        return self

    def _dense_coef(self) -> NDArray[np.float64]:
        """Return the coefficients as an array, in their own shape."""
        if not sparse.issparse(self.coef_):
            return np.asarray(self.coef_)
        dense: NDArray[np.float64] = self.coef_.toarray()
        return dense.ravel() if self.flat_coef else dense

    def _sparse_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores by sparse coefficients, (n, k)."""
        found = X @ self.coef_.T
        scores = found.toarray() if sparse.issparse(found) else np.asarray(found)
        return np.asarray(scores + self.intercept_)
