"""Links: the monotone maps between the mean of a target and the score z of a model.

``forward`` takes a mean to its score, ``inverse`` a score to its mean, ``derivative`` is dz/dmean at a mean,
``inverse_derivative`` is dmean/dz at a score and ``inverse_bend`` the second one. ``domain`` holds the means,
``range`` the scores. The inverse keeps all its digits far out: the logit of z = -700 has the mean exp(-700),
not 0.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from surefit.core.errors import RefusalError
from surefit.core.parameters import Interval
from surefit.core.registry import Registered
from surefit.losses.arrays import Array, reals
from surefit.losses.stable import sigmoid, sigmoid_slope

LINE = Interval()
HALF_LINE = Interval(0, None, open_low=True)
SEGMENT = Interval(0, 1, open_low=True, open_high=True)


class Link(Registered, kind="link", folder="surefit.losses"):
    """A monotone map from means to scores, with its inverse and the derivatives of both.

    >>> Logit().forward([0.5, 0.75]), Logit().inverse([0.0, np.log(3.0)])
    (array([0.        , 1.09861229]), array([0.5 , 0.75]))
    """

    domain: ClassVar[Interval] = LINE
    range: ClassVar[Interval] = LINE
    two_roots: ClassVar[bool] = False  # whether -z has the mean of z

    @abstractmethod
    def forward(self, mean: Any) -> Array:
        """Return the score of a mean."""

    @abstractmethod
    def inverse(self, z: Any) -> Array:
        """Return the mean of a score."""

    @abstractmethod
    def derivative(self, mean: Any) -> Array:
        """Return dz/dmean at a mean."""

    @abstractmethod
    def inverse_derivative(self, z: Any) -> Array:
        """Return dmean/dz at a score."""

    def inverse_bend(self, z: Any) -> Array:
        """Return the second derivative of the mean at a score."""
        raise RefusalError(f"{type(self).__name__} has no second derivative of one number.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Identity(Link):
    """The score is the mean."""

    name = "identity"

    def forward(self, mean: Any) -> Array:
        """Return the mean."""
        return reals(mean)

    def inverse(self, z: Any) -> Array:
        """Return z."""
        return reals(z)

    def derivative(self, mean: Any) -> Array:
        """Return 1."""
        return np.ones_like(reals(mean))

    def inverse_derivative(self, z: Any) -> Array:
        """Return 1."""
        return np.ones_like(reals(z))

    def inverse_bend(self, z: Any) -> Array:
        """Return 0."""
        return np.zeros_like(reals(z))


class Log(Link):
    """z = log(mean), for means above 0."""

    name = "log"
    domain = HALF_LINE

    def forward(self, mean: Any) -> Array:
        """Return log(mean)."""
        with np.errstate(divide="ignore"):
            return np.log(reals(mean))

    def inverse(self, z: Any) -> Array:
        """Return exp(z)."""
        with np.errstate(over="ignore"):
            return np.exp(reals(z))

    def derivative(self, mean: Any) -> Array:
        """Return 1 / mean."""
        return 1.0 / reals(mean)

    def inverse_derivative(self, z: Any) -> Array:
        """Return exp(z)."""
        return self.inverse(z)

    def inverse_bend(self, z: Any) -> Array:
        """Return exp(z)."""
        return self.inverse(z)


class Logit(Link):
    """z = log(mean / (1 - mean)), for probabilities."""

    name = "logit"
    domain = SEGMENT

    def forward(self, mean: Any) -> Array:
        """Return the logarithm of the odds."""
        mean = reals(mean)
        with np.errstate(divide="ignore"):
            # Around one half the two logarithms cancel; there the odds are 1 + a small number.
            near = np.abs(mean - 0.5) < 0.25
            return np.where(
                near,
                np.log1p((2.0 * mean - 1.0) / np.where(near, 1.0 - mean, 1.0)),
                np.log(mean) - np.log1p(-mean),
            )

    def inverse(self, z: Any) -> Array:
        """Return 1 / (1 + exp(-z))."""
        return sigmoid(reals(z))

    def derivative(self, mean: Any) -> Array:
        """Return 1 / (mean (1 - mean))."""
        mean = reals(mean)
        return 1.0 / (mean * (1.0 - mean))

    def inverse_derivative(self, z: Any) -> Array:
        """Return p (1 - p), with p the mean."""
        return sigmoid_slope(reals(z))

    def inverse_bend(self, z: Any) -> Array:
        """Return p (1 - p) (1 - 2 p)."""
        z = reals(z)
        return sigmoid_slope(z) * -np.tanh(0.5 * z)


class MultinomialLogit(Link):
    """Probabilities of K classes to scores that add up to 0; adding a constant to all scores changes nothing.

    Its derivatives are matrices, (n, K, K). That of ``inverse`` is diag(p) - p p', and ``derivative`` is its
    generalised inverse: the identity less the mean over classes, times diag(1 / p).
    """

    name = "multinomial_logit"
    domain = SEGMENT

    def forward(self, mean: Any) -> Array:
        """Return the centred logarithms."""
        with np.errstate(divide="ignore"):
            z = np.log(reals(mean))
        return z - z.mean(axis=-1, keepdims=True)

    def inverse(self, z: Any) -> Array:
        """Return softmax(z)."""
        z = reals(z)
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def derivative(self, mean: Any) -> Array:
        """Return (I - 11'/K) diag(1 / p)."""
        mean = reals(mean)
        classes = mean.shape[-1]
        return (np.eye(classes) - 1.0 / classes) / mean[..., None, :]

    def inverse_derivative(self, z: Any) -> Array:
        """Return diag(p) - p p'."""
        p = self.inverse(z)
        return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])


class Probit(Link):
    """The quantile of the normal distribution, for probabilities."""

    name = "probit"
    domain = SEGMENT

    def forward(self, mean: Any) -> Array:
        """Return the normal quantile."""
        from scipy.special import ndtri

        return np.asarray(ndtri(np.asarray(mean, dtype=np.float64)))

    def inverse(self, z: Any) -> Array:
        """Return the normal distribution function."""
        from scipy.special import ndtr

        return np.asarray(ndtr(np.asarray(z, dtype=np.float64)))

    def derivative(self, mean: Any) -> Array:
        """Return 1 / density(z)."""
        return 1.0 / self.inverse_derivative(self.forward(mean))

    def inverse_derivative(self, z: Any) -> Array:
        """Return the normal density."""
        return np.exp(-0.5 * reals(z) ** 2) / np.sqrt(2.0 * np.pi)

    def inverse_bend(self, z: Any) -> Array:
        """Return -z times the normal density."""
        return -reals(z) * self.inverse_derivative(z)


class ComplementaryLogLog(Link):
    """z = log(-log(1 - mean)), for probabilities: a hazard that is proportional."""

    name = "cloglog"
    domain = SEGMENT

    def forward(self, mean: Any) -> Array:
        """Return log(-log(1 - mean))."""
        with np.errstate(divide="ignore"):
            return np.log(-np.log1p(-reals(mean)))

    def inverse(self, z: Any) -> Array:
        """Return 1 - exp(-exp(z))."""
        with np.errstate(over="ignore"):
            return -np.expm1(-np.exp(reals(z)))

    def derivative(self, mean: Any) -> Array:
        """Return -1 / ((1 - mean) log(1 - mean))."""
        mean = reals(mean)
        return -1.0 / ((1.0 - mean) * np.log1p(-mean))

    def inverse_derivative(self, z: Any) -> Array:
        """Return exp(z - exp(z))."""
        z = reals(z)
        with np.errstate(over="ignore"):
            return np.exp(z - np.exp(z))

    def inverse_bend(self, z: Any) -> Array:
        """Return (1 - exp(z)) exp(z - exp(z))."""
        z = np.minimum(reals(z), 700.0)
        return -np.expm1(z) * self.inverse_derivative(z)


class Inverse(Link):
    """z = 1 / mean, for means above 0; canonical for the gamma distribution but for its sign."""

    name = "inverse"
    domain = HALF_LINE
    range = HALF_LINE

    def forward(self, mean: Any) -> Array:
        """Return 1 / mean."""
        return 1.0 / reals(mean)

    def inverse(self, z: Any) -> Array:
        """Return 1 / z."""
        return 1.0 / reals(z)

    def derivative(self, mean: Any) -> Array:
        """Return -1 / mean^2."""
        return -1.0 / reals(mean) ** 2

    def inverse_derivative(self, z: Any) -> Array:
        """Return -1 / z^2."""
        return -1.0 / reals(z) ** 2

    def inverse_bend(self, z: Any) -> Array:
        """Return 2 / z^3."""
        return 2.0 / reals(z) ** 3


class InverseSquared(Link):
    """z = 1 / mean^2, for means above 0; canonical for the inverse Gaussian but for its factor."""

    name = "inverse_squared"
    domain = HALF_LINE
    range = HALF_LINE

    def forward(self, mean: Any) -> Array:
        """Return 1 / mean^2."""
        return 1.0 / reals(mean) ** 2

    def inverse(self, z: Any) -> Array:
        """Return 1 / sqrt(z)."""
        return 1.0 / np.sqrt(reals(z))

    def derivative(self, mean: Any) -> Array:
        """Return -2 / mean^3."""
        return -2.0 / reals(mean) ** 3

    def inverse_derivative(self, z: Any) -> Array:
        """Return -1 / (2 z^1.5)."""
        return -0.5 / reals(z) ** 1.5

    def inverse_bend(self, z: Any) -> Array:
        """Return 3 / (4 z^2.5)."""
        return 0.75 / reals(z) ** 2.5


class SquareRoot(Link):
    """z = sqrt(mean), for means above 0; it makes the variance of counts nearly constant.

    A score below 0 has a mean as well, that of the other root.
    """

    name = "sqrt"
    domain = HALF_LINE
    range = HALF_LINE
    two_roots = True

    def forward(self, mean: Any) -> Array:
        """Return sqrt(mean)."""
        return np.sqrt(reals(mean))

    def inverse(self, z: Any) -> Array:
        """Return z^2."""
        return reals(z) ** 2

    def derivative(self, mean: Any) -> Array:
        """Return 1 / (2 sqrt(mean))."""
        return 0.5 / np.sqrt(reals(mean))

    def inverse_derivative(self, z: Any) -> Array:
        """Return 2 z."""
        return 2.0 * reals(z)

    def inverse_bend(self, z: Any) -> Array:
        """Return 2."""
        return np.full_like(reals(z), 2.0)


class Power(Link):
    """z = mean^exponent, for means above 0; the logarithm stands where the exponent would be 0."""

    name = "power"
    domain = HALF_LINE
    range = HALF_LINE

    def __init__(self, exponent: float = 0.25) -> None:
        self.exponent = exponent

    def forward(self, mean: Any) -> Array:
        """Return mean^exponent."""
        return np.asarray(reals(mean) ** self.exponent)

    def inverse(self, z: Any) -> Array:
        """Return z^(1 / exponent)."""
        return np.asarray(reals(z) ** (1.0 / self.exponent))

    def derivative(self, mean: Any) -> Array:
        """Return exponent mean^(exponent - 1)."""
        return np.asarray(self.exponent * reals(mean) ** (self.exponent - 1.0))

    def inverse_derivative(self, z: Any) -> Array:
        """Return z^(1 / exponent - 1) / exponent."""
        return np.asarray(reals(z) ** (1.0 / self.exponent - 1.0) / self.exponent)

    def inverse_bend(self, z: Any) -> Array:
        """Return its derivative."""
        a = 1.0 / self.exponent
        return np.asarray(a * (a - 1.0) * reals(z) ** (a - 2.0))

    def __repr__(self) -> str:
        return f"Power({self.exponent:g})"


def link_named(name: str | float) -> Link:
    """Return a link by its name, or a power of the mean by its exponent.

    >>> link_named("log"), link_named(0), link_named(-2.0)
    (Log(), Log(), Power(-2))
    """
    if not isinstance(name, str):
        return Log() if name == 0 else Power(float(name))
    from surefit.core.registry import lookup

    found: Link = lookup("link", name)()  # type: ignore[assignment]
    return found
