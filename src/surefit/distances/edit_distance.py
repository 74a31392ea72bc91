"""How many letters it takes to turn one word into another."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.native.neighbours.edit_distance import edit_distances
from surefit.distances.base import Distance


class EditDistance(Distance):
    """How many letters must be put in, taken out or changed to turn one word into another (Levenshtein's).

    >>> EditDistance()(["flaw"], ["lawn", "flaw"])
    array([[2., 0.]])
    """

    name = "edit"
    aliases = ("levenshtein",)
    takes = "objects"

    def inputs(self, X: Any) -> Any:
        """Return words."""
        words = super().inputs(X)
        for word in words:
            if not isinstance(word, str):
                raise DataError(
                    f"EditDistance compares words, and X holds a {type(word).__name__}: {word!r:.40}."
                )
        return words

    def _between(self, X: Any, Y: Any) -> Matrix:
        return edit_distances(list(X), list(Y))

    def examples(self, rng: np.random.Generator, n: int) -> Any:
        """Make words."""
        return ["".join(rng.choice(list("abc"), size=rng.integers(1, 7))) for _ in range(n)]
