"""Columns that vary too little to tell rows apart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from surefit.core.errors import DataError, ParameterError
from surefit.data.door import is_streamed
from surefit.engine.base import choose_engine
from surefit.evaluate.select.filters import Selector
from surefit.stats.spread import Spread


class VarianceThreshold(Selector):
    """Keep the columns whose variance is above a threshold; by default those that are not constant.

    Missing values are left out of account. ``variances_`` has the variances; that of a constant column is
    exactly 0, however large its value.

    >>> import surefit
    >>> surefit.VarianceThreshold().fit([[1.0, 1e9], [2.0, 1e9], [4.0, 1e9]]).get_support()
    array([ True, False])
    """

    finds = ("variances_",)

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the variances."""
        if (
            isinstance(self.threshold, bool)
            or not isinstance(self.threshold, int | float)
            or self.threshold < 0
        ):
            raise ParameterError(f"threshold={self.threshold!r} must be a number of at least 0.")
        rows, self.variances_ = self._as_read(X, y) if is_streamed(X, y) else self._in_memory(X)
        self.support_ = self.variances_ > self.threshold
        if not self.support_.any():
            raise DataError(
                f"No feature in X meets the variance threshold {self.threshold:.5f} "
                f"(n_samples={rows}): lower it."
            )
        return self

    def _in_memory(self, X: Any) -> tuple[int, NDArray[np.float64]]:
        options: Any = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan"}
        X = validate_data(self, X, dtype=[np.float64, np.float32], **options)
        table: NDArray[Any] = X.toarray() if sparse.issparse(X) else X
        with np.errstate(invalid="ignore"):
            constant = np.nanmax(table, axis=0) == np.nanmin(table, axis=0)
            return len(table), np.where(constant, 0.0, np.nanvar(table.astype(np.float64), axis=0))

    def _as_read(self, X: Any, y: Any) -> tuple[int, NDArray[np.float64]]:
        source = self._admitted(X, y, missing=True)
        spread = choose_engine(source).accumulate(Spread.of, source)
        return spread.rows, np.where(spread.maximum == spread.minimum, 0.0, spread.variance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.allow_nan = True
        return tags
