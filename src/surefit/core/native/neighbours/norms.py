"""Norms of differences, as the searches count them: sums of one term a column, without a root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefit.core.arrays import Matrix


@dataclass(frozen=True, slots=True)
class Norm:
    r"""How the differences of two rows become a sum, and the sum a distance.

    squared: :math:`\sum_j x_j^2`; absolute: :math:`\sum_j |x_j|`; largest: :math:`\max_j |x_j|`; power:
    :math:`\sum_j |x_j|^p`; differing: how many columns are not 0.

    >>> Norm("squared").distance(np.array([[25.0]]))
    array([[5.]])
    """

    kind: Literal["squared", "absolute", "largest", "power", "differing"] = "squared"
    p: float = 2.0

    @classmethod
    def of(cls, p: float) -> Norm:
        """Return Minkowski's norm for p."""
        named: dict[float, Norm] = {1.0: cls("absolute", 1.0), 2.0: cls(), np.inf: cls("largest", np.inf)}
        return named.get(float(p)) or cls("power", float(p))

    def sums(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the sums of all pairs, added column after column, as compiled code adds them."""
        total = np.zeros((len(X), len(Y)))
        with np.errstate(over="ignore"):
            for j in range(X.shape[1]):
                term = np.abs(X[:, j, None] - Y[None, :, j])
                if self.kind == "largest":
                    np.maximum(total, term, out=total)
                else:
                    total += self._term(term)
        return total

    def paired(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the sums of the rows of X and those of Y in the same places; any leading dimensions."""
        total = np.zeros(np.broadcast_shapes(X.shape[:-1], Y.shape[:-1]))
        with np.errstate(over="ignore"):
            for j in range(X.shape[-1]):
                term = np.abs(X[..., j] - Y[..., j])
                if self.kind == "largest":
                    np.maximum(total, term, out=total)
                else:
                    total += self._term(term)
        return total

    def _term(self, size: Matrix) -> Matrix:
        if self.kind == "squared":
            return size * size
        if self.kind == "absolute":
            return size
        return (size != 0).astype(np.float64) if self.kind == "differing" else size**self.p

    def distance(self, sums: Matrix) -> Matrix:
        """Return distances for sums."""
        if self.kind == "squared":
            return np.asarray(np.sqrt(sums))
        return np.asarray(sums ** (1 / self.p)) if self.kind == "power" else sums

    def power(self, distance: Matrix) -> Matrix:
        """Return sums for distances; a little above, so that what lies at the distance stays within."""
        if self.kind in ("absolute", "largest", "differing"):
            return distance
        with np.errstate(over="ignore"):
            raised = distance * distance if self.kind == "squared" else distance**self.p
        return np.asarray(raised * (1 + 1e-14))
