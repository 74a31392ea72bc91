"""Ensembles that hand rows to their members as they came: frames with categories, and cells of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts, admit, admit_rows, is_streamed
from surefit.data.source import ArraySource, MappedSource, Source
from surefit.data.write import write_columns
from surefit.models.ensemble import Ensemble, takes_as_given, takes_frames
from surefit.models.rows_in_memory import gathered
from surefit.models.tree.ensembles.frame_rows import ArrayRows, FrameRows, is_arrow_table


class FramedEnsemble(Ensemble, abstract=True):
    """An ensemble whose members may be trees, or pipelines that encode categories for themselves."""

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        arrow = is_arrow_table(X)
        as_it_came = not also and (arrow or not is_streamed(X, y, sample_weight))
        if as_it_came and takes_as_given(self._base(), X):
            seen = np.zeros(X.shape[:2])  # what is checked in place of cells that members look at themselves
            found: Any = super()._source(seen, y, sample_weight, reset=reset, classes=classes)
            return replace(found, batch=replace(found.batch, X=ArrayRows(X)))
        if not as_it_came or not takes_frames(self._base()) or FrameRows.without_categories(X):
            return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)
        source: Any = admit(self, self._as_frames(), X, y, sample_weight, reset=reset, classes=classes)
        if arrow:
            return _beside_frame(source, X)
        return replace(source, batch=replace(source.batch, X=FrameRows.of(X)))

    def _as_frames(self) -> Accepts:
        """What is let in where members look at cells for themselves."""
        return replace(self._accepted(), cells=True, missing=True, tables=True)

    def _fitted_to_frames(self) -> bool:
        columns = self._schema.columns if "_schema" in self.__dict__ else None
        return any(column.kind != "number" for column in columns or ())

    def _framed(self, X: Any) -> ArrayRows | FrameRows | None:
        """Rows to predict for that members take as they come, their columns checked; None for others."""
        if takes_as_given(self._base(), X):
            admit_rows(self, self._accepted(), np.zeros(X.shape[:2]))
            return ArrayRows(X)
        arrow = is_arrow_table(X)
        if not self._fitted_to_frames() or (is_streamed(X) and not arrow):
            return None
        checked = admit_rows(self, self._as_frames(), X)
        # The columns of an Arrow table are found by their names, and those of a frame come in their order.
        return FrameRows.of(X, checked.schema.names if arrow else None)

    def _answer(
        self, method: Any, X: Any, to: Any = None, names: Sequence[str] = (), *, infinite: bool = False
    ) -> Any:
        if "certificate_" not in self.__dict__:
            check_is_fitted(self)
        rows = self._framed(X)
        if rows is None:
            return super()._answer(method, X, to, names, infinite=infinite)
        found = method(rows)
        return found if to is None else write_columns(to, names, [found])

    def _rows_at_once(self, X: Any) -> Any:
        """Rows to predict for again and again, in memory."""
        check_is_fitted(self)
        rows: Any = self._framed(X)
        if rows is None:
            rows = admit_rows(self, self._accepted(), X)
        return gathered(rows).X if isinstance(rows, MappedSource) else rows


def _beside_frame(source: Source, X: Any) -> ArraySource:
    """The target and the weights that a source found, beside the columns of its table as they came."""
    batches = list(source)
    weights = [batch.weight for batch in batches if batch.weight is not None]
    target = np.concatenate([np.asarray(batch.y) for batch in batches])
    rows: Any = FrameRows.of(X, source.schema.names)
    schema = replace(source.schema, rows=len(target))
    return ArraySource(schema, Batch(rows, target, np.concatenate(weights) if weights else None))
