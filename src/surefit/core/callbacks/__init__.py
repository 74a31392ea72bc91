"""What watches a fit, on scikit-learn's callback protocol: ``model.set_callbacks(TimeBudget(60))``.

Every iterative estimator of surefit opens one task for the fit and one below it for each outer iteration,
and writes objective and gap into ``estimator.trace_`` before the task ends; a callback reads them there. A
true answer from ``on_fit_task_end`` stops the fit after that iteration, with whatever certificate it has by
then.

``ProgressBar``, ``Logger`` and ``TimeBudget`` are set on the outermost estimator (a Pipeline, a
GridSearchCV) and reach the inner ones by themselves, also in worker processes. ``EarlyStopping`` and
``Checkpoint`` are set on the model that they concern.

The same object may watch many fits at once, so what it remembers of a fit is kept under the fit's own key.
"""

from surefit.core.callbacks.checkpoint import Checkpoint
from surefit.core.callbacks.early_stopping import EarlyStopping
from surefit.core.callbacks.logger import Logger
from surefit.core.callbacks.progress_bar import ProgressBar
from surefit.core.callbacks.time_budget import TimeBudget

__all__ = ["Checkpoint", "EarlyStopping", "Logger", "ProgressBar", "TimeBudget"]
