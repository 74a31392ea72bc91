"""Write each iteration to the log."""

from __future__ import annotations

import logging
from typing import Any

from surefit.core.callbacks.base import Callback, iteration_event, path, remark
from surefit.core.channel import Channel
from surefit.core.errors import ParameterError
from surefit.core.public import public


@public
class Logger(Callback):
    """Log objective and gap of every ``every``-th iteration, under the name ``surefit`` of Python's
    ``logging``.

    Lines from worker processes are logged by the main process, each with the number of its task.
    """

    max_propagation_depth = None

    def __init__(self, every: int = 1, *, level: int = logging.INFO) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ParameterError(f"Logger: every={every!r} must be a whole number of at least 1.")
        self.every = every
        self.level = level
        self._channels: dict[str, Channel] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Open the channel that workers will use."""
        self._channels[str(context.root_uuid)] = Channel(self._write)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Close it."""
        self._channels.pop(str(context.root_uuid)).close()

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Send a line if this was an iteration of ours."""
        event = iteration_event(estimator, context)
        if event is None or event.iteration % self.every:
            return
        task = ".".join(map(str, path(context)[:-1]))
        self._channels[str(context.root_uuid)].send(
            f"{type(estimator).__name__} [{task}] iteration {event.iteration}  "
            f"{remark(event)}  {event.seconds:.2f} s"
        )

    def _write(self, line: str) -> None:
        logging.getLogger("surefit").log(self.level, "%s", line)
