"""Every combination of the values given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.model_selection import ParameterGrid

from surefit.evaluate.search.base import Search
from surefit.evaluate.search.choice import Complexity


class GridSearch(Search):
    """Try every combination of parameters on rows left out, and fit the one chosen to all rows.

    estimator: a model or a whole pipeline, ours or scikit-learn's. param_grid: values by parameter, or
    several such grids. scoring: a metric's name, a metric, or a scorer; by default R² or accuracy.
    split: folds, as in :func:`~surefit.cross_validate`. choice: "best"; "one_standard_error", the
    simplest candidate whose score is within a standard error of the best; or a number, the simplest
    within that much. complexity: what is simple: "max_depth" (larger is more complex), "-alpha" (smaller
    is), several such, or a function of the parameters; not needed where a strength says it. path: run
    along one warm path a fold where candidates differ in the strength of a Lasso, ElasticNet, Ridge or
    LogisticRegression alone. time_budget: seconds after which no candidate is begun; ``not_tried_``
    lists the rest. checkpoint: a folder that keeps what is done, so that a search that was killed goes
    on. n_jobs: folds at a time, by default all threads; the numbers are the same.

    After the fit: ``best_params_``, ``best_estimator_``, ``cv_results_`` with scikit-learn's columns, and
    ``best_score_``, which is optimistic and carries a corrected ``interval`` and a ``caveat``.

    >>> import numpy as np
    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> grid = {"alpha": [1.0, 0.3, 0.1, 0.01]}
    >>> search = surefit.GridSearch(surefit.Lasso(), grid, choice="one_standard_error")
    >>> search = search.fit(X, 2 * X[:, 0] + rng.normal(size=80))
    >>> search.best_params_, round(search.best_score_, 3), round(search.best_score_.interval.estimate, 3)
    ({'alpha': 0.3}, 0.724, 0.731)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        scoring: Any = None,
        split: Any = 5,
        choice: str | float = "best",
        complexity: Complexity = None,
        path: bool = True,
        refit: bool = True,
        n_jobs: int | None = None,
        time_budget: float | None = None,
        checkpoint: str | Path | None = None,
        return_train_score: bool = False,
        error_score: Any = float("nan"),
        level: float = 0.95,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.split = split
        self.choice = choice
        self.complexity = complexity
        self.path = path
        self.refit = refit
        self.n_jobs = n_jobs
        self.time_budget = time_budget
        self.checkpoint = checkpoint
        self.return_train_score = return_train_score
        self.error_score = error_score
        self.level = level
        self.random_state = random_state

    def _candidates(self) -> list[dict[str, Any]]:
        return [dict(entry) for entry in ParameterGrid(self.param_grid)]
