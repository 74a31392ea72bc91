"""What neighbours say: votes for classes, and means of numbers; and k by leaving each row out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, FormatError
from surefit.data.door import Accepts, admit
from surefit.data.source import Source
from surefit.data.targets import class_codes
from surefit.distances import Distance
from surefit.distances.search import Found, Lists
from surefit.models.neighbors.base import NearestMixin, NeighborModel, NeighborParameters, nearest_with_places
from surefit.models.neighbors.weights import needs_bandwidth, weights_of

Neighbours = tuple[NDArray[np.int64], Matrix, NDArray[np.int64]]  # query, weight and row of each vote


@dataclass(frozen=True, slots=True)
class ClassNeighborParameters(NeighborParameters):
    """The same, and the labels: one array, or a list of one for each output."""

    classes: Any


@dataclass(frozen=True, slots=True)
class Votes:
    """A row of votes: who is asked by which query, and with which weight."""

    queries: int
    query: NDArray[np.int64]
    row: NDArray[np.int64]
    weight: Vector

    @classmethod
    def of_lists(cls, lists: Lists, weight: Vector) -> Votes:
        """Votes of lists of unlike lengths."""
        query = np.repeat(np.arange(len(lists.start) - 1), lists.counts())
        return cls(len(lists.start) - 1, query, lists.index, weight)

    @classmethod
    def of_matrix(cls, index: NDArray[np.int64], weight: Matrix) -> Votes:
        """Votes of k neighbours each."""
        query = np.repeat(np.arange(len(index)), index.shape[1])
        return cls(len(index), query, index.ravel(), weight.ravel())

    def shares(self, codes: NDArray[np.int64], classes: int) -> Matrix:
        """The share of each class in the votes of each query; zeros where nobody was asked."""
        place = self.query * classes + codes[self.row]
        total = np.bincount(place, self.weight, self.queries * classes).reshape(self.queries, classes)
        whole = total.sum(axis=1, keepdims=True)
        return np.divide(total, whole, out=np.zeros_like(total), where=whole > 0)

    def means(self, targets: Matrix) -> Matrix:
        """The weighted mean of the targets; NaN where nobody was asked."""
        whole = np.bincount(self.query, self.weight, self.queries)
        columns = targets.reshape(len(targets), -1)
        found = np.empty((self.queries, columns.shape[1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            for j in range(columns.shape[1]):
                found[:, j] = (
                    np.bincount(self.query, self.weight * columns[self.row, j], self.queries) / whole
                )
        return found.reshape((self.queries, *targets.shape[1:]))


class ClassVotes(ClassifierMixin, NeighborModel, abstract=True):
    """Models that tell classes, of one output or of several."""

    accepts = Accepts(target="class")
    learns: ClassVar[type] = ClassNeighborParameters
    classes_: Any

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        shape = (
            np.shape(np.asarray(y, dtype=object)) if isinstance(y, list | tuple) else getattr(y, "shape", ())
        )
        self.__dict__.pop("_several", None)
        if len(shape) != 2 or shape[1] < 2:
            return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)
        columns = np.asarray(y).T
        known = classes if isinstance(classes, list) else [None] * len(columns)
        coded = [class_codes(column, own) for column, own in zip(columns, known, strict=True)]
        Y = np.column_stack([codes for codes, _ in coded]).astype(np.float64)
        accepts = replace(self._accepted(), target="number", several_targets=True)
        self._several = [labels for _, labels in coded]
        return admit(self, accepts, X, Y, sample_weight, reset=reset)

    def _made(
        self, rows: Any, targets: Any, weights: Any, distance: Distance, count: int, source: Source
    ) -> ClassNeighborParameters:
        base = super()._made(rows, targets, weights, distance, count, source)
        classes = self.__dict__.pop("_several", None)
        classes = source.schema.classes if classes is None else classes
        values = {each.name: getattr(base, each.name) for each in fields(base)}
        return ClassNeighborParameters(
            **{**values, "targets": np.asarray(targets).astype(np.int64)}, classes=classes
        )

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Take in more rows; those that are held are not indexed anew.

        classes: all labels that will come, at the first call; without them, those of its rows.
        """
        if not self.__sklearn_is_fitted__() and classes is not None:
            return self._atomically(lambda: self._first(X, y, classes))
        return super().partial_fit(X, y)

    def _first(self, X: Any, y: Any, classes: Any) -> None:
        self.fit(X, y)
        labels = np.unique(np.asarray(classes))
        place = np.searchsorted(labels, self.classes_)
        if isinstance(self.classes_, list) or not np.isin(self.classes_, labels).all():
            raise DataError("partial_fit: classes must hold every label of y.")
        self.targets_, self.classes_ = place[self.targets_].astype(np.int64), labels

    def _labelled(self) -> Any:
        several = isinstance(self.classes_, list)
        columns = [own[codes] for codes, own in self._labels()]
        return np.column_stack(columns) if several else columns[0]

    def _check_targets(self) -> None:
        codes, several = self.targets_, isinstance(self.classes_, list)
        labels = self.classes_ if several else [self.classes_]
        fits = isinstance(codes, np.ndarray) and codes.dtype == np.int64 and codes.ndim == 1 + several
        for o, own in enumerate(labels if fits else ()):
            column = codes[:, o] if several else codes
            fits &= isinstance(own, np.ndarray) and bool(((column >= 0) & (column < len(own))).all())
        if not fits:
            raise FormatError(f"the classes of its {type(self).__name__} are not those of its rows.")

    @property
    def outputs_2d_(self) -> bool:
        """Whether there are several targets a row."""
        return isinstance(self.classes_, list)

    def _labels(self) -> list[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Codes and classes of each output."""
        if not isinstance(self.classes_, list):
            return [(self.targets_, self.classes_)]
        return [(np.ascontiguousarray(self.targets_[:, o]), own) for o, own in enumerate(self.classes_)]

    def _vote(self, votes: Votes) -> Any:
        """The shares of the classes; a list of them for several outputs."""
        found = [votes.shares(codes, len(labels)) for codes, labels in self._labels()]
        return found if isinstance(self.classes_, list) else found[0]

    def _winners(self, shares: Any) -> NDArray[Any]:
        """The class with most votes, the first of equals."""
        if isinstance(self.classes_, list):
            best = [own[one.argmax(axis=1)] for own, one in zip(self.classes_, shares, strict=True)]
            return np.column_stack(best)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def _by_output(self, shares: Matrix) -> list[Matrix]:
        counts = [len(labels) for _, labels in self._labels()]
        return np.split(shares, np.cumsum(counts)[:-1], axis=1)

    def _side_by_side(self, shares: Any) -> Matrix:
        return np.hstack(shares) if isinstance(shares, list) else shares

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the share of each class in the votes of each row's neighbours; a list for several
        outputs.
        """
        if X is None:
            check_is_fitted(self)
            return self._shares(None)
        shares = self._answer(lambda rows: self._side_by_side(self._shares(rows)), X, to, self._class_names())
        several = isinstance(getattr(self, "classes_", None), list)
        return self._by_output(shares) if several and shares is not None else shares

    def _shares(self, X: Any) -> Any:
        raise TypeError("a classifier by neighbours says who votes.")

    def _class_names(self) -> list[str]:
        labels = self.classes_ if isinstance(getattr(self, "classes_", None), list) else None
        if labels is None:
            return super()._class_names()
        return [f"{o}: {label}" for o, own in enumerate(labels) for label in own]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class NumberMeans(RegressorMixin, NeighborModel, abstract=True):
    """Models that tell numbers, of one output or of several."""

    accepts = Accepts(target="number", several_targets=True)

    def _check_targets(self) -> None:
        if not isinstance(self.targets_, np.ndarray) or self.targets_.dtype.kind != "f":
            raise FormatError(f"the targets of its {type(self).__name__} must be numbers.")


class KNeighborsVotes(NearestMixin, abstract=True):
    """Who votes among the k nearest; and the errors of leaving each row out, for all k in one search."""

    weights: Any
    most_neighbors: int

    def _votes_of(self, found: Found, places: Matrix | None, k: int) -> Votes:
        """The votes of the first k of the rows found; a kernel's bandwidth is how far the next one is."""
        index, distance = found.index[:, :k], found.distance[:, :k]
        beyond = found.distance[:, min(k, found.distance.shape[1] - 1)]
        weight = weights_of(self.weights, distance, beyond)
        return Votes.of_matrix(index, weight if places is None else weight * places[:, :k])

    def _votes(self, X: Any) -> Votes:
        k = self._count(None)
        found, places = nearest_with_places(self, X, k + self._one_more(k, X is None))
        if places is not None and needs_bandwidth(self.weights):
            raise DataError(
                "weights: a kernel by the next neighbour takes rows without weights of their own."
            )
        return self._votes_of(found, places, k if places is None else found.index.shape[1])

    def _one_more(self, k: int, own: bool) -> int:
        return int(
            needs_bandwidth(self.weights) and k < self.n_samples_fit_ - own and self.row_weights_ is None
        )

    def leave_one_out(self, most_neighbors: int | None = None) -> Vector:
        """Return the error of leaving each row out, for k = 1, 2, ... neighbours: one search serves all.

        The share of rows told wrong, or the mean of squared errors.
        """
        if self.row_weights_ is not None:
            raise DataError("leave_one_out takes rows without weights: it asks each row once.")
        most = min(most_neighbors or self.most_neighbors, self.n_samples_fit_ - 1)
        if most < 1:
            raise DataError("leave_one_out takes two rows at least.")
        found = self._search(None, most + self._one_more(most, True))
        return np.array([self._error(self._votes_of(found, None, k)) for k in range(1, most + 1)])

    def _error(self, votes: Votes) -> float:
        raise TypeError("a model by neighbours says what an error is.")

    def _asked(self) -> int:
        return min(self._count(None), self.n_samples_fit_)

    def _chosen_count(self) -> int:
        """k: as given, or the one with the least error of leaving rows out, the largest of equals."""
        if not isinstance(self.n_neighbors, str):
            return int(self.n_neighbors)
        if self.n_samples_fit_ < 3:
            return 1
        errors = self.leave_one_out()
        return int(len(errors) - errors[::-1].argmin())
