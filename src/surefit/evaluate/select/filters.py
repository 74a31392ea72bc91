"""Filters: keep the columns whose own score is high, or too high for chance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.data.door import Accepts, admit, is_streamed
from surefit.data.read import read
from surefit.data.source import Source
from surefit.evaluate.persistence import Saved, Verify
from surefit.evaluate.rows.dataset import ReadRows, columns_of
from surefit.evaluate.rows.source_models import loaded
from surefit.evaluate.select import binned_information, column_scores
from surefit.evaluate.select.column_scores import benjamini_hochberg, f_classif, permutation_p_values
from surefit.evaluate.select.streamed_scores import IN_MEMORY, STREAMED

Score = Callable[[Any, Any], Any] | str
NAMED: dict[str, Callable[..., Any]] = {
    "correlation": lambda X, y: np.abs(column_scores.r_regression(X, y)),
    "f_regression": column_scores.f_regression,
    "f_classif": column_scores.f_classif,
    "f_score": column_scores.f_score,
    "chi2": column_scores.chi2,
    "mutual_info_classif": column_scores.mutual_info_classif,
    "mutual_info_regression": column_scores.mutual_info_regression,
    "relief": column_scores.relief,
    "relieff": column_scores.relieff,
    "dispersion": column_scores.dispersion,
    "binned_info_classif": binned_information.binned_info_classif,
    "binned_info_regression": binned_information.binned_info_regression,
}


def score_function(given: Score) -> Callable[..., Any]:
    """A score of columns, by its name or as a function of (X, y)."""
    if callable(given):
        return given
    if given not in NAMED:
        raise ParameterError(
            f"score_func={given!r} must be a function of (X, y) or one of {', '.join(NAMED)}."
        )
    return NAMED[given]


class _OverSources:
    """``transform`` for tables that are read; apart from the wrapped one, because a source stays a source."""

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns: of rows in memory at once, of a table as it is read."""
        if not is_streamed(X):
            return super().transform(X)  # type: ignore[misc]
        check_is_fitted(self)
        own: Any = self
        source = read(X)
        places: list[int] = np.flatnonzero(own.support_).tolist()
        names, known = getattr(self, "feature_names_in_", None), source.schema.names
        if names is not None and known is not None:
            lacking = sorted({str(names[j]) for j in places} - set(known))
            if lacking:
                raise DataError(f"the table lacks columns that were chosen: {', '.join(lacking[:10])}.")
            places = [known.index(str(names[j])) for j in places]
        elif source.schema.width != own.n_features_in_:
            raise DataError(
                f"the table has {source.schema.width} columns, but {type(self).__name__} was fitted on "
                f"{own.n_features_in_}."
            )
        return columns_of(source, places)


def name_of_score(given: Score) -> Any:
    """The name of a score of surefit's, given by name or as the function; any other function as it is."""
    return next((name for name, function in NAMED.items() if function is given), given)


class Selector(_OverSources, Saved, SelectorMixin, BaseEstimator, abstract=True):
    """A transformer that keeps some of the columns; ``get_support()`` says which.

    X may be a table that is read in batches, with the name of its target as y: what adds up is added up as
    rows pass, a wrapped model reads them as it learns, and what needs all rows at once loads them, up to 40
    million numbers.
    """

    finds: ClassVar[tuple[str, ...]] = ("support_", "n_features_in_")
    may_find: ClassVar[tuple[str, ...]] = ("feature_names_in_", "_sklearn_output_config")
    reads_sources: ClassVar[bool] = True
    support_: NDArray[np.bool_]
    n_features_in_: int

    def _admitted(self, X: Any, y: Any, **accepts: Any) -> Source:
        """A table that is read in batches, checked as it passes; it tells this selector its columns."""
        return admit(self, Accepts(**accepts), X, y)

    def _check_found(self) -> None:
        mask = self.support_
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.n_features_in_,):
            raise FormatError(f"the mask of a {type(self).__name__} must have one entry for each column.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Choose once more from the same rows, and count the columns that are chosen otherwise."""
        if weight is not None:
            raise DataError(f"{type(self).__name__} takes no weights: verify it without them.")
        if not isinstance(getattr(self, "random_state", 0), int | np.integer):
            raise RefusalError(
                f"this {type(self).__name__} was fitted without a fixed random_state, so that its selection "
                "cannot be reproduced: pass an integer as random_state and fit again."
            )
        check_is_fitted(self)
        again = clone(self).fit(X, *(() if y is None else (y,)))
        same = again.support_.shape == self.support_.shape
        apart = float(np.count_nonzero(again.support_ != self.support_)) if same else float("inf")
        measure = "columns that the same rows choose otherwise"
        return Certificate("fixed point", measure, apart, 0.0, {"columns kept": float(self.support_.sum())})

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


class Filter(Selector, abstract=True):
    """A selector by scores of single columns: ``scores_``, and ``pvalues_`` where the score is a test."""

    finds = ("scores_", "pvalues_")
    score_func: Score
    scores_: NDArray[np.float64]
    pvalues_: NDArray[np.float64] | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the columns on these rows, and choose among them."""
        self._check()
        if is_streamed(X, y):
            found = self._scored_as_read(X, y)
        else:
            if y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
            X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], multi_output=True)
            found = self._scored(X, y)
        tested = isinstance(found, tuple)
        self.scores_ = column_scores.scores_only(found)
        self.pvalues_ = np.asarray(found[1], dtype=np.float64) if tested else None
        self.support_ = self._chosen(np.where(np.isnan(self.scores_), -np.inf, self.scores_))
        return self

    def to_file(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """A score of surefit's goes by its name."""
        parameters, state = super().to_file()
        return {**parameters, "score_func": name_of_score(parameters["score_func"])}, state

    def _scored(self, X: Any, y: Any) -> Any:
        return score_function(self.score_func)(X, y)

    def _scored_as_read(self, X: Any, y: Any) -> Any:
        """The scores from sums, where they add up; else those of all rows in memory."""
        score_function(self.score_func)
        name = name_of_score(self.score_func)
        if name in STREAMED:
            kind, score = STREAMED[name]
            return self._from_sums(score, self._admitted(X, y, target=kind))
        source = self._admitted(X, y, target=IN_MEMORY.get(name, "any"))
        held = loaded(name if isinstance(name, str) else type(self).__name__, source, None)
        return self._scored(held.X, held.y)

    def _from_sums(self, score: Callable[[Source], Any], source: Source) -> Any:
        return score(source)

    def _check(self) -> None:
        """Refuse parameters out of range."""

    @abstractmethod
    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which columns to keep."""

    def _p_values(self) -> NDArray[np.float64]:
        if self.pvalues_ is None:
            raise RefusalError(
                f"score_func={self.score_func!r} is no test and has no p-values: use SelectByPermutation, "
                "which makes them for any score."
            )
        return self.pvalues_

    def _share(self, value: Any, name: str = "alpha") -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ParameterError(f"{name}={value!r} must be a number from 0 to 1.")


def highest(scores: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """A mask of so many of the highest; of equal ones those that come first."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:count]] = True
    return mask


class SelectKBest(Filter):
    """Keep the k columns with the highest scores.

    score_func: a function of (X, y) that returns scores, or scores and p-values; or the name of one:
    "correlation", "f_regression", "f_classif", "f_score", "chi2", "mutual_info_classif",
    "mutual_info_regression", "binned_info_classif", "binned_info_regression", "relief", "relieff",
    "dispersion". Over a table that is read in batches, mutual_info_* and relief* load it, and the others add
    up. k: how many, or "all".

    >>> import surefit
    >>> X = np.array([[0.0, 1.0], [0.0, 3.0], [9.0, 2.0], [9.0, 2.5]])
    >>> surefit.SelectKBest("f_classif", k=1).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def __init__(self, score_func: Score = f_classif, *, k: int | str = 10) -> None:
        self.score_func = score_func
        self.k = k

    def _check(self) -> None:
        whole = isinstance(self.k, int | np.integer) and not isinstance(self.k, bool) and self.k >= 0
        if self.k != "all" and not whole:
            raise ParameterError(f"k={self.k!r} must be a whole number of at least 0, or 'all'.")

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return highest(scores, len(scores) if self.k == "all" else int(self.k))


class SelectPercentile(Filter):
    """Keep the given percentage of the columns, those with the highest scores.

    >>> import surefit
    >>> X = np.array([[0.0, 1.0], [0.0, 3.0], [9.0, 2.0], [9.0, 2.5]])
    >>> surefit.SelectPercentile("f_classif", percentile=50).fit_transform(X, [0, 0, 1, 1]).ravel()
    array([0., 0., 9., 9.])
    """

    def __init__(self, score_func: Score = f_classif, *, percentile: float = 10) -> None:
        self.score_func = score_func
        self.percentile = percentile

    def _check(self) -> None:
        if not isinstance(self.percentile, int | float) or not 0 <= self.percentile <= 100:
            raise ParameterError(f"percentile={self.percentile!r} must be a number from 0 to 100.")

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return highest(scores, int(len(scores) * self.percentile / 100))


class SelectFpr(Filter):
    """Keep the columns whose test has a p-value below alpha: a share alpha of the useless get through.

    >>> import surefit
    >>> X = np.array([[0.0, 1.0], [0.1, 3.0], [9.0, 2.0], [9.1, 2.5]])
    >>> surefit.SelectFpr(alpha=0.01).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def __init__(self, score_func: Score = f_classif, *, alpha: float = 0.05) -> None:
        self.score_func = score_func
        self.alpha = alpha

    def _check(self) -> None:
        self._share(self.alpha)

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self._p_values() < self.alpha


class SelectFdr(SelectFpr):
    """Keep columns so that at most a share alpha of them is useless, on average (Benjamini and Hochberg).

    >>> import surefit
    >>> X = np.array([[0.0, 1.0], [0.1, 3.0], [9.0, 2.0], [9.1, 2.5]])
    >>> surefit.SelectFdr(alpha=0.05).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return benjamini_hochberg(self._p_values(), self.alpha)


class SelectFwe(SelectFpr):
    """Keep columns so that with probability 1 - alpha none of them is useless (Bonferroni).

    >>> import surefit
    >>> X = np.array([[0.0, 1.0], [0.1, 3.0], [9.0, 2.0], [9.1, 2.5]])
    >>> surefit.SelectFwe(alpha=0.05).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self._p_values() < self.alpha / len(scores)


class SelectByPermutation(Filter):
    """Keep the columns whose score shuffled targets seldom reach: p = (1 + how often) / (1 + draws) ≤ alpha.

    score_func: any score, a test or not. draws: shufflings; the least p-value is 1 / (1 + draws).

    >>> import surefit
    >>> X = np.column_stack([np.arange(30.0), np.cos(np.arange(30.0))])
    >>> surefit.SelectByPermutation("correlation", draws=99).fit(X, np.arange(30.0)).get_support()
    array([ True, False])
    """

    def __init__(
        self,
        score_func: Score = "f_classif",
        *,
        alpha: float = 0.05,
        draws: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.score_func = score_func
        self.alpha = alpha
        self.draws = draws
        self.random_state = random_state

    def _check(self) -> None:
        self._share(self.alpha)
        if isinstance(self.draws, bool) or not isinstance(self.draws, int) or self.draws < 1:
            raise ParameterError(f"draws={self.draws!r} must be a whole number of at least 1.")

    def _scored(self, X: Any, y: Any) -> Any:
        score = score_function(self.score_func)
        return permutation_p_values(score, X, y, draws=self.draws, random_state=self.random_state)

    def _from_sums(self, score: Callable[[Source], Any], source: Source) -> Any:
        table = ReadRows.of(self, source)

        def shuffled(_: Any, target: Any) -> Any:
            return score(table.with_target(target).source)

        options: Any = {"draws": self.draws, "random_state": self.random_state}
        return permutation_p_values(shuffled, None, table.y, **options)

    def _chosen(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self._p_values() <= self.alpha
