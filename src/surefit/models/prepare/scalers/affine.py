"""Scalers: an affine map of each column, whose rows are read once to be checked and mapped."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy as shallow
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.native.columns.affine import standardise, stretch
from surefit.data.batches.batch import Batch
from surefit.data.door import admit_rows, is_streamed
from surefit.models.float_range import refuse_endless_answers
from surefit.models.transformer import ColumnwiseTransformer
from surefit.stats.spread import Spread

Numbers = NDArray[np.float64] | None


class AffineScaler(ColumnwiseTransformer, abstract=True):
    """A scaler that looks for infinite cells while it maps, so that memory is read once."""

    copy: bool

    @abstractmethod
    def _mapped(self, X: Any) -> tuple[Any, bool]:
        """Map checked rows; and whether all of them are known to be finite."""

    def _transform(self, X: Any) -> Any:
        return self._mapped(X)[0]

    def _checked_and_mapped(self, X: Any) -> Any:
        if not self._may_be_checked_late(X):
            return super()._checked_and_mapped(X)
        out, finite = self._mapped(X)
        if not finite:
            admit_rows(self, self._accepted(), X)  # refuses infinite cells, and lets missing ones pass
        refuse_endless_answers(type(self).__name__, X, out)
        return out

    def _may_be_checked_late(self, X: Any) -> bool:
        """Whether X is a plain float matrix of the right width, which is not overwritten."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.shape[1:] == (self.n_features_in_,)
            and len(X) > 0
            and X.flags.forc
            and (self.copy or not X.flags.writeable)
            and not hasattr(self, "feature_names_in_")
        )


class FiniteByMoments:
    """A fit that finds infinite cells in its moments, so that plain rows are not read beforehand."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> None:
        fit = super()._fit  # type: ignore[misc]
        if sample_weight is not None or is_streamed(X, y):
            return fit(X, y, sample_weight)
        try:
            with sklearn.config_context(assume_finite=True):
                fit(X, y, None)
        except InfiniteCellsError:
            fit(X, y, None)  # the door names the culprit in its own words


class InfiniteCellsError(DataError):
    """Cells that no scale can be found from."""


def finite_spread(batch: Batch) -> Spread:
    """The spread of a batch; an infinite cell, which shows in its column's range, is refused."""
    with np.errstate(invalid="ignore", over="ignore"):
        spread = Spread.of(batch)
    endless = (spread.weight > 0) & np.isinf([spread.minimum, spread.maximum]).any(axis=0)
    if endless.any():
        raise InfiniteCellsError(
            f"column {int(np.argmax(endless))} holds an infinite value: replace it by a number, "
            "or leave the row out."
        )
    return spread


class CopyAsAsked:
    """``transform`` and its inverse with a ``copy`` of their own, as in scikit-learn's StandardScaler.

    Apart from the methods that scikit-learn wraps for ``set_output``, because a source stays a source.
    """

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Map rows; copy: False may overwrite X, None does as the parameter says."""
        return super(CopyAsAsked, self._copying(copy)).transform(X)  # type: ignore[misc]

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Undo ``transform``; copy as there."""
        return super(CopyAsAsked, self._copying(copy)).inverse_transform(X)  # type: ignore[misc]

    def _copying(self, copy: bool | None) -> Self:
        if copy is None:
            return self
        other = shallow(self)
        other.copy = copy  # type: ignore[attr-defined]
        return other


def standardised(X: NDArray[Any], shift: Numbers, scale: Numbers, *, copy: bool) -> tuple[NDArray[Any], bool]:
    """Return (X - shift) / scale, in place where ``copy`` is False and X can be written to; and whether all
    of X is finite.
    """
    X, out = _room(X, copy)
    return out, standardise(X, _numbers(shift, 0.0, X), _numbers(scale, 1.0, X), out)


def stretched(X: NDArray[Any], scale: Numbers, shift: Numbers, *, copy: bool) -> tuple[NDArray[Any], bool]:
    """Return X * scale + shift, otherwise as ``standardised``."""
    X, out = _room(X, copy)
    return out, stretch(X, _numbers(scale, 1.0, X), _numbers(shift, 0.0, X), out)


def _room(X: NDArray[Any], copy: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    if not X.flags.forc:
        X = np.ascontiguousarray(X)
    return X, np.empty_like(X) if copy or not X.flags.writeable else X


def _numbers(given: Numbers, otherwise: float, X: NDArray[Any]) -> NDArray[np.float64]:
    return np.full(X.shape[1], otherwise) if given is None else np.ascontiguousarray(given, dtype=np.float64)


def scaled_rows(X: Any, scale: Numbers) -> Any:
    """A CSR matrix with each column multiplied by its scale."""
    data = X.data.copy() if scale is None else (X.data * scale[X.indices]).astype(X.dtype, copy=False)
    return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
