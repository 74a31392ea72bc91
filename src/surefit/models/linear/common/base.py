"""What every linear model shares: prediction from coefficients and intercept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class LinearPrediction:
    """Predict :math:`Xw + b`; ``coef_`` is (p,), or (k, p) for several outputs, as in scikit-learn."""

    coef_: NDArray[np.float64]
    intercept_: Any

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the prediction for each row, or write it ``to`` a file."""
        return self._answer(self._linear, X, to, self._output_names())  # type: ignore[attr-defined]

    def _linear(self, X: Any) -> Any:
        coef = self.coef_
        return X @ coef + self.intercept_ if coef.ndim == 1 else X @ coef.T + self.intercept_

    def _output_names(self) -> list[str]:
        coef = getattr(self, "coef_", None)
        outputs = 1 if coef is None or coef.ndim == 1 else coef.shape[0]
        return ["prediction"] if outputs == 1 else [f"prediction{k}" for k in range(outputs)]


def shaped(coef: NDArray[np.float64], intercept: NDArray[np.float64], flat: bool) -> tuple[Any, Any]:
    """Turn (p, k) coefficients into scikit-learn's shapes: (p,) for a flat target, else (k, p)."""
    if flat:
        return np.ascontiguousarray(coef[:, 0]), float(intercept[0])
    return np.ascontiguousarray(coef.T), np.asarray(intercept)
