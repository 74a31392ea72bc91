"""The place of a category's value among its levels, as a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.models.base import Learned
from surefit.models.prepare.encoders.encoder import Encoder, counted_as, is_nan
from surefit.models.prepare.encoders.one_hot_encoder import Share
from surefit.models.prepare.encoders.rare_levels import NAME, grouped_codes, infrequent
from surefit.models.prepare.recompute import seen
from surefit.models.transformer import Invertible
from surefit.stats.category_counts import CategoryCounts


@dataclass(frozen=True, slots=True)
class OrdinalEncoderParameters:
    """The levels of each column, their weights, and which are grouped."""

    categories: list[NDArray[Any]]
    counts: list[NDArray[np.float64]]
    infrequent_indices: list[NDArray[np.int64] | None]
    n_samples_seen: Any


class OrdinalEncoder(OneToOneFeatureMixin, Invertible, Encoder):
    r"""Turn each category into the place of its level: :math:`l_k \mapsto k`, from 0 on.

    categories: "auto" or a list of levels a column, in the order wanted. dtype: of the result.
    handle_unknown: an "error", or "use_encoded_value": then unknown_value. encoded_missing_value: what NaN
    becomes. min_frequency, max_categories: put rare levels together, last.

    >>> from surefit import OrdinalEncoder
    >>> OrdinalEncoder().fit_transform([["low"], ["high"], ["low"]]).ravel()
    array([1., 0., 1.])
    """

    accepts = Accepts(missing=True, sparse=False, tables=True, cells=True)
    learns = OrdinalEncoderParameters
    restores_gaps = True  # a level that several share, or that is unknown, has no value of its own
    returns_missing = True  # the code of an unknown level, where the user asks for that

    infrequent_indices_: list[NDArray[np.int64] | None]

    def __init__(
        self,
        *,
        categories: Literal["auto"] | list[Any] = "auto",
        dtype: Any = np.float64,
        handle_unknown: Literal["error", "use_encoded_value"] = "error",
        unknown_value: int | float | None = None,
        encoded_missing_value: int | float = np.nan,
        min_frequency: Count | Share | None = None,
        max_categories: Count | None = None,
    ) -> None:
        self.categories = categories
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.unknown_value = unknown_value
        self.encoded_missing_value = encoded_missing_value
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def _finish(self, statistic: CategoryCounts, schema: Schema) -> Learned:
        self._check_unknown_value()
        levels = self._known_levels(list(statistic.levels), self.handle_unknown == "error")
        counts = [
            counted_as(known, found, sums)
            for known, found, sums in zip(levels, statistic.levels, statistic.counts, strict=True)
        ]
        present = [len(known) - _has_nan(known) for known in levels]
        rare = [
            infrequent(c[:n], statistic.weight, self.min_frequency, self.max_categories)
            for c, n in zip(counts, present, strict=True)
        ]
        self._check_codes_are_free(levels, rare, schema)
        parameters = OrdinalEncoderParameters(levels, counts, rare, seen(statistic.weight))
        return Learned(parameters, self._certificate(statistic.rows * np.finfo(float).eps))

    def _check_unknown_value(self) -> None:
        if self.handle_unknown == "error":
            if self.unknown_value is not None:
                raise UnknownValueError(
                    "unknown_value should only be set when handle_unknown is 'use_encoded_value', "
                    f"got {self.unknown_value}."
                )
        elif is_nan(self.unknown_value):
            if np.dtype(self.dtype).kind != "f":
                raise ParameterError(
                    "When unknown_value is np.nan, the dtype parameter should be a float dtype. "
                    f"Got {self.dtype}."
                )
        elif not isinstance(self.unknown_value, int | np.integer):
            raise UnknownValueError(
                "unknown_value should be an integer or np.nan when handle_unknown is 'use_encoded_value', "
                f"got {self.unknown_value}."
            )

    def _check_codes_are_free(self, levels: list[NDArray[Any]], rare: list[Any], schema: Schema) -> None:
        """The codes for unknown and missing cells must not be those of a level."""
        used = [
            len(known) - _has_nan(known) - (0 if few is None else len(few))
            for known, few in _zip(levels, rare)
        ]
        unknown, gone = self.unknown_value, self.encoded_missing_value
        if self.handle_unknown != "error" and any(0 <= unknown < n for n in used):  # type: ignore[operator]
            raise ParameterError(
                f"The used value for unknown_value {unknown} is one of the values already used for encoding "
                "the seen categories."
            )
        with_nan = [j for j, known in enumerate(levels) if _has_nan(known)]
        if with_nan and is_nan(gone) and np.dtype(self.dtype).kind != "f":
            raise ParameterError(
                f"There are missing values in features {with_nan}. For OrdinalEncoder to encode missing "
                f"values with dtype: {self.dtype}, set encoded_missing_value to a non-nan value, or set "
                "dtype to a float."
            )
        taken = [j for j in with_nan if 0 <= gone < used[j]]
        if taken:
            named = taken if schema.names is None else [schema.names[j] for j in taken]
            raise ParameterError(
                f"encoded_missing_value ({gone}) is already used to encode a known category in features: "
                f"{named}."
            )

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """The rare levels of each column that are put together, None for none."""
        return [
            None if few is None else levels[few]
            for levels, few in _zip(self.categories_, self.infrequent_indices_)
        ]

    def _transform(self, X: Any) -> NDArray[Any]:
        codes = self._codes(X, self.categories_, self.handle_unknown == "error")
        out = np.empty(codes.shape, dtype=self.dtype)
        for j, (levels, rare) in enumerate(_zip(self.categories_, self.infrequent_indices_)):
            places = grouped_codes(len(levels) - _has_nan(levels), rare).tolist()
            if _has_nan(levels):
                places.append(self.encoded_missing_value)
            places.append(self.unknown_value if self.handle_unknown != "error" else -1)
            out[:, j] = np.array(places, dtype=self.dtype)[codes[:, j]]
        return out

    def _inverse_transform(self, X: NDArray[Any]) -> NDArray[Any]:
        if hasattr(X, "toarray"):
            raise TypeError("Sparse data was passed, but dense data is required: use X.toarray().")
        if X.shape[1] != len(self.categories_):
            raise DataError(
                "Shape of the passed X data is not correct. "
                f"Expected {len(self.categories_)} columns, got {X.shape[1]}."
            )
        kinds = [levels.dtype for levels in self.categories_]
        loose = self.handle_unknown != "error" or any(few is not None for few in self.infrequent_indices_)
        out = np.empty(X.shape, dtype=object if loose else np.result_type(*kinds))
        for j, (levels, rare) in enumerate(_zip(self.categories_, self.infrequent_indices_)):
            out[:, j] = self._restored(X[:, j], levels, rare, loose)
        return out

    def _restored(self, codes: NDArray[Any], levels: NDArray[Any], rare: Any, loose: bool) -> NDArray[Any]:
        nan, known = _has_nan(levels), len(levels) - _has_nan(levels)
        group = grouped_codes(known, rare)
        shown = np.empty(int(group.max(initial=-1)) + 1, dtype=object if loose else levels.dtype)
        shown[group] = levels[:known]
        if rare is not None:
            shown[-1] = NAME
        gone = _equal(codes, self.encoded_missing_value) if nan else np.zeros(len(codes), dtype=bool)
        unknown = self.handle_unknown != "error" and _equal(codes, self.unknown_value) & ~gone
        ordinary = ~(gone | unknown)
        out = np.empty(len(codes), dtype=shown.dtype)
        out[ordinary] = shown[codes[ordinary].astype(np.int64)]
        if nan:
            out[gone] = levels[-1]
        if loose:
            out[unknown] = None
        return out


class UnknownValueError(ParameterError, TypeError):
    """An unknown_value that does not fit handle_unknown; a TypeError too, as in scikit-learn."""


def _zip(one: list[Any], two: list[Any]) -> Any:
    return zip(one, two, strict=True)


def _has_nan(levels: NDArray[Any]) -> int:
    return int(len(levels) > 0 and is_nan(levels[-1]))


def _equal(codes: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    return np.isnan(codes) if is_nan(value) else codes == value
