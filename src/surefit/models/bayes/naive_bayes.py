"""Classify by one distribution for each class and column, of any kind, another one for each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError, SurefitError
from surefit.core.parameters import NonNegative
from surefit.core.registry import lookup
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.distributions.base import Distribution
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.bayes.generative import Generative, given_prior, log_of
from surefit.stats.row_set import RowSet

_COUNTED = {"Categorical", "Bernoulli"}  # which alpha smooths


@dataclass(frozen=True, slots=True)
class NaiveBayesParameters:
    """Labels, weights and shares of the classes; by column the name of its distribution; by class and column
    the numbers of that distribution, None where the column is left out.
    """

    classes: NDArray[Any]
    class_count: Vector
    class_prior: Vector
    families: list[str]
    fitted: list[Any]


class NaiveBayes(Generative):
    r"""Naive Bayes with any distributions: :math:`P(c|x) \propto \pi_c \prod_j p_{cj}(x_j)`.

    distributions: the name of a distribution of ``surefit.distributions`` of one variable, for all columns,
    or a list of one a column, or a dictionary by column name ("x0", "x1", ... for a matrix), Normal where it
    names none. Each is fitted by maximum likelihood to the cells of its class; a missing cell is left out, in
    fits and in predictions, which integrates it out exactly. alpha: what is added to the count of each
    outcome of a Categorical or Bernoulli column. priors: the :math:`\pi_c`; None takes the shares.

    A column that cannot be fitted within a class, such as a constant one by a Normal, takes its distribution
    over all classes, and is left out if that cannot be fitted either. The rows are kept, so that rows can be
    added, removed and merged whatever the distributions.

    >>> from surefit import NaiveBayes
    >>> X = [[0.1, 0], [0.3, 2], [2.1, 5], [2.4, 7], [1.9, np.nan]]
    >>> model = NaiveBayes(distributions={"x1": "Poisson"}).fit(X, ["a", "a", "b", "b", "b"])
    >>> model.predict([[0.2, 1], [np.nan, 6]]).tolist()
    ['a', 'b']
    >>> model.distribution("b", 1).mean
    6.0
    """

    accepts = Accepts(target="class", sparse=False, missing=True)
    learns = NaiveBayesParameters
    shaping = ("distributions",)

    class_count_: Vector
    class_prior_: Vector
    families_: list[str]
    fitted_: list[Any]

    def __init__(
        self,
        *,
        distributions: str | dict[str, str] | list[str] | tuple[str, ...] = "Normal",
        alpha: NonNegative = 1.0,
        priors: NDArray[Any] | list[Any] | tuple[Any, ...] | None = None,
    ) -> None:
        self.distributions = distributions
        self.alpha = alpha
        self.priors = priors

    def check_loaded(self) -> None:
        """Refuse numbers that are no distribution."""
        fits = len(self.families_) == self.n_features_in_ and len(self.fitted_) == len(self.classes_)
        if not fits or any(len(columns) != len(self.families_) for columns in self.fitted_):
            raise FormatError("the file has not one distribution for each class and column.")
        try:
            self._made()
        except (SurefitError, TypeError, ValueError) as error:
            raise FormatError(f"the file holds numbers that are no distribution: {error}") from None

    def _of(self, schema: Schema) -> Callable[[Batch], RowSet]:
        return RowSet.of

    def _finish(self, statistic: RowSet, schema: Schema) -> Learned:
        assert schema.classes is not None
        if len(statistic) == 0:
            raise RefusalError("no row would be left: keep at least one.")
        families = self._families(schema)
        parameters = NaiveBayesParameters(schema.classes, *self._fit_rows(statistic, families, schema))
        evidence = {"class_weights": (schema.classes, parameters.class_count), "rows": len(statistic)}
        return Learned(parameters, _certificate(0.0, 0.0), evidence)

    def _families(self, schema: Schema) -> list[str]:
        names = schema.names or tuple(f"x{j}" for j in range(schema.width))
        given = self.distributions
        if isinstance(given, str):
            found = [given] * schema.width
        elif isinstance(given, dict):
            unknown = sorted(set(given) - set(names))
            if unknown:
                raise ParameterError(f"distributions names {unknown[0]!r}, which is not a column.")
            found = [given.get(name, "Normal") for name in names]
        else:
            found = list(given)
        if len(found) != schema.width:
            raise ParameterError(
                f"distributions has {len(found)} names for {schema.width} columns: give one a column."
            )
        for name in found:
            lookup(Distribution.kind, name)
        return found

    def _fit_rows(self, kept: RowSet, families: list[str], schema: Schema) -> tuple[Any, ...]:
        assert schema.classes is not None
        codes, K = kept.y.astype(np.int64), len(schema.classes)
        count = np.bincount(codes, kept.weight, K).astype(np.float64)
        prior = count / count.sum() if self.priors is None else given_prior(self.priors, K)
        fitted: list[list[Any]] = [[] for _ in range(K)]
        for j, name in enumerate(families):
            x = kept.X[:, j]
            there = ~np.isnan(x)
            self._refuse_outside(name, x[there], j)
            every = self._fit_column(name, x[there], kept.weight[there], x[there])
            for c in range(K):
                mine = there & (codes == c)
                own = self._fit_column(name, x[mine], kept.weight[mine], x[there]) if mine.any() else None
                fitted[c].append(every if own is None else own)
        return count, prior, families, fitted

    def _refuse_outside(self, name: str, x: Vector, j: int) -> None:
        if name in _COUNTED and ((x < 0) | (x != np.floor(x)) | ((x > 1) & (name == "Bernoulli"))).any():
            kind = "0 or 1" if name == "Bernoulli" else "codes 0, 1, 2, ..."
            raise DataError(f"column {j} is to be {name}, whose values are {kind}, but holds others.")

    def _fit_column(self, name: str, x: Vector, weight: Vector, every: Vector) -> dict[str, Any] | None:
        """The numbers of the distribution that suits some cells; None if there is none."""
        family: Any = lookup(Distribution.kind, name)
        try:
            if name in _COUNTED:
                size = 2 if name == "Bernoulli" else int(every.max(initial=0)) + 1
                x = np.concatenate([x, np.arange(size)])
                weight = np.concatenate([weight, np.full(size, float(self.alpha))])
                hints = {"categories": size} if name == "Categorical" else {}
                return dict(family.fit(x, weight, **hints).options)
            return dict(family.fit(x, weight).options)
        except (DataError, RefusalError, ParameterError, ArithmeticError):
            return None

    def _made(self) -> list[list[Any]]:
        families: list[Any] = [lookup(Distribution.kind, name) for name in self.families_]
        return [
            [None if o is None else family(**o) for family, o in zip(families, options, strict=True)]
            for options in self.fitted_
        ]

    def distribution(self, label: Any, column: int) -> Any:
        """Return the fitted distribution of a class and column; None where the column is left out."""
        return self._made()[int(np.flatnonzero(self.classes_ == label)[0])][column]

    def _joint(self, X: Any) -> Matrix:
        scores = np.tile(self._log_prior(), (len(X), 1))
        for c, columns in enumerate(self._made()):
            for j, density in enumerate(columns):
                if density is None:
                    continue
                x = np.asarray(X[:, j], dtype=np.float64)
                there = ~np.isnan(x)
                with np.errstate(divide="ignore"):
                    scores[there, c] += density.log_density(x[there])
        return scores

    def _log_prior(self) -> Vector:
        return log_of(self.class_prior_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, NDArray[Any]]:
        """Draw rows and their classes; a column that is left out is missing."""
        rng = np.random.default_rng(random_state)
        codes = np.searchsorted(np.cumsum(self.class_prior_) / self.class_prior_.sum(), rng.random(n_samples))
        X = np.full((n_samples, len(self.families_)), np.nan)
        for c, columns in enumerate(self._made()):
            mine = codes == c
            for j, density in enumerate(columns):
                if density is not None and mine.any():
                    X[mine, j] = density.sample(int(mine.sum()), int(rng.integers(2**31)))
        return X, self.classes_[codes]

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Fit the distributions again, to the rows in the order of their cells."""
        kept = engine.accumulate(RowSet.of, source)
        order = np.lexsort((*kept.X.T, kept.y))
        rows = RowSet(kept.X[order], kept.y[order], kept.weight[order])
        count, prior, families, fitted = self._fit_rows(rows, self._families(source.schema), source.schema)
        shares = float(
            max(np.abs(count - self.class_count_).max() / count.sum(), _gap(prior, self.class_prior_))
        )
        numbers = 0.0 if families == list(self.families_) else np.inf
        for mine, theirs in zip(self.fitted_, fitted, strict=True):
            for one, two in zip(mine, theirs, strict=True):
                numbers = max(numbers, _options_gap(one, two))
        return _certificate(shares, numbers)


def _gap(one: Any, two: Any) -> float:
    a, b = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    if a.shape != b.shape:
        return float("inf")
    return float(np.max(np.abs(a - b), initial=0.0)) / max(float(np.max(np.abs(b), initial=0.0)), 1e-3)


def _options_gap(one: Any, two: Any) -> float:
    if one is None or two is None:
        return 0.0 if one is two else float("inf")
    return max((_gap(one[name], two[name]) for name in two), default=0.0)


def _certificate(shares: float, numbers: float) -> Certificate:
    parts = {"share of a class": shares, "number of a distribution, relative": numbers}
    return Certificate(
        "exact", "largest change of a share or of a distribution's numbers", max(shares, numbers), 1e-6, parts
    )
