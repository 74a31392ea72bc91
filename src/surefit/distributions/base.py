"""The contract of a distribution."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NoReturn, Self, TypeAlias

import numpy as np

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.parameters import Interval, Parameter, parameters_of, validate
from surefit.core.registry import Registered
from surefit.data.batches.batch import Batch
from surefit.losses.arrays import Array as Array
from surefit.losses.arrays import weights_of
from surefit.stats.base import Statistic
from surefit.stats.spread import Spread

Method = Literal["likelihood", "moments"]
Real = Annotated[float, Interval()]
Numbers: TypeAlias = Any  # a sequence or an array, checked by the class that takes it


class Distribution(Registered, kind="distribution", folder="surefit.distributions", named_by_class=True):
    r"""A probability distribution: a frozen value, whose fields are its parameters.

    It is fitted through a statistic that adds up: ``fit(x)`` is ``from_statistic(statistic(x))``, and the
    statistics of pieces may be joined by ``+`` before. ``known`` names the parameters that ``fit`` cannot
    find and must be given.

    >>> from surefit.distributions import Normal
    >>> Normal.fit([1.0, 2.0, 6.0])
    Normal(mean=3.0, scale=2.160246899469287)
    >>> Normal.from_statistic(Normal.statistic([1.0]) + Normal.statistic([2.0, 6.0])).mean
    3.0
    """

    known: ClassVar[tuple[str, ...]] = ()
    hints: ClassVar[tuple[str, ...]] = ()  # what ``fit`` may be told besides parameters

    def __post_init__(self) -> None:
        validate(self)
        for name, parameter in self._parameters().items():
            value = getattr(self, name)
            kinds = {alternative.type for alternative in parameter.alternatives}
            if kinds & {int, float}:
                if not math.isfinite(value):
                    refuse_parameter(self, name, "it must be finite")
                object.__setattr__(self, name, float(value) if float in kinds else int(value))
        self._prepare()

    def _prepare(self) -> None:
        """Check what no interval can say, and make arrays of sequences."""

    @classmethod
    def _parameters(cls) -> Mapping[str, Parameter]:
        kind: Any = cls
        return parameters_of(kind)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={np.asarray(value).tolist()!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)  # a float's repr is exact

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value: () for a number."""
        return ()

    @abstractmethod
    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the density, or of the probability; -inf outside the support."""

    def density(self, x: Any) -> Any:
        """Return the density, or the probability."""
        return np.exp(self.log_density(x))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw n independent values, (n, *event_shape); the same for the same ``random_state``."""
        return np.asarray(self._sample(np.random.default_rng(random_state), int(n)))

    @abstractmethod
    def _sample(self, rng: np.random.Generator, n: int) -> Any: ...

    @property
    def mean(self) -> Any:
        """The expected value."""
        self._has_no("mean")

    @property
    def variance(self) -> Any:
        """The variance, entry by entry."""
        self._has_no("variance")

    @property
    def mode(self) -> Any:
        """Where the density is greatest."""
        self._has_no("mode")

    @property
    def entropy(self) -> float:
        """Minus the expected log-density, in nats."""
        self._has_no("entropy")

    def _has_no(self, what: str) -> NoReturn:
        raise RefusalError(f"the {what} of {self!r} has no closed form here: estimate it from a sample.")

    @classmethod
    def fit(cls, x: Any, sample_weight: Any = None, *, method: Method = "likelihood", **known: Any) -> Self:
        """Estimate the parameters by maximum likelihood or by the method of moments."""
        return cls.from_statistic(cls.statistic(x, sample_weight, **known), method=method, **known)

    @classmethod
    def statistic(cls, x: Any, sample_weight: Any = None, **known: Any) -> Statistic:
        """Return what ``from_statistic`` needs of these values; weights are frequencies."""
        cls._check_known(known)
        rows = cls._rows(x, **known)
        weight = None if sample_weight is None else weights_of(sample_weight, len(rows))
        return cls._statistic_of(Batch(np.ascontiguousarray(cls._columns(rows, **known)), None, weight))

    @classmethod
    def _rows(cls, x: Any, **known: Any) -> Array:
        """Return the values as floats, one a row, checked."""
        rows = np.asarray(x, dtype=np.float64)
        if not np.isfinite(rows).all():
            row = int(np.argmax(~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)))
            cls._refuse_value(rows, row, "finite numbers")
        return rows

    @classmethod
    def _refuse_value(cls, rows: Array, row: int, wanted: str) -> NoReturn:
        raise DataError(
            f"x[{row}] is {rows[row].tolist()}, but {cls.__name__}.fit takes {wanted}: "
            "correct or remove that row, or choose another distribution."
        )

    @classmethod
    def _columns(cls, rows: Array, **known: Any) -> Array:
        """Return the functions of a value whose averages are sufficient, a column each."""
        return rows.reshape(len(rows), math.prod(rows.shape[1:]))

    @classmethod
    def _statistic_of(cls, batch: Batch) -> Statistic:
        return Spread.of(batch)

    @classmethod
    def from_statistic(cls, statistic: Any, *, method: Method = "likelihood", **known: Any) -> Self:
        """Estimate the parameters from a statistic, which may be the sum of several."""
        cls._check_known(known)
        if method not in ("likelihood", "moments"):
            raise ParameterError(
                f"{cls.__name__}.fit: method={method!r} is not allowed; it must be 'likelihood' or 'moments'."
            )
        if not np.any(np.asarray(statistic.weight) > 0):
            cls._refuse_fit("there is no row with positive weight")
        with np.errstate(all="ignore"):
            return (cls._likeliest if method == "likelihood" else cls._by_moments)(statistic, **known)

    @classmethod
    def _check_known(cls, known: dict[str, Any]) -> None:
        for name in cls.known:
            if known.get(name) is None:
                raise ParameterError(f"{cls.__name__}.fit needs {name}=, which cannot be estimated: give it.")
        for name in known:
            if name not in cls._parameters() and name not in cls.hints:
                raise ParameterError(f"{cls.__name__}.fit: there is no parameter {name!r}.")

    @classmethod
    def _refuse_fit(cls, reason: str) -> NoReturn:
        raise DataError(f"{cls.__name__} cannot be fitted: {reason}; choose another distribution or data.")

    @classmethod
    def _likeliest(cls, statistic: Any, **known: Any) -> Self:
        raise RefusalError(f"{cls.__name__} has no maximum-likelihood estimate here: give its parameters.")

    @classmethod
    def _by_moments(cls, statistic: Any, **known: Any) -> Self:
        raise RefusalError(f"{cls.__name__} has no estimate by moments: use method='likelihood'.")

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield the distributions of this class that the laws try."""
        yield cls()


def mean_and_spread(statistic: Spread, column: int = 0) -> tuple[float, float]:
    """Return mean and biased variance of a column."""
    return float(statistic.mean[column]), float(statistic.variance[column])


def refuse_parameter(distribution: Distribution, name: str, wanted: str) -> NoReturn:
    """Raise the error for a parameter that is not allowed; ``wanted`` says what it must be."""
    value = np.asarray(getattr(distribution, name)).tolist()
    raise ParameterError(f"{type(distribution).__name__}: {name}={value!r} is not allowed; {wanted}.")


def array_parameter(distribution: Distribution, name: str, ndim: int) -> Array:
    """Make a parameter a read-only array of finite numbers, and return it."""
    try:
        array = np.array(getattr(distribution, name), dtype=np.float64, order="C")
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != ndim or array.size == 0 or not np.isfinite(array).all():
        refuse_parameter(distribution, name, f"it must be {'a list' if ndim == 1 else 'a matrix'} of numbers")
    array.flags.writeable = False
    object.__setattr__(distribution, name, array)
    return array
