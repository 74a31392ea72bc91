"""Classify rows of categories by one table of probabilities for each class and column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.core.parameters import Interval
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.bayes.counted import Counted, Given, Smoothing, change, count_certificate
from surefit.models.bayes.generative import log_of
from surefit.stats.code_counts import CodeCounts, code_column
from surefit.stats.double_double import UNIT


class UnknownCategoryError(DataError, IndexError):
    """A category that no row of the fit had."""


@dataclass(frozen=True, slots=True)
class CategoryParameters:
    """Labels, weights and log shares of the classes; by column the number of categories, and by class and
    category the counts and the logarithms of the probabilities.
    """

    classes: NDArray[Any]
    class_count: Vector
    class_log_prior: Vector
    n_categories: NDArray[np.int64]
    category_count: list[Matrix]
    feature_log_prob: list[Matrix]


class CategoricalNB(Counted):
    r"""Naive Bayes for categories 0, 1, 2, ...: :math:`P(c|x) \propto \pi_c \prod_j p_{cj}(x_j)`.

    :math:`p_{cj}(k) = (N_{cjk} + \alpha) / (N_c + \alpha K_j)`, with :math:`K_j` the number of categories
    of column j: the largest code and one, or min_categories where that is more. handle_unknown: "error"
    refuses a row with a category beyond; "ignore" gives such a cell the probability of a category never
    seen. Cells are cut to whole numbers. The other parameters are those of MultinomialNB.

    >>> from surefit import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [1, 2], [1, 2]], ["a", "a", "b", "b"])
    >>> model.predict([[0, 2], [1, 1]]).tolist(), model.n_categories_.tolist()
    (['a', 'b'], [2, 3])
    """

    accepts = Accepts(target="class", sparse=False)
    learns = CategoryParameters
    n_categories_: NDArray[np.int64]
    category_count_: list[Matrix]
    feature_log_prob_: list[Matrix]  # type: ignore[assignment]  # one table a column, as scikit-learn has it

    def __init__(
        self,
        *,
        alpha: Smoothing = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Given | None = None,
        min_categories: Annotated[int, Interval(1, None)] | Given | None = None,
        handle_unknown: Literal["error", "ignore"] = "error",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.handle_unknown = handle_unknown

    def check_loaded(self) -> None:
        """Refuse tables that do not fit the columns."""
        shapes = [(len(self.classes_), int(size)) for size in self.n_categories_]
        for tables in (self.feature_log_prob_, self.category_count_):
            if [np.shape(table) for table in tables] != shapes:
                raise FormatError("the file's tables of categories do not fit its classes and columns.")
        if len(shapes) != self.n_features_in_:
            raise FormatError("the file has not one table of categories for each column.")

    def _of(self, schema: Schema) -> Callable[[Batch], Any]:
        assert schema.classes is not None
        return partial(_counted, classes=len(schema.classes))

    def _finish(self, statistic: Any, schema: Schema) -> Learned:
        assert schema.classes is not None
        if statistic.rows == 0:
            raise RefusalError("no row would be left: keep at least one.")
        weight = np.array(statistic.weight)
        counts = self._filled(statistic)
        alpha = self._check_alpha()
        parameters = CategoryParameters(
            schema.classes,
            weight,
            self._class_log_prior(weight),
            np.array([table.shape[1] for table in counts], dtype=np.int64),
            counts,
            self._tables(counts, alpha),
        )
        error = UNIT if np.array_equal(weight, np.rint(weight)) else statistic.rows * UNIT
        evidence = {"class_weights": (schema.classes, weight), "rows": statistic.rows}
        return Learned(parameters, count_certificate(error, error, 8 * UNIT), evidence)

    def _filled(self, statistic: CodeCounts) -> list[Matrix]:
        """Counts of as many categories as asked for at least."""
        found = np.array([table.shape[1] for table in statistic.tables], dtype=np.int64)
        wanted = self._least_sizes(len(found))
        filled = []
        for table, size in zip(statistic.tables, np.maximum(found, wanted), strict=True):
            more = np.zeros((len(table), int(size)))
            more[:, : table.shape[1]] = table
            filled.append(more)
        return filled

    def _least_sizes(self, columns: int) -> Any:
        if self.min_categories is None:
            return 0
        sizes = np.array(self.min_categories)
        if not np.issubdtype(sizes.dtype, np.signedinteger):
            raise ParameterError(
                "'min_categories' should have integral type. Got "
                f"{sizes.dtype} instead: give whole numbers, one or one a column."
            )
        if sizes.ndim > 0 and sizes.shape != (columns,):
            raise ParameterError(
                f"'min_categories' should have shape ({columns},) when an array-like is provided. Got "
                f"{sizes.shape} instead."
            )
        return sizes

    @staticmethod
    def _tables(counts: list[Matrix], alpha: Any) -> list[Matrix]:
        alphas = np.broadcast_to(alpha, len(counts))
        tables = []
        for table, a in zip(counts, alphas, strict=True):
            smoothed = table + a
            total = smoothed.sum(axis=1, keepdims=True)
            even = np.full_like(smoothed, 1.0 / max(table.shape[1], 1))
            tables.append(log_of(np.divide(smoothed, total, out=even, where=total > 0)))
        return tables

    def _log_probabilities(self, count: Matrix, weight: Vector, alpha: Any) -> Matrix:
        return self._tables([count], alpha)[0]

    def _joint(self, X: Any) -> Matrix:
        scores = np.tile(self.class_log_prior_, (len(X), 1))
        alphas = np.broadcast_to(self._check_alpha(), X.shape[1])
        for j, table in enumerate(self.feature_log_prob_):
            codes = _codes(X[:, j], j)
            size = table.shape[1]
            if len(codes) and int(codes.max()) >= size:
                if self.handle_unknown == "error":
                    raise UnknownCategoryError(
                        f"index {int(codes.max())} is out of bounds for axis 1 with size {size}: column {j} "
                        "holds a category that no row of the fit had; give min_categories, or "
                        "handle_unknown='ignore'."
                    )
                total = self.class_count_ + alphas[j] * size
                never = log_of(np.divide(alphas[j], total, out=np.zeros_like(total), where=total > 0))
                table, codes = np.column_stack([table, never]), np.minimum(codes, size)
            scores += table.T[codes]
        return scores

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count again, category by category, and smooth again."""
        sizes = [int(size) for size in self.n_categories_]
        weight, counts = np.zeros_like(self.class_count_), [np.zeros_like(t) for t in self.category_count_]
        for more_weight, more in engine.map(partial(_recounted, len(weight), sizes), source):
            weight = weight + more_weight
            counts = [table + other for table, other in zip(counts, more, strict=True)]
        logs = self._tables(counts, self._check_alpha())
        shares = max(
            change(self.class_count_, weight),
            change(self.class_log_prior_, self._class_log_prior(weight)),
        )
        pairs = zip(self.category_count_, counts, strict=True)
        counted = max((float(np.max(np.abs(a - b), initial=0.0)) for a, b in pairs), default=0.0) / max(
            float(weight.max(initial=0.0)), 1e-300
        )
        smoothed = max((change(a, b) for a, b in zip(self.feature_log_prob_, logs, strict=True)), default=0.0)
        return count_certificate(shares, counted, smoothed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags


def _codes(column: Any, index: int) -> Any:
    if np.min(column, initial=0.0) <= -1:
        raise DataError(
            f"Negative values in data passed to CategoricalNB (input X): column {index} holds "
            f"{np.min(column):g}, but codes of categories are 0, 1, 2, ...: encode the column, with "
            "OrdinalEncoder for example."
        )
    return code_column(column, index)


def _counted(batch: Batch, classes: int) -> CodeCounts:
    X: Any = batch.X
    for j in range(X.shape[1]):
        _codes(X[:, j], j)
    return CodeCounts.of(batch, classes=classes)


def _recounted(classes: int, sizes: list[int], batch: Batch) -> tuple[Vector, list[Matrix]]:
    assert batch.y is not None
    X: Any = batch.X
    s = np.ones(len(batch)) if batch.weight is None else batch.weight
    weight = np.array([s[batch.y == c].sum() for c in range(classes)])
    tables = [np.zeros((classes, size)) for size in sizes]
    for j, table in enumerate(tables):
        codes = np.trunc(X[:, j])
        known = (codes >= 0) & (codes < table.shape[1])
        np.add.at(table, (batch.y[known], codes[known].astype(np.int64)), s[known])
    return weight, tables
