"""Which cells are missing, as columns of their own."""

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
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.imputers.missing_cells import gaps, is_missing_marker
from surefit.models.prepare.output import sparse_output
from surefit.models.prepare.recompute import relative_change, seen
from surefit.models.transformer import Transformer
from surefit.stats.missing import Missing


@dataclass(frozen=True, slots=True)
class MissingIndicatorParameters:
    """The columns that are shown, the weight of what is missing in each column, and of all rows."""

    features: NDArray[np.int64]
    missing_weight: NDArray[np.float64]
    n_samples_seen: Any


class MissingIndicator(Transformer):
    """Show where cells are missing: True or False for each column with missing cells in fit, or for all.

    missing_values: what stands for a missing cell. features: "missing-only" or "all" columns. sparse: CSC
    instead of an array, "auto" as the input. error_on_new: raise an error for missing cells in columns that
    had none in fit.

    >>> from surefit import MissingIndicator
    >>> MissingIndicator().fit_transform([[1.0, float("nan")], [2.0, 3.0]]).ravel()
    array([ True, False])
    """

    accepts = Accepts(missing=True, tables=True, cells=True)
    learns = MissingIndicatorParameters
    shaping = ("missing_values",)

    features_: NDArray[np.int64]
    missing_weight_: NDArray[np.float64]
    n_samples_seen_: Any

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        features: Literal["missing-only", "all"] = "missing-only",
        sparse: bool | Literal["auto"] = "auto",
        error_on_new: bool = True,
    ) -> None:
        self.missing_values = missing_values
        self.features = features
        self.sparse = sparse
        self.error_on_new = error_on_new

    def _accepted(self) -> Accepts:
        return replace(self.accepts, missing=is_missing_marker(self.missing_values))

    def _of(self, schema: Schema) -> Callable[[Batch], Missing]:
        return partial(missing_cells, marker=self.missing_values)

    def _finish(self, statistic: Missing, schema: Schema) -> Learned:
        every = self.features == "all"
        shown = np.arange(len(statistic.missing)) if every else np.flatnonzero(statistic.missing)
        parameters = MissingIndicatorParameters(shown, np.array(statistic.missing), seen(statistic.weight))
        return Learned(parameters, self._certificate(0.0))

    @staticmethod
    def _certificate(value: float) -> Certificate:
        return Certificate("exact", "largest relative change of a count of missing cells", value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        total, missing = recounted_gaps(source, engine, self.missing_values)
        shown = np.arange(len(missing)) if self.features == "all" else np.flatnonzero(missing)
        steps = [relative_change(self.missing_weight_, missing), relative_change(self.n_samples_seen_, total)]
        return self._certificate(max(steps) if np.array_equal(shown, self.features_) else np.inf)

    def _transform(self, X: Any) -> Any:
        found = gaps(X, self.missing_values)
        if self.features == "missing-only" and self.error_on_new:
            new = np.setdiff1d(np.flatnonzero(np.asarray(found.sum(axis=0)).ravel()), self.features_)
            if len(new):
                raise DataError(
                    f"The features {new} have missing values in transform but have no missing values in fit: "
                    "fit on rows that miss them too, or pass error_on_new=False."
                )
        shown = found[:, self.features_]
        if sparse.issparse(shown):
            return shown.toarray() if self.sparse is False else shown.tocsc()
        return sparse_output(sparse.csc_array(shown)) if self.sparse is True else shown

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns shown, each after "missingindicator_"."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([f"missingindicator_{names[j]}" for j in self.features_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def missing_cells(batch: Batch, marker: Any) -> Missing:
    """Count the cells that are the marker."""
    found = gaps(batch.X, marker)
    weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
    rows = np.ones(len(batch)) if batch.weight is None else batch.weight
    if not sparse.issparse(found):  # column by column: a product would turn all cells into floats
        return Missing(weight, np.array([rows[column].sum() for column in found.T], dtype=np.float64))
    return Missing(weight, np.asarray(found.T @ rows, dtype=np.float64).ravel())


def recounted_gaps(source: Source, engine: Engine, marker: Any) -> tuple[float, NDArray[np.float64]]:
    """The weight of all rows, and of each column's missing cells, in extended precision."""
    totals, missing = zip(*engine.map(partial(_gaps, marker=marker), source), strict=True)
    return float(sum(totals)), np.asarray(sum(missing), dtype=np.float64)


def _gaps(batch: Batch, marker: Any) -> tuple[Any, Any]:
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    found = gaps(batch.X, marker)
    dense = found.toarray() if sparse.issparse(found) else found
    missing = np.where(dense, weight[:, None], 0).sum(axis=0, dtype=np.longdouble)
    return weight.sum(dtype=np.longdouble), missing
