"""Mixtures of normal distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import FormatError
from surefit.core.native.sums.mixture_sums import NormalMixture, mixture_scores_twin
from surefit.core.parameters import Count, NonNegative, RandomState, Tolerance, WholeNumber
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.mixture.base import FAINT, MixtureModel, MixtureParameters, Theta
from surefit.models.mixture.normals import (
    NONE_LOST,
    Form,
    as_mixture,
    checked_means,
    checked_precisions,
    checked_weights,
    covariances_of,
    covariances_of_factors,
    factors_of,
    factors_of_precisions,
    finished,
    is_diagonal,
)
from surefit.models.mixture.starts import centres_by
from surefit.stats.component_moments import ComponentMoments, component_scores

Given = NDArray[Any] | list[Any] | tuple[Any, ...] | None
COLLAPSED = 1e-4  # of the deviation of all rows in the same direction: a component as narrow as that
LISTED = 10  # rows named as those of a collapsed component


@dataclass(frozen=True, slots=True)
class GaussianMixtureParameters(MixtureParameters):
    """Means, covariances and upper triangular factors of their inverses."""

    means: Matrix
    covariances: NDArray[np.float64]
    precisions_cholesky: NDArray[np.float64]


class GaussianMixture(MixtureModel):
    r"""Rows from one of K normal distributions: :math:`p(x) = \sum_k \pi_k N(x | \mu_k, \Sigma_k)`.

    covariance_type: each component its own matrix ("full"), one for all ("tied"), independent columns
    ("diag"), or one variance each ("spherical"). reg_covar is added to every variance, so that no component
    can shrink to a point. init_params: begin at centres of k-means, at centres far apart ("k-means++"), at
    random rows or with random shares; weights_init, means_init and precisions_init override it. n_init climbs
    are tried and the highest kept. tol: the gain of mean log-likelihood at which a climb ends.

    Missing cells are integrated out: a row counts with the cells that it has. Weights are frequencies. The
    certificate says what the last step gained, and ``verify`` takes the last steps again.

    >>> from surefit import GaussianMixture
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = GaussianMixture(2, random_state=0, reg_covar=0, tol=1e-9).fit(X)
    >>> sorted(model.means_.ravel().round(6).tolist()), round(4 * model.score(X), 6)
    ([0.5, 9.5], -5.675754)
    """

    accepts = Accepts(sparse=False, missing=True)
    learns = GaussianMixtureParameters

    means_: Matrix
    covariances_: NDArray[np.float64]
    precisions_cholesky_: NDArray[np.float64]

    def __init__(
        self,
        n_components: Count = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        tol: Tolerance = 1e-3,
        reg_covar: NonNegative = 1e-6,
        max_iter: WholeNumber = 100,
        n_init: Count = 1,
        init_params: Literal["kmeans", "random", "random_from_data", "k-means++"] = "kmeans",
        weights_init: Given = None,
        means_init: Given = None,
        precisions_init: Given = None,
        random_state: RandomState = None,
        warm_start: bool = False,
        verbose: WholeNumber | bool = 0,
        verbose_interval: Count = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    @property
    def precisions_(self) -> NDArray[np.float64]:
        """The inverse of each covariance."""
        factors = self.precisions_cholesky_
        if is_diagonal(self._form):
            return factors**2
        found: NDArray[np.float64] = factors @ np.swapaxes(factors, -1, -2)
        return found

    @property
    def _form(self) -> Form:
        return self.covariance_type

    def _check_starts(self, width: int) -> None:
        count = self.n_components
        if self.weights_init is not None:
            checked_weights(self.weights_init, count)
        if self.means_init is not None:
            checked_means(self.means_init, count, width)
        if self.precisions_init is not None:
            checked_precisions(self.precisions_init, self._form, count, width)

    def _start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        count, width = self.n_components, source.schema.width
        given = (self.weights_init, self.means_init, self.precisions_init)
        theta: dict[str, Any] = {}
        if any(value is None for value in given):
            theta = dict(self._found_start(source, engine, rng_of))
        if self.weights_init is not None:
            theta["weights"] = checked_weights(self.weights_init, count)
        if self.means_init is not None:
            theta["means"] = checked_means(self.means_init, count, width)
        if self.precisions_init is not None:
            precisions = checked_precisions(self.precisions_init, self._form, count, width)
            theta["factors"] = factors_of_precisions(precisions, self._form)
            theta["covariances"] = covariances_of_factors(theta["factors"], self._form)
        return theta

    def _found_start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        """Parameters of the shares that the start gives."""
        count, diagonal = self.n_components, is_diagonal(self._form)
        how = "random_from_data" if self.init_params == "random" else self.init_params
        centres, spread = centres_by(how, source, engine, count, rng_of)
        floor = max(float(self.reg_covar), 1e-12 * float(spread.mean()), np.finfo(np.float64).tiny)
        if self.init_params == "random":
            seed = int(rng_of(2).integers(2**31))
            of = partial(_random_shares, seed, count, np.array(centres.mean(axis=0)), diagonal)
            return finished(engine.accumulate(of, source), self._form, floor)
        # Shares of rows under narrow densities of one width: each row to the centre next to it.
        narrow = max(1e-6 * float(spread.mean()), np.finfo(np.float64).tiny)
        factors = np.full(centres.shape, narrow**-0.5)
        if not diagonal:
            factors = np.stack([np.diag(factor) for factor in factors])
        nearest = NormalMixture(centres, factors, np.zeros(count))
        moments = engine.accumulate(partial(ComponentMoments.of, mixture=nearest), source)
        return finished(moments, self._form, floor)

    def _of(self, theta: Theta) -> Callable[[Batch], ComponentMoments]:
        return partial(ComponentMoments.of, mixture=as_mixture(theta, self._form))

    def _next(self, sums: ComponentMoments, theta: Theta) -> Theta:
        return finished(sums, self._form, self.reg_covar)

    def _joint(self, X: Any, theta: Theta) -> Matrix:
        return component_scores(X, as_mixture(theta, self._form))

    def _fitted(self) -> Theta:
        return {
            "weights": self.weights_,
            "means": self.means_,
            "covariances": self.covariances_,
            "factors": self.precisions_cholesky_,
        }

    def _learned(self, theta: Theta, about: MixtureParameters) -> GaussianMixtureParameters:
        own = {entry.name: getattr(about, entry.name) for entry in fields(about)}
        return GaussianMixtureParameters(
            **own,
            means=np.asarray(theta["means"]),
            covariances=np.asarray(theta["covariances"]),
            precisions_cholesky=np.asarray(theta["factors"]),
        )

    def _plain_step(self, source: Source, engine: Engine, theta: Theta) -> tuple[float, Theta]:
        mixture = as_mixture(theta, self._form)
        found = list(engine.map(partial(_plain_shares, mixture), source))
        likelihood = float(sum(each.likelihood for each in found))
        moments = found[0]
        for more in found[1:]:
            moments = moments + more
        weight = moments.weight + NONE_LOST
        covariances = covariances_of(moments.scatter, weight, self._form, self.reg_covar)
        following = {
            "weights": weight / weight.sum(),
            "means": moments.mean,
            "covariances": covariances,
            "factors": factors_of(covariances, self._form),
        }
        return likelihood, following

    def _distance(self, one: Theta, two: Theta) -> float:
        a, b = np.asarray(one["covariances"]), np.asarray(two["covariances"])
        if a.shape != b.shape or np.shape(one["means"]) != np.shape(two["means"]):
            return np.inf
        width = np.shape(two["means"])[1]
        variances = b if is_diagonal(self._form) else np.einsum("...ii->...i", b)
        if is_diagonal(self._form):
            unit = variances
        else:
            unit = np.sqrt(variances)[..., :, None] * np.sqrt(variances)[..., None, :]
        spread = np.sqrt(variances[:, None] if self._form == "spherical" else variances)
        steps = [
            np.abs(np.asarray(one["weights"]) - two["weights"]),
            np.abs(np.asarray(one["means"]) - two["means"]) / (spread + 1e-7 * np.abs(two["means"])),
            np.abs(a - b) / unit,
        ]
        factors = np.asarray(one["factors"])
        if is_diagonal(self._form):
            steps.append(np.abs(factors**2 * a - 1))
        else:
            steps.append(np.abs(np.swapaxes(factors, -1, -2) @ a @ factors - np.eye(width)))
        worst = max(float(np.max(step, initial=0.0)) for step in steps)
        return worst if np.isfinite(worst) else np.inf

    def _free(self) -> float:
        count, width = self.means_.shape
        of_covariance = {
            "full": count * width * (width + 1) / 2,
            "tied": width * (width + 1) / 2,
            "diag": count * width,
            "spherical": count,
        }
        return float(of_covariance[self._form] + count * width + count - 1)

    def _draw(self, counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
        blocks = []
        for k, (mean, rows) in enumerate(zip(self.means_, counts, strict=True)):
            noise = rng.standard_normal((int(rows), len(mean)))
            if is_diagonal(self._form):
                blocks.append(mean + noise * np.sqrt(self.covariances_[k]))
            else:
                covariance = self.covariances_ if self._form == "tied" else self.covariances_[k]
                blocks.append(mean + noise @ np.linalg.cholesky(covariance).T)
        return np.vstack(blocks)

    def _evidence(self, source: Source, engine: Engine, theta: Theta) -> Mapping[str, Any]:
        """How narrow each component is beside all rows, and the rows of those that are no wider than a
        point.
        """
        means, weights = np.asarray(theta["means"]), np.asarray(theta["weights"])
        factors = np.asarray(theta["factors"])
        centre = weights @ means
        within = np.asarray(theta["covariances"])
        variances = within if is_diagonal(self._form) else np.einsum("...ii->...i", within)
        if self._form == "spherical":
            variances = variances[:, None]
        variances = np.broadcast_to(variances, means.shape)
        overall = np.sqrt(weights @ (variances + (means - centre) ** 2))
        unit = np.where(overall > 0, overall, 1.0)
        narrow = np.empty(len(weights))
        for k in range(len(weights)):
            if is_diagonal(self._form):
                narrow[k] = float(np.min(np.sqrt(variances[k]) / unit))
            else:
                factor = factors if self._form == "tied" else factors[k]
                narrow[k] = 1 / np.linalg.norm(unit[:, None] * factor, 2)
        rows: dict[int, tuple[int, ...]] = {}
        own = (narrow < COLLAPSED) & (weights < 1)
        if own.any() and len(weights) > 1:
            found = list(engine.map(partial(_rows_of, as_mixture(theta, self._form), own), source))
            for each in np.flatnonzero(own).tolist():
                rows[each] = tuple(row for part in found for row in part[each])[:LISTED]
        return {"component_widths": narrow, "component_weights": weights, "component_rows": rows}

    def check_loaded(self) -> None:
        """Refuse arrays that do not belong together."""
        super().check_loaded()
        count, width = self.means_.shape if self.means_.ndim == 2 else (-1, -1)
        shapes: dict[Form, tuple[int, ...]] = {
            "full": (count, width, width),
            "tied": (width, width),
            "diag": (count, width),
            "spherical": (count,),
        }
        wanted = shapes[self._form]
        if (
            width != self.n_features_in_
            or self.weights_.shape != (count,)
            or self.covariances_.shape != wanted
            or self.precisions_cholesky_.shape != wanted
        ):
            raise FormatError("the file's components do not fit together: it is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _random_shares(seed: int, count: int, centre: Any, diagonal: bool, batch: Batch) -> ComponentMoments:
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(batch.start,))))
    X: Any = np.asarray(batch.X, dtype=np.float64)
    shares = rng.random((len(batch), count))
    shares /= shares.sum(axis=1, keepdims=True)
    if batch.weight is not None:
        shares *= batch.weight[:, None]
    return ComponentMoments.shared(np.where(np.isnan(X), centre, X), shares, centre, diagonal=diagonal)


def _plain_shares(mixture: NormalMixture, batch: Batch) -> ComponentMoments:
    """The moments of a batch by whole matrices; rows with gaps by patterns, one row at a time."""
    X: Any = np.asarray(batch.X, dtype=np.float64)
    s = np.ones(len(X)) if batch.weight is None else batch.weight
    X, s = X[s > 0], s[s > 0]
    if np.isnan(X).any():
        return ComponentMoments.of(Batch(X[::-1].copy(), None, s[::-1].copy()), mixture=mixture)
    joint = mixture_scores_twin(X, mixture)
    high = joint.max(axis=1, keepdims=True) if len(X) else joint[:, :1]
    logs = (high + np.log(np.exp(joint - high).sum(axis=1, keepdims=True)))[:, 0]
    shares = s[:, None] * np.exp(joint - logs[:, None])
    total = shares.sum(axis=0)
    here = total > 0
    means, scatter = mixture.mean.copy(), np.zeros(mixture.factor.shape)
    for k in np.flatnonzero(here):
        means[k] = mixture.mean[k] + shares[:, k] @ (X - mixture.mean[k]) / total[k]
        deviation = X - means[k]
        if mixture.diagonal:
            scatter[k] = shares[:, k] @ deviation**2
        else:
            scatter[k] = (shares[:, k, None] * deviation).T @ deviation
    return ComponentMoments(len(X), float(s @ logs), total, means, scatter)


def _rows_of(mixture: NormalMixture, own: Any, batch: Batch) -> dict[int, list[int]]:
    """The rows, by number, that belong to some components."""
    scores = component_scores(np.asarray(batch.X), mixture)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return {
        int(k): (batch.start + np.flatnonzero(shares[:, k] > FAINT)[:LISTED]).tolist()
        for k in np.flatnonzero(own)
    }
