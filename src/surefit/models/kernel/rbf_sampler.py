"""Random waves whose inner products are nearly the Gaussian kernel's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.parameters import Count, Positive, RandomState
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.kernels import RBF, Kernel
from surefit.models.base import Learned
from surefit.models.kernel.base import by_bands, seed_in_use
from surefit.models.kernel.nystroem import FeatureRows, diagonal_error
from surefit.resample.streams import stream


@dataclass(frozen=True, slots=True)
class RBFSamplerParameters:
    """Directions (p, k) and offsets (k,) of the waves, the seed they came from, and the mean error."""

    random_weights: Matrix
    random_offset: Vector
    seed: int
    error: float


class RBFSampler(FeatureRows):
    r"""Features :math:`\sqrt{2/D} \cos(w_j'x + b_j)`, with :math:`E \phi(x)'\phi(y) = e^{-\gamma |x - y|^2}`.

    gamma: of the kernel, a number, or "scale" for one over columns times variance. n_components: how many
    waves D; the error of an inner product falls as :math:`1 / \sqrt D`. ``error_`` is the mean of
    :math:`||\phi(x)|^2 - 1|` over the rows.

    >>> from surefit import RBFSampler
    >>> X = [[0.0, 0.0], [1.0, 1.0]]
    >>> Z = RBFSampler(gamma=0.5, n_components=10000, random_state=0).fit_transform(X)
    >>> abs(float(Z[0] @ Z[1]) - 0.3679) < 0.02
    True
    """

    accepts = Accepts(target="none")
    learns = RBFSamplerParameters
    kernel = "rbf"

    random_weights_: Matrix
    random_offset_: Vector
    seed_: int
    error_: float

    def __init__(
        self,
        *,
        gamma: Literal["scale"] | Positive = 1.0,
        n_components: Count = 100,
        random_state: RandomState = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _width(self, source: Source, engine: Engine) -> float:
        """The kernel's gamma."""
        if self.gamma != "scale":
            return float(self.gamma)
        from surefit.stats.spread import Spread

        found = engine.accumulate(Spread.of, source)
        mean = found.mean.mean()
        weight = float(np.asarray(found.weight).max())
        variance = float((found.scatter / weight + (found.mean - mean) ** 2).mean())
        return 1 / (len(found.mean) * variance) if variance > 0 else 1.0

    def _drawn(self, columns: int, seed: int, gamma: float) -> tuple[Matrix, Vector]:
        rng = stream(seed, 0)
        waves = (2 * gamma) ** 0.5 * rng.standard_normal((columns, self.n_components))
        return waves, rng.uniform(0, 2 * np.pi, self.n_components)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        seed = seed_in_use(self.random_state)
        gamma = self._width(source, engine)
        weights, offset = self._drawn(source.schema.width, seed, gamma)
        error = diagonal_error(source, engine, _unit(gamma), lambda X: waves_of(X, weights, offset))
        parameters = RBFSamplerParameters(weights, offset, seed, error.mean)
        self._schema = source.schema
        return Learned(parameters, self._proof(0.0, 0.0, error.mean), {"rows": error.rows})

    @staticmethod
    def _proof(drawn: float, stated: float, mean: float) -> Certificate:
        parts = {"waves, drawn again": drawn, "mean error of k(x, x)": stated}
        measure = "change of the waves when drawn again, and of the mean error"
        return Certificate("measured", measure, max(parts.values()), 1e-9, {**parts, "error": mean})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        gamma = self._width(source, engine)
        weights, offset = self._drawn(source.schema.width, self.seed_, gamma)
        change = max(
            float(np.abs(weights - self.random_weights_).max() / np.abs(weights).max()),
            float(np.abs(offset - self.random_offset_).max()),
        )
        error = diagonal_error(source, engine, _unit(gamma), self._waves)
        return self._proof(change, abs(error.mean - self.error_), error.mean)

    def _waves(self, X: Any) -> Matrix:
        return waves_of(X, self.random_weights_, self.random_offset_)

    def _features(self, X: Any) -> Matrix:
        found: Matrix = by_bands(self._waves, X, len(self.random_offset_))
        narrow = not sparse.issparse(X) and getattr(X, "dtype", None) == np.float32
        return found.astype(np.float32) if narrow else found

    @property
    def _n_features_out(self) -> int:
        return len(self.random_offset_)


def _unit(gamma: float) -> Kernel:
    return RBF.from_gamma(gamma)


def waves_of(X: Any, weights: Matrix, offset: Vector) -> Matrix:
    """Return the heights of all waves at each row."""
    found = np.asarray(X @ weights + offset, dtype=np.float64)
    np.cos(found, out=found)
    found *= (2 / len(offset)) ** 0.5
    return found
