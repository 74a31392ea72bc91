"""One column of zeros and ones for each level of a category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.parameters import Count, Interval
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.models.base import Learned
from surefit.models.prepare.encoders.encoder import Encoder, counted_as, is_nan
from surefit.models.prepare.encoders.rare_levels import NAME, grouped_codes, infrequent
from surefit.models.prepare.output import dense_frames_asked, sparse_output
from surefit.models.prepare.recompute import seen
from surefit.models.transformer import Invertible
from surefit.stats.category_counts import CategoryCounts

Share = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]


@dataclass(frozen=True, slots=True)
class OneHotEncoderParameters:
    """The levels of each column, their weights, which are dropped, which are grouped."""

    categories: list[NDArray[Any]]
    counts: list[NDArray[np.float64]]
    drop_idx: NDArray[Any] | None
    infrequent_indices: list[NDArray[np.int64] | None]
    n_samples_seen: Any


class OneHotEncoder(Invertible, Encoder):
    r"""Turn each category into indicators of its levels: :math:`x \mapsto (1[x = l_1], \dots, 1[x = l_k])`.

    categories: "auto" or a list of levels a column. drop: leave out one level a column: the "first", that of
    binary columns ("if_binary"), or those given. sparse_output: CSR instead of an array. handle_unknown: an
    "error", zeros ("ignore"), or the group of rare levels ("infrequent_if_exist", "warn").
    min_frequency, max_categories: put rare levels together.

    >>> from surefit import OneHotEncoder
    >>> OneHotEncoder(sparse_output=False).fit_transform([["red"], ["blue"], ["red"]])
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])
    """

    accepts = Accepts(missing=True, sparse=False, tables=True, cells=True)
    learns = OneHotEncoderParameters
    restores_gaps = True  # a level that several share, or that is unknown, has no value of its own

    drop_idx_: NDArray[Any] | None
    infrequent_indices_: list[NDArray[np.int64] | None]

    def __init__(
        self,
        *,
        categories: Literal["auto"] | list[Any] = "auto",
        drop: Literal["first", "if_binary"] | list[Any] | tuple[Any, ...] | np.ndarray | None = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: Literal["error", "ignore", "infrequent_if_exist", "warn"] = "error",
        min_frequency: Count | Share | None = None,
        max_categories: Count | None = None,
        feature_name_combiner: Literal["concat"] | Callable[..., str] = "concat",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner

    def _finish(self, statistic: CategoryCounts, schema: Schema) -> Learned:
        levels = self._known_levels(list(statistic.levels), self.handle_unknown == "error")
        counts = [
            counted_as(known, found, sums)
            for known, found, sums in zip(levels, statistic.levels, statistic.counts, strict=True)
        ]
        rare = [infrequent(c, statistic.weight, self.min_frequency, self.max_categories) for c in counts]
        drop = self._dropped(levels, rare)
        parameters = OneHotEncoderParameters(levels, counts, drop, rare, seen(statistic.weight))
        return Learned(parameters, self._certificate(statistic.rows * np.finfo(float).eps))

    def _dropped(self, levels: list[NDArray[Any]], rare: list[Any]) -> NDArray[Any] | None:
        """The level that each column leaves out, by its place among the levels."""
        if self.drop is None:
            return None
        groups = [grouped_codes(len(known), few) for known, few in zip(levels, rare, strict=True)]
        if isinstance(self.drop, str):
            outputs = [int(group.max(initial=-1)) + 1 for group in groups]
            firsts = [int(np.flatnonzero(group == 0)[0]) if len(group) else None for group in groups]
            kept = [
                k if self.drop == "first" or n == 2 else None for k, n in zip(firsts, outputs, strict=True)
            ]
            return np.array(kept, dtype=object)
        if len(self.drop) != len(levels):
            raise ParameterError(
                f"`drop` should have length equal to the number of features ({len(levels)}), "
                f"got {len(self.drop)}."
            )
        places: list[int] = []
        for column, (value, known, few) in enumerate(zip(self.drop, levels, rare, strict=True)):
            found = [
                k for k, level in enumerate(known) if level == value or (is_nan(value) and is_nan(level))
            ]
            if not found:
                raise ParameterError(
                    f"drop: the category {value!r} of feature {column} was supposed to be dropped, "
                    "but is not found in the training data."
                )
            if few is not None and found[0] in few:
                raise ParameterError(
                    f"Unable to drop category {value!r} from feature {column} because it is infrequent."
                )
            places.append(found[0])
        return np.array(places, dtype=object)

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """The rare levels of each column that are put together, None for none."""
        return [
            None if few is None else levels[few]
            for levels, few in zip(self.categories_, self.infrequent_indices_, strict=True)
        ]

    def _plan(self) -> list[tuple[NDArray[np.int32], int, int]]:
        """For each column: the output of each level or -1, how many outputs, that of the rare or -1."""
        plan = []
        for j, (levels, rare) in enumerate(zip(self.categories_, self.infrequent_indices_, strict=True)):
            codes = grouped_codes(len(levels), rare)
            outputs = int(codes.max(initial=-1)) + 1
            dropped = None if self.drop_idx_ is None else self.drop_idx_[j]
            if dropped is not None:
                gone = codes[dropped]
                codes = np.where(codes == gone, -1, codes - (codes > gone)).astype(np.int32)
                outputs -= 1
            plan.append((codes, outputs, -1 if rare is None else int(codes[rare[0]])))
        return plan

    def _transform(self, X: Any) -> Any:
        if self.sparse_output:
            dense_frames_asked(self)
        codes = self._codes(X, self.categories_, self.handle_unknown == "error")
        plan = self._plan()
        if self.handle_unknown == "warn" or (self.drop is not None and self.handle_unknown != "error"):
            self._warn_of_unknown(codes)
        starts = np.cumsum([0] + [outputs for _, outputs, _ in plan])
        if self._is_plain():
            codes += starts[:-1].astype(np.int32)
            plan = []
        for j, (places, _, rare) in enumerate(plan):
            other = rare if self.handle_unknown in ("infrequent_if_exist", "warn") else -1
            table = np.append(
                np.where(places < 0, -1, places + starts[j]), -1 if other < 0 else other + starts[j]
            )
            codes[:, j] = table.astype(np.int32)[codes[:, j]]
        rows = _indicators(codes, int(starts[-1]), self.dtype)
        return sparse_output(rows) if self.sparse_output else rows.toarray()

    def _is_plain(self) -> bool:
        """Whether every cell has an indicator of its own: nothing is dropped, grouped or unknown."""
        grouped = any(few is not None for few in self.infrequent_indices_)
        return self.handle_unknown == "error" and self.drop_idx_ is None and not grouped

    def _warn_of_unknown(self, codes: NDArray[np.int32]) -> None:
        columns = np.flatnonzero((codes < 0).any(axis=0)).tolist()
        if columns:
            group = self.handle_unknown != "ignore"
            end = "the infrequent category" if group else "all zeros"
            warn(
                f"Found unknown categories in columns {columns} during transform. "
                f"These unknown categories will be encoded as {end}.",
                UnknownCategoryWarning,
            )

    def _check_transformed(self, X: Any) -> Any:
        from sklearn.utils import check_array

        return check_array(X, accept_sparse="csr", ensure_min_features=0)

    def _inverse_transform(self, X: Any) -> NDArray[Any]:
        plan = self._plan()
        starts = np.cumsum([0] + [outputs for _, outputs, _ in plan])
        if X.shape[1] != starts[-1]:
            raise DataError(
                f"Shape of the passed X data is not correct. Expected {starts[-1]} columns, got {X.shape[1]}."
            )
        columns = [
            self._restored(X[:, start:stop], j, plan[j]) for j, (start, stop) in enumerate(pairwise(starts))
        ]
        out = np.empty((X.shape[0], len(columns)), dtype=np.result_type(*[c.dtype for c in columns]))
        for j, column in enumerate(columns):
            out[:, j] = column
        return out

    def _restored(self, block: Any, j: int, plan: tuple[NDArray[np.int32], int, int]) -> NDArray[Any]:
        """One column's values: the level of the largest indicator, or what a row of zeros stands for."""
        places, outputs, rare = plan
        levels = self.categories_[j]
        names = levels.astype(object) if self.infrequent_indices_[j] is not None else levels
        dropped = None if self.drop_idx_ is None else self.drop_idx_[j]
        group = self.infrequent_indices_[j]
        without = (
            None if dropped is None else NAME if group is not None and dropped in group else names[dropped]
        )
        level_of = np.zeros(max(outputs, 1), dtype=np.intp)
        level_of[places[places >= 0]] = np.flatnonzero(places >= 0)
        if outputs == 0:
            return np.full(block.shape[0], levels[dropped], dtype=levels.dtype)
        shown = names[level_of]
        if rare >= 0:
            shown[rare] = NAME
        out = shown[np.asarray(block.argmax(axis=1)).ravel()]
        zeros = np.asarray(block.sum(axis=1) == 0).ravel()
        if not zeros.any():
            return out
        if dropped is not None:
            out[zeros] = without
        elif self.handle_unknown == "error":
            raise DataError(
                f"Samples {np.flatnonzero(zeros)[:10]} can not be inverted when drop=None and "
                "handle_unknown='error' because they contain all zeros."
            )
        elif self.handle_unknown == "ignore" or rare < 0:
            out = out.astype(object)
            out[zeros] = None
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The name of each indicator: that of its column, joined with its level."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        join = self.feature_name_combiner if callable(self.feature_name_combiner) else _joined
        names = []
        for j, (places, outputs, rare) in enumerate(self._plan()):
            shown: list[Any] = [None] * outputs
            for level, place in zip(self.categories_[j], places, strict=True):
                if place >= 0:
                    shown[place] = NAME if place == rare else level
            names += [join(inputs[j], level) for level in shown]
        if any(not isinstance(name, str) for name in names):
            raise TypeError(
                "When `feature_name_combiner` is a callable, it should return a Python string: it did not."
            )
        return np.array(names, dtype=object)


class UnknownCategoryWarning(SurefitWarning):
    """A category not seen in fit is encoded as zeros, or as the infrequent category."""


def _joined(column: str, level: Any) -> str:
    return f"{column}_{level}"


def _indicators(places: NDArray[np.int32], width: int, dtype: Any) -> Any:
    """A CSR matrix with a one at each place that is not negative."""
    rows, columns = places.shape
    there = places >= 0
    index = np.int32 if places.size < 2**31 else np.int64
    if there.all():
        ends = np.arange(rows + 1, dtype=index) * index(columns)
        indices = places.ravel()
    else:
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(index)
        indices = places[there]
    indices = indices.astype(index, copy=False)
    return sparse.csr_array((np.ones(len(indices), dtype=dtype), indices, ends), shape=(rows, width))
