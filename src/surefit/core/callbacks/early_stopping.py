"""Stop when the fit no longer gets better."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from surefit.core.callbacks.base import Callback, Key, fit_key, iteration_event
from surefit.core.errors import ParameterError
from surefit.core.public import public


@public
class EarlyStopping(Callback):
    """Stop after ``patience`` iterations in a row without an improvement of more than ``min_delta``.

    monitor: ``"objective"`` or ``"gap"`` of the trace (smaller is better), or a function of the model as it
    stands, such as ``lambda model: model.score(X_held_out, y_held_out)`` (larger is better).
    """

    def __init__(
        self,
        patience: int = 5,
        *,
        min_delta: float = 0.0,
        monitor: Literal["objective", "gap"] | Callable[[Any], float] = "objective",
    ) -> None:
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
            raise ParameterError(
                f"EarlyStopping: patience={patience!r} must be a whole number of at least 1."
            )
        if not min_delta >= 0:
            raise ParameterError(f"EarlyStopping: min_delta={min_delta!r} must be a number of at least 0.")
        if monitor not in ("objective", "gap") and not callable(monitor):
            raise ParameterError(
                f"EarlyStopping: monitor={monitor!r} must be 'objective', 'gap' or a function of the model."
            )
        self.patience = patience
        self.min_delta = min_delta
        self.monitor = monitor
        self._fits: dict[Key, tuple[float, int]] = {}  # best value so far, iterations since

    def teardown(self, estimator: Any, context: Any) -> None:
        """Forget the fit."""
        for key in [key for key in self._fits if key[0] == str(context.root_uuid)]:
            del self._fits[key]

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        """Compare with the best so far."""
        event = iteration_event(estimator, context)
        if event is None:
            return False
        if callable(self.monitor):
            if fitted_estimator is None:
                raise ParameterError(
                    f"EarlyStopping: {type(estimator).__name__} cannot be scored before it has ended; "
                    "monitor 'objective' or 'gap'."
                )
            value = -float(self.monitor(fitted_estimator))
        else:
            measured = getattr(event, self.monitor)
            if measured is None:
                raise ParameterError(
                    f"EarlyStopping: {type(estimator).__name__} does not measure {self.monitor!r}."
                )
            value = float(measured)
        key = fit_key(context)
        best, waited = self._fits.get(key, (math.inf, 0))
        better = value < best - self.min_delta
        self._fits[key] = (value, 0) if better else (best, waited + 1)
        return not better and waited + 1 >= self.patience
