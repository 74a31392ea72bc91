"""The face of every mixture: what a component's share means, and the climb to the likeliest parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.checks.cells import check_weights
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.prepare.recompute import total_weight
from surefit.resample.streams import seed_of, stream
from surefit.solvers.likelihood.expectation_maximization import Climb, climb, gain_of

Theta: TypeAlias = Mapping[str, Any]  # the parameters of a mixture: arrays by name, "weights" among them
ROUNDING = 1e-13  # of a mean log-likelihood: what its sum loses
SAME = 1e-6  # what recomputing two steps may change parameters by, in units of their own spread
FAINT = 0.5  # the share from which on a row is a component's own


@dataclass(frozen=True, slots=True)
class MixtureParameters:
    """The share of each component, and how the climb went; ``lower_bounds`` is the mean log-likelihood."""

    weights: Vector
    converged: bool
    n_iter: int
    lower_bound: float
    lower_bounds: Vector


class MixtureModel(DensityMixin, Estimator, abstract=True):
    r"""Rows with density :math:`p(x) = \sum_k \pi_k p_k(x)`, climbed by expectation and maximisation."""

    accepts = Accepts(sparse=False)

    n_components: int
    tol: float
    max_iter: int
    n_init: int
    random_state: Any
    warm_start: bool

    weights_: Vector
    converged_: bool
    n_iter_: int
    lower_bound_: float
    lower_bounds_: Vector

    @abstractmethod
    def _start(self, source: Source, engine: Engine, rng_of: Callable[[int], Any]) -> Theta:
        """Where a climb begins; ``rng_of(task)`` is a stream of random numbers for each task."""

    @abstractmethod
    def _of(self, theta: Theta) -> Callable[[Batch], Any]:
        """From a batch to a sum with a ``likelihood``: one E-step."""

    def _likelihood(self, sums: Any) -> float:
        """The log-likelihood of all rows out of such a sum."""
        return float(sums.likelihood)

    @abstractmethod
    def _next(self, sums: Any, theta: Theta) -> Theta:
        """One M-step."""

    @abstractmethod
    def _joint(self, X: Any, theta: Theta) -> Matrix:
        """The logarithm of share times density, a column a component."""

    @abstractmethod
    def _fitted(self) -> Theta:
        """The parameters that were learnt."""

    @abstractmethod
    def _learned(self, theta: Theta, about: MixtureParameters) -> Any:
        """Parameters as the dataclass of ``learns``."""

    @abstractmethod
    def _plain_step(self, source: Source, engine: Engine, theta: Theta) -> tuple[float, Theta]:
        """Total log-likelihood and the next parameters, by plain arithmetic and no code of the fit."""

    @abstractmethod
    def _distance(self, one: Theta, two: Theta) -> float:
        """How far two sets of parameters are apart, in units of their own spread."""

    @abstractmethod
    def _free(self) -> float:
        """How many free parameters there are."""

    @abstractmethod
    def _draw(self, counts: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
        """So many rows of each component, one after the other."""

    def _iteration_limit(self) -> int | None:
        return None

    def _evidence(self, source: Source, engine: Engine, theta: Theta) -> Mapping[str, Any]:
        """What the rules of diagnosis look at."""
        return {}

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        rows = source.schema.rows
        if rows is not None and rows < self.n_components:
            raise DataError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {rows}"
            )
        weight = total_weight(source, engine)
        if not weight > 0:
            raise DataError("every sample_weight is zero, so no row counts: give at least one a weight.")
        self._check_starts(source.schema.width)
        again = self.warm_start and self.__sklearn_is_fitted__()
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        best: Climb[Theta] | None = None
        for attempt in range(1 if again else self.n_init):
            streams = partial(_stream_of, seed, attempt)
            start = self._fitted() if again else self._start(source, engine, streams)

            def step(theta: Theta) -> tuple[float, Theta]:
                sums = engine.accumulate(self._of(theta), source)
                return self._likelihood(sums) / weight, self._next(sums, theta)

            last = float(self.lower_bound_) if again else -np.inf
            found = climb(step, start, self.tol, self.max_iter, trace, last)
            if best is None or found.likelihoods[-1:] > best.likelihoods[-1:]:
                best = found
        assert best is not None
        return self._judged(best, source, engine)

    def _check_starts(self, width: int) -> None:
        """Refuse starts of the wrong shape."""

    def _judged(self, best: Climb[Theta], source: Source, engine: Engine) -> Learned:
        theta = best.parameters
        about = MixtureParameters(
            np.asarray(theta["weights"], dtype=np.float64),
            best.converged,
            len(best.likelihoods),
            best.likelihoods[-1] if best.likelihoods else -np.inf,
            np.array(best.likelihoods),
        )
        certificate = self._certificate(best.gain, 0.0, about, {**best.before, "bound": best.last})
        return Learned(self._learned(theta, about), certificate, self._evidence(source, engine, theta))

    def _certificate(
        self, gain: float, changed: float, about: MixtureParameters, before: Theta
    ) -> Certificate:
        """The last gain that was judged, relative to ``tol``, and what recomputing the steps changes."""
        bounds = about.lower_bounds
        size = abs(about.lower_bound) if len(bounds) else 1.0
        allowed = max(float(self.tol), ROUNDING * (1 + size))
        fall = max(0.0, -float(np.diff(bounds).min(initial=0.0)))
        parts = {
            "gain of log-likelihood per row by the last step": gain,
            "largest fall of log-likelihood per row": fall,
            "change by recomputing the last steps": changed,
        }
        judged = abs(gain) / allowed if about.n_iter > 0 else 0.0
        measure = "gain of log-likelihood by the last step, as a share of tol"
        return Certificate("stationary", measure, max(judged, changed / SAME), 1.0, parts, before)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Take the last steps again from where they began, and compare where they lead to."""
        witness = dict(self.certificate_.witness)
        last = float(witness.pop("bound", -np.inf))
        about = MixtureParameters(
            self.weights_, self.converged_, self.n_iter_, self.lower_bound_, np.asarray(self.lower_bounds_)
        )
        weight, theta = total_weight(source, engine), self._witnessed(witness)
        likelihoods = []
        for _ in range(min(2, self.n_iter_)):
            likelihood, theta = self._plain_step(source, engine, theta)
            likelihoods.append(likelihood / weight)
        changed = self._distance(self._fitted(), theta)
        if likelihoods:
            told = np.asarray(self.lower_bounds_)[-len(likelihoods) :]
            differ = np.abs(told - likelihoods) / (1 + np.abs(likelihoods))
            changed = max(changed, float(differ.max()), abs(self.lower_bound_ - likelihoods[-1]))
        gain = gain_of(likelihoods, last)
        return self._certificate(gain, changed, about, self.certificate_.witness)

    def _unproved(self, certificate: Certificate) -> str:
        return (
            f"{type(self).__name__}: Best performing initialization did not converge. Try different init "
            "parameters, or increase max_iter, tol, or check for degenerate data. "
            f"{certificate.statement}"
        )

    def _witnessed(self, witness: Mapping[str, Any]) -> Theta:
        """Parameters out of a certificate."""
        return witness

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Fit, and return the likeliest component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.int64]:
        """Return the likeliest component of each row, or write it ``to`` a file."""
        found: NDArray[np.int64] = self._answer(
            lambda rows: self._joint(rows, self._fitted()).argmax(axis=1), X, to, ["prediction"]
        )
        return found

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return the share of each component in each row, or write them ``to`` a file."""
        names = [str(k) for k in range(len(self.__dict__.get("weights_", ())))]
        found: Matrix = self._answer(self._shares, X, to, names)
        return found

    def _shares(self, X: Any) -> Matrix:
        joint = self._joint(X, self._fitted())
        high = joint.max(axis=1, keepdims=True)
        joint -= np.where(np.isfinite(high), high, 0.0)
        shares = np.exp(joint)
        total = shares.sum(axis=1, keepdims=True)
        # A row that no component can have produced gets the shares of all rows.
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), self.weights_)

    def score_samples(self, X: Any) -> Vector:
        """Return the log density of each row."""
        found: Vector = self._answer(
            lambda rows: logsumexp(self._joint(rows, self._fitted()), axis=1), X, infinite=True
        )
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of the rows."""
        found = self.score_samples(X)
        return float(np.average(found, weights=check_weights(sample_weight, len(found))))

    def _n_parameters(self) -> float:
        return self._free()

    def bic(self, X: Any) -> float:
        r"""Return :math:`-2 \log L + p \log n`; lower is better."""
        found = self.score_samples(X)
        return float(-2 * found.sum() + self._free() * np.log(len(found)))

    def aic(self, X: Any) -> float:
        r"""Return :math:`-2 \log L + 2p`; lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._free())

    def icl(self, X: Any) -> float:
        r"""Return the BIC plus twice the entropy of the shares: it wants components that are apart."""
        shares = self.predict_proba(X)
        return float(self.bic(X) - 2 * xlogy(shares, shares).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Matrix, NDArray[np.int64]]:
        """Draw rows, component after component, and the component of each."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ParameterError(
                f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample."
            )
        asked = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(seed_of(asked))
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        return self._draw(counts, rng), np.repeat(np.arange(len(counts)), counts)


def _stream_of(seed: int, attempt: int, task: int) -> np.random.Generator:
    return stream(seed, 1000 * attempt + task)


def log_weights(theta: Theta) -> Vector:
    """Logarithms of the shares; -inf for a component without any."""
    weights = np.asarray(theta["weights"], dtype=np.float64)
    return np.log(weights, out=np.full(len(weights), -np.inf), where=weights > 0)
