"""One warm path a fold in place of many fits, for models whose candidates differ in a strength alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from surefit.data.batches.batch import Batch
from surefit.models.linear.classification.logistic import LogisticRegression
from surefit.models.linear.common.fold_moments import complementary, taken, without
from surefit.models.linear.sparse.elastic_net import ElasticNet
from surefit.models.linear.sparse.elastic_net_cv import ElasticNetCV
from surefit.models.linear.sparse.lasso import Lasso
from surefit.models.linear.squares.ridge import Ridge
from surefit.models.linear.squares.ridge_fit import LARGEST_GRAM
from surefit.models.linear.squares.ridge_folds import fits_of_moments, fits_of_rows
from surefit.resample.choose import Pair
from surefit.stats.moments import Moments

# The strength of a model, written so that a larger value is a more complex fit.
STRENGTHS: Mapping[type, str] = {
    Lasso: "-alpha",
    ElasticNet: "-alpha",
    Ridge: "-alpha",
    LogisticRegression: "C",
}


def last_step(model: Any) -> tuple[Any, str]:
    """The model at the end of a pipeline, and what its parameters' names begin with."""
    if not isinstance(model, Pipeline):
        return model, ""
    name, step = model.steps[-1]
    inner, prefix = last_step(step)
    return inner, f"{name}__{prefix}"


def strength_of(model: Any, names: Sequence[str]) -> str | None:
    """The parameter among these that is the strength of the model, as "-alpha" or "C"; None without one.

    >>> import surefit
    >>> strength_of(surefit.make_pipeline(surefit.StandardScaler(), surefit.Ridge()), ["ridge__alpha"])
    '-ridge__alpha'
    """
    step, prefix = last_step(model)
    written = STRENGTHS.get(type(step))
    if written is None:
        return None
    name = prefix + written.removeprefix("-")
    return ("-" if written.startswith("-") else "") + name if name in names else None


def grouped(candidates: Sequence[Mapping[str, Any]], strength: str) -> list[list[int]]:
    """Candidates that differ in the strength alone, from the simplest fit to the most complex."""
    name, sign = strength.removeprefix("-"), -1.0 if strength.startswith("-") else 1.0
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, entry in enumerate(candidates):
        key = tuple((k, repr(v)) for k, v in sorted(entry.items()) if k != name)
        groups.setdefault(key, []).append(number)
    return [sorted(group, key=lambda k: sign * float(candidates[k][name])) for group in groups.values()]


def has_direct_path(model: Any, y: Any) -> bool:
    """Whether answers for all strengths come out of one decomposition or descent, without models between."""
    if type(model) not in STRENGTHS or type(model) is LogisticRegression or np.ndim(y) != 1:
        return False
    if type(model) is Ridge and (model.positive or model.solver not in ("auto", "cholesky", "svd")):
        return False
    return np.asarray(y).dtype.kind in "biuf"


def path_rows(model: Any, X: Any) -> Any:
    """The rows as such a path takes them: floats, all finite; None for others, of which a fit says more.

    >>> from surefit import Ridge
    >>> path_rows(Ridge(), np.array([[np.nan]])) is None, path_rows(Ridge(), np.array([[1], [2]])).dtype.name
    (True, 'float64')
    """
    if hasattr(X, "columns") and not sparse.issparse(X):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not hasattr(frame, "schema") or not all(kind.is_numeric() for kind in frame.schema.values()):
            return None
        X = frame.to_numpy()
    known = (isinstance(X, np.ndarray) or (sparse.issparse(X) and type(model) is not Ridge)) and X.ndim == 2
    if not known or X.dtype.kind not in "biuf" or not np.isfinite(X.sum()):
        return None
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


class WholeMoments:
    """The moments of all rows, added up once and shared by the folds, each of which subtracts its own.

    Folds that hold out every row once are added up themselves, so that no row is read again.
    """

    def __init__(self, X: Any, y: Any, weight: Any, pairs: Sequence[Pair] = ()) -> None:
        X = X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)
        self.batch = Batch(X, np.asarray(y, dtype=np.float64), weight)
        tall = X.shape[1] <= LARGEST_GRAM and len(self.batch) >= 2 * X.shape[1] and not sparse.issparse(X)
        self.folds: dict[int, Moments] = {}  # by the first row held out
        tests = [test for _, test in pairs]
        if tall and tests and complementary(np.concatenate(tests), tests[0][:0], len(self.batch)):
            self.folds = {int(test[0]): Moments.of(taken(self.batch, test)) for test in tests}
        self.whole = None
        if tall:
            self.whole = reduce(add, self.folds.values()) if self.folds else Moments.of(self.batch)

    def left(self, train: Any, test: Any) -> Moments | None:
        """The moments of the training rows; None where the rows themselves are the better start."""
        if self.whole is None or len(train) < 2 * self.batch.X.shape[1]:
            return None
        if complementary(train, test, len(self.batch)):
            own = self.folds[int(test[0])] if self.folds else Moments.of(taken(self.batch, test))
            return without(self.whole, own, self.batch, train)
        return Moments.of(taken(self.batch, train))


def shared_moments(model: Any, X: Any, y: Any, weight: Any, pairs: Sequence[Pair]) -> WholeMoments | None:
    """The moments that all folds of a search share, for a model whose paths come out of them."""
    rows = path_rows(model, X) if has_direct_path(model, y) and np.isfinite(np.sum(y)) else None
    return None if rows is None else WholeMoments(rows, y, weight, pairs)


def direct_path(model: Any, shared: WholeMoments, train: Any, strengths: Sequence[float], test: Any) -> Any:
    """Coefficients (strengths, p) and intercepts (strengths,) of the fits to some rows."""
    left = shared.left(train, test)
    given = np.asarray(strengths, dtype=np.float64)
    if type(model) is Ridge:
        found = (
            fits_of_rows(taken(shared.batch, train), given, model.fit_intercept)
            if left is None
            else fits_of_moments(left, given, model.fit_intercept)
        )
        return found[0][:, 0, :].T, found[1][0]
    ratio = 1.0 if type(model) is Lasso else float(model.l1_ratio)
    family = ElasticNetCV(
        fit_intercept=model.fit_intercept, positive=model.positive, tol=model.tol, max_iter=model.max_iter
    )
    problem = family.of_rows(taken(shared.batch, train)) if left is None else family.of_moments(left)
    path = family.path_of(problem, given, ratio)
    return path.coefs, path.intercepts


def warm_models(model: Any, name: str, strengths: Sequence[float], X: Any, y: Any, weights: Any) -> Any:
    """Yield a model fitted at each strength, each begun where the one before ended."""
    working = clone(model).set_params(warm_start=True)
    for strength in strengths:
        working.set_params(**{name: strength}).fit(X, y, **weights)
        yield working
