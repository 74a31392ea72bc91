"""How many letters must be put in, taken out or changed to turn one word into another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.config import threads
from surefit.core.native import compiled


def _letters(words: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    start = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in words], out=start[1:])
    coded = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(coded, dtype="<u4").astype(np.uint32), start


def edit_distances(left: Sequence[str], right: Sequence[str], *, _threads: int | None = None) -> Matrix:
    """Return Levenshtein's distance of all pairs of words.

    >>> edit_distances(["kitten"], ["sitting", "kitten"])
    array([[3., 0.]])
    """
    native = compiled()
    if native is None:
        return edit_distances_twin(left, right)
    out = np.empty((len(left), len(right)))
    native.edit_distances(*_letters(left), *_letters(right), out, threads() if _threads is None else _threads)
    return out


def edit_distances_twin(left: Sequence[str], right: Sequence[str]) -> Matrix:
    """Do the same a pair at a time."""
    return np.array([[_edits(a, b) for b in right] for a in left], dtype=np.float64).reshape(
        len(left), len(right)
    )


def _edits(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        corner, row[0] = row[0], i + 1
        for j, other in enumerate(b):
            corner, row[j + 1] = row[j + 1], min(corner + (letter != other), row[j] + 1, row[j + 1] + 1)
    return row[-1]
