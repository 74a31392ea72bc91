"""The rules that make kernels of kernels: each keeps them positive semi-definite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Self

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Interval
from surefit.kernels.base import DEEPEST, Kernel, NativeKernel, as_objects
from surefit.kernels.constant import Constant
from surefit.kernels.linear import Linear
from surefit.kernels.mapped import factors, mapped_objects
from surefit.kernels.rbf import RBF
from surefit.kernels.rows import as_rows

Part = Annotated[Kernel, "a kernel"]


class Combined(Kernel):
    """Base of kernels that are made of others."""

    @property
    def mercer(self) -> bool:  # type: ignore[override]
        """Whether all parts are positive semi-definite, which the rule keeps."""
        return all(part.mercer for part in self.parts().values())

    @property
    def takes(self) -> Any:  # type: ignore[override]
        """What all parts can compare."""
        kinds = {part.takes for part in self.parts().values() if not isinstance(part, Constant)}
        return "gram" if "gram" in kinds else "rows" if "rows" in kinds else "objects"

    def _check(self) -> None:
        super()._check()
        kinds = {part.takes for part in self.parts().values() if not isinstance(part, Constant)}
        if "gram" in kinds and len(kinds) > 1:
            raise ParameterError(
                "a precomputed kernel has values alone and cannot be combined with one that compares rows: "
                "compute both Gram matrices and combine those."
            )
        if self.depth > DEEPEST:
            raise ParameterError(f"a kernel can be made of others up to {DEEPEST} levels deep.")

    def _inputs(self, X: Any) -> Any:
        # Parts check their own inputs, once each; here it is enough to have something with rows.
        return (
            X
            if self.takes == "gram"
            else as_rows(X, type(self).__name__)
            if self.takes == "rows"
            else (as_objects(X, type(self).__name__))
        )

    def is_stationary(self) -> bool:
        """Whether all parts depend on x - y alone."""
        return all(part.is_stationary() for part in self.parts().values())

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n objects that the most particular part can compare."""
        order = {"gram": 0, "rows": 1, "objects": 2}
        parts = [part for part in self.parts().values() if not isinstance(part, Constant)]
        first = min(parts or list(self.parts().values()), key=lambda part: order[part.takes])
        return first.examples(rng, n)


class Pair(Combined):
    """Base of sums and products."""

    k1: Kernel
    k2: Kernel
    sign: str
    binds: int

    def __repr__(self) -> str:
        texts = []
        for side, part, other in ((0, self.k1, self.k2), (1, self.k2, self.k1)):
            plain = isinstance(part, Constant) and part == Constant(part.constant_value)
            if plain and not isinstance(other, Constant):
                texts.append(repr(float(part.constant_value)))  # type: ignore[attr-defined]
            else:
                # Python groups to the left, so the right side of an equal operator needs its brackets.
                loose = strength(part) < self.binds + side
                texts.append(f"({part!r})" if loose else repr(part))
        return f" {self.sign} ".join(texts)

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        (K1, slopes1), (K2, slopes2) = (part(X, eval_gradient=True) for part in (self.k1, self.k2))
        return self._joined(K1, K2, slopes1, slopes2)

    def _joined(self, K1: Matrix, K2: Matrix, slopes1: Matrix, slopes2: Matrix) -> Matrix:
        raise NotImplementedError


class Sum(Pair):
    """The sum of two kernels, whose feature spaces are put side by side; made by ``k1 + k2``.

    >>> (Linear() + 1)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    name = "sum"
    sign, binds = "+", 1

    def __init__(self, k1: Part, k2: Part) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return np.asarray(self.k1(X, Y) + self.k2(X, Y))

    def _diagonal(self, X: Any) -> Vector:
        return np.asarray(self.k1.diagonal(X) + self.k2.diagonal(X))

    def _joined(self, K1: Matrix, K2: Matrix, slopes1: Matrix, slopes2: Matrix) -> Matrix:
        return np.concatenate([slopes1, slopes2], axis=2)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(RBF(0.7), Linear())
        yield cls(Constant(2.0), RBF([0.5, 1.0, 2.0]))


class Product(Pair):
    """The product of two kernels, whose features are all products of one of each; made by ``k1 * k2``.

    >>> (2 * Linear())([[1.0, 2.0]], [[3.0, 4.0]])
    array([[22.]])
    """

    name = "product"
    sign, binds = "*", 2

    def __init__(self, k1: Part, k2: Part) -> None:
        self.k1 = k1
        self.k2 = k2
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return np.asarray(self.k1(X, Y) * self.k2(X, Y))

    def _diagonal(self, X: Any) -> Vector:
        return np.asarray(self.k1.diagonal(X) * self.k2.diagonal(X))

    def _joined(self, K1: Matrix, K2: Matrix, slopes1: Matrix, slopes2: Matrix) -> Matrix:
        return np.concatenate([slopes1 * K2[:, :, None], slopes2 * K1[:, :, None]], axis=2)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(RBF(0.7), Linear())
        yield cls(Constant(0.5), RBF(2.0))


class Power(Combined):
    """A kernel to a whole power, which is a product with itself; made by ``k ** n``.

    Other exponents are taken, but not declared positive semi-definite.

    >>> (Linear() ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    name = "power"

    def __init__(self, kernel: Part, exponent: Annotated[float, Interval(0, None)]) -> None:
        self.kernel = kernel
        self.exponent = exponent
        self._check()

    @property
    def mercer(self) -> bool:  # type: ignore[override]
        """Whether the kernel is positive semi-definite and the exponent whole."""
        return self.kernel.mercer and float(self.exponent).is_integer()

    def _raised(self, K: Any, exponent: float) -> Any:
        return K ** (int(exponent) if float(exponent).is_integer() and exponent >= 0 else exponent)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        found: Matrix = self._raised(self.kernel(X, Y), self.exponent)
        return found

    def _diagonal(self, X: Any) -> Vector:
        found: Vector = self._raised(self.kernel.diagonal(X), self.exponent)
        return found

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        inner, slopes = self.kernel(X, eval_gradient=True)
        if self.exponent == 0:
            return np.zeros_like(slopes)
        found: Matrix = self.exponent * self._raised(inner, self.exponent - 1)[:, :, None] * slopes
        return found

    def __repr__(self) -> str:
        inner = repr(self.kernel) if strength(self.kernel) > 3 else f"({self.kernel!r})"
        return f"{inner} ** {self.exponent!r}"

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(Linear(), 2)
        yield cls(RBF(0.7) + 1, 3)


class Exponential(Combined):
    """exp(k), a sum of powers with positive coefficients; made by ``k.exp()``.

    >>> Linear().exp()([[0.0]], [[3.0]])
    array([[1.]])
    """

    name = "exponential"

    def __init__(self, kernel: Part) -> None:
        self.kernel = kernel
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return self._finite(self.kernel(X, Y))

    def _diagonal(self, X: Any) -> Vector:
        return self._finite(self.kernel.diagonal(X))

    def _finite(self, values: Any) -> Any:
        with np.errstate(over="ignore"):
            found = np.exp(values)
        if not np.isfinite(found).all():
            raise DataError(
                f"the exponential of a kernel whose values reach {np.max(values):g} is beyond the range of "
                "floats: scale the kernel down first, as in (0.01 * k).exp()."
            )
        return found

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        _, slopes = self.kernel(X, eval_gradient=True)
        found: Matrix = K[:, :, None] * slopes
        return found

    def __repr__(self) -> str:
        return f"{called(self.kernel)}.exp()"

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(RBF(0.7))
        yield cls(0.3 * Linear())


class Normalized(Combined):
    r"""A kernel divided by the lengths in its feature space, so that k(x, x) = 1; made by ``k.normalized()``.

    .. math:: k(x, y) / \sqrt{k(x, x) \, k(y, y)}

    An object of length 0 has no direction: its values with others are 0.

    >>> Linear().normalized()([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.98386991]])
    """

    name = "normalized"

    def __init__(self, kernel: Part) -> None:
        self.kernel = kernel
        self._check()

    def _lengths(self, X: Any) -> Vector:
        squares = np.asarray(self.kernel.diagonal(X))
        if (squares < 0).any():
            raise DataError(
                "k(x, x) is negative for some objects, so they have no length to divide by: "
                "normalise positive semi-definite kernels only."
            )
        lengths = np.sqrt(squares)
        return np.where(lengths > 0, lengths, 1.0)

    def _gram(self, X: Any, Y: Any) -> Matrix:
        left = self._lengths(X)
        found = self.kernel(X, Y) / np.outer(left, left if Y is None else self._lengths(Y))
        if Y is None:
            np.fill_diagonal(found, np.where(np.diagonal(found) > 0, 1.0, 0.0))
        return np.asarray(found)

    def _diagonal(self, X: Any) -> Vector:
        return np.where(np.asarray(self.kernel.diagonal(X)) > 0, 1.0, 0.0)

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        _, slopes = self.kernel(X, eval_gradient=True)
        lengths = self._lengths(X)
        by_length = np.einsum("iit->it", slopes) / (2 * lengths**2)[:, None]  # of log |x|
        scaled = slopes / np.outer(lengths, lengths)[:, :, None]
        found: Matrix = scaled - K[:, :, None] * (by_length[:, None, :] + by_length[None, :, :])
        return found

    def __repr__(self) -> str:
        return f"{called(self.kernel)}.normalized()"

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(Linear())
        yield cls(Linear() + 0.5 * RBF(0.7))


class Composed(Combined):
    """A kernel of what a function makes of the objects, k(f(x), f(y)); made by ``k.compose(f)``.

    >>> Linear().compose(lambda x: x**2)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[73.]])
    """

    name = "composed"
    takes = "objects"

    def __init__(self, kernel: Part, function: Callable[[Any], Any], vectorized: bool = False) -> None:
        self.kernel = kernel
        self.function = function
        self.vectorized = vectorized
        self._check()

    def _images(self, X: Any) -> Any:
        made = mapped_objects(self.function, X, self.vectorized)
        if self.kernel.takes == "rows" and isinstance(made, list) and made and np.ndim(made[0]) == 0:
            return np.asarray(made, dtype=np.float64)[:, None]
        return made

    def _gram(self, X: Any, Y: Any) -> Matrix:
        found: Matrix = self.kernel(self._images(X), None if Y is None else self._images(Y))
        return found

    def _diagonal(self, X: Any) -> Vector:
        return self.kernel.diagonal(self._images(X))

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        _, slopes = self.kernel(self._images(X), eval_gradient=True)
        found: Matrix = slopes
        return found

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: that depends on the function, so it is not said."""
        return False

    def native(self) -> NativeKernel | None:
        """Return None: the function is Python."""
        return None

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(RBF(0.7), np.tanh)
        yield cls(RBF(0.7), np.sum)
        yield cls(RBF(0.7), np.tanh, vectorized=True)


class Scaled(Combined):
    """A kernel between two factors, f(x) k(x, y) f(y), for any real function f; made by ``k.scaled_by(f)``.

    >>> Linear().scaled_by(lambda x: x[0])([[1.0, 2.0]], [[3.0, 4.0]])
    array([[33.]])
    """

    name = "scaled"

    def __init__(self, kernel: Part, function: Callable[[Any], Any], vectorized: bool = False) -> None:
        self.kernel = kernel
        self.function = function
        self.vectorized = vectorized
        self._check()

    def _gram(self, X: Any, Y: Any) -> Matrix:
        left = factors(self.function, X, self.vectorized)
        right = left if Y is None else factors(self.function, Y, self.vectorized)
        return np.asarray(self.kernel(X, Y) * np.outer(left, right))

    def _diagonal(self, X: Any) -> Vector:
        return np.asarray(self.kernel.diagonal(X) * factors(self.function, X, self.vectorized) ** 2)

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        _, slopes = self.kernel(X, eval_gradient=True)
        left = factors(self.function, X, self.vectorized)
        found: Matrix = slopes * np.outer(left, left)[:, :, None]
        return found

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone: it does not."""
        return False

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(RBF(0.7), np.sum)


def strength(kernel: Kernel) -> int:
    """How tightly the text of a kernel is held together: sum, product, power, then calls."""
    return kernel.binds if isinstance(kernel, Pair) else 3 if isinstance(kernel, Power) else 4


def called(kernel: Kernel) -> str:
    """The text of a kernel that a method is called on."""
    return repr(kernel) if strength(kernel) == 4 else f"({kernel!r})"
