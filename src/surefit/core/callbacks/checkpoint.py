"""Save the model while it is being fitted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from surefit.core.callbacks.base import Callback, Key, fit_key, iteration_event, path
from surefit.core.errors import ParameterError
from surefit.core.public import public


@public
class Checkpoint(Callback):
    """Write the model as it stands to ``folder`` every ``every`` iterations, and at most once in ``seconds``.

    Each fit has a file of its own, named after the class and the task: ``Lasso-0.safetensors`` for a fit of
    its own, and ``Lasso-0.0.3.safetensors`` for the third candidate of a search. A file is always whole: it
    is replaced, never rewritten. ``surefit.load`` opens it; the certificate inside says how far the fit had
    come.
    """

    def __init__(self, folder: str | Path, every: int = 1, *, seconds: float = 0.0) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ParameterError(f"Checkpoint: every={every!r} must be a whole number of at least 1.")
        if not seconds >= 0:
            raise ParameterError(f"Checkpoint: seconds={seconds!r} must be a number of at least 0.")
        self.folder = Path(folder)
        self.every = every
        self.seconds = seconds
        self._written: dict[Key, float] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Make the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Forget when files were written."""
        for key in [key for key in self._written if key[0] == str(context.root_uuid)]:
            del self._written[key]

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        """Save when it is time."""
        event = iteration_event(estimator, context)
        if event is None or fitted_estimator is None or (event.iteration + 1) % self.every:
            return
        key, now = fit_key(context), time.monotonic()
        if now - self._written.get(key, -self.seconds - 1.0) < self.seconds:
            return
        from surefit.io.save import save

        task = ".".join(map(str, path(context)[:-1]))
        save(fitted_estimator, self.folder / f"{type(estimator).__name__}-{task}.safetensors")
        self._written[key] = now
