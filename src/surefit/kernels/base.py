"""The contract of a kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import parameters_of, validate, values_of
from surefit.core.registry import Registered, lookup
from surefit.kernels.rows import as_rows, same_width

Bounds = tuple[Any, ...] | list[Any] | np.ndarray[Any, Any] | Literal["fixed"]
WIDE: Bounds = (1e-5, 1e5)  # where a search for the best value looks, if nobody says otherwise
CASE_COLUMNS = 3  # of the rows that the kernels of `cases` are made for
DEEPEST = 64  # kernels inside of kernels, which a model file can hold


@dataclass(frozen=True)
class NativeKernel:
    """What compiled code needs of a kernel: which of the plain ones it is, on rows that are scaled first.

    scale: None, a factor a column (d,), or a matrix (d, r) that rows are multiplied with.
    """

    kind: Literal["linear", "poly", "rbf", "sigmoid", "laplacian"]
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 1.0
    scale: np.ndarray[Any, Any] | None = None

    def scaled(self, X: Any) -> Any:
        """The rows that the plain kernel compares."""
        if self.scale is None:
            return X
        return X * self.scale if self.scale.ndim == 1 else X @ self.scale


@dataclass(frozen=True)
class FreeParameter:
    """A positive parameter that can be learnt: its name, the bounds of its values, and how many it has."""

    name: str
    bounds: Any  # (n_elements, 2), or "fixed"
    n_elements: int
    fixed: bool
    value_type: str = "numeric"


class Kernel(Registered, kind="kernel", folder="surefit.kernels"):
    r"""A function of two objects that says how alike they are.

    mercer: whether it is positive semi-definite by construction. takes: what it compares, which is rows of
    numbers, a sequence of any objects, or a matrix of its own values. free: its positive parameters that can
    be learnt; each has ``<name>_bounds`` beside it and a ``_slope``. Parameters are checked when it is made.

    It speaks the protocol of the kernels in ``sklearn.gaussian_process``, so that it can be used there.

    >>> from surefit.kernels.rbf import RBF
    >>> RBF(length_scale=1.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    mercer: bool = True
    takes: Literal["rows", "objects", "gram"] = "rows"
    free: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        pass

    # --- values ---

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return k(X, Y), or k(X, X) without Y; with ``eval_gradient`` also its slopes by ``theta``."""
        left, right = self._inputs(X), None if Y is None else self._inputs(Y)
        if self.takes == "rows" and right is not None:
            same_width(left, right, type(self).__name__)
        if not eval_gradient:
            return self._gram(left, right)
        if right is not None:
            raise DataError("the gradient of a kernel is that of k(X, X): leave Y out.")
        K = self._gram(left, None)
        return K, self._gradient(left, K)

    def _inputs(self, X: Any) -> Any:
        """Return what ``_gram`` may be given: checked once."""
        if self.takes == "rows":
            return as_rows(X, type(self).__name__)
        return as_objects(X, type(self).__name__) if self.takes == "objects" else X

    def _gram(self, X: Any, Y: Any) -> Matrix:
        """Return k(X, Y) of checked inputs; Y may be None, and then the values are exactly symmetric."""
        raise NotImplementedError

    def _slope(self, name: str, X: Any, K: Matrix) -> Matrix:
        """Return dK / d log(parameter), (n, n) or (n, n, elements), at K = k(X, X)."""
        raise NotImplementedError

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        """Return the slopes (n, n, n_dims) by all free parameters, in the order of ``theta``."""
        slopes = [self._slope(entry.name, X, K) for entry in self._own_free() if not entry.fixed]
        layers = [slope[:, :, None] if slope.ndim == 2 else slope for slope in slopes]
        return np.concatenate([np.empty((*K.shape, 0)), *layers], axis=2)

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) of every object, without the matrix."""
        return self._diagonal(self._inputs(X))

    def _diagonal(self, X: Any) -> Vector:
        return np.array([self._gram(X[i : i + 1], None)[0, 0] for i in range(length(X))])

    def diag(self, X: Any) -> Vector:
        """Return the same as ``diagonal``, under scikit-learn's name."""
        return self.diagonal(X)

    def distance(self, X: Any, Y: Any = None, *, squared: bool = False) -> Matrix:
        r"""Return how far apart the images of X and Y are in the kernel's feature space.

        .. math:: d(x, y)^2 = k(x, x) + k(y, y) - 2 k(x, y)

        >>> from surefit.kernels.linear import Linear
        >>> Linear().distance([[0.0, 0.0]], [[3.0, 4.0]])
        array([[5.]])
        """
        left = self.diagonal(X)
        right = left if Y is None else self.diagonal(Y)
        found = left[:, None] + right[None, :] - 2 * self(X, Y)
        # What is below 0 is a rounding, or has no distance, as with kernels that are indefinite.
        np.maximum(found, 0.0, out=found)
        if Y is None:
            np.fill_diagonal(found, 0.0)
        return found if squared else np.sqrt(found)

    def native(self) -> NativeKernel | None:
        """Return what compiled code needs, or None where the kernel is evaluated in Python alone."""
        return None

    # --- parameters ---

    def _check(self) -> None:
        """Check the parameters; every ``__init__`` ends with it."""
        validate(self)
        for name in self.free:
            _checked_bounds(type(self).__name__, name, getattr(self, f"{name}_bounds"))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return values_of(self)

    def parts(self) -> dict[str, Kernel]:
        """The kernels that it is made of, by the name of the parameter that holds them."""
        return {name: value for name, value in self.parameters.items() if isinstance(value, Kernel)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` those of the parts as ``k1__length_scale``."""
        found = self.parameters
        if deep:
            for name, part in self.parts().items():
                found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, those of the parts under ``k1__length_scale``; refused ones change
        nothing.
        """
        own: dict[str, Any] = {}
        inner: dict[str, dict[str, Any]] = {}
        declared = self.parameters
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in declared or (rest and name not in self.parts()):
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {key!r}; it has "
                    f"{', '.join(self.get_params()) or 'none'}."
                )
            if rest:
                inner.setdefault(name, {})[rest] = value
            else:
                own[name] = value
        before = copy.copy(self.__dict__)
        try:
            self.__dict__.update(own)
            self._check()
            for name, values in inner.items():
                part: Kernel = getattr(self, name)
                if name not in own:  # a copy, so that an error leaves the part as it was
                    part = copy.copy(part)
                    setattr(self, name, part)
                part.set_params(**values)
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def copied(self) -> Self:
        """Return an equal kernel whose parts are its own."""
        made = copy.copy(self)
        for name, part in self.parts().items():
            setattr(made, name, part.copied())
        return made

    def replace(self, **changes: Any) -> Self:
        """Return the same kernel with other values of some parameters."""
        return self.copied().set_params(**changes)

    def _own_free(self) -> list[FreeParameter]:
        found = []
        for name in sorted(self.free):
            value, bounds = np.asarray(getattr(self, name), dtype=float), getattr(self, f"{name}_bounds")
            # A value of 0 has no logarithm to be learnt; it stays as it is.
            fixed = isinstance(bounds, str) or bool((value <= 0).any())
            rows = "fixed" if fixed else np.broadcast_to(np.atleast_2d(bounds), (max(value.size, 1), 2))
            found.append(FreeParameter(name, rows, max(value.size, 1), fixed))
        return found

    @property
    def hyperparameters(self) -> list[FreeParameter]:
        """The parameters that can be learnt, those of the parts after its own."""
        found = self._own_free()
        for prefix, part in self.parts().items():
            found += [
                FreeParameter(f"{prefix}__{each.name}", each.bounds, each.n_elements, each.fixed)
                for each in part.hyperparameters
            ]
        return found

    @property
    def theta(self) -> Vector:
        """The logarithms of the free parameters, in the order of ``hyperparameters``."""
        values = self.get_params()
        free = [np.ravel(values[each.name]) for each in self.hyperparameters if not each.fixed]
        return np.log(np.concatenate(free, dtype=np.float64)) if free else np.empty(0)

    @theta.setter
    def theta(self, theta: Any) -> None:
        theta = np.asarray(theta, dtype=np.float64)
        values, now, start = self.get_params(), {}, 0
        for each in self.hyperparameters:
            if not each.fixed:
                numbers = np.exp(theta[start : start + each.n_elements])
                now[each.name] = float(numbers[0]) if np.ndim(values[each.name]) == 0 else numbers
                start += each.n_elements
        if start != len(theta):
            raise ParameterError(f"theta must have {start} entries, one a free parameter, not {len(theta)}.")
        self.set_params(**now)

    @property
    def bounds(self) -> Matrix:
        """The logarithms of the bounds (n_dims, 2), in the order of ``theta``."""
        rows = [each.bounds for each in self.hyperparameters if not each.fixed]
        return np.log(np.vstack(rows)) if rows else np.empty((0, 2))

    @property
    def n_dims(self) -> int:
        """How many entries ``theta`` has."""
        return sum(each.n_elements for each in self.hyperparameters if not each.fixed)

    def clone_with_theta(self, theta: Any) -> Self:
        """Return a copy with other values of the free parameters."""
        made = self.copied()
        made.theta = theta
        return made

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone."""
        return False

    @property
    def requires_vector_input(self) -> bool:
        """Whether it compares rows of numbers alone."""
        return self.takes == "rows"

    def warn_at_bounds(self) -> None:
        """Warn where a learnt value stands at its bound."""
        SklearnKernel._check_bounds_params(self)

    def _check_bounds_params(self) -> None:
        """Do the same under the name by which scikit-learn's processes call it after a fit."""
        self.warn_at_bounds()

    # --- algebra ---

    def __add__(self, other: Any) -> Kernel:
        return _combined("sum", self, other)

    def __radd__(self, other: Any) -> Kernel:
        return _combined("sum", other, self)

    def __mul__(self, other: Any) -> Kernel:
        return _combined("product", self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return _combined("product", other, self)

    def __pow__(self, exponent: float) -> Kernel:
        return _made("power", self, exponent)

    def __sub__(self, other: Any) -> Kernel:
        raise RefusalError(
            "the difference of two kernels need not be positive semi-definite, so it is no kernel: "
            "kernels.FromFunction(lambda x, y: ...) takes any function, and check_mercer tests it on data."
        )

    __rsub__ = __sub__

    def __neg__(self) -> Kernel:
        raise RefusalError("a kernel times a negative number is no kernel: its Gram matrix is not positive.")

    def exp(self) -> Kernel:
        """Return exp(k), which is a kernel where k is one."""
        return _made("exponential", self)

    def normalized(self) -> Kernel:
        r"""Return :math:`k(x, y) / \sqrt{k(x, x) k(y, y)}`: the cosine in the feature space."""
        return _made("normalized", self)

    def compose(self, function: Any, *, vectorized: bool = False) -> Kernel:
        """Return k(f(x), f(y)), for f of one object; of all rows at once if ``vectorized``."""
        return _made("composed", self, function, vectorized)

    def scaled_by(self, function: Any, *, vectorized: bool = False) -> Kernel:
        """Return f(x) k(x, y) f(y), for f that gives one real number an object."""
        return _made("scaled", self, function, vectorized)

    def polynomial(self, coefficients: Any) -> Kernel:
        """Return c0 + c1 k + c2 k^2 + ..., for coefficients that are not negative."""
        terms = [
            _made("constant", c)
            if power == 0
            else _combined("product", c, self**power if power > 1 else self)
            for power, c in enumerate(coefficients)
            if c != 0
        ]
        if not terms:
            raise ParameterError("polynomial needs a coefficient that is not 0.")
        found: Kernel = terms[0]
        for term in terms[1:]:
            found = found + term.copied()
        return found

    # --- as a value ---

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        theirs = values_of(other)
        return all(_same(value, theirs[name]) for name, value in self.parameters.items())

    def __hash__(self) -> int:
        return hash((type(self), *(_hashable(value) for value in self.parameters.values())))

    def __repr__(self) -> str:
        shown, named = [], False
        cls: Any = type(self)
        for name, parameter in parameters_of(cls).items():
            value = getattr(self, name)
            if _same(value, parameter.default):
                named = True
            else:
                shown.append(
                    _text(value)
                    if parameter.default is Parameter.empty and not named
                    else f"{name}={_text(value)}"
                )
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def depth(self) -> int:
        """How many kernels deep it is made of others."""
        return 1 + max((part.depth for part in self.parts().values()), default=0)

    @classmethod
    def named(cls, parameters: Mapping[str, Any], columns: int | None) -> Self:
        """Make it out of scikit-learn's gamma, coef0 and degree; columns: how many X has."""
        return cls(**parameters)

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls()

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make n objects that it can compare, for the laws."""
        for part in self.parts().values():
            return part.examples(rng, n)
        return rng.normal(size=(n, CASE_COLUMNS))


SklearnKernel.register(Kernel)  # so that scikit-learn's Gaussian processes take ours


def length(X: Any) -> int:
    """How many objects X holds."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def float_type(X: Any) -> Any:
    """The type of floats that values of a kernel on X have: float32 for rows of it, else float64."""
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64


def as_objects(X: Any, owner: str) -> Any:
    """Return a sequence of objects that can be counted, indexed and cut."""
    if isinstance(X, str | bytes) or not hasattr(X, "__len__") or not hasattr(X, "__getitem__"):
        raise DataError(f"{owner} compares the objects of a sequence, and X is {_text(X)[:60]}: give a list.")
    if hasattr(X, "iloc"):
        return X.to_numpy()
    return X if isinstance(X, list | tuple | np.ndarray) or hasattr(X, "shape") else list(X)


def as_part(value: Any) -> Kernel:
    """Return a kernel that algebra can use: a number is a constant one, one of scikit-learn's is wrapped."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, Real):
        if not float(value) >= 0:
            raise RefusalError(
                f"a kernel times or plus {value} need not be positive semi-definite, so it is no kernel: "
                "factors and summands must be at least 0."
            )
        return _made("constant", float(value))
    if isinstance(value, SklearnKernel):
        return _made("foreign", value)
    raise ParameterError(
        f"kernels combine with kernels and numbers, not with {_text(value)[:60]}: as_kernel makes one."
    )


def _combined(name: str, one: Any, two: Any) -> Kernel:
    first, second = as_part(one), as_part(two)
    return _made(name, first, second.copied() if second is first else second)


def _made(name: str, *arguments: Any) -> Kernel:
    cls: Any = lookup("kernel", name)
    made: Kernel = cls(*arguments)
    return made


def _checked_bounds(owner: str, name: str, bounds: Any) -> None:
    if isinstance(bounds, str):
        return
    array = np.asarray(bounds, dtype=np.float64)
    if array.ndim not in (1, 2) or array.shape[-1] != 2 or not (array[..., 0] <= array[..., 1]).all():
        raise ParameterError(
            f"{owner}: {name}_bounds={_text(bounds)} is not allowed; it must be 'fixed' or a pair "
            "(lower, upper) of positive numbers."
        )
    if not (array >= 0).all():
        raise ParameterError(f"{owner}: {name}_bounds must be positive numbers, not {_text(bounds)}.")


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, Kernel) or isinstance(two, Kernel) or callable(one) or callable(two):
        return bool(one is two or one == two)
    try:
        return bool(np.array_equal(one, two))
    except (TypeError, ValueError):
        return bool(one == two)


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return tuple(np.ravel(np.asarray(value, dtype=object)).tolist())
    return value


def _text(value: Any) -> str:
    """The value as Python would read it."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value)
