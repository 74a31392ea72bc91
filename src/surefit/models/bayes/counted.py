"""What the naive Bayes models of counts share: one pass of sums, smoothing, and scores linear in x."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError, SurefitWarning, warn
from surefit.core.parameters import Interval, Scale
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.bayes.generative import Generative, dense_blocks, log_of
from surefit.stats.class_sums import ClassSums
from surefit.stats.double_double import UNIT

Given = NDArray[Any] | list[Any] | tuple[Any, ...]
Smoothing = Annotated[float, Interval(0, None), Scale("log")] | Given
LEAST_ALPHA = 1e-10


class SmoothingWarning(SurefitWarning):
    """A smoothing that is too small was replaced."""


@dataclass(frozen=True, slots=True)
class CountParameters:
    """Labels, weights and log shares of the classes; by class and column the counts and the logarithms of
    the probabilities.
    """

    classes: NDArray[Any]
    class_count: Vector
    class_log_prior: Vector
    feature_count: Matrix
    feature_log_prob: Matrix


class Counted(Generative, abstract=True):
    """Counts of columns within classes, summed in one pass."""

    accepts = Accepts(target="class")
    learns: ClassVar[type] = CountParameters
    counts_words: ClassVar[bool] = True  # whether cells are counts, which are never negative

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    class_count_: Vector
    class_log_prior_: Vector
    feature_count_: Matrix
    feature_log_prob_: Matrix

    @abstractmethod
    def _log_probabilities(self, count: Matrix, weight: Vector, alpha: Any) -> Matrix:
        """Turn counts, and the weights of the classes, into logarithms of smoothed probabilities."""

    def _threshold(self) -> float | None:
        """Above what a cell counts as 1; None takes cells as they are."""
        return None

    def _extra(self, count: Matrix) -> dict[str, Any]:
        return {}

    def _of(self, schema: Schema) -> Callable[[Batch], ClassSums]:
        assert schema.classes is not None
        return partial(
            _counted, type(self).__name__, len(schema.classes), self._threshold(), self.counts_words
        )

    def _finish(self, statistic: ClassSums, schema: Schema) -> Learned:
        assert schema.classes is not None
        if statistic.rows == 0:
            raise RefusalError("no row would be left: keep at least one.")
        weight, count = np.array(statistic.weight), np.array(statistic.sums)
        parameters = self.learns(
            schema.classes,
            weight,
            self._class_log_prior(weight),
            count,
            self._log_probabilities(count, weight, self._check_alpha()),
            **self._extra(count),
        )
        whole = np.array_equal(weight, np.rint(weight))
        error = UNIT if whole else statistic.rows * UNIT
        evidence = {"class_weights": (schema.classes, weight), "rows": statistic.rows}
        return Learned(parameters, count_certificate(error, statistic.error, 8 * UNIT), evidence)

    def _class_log_prior(self, weight: Vector) -> Vector:
        if self.class_prior is not None:
            given = np.array(self.class_prior, dtype=np.float64)
            if given.shape != weight.shape:
                raise ParameterError(
                    f"Number of priors must match number of classes: class_prior has shape {given.shape}, "
                    f"but there are {len(weight)} classes; give one prior for each."
                )
            if (given < 0).any() or not given.any():
                raise ParameterError(
                    f"class_prior={given.tolist()} must be probabilities: none below 0, and not all 0."
                )
            return log_of(given)
        if not self.fit_prior:
            return np.full(len(weight), -np.log(len(weight)))
        return log_of(weight / weight.sum())

    def _check_alpha(self) -> Any:
        if isinstance(self.alpha, int | float | np.number):
            alpha: Any = np.float64(self.alpha)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape != (self.n_features_in_,):
                raise ParameterError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0] if alpha.ndim else 1} elements instead of {self.n_features_in_}."
                )
            if not (alpha >= 0).all():
                raise ParameterError(
                    f"All values in alpha must be greater than 0., but the least is {alpha.min():g}."
                )
        if alpha.min() < LEAST_ALPHA and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                SmoothingWarning,
            )
            return np.maximum(alpha, LEAST_ALPHA)
        return alpha

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count again, one class after the other, and smooth again."""
        found = engine.map(
            partial(_recounted, len(self.class_count_), self.n_features_in_, self._threshold()), source
        )
        weight, count = np.zeros_like(self.class_count_), np.zeros_like(self.feature_count_)
        for more_weight, more in found:
            weight, count = weight + more_weight, count + more
        logs = self._log_probabilities(count, weight, self._check_alpha())
        extra = [change(getattr(self, f"{name}_"), value) for name, value in self._extra(count).items()]
        shares = [
            change(self.class_count_, weight),
            change(self.class_log_prior_, self._class_log_prior(weight)),
        ]
        size = np.maximum(np.abs(count).max(axis=1, initial=0.0, keepdims=True), 1e-300)
        counts = float(np.max(np.abs(self.feature_count_ - count) / size, initial=0.0))
        return count_certificate(max(shares), max([counts, *extra]), change(self.feature_log_prob_, logs))

    def _log_prior(self) -> Vector:
        return self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.counts_words
        tags.classifier_tags.poor_score = True
        return tags


def count_certificate(share: float, count: float, logs: float) -> Certificate:
    """The claim that counts, and what was made of them, are exact."""
    parts = {"weight or log share of a class": share, "count, relative": count, "log probability": logs}
    value = float(np.max([share, count, logs]))
    return Certificate("exact", "largest change of a share, count or log probability", value, 1e-8, parts)


def change(one: NDArray[Any], two: NDArray[Any]) -> float:
    """The largest difference, relative to the size; what is infinite in both is the same."""
    with np.errstate(invalid="ignore"):
        gap = np.where(one == two, 0.0, np.abs(one - two) / np.maximum(np.abs(two), 1e-6))
    return float(np.max(gap, initial=0.0))


def _counted(who: str, classes: int, threshold: float | None, positive: bool, batch: Batch) -> ClassSums:
    if threshold is not None and threshold < 0 and not isinstance(batch.X, np.ndarray):
        raise ParameterError(
            f"{who}: binarize={threshold:g} is below 0, so that every cell that a sparse matrix leaves out "
            "would count as 1: pass X.toarray(), or a threshold of at least 0."
        )
    found = ClassSums.of(batch, classes=classes, threshold=threshold)
    if positive and found.least < 0:
        raise DataError(
            f"Negative values in data passed to {who} (input X): the least is {found.least:g}, but cells are "
            "counts, or other amounts of at least 0."
        )
    return found


def _recounted(classes: int, columns: int, threshold: float | None, batch: Batch) -> tuple[Vector, Matrix]:
    weight, sums = np.zeros(classes), np.zeros((classes, columns))
    for rows, X in dense_blocks(batch.X):
        assert batch.y is not None
        y, s = batch.y[rows], np.ones(len(X)) if batch.weight is None else batch.weight[rows]
        cells = np.asarray(X, dtype=np.float64) if threshold is None else (threshold < X).astype(np.float64)
        for c in np.unique(y[s > 0]):
            mine = (y == c) & (s > 0)
            weight[c] += s[mine].sum()
            sums[c] += s[mine] @ cells[mine]
    return weight, sums


def linear_scores(X: Any, slopes: Matrix, offset: Vector) -> Matrix:
    """Return X slopes' + offset, where a slope of -inf rules a class out for a row whose cell is not 0."""
    gone = slopes == -np.inf
    if not gone.any():
        return np.asarray(X @ slopes.T) + offset
    scores = np.asarray(X @ np.where(gone, 0.0, slopes).T) + offset
    scores[np.asarray(X @ gone.astype(np.float64).T) > 0] = -np.inf
    return scores
