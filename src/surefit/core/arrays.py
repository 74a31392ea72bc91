"""Arrays of floats as signatures name them: a vector and a matrix.

numpy's types do not know shapes, so both are one type; the name tells the reader. Where a problem may have
several outputs, a vector stands for one number a row or for a row of numbers, and the text says so.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
