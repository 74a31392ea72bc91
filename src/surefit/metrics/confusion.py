"""The confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.core.parameters import Has
from surefit.data.batches.batch import Batch
from surefit.metrics.base import Metric
from surefit.metrics.cases import Case
from surefit.metrics.labels import Labels, as_labels, pair_table, unite
from surefit.stats.base import Statistic

LabelList = Annotated[object, Has("__array__")] | list[Any] | tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Confusion(Statistic):
    """The weight of each pair of true (row) and predicted (column) label; ``counted`` says that no weights
    were given, so that the entries are counts.
    """

    labels: Labels
    table: NDArray[np.float64]
    counted: bool

    @classmethod
    def of(
        cls, batch: Batch, *, prediction: Any = None, classes: Labels | None = None, **context: Any
    ) -> Confusion:
        """Count the pairs of a batch."""
        truth = np.asarray(batch.y) if classes is None else classes[batch.y]
        labels, table = pair_table(truth, np.asarray(prediction), batch.weight)
        return cls(labels, table, batch.weight is None)

    def __add__(self, other: Confusion) -> Confusion:
        labels, mine, others = unite(self.labels, other.labels)
        table = np.zeros((len(labels), len(labels)))
        table[np.ix_(mine, mine)] += self.table
        table[np.ix_(others, others)] += other.table
        return Confusion(labels, table, self.counted and other.counted)

    def among(self, wanted: Labels) -> NDArray[np.float64]:
        """The table of these labels, in their order; one that was never seen has zeros."""
        found = np.isin(wanted, self.labels)
        places = np.searchsorted(self.labels, wanted[found])
        table = np.zeros((len(wanted), len(wanted)))
        table[np.ix_(found, found)] = self.table[np.ix_(places, places)]
        return table


class ConfusionMatrix(Metric):
    """How often each true label (row) was predicted as each label (column), in sorted order or that of
    ``labels``.

    The layout is scikit-learn's: for labels 0 and 1 it is [[TN, FP], [FN, TP]]. ``layout="prediction"`` is
    that of texts that write [[TP, FP], [FN, TN]]: predictions are rows, the last label comes first. Entries
    are counts, or sums of weights. ``normalize`` divides by the sum of the row ("true"), the column ("pred")
    or everything ("all"); 0/0 is 0.

    >>> from surefit import metrics
    >>> metrics.confusion_matrix(["cat", "dog", "dog", "owl"], ["cat", "dog", "cat", "owl"])
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """

    name = "confusion_matrix"
    task = "classification"
    better = None
    statistic = Confusion

    def __init__(
        self,
        *,
        labels: LabelList = None,
        normalize: Literal["true", "pred", "all"] | None = None,
        layout: Literal["truth", "prediction"] = "truth",
    ) -> None:
        self.labels = labels
        self.normalize = normalize
        self.layout = layout

    def finish(self, statistic: Confusion) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the matrix."""
        table = statistic.table if self.labels is None else self._chosen(statistic)
        if self.normalize is not None:
            axis = {"true": 1, "pred": 0, "all": None}[self.normalize]
            sums = table.sum(axis=axis, keepdims=True)
            table = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0)
        elif statistic.counted:
            return self._laid_out(table.astype(np.int64))
        return self._laid_out(table)

    def _laid_out(self, table: NDArray[Any]) -> NDArray[Any]:
        return table if self.layout == "truth" else table[::-1, ::-1].T

    def _chosen(self, statistic: Confusion) -> NDArray[np.float64]:
        wanted = as_labels(self.labels, "labels")
        if not np.isin(wanted, statistic.labels).any():
            raise DataError(
                f"confusion_matrix: none of labels={wanted.tolist()} occurs in y_true or y_pred; "
                f"they hold {', '.join(map(str, statistic.labels[:10]))}."
            )
        return statistic.among(wanted)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the ways to normalise, and a choice of labels."""
        for case in super().cases(rng):
            yield case
            yield case.with_options(layout="prediction")
            yield case.with_options(labels=np.unique(case.truth)[::-1][:2])
            for normalize in ("true", "pred", "all"):
                yield case.with_options(normalize=normalize)
