"""A small frame of numbers, levels and an awkward name, for formulas and features."""

from __future__ import annotations

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.uniform(1.0, 2.0, 60),
        "b": RNG.normal(size=60),
        "c": RNG.choice(list("uvw"), 60),
        "k": RNG.integers(0, 3, 60),
        "a b": RNG.normal(size=60),
    }
)
FRAME["y"] = 2 * FRAME.a + FRAME.b * FRAME.a + (FRAME.c == "v") + 0.1 * RNG.normal(size=60)
