"""Losses and penalties as a user gives them: by name, as an object of surefit, or as one of their own.

An object of one's own needs two methods. A loss has ``value(y, z)`` and ``gradient(y, z)``; a penalty has
``value(w)`` and ``prox(v, step)``. What else it has (``convex``, ``curvature``, ``conjugate`` ...) is used,
under the names of :class:`~surefit.losses.base.Loss` and :class:`~surefit.penalties.base.Penalty`; without
``convex = True``, an answer can be proved to be stationary only.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefit.core.errors import ParameterError, RegistryError
from surefit.core.registry import lookup
from surefit.losses.base import Loss
from surefit.losses.links import Identity
from surefit.penalties.base import Penalty
from surefit.penalties.no_penalty import NoPenalty
from surefit.penalties.table import CoordinateTable

Array = NDArray[Any]


def loss_of(who: str, given: Any) -> Loss:
    """Return the loss that a parameter stands for."""
    if isinstance(given, Loss):
        return given
    if isinstance(given, str):
        return cast(Loss, _named(who, "loss", given))
    _require(who, "loss", given, {"value": "value(y, z)", "gradient": "gradient(y, z)"})
    return OwnLoss(given)


def penalty_of(who: str, given: Any) -> Penalty:
    """Return the penalty that a parameter stands for; None is no penalty."""
    if given is None:
        return NoPenalty()
    if isinstance(given, Penalty):
        return given
    if isinstance(given, str):
        return cast(Penalty, _named(who, "penalty", given))
    _require(who, "penalty", given, {"value": "value(w)", "prox": "prox(v, step)"})
    return OwnPenalty(given)


def _named(who: str, kind: str, name: str) -> Any:
    try:
        found: Any = lookup(kind, name)
        return found()
    except RegistryError as error:
        raise ParameterError(f"{who}: {error}") from None
    except TypeError:
        raise ParameterError(
            f"{who}: the {kind} {name!r} has parameters without a default: give it as an object."
        ) from None


def _require(who: str, kind: str, given: Any, methods: dict[str, str]) -> None:
    missing = [how for name, how in methods.items() if not callable(getattr(given, name, None))]
    if isinstance(given, type) or missing:
        is_class = isinstance(given, type)
        why = "is a class: make an object of it" if is_class else f"has no {' and no '.join(missing)}"
        named = given.__name__ if is_class else type(given).__name__
        raise ParameterError(
            f"{who}: {kind} must be a name, an object of surefit, or one with "
            f"{' and '.join(methods.values())}, but {named} {why}."
        )


class OwnLoss(Loss):
    """A loss that is known by its value and gradient; the curvature, unless it has one, by differences."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.name = getattr(own, "name", type(own).__name__)  # type: ignore[misc]
        self.task = getattr(own, "task", "regression")  # type: ignore[misc]
        self.link = getattr(own, "link", Identity())  # type: ignore[misc]

    @property
    def convex(self) -> bool:
        """As the object says; False if it does not."""
        return bool(getattr(self.own, "convex", False))

    @property
    def smooth(self) -> bool:
        """As the object says; True if it does not."""
        return bool(getattr(self.own, "smooth", True))

    @property
    def smoothness(self) -> float | None:
        """As the object says."""
        return getattr(self.own, "smoothness", None)

    def value(self, y: Any, z: Any) -> Array:
        """Return the object's value."""
        return np.asarray(self.own.value(y, z), dtype=np.float64)

    def gradient(self, y: Any, z: Any) -> Array:
        """Return the object's gradient."""
        return np.asarray(self.own.gradient(y, z), dtype=np.float64)

    def curvature(self, y: Any, z: Any) -> Array:
        """Return the object's curvature, or the central difference of its gradient."""
        if hasattr(self.own, "curvature"):
            return np.asarray(self.own.curvature(y, z), dtype=np.float64)
        z = np.asarray(z, dtype=np.float64)
        step = np.cbrt(np.finfo(float).eps) * np.maximum(1.0, np.abs(z))
        bend = (self.gradient(y, z + step) - self.gradient(y, z - step)) / (2.0 * step)
        return np.maximum(bend, 0.0) if self.convex else bend

    def check(self, y: Any) -> None:
        """Leave the target to the object."""
        if hasattr(self.own, "check"):
            self.own.check(y)

    def __getattr__(self, name: str) -> Any:
        if name in ("conjugate", "prox") and "own" in self.__dict__:
            return getattr(self.own, name)
        raise AttributeError(name)


class OwnPenalty(Penalty):
    """A penalty that is known by its value and prox."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.convex = bool(getattr(own, "convex", False))  # type: ignore[misc]
        self.separable = bool(getattr(own, "separable", False))  # type: ignore[misc]

    def value(self, w: ArrayLike) -> float:
        """Return the object's value."""
        return float(self.own.value(w))

    def prox(self, v: ArrayLike, step: float) -> Array:
        """Return the object's proximal point."""
        return np.asarray(self.own.prox(v, step), dtype=np.float64)

    def offers(self, method: str) -> bool:
        """Whether the object has a method; a conjugate is of use only with its scaling."""
        needed = ("conjugate", "dual_scaling") if method == "conjugate" else (method,)
        return all(hasattr(self.own, name) for name in needed)

    def conjugate(self, u: ArrayLike) -> float:
        """Return the object's conjugate."""
        return float(self.own.conjugate(u))

    def dual_scaling(self, u: ArrayLike) -> float:
        """Return the object's scaling."""
        return float(self.own.dual_scaling(u))

    def table(self, p: int) -> CoordinateTable:
        """Return the object's table."""
        found: CoordinateTable = self.own.table(p)
        return found

    def subdifferential_distance(self, w: ArrayLike, gradient: ArrayLike) -> Array:
        """Return the object's distance."""
        return np.asarray(self.own.subdifferential_distance(w, gradient))

    def free_directions(self, p: int, slope: ArrayLike | None = None) -> Array:
        """Return the object's free directions; none if it does not say."""
        own = getattr(self.own, "free_directions", None)
        return super().free_directions(p, slope) if own is None else np.asarray(own(p, slope))

    def quadratic(self, p: int) -> Array | None:
        """Return the object's squares, if it says so."""
        own = getattr(self.own, "quadratic", None)
        return None if own is None else own(p)
