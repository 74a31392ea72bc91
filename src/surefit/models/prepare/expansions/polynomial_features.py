"""All products of columns up to a degree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement
from math import comb
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.core.parameters import WholeNumber
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.recompute import relative_change, seen, total_weight
from surefit.models.transformer import Transformer
from surefit.stats.missing import Missing

MOST = 2**29  # powers, one of each column in each product: 4 GiB


@dataclass(frozen=True, slots=True)
class PolynomialFeaturesParameters:
    """How many columns come out, the exponents of each, and the weight of the rows seen."""

    n_output_features: int
    powers: NDArray[np.int64]
    n_samples_seen: Any


class PolynomialFeatures(Transformer):
    r"""Make all monomials :math:`\prod_j x_j^{p_j}` of total degree up to ``degree``.

    degree: the highest, or the lowest and the highest. interaction_only: no column twice in a product.
    include_bias: start with a column of ones. order: "C" or "F", the memory order of the result. Nothing is
    learnt from the rows but how many columns they have.

    >>> from surefit import PolynomialFeatures
    >>> PolynomialFeatures().fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    """

    accepts = Accepts(by_columns=True)
    learns = PolynomialFeaturesParameters

    n_output_features_: int
    powers_: NDArray[np.int64]
    n_samples_seen_: Any

    def __init__(
        self,
        degree: WholeNumber | tuple[Any, ...] | list[Any] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order

    def _degrees(self) -> tuple[int, int]:
        degree: Any = self.degree
        if isinstance(degree, Integral):
            if degree == 0 and not self.include_bias:
                raise ParameterError(
                    "Setting degree to zero and include_bias to False would result in an empty output array."
                )
            return 0, int(degree)
        whole = len(degree) == 2 and all(isinstance(end, Integral) for end in degree)
        if not whole or not 0 <= degree[0] <= degree[1]:
            raise ParameterError(
                "degree=(min_degree, max_degree) must be two non-negative whole numbers, "
                f"the lower one first, not {self.degree}."
            )
        if degree[1] == 0 and not self.include_bias:
            raise ParameterError(
                "Setting both min_degree and max_degree to zero and include_bias to False would result in an "
                "empty output array."
            )
        return int(degree[0]), int(degree[1])

    def _products(self, columns: int) -> list[tuple[int, ...]]:
        """The columns that each output multiplies, () for the ones."""
        low, high = self._degrees()
        draw: Any = combinations if self.interaction_only else combinations_with_replacement
        _refuse_many(_how_many(columns, low, high, self.interaction_only) + self.include_bias, columns)
        found = chain.from_iterable(draw(range(columns), degree) for degree in range(max(1, low), high + 1))
        return [*([()] if self.include_bias else []), *found]

    def _of(self, schema: Schema) -> Callable[[Batch], Missing]:
        return _rows_seen

    def _finish(self, statistic: Missing, schema: Schema) -> Learned:
        products = self._products(schema.width)
        powers = np.array([np.bincount(p, minlength=schema.width) for p in products], dtype=np.int64)
        parameters = PolynomialFeaturesParameters(
            len(products), powers.reshape(len(products), schema.width), seen(statistic.weight)
        )
        return Learned(parameters, self._certificate(0.0))

    @staticmethod
    def _certificate(value: float) -> Certificate:
        return Certificate("exact", "relative change of the rows seen; inf for a changed power", value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count the powers again: each once, all of an allowed degree, as many as there are."""
        low, high = self._degrees()
        degrees = self.powers_.sum(axis=1)
        allowed = ((degrees >= max(1, low)) | (degrees == 0)) & (degrees <= high)
        whole = (
            len(np.unique(self.powers_, axis=0))
            == len(self.powers_)
            == len(self._products(source.schema.width))
            and self.n_output_features_ == len(self.powers_)
            and bool(allowed.all())
            and (not self.interaction_only or self.powers_.max(initial=0) <= 1)
        )
        change = relative_change(self.n_samples_seen_, total_weight(source, engine))
        return self._certificate(change if whole else np.inf)

    def _transform(self, X: Any) -> Any:
        products = self._products(X.shape[1])
        if sparse.issparse(X):
            return _sparse_products(X, products)
        # Column by column, each from one of a lower degree that is there already.
        out = np.empty((X.shape[0], len(products)), dtype=X.dtype, order="F")
        place: dict[tuple[int, ...], int] = {}
        for k, product in enumerate(products):
            place[product] = k
            if product[:-1] in place and product:
                np.multiply(out[:, place[product[:-1]]], X[:, product[-1]], out=out[:, k])
            else:
                out[:, k] = np.prod(X[:, list(product)], axis=1)
        return np.ascontiguousarray(out) if self.order == "C" else out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The products written out, such as "x0^2 x1"; "1" for the ones."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        names = [
            " ".join(
                inputs[j] if power == 1 else f"{inputs[j]}^{power}" for j, power in enumerate(powers) if power
            )
            for powers in self.powers_
        ]
        return np.array([name or "1" for name in names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _how_many(columns: int, low: int, high: int, once: bool) -> int:
    """How many products there are, without making one."""
    return sum(comb(columns if once else columns + d - 1, d) for d in range(max(1, low), high + 1))


def _refuse_many(outputs: int, columns: int) -> None:
    if outputs > np.iinfo(np.int64).max:
        raise ParameterError(
            f"The output that would result from the current configuration would have {outputs} features "
            "which is too large to be indexed: choose a lower degree, or fewer columns."
        )
    if outputs * columns > MOST:
        raise ParameterError(
            f"there would be {outputs} products of {columns} columns, whose powers alone would take "
            f"{8 * outputs * columns / 2**30:.3g} GiB: choose a lower degree, or fewer columns."
        )


def _rows_seen(batch: Batch) -> Missing:
    weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
    return Missing(weight, np.zeros(0))


def _sparse_products(X: Any, products: list[tuple[int, ...]]) -> Any:
    if not products:
        return type(X)((X.shape[0], 0), dtype=X.dtype)
    columns = X.tocsc()
    made: dict[tuple[int, ...], Any] = {}
    for product in products:
        if not product:
            made[product] = sparse.csc_array(np.ones((X.shape[0], 1), dtype=X.dtype))
        elif len(product) == 1:
            made[product] = columns[:, [product[0]]]
        else:
            first = made.get(product[:-1])
            if first is None:
                first = _sparse_products(X, [product[:-1]]).tocsc()
            made[product] = first.multiply(columns[:, [product[-1]]]).tocsc()
    stacked = sparse.hstack([made[product] for product in products], format=X.format, dtype=X.dtype)
    return type(X)(stacked)
