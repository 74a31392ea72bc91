"""Successive halving: all candidates on few rows, the best of them on more, and so on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from surefit.core.errors import ParameterError
from surefit.evaluate.cross_validation.source_folds import ReadWork
from surefit.evaluate.rows.dataset import ReadRows
from surefit.evaluate.scoring.fold import Fold
from surefit.evaluate.search.base import Search
from surefit.evaluate.search.candidate_fits import Deadline, SearchWork
from surefit.evaluate.search.choice import Complexity
from surefit.evaluate.search.randomized import drawn
from surefit.resample.choose import Pair


class HalvingSearch(Search):
    """Try many candidates on few rows, keep the best share, give it more rows, until all are in use.

    param_grid: as in :class:`~surefit.GridSearch`; with ``n_candidates``, lists or distributions to draw
    so many from. factor: each round keeps one in so many and gives it so many times the rows. min_rows:
    training rows of the first round, by default as many
    as leave at most ``factor`` candidates for the last, and 20, or 10 a class, at least. Every round
    is scored on the same test rows, whole, and its training rows contain those of the round before. The
    choice is among the candidates of the last round; ``cv_results_`` has all, with ``round`` and
    ``n_rows``.

    >>> import numpy as np
    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> grid = {"alpha": np.geomspace(1e-3, 1e3, 9).tolist()}
    >>> search = surefit.HalvingSearch(surefit.Ridge(), grid).fit(X, X[:, 0] + rng.normal(size=300))
    >>> search.n_candidates_, search.n_rows_
    ([9, 3, 1], [26, 80, 240])
    """

    finds = ("n_candidates_", "n_rows_")

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_candidates: int | None = None,
        factor: float = 3.0,
        min_rows: int | None = None,
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
        self.n_candidates = n_candidates
        self.factor = factor
        self.min_rows = min_rows
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
        if isinstance(self.factor, bool) or not isinstance(self.factor, int | float) or not self.factor > 1:
            raise ParameterError(f"factor={self.factor!r} must be a number above 1, such as 3.")
        if self.n_candidates is None:
            return [dict(entry) for entry in ParameterGrid(self.param_grid)]
        return drawn(self.param_grid, self.n_candidates, self.random_state)

    def _search(
        self, work: SearchWork | ReadWork, candidates: list[dict[str, Any]], pairs: list[Pair]
    ) -> None:
        most = min(len(train) for train, _ in pairs)
        rounds = max(0, math.ceil(math.log(len(candidates), self.factor) - 1e-9))
        sizes = [int(most / self.factor ** (rounds - k)) for k in range(rounds)] + [most]
        least = self.min_rows or 10 * (2 if work.classes is None else len(work.classes))
        sizes = [size for size in sizes if size >= least] or [most]
        deadline = Deadline(self.time_budget)
        order = [in_class_shares(train, work, self._split_seed()) for train, _ in pairs]
        sign = 1.0 if self.greater_is_better_ else -1.0
        alive = list(range(len(candidates)))
        every: list[tuple[int, int, list[Fold] | None]] = []  # candidate, round, folds
        self.n_candidates_, self.n_rows_ = [], []
        for turn, size in enumerate(sizes):
            last = turn == len(sizes) - 1
            cut = [pair if last else (rows[:size], pair[1]) for rows, pair in zip(order, pairs, strict=True)]
            wanted = [candidates[k] for k in alive]
            if isinstance(work, ReadWork):
                found = self._run_as_read(work, wanted, cut, deadline)
            else:
                found = self._run(work, wanted, cut, deadline)
            every += [(k, turn, folds) for k, folds in zip(alive, found, strict=True)]
            self.n_candidates_.append(len(alive))
            self.n_rows_.append(size)
            if last or any(folds is None for folds in found):
                break
            means = [
                sign * np.mean([fold.scores[self.metric_name_] for fold in folds or ()]) for folds in found
            ]
            order_of = np.argsort(-np.nan_to_num(np.array(means), nan=-np.inf), kind="stable")
            kept = order_of[: max(1, math.ceil(len(alive) / self.factor - 1e-9))]
            alive = [alive[k] for k in sorted(kept)]
        turns = [turn for _, turn, _ in every]
        extra = {"round": turns, "n_rows": [self.n_rows_[turn] for turn in turns]}
        done = [turn for _, turn, folds in every if folds is not None]
        self._last = max(done) if done else 0
        tried, scored = [candidates[k] for k, _, _ in every], [folds for _, _, folds in every]
        if isinstance(work, ReadWork):  # answers are not kept
            self._keep(tried, scored, None, None, extra)
        else:
            self._keep(tried, scored, pairs, work, extra)

    def _search_source(
        self, X: Any, y: Any, weight: Any, groups: Any, candidates: list[dict[str, Any]], scorer: Any
    ) -> None:
        table = ReadRows.of(self.estimator, X, y, weight)
        work = ReadWork(self.estimator, {self.metric_name_: scorer}, table, self.return_train_score)
        options = {"classes": work.classes is not None, "random_state": self._split_seed()}
        self._search(work, candidates, table.pairs(self.split, groups, **options))

    def _run_as_read(
        self, work: ReadWork, candidates: list[dict[str, Any]], pairs: Sequence[Pair], deadline: Deadline
    ) -> list[list[Fold] | None]:
        """One candidate after the other; each reads its rows with all threads."""
        found: list[list[Fold] | None] = []
        for params in candidates:
            model = clone(self.estimator).set_params(**clone(params, safe=False))
            over = bool(found) and deadline.passed()
            found.append(None if over else [replace(work, model=model)(pair) for pair in pairs])
        return found

    def _caveat(self, count: int) -> str:
        first = self.n_candidates_[0]
        if first == count:
            return super()._caveat(count)
        return (
            f"It is the score of one of {first} candidates, of which {count} came to the last round by their "
            "scores on the same folds, and so is optimistic; interval corrects for the last round alone, and "
            "cross_validate(search, X, y) measures it by nested resampling."
        )

    def _finalists(self) -> list[int]:
        return [k for k, turn in enumerate(self.cv_results_["round"]) if turn == self._last]


def in_class_shares(train: Any, work: Any, seed: int) -> Any:
    """The training rows in an order whose every beginning has the classes in about their shares."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(train)
    if work.classes is None:
        return rows
    labels = np.asarray(work.y)[rows]
    place = np.empty(len(rows))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        place[own] = (np.arange(len(own)) + 0.5) / len(own)
    return rows[np.argsort(place, kind="stable")]
