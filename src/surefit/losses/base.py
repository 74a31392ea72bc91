"""The contract of a loss."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np

from surefit.core.errors import DataError, RefusalError
from surefit.core.parameters import Interval, validate, values_of
from surefit.core.registry import Registered
from surefit.losses.arrays import Array, reals, weights_of
from surefit.losses.cases import Case, scores, targets
from surefit.losses.links import Identity, Link
from surefit.losses.root_finding import increasing_root

Task = Literal["regression", "binary", "multiclass", "ordinal"]


class Loss(Registered, kind="loss", folder="surefit.losses"):
    r"""A function :math:`f(y, z)` of one target and its score, for many rows at once.

    task: what y is. link: the mean of y is ``link.inverse(z)``; the identity where z is a score and no mean.
    z is (n,), or (n, K) for K outputs, whose losses add up; y has the same shape, unless a class says
    otherwise.

    A loss may also have ``conjugate(y, u)``, the supremum over z of u z - f(y, z), which is inf outside its
    domain, and ``prox(y, v, step)``, the z that minimises step f(y, z) + (z - v)^2 / 2. They are missing
    where there is no safe way to compute them. ``divergence`` marks a loss whose Fenchel gap is the
    Kullback-Leibler divergence of the shares or means that slopes stand for. ``kernel`` names the loss to the
    native code that adds it up over dense rows (:mod:`surefit.stats.loss_kernels`), which is faster and
    gives the same; ``kernel_options`` are the numbers that it needs.

    >>> from surefit.losses import Logistic
    >>> loss = Logistic()
    >>> loss.value([0, 1], [0.0, 800.0]), loss.gradient([0, 1], [0.0, 800.0])
    (array([0.69314718, 0.        ]), array([0.5, 0. ]))
    """

    task: ClassVar[Task] = "regression"
    link: ClassVar[Link] = Identity()
    kernel: ClassVar[str | None] = None

    def __init__(self) -> None:
        pass

    @property
    def domain(self) -> Interval:
        """The targets that are allowed."""
        return Interval()

    @property
    def convex(self) -> bool:
        """Whether f is convex in z for every y of the domain."""
        return True

    @property
    def smooth(self) -> bool:
        """Whether f has a derivative everywhere."""
        return True

    @property
    def curvature_kind(self) -> Literal["exact", "majorant"]:
        """What ``curvature`` is: the second derivative, or a c with f(z + d) <= f(z) + f'(z) d + c d^2/2."""
        return "exact"

    @property
    def smoothness(self) -> float | None:
        """A bound on the absolute curvature for all y and z; None where there is none."""
        return None

    @property
    def kernel_options(self) -> tuple[float, ...]:
        """The numbers that the kernel needs."""
        return ()

    @property
    def nuisance(self) -> tuple[str, ...]:
        """The parameters that can be estimated together with z."""
        return ()

    @abstractmethod
    def value(self, y: Any, z: Any) -> Array:
        """Return f, one number a row."""

    @abstractmethod
    def gradient(self, y: Any, z: Any) -> Array:
        """Return the derivative by z, in its shape; at a kink, an element of the subdifferential."""

    @abstractmethod
    def curvature(self, y: Any, z: Any) -> Array:
        """Return the curvature of the declared kind, in the shape of z, or (n, K, K) for coupled outputs."""

    def value_and_gradient(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return both; a loss whose value and gradient share an exponential takes it once."""
        return self.value(y, z), self.gradient(y, z)

    def least(self, y: Any) -> Array:
        """Return the infimum of f over z, one number a row; 0 where no conjugate tells."""
        y = reals(y)
        conjugate = getattr(self, "conjugate", None)
        if conjugate is None or not self.convex:
            return np.zeros(len(y))
        return np.asarray(-conjugate(y, np.zeros_like(y)))

    def excess(self, y: Any, z: Any, u: Any) -> Array:
        """Return f + f* - u z, which is 0 where u is a slope at z and positive elsewhere."""
        z, u = reals(z), reals(u)
        product = z * u if z.ndim == 1 else (z * u).sum(axis=1)
        conjugate: Any = self.conjugate  # type: ignore[attr-defined]
        return np.asarray(np.maximum(self.value(y, z) + conjugate(y, u) - product, 0.0))

    def subdifferential(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return the least and the greatest slope of f at z; both are the gradient where there is one."""
        slope = self.gradient(y, z)
        return slope, slope

    def check(self, y: Any) -> None:
        """Raise an error that names the first bad parameter, or the first row whose target is not allowed."""
        validate(self)
        y = reals(y)
        self._refuse(y, ~self._allowed(y), f"numbers in {self.domain}")

    def best_constant(self, y: Any, weight: Any = None) -> Any:
        """Return the z that is best for all rows alike, one number an output; infinite if none is finite."""
        y = reals(y)
        s = weights_of(weight, len(y))
        if y.ndim == 1:
            return self._best_constant(y, s)
        return np.array([self._best_constant(column, s) for column in y.T])

    def _best_constant(self, y: Array, s: Array) -> float:
        def slope(b: Array) -> tuple[Array, Array]:
            at = np.broadcast_to(b, y.shape)
            return (s @ self.gradient(y, at))[None], (s @ self.curvature(y, at))[None]

        return float(increasing_root(slope, np.zeros(1))[0])

    def nuisance_gradient(self, y: Any, z: Any) -> dict[str, Array]:
        """Return the derivative of f by each nuisance parameter: (n,), or (n, m) for m numbers."""
        raise RefusalError(f"the {self.name} loss has no nuisance parameter to differentiate by.")

    def replaced(self, **options: Any) -> Self:
        """Return a copy with other parameters, such as a new estimate of a nuisance."""
        other = copy.copy(self)
        for name, option in options.items():
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise RefusalError(f"the {self.name} loss has no parameter {name!r}; it has {known}.")
            setattr(other, name, option)
        return other

    @property
    def options(self) -> dict[str, Any]:
        """The parameters by name."""
        return values_of(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def variants(cls) -> Iterator[Self]:
        """Yield the losses of this class that the laws try: one for each way its options matter."""
        yield cls()

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Yield targets and scores for the laws, the scores as far out as 800."""
        for loss in cls.variants():
            y = targets(loss.domain, rng)
            yield Case(loss, y, scores(len(y), rng))

    def _allowed(self, y: Array) -> Any:
        low, high = self.domain.low, self.domain.high
        allowed = np.isfinite(y)
        if low is not None:
            allowed &= (y > low) if self.domain.open_low else (y >= low)
        if high is not None:
            allowed &= (y < high) if self.domain.open_high else (y <= high)
        return allowed

    def _refuse(self, y: Array, wrong: Any, wanted: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1) if wrong.ndim == 2 else wrong))
            raise DataError(
                f"y[{row}] is {y[row].tolist()}, but the {self.name} loss "
                f"takes {wanted}: correct the target, or choose another loss."
            )
