"""Progress bars, for anything that takes over two seconds; silent where nobody is looking.

Bars go to standard error, so that results on standard output stay clean. ``surefit.config(progress="off")``
hides them, ``"on"`` shows them even when standard error is not a terminal.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from surefit.core.config import current_config

PATIENCE = 2.0  # seconds before a bar appears


def is_wanted() -> bool:
    """Whether bars may be shown here and now."""
    setting = current_config().progress
    return setting == "on" or (setting == "auto" and sys.stderr is not None and sys.stderr.isatty())


class Board:
    """A stack of bars, each under a key; it appears when it has been open for two seconds.

    While one is open, loops inside put their bars on it: a terminal has room for one board.
    """

    current: ClassVar[Board | None] = None

    def __init__(self, patience: float = PATIENCE) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        forced = True if current_config().progress == "on" else None
        console = Console(stderr=True, force_terminal=forced)
        self._rich = Progress(*columns, TextColumn("{task.fields[note]}"), console=console, transient=True)
        self._bars: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.appeared = False
        self._timer = threading.Timer(patience, self._appear)
        self._timer.daemon = True
        if Board.current is None:
            Board.current = self
        self._timer.start()

    def _appear(self) -> None:
        with self._lock:
            if not self._closed:
                self._rich.start()
                self.appeared = True

    def open(self, key: Any, label: str, total: float | None) -> None:
        """Add a bar."""
        with self._lock:
            if key not in self._bars:
                self._bars[key] = self._rich.add_task(label, total=total, note="")

    def advance(self, key: Any, amount: float = 1, note: str = "") -> None:
        """Move a bar on, with a remark such as the gap reached."""
        with self._lock:
            if key in self._bars:
                self._rich.update(self._bars[key], advance=amount, note=note)

    def finish(self, key: Any) -> None:
        """Take a bar away."""
        with self._lock:
            if key in self._bars:
                self._rich.remove_task(self._bars.pop(key))

    def close(self) -> None:
        """Take the board away."""
        self._timer.cancel()
        if Board.current is self:
            Board.current = None
        with self._lock:
            self._closed = True
            if self.appeared:
                self._rich.stop()


class Bar:
    """One bar of a board, or nothing at all."""

    def __init__(self, board: Board | None, key: Any = None) -> None:
        self._board = board
        self._key = key

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Move on."""
        if self._board is not None:
            self._board.advance(self._key, amount, note)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Bar]:
    """Show a bar around a loop: ``with progress("reading", total=n) as bar: ... bar.advance()``."""
    if not is_wanted():
        yield Bar(None)
        return
    outer = Board.current
    board = Board(PATIENCE) if outer is None else outer
    key = object()
    board.open(key, label, total)
    try:
        yield Bar(board, key)
    finally:
        board.finish(key)
        if outer is None:
            board.close()
