"""What discriminant analyses share: one pass of moments, priors, shrinkage, and moments counted again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError, RefusalError, SurefitWarning, warn
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.bayes.generative import dense_blocks
from surefit.models.rows_in_memory import gathered
from surefit.models.updating import OneStatisticClassifier
from surefit.stats.class_moments import ClassMoments


class UnsupportedError(ParameterError, NotImplementedError):
    """Two parameters that no formula combines."""


class SingularCovarianceError(DataError, np.linalg.LinAlgError):
    """A class whose columns depend on each other, where its inverse is needed."""


class PriorWarning(SurefitWarning):
    """Priors that do not add up to 1 were divided by their sum."""


@dataclass(frozen=True, slots=True)
class Spreads:
    """By class: weight, mean and covariance (divided by the weight); and the covariance of all rows."""

    weight: Vector
    means: Matrix
    covariances: NDArray[np.float64]
    total: Matrix
    within: Matrix  # the sum of squares and products about the means, not divided

    @property
    def rows(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())


class Discriminant(OneStatisticClassifier, abstract=True):
    """Normal distributions within the classes, from their moments."""

    accepts = Accepts(target="class", sparse=False)
    shaping: ClassVar[tuple[str, ...]] = ("shrinkage", "covariance_estimator")

    solver: str
    shrinkage: Any
    priors: Any
    covariance_estimator: Any
    classes_: NDArray[Any]

    def _solved(self, spreads: Spreads, schema: Schema, strict: bool) -> Any:
        raise TypeError("a discriminant analysis solves for its parameters")

    def _of(self, schema: Schema) -> Callable[[Batch], ClassMoments]:
        assert schema.classes is not None
        if self.covariance_estimator is not None:
            raise RefusalError(
                "covariance_estimator looks at all rows of a class at once, so rows cannot be added, removed "
                "or merged: fit again on all rows, or use shrinkage."
            )
        return partial(ClassMoments.of, classes=len(schema.classes), squares=self.shrinkage == "auto")

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._check_options()
        assert source.schema.classes is not None
        classes = source.schema.classes
        if len(classes) < 2:
            raise DataError(
                f"The number of classes has to be greater than one. Got {len(classes)} class: "
                "give rows of two classes at least."
            )
        if self.covariance_estimator is not None:
            self.__dict__.pop("statistic_", None)
            batch = gathered(source)
            moments = ClassMoments.of(batch, classes=len(classes))
            spreads = self._estimated(batch, moments)
        else:
            moments = engine.accumulate(self._of(source.schema), source)
            self.statistic_ = moments
            spreads = self._spreads(moments)
        self._schema = source.schema
        return self._made(moments, spreads, source.schema, strict=True)

    def _finish(self, statistic: ClassMoments, schema: Schema) -> Learned:
        self._check_options()
        if statistic.rows == 0:
            raise RefusalError("no row would be left: keep at least one.")
        return self._made(statistic, self._spreads(statistic), schema, strict=False)

    def _made(self, moments: ClassMoments, spreads: Spreads, schema: Schema, strict: bool) -> Learned:
        if strict and moments.rows <= len(spreads.weight):
            raise DataError(
                "The number of samples must be more than the number of classes: there are "
                f"{moments.rows} rows and {len(spreads.weight)} classes."
            )
        parameters, certificate = self._solved(spreads, schema, strict)
        evidence = {"class_weights": (schema.classes, moments.weight), "rows": moments.rows}
        return Learned(parameters, certificate, evidence)

    @staticmethod
    def _attributes(learned: Learned) -> dict[str, Any]:
        """What was not asked for is no attribute."""
        found = Estimator._attributes(learned)
        return {name: value for name, value in found.items() if value is not None}

    def _adopt(self, learned: Learned, schema: Schema) -> None:
        for entry in fields(learned.parameters):
            self.__dict__.pop(f"{entry.name}_", None)
        super()._adopt(learned, schema)

    def check_loaded(self) -> None:
        """Leave out what was not asked for."""
        for entry in fields(self.learns):
            if self.__dict__.get(f"{entry.name}_", entry) is None:
                del self.__dict__[f"{entry.name}_"]

    def _check_options(self) -> None:
        name = type(self).__name__
        if self.solver == "svd" and self.shrinkage is not None:
            raise UnsupportedError(f"shrinkage not supported with 'svd' solver: {name} shrinks with 'eigen'.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ParameterError(
                f"{name}: a covariance estimator is not supported with svd solver, that is, "
                "covariance_estimator is not supported with solver='svd'. Try another solver instead."
            )
        if self.covariance_estimator is not None and self.shrinkage not in (None, 0):
            raise ParameterError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    def _prior(self, weight: Vector) -> Vector:
        if self.priors is None:
            return weight / weight.sum()
        prior = np.array(self.priors, dtype=np.float64)
        if prior.shape != weight.shape:
            raise ParameterError(
                f"priors has shape {prior.shape}, but there are {len(weight)} classes; give one for each."
            )
        if (prior < 0).any():
            raise ParameterError("priors must be non-negative: give 0 to a class that cannot occur.")
        if not np.isclose(prior.sum(), 1.0, rtol=0, atol=1e-5):
            warn("The priors do not sum to 1. Renormalizing", PriorWarning)
            return prior / prior.sum()
        return prior

    def _spreads(self, moments: ClassMoments) -> Spreads:
        weight, means = moments.weight, moments.means
        scatters = [moments.scatter(c) for c in range(len(weight))]
        found = _spreads_of(weight, means, scatters)
        if self.shrinkage is None:
            return found
        d, covariances = means.shape[1], []
        for c, cov in enumerate(found.covariances):
            scale = _scales(cov)
            fourth = moments.fourth(c, means[c], scale) if self.shrinkage == "auto" else 0.0
            covariances.append(shrunk(cov, self.shrinkage, weight[c], fourth))
        centre, scale, fourth = weight @ means / weight.sum(), _scales(found.total), 0.0
        if self.shrinkage == "auto":
            fourth = sum(moments.fourth(c, centre, scale) for c in range(len(weight)))
        total = shrunk(found.total, self.shrinkage, found.rows, fourth)
        return replace(found, covariances=np.array(covariances).reshape(-1, d, d), total=total)

    def _estimated(self, batch: Batch, moments: ClassMoments) -> Spreads:
        from sklearn.base import clone

        X, weight = np.asarray(batch.X), moments.weight
        if batch.weight is not None and not np.array_equal(batch.weight, np.ones(len(X))):
            raise RefusalError("a covariance_estimator takes no weights: leave out sample_weight.")
        found = _spreads_of(weight, moments.means, [moments.scatter(c) for c in range(len(weight))])

        def covariance(rows: Matrix) -> Matrix:
            estimator = clone(self.covariance_estimator, safe=False)
            estimator.fit(rows)
            if not hasattr(estimator, "covariance_"):
                raise ParameterError(
                    f"{type(estimator).__name__} does not have a covariance_ attribute: give an estimator of "
                    "covariances."
                )
            return np.asarray(estimator.covariance_)

        covariances = np.array([covariance(X[batch.y == c]) for c in range(len(weight))])
        return replace(found, covariances=covariances, total=covariance(X))

    def _recounted(self, source: Source, engine: Engine) -> Spreads:
        """Weights, means and covariances once more, in two passes, one class after the other."""
        if self.covariance_estimator is not None:
            batch = gathered(source)
            return self._estimated(batch, ClassMoments.of(batch, classes=len(self.classes_)))
        K, d = len(self.classes_), self.n_features_in_
        weight, sums = np.zeros(K), np.zeros((K, d))
        for w, s in engine.map(partial(_class_sums, K), source):
            weight, sums = weight + w, sums + s
        means = np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
        shift, scatters = np.zeros((K, d)), np.zeros((K, d, d))
        for s, m in engine.map(partial(_class_scatters, means), source):
            shift, scatters = shift + s, scatters + m
        there = np.maximum(weight, 1e-300)[:, None]
        scatters -= shift[:, :, None] * (shift / there)[:, None, :]  # what rounding left of the means
        means = means + shift / there
        found = _spreads_of(weight, means, list(scatters))
        if self.shrinkage is None:
            return found
        fourth, every = np.zeros(K), 0.0
        if self.shrinkage == "auto":
            centre, scale = weight @ means / weight.sum(), _scales(found.total)
            scales = np.array([_scales(cov) for cov in found.covariances])
            for f, e in engine.map(partial(_fourths, means, scales, centre, scale), source):
                fourth, every = fourth + f, every + e
        covariances = [
            shrunk(cov, self.shrinkage, w, f)
            for cov, w, f in zip(found.covariances, weight, fourth, strict=True)
        ]
        total = shrunk(found.total, self.shrinkage, found.rows, every)
        return replace(found, covariances=np.array(covariances), total=total)


def shrunk(covariance: Matrix, shrinkage: Any, weight: float, fourth: float) -> Matrix:
    """Move a covariance towards a multiple of the identity; "auto" by Ledoit and Wolf's share of it, for
    columns of deviation 1. fourth: the sum of fourth powers of the rows' lengths in those columns.
    """
    if shrinkage is None or weight <= 0:
        return covariance
    d = len(covariance)
    if shrinkage != "auto":
        share, scale, cov = float(shrinkage), np.ones(d), covariance
    else:
        scale = _scales(covariance)
        cov = covariance / np.multiply.outer(scale, scale)
        share = _ledoit_wolf(cov, weight, fourth) if d > 1 else 0.0
    target = share * np.trace(cov) / d * np.eye(d)
    found: Matrix = ((1 - share) * cov + target) * np.multiply.outer(scale, scale)
    return found


def _ledoit_wolf(cov: Matrix, weight: float, fourth: float) -> float:
    d = len(cov)
    mean, squares = np.trace(cov) / d, float((cov**2).sum())
    beta = (fourth / weight - squares) / (d * weight)
    delta = (squares - 2 * mean * np.trace(cov) + d * mean**2) / d
    beta = min(beta, delta)
    return 0.0 if beta <= 0 else float(beta / delta)


def _scales(covariance: Matrix) -> Vector:
    """Deviations, 1 for a constant column."""
    variance = np.diagonal(covariance)
    return np.where(variance > 0, np.sqrt(np.maximum(variance, 0.0)), 1.0)


def _spreads_of(weight: Vector, means: Matrix, scatters: list[Matrix]) -> Spreads:
    there = np.maximum(weight, 1e-300)
    within = np.sum(scatters, axis=0)
    centre = weight @ means / weight.sum()
    gaps = means - centre
    total = (within + (gaps.T * weight) @ gaps) / weight.sum()
    covariances = np.array([scatter / w for scatter, w in zip(scatters, there, strict=True)])
    return Spreads(weight, means, covariances, total, within)


def _class_sums(classes: int, batch: Batch) -> tuple[Vector, Matrix]:
    width = batch.X.shape[1]
    weight, sums = np.zeros(classes), np.zeros((classes, width))
    for X, y, s in _blocks(batch):
        for c in np.unique(y[s > 0]):
            mine = (y == c) & (s > 0)
            weight[c] += s[mine].sum()
            sums[c] += s[mine] @ X[mine]
    return weight, sums


def _class_scatters(means: Matrix, batch: Batch) -> tuple[Matrix, NDArray[np.float64]]:
    shift, scatters = np.zeros_like(means), np.zeros((*means.shape, means.shape[1]))
    for X, y, s in _blocks(batch):
        for c in np.unique(y[s > 0]):
            mine = (y == c) & (s > 0)
            gaps = X[mine] - means[c]
            shift[c] += s[mine] @ gaps
            scatters[c] += (gaps.T * s[mine]) @ gaps
    return shift, scatters


def _fourths(
    means: Matrix, scales: Matrix, centre: Vector, scale: Vector, batch: Batch
) -> tuple[Vector, float]:
    found, every = np.zeros(len(means)), 0.0
    for X, y, s in _blocks(batch):
        found += np.bincount(y, s * (((X - means[y]) / scales[y]) ** 2).sum(axis=1) ** 2, len(means))
        every += float(s @ (((X - centre) / scale) ** 2).sum(axis=1) ** 2)
    return found, every


def _blocks(batch: Batch) -> Any:
    for rows, X in dense_blocks(batch.X):
        assert batch.y is not None
        weight = np.ones(len(X)) if batch.weight is None else batch.weight[rows]
        yield np.asarray(X, dtype=np.float64), batch.y[rows], weight


def refuse_singular(name: Any, solver: str, few: bool, rows: float, columns: int) -> NoReturn:
    """Say that a covariance has no inverse, and what helps."""
    words = f"The covariance matrix of class {name} is not full rank. "
    if solver == "svd" and few:
        words += (
            "When using `solver='svd'` the number of samples in each class should be more than the number of "
            f"features, but class {name} has {rows:g} samples and {columns} features. Try using "
            "`solver='eigen'` and setting the parameter `shrinkage` for regularization."
        )
    else:
        words += (
            f"Increase the value of `{'shrinkage' if solver == 'eigen' else 'reg_param'}` to reduce the "
            "collinearity."
        )
    raise SingularCovarianceError(words)
