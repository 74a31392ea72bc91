"""What all models of neighbours share: the rows held, the proof that they are, and who is near."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError, SurefitWarning, warn
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.batches.objects import Objects
from surefit.data.door import Accepts, admit_rows
from surefit.data.source import MappedSource, Source, in_memory
from surefit.data.write import write_columns
from surefit.distances import Distance, as_distance, search
from surefit.distances.base import length
from surefit.distances.search import Found, Index, Lists
from surefit.engine.base import Engine
from surefit.engine.serial import Serial
from surefit.kernels import Kernel
from surefit.models.base import Estimator, Learned, admitted
from surefit.models.neighbors.rows import GraphRows, HeldRows, StreamedRows
from surefit.models.rows_in_memory import MOST_BYTES, gathered
from surefit.stats.spread import Spread

Algorithm = Literal["auto", "ball_tree", "kd_tree", "brute"]
Metric = str | Distance | Kernel | Callable[..., Any]
SAMPLE = 32  # queries that a certificate asks again
COMPARED = 500  # rows that are compared with each other for the diagnosis
ASKED = 100  # rows whose nearest of all is looked at
NEAREST = 10
CELLS = 2**21  # numbers that these may take at a fit; verify asks all of them


@dataclass(frozen=True, slots=True)
class NeighborParameters:
    """What a fit leaves: the rows, what is known of each, and the distance, with what it took from them.

    rows: a matrix, the parts of a CSR matrix, objects, or a source that is searched where it is. targets:
    class codes or numbers, one a row or one row a row. row_weights: None for all ones.
    """

    rows: Any
    targets: Any
    row_weights: NDArray[np.float64] | None
    distance: Distance
    effective_metric: str
    n_samples_fit: int


class NeighborModel(Estimator, abstract=True):
    """An estimator that answers by the rows near to a row."""

    learns: ClassVar[type] = NeighborParameters
    n_neighbors: Any
    radius: Any
    algorithm: Algorithm
    leaf_size: int
    metric: Metric
    p: float
    metric_params: dict[str, Any] | None
    hold: Literal["auto", "memory", "source"] = "auto"

    rows_: Any
    targets_: Any
    row_weights_: NDArray[np.float64] | None
    distance_: Distance
    effective_metric_: str
    n_samples_fit_: int

    # --- what is fed ---

    def _given_distance(self) -> Distance:
        return as_distance(self.metric, self.p, self.metric_params)

    def _accepted(self) -> Accepts:
        """By the distance: rows of numbers, objects, cells of any type, or distances."""
        try:
            distance = self._given_distance()
        except ParameterError:
            return self.accepts  # which a fit will complain about
        takes = distance.takes
        return replace(
            self.accepts,
            missing=distance.missing,
            objects=takes == "objects",
            cells=takes == "cells",
            sparse=takes in ("rows", "pairs"),
            pairwise=takes == "pairs",
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Hold the rows of a table and make them ready to be searched.

        A row of weight w takes w of the k places, as so many equal rows would. X: rows by columns: array,
        sparse matrix, frame or source; objects, or distances of all pairs, where the metric is for those.
        y: the target, one entry a row.
        """
        return super().fit(X, y, sample_weight)

    # --- the fit ---

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        self._check_counts()
        self.__dict__.pop("_kept", None)
        parameters = self._parameters(source, engine)
        self.__dict__.update({f"{each.name}_": getattr(parameters, each.name) for each in fields(parameters)})
        self._ready(engine)
        certificate = self._proof(engine, differing=0.0, most=CELLS)
        evidence = self._evidence()
        if in_memory(source) is None and self.distance_.takes == "rows" and not self.distance_.missing:
            spread = engine.accumulate(Spread.of, source)  # of all rows, not of a sample
            if "distance_columns" in evidence:
                evidence["distance_columns"] = np.sqrt(spread.variance)
        return Learned(parameters, certificate, evidence)

    def _check_counts(self) -> None:
        """Refuse a tree for differences to a power below 1, whose sums are no metric."""
        distance = self._given_distance()
        if distance.name != "minkowski" or distance.metric:
            return
        if self.algorithm in ("kd_tree", "ball_tree"):
            raise ParameterError(
                f'algorithm="{self.algorithm}" does not support 0 < p < 1 for the Minkowski metric. To '
                'resolve this problem either set p >= 1 or algorithm="brute".'
            )
        warn(
            "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution "
            "with `algorithm='brute'`.",
            SurefitWarning,
        )

    def _parameters(self, source: Source, engine: Engine) -> Any:
        distance = self._given_distance()
        streams = self.hold == "source" or (self.hold == "auto" and _is_large(source))
        if streams and in_memory(source) is None:
            targets, weights, count = _beside(source, engine)
            if weights is not None:
                raise DataError(
                    f"{type(self).__name__} takes no weights of rows in a source: give hold='memory'."
                )
            fitted = distance.fitted(next(iter(source)).X) if _learns_nothing(distance) else None
            if fitted is None:
                raise DataError(f"{distance!r} must be given its numbers to search a source where it is.")
            return self._made(source, targets, None, fitted, count, source)
        batch = _all_rows(source)
        batch = _counted(batch)
        if len(batch) == 0:
            raise DataError(f"{type(self).__name__}: no row has a weight above 0.")
        fitted = distance.fitted(batch.X)
        rows = fitted.inputs(batch.X) if fitted.takes == "cells" else batch.X
        return self._made(_stored(rows), batch.y, batch.weight, fitted, len(batch), source)

    def _made(
        self, rows: Any, targets: Any, weights: Any, distance: Distance, count: int, source: Source
    ) -> NeighborParameters:
        return NeighborParameters(rows, targets, weights, distance, _name_of(distance, self.metric), count)

    def _build(self, X: Any) -> Index:
        asked = self.n_neighbors if isinstance(self.n_neighbors, int) else 5
        algorithm: Algorithm = self.algorithm
        if self.distance_.name == "minkowski" and not self.distance_.metric:
            algorithm = "brute"
        if self.distance_.takes == "pairs":
            algorithm = "auto"
        return search.build(
            X, self.distance_, algorithm=algorithm, leaf_size=self.leaf_size, neighbours=asked
        )

    def _ready(self, engine: Engine | None = None) -> HeldRows | StreamedRows | GraphRows:
        """The rows, ready to be searched; made when first asked for, as after a file was loaded."""
        kept = self.__dict__.get("_kept")
        if kept is None:
            rows = self._held()
            if isinstance(rows, MappedSource):
                kept = StreamedRows(rows, self.distance_, self.n_samples_fit_, engine)
            elif self.distance_.takes == "pairs" and hasattr(rows, "toarray"):
                kept = GraphRows(rows)
            else:
                kept = HeldRows(rows, self._build)
            self._kept = kept
        return kept

    def _held(self) -> Any:
        """The rows as they were given."""
        return self.distance_.held(_restored(self.rows_))

    def _evidence(self) -> dict[str, Any]:
        kept = self._ready()
        if not isinstance(kept, HeldRows) or self.distance_.takes == "pairs":
            return {}
        codes = self.targets_ if self.accepts.target == "class" else None
        return row_evidence(self._held(), self.distance_, kept.main, codes)

    # --- the proof ---

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return self._proof(engine, self._differing(source), most=None)

    def _proof(self, engine: Engine, differing: float, most: int | None) -> Certificate:
        """Ask a sample of rows again, by comparing all pairs with numpy alone."""
        wrong = self._wrong_distances(most)
        return Certificate(
            claim="exact",
            measure=(
                "relative difference of the stored rows from the rows given, and of the distances of the "
                "nearest rows from those of comparing all pairs"
            ),
            value=max(differing, wrong),
            tolerance=1e-9,
            parts={"rows": differing, "distances": wrong},
        )

    def _wrong_distances(self, most: int | None) -> float:
        kept, rows = self._ready(), self._held()
        if not isinstance(kept, HeldRows):
            return 0.0
        count = self.n_samples_fit_
        sample = SAMPLE if most is None else max(1, min(SAMPLE, most // max(1, count * int(rows.shape[1]))))
        places = np.linspace(0, count - 1, min(sample, count)).astype(np.int64)
        k = min(self._asked(), count)
        queries = rows[places]
        found = kept.nearest(_as_given(queries), k)
        things = self.distance_.inputs(rows)
        D = self.distance_.between(self.distance_.inputs(queries), things)
        true = np.partition(D, k - 1, axis=1)[:, :k]
        true.sort(axis=1)
        seen = np.take_along_axis(D, found.index, axis=1)
        scale = np.maximum(np.abs(true).max(axis=1, initial=0.0), np.finfo(float).tiny)[:, None]
        with np.errstate(invalid="ignore"):
            gaps = np.maximum(np.abs(found.distance - true), np.abs(seen - true)) / scale
        return float(np.nan_to_num(gaps, nan=0.0, posinf=np.inf).max(initial=0.0)) * 1e-3

    def _asked(self) -> int:
        return self.n_neighbors if isinstance(self.n_neighbors, int) else 5

    def _differing(self, source: Source) -> float:
        """How much stored rows, targets and weights differ from those given, relative to their size."""
        rows, start, worst = self._held(), 0, 0.0
        streamed = isinstance(rows, MappedSource)
        for batch in source:
            batch = _counted(batch)
            here = slice(start, start + len(batch))
            start += len(batch)
            if start > self.n_samples_fit_:
                return float("inf")
            if not streamed:
                given = self.distance_.inputs(batch.X) if self.distance_.takes == "cells" else batch.X
                worst = max(worst, _difference(rows[here], given))
            if self.targets_ is not None:
                worst = max(worst, _difference(self.targets_[here], np.asarray(batch.y)))
            weights = np.ones(len(batch)) if batch.weight is None else batch.weight
            stored = np.ones(len(batch)) if self.row_weights_ is None else self.row_weights_[here]
            worst = max(worst, _difference(stored, weights))
        return worst if start == self.n_samples_fit_ else float("inf")

    def check_loaded(self) -> None:
        """Rows, targets and weights must go together, and be what the distance compares."""
        try:
            rows = self._held()
            count = length(rows)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise FormatError(f"the rows of its {type(self).__name__} are not valid: {error}") from None
        pairs = self.distance_.takes == "pairs"
        fits = count == self.n_samples_fit_ >= 1 and (
            isinstance(rows, Objects) or int(rows.shape[1]) == (count if pairs else self.n_features_in_)
        )
        for beside in (self.targets_, self.row_weights_):
            fits &= beside is None or (isinstance(beside, np.ndarray) and len(beside) == count)
        if not fits:
            raise FormatError(
                f"the rows, targets and weights of its {type(self).__name__} do not fit together."
            )
        self._check_targets()

    def _check_targets(self) -> None:
        """Refuse targets of a file that are none."""

    # --- rows that come and go ---

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in more rows; those that are held are not indexed anew."""

        def step() -> None:
            if not self.__sklearn_is_fitted__():
                self._fit(X, y, None)
                return
            batch = _all_rows(self._more(X, y))
            rows = self._changeable()
            new = self.distance_.inputs(batch.X) if self.distance_.takes == "cells" else batch.X
            both = _together(_restored(self.rows_), new)
            changed = {"rows_": _stored(both), "n_samples_fit_": self.n_samples_fit_ + len(batch)}
            if self.targets_ is not None:
                changed["targets_"] = np.concatenate([self.targets_, np.asarray(batch.y)])
            if self.row_weights_ is not None:
                changed["row_weights_"] = np.concatenate([self.row_weights_, np.ones(len(batch))])
            self._kept = rows
            rows.add(_as_given(new))
            self.__dict__.update(changed)
            self.certificate_ = self._proof(Serial(), 0.0, CELLS)

        return self._atomically(step)

    def merge(self, other: Any) -> Self:
        """Take in the rows of another model of the same kind; the other is left as it was."""
        if type(other) is not type(self):
            raise RefusalError(
                f"a {type(self).__name__} can only merge another, not a {type(other).__name__}."
            )
        check_is_fitted(self)
        check_is_fitted(other)
        return self.partial_fit(other._held(), other._labelled())

    def _labelled(self) -> Any:
        """The targets as they were given."""
        return self.targets_

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Drop rows that are held: for each given, the last equal to it, in target and weight too."""
        check_is_fitted(self)
        source = admitted(self, X, y, sample_weight, reset=False)
        return self.forget_rows(self._numbers_of(_all_rows(source)))

    def _numbers_of(self, batch: Batch) -> list[int]:
        there: dict[bytes, list[int]] = {}
        for number, key in enumerate(_keys(self._held(), self.targets_, self.row_weights_)):
            there.setdefault(key, []).append(number)
        given = self.distance_.inputs(batch.X) if self.distance_.takes == "cells" else batch.X
        targets = None if self.targets_ is None else np.asarray(batch.y)
        found = []
        for place, key in enumerate(_keys(given, targets, batch.weight)):
            if not there.get(key):
                raise RefusalError(f"row {place} is none of those that are held, so it cannot be forgotten.")
            found.append(there[key].pop())
        return found

    def forget_rows(self, rows: Any) -> Self:
        """Drop rows by their numbers; those after them move up, and no index is built anew."""
        check_is_fitted(self)
        numbers = np.unique(np.asarray(rows, dtype=np.int64).ravel())
        if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < self.n_samples_fit_):
            raise DataError(f"forget_rows takes the numbers of rows held, 0 to {self.n_samples_fit_ - 1}.")
        if len(numbers) >= self.n_samples_fit_:
            raise RefusalError("a model of neighbours must keep one row at least.")

        def step() -> None:
            held = self._changeable()
            keep = np.ones(self.n_samples_fit_, dtype=bool)
            keep[numbers] = False
            self._kept = held
            held.remove(numbers)
            self.rows_ = _stored(_restored(self.rows_)[keep])
            for name in ("targets_", "row_weights_"):
                beside = getattr(self, name)
                setattr(self, name, None if beside is None else beside[keep])
            self.n_samples_fit_ = int(keep.sum())
            self.certificate_ = self._proof(Serial(), 0.0, CELLS)

        return self._atomically(step)

    def _more(self, X: Any, y: Any) -> Source:
        return admitted(self, X, y, None, reset=False)

    def _changeable(self) -> HeldRows:
        """A copy of the index that may be changed, so that a step that fails changes nothing."""
        kept = self._ready()
        if not isinstance(kept, HeldRows) or self.distance_.takes == "pairs":
            raise DataError("rows can be added and removed where they are held in memory, and are rows.")
        return kept.copied()

    # --- questions ---

    def _over(self, method: Callable[[Any], Any], X: Any) -> list[Any]:
        """Apply a method to checked rows: one answer, or for a source one a batch."""
        check_is_fitted(self)
        if X is None:  # the rows held, each left out in turn
            return [method(None)]
        rows = admit_rows(self, self._accepted(), X)
        if not isinstance(rows, MappedSource):
            return [method(rows)]
        return [method(batch.X) for batch in rows]

    def _free(self, method: Callable[[Any], Any], X: Any, to: str | Path | None, names: list[str]) -> Any:
        """Answer as ``_answer`` does, where NaN may be meant."""
        found = self._over(method, X)
        if to is not None:
            write_columns(to, names, found)
            return None
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _search(self, X: Any, k: int) -> Found:
        kept = self._ready()
        most = kept.rows - (X is None)
        if k > most:
            raise DataError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {kept.rows}, n_samples = {kept.rows if X is None else length(X)}: ask for "
                f"at most {most}."
            )
        return kept.nearest(X, k)

    def __str__(self) -> str:
        kept = self.__dict__.get("_kept")
        told = ""
        if isinstance(kept, HeldRows):
            told = f" ({kept.rows} rows, {kept.main})"
        elif kept is not None:
            told = f" ({kept.rows} rows of a source, compared as they pass)"
        return f"{self!r}{told}"

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The parameters of the distance."""
        return {name: value for name, value in self.distance_.parameters.items() if value is not None}

    @property
    def _fit_X(self) -> Any:
        return self._held()

    @property
    def _y(self) -> Any:
        return self.targets_

    @property
    def _fit_method(self) -> str:
        kept = self._ready()
        return kept.main.algorithm if isinstance(kept, HeldRows) else "brute"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        accepted = self._accepted()
        tags.input_tags.allow_nan = accepted.missing
        tags.input_tags.sparse = accepted.sparse
        tags.input_tags.pairwise = accepted.pairwise
        return tags


class NearestMixin(NeighborModel, abstract=True):
    """Asks for the k nearest rows."""

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return the distances of the nearest rows and their numbers, the nearest first.

        Without X, of each row among the others. Of equal distances the first row comes first.
        """
        check_is_fitted(self)
        k = self._count(n_neighbors)
        found = [self._search(None, k)] if X is None else self._over(lambda rows: self._search(rows, k), X)
        index = np.concatenate([one.index for one in found])
        return (np.concatenate([one.distance for one in found]), index) if return_distance else index

    def _count(self, n_neighbors: int | None) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if isinstance(k, str):
            k = getattr(self, "n_neighbors_", 5)
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise TypeError(
                f"n_neighbors does not take {type(k)} value, enter integer value: a whole number is meant."
            )
        if k < 1:
            raise ParameterError(f"Expected n_neighbors > 0. Got {k}.")
        return int(k)

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> Any:
        """Return the sparse graph from rows to their nearest: ones, or distances."""
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ParameterError(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
            )
        distance, index = self.kneighbors(X, n_neighbors)
        values = distance.ravel() if mode == "distance" else np.ones(index.size)
        start = np.arange(0, index.size + 1, index.shape[1])
        return csr_matrix((values, index.ravel(), start), shape=(len(index), self.n_samples_fit_))


class RadiusMixin(NeighborModel, abstract=True):
    """Asks for all rows within a radius."""

    def _lists(self, X: Any, radius: float | None, by_distance: bool) -> list[Lists]:
        check_is_fitted(self)
        limit = self.radius if radius is None else radius
        kept = self._ready()
        if X is None:
            return [kept.within(None, limit, by_distance)]
        return self._over(lambda rows: kept.within(rows, limit, by_distance), X)

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Return two arrays of arrays, one a row: the distances of all rows within the radius, and their
        numbers; in order of numbers, or of distances with ``sort_results``.
        """
        if sort_results and not return_distance:
            raise ParameterError("return_distance must be True if sort_results is True.")
        found = [lists.split() for lists in self._lists(X, radius, sort_results)]
        index = np.concatenate([one[1] for one in found])
        return (np.concatenate([one[0] for one in found]), index) if return_distance else index

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Return the sparse graph from rows to all rows within the radius: ones, or distances."""
        from scipy.sparse import csr_matrix, vstack

        if mode not in ("connectivity", "distance"):
            raise ParameterError(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead'
            )
        blocks = []
        for lists in self._lists(X, radius, sort_results):
            values = lists.distance if mode == "distance" else np.ones(len(lists.index))
            shape = (len(lists.start) - 1, self.n_samples_fit_)
            blocks.append(csr_matrix((values, lists.index, lists.start), shape=shape))
        return blocks[0] if len(blocks) == 1 else vstack(blocks, format="csr")


def places_taken(weight: Vector, k: int) -> Matrix:
    """How many of k places each neighbour in turn takes, which is its weight while there is room."""
    before = np.cumsum(weight, axis=1) - weight
    return np.clip(k - before, 0.0, weight)


def nearest_with_places(model: NeighborModel, X: Any, k: int) -> tuple[Found, Matrix | None]:
    """The neighbours that fill k places, and how many each takes; None where each takes one.

    A row of weight 2 takes two places, as two equal rows would.
    """
    weights = model.row_weights_
    if weights is None:
        return model._search(X, k), None
    most = model.n_samples_fit_ - (X is None)
    count = min(k, most)
    while True:
        found = model._search(X, count)
        weight = weights[found.index]
        if count == most or (weight.sum(axis=1) >= k).all():
            return found, places_taken(weight, k)
        count = min(2 * count, most)


def _all_rows(source: Source) -> Batch:
    """All rows in one batch; those in memory may be of any kind."""
    batch = in_memory(source)
    return gathered(source) if batch is None else batch


def _is_large(source: Source) -> bool:
    rows = source.schema.rows
    return rows is not None and rows * max(source.schema.width, 1) * 8 > MOST_BYTES


def _learns_nothing(distance: Distance) -> bool:
    """Whether the distance is what it is without the rows: some of them would not tell it the rest."""
    return distance.fitted(np.zeros((2, 2))) is distance or distance.name == "hamming"


def _beside(source: Source, engine: Engine) -> tuple[Any, Any, int]:
    """Targets, weights and the number of rows, which take little room."""
    targets, weights, count = [], [], 0
    plain = True
    for batch in source:
        count += len(batch)
        plain &= batch.weight is None
        weights.append(np.ones(len(batch)) if batch.weight is None else batch.weight)
        if batch.y is not None:
            targets.append(np.asarray(batch.y))
    return (np.concatenate(targets) if targets else None), (None if plain else np.concatenate(weights)), count


def _counted(batch: Batch) -> Batch:
    """Leave out rows without weight; weights that are all 1 are none."""
    if batch.weight is None:
        return batch
    there = batch.weight > 0
    if there.all():
        return batch if (batch.weight != 1).any() else replace(batch, weight=None)
    X: Any = batch.X
    y = None if batch.y is None else batch.y[there]
    return _counted(replace(batch, X=X[there], y=y, weight=batch.weight[there]))


def _name_of(distance: Distance, metric: Any) -> str:
    return metric if isinstance(metric, str) and metric != "minkowski" else distance.name


def _stored(rows: Any) -> Any:
    """Rows as a file can hold them."""
    if hasattr(rows, "toarray"):
        rows = rows.tocsr()
        return ("csr", rows.data, rows.indices, rows.indptr, tuple(int(n) for n in rows.shape))
    if isinstance(rows, Objects):
        return rows.items
    return getattr(rows, "values", rows) if not isinstance(rows, np.ndarray) else rows


def _restored(stored: Any) -> Any:
    """Rows as they are searched."""
    if isinstance(stored, tuple):
        from scipy.sparse import csr_matrix

        kind, data, indices, indptr, shape = stored
        if kind != "csr":
            raise ValueError(f"unknown form {kind!r}")
        found = csr_matrix((data, indices, indptr), shape=tuple(shape))
        found.check_format(full_check=True)
        return found
    if isinstance(stored, np.ndarray) and stored.dtype == object:
        return Objects(stored)
    return stored


def _as_given(rows: Any) -> Any:
    return rows


def _together(one: Any, two: Any) -> Any:
    if hasattr(one, "toarray"):
        from scipy.sparse import vstack

        return vstack([one, two], format="csr")
    if isinstance(one, Objects):
        return Objects(np.concatenate([one.items, two.items]))
    return np.concatenate([one, getattr(two, "values", two)])


def _difference(stored: Any, given: Any) -> float:
    """The largest difference, relative to the largest number of its column; infinite for unlike objects."""
    if isinstance(stored, Objects) or isinstance(given, Objects):
        same = all(_equal(one, other) for one, other in zip(stored, given, strict=True))
        return 0.0 if same else float("inf")
    stored, given = getattr(stored, "values", stored), getattr(given, "values", given)
    if hasattr(stored, "toarray") or hasattr(given, "toarray"):
        gap = abs(stored - given)
        return float(gap.max() / max(float(abs(given).max()), 1e-300)) if gap.nnz else 0.0
    stored, given = np.asarray(stored, dtype=np.float64), np.asarray(given, dtype=np.float64)
    if stored.shape != given.shape:
        return float("inf")
    if np.array_equal(stored, given, equal_nan=True):
        return 0.0
    with np.errstate(all="ignore"):
        size = np.maximum(np.nanmax(np.abs(given), axis=0, initial=0.0), 1e-300)
        gaps = np.abs(stored - given) / size
    unlike = np.isnan(stored) != np.isnan(given)
    return float("inf") if unlike.any() else max(float(np.nanmax(gaps)), 1e-8)


def _keys(rows: Any, targets: Any, weights: Any) -> Iterator[bytes]:
    """Bytes that are equal for equal rows with equal targets and weights."""
    for start in range(0, length(rows), 1024):
        block = rows[start : start + 1024]
        block = block.toarray() if hasattr(block, "toarray") else getattr(block, "values", block)
        beside = None if targets is None else targets[start : start + 1024]
        for i in range(length(block)):
            row = block[i]
            key = (
                repr(row).encode()
                if not isinstance(row, np.ndarray)
                else (np.asarray(row, np.float64) + 0.0).tobytes()
            )
            weight = 1.0 if weights is None else float(weights[start + i])
            yield (
                key
                + (b"" if beside is None else np.asarray(beside[i]).tobytes())
                + np.float64(weight).tobytes()
            )


def _equal(one: Any, other: Any) -> bool:
    return bool(np.all(one == other))


def row_evidence(rows: Any, distance: Distance, index: Index, codes: Any) -> dict[str, Any]:
    """Spreads of columns, how unlike distances are, hubs, and equal rows of unlike classes.

    distance_spread: the mean distance of a sample of rows over the mean distance of the nearest. hubs: how
    often the row that is the nearest most often is one of the nearest of another, how often on average, and
    its number. clashing_rows: pairs of numbers of equal rows with other classes.
    """
    count = length(rows)
    if count < 3:
        return {}
    evidence: dict[str, Any] = {}
    places = np.linspace(0, count - 1, min(COMPARED, count)).astype(np.int64)
    sample = rows[places]
    dense = isinstance(sample, np.ndarray) and sample.dtype.kind == "f"
    if dense and distance.name in ("euclidean", "manhattan", "minkowski", "chebyshev", "sqeuclidean"):
        with np.errstate(over="ignore", invalid="ignore"):
            evidence["distance_columns"] = np.asarray(sample.std(axis=0), dtype=np.float64)
    slow = distance.name == "from_function" or (distance.takes != "rows" and len(places) > 100)
    if not slow and len(places) > NEAREST:
        among = search.build(sample, distance, algorithm="brute")
        found = among.nearest(None, NEAREST)
        things = distance.inputs(sample)
        with np.errstate(over="ignore", invalid="ignore"):
            some = distance.between(things[:ASKED], things)
            nearest = found.distance[: min(ASKED, len(places)), 0]
            evidence["distance_spread"] = (float(some.mean()), float(nearest.mean()), len(places))
        often = np.bincount(found.index.ravel(), minlength=len(places))
        evidence["hubs"] = (int(often.max()), NEAREST, int(places[often.argmax()]), len(places))
    if codes is not None and np.ndim(codes) == 1 and not slow:
        asked = np.linspace(0, count - 1, min(ASKED, count)).astype(np.int64)
        near = index.nearest(rows[asked], min(3, count))
        unlike = (near.distance == 0) & (codes[near.index] != codes[asked][:, None])
        evidence["clashing_rows"] = (
            [(int(asked[i]), int(near.index[i, j])) for i, j in np.argwhere(unlike)],
            len(asked),
        )
    return evidence
