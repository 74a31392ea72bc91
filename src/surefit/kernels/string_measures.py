"""How alike two strings are, in numbers that are no kernels: edits, and the longest common parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefit.kernels.spectrum import Spectrum


def edit_distance(one: Sequence[Any], two: Sequence[Any]) -> int:
    """Return how many insertions, deletions and substitutions turn one string into the other.

    >>> edit_distance("kitten", "sitting")
    3
    """
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def longest_common_substring(one: str, two: str) -> str:
    """Return the longest run of characters that both strings hold; of several, the first of ``one``.

    >>> longest_common_substring("bananas", "ananab")
    'anana'
    """
    best, end = 0, 0
    lengths = np.zeros(len(two) + 1, dtype=np.int64)
    letters = np.array([*two], dtype=object)
    for i, a in enumerate(one, 1):
        lengths[1:] = np.where(letters == a, lengths[:-1] + 1, 0)
        if lengths.max() > best:
            best, end = int(lengths.max()), i
    return one[end - best : end]


def longest_common_subsequence(one: Sequence[Any], two: Sequence[Any]) -> int:
    """Return the length of the longest sequence that both hold in order, with gaps.

    >>> longest_common_subsequence("abcde", "axcye")
    3
    """
    row = [0] * (len(two) + 1)
    for a in one:
        diagonal = 0
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], diagonal + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


def common_substrings(one: str, two: str) -> int:
    """Return how many different substrings both strings hold.

    >>> common_substrings("aba", "ab")
    3
    """
    every = Spectrum(None)
    return len(every.counts(one).keys() & every.counts(two).keys())
