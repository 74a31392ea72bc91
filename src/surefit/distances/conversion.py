"""The one door for everything that can stand for a distance."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from surefit.core.errors import ParameterError
from surefit.core.registry import members
from surefit.distances.base import Distance
from surefit.kernels import Kernel


def named_distances() -> dict[str, type[Distance]]:
    """Return all distances that a name stands for, with the names that others use for them."""
    found: dict[str, Any] = {}
    for name, cls in members("distance").items():
        if name not in ("from_function",):
            found |= dict.fromkeys((name, *cls.aliases), cls)  # type: ignore[attr-defined]
    return found


def as_distance(metric: Any = "euclidean", p: float = 2.0, params: dict[str, Any] | None = None) -> Distance:
    """Make a distance of one of ours, a name, a kernel, or a function of two rows.

    p: Minkowski's power, for the name "minkowski" alone. params: parameters of a named distance, or arguments
    that a function is called with.

    >>> as_distance("minkowski", p=1)
    Manhattan()
    >>> as_distance("seuclidean", params={"V": [1.0, 4.0]})
    StandardizedEuclidean(V=[1.0, 4.0])
    """
    given = dict(params or {})
    if isinstance(metric, Distance):
        return metric
    if isinstance(metric, str):
        return _named(metric, p, given)
    from surefit.distances.given import FromFunction, KernelDistance

    if isinstance(metric, Kernel):
        return KernelDistance(metric)
    if callable(metric) and not isinstance(metric, type):
        return FromFunction(metric, arguments=given or None)
    raise ParameterError(
        f"metric={metric!r} is not allowed; it must be a name such as 'euclidean', a distance such as "
        "Mahalanobis(), a kernel, or a function of two rows."
    )


def _named(name: str, p: float, given: dict[str, Any]) -> Distance:
    known = named_distances()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(sorted(known))}."
        raise ParameterError(f"there is no distance named {name!r}: {hint}")
    if name in ("minkowski", "p"):
        p = given.pop("p", p)
        if not given:
            plain: dict[float, str] = {1.0: "manhattan", 2.0: "euclidean", float("inf"): "chebyshev"}
            if p in plain:
                return known[plain[p]]()
        given["p"] = p
    unknown = set(given) - known[name].options()
    if unknown:
        options = ", ".join(sorted(known[name].options())) or "none"
        raise ParameterError(
            f"the distance {name!r} has no parameter {sorted(unknown)[0]!r}; it has {options}."
        )
    return known[name](**given)
