"""Combinations drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from surefit.core.errors import ParameterError
from surefit.evaluate.search.base import Search
from surefit.evaluate.search.choice import Complexity


class RandomSearch(Search):
    """Try combinations drawn at random: from lists without replacement, from distributions with it.

    param_distributions: by parameter, a list or an object with ``rvs`` such as
    ``scipy.stats.loguniform``. n_iter: how many to draw. random_state: for the draws and the folds. The
    other parameters, and what there is after the fit, are those of :class:`~surefit.GridSearch`.

    >>> import numpy as np
    >>> import surefit
    >>> from scipy.stats import loguniform
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> search = surefit.RandomSearch(surefit.Ridge(), {"alpha": loguniform(1e-2, 1e2)}, n_iter=6)
    >>> search = search.fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    >>> len(search.cv_results_["params"]), bool(search.best_params_["alpha"] < 1)
    (6, True)
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 10,
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
        self.param_distributions = param_distributions
        self.n_iter = n_iter
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
        return drawn(self.param_distributions, self.n_iter, self.random_state)


def drawn(distributions: Any, count: int, random_state: Any) -> list[dict[str, Any]]:
    """Draw candidates; lists alone are drawn without replacement, and at most all of them."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ParameterError(f"n_iter={count!r} must be a whole number of at least 1.")
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**32))
    every = ParameterSampler(distributions, int(count), random_state=random_state)
    entries = distributions if isinstance(distributions, Sequence) else [distributions]
    if all(not hasattr(values, "rvs") for entry in entries for values in entry.values()):
        from sklearn.model_selection import ParameterGrid

        grid = ParameterGrid(distributions)
        if len(grid) <= count:  # all of them, without scikit-learn's warning that there are no more
            return [dict(entry) for entry in grid]
    return [dict(entry) for entry in every]
