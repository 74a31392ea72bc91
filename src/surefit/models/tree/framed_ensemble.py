"""Ensembles that hand rows to their members as they came: frames with categories, and cells of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.data.door import admit, admit_rows, is_streamed
from surefit.data.source import Source
from surefit.data.write import write_columns
from surefit.models.tree.frame_rows import ArrayRows, FrameRows
from surefit.models.tree.members import Ensemble, takes_as_given, takes_frames
from surefit.models.tree.rows import typed_columns


class FramedEnsemble(Ensemble, abstract=True):
    """An ensemble whose members may be trees, or pipelines that encode categories for themselves."""

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if takes_as_given(self._base(), X) and not (also or is_streamed(X, y, sample_weight)):
            seen = np.zeros(X.shape[:2])  # what is checked in place of cells that members look at themselves
            found: Any = super()._source(seen, y, sample_weight, reset=reset, classes=classes)
            return replace(found, batch=replace(found.batch, X=ArrayRows(X)))
        as_it_came = takes_frames(self._base()) and not is_streamed(X, y, sample_weight)
        if also or not as_it_came or typed_columns(X) is None:
            return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)
        accepts = replace(self._accepted(), cells=True, missing=True)  # members look for themselves
        source: Any = admit(self, accepts, X, y, sample_weight, reset=reset, classes=classes)
        return replace(source, batch=replace(source.batch, X=FrameRows.of(X)))

    def _answer(self, method: Any, X: Any, to: Any = None, names: Sequence[str] = ()) -> Any:
        if takes_as_given(self._base(), X) and to is None:
            admit_rows(self, self._accepted(), np.zeros(X.shape[:2]))
            return method(ArrayRows(X))
        columns = self.__dict__.get("_schema") and self._schema.columns
        if not columns or is_streamed(X) or all(column.kind == "number" for column in columns):
            return super()._answer(method, X, to, names)
        admit_rows(self, replace(self._accepted(), cells=True, missing=True), X)
        found = method(FrameRows.of(X))
        return found if to is None else write_columns(to, names, [found])
