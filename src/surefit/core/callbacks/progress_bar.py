"""Show how far a fit is."""

from __future__ import annotations

from typing import Any

from surefit.core.callbacks.base import Callback, iteration_event, path, remark
from surefit.core.channel import Channel
from surefit.core.progress import PATIENCE, Board, is_wanted
from surefit.core.public import public

_boards: dict[str, Board] = {}  # of this process, by fit; a board cannot be pickled along with its callback


@public
class ProgressBar(Callback):
    """One bar for each loop of the fit, with objective and gap, from the second second on; silent when not
    on a terminal.
    """

    def __init__(self, max_propagation_depth: int | None = 1) -> None:
        self.max_propagation_depth = max_propagation_depth
        self._channels: dict[str, Channel] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Open the board, if anybody looks, and the channel for worker processes."""
        if not is_wanted():
            return
        fit = str(context.root_uuid)
        board = _boards[fit] = Board(PATIENCE)

        def show(message: list[Any]) -> None:
            event, key, *rest = message
            if event == "begin":
                board.open(tuple(key), *rest)
            elif event == "step":
                board.advance(tuple(key), 1, *rest)
            else:
                board.finish(tuple(key))

        self._channels[fit] = Channel(show)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Take the board away."""
        fit = str(context.root_uuid)
        if fit in self._channels:
            self._channels.pop(fit).close()
            _boards.pop(fit).close()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A task with parts gets a bar."""
        channel = self._channels.get(str(context.root_uuid))
        if channel is not None and context.max_subtasks != 0:
            here = path(context)
            label = f"{'  ' * (len(here) - 1)}{context.estimator_name} {context.task_name}"
            channel.send(["begin", here, label, context.max_subtasks])

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Its bar goes, and its parent's bar moves on."""
        channel = self._channels.get(str(context.root_uuid))
        if channel is None:
            return
        here = path(context)
        if context.max_subtasks != 0:
            channel.send(["end", here])
        if len(here) > 1:
            event = iteration_event(estimator, context)
            channel.send(["step", here[:-1], remark(event) if event is not None else ""])
