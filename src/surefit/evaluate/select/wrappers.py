"""Wrappers: subsets of columns judged by the model itself, on rows left out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from surefit.core.errors import ParameterError, RefusalError
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.evaluate.rows.dataset import ReadRows
from surefit.evaluate.select.filters import Selector
from surefit.evaluate.select.subset_scores import Subset, SubsetScores


class Wrapper(MetaEstimatorMixin, Selector, abstract=True):
    """A selector that fits the model to subsets; ``score_`` is that of the chosen one, and optimistic.

    The columns are chosen by the rows that ``fit`` gets. To know what the selection is worth,
    cross-validate a pipeline of selector and model: then the choice is made anew in each fold.
    """

    finds = ("n_features_to_select_", "score_", "n_subsets_")
    estimator: Any
    scoring: Any
    cv: Any
    n_jobs: int | None
    random_state: Any = 0

    @abstractmethod
    def _choose(self, scores: SubsetScores, columns: int) -> Subset:
        """Walk through subsets and return one."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search the subsets on these rows."""
        self._check()
        rows: Any
        if is_streamed(X, y):
            source = read(X, target=y)
            self._admitted(source, None, tables=True, missing=True)
            rows = ReadRows.of(self.estimator, source)
            target, columns = rows.y, rows.width
        else:
            y_given = {} if y is None else {"y": y}
            checked = validate_data(
                self,
                X,
                **y_given,
                accept_sparse="csr",
                ensure_min_samples=2,
                ensure_all_finite=False,
                dtype=None,
            )
            rows, target = checked if y is not None else (checked, None)
            columns = rows.shape[1]
        scores = SubsetScores(
            self.estimator, rows, target, self.scoring, self.cv, self.n_jobs, self.random_state
        )
        chosen = self._choose(scores, columns)
        self.support_ = np.zeros(columns, dtype=bool)
        self.support_[list(chosen)] = True
        self.n_features_to_select_ = len(chosen)
        self.score_ = scores[tuple(sorted(chosen))]
        self.n_subsets_ = len(scores.known)
        return self

    def _check(self) -> None:
        """Refuse parameters out of range."""

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


def size_of(given: Any, columns: int, tolerance: float | None) -> int | None:
    """How many columns to end with; None where the score decides."""
    if isinstance(given, str):
        if given == "best" or (given == "auto" and tolerance is not None):
            return None
        if given == "auto":
            return max(1, columns // 2)
    elif isinstance(given, float) and 0 < given < 1:
        return max(1, int(columns * given))
    elif isinstance(given, int | np.integer) and not isinstance(given, bool) and 0 < given < max(columns, 2):
        return int(given)
    raise ParameterError(
        f"n_features_to_select={given!r} must be 'auto' (half of the columns), 'best', a share between 0 "
        f"and 1, or a whole number from 1 to {columns - 1}."
    )


class SequentialFeatureSelector(Wrapper):
    """Add one column at a time, or drop one, whichever leaves the best score on rows left out.

    n_features_to_select: how many, as a number or a share; "auto" for half of them, or with ``tol`` for
    as many as gain more than that; "best" for the best of all sizes. direction: "forward" or "backward".
    tol: the least gain of a column that is added; for "backward" it may be below zero. scoring, cv: as in
    :func:`~surefit.cross_validate`. floating: after each step, steps back as long as they reach a subset
    better than any of its size so far (SFFS and SBFS of Pudil, Novovičová and Kittler).

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y = X[:, 1] - X[:, 3]
    >>> model = surefit.SequentialFeatureSelector(surefit.LinearRegression(), n_features_to_select=2)
    >>> model.fit(X, y).get_support()
    array([False,  True, False,  True])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: Any = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        floating: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.floating = floating

    def _check(self) -> None:
        if self.direction not in ("forward", "backward"):
            raise ParameterError(f"direction={self.direction!r} must be 'forward' or 'backward'.")

    def _choose(self, scores: SubsetScores, columns: int) -> Subset:
        forward = self.direction == "forward"
        size = size_of(self.n_features_to_select, columns, self.tol)
        now: Subset = () if forward else tuple(range(columns))
        best: dict[int, Subset] = {len(now): now}  # of each size
        end = (columns if forward else 1) if size is None else size
        while (len(now) < end) if forward else (len(now) > end):
            step = self._step(scores, now, columns, grow=forward)
            stops = size is None and self.n_features_to_select == "auto"
            if stops and self.tol is not None and scores[step] - scores[now] < self.tol:
                break
            now = step
            if len(now) not in best or scores[now] > scores[best[len(now)]]:
                best[len(now)] = now
            if self.floating:
                now = self._float(scores, best, best[len(now)], columns, forward)
        if size is not None:
            return best[size]
        if self.n_features_to_select == "auto":
            return now if now else self._step(scores, now, columns, grow=True)
        kept = [subset for subset in best.values() if subset]
        return max(kept, key=lambda subset: (scores[subset], -len(subset)))

    def _step(self, scores: SubsetScores, now: Subset, columns: int, grow: bool) -> Subset:
        if grow:
            options = [tuple(sorted((*now, j))) for j in range(columns) if j not in now]
        else:
            options = [tuple(k for k in now if k != j) for j in now]
        return options[int(np.nanargmax(scores.of(options)))]

    def _float(
        self, scores: SubsetScores, best: dict[int, Subset], now: Subset, columns: int, forward: bool
    ) -> Subset:
        """Steps back, each of which must beat the best of its size; so that there is an end."""
        while (len(now) > 2) if forward else (len(now) < columns - 1):
            back = self._step(scores, now, columns, grow=not forward)
            known = best.get(len(back))
            if known is not None and not scores[back] > scores[known]:
                break
            now = best[len(back)] = back
        return now


class ExhaustiveSelector(Wrapper):
    """Try every subset of the columns, and take the best: the only search that is sure to find it.

    max_features, min_features: sizes to try. max_subsets: refuse more than so many, as they double with
    each column. Of equal scores the smaller subset is taken.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = surefit.ExhaustiveSelector(surefit.LinearRegression()).fit(X, X[:, 1] - X[:, 3])
    >>> model.get_support(), model.n_subsets_
    (array([False,  True, False,  True]), 15)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        min_features: int = 1,
        max_features: int | None = None,
        max_subsets: int = 5000,
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.min_features = min_features
        self.max_features = max_features
        self.max_subsets = max_subsets
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs

    def _choose(self, scores: SubsetScores, columns: int) -> Subset:
        from itertools import combinations
        from math import comb

        sizes = range(self.min_features, min(self.max_features or columns, columns) + 1)
        count = sum(comb(columns, size) for size in sizes)
        if count > self.max_subsets:
            raise RefusalError(
                f"{columns} columns have {count} subsets of these sizes, more than "
                f"max_subsets={self.max_subsets}: bound max_features, or use "
                "SequentialFeatureSelector(floating=True)."
            )
        subsets = [subset for size in sizes for subset in combinations(range(columns), size)]
        return subsets[int(np.nanargmax(scores.of(subsets)))]
