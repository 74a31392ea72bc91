"""A kernel object of another library that speaks scikit-learn's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF as SklearnRBF

from surefit.core.arrays import Matrix, Vector
from surefit.core.parameters import Has
from surefit.kernels.base import FreeParameter, Kernel


class Foreign(Kernel):
    """A kernel of scikit-learn's Gaussian processes, or of any library with the same methods.

    mercer: whether you vouch that it is positive semi-definite. ``as_kernel`` turns the kernels that
    scikit-learn ships into ours, which can be saved; what it does not know is held in this.

    >>> Foreign(SklearnRBF(2.0))([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    name = "foreign"

    def __init__(self, kernel: Annotated[Any, Has("diag")], *, mercer: bool = False) -> None:
        self.kernel = kernel
        self.mercer = mercer
        self._check()

    @property
    def takes(self) -> Any:  # type: ignore[override]
        """Rows, or objects if it says so."""
        return "rows" if getattr(self.kernel, "requires_vector_input", True) else "objects"

    def _gram(self, X: Any, Y: Any) -> Matrix:
        return np.asarray(self.kernel(X, Y))

    def _diagonal(self, X: Any) -> Vector:
        return np.asarray(self.kernel.diag(X))

    def _gradient(self, X: Any, K: Matrix) -> Matrix:
        return np.asarray(self.kernel(X, eval_gradient=True)[1])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` those of the kernel held."""
        found = super().get_params(deep)
        if deep:
            found |= {f"kernel__{key}": value for key, value in self.kernel.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, those of the kernel held under ``kernel__``."""
        inner = {key.removeprefix("kernel__"): params.pop(key) for key in [*params] if "__" in key}
        super().set_params(**params)
        if inner:
            self.kernel = clone(self.kernel).set_params(**inner)
        return self

    def copied(self) -> Self:
        """Return an equal kernel that holds a copy."""
        return type(self)(clone(self.kernel), mercer=self.mercer)

    @property
    def hyperparameters(self) -> list[FreeParameter]:
        """The parameters that can be learnt."""
        return [
            FreeParameter(f"kernel__{each.name}", each.bounds, each.n_elements, each.fixed)
            for each in self.kernel.hyperparameters
        ]

    def is_stationary(self) -> bool:
        """Whether it depends on x - y alone."""
        return bool(self.kernel.is_stationary())

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Self]:
        """Make some for the laws."""
        yield cls(SklearnRBF(0.8), mercer=True)
