"""Streams of random numbers: one for each task, the same whoever runs it and in whatever order."""

from __future__ import annotations

from typing import Any

import numpy as np


def seed_of(random_state: Any) -> int:
    """Turn a ``random_state`` into a seed: a whole number is one, a generator draws one, None takes a fresh
    one.

    >>> seed_of(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**32))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    return int(random_state)


def stream(seed: int, task: int) -> np.random.Generator:
    """The generator of one task.

    >>> bool(stream(0, 1).random() == stream(0, 1).random() != stream(0, 2).random())
    True
    """
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(task,))))
