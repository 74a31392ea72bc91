"""Classify by a kernel density of each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.config import config
from surefit.core.errors import FormatError, RefusalError
from surefit.core.parameters import Interval, NonNegative
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.base import Learned, certify
from surefit.models.bayes.generative import Generative, given_prior, log_of
from surefit.models.candidate import Candidate
from surefit.models.density.kernel_density import KernelDensity
from surefit.models.density.smoothing import KernelName
from surefit.stats.row_set import RowSet


@dataclass(frozen=True, slots=True)
class KDEClassifierParameters:
    """Labels, weights and shares of the classes; their bandwidths; the rows with weight and class code."""

    classes: NDArray[Any]
    class_count: Vector
    class_prior: Vector
    bandwidth: Vector
    rows: Matrix
    row_weight: Vector
    row_class: NDArray[np.int64]


class KDEClassifier(Generative):
    r"""Bayes' rule with kernel densities: :math:`P(c|x) \propto \pi_c \, p_c(x)`.

    :math:`p_c` is the KernelDensity of the rows of class c; bandwidth, kernel, atol and rtol are its
    parameters, and a bandwidth by a rule is one for each class. priors: the :math:`\pi_c`; None takes the
    shares. A row of zero density in every class gets the priors.

    >>> from surefit import KDEClassifier
    >>> model = KDEClassifier(bandwidth=0.5).fit([[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['low', 'high']
    """

    accepts = Accepts(target="class", sparse=False)
    learns = KDEClassifierParameters
    candidate = Candidate(
        "Kernel density classifier", 30, "distance", given={"bandwidth": "likelihood"}, most_rows=3000
    )

    class_count_: Vector
    class_prior_: Vector
    bandwidth_: Vector
    rows_: Matrix
    row_weight_: Vector
    row_class_: NDArray[np.int64]
    _members: list[KernelDensity | None]

    def __init__(
        self,
        *,
        bandwidth: Annotated[float, Interval(0, None, open_low=True)]
        | Literal["scott", "silverman", "likelihood"] = 1.0,
        kernel: KernelName = "gaussian",
        priors: NDArray[Any] | list[Any] | tuple[Any, ...] | None = None,
        atol: NonNegative = 0,
        rtol: NonNegative = 0,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.priors = priors
        self.atol = atol
        self.rtol = rtol

    def check_loaded(self) -> None:
        """Refuse rows that do not fit each other."""
        n, K = len(self.rows_), len(self.classes_)
        fits = self.rows_.shape == (n, self.n_features_in_) and self.row_class_.shape == (n,)
        fits = fits and self.row_weight_.shape == (n,) and self.bandwidth_.shape == (K,) and n > 0
        if not fits or self.row_class_.min() < 0 or self.row_class_.max() >= K:
            raise FormatError("the file's rows, weights and classes do not fit each other.")

    def _of(self, schema: Schema) -> Callable[[Batch], RowSet]:
        return RowSet.of

    def _finish(self, statistic: RowSet, schema: Schema) -> Learned:
        assert schema.classes is not None
        if len(statistic) == 0:
            raise RefusalError("no row would be left: keep at least one.")
        rows, weight, codes = np.array(statistic.X), np.array(statistic.weight), statistic.y.astype(np.int64)
        count = np.bincount(codes, weight, len(schema.classes)).astype(np.float64)
        prior = count / count.sum() if self.priors is None else given_prior(self.priors, len(count))
        members, bandwidth = [], np.ones(len(count))
        for c in range(len(count)):
            mine = codes == c
            if mine.any():
                members.append(self._density(rows[mine], weight[mine], self._rule(count[c])))
                bandwidth[c] = members[-1].bandwidth_
        parameters = KDEClassifierParameters(schema.classes, count, prior, bandwidth, rows, weight, codes)
        there = iter(members)
        self._members = [next(there) if weight > 0 else None for weight in count]
        worst = max((member.certificate_ for member in members), key=lambda found: found.value)
        evidence = {"class_weights": (schema.classes, count), "rows": len(rows)}
        return Learned(parameters, worst, evidence)

    def _rule(self, weight: float) -> Any:
        """A class of one row has no left-out likelihood; its bandwidth is 1 then."""
        return 1.0 if self.bandwidth == "likelihood" and weight <= 1 else self.bandwidth

    def _density(self, rows: Matrix, weight: Vector, bandwidth: Any) -> KernelDensity:
        if bandwidth == "likelihood" and not np.ptp(rows, axis=0).any():
            bandwidth = 1.0
        model = KernelDensity(bandwidth=bandwidth, kernel=self.kernel, atol=self.atol, rtol=self.rtol)
        with config(checkpoint=None):  # its rows are no table that a pass could go on in
            return model.fit(rows, sample_weight=weight)

    def _fitted(self) -> list[KernelDensity | None]:
        if "_members" not in self.__dict__:
            self._members = []
            for c, h in enumerate(self.bandwidth_):
                mine = self.row_class_ == c
                found = (
                    self._density(self.rows_[mine], self.row_weight_[mine], float(h)) if mine.any() else None
                )
                self._members.append(found)
        return self._members

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_members"}

    def _joint(self, X: Any) -> Matrix:
        scores = np.full((X.shape[0], len(self.classes_)), -np.inf)
        prior = self._log_prior()
        for c, member in enumerate(self._fitted()):
            if member is not None and prior[c] > -np.inf:
                scores[:, c] = prior[c] + member.score_samples(X)
        return scores

    def _log_prior(self) -> Vector:
        return log_of(self.class_prior_)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, NDArray[Any]]:
        """Draw rows and their classes from the densities."""
        rng = np.random.default_rng(random_state)
        codes = np.searchsorted(np.cumsum(self.class_prior_) / self.class_prior_.sum(), rng.random(n_samples))
        X = np.empty((n_samples, self.n_features_in_))
        for c, member in enumerate(self._fitted()):
            mine = codes == c
            if mine.any() and member is not None:
                X[mine] = member.sample(int(mine.sum()), int(rng.integers(2**31)))
        return X, self.classes_[codes]

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Certify the density of each class by its rows, and compare rows and shares."""
        self.__dict__.pop("_members", None)
        worst: Certificate | None = None
        for c, member in enumerate(self._fitted()):
            own = MappedSource(source, source.schema, partial(_only, c))
            if member is None:
                continue
            wanted = self._rule(self.class_count_[c])
            plain = wanted == "likelihood" and not np.ptp(member.rows_, axis=0).any()
            member.bandwidth = 1.0 if plain else wanted
            found = certify(member, own, engine)
            member.bandwidth = float(self.bandwidth_[c])
            worst = found if worst is None or found.value > worst.value else worst
        counts = np.zeros_like(self.class_count_)
        for more in engine.map(partial(_weights, len(counts)), source):
            counts = counts + more
        prior = counts / counts.sum() if self.priors is None else given_prior(self.priors, len(counts))
        off = (
            np.abs(self.class_count_ - counts).max() / counts.sum() + np.abs(prior - self.class_prior_).max()
        )
        assert worst is not None
        value = float(max(worst.value, off))
        return replace(worst, value=value, parts={**worst.parts, "share of a class": float(off)})


def _only(c: int, batch: Batch) -> Batch:
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    return Batch(batch.X, None, weight * (np.asarray(batch.y) == c))


def _weights(classes: int, batch: Batch) -> Vector:
    return np.bincount(np.asarray(batch.y), batch.weight, classes).astype(np.float64)
