"""The Gram matrix of chosen columns, which grows by rows as columns are added."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.config import threads
from surefit.core.native import compiled
from surefit.core.native.columns.layout import chosen_dense, column_arguments, some_columns
from surefit.core.native.inputs import row_weights


def column_gram(
    X: Any,
    which: Any,
    G: NDArray[np.float64],
    old: int = 0,
    centre: Any = None,
    weight: Any = None,
    factor: float = 1.0,
    *,
    _threads: int | None = None,
) -> None:
    """Write rows and columns ``old`` and up of factor A_S' diag(weight) A_S into G, for A = X - 1 centre'.

    G is in C order and may be larger; BLAS should be held to one thread. X is dense or CSC.

    >>> G = np.zeros((1, 1))
    >>> column_gram(np.array([[1.0, 2.0], [3.0, 5.0]]), [1], G)
    >>> G
    array([[29.]])
    """
    native = compiled()
    if native is None:
        return column_gram_twin(X, which, G, old, centre, weight, factor)
    suffix, arguments = column_arguments(X)
    count = threads() if _threads is None else _threads
    centre, weight = row_weights(centre), row_weights(weight)
    some = some_columns(which)
    getattr(native, f"column_gram{suffix}")(*arguments, some, old, centre, weight, factor, G, count)
    return None


def column_gram_twin(
    X: Any,
    which: Any,
    G: NDArray[np.float64],
    old: int = 0,
    centre: Any = None,
    weight: Any = None,
    factor: float = 1.0,
) -> None:
    """Do the same with a centred copy."""
    which = np.asarray(which, dtype=np.int64)
    A = chosen_dense(X, which)
    if centre is not None:
        A = A - np.asarray(centre, dtype=np.float64)[which]
    scaled = A * factor if weight is None else A * (factor * np.asarray(weight, dtype=np.float64))[:, None]
    m = len(which)
    G[old:m, :m] = scaled[:, old:].T @ A
    G[:old, old:m] = G[old:m, :old].T
