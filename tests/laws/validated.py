"""The table that tests of validation share, with its target as a number, as three classes and as two."""

from __future__ import annotations

import numpy as np

from surefit import resample

ROWS = 120
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(ROWS, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + _RNG.normal(size=ROWS)
KIND = np.where(Y > 1, "high", np.where(Y > -1, "middle", "low"))
SIDE = (Y > 0).astype(int)
FOLDS = resample.KFold(4, shuffle=True, random_state=1)
