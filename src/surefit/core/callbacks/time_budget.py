"""Stop when the time is up."""

from __future__ import annotations

import time
from typing import Any

from surefit.core.callbacks.base import Callback
from surefit.core.errors import ParameterError
from surefit.core.public import public


@public
class TimeBudget(Callback):
    """Stop every loop of the fit once ``seconds`` have passed since the outermost fit began.

    The current iteration is finished, so that the model is complete; its certificate says how good it is.
    """

    max_propagation_depth = None

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise ParameterError(f"TimeBudget: seconds={seconds!r} must be a number above 0.")
        self.seconds = seconds
        self._deadlines: dict[str, float] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Set the deadline, by the wall clock, which worker processes share."""
        self._deadlines[str(context.root_uuid)] = time.time() + self.seconds

    def teardown(self, estimator: Any, context: Any) -> None:
        """Forget the deadline."""
        self._deadlines.pop(str(context.root_uuid), None)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Whether the deadline has passed."""
        return time.time() >= self._deadlines.get(str(context.root_uuid), float("inf"))
