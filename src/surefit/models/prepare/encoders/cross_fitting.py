"""Cross-fitting: each row is encoded by a fit to the other rows, so that its own target cannot leak."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import Cells
from surefit.data.door import admit, admit_rows, is_streamed
from surefit.data.source import ArraySource
from surefit.engine.base import choose_engine
from surefit.models.prepare.encoders.encoder import Encoder
from surefit.models.transformer import mapped
from surefit.resample.row_rule import RowRule
from surefit.resample.streams import seed_of
from surefit.stats.base import Joint


class CrossFitInMemory(Encoder, abstract=True):
    """``fit_transform`` for rows in memory, by the folds of a splitter, as in scikit-learn."""

    cv: Any
    target_type_: str
    shuffle: Any
    random_state: Any

    @abstractmethod
    def _encodings(self, statistic: Any, levels: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
        """The code of each level, a list a column and output."""

    @abstractmethod
    def _encoded(self, X: Any, levels: Any, encodings: Any, mean: Any) -> NDArray[np.float64]:
        """The codes of rows; those of unknown values are the mean."""

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit on all rows, and encode each by a fit to the rows outside its fold.

        ``sample_weight`` is for the fits; all else goes to the splitter, such as ``groups``.
        """
        weight = params.pop("sample_weight", None)
        self.fit(X, y, weight)
        classes = getattr(self, "classes_", None)
        source = admit(self, self._accepted(), X, y, weight, reset=False, classes=classes)
        assert isinstance(source, ArraySource)
        batch = source.batch
        # Codes stand for the cells from here on, so that values are looked up once.
        codes = self._codes(batch.X, self.categories_, refuse=False)
        rows = replace(batch, X=Cells(tuple(codes.T)))
        of = self._of(source.schema)
        out: Any = None
        for train, test in self._splits(len(batch), y, params):
            statistic: Any = _counted(of(_taken(rows, train)))
            levels = list(statistic.levels)
            encodings = self._encodings(statistic, levels)
            held_out = self._encoded(_taken(rows, test).X, levels, encodings, statistic.mean)
            # A value outside the given categories is unknown, though the folds know its code.
            held_out[np.repeat(codes[test] < 0, len(statistic.mean), axis=1)] = np.nan
            out = np.empty((len(batch), held_out.shape[1])) if out is None else out
            out[test] = np.where(np.isnan(held_out), np.tile(statistic.mean, codes.shape[1]), held_out)
        return out

    def _splits(self, rows: int, y: Any, params: dict[str, Any]) -> list[tuple[Any, Any]]:
        from sklearn.model_selection import check_cv

        drawn = {} if self.random_state == "deprecated" else {"random_state": self.random_state}
        shuffle = True if self.shuffle == "deprecated" else self.shuffle
        classes = self.target_type_ != "continuous"
        folds = check_cv(self.cv, y, classifier=classes, shuffle=shuffle, **drawn)
        splits = list(folds.split(np.zeros((rows, 1)), y, **params))
        times = np.bincount(np.concatenate([test for _, test in splits]), minlength=rows)
        if not (times == 1).all():
            raise ParameterError(
                "Validation indices from `cv` must cover each sample index exactly once with no overlap: "
                "pass a splitter such as KFold."
            )
        return splits


class CrossFitOverSources:
    """The same for sources: a row's fold follows from its number, and one pass fits all folds."""

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit in one pass; the source that comes back encodes each row by the rows outside its fold."""
        weight = params.get("sample_weight")
        if not is_streamed(X, y, weight):
            return super().fit_transform(X, y, **params)  # type: ignore[misc]
        return self._cross_fit_source(X, y, weight)

    def _cross_fit_source(self: Any, X: Any, y: Any, weight: Any) -> Any:
        if not isinstance(self.cv, int):
            raise DataError("a source is cut into a number of folds by row: pass a whole number as cv.")
        self.fit(X, y, weight)
        source = admit(self, self._accepted(), X, y, weight, reset=False, classes=self.classes_)
        seed = 0 if self.random_state in ("deprecated", None) else seed_of(self.random_state)
        rules = [RowRule(self.cv, fold, others=False, seed=seed) for fold in range(self.cv)]
        parts = choose_engine(source).accumulate(_Folds(self._of(source.schema), rules), source)
        fits = [
            _counted(_summed([parts[str(k)] for k in range(self.cv) if k != fold])) for fold in range(self.cv)
        ]
        levels = [list(fit.levels) for fit in fits]
        codes = [self._encodings(fit, own) for fit, own in zip(fits, levels, strict=True)]
        means = [fit.mean for fit in fits]
        encode = _EncodeFolds(self._encoded, rules, levels, codes, means)
        rows = admit_rows(self, self._accepted(), source)
        return mapped(rows, [str(name) for name in self.get_feature_names_out()], encode)


@dataclass(frozen=True, slots=True)
class _Folds:
    """The statistic of each fold's rows, side by side."""

    of: Any
    rules: list[RowRule]

    def __call__(self, batch: Batch) -> Joint:
        folds = [rule.keeps(batch.start, len(batch)) for rule in self.rules]
        return Joint({str(k): self.of(_taken(batch, np.flatnonzero(kept))) for k, kept in enumerate(folds)})


@dataclass(frozen=True, slots=True)
class _EncodeFolds:
    """Encode the rows of each fold by the fit to the others."""

    encoded: Any
    rules: list[RowRule]
    levels: list[Any]
    codes: list[Any]
    means: list[Any]

    def __call__(self, batch: Batch) -> Batch:
        out = np.empty((len(batch), len(self.codes[0])))
        for fold, rule in enumerate(self.rules):
            rows = np.flatnonzero(rule.keeps(batch.start, len(batch)))
            if len(rows):
                part = _taken(batch, rows).X
                out[rows] = self.encoded(part, self.levels[fold], self.codes[fold], self.means[fold])
        return replace(batch, X=out)


def _counted(statistic: Any) -> Any:
    """The statistic of the rows outside a fold, one of which must count."""
    if statistic.weight > 0:
        return statistic
    raise DataError(
        "a fold of cross-fitting leaves no row with a positive sample_weight to learn from: use fewer folds."
    )


def _summed(statistics: list[Any]) -> Any:
    total = statistics[0]
    for statistic in statistics[1:]:
        total = total + statistic
    return total


def _taken(batch: Batch, rows: NDArray[Any]) -> Batch:
    X: Any = batch.X
    if isinstance(X, Cells):
        part: Any = Cells(tuple(column[rows] for column in X.columns))
    else:
        part = X.take(rows) if hasattr(X, "numbers") else X[rows]
    return Batch(
        part,
        None if batch.y is None else batch.y[rows],
        None if batch.weight is None else batch.weight[rows],
        batch.start,
    )
