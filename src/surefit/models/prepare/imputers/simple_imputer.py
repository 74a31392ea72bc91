"""Fill missing cells with one value a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.imputers.fill_values import FillStrategy, filling_change, present
from surefit.models.prepare.imputers.missing_cells import gaps, is_missing_marker
from surefit.models.prepare.imputers.missing_indicator import MissingIndicator, missing_cells, recounted_gaps
from surefit.models.prepare.quantiles import ExactInMemory
from surefit.models.prepare.recompute import relative_change, seen
from surefit.models.transformer import Invertible
from surefit.stats.base import Joint


@dataclass(frozen=True, slots=True)
class SimpleImputerParameters:
    """The fill value of each column, the weight of what is missing in it, and of all rows."""

    statistics: NDArray[Any]
    rank_error: NDArray[np.float64]
    missing_weight: NDArray[np.float64]
    n_samples_seen: Any


class SimpleImputer(ExactInMemory, Invertible):
    """Fill missing cells with the mean, the median, the most frequent value or a constant of their column.

    missing_values: what stands for a missing cell. strategy: "mean", "median", "most_frequent" (of equally
    frequent ones the least), "constant", or a function of a column's sorted values. fill_value: the constant.
    add_indicator: append the columns of :class:`MissingIndicator`. keep_empty_features: keep columns without
    a single value, filled with 0 or the constant. The median of a source comes from a sketch, as in
    :class:`RobustScaler`. Words and other objects are filled in memory; for tables use ``TablePreparer``.

    >>> from surefit import SimpleImputer
    >>> SimpleImputer().fit_transform([[1.0], [float("nan")], [5.0]]).ravel()
    array([1., 3., 5.])
    """

    accepts = Accepts(missing=True)
    learns = SimpleImputerParameters
    shaping = ("missing_values", "strategy")
    restores_gaps = True

    statistics_: NDArray[Any]
    rank_error_: NDArray[np.float64]
    missing_weight_: NDArray[np.float64]
    n_samples_seen_: Any

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        strategy: Literal["mean", "median", "most_frequent", "constant"] | Callable[..., Any] = "mean",
        fill_value: Any = None,
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    def _accepted(self) -> Accepts:
        words = self.strategy in ("most_frequent", "constant")
        return replace(self.accepts, missing=is_missing_marker(self.missing_values), cells=words)

    def _filling(self) -> FillStrategy:
        return FillStrategy(self.strategy, self.fill_value, self.keep_empty_features)

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        return partial(_present_statistic, marker=self.missing_values, of=self._filling().of)

    def _is_sketched(self) -> bool:
        return self.strategy == "median"

    def _of_memory(self, batch: Batch, schema: Schema) -> Joint:
        return _present_statistic(batch, self.missing_values, self._filling().of_memory)

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        values, error = self._filling().finish(statistic["values"])
        missing = statistic["missing"]
        parameters = SimpleImputerParameters(values, error, np.array(missing.missing), seen(missing.weight))
        evidence = {"cells": (missing.weight, missing.missing)}
        return Learned(parameters, self._certificate(0.0, error), evidence)

    @staticmethod
    def _certificate(value: float, error: NDArray[np.float64]) -> Certificate:
        measure = "largest change of a fill value, in ranges of its column, or relative one of a count"
        return Certificate("exact", measure, value, 1e-8, {"rank error": error.max(initial=0.0)})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Find the fill values again in plain passes."""
        total, missing = recounted_gaps(source, engine, self.missing_values)
        steps = [relative_change(self.missing_weight_, missing), relative_change(self.n_samples_seen_, total)]
        rows = MappedSource(source, source.schema, partial(present, marker=self.missing_values))
        steps.append(filling_change(self._filling(), self.statistics_, self.rank_error_, rows, engine))
        return self._certificate(max(steps), self.rank_error_)

    @property
    def indicator_(self) -> MissingIndicator | None:
        """The indicator of missing cells that ``add_indicator`` appends, fitted; None without."""
        if not self.add_indicator:
            return None
        indicator = MissingIndicator(missing_values=self.missing_values, error_on_new=False)
        indicator.n_features_in_ = self.n_features_in_
        indicator.features_ = np.flatnonzero(self.missing_weight_)
        indicator.missing_weight_, indicator.n_samples_seen_ = self.missing_weight_, self.n_samples_seen_
        indicator.certificate_ = self.certificate_
        return indicator

    def _staying(self) -> NDArray[np.bool_]:
        """Which columns come out: those with a value to fill in."""
        return np.array([not is_missing_marker(value) for value in self.statistics_], dtype=bool)

    def _transform(self, X: Any) -> Any:
        found, kept = gaps(X, self.missing_values), self._staying()
        if isinstance(X, Cells):
            filled = self._filled_cells(X, found, kept)
        elif sparse.issparse(X):
            filled = self._filled_sparse(X, kept)
        else:
            filled = self._filled(X, found, kept)
        if not self.add_indicator:
            return filled
        shown = found[:, np.flatnonzero(self.missing_weight_)]
        if sparse.issparse(X):
            return type(X)(sparse.hstack([filled, shown.astype(filled.dtype)], format="csr"))
        return np.hstack([filled, shown])

    def _filled(self, X: NDArray[Any], found: NDArray[np.bool_], kept: NDArray[np.bool_]) -> NDArray[Any]:
        out = (
            X.copy()
            if kept.all() and (self.copy or not X.flags.writeable)
            else X
            if kept.all()
            else X[:, kept]
        )
        found = found if kept.all() else found[:, kept]
        rows, columns = np.nonzero(found)
        out[rows, columns] = self.statistics_[kept][columns].astype(out.dtype)
        return out

    def _filled_cells(self, X: Cells, found: NDArray[np.bool_], kept: NDArray[np.bool_]) -> NDArray[Any]:
        columns = [column for column, keep in zip(X.columns, kept, strict=True) if keep]
        kinds = [np.dtype(object) if column.dtype.kind in "US" else column.dtype for column in columns]
        kind = np.result_type(*kinds) if kinds else np.dtype(float)
        if self.strategy == "most_frequent" and any(isinstance(v, str) for v in self.statistics_):
            # Words may fill rows that have none.
            kind = np.dtype(object)
        if self.strategy == "constant":
            self._check_constant(kind)
        out = np.empty((X.shape[0], len(columns)), dtype=kind)
        for j, column in enumerate(columns):
            out[:, j] = column
        rows, places = np.nonzero(found[:, kept])
        out[rows, places] = self.statistics_[kept][places]
        return out

    def _check_constant(self, kind: np.dtype[Any]) -> None:
        value = self._filling().constant(kind)
        if not np.can_cast(type(value), kind, casting="same_kind"):
            raise DataError(
                f"fill_value={value!r} (of type {type(value)!r}) cannot be cast to the input data that is "
                f"{kind!r}: pass a value of the same kind."
            )

    def _filled_sparse(self, X: Any, kept: NDArray[np.bool_]) -> Any:
        data = X.data.copy()
        gone = gaps(X.data, self.missing_values)
        data[gone] = self.statistics_[X.indices[gone]].astype(data.dtype)
        return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)[:, kept]

    @property
    def inverse_transform(self) -> Callable[[Any], Any]:
        """Put missing cells back where they were; there only with ``add_indicator=True``."""
        if not self.add_indicator:
            raise NotInvertibleError(
                "'inverse_transform' works only when 'SimpleImputer' is instantiated with "
                "'add_indicator=True', since what was missing is not known otherwise."
            )
        return super().inverse_transform

    def _check_transformed(self, X: Any) -> Any:
        from sklearn.utils import check_array

        return check_array(X, dtype=None, ensure_all_finite="allow-nan")

    def _inverse_transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Columns that were dropped come back missing."""
        kept, shown = np.flatnonzero(self._staying()), np.flatnonzero(self.missing_weight_)
        if X.shape[1] != len(kept) + len(shown):
            raise DataError(f"X has {X.shape[1]} columns, and transform returns {len(kept) + len(shown)}.")
        out = np.full((X.shape[0], self.n_features_in_), self.missing_values, dtype=X.dtype)
        out[:, kept] = X[:, : len(kept)]
        for j, column in enumerate(shown):
            out[X[:, len(kept) + j].astype(bool), column] = self.missing_values
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that stay, then those of the indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        shown = [f"missingindicator_{names[j]}" for j in np.flatnonzero(self.missing_weight_)]
        return np.array([*names[self._staying()], *(shown if self.add_indicator else [])], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class NotInvertibleError(DataError, AttributeError):
    """The method is not there, and for users of scikit-learn its value error."""


def _present_statistic(batch: Batch, marker: Any, of: Callable[[Batch], Any]) -> Joint:
    return Joint({"missing": missing_cells(batch, marker), "values": of(present(batch, marker))})
