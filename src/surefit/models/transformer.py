"""Transformers: estimators that turn rows into other rows, in memory or as they stream by."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.door import admit_rows, is_streamed
from surefit.data.schema import Column
from surefit.data.source import MappedSource, Source, is_source
from surefit.models.base import Estimator
from surefit.models.float_range import FEW, refuse_endless_answers
from surefit.models.updating import OneStatistic

_FLOATS = (np.float64, np.float32)


class _InMemory(TransformerMixin, Estimator, abstract=True):
    """The map over rows in memory; scikit-learn wraps its ``transform`` for ``set_output``."""

    returns_missing: ClassVar[bool] = False  # whether NaN may stand for something that is there

    @abstractmethod
    def _transform(self, X: Any) -> Any:
        """Map checked rows."""

    def transform(self, X: Any) -> Any:
        """Map rows in memory."""
        if "certificate_" not in self.__dict__:  # asking scikit-learn takes longer than mapping a row
            check_is_fitted(self)
        return self._checked_and_mapped(X)

    def _checked_and_mapped(self, X: Any) -> Any:
        """Check rows in memory, then map them."""
        return self._finite(admit_rows(self, self._accepted(), X))

    def _finite(self, rows: Any) -> Any:
        """Map checked rows; where finite ones would not stay finite, that is an error."""
        out = self._transform(rows)
        # As for predictions, few numbers are looked at without a call.
        if not self.returns_missing and (
            type(out) is not np.ndarray
            or out.size > FEW
            or (out.dtype.kind == "f" and not np.logical_and.reduce(np.isfinite(out), axis=None))
        ):
            refuse_endless_answers(type(self).__name__, rows, out)
        return out


class _OverSources:
    """The same names for sources; apart from the wrapped ones, because a source stays a source."""

    def transform(self, X: Any) -> Any:
        """Map rows: those in memory at once, those of a source as they are read."""
        if not is_streamed(X):
            return super().transform(X)  # type: ignore[misc]
        check_is_fitted(self)
        return self._over(admit_rows(self, self._accepted(), X))  # type: ignore[attr-defined]

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then map the same rows."""
        if not is_streamed(X, y):
            return super().fit_transform(X, y, **fit_params)  # type: ignore[misc]
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]


class RowMap(_OverSources, _InMemory, abstract=True):
    """A fit of any kind, and a map over rows.

    A family writes ``_transform`` for checked rows. ``set_output`` and frames in memory work as in
    scikit-learn. For a source, ``transform`` returns another source, with target and weights beside their
    rows: nothing is computed until it is read.
    """

    def _over(self, source: Source) -> Source:
        names = [str(name) for name in self.get_feature_names_out()]
        return mapped(source, names, MapRows(self._finite))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepted().missing
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class Transformer(RowMap, OneStatistic, abstract=True):
    """A map over rows whose fit is one statistic."""


class InvertibleMap(RowMap, abstract=True):
    """A map over rows that can be undone."""

    restores_gaps: ClassVar[bool] = False  # whether what is undone may have missing cells that went in

    @abstractmethod
    def _inverse_transform(self, X: Any) -> Any:
        """Undo the map for checked rows."""

    def _check_transformed(self, X: Any) -> Any:
        """Check rows that ``transform`` may have returned; finite or missing numbers by default."""
        return check_array(X, accept_sparse="csr", dtype=_FLOATS, ensure_all_finite="allow-nan")

    def inverse_transform(self, X: Any) -> Any:
        """Undo ``transform``: rows in memory at once, those of a source as they are read."""
        check_is_fitted(self)
        if is_streamed(X):
            if not is_source(X):
                raise DataError(
                    "inverse_transform takes an array, a frame or a source that transform returned."
                )
            names = [str(name) for name in self.get_feature_names_in()]
            return mapped(X, names, MapRows(self._inverse_transform))
        rows = self._check_transformed(X)
        answer = self._inverse_transform(rows)
        if not self.restores_gaps:
            refuse_endless_answers(type(self).__name__, rows, answer)
        return answer

    def get_feature_names_in(self) -> Any:
        """The names of the columns that went in: x0, x1, ... where they had none."""
        names = getattr(self, "feature_names_in_", None)
        return (
            np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object) if names is None else names
        )


class Invertible(InvertibleMap, Transformer, abstract=True):
    """A transformer that can be undone."""


class ColumnwiseTransformer(OneToOneFeatureMixin, Invertible, abstract=True):
    """An invertible transformer whose output has the columns of its input, float32 or float64 as that."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def mapped(source: Source, names: list[str], function: Callable[[Batch], Batch]) -> MappedSource:
    """A source of plain numbers under other names, made batch by batch."""
    columns = tuple(Column(name) for name in names)
    return MappedSource(source, replace(source.schema, width=len(columns), columns=columns), function)


@dataclass(frozen=True, slots=True)
class MapRows:
    """Apply a function to the rows of a batch; target and weights stay beside them."""

    function: Callable[[Any], Any]

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its rows mapped."""
        return replace(batch, X=self.function(batch.X))
