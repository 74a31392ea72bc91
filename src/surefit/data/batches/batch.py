"""A batch: some rows, checked, as the statistics and kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefit.data.batches.cells import Cells
from surefit.data.batches.objects import Objects
from surefit.data.batches.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

    Sparse: TypeAlias = csr_array | csr_matrix

Dense: TypeAlias = NDArray[np.float64] | NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows ``start`` to ``start + len(batch)`` of a source; valid by construction, never changed.

    X is a contiguous float matrix, CSR, a typed table, cells of any type, or objects; a model that asked for
    numbers sees nothing else.
    y is (n,) or (n, k) float64, or (n,) class codes; weight is (n,) float64, None for all ones. offset is
    (n,) float64: what a generalised linear model adds to the score of each row; None for nothing.
    """

    X: Dense | Sparse | Table | Cells | Objects
    y: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    start: int = 0
    offset: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])
