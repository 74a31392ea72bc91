"""The one door for everything that can stand for a kernel."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

from surefit.core.errors import ParameterError
from surefit.core.parameters import parameters_of
from surefit.core.registry import lookup
from surefit.kernels.base import Kernel

# scikit-learn's names for kernels that have another one here.
ALIASES = {
    "poly": "polynomial",
    "sigmoid": "tanh",
    "chi2": "chi_squared",
    "additive_chi2": "additive_chi_squared",
}
COMMON = ("gamma", "coef0", "degree")  # which estimators pass on to any named kernel, as in scikit-learn
# scikit-learn's classes whose parameters have the same names here.
KNOWN = {
    "ConstantKernel": "constant",
    "WhiteKernel": "white",
    "RBF": "rbf",
    "Matern": "matern",
    "RationalQuadratic": "rational_quadratic",
    "ExpSineSquared": "exp_sine_squared",
    "DotProduct": "dot_product",
    "Sum": "sum",
    "Product": "product",
    "Exponentiation": "power",
}


def as_kernel(kernel: Any, *, columns: int | None = None, **parameters: Any) -> Kernel:
    """Make a kernel of one of ours, a name, a kernel of scikit-learn's, or a function of two objects.

    columns: how many X has, on which scikit-learn's default of gamma depends (one over their number).
    parameters: of a named kernel; ``gamma``, ``coef0`` and ``degree`` are left out where they are None or
    where the kernel has none, as scikit-learn does.

    >>> as_kernel("rbf", gamma=0.5)
    RBF()
    >>> as_kernel("poly", columns=4, degree=2)
    Polynomial(degree=2, gamma=0.25)
    >>> as_kernel(lambda x, y: min(x, y))([1, 2])
    array([[1., 1.],
           [1., 2.]])
    """
    if isinstance(kernel, str):
        return _named(kernel, columns, parameters)
    if any(value is not None for value in parameters.values()):
        raise ParameterError(
            f"{', '.join(parameters)} can be given with the name of a kernel only: "
            "set them on the kernel itself."
        )
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, SklearnKernel):
        return _converted(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return _cls("from_function")(kernel)
    raise ParameterError(
        f"kernel={kernel!r} is not allowed; it must be a name such as 'rbf', a kernel such as RBF(2.0), "
        "or a function of two objects."
    )


def _cls(name: str) -> Any:
    return lookup("kernel", name)


def _named(name: str, columns: int | None, parameters: dict[str, Any]) -> Kernel:
    cls = _cls(ALIASES.get(name, name))
    known = {*parameters_of(cls), "gamma"} if hasattr(cls, "from_gamma") else set(parameters_of(cls))
    given = {
        key: value
        for key, value in parameters.items()
        if not (key in COMMON and (value is None or key not in known))
    }
    unknown = set(given) - known
    if unknown:
        raise ParameterError(
            f"the kernel {name!r} has no parameter {sorted(unknown)[0]!r}; it has {', '.join(sorted(known))}."
        )
    made: Kernel = cls.named(given, columns)
    return made


def _converted(kernel: Any) -> Kernel:
    """One of ours for a kernel that scikit-learn ships, in whole; else the kernel itself, wrapped."""
    cls = type(kernel)
    if cls.__module__ != "sklearn.gaussian_process.kernels" or cls.__name__ not in KNOWN:
        made: Kernel = _cls("foreign")(kernel)
        return made
    own = kernel.get_params(deep=False)
    values = {
        key: _converted(value) if isinstance(value, SklearnKernel) else value for key, value in own.items()
    }
    made = _cls(KNOWN[cls.__name__])(**values)
    return made
