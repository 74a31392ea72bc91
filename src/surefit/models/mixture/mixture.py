"""Mixtures of any distribution of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.core.native.sums.mixture_sums import NormalMixture, mixture_scores
from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.registry import lookup
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.distributions.base import Distribution
from surefit.engine.base import Engine
from surefit.models.mixture.base import MixtureModel, MixtureParameters, Theta, log_weights
from surefit.models.mixture.normals import NONE_LOST, checked_weights
from surefit.models.mixture.starts import centres_by
from surefit.stats.base import Joint
from surefit.stats.shared_sums import SharedSums, shares_of

Given = NDArray[Any] | list[Any] | tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class DistributionMixtureParameters(MixtureParameters):
    """The names of the distributions' parameters; values with an entry for each component, and column."""

    parameter_names: tuple[str, ...]
    parameter_values: list[NDArray[np.float64]]


class Mixture(MixtureModel):
    r"""Rows from one of K distributions of one family: :math:`p(x) = \sum_k \pi_k p(x | \theta_k)`.

    of: the family, by its name or class, any of ``surefit.distributions`` that can be fitted. One of numbers
    is taken for each column, independent within a component; one of vectors for the whole row. known: the
    parameters that cannot be estimated, such as the ``trials`` of a binomial. ``components_`` are the fitted
    distributions, ``parameters_`` their parameters as arrays. parameters_init: where to begin, as
    ``parameters_`` are.

    >>> from surefit import Mixture
    >>> X = [[0], [1], [2], [1], [20], [22], [19], [24]]
    >>> model = Mixture(2, of="Poisson", random_state=0).fit(X)
    >>> sorted(model.parameters_["rate"].ravel().round(3).tolist())
    [1.0, 21.25]
    """

    learns = DistributionMixtureParameters

    parameter_names_: tuple[str, ...]
    parameter_values_: list[NDArray[np.float64]]

    def __init__(
        self,
        n_components: Count = 1,
        *,
        of: str | type = "Normal",
        known: dict[str, Any] | None = None,
        tol: Tolerance = 1e-6,
        max_iter: WholeNumber = 500,
        n_init: Count = 1,
        weights_init: Given = None,
        parameters_init: dict[str, Any] | None = None,
        random_state: RandomState = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.of = of
        self.known = known
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.weights_init = weights_init
        self.parameters_init = parameters_init
        self.random_state = random_state
        self.warm_start = warm_start

    @property
    def parameters_(self) -> dict[str, NDArray[np.float64]]:
        """The parameters of the distributions by name: an entry for each component, and each column."""
        return dict(zip(self.parameter_names_, self.parameter_values_, strict=True))

    @property
    def components_(self) -> list[Any]:
        """The distributions: one a component, or a list of one a column for distributions of numbers."""
        found = _members(self._family, self.parameters_)
        return found if self._by_rows(found) else [list(each) for each in found]

    @property
    def _family(self) -> type[Distribution]:
        family = lookup("distribution", self.of) if isinstance(self.of, str) else self.of
        if not (isinstance(family, type) and issubclass(family, Distribution)):
            raise ParameterError(f"Mixture: of={self.of!r} must be a distribution of surefit, or its name.")
        return family

    @staticmethod
    def _by_rows(found: list[Any]) -> bool:
        return not isinstance(found[0], tuple)

    def _start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        count = self.n_components
        if source.schema.rows == 1:
            raise DataError("n_samples = 1 is too few: a distribution is fitted to at least 2 rows.")
        weights = np.full(count, 1 / count)
        if self.weights_init is not None:
            weights = checked_weights(self.weights_init, count)
        if self.parameters_init is not None:
            given = {name: np.asarray(each, dtype=np.float64) for name, each in self.parameters_init.items()}
            _members(self._family, given)  # which refuses what is not allowed
            return {"weights": weights, **given}
        centres, spread = centres_by("kmeans", source, engine, count, rng_of)
        narrow = max(1e-6 * float(spread.mean()), np.finfo(np.float64).tiny)
        nearest = NormalMixture(centres, np.full(centres.shape, narrow**-0.5), np.zeros(count))
        of = partial(_sums, self._family, self.known or {}, partial(_near, nearest))
        return self._next(engine.accumulate(of, source), {"weights": weights})

    def _of(self, theta: Theta) -> Callable[[Batch], Any]:
        joint = partial(_joint_of, self._family, dict(theta))
        return partial(_sums, self._family, self.known or {}, joint)

    def _likelihood(self, sums: Any) -> float:
        return float(sums["shares"].likelihood)

    def _next(self, sums: Any, theta: Theta) -> Theta:
        weight = sums["shares"].weight + NONE_LOST
        known, family = self.known or {}, self._family
        found = {
            name: family.from_statistic(statistic, **known)
            for name, statistic in sums.members.items()
            if name != "shares"
        }
        by_component: list[list[Distribution]] = [[] for _ in weight]
        for name, member in found.items():
            by_component[int(name.partition(".")[0])].append(member)
        return {"weights": weight / weight.sum(), **_options(by_component)}

    def _joint(self, X: Any, theta: Theta) -> Matrix:
        return _joint_of(self._family, theta, X)

    def _fitted(self) -> Theta:
        return {"weights": self.weights_, **self.parameters_}

    def _learned(self, theta: Theta, about: MixtureParameters) -> DistributionMixtureParameters:
        own = {entry.name: getattr(about, entry.name) for entry in fields(about)}
        options = {name: np.asarray(value) for name, value in theta.items() if name != "weights"}
        return DistributionMixtureParameters(
            **own, parameter_names=tuple(options), parameter_values=list(options.values())
        )

    def _plain_step(self, source: Source, engine: Engine, theta: Theta) -> tuple[float, Theta]:
        """All at once: densities row by row, and each distribution fitted to all rows with their shares."""
        members = _members(self._family, {k: v for k, v in theta.items() if k != "weights"})
        found = list(engine.map(_rows_of, source))
        X, s = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
        joint = np.column_stack([_log_density(member, X) for member in members]) + log_weights(theta)
        shares, likelihood = shares_of(joint, s)
        weight = shares.sum(axis=0) + NONE_LOST
        known, refitted = self.known or {}, []
        for k, member in enumerate(members):
            columns = X.T if isinstance(member, tuple) else [X]
            refitted.append([self._family.fit(x, shares[:, k], **known) for x in columns])
        return likelihood, {"weights": weight / weight.sum(), **_options(refitted)}

    def _distance(self, one: Theta, two: Theta) -> float:
        if one.keys() != two.keys():
            return np.inf
        worst = 0.0
        for name in two:
            a, b = np.asarray(one[name], dtype=np.float64), np.asarray(two[name], dtype=np.float64)
            if a.shape != b.shape:
                return np.inf
            unit = np.abs(b) + 1e-3 * np.abs(b).max(initial=0.0) + 1e-12
            worst = max(worst, float((np.abs(a - b) / unit).max(initial=0.0)))
        return worst if np.isfinite(worst) else np.inf

    def _free(self) -> float:
        known = set(self.known or {})
        sizes = sum(np.size(value) for name, value in self.parameters_.items() if name not in known)
        return float(sizes + len(self.weights_) - 1)

    def _draw(self, counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
        blocks = []
        for member, rows in zip(_members(self._family, self.parameters_), counts, strict=True):
            if isinstance(member, tuple):
                blocks.append(np.column_stack([each.sample(int(rows), rng) for each in member]))
            else:
                blocks.append(np.asarray(member.sample(int(rows), rng)).reshape(int(rows), -1))
        return np.concatenate(blocks)

    def check_loaded(self) -> None:
        """Refuse parameters that are none of the family's, or of other sizes."""
        super().check_loaded()
        try:
            members = _members(self._family, self.parameters_)
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(f"the file's components are damaged: {error}") from None
        wide = len(members[0]) if isinstance(members[0], tuple) else self.n_features_in_
        if len(members) != len(self.weights_) or wide != self.n_features_in_:
            raise FormatError("the file's components do not fit together: it is damaged.")


def _members(family: type[Distribution], options: Mapping[str, Any]) -> list[Any]:
    """Distributions out of arrays: one a component, or a tuple of one a column."""
    arrays = {name: np.asarray(value, dtype=np.float64) for name, value in options.items()}
    if _of_numbers(family):
        shapes = {value.shape[:2] for value in arrays.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 2:
            raise ParameterError("each parameter needs an entry for each component and column.")
        ((count, width),) = shapes
        return [
            tuple(
                family(**{name: _plain(value[k, j]) for name, value in arrays.items()}) for j in range(width)
            )
            for k in range(count)
        ]
    counts = {len(value) for value in arrays.values()}
    if len(counts) != 1:
        raise ParameterError("each parameter needs an entry for each component.")
    return [family(**{name: _plain(value[k]) for name, value in arrays.items()}) for k in range(counts.pop())]


def _plain(value: Any) -> Any:
    """A number as Python has it, whole where it is; an array as it is."""
    if np.ndim(value):
        return value
    number = float(value)
    return int(number) if number.is_integer() else number


def _options(by_component: list[list[Distribution]]) -> dict[str, NDArray[np.float64]]:
    """Arrays out of distributions, a list of them a component."""
    names = list(by_component[0][0].options)
    found = {}
    for name in names:
        values = [
            [np.asarray(each.options[name], dtype=np.float64) for each in some] for some in by_component
        ]
        if len({value.shape for some in values for value in some}) > 1:
            raise RefusalError(
                f"the {name} of the components differ in size: use CategoricalMixture for columns of levels."
            )
        stacked = np.array(values)
        found[name] = stacked if _of_numbers(type(by_component[0][0])) else stacked[:, 0]
    return found


def _of_numbers(family: type[Distribution]) -> bool:
    return next(iter(family.cases())).event_shape == ()


def _log_density(member: Any, X: Any) -> Any:
    if isinstance(member, tuple):
        return sum(np.asarray(each.log_density(x)) for each, x in zip(member, X.T, strict=True))
    return np.asarray(member.log_density(X))


def _joint_of(family: type[Distribution], theta: Theta, X: Any) -> Matrix:
    X = np.asarray(X, dtype=np.float64)
    members = _members(family, {name: value for name, value in theta.items() if name != "weights"})
    found: Matrix = np.column_stack([_log_density(member, X) for member in members]) + log_weights(theta)
    return found


def _near(nearest: NormalMixture, X: Any) -> Matrix:
    return mixture_scores(np.ascontiguousarray(X), nearest)


def _sums(family: type[Distribution], known: dict[str, Any], joint: Any, batch: Batch) -> Joint:
    """The statistic of each distribution, each row with its share."""
    X: Any = np.asarray(batch.X, dtype=np.float64)
    shares, likelihood = shares_of(joint(X), batch.weight)
    columns = X.T if _of_numbers(family) else [X]
    members: dict[str, Any] = {
        "shares": SharedSums(len(batch), likelihood, shares.sum(axis=0), np.zeros((shares.shape[1], 0)))
    }
    for k in range(shares.shape[1]):
        for j, x in enumerate(columns):
            members[f"{k}.{j}"] = family.statistic(x, shares[:, k], **known)
    return Joint(members)


def _rows_of(batch: Batch) -> tuple[Any, Any]:
    X = np.asarray(batch.X, dtype=np.float64)
    return X, np.ones(len(X)) if batch.weight is None else batch.weight
