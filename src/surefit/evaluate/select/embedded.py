"""Embedded selection: the columns that a fitted model itself uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.engine.base import choose_engine
from surefit.evaluate.rows.source_models import fit_source
from surefit.evaluate.select.filters import Selector, highest
from surefit.evaluate.select.streamed_scores import Link, varying
from surefit.stats.triangular import TriangularFactor


def importances_of(model: Any, getter: str | Callable[[Any], Any] = "auto", order: float = 1) -> Any:
    """The weight of each column in a fitted model: its importances, or the size of its coefficients.

    >>> import surefit
    >>> importances_of(surefit.Ridge().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]], [0.0, 1.0, 2.0])).round(2)
    array([0.65, 0.12])
    """
    if callable(getter):
        found = getter(model)
    elif getter == "auto":
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        names = [name for name in ("coef_", "feature_importances_") if hasattr(last, name)]
        if not names:
            raise RefusalError(
                f"{type(last).__name__} has neither coef_ nor feature_importances_: give importance_getter, "
                "or select by permutation_importance."
            )
        found = getattr(last, names[0])
    else:
        found = model
        for name in getter.split("."):
            found = getattr(found, name)
    table = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    return np.abs(table) if table.ndim == 1 else np.linalg.norm(table, axis=0, ord=order)


class SelectFromModel(MetaEstimatorMixin, Selector):
    """Keep the columns to which a model gives a weight of at least a threshold.

    estimator: a model with ``coef_`` or ``feature_importances_``. threshold: a number, "mean", "median",
    or a multiple as "1.25*mean"; by default 1e-5 for models that set coefficients to zero, and the mean
    for others. prefit: take the estimator as fitted; then selection has seen what it was fitted on.
    norm_order: of the coefficients of several classes or targets. max_features: at most so many, or a
    function of X that says it.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> surefit.SelectFromModel(surefit.Lasso(0.1)).fit(X, 2 * X[:, 1]).get_support()
    array([False,  True, False])
    """

    finds = ("estimator_", "importances_", "threshold_")

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: str | float | None = None,
        prefit: bool = False,
        norm_order: float = 1,
        max_features: int | Callable[[Any], int] | None = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.prefit = prefit
        self.norm_order = norm_order
        self.max_features = max_features
        self.importance_getter = importance_getter

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the model to these rows, and read its weights."""
        source = None
        if is_streamed(X, y):
            if fit_params:
                raise DataError(f"a table that is read in batches does not support {', '.join(fit_params)}.")
            source = read(X, target=y)
            self._admitted(source, None, tables=True, missing=True)
        else:
            validate_data(self, X, accept_sparse=True, ensure_all_finite=False, dtype=None)
        if self.prefit:
            self._check_prefit()
            self.estimator_ = self.estimator
        elif source is not None:
            self.estimator_ = fit_source(clone(self.estimator), source)
        else:
            self.estimator_ = clone(self.estimator).fit(X, *(() if y is None else (y,)), **fit_params)
        weights = importances_of(self.estimator_, self.importance_getter, self.norm_order)
        self.importances_ = weights
        self.threshold_ = self._limit(weights)
        most = self.max_features(X) if callable(self.max_features) else self.max_features
        self.support_ = weights >= self.threshold_
        if most is not None:
            if isinstance(most, bool) or not isinstance(most, int | np.integer) or not most >= 0:
                raise ParameterError(f"max_features={most!r} must be a whole number of at least 0.")
            self.support_ &= highest(weights, int(most))
        return self

    def _check_prefit(self) -> None:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError(
                f"prefit=True takes the {type(self.estimator).__name__} as fitted, and neither it nor a copy "
                "of it, as folds make them, is: freeze it with FrozenEstimator, or set prefit=False."
            ) from error

    def _limit(self, weights: NDArray[np.float64]) -> float:
        given = self.threshold
        if given is None:
            last = self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator
            name = type(last).__name__
            sparse = "Lasso" in name or getattr(last, "penalty", None) == "l1"
            sparse = sparse or ("ElasticNet" in name and np.isclose(getattr(last, "l1_ratio", 0.0), 1.0))
            sparse = sparse or ("Logistic" in name and getattr(last, "l1_ratio", 0.0) == 1.0)
            given = 1e-5 if sparse else "mean"
        if isinstance(given, int | float):
            return float(given)
        factor, _, name = given.rpartition("*")
        kinds: dict[str, Any] = {"mean": np.mean, "median": np.median}
        if name.strip() not in kinds:
            raise ParameterError(
                f"threshold={given!r} must be a number, 'mean', 'median' or such as '1.25*mean'."
            )
        return float(factor.strip() or 1) * float(kinds[name.strip()](weights))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.target_tags.required = inner.target_tags.required
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags


class SelectFromPath(Selector):
    """Keep the columns that enter a path of lassos, or elastic nets, first.

    n_features: how many. l1_ratio: 1 is the lasso; below it, columns that are alike enter together.
    Columns are standardised first. ``order_`` has the columns as they enter, and ``strengths_`` the
    penalty at which each does; 0 for those that never do.

    >>> import surefit
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> surefit.SelectFromPath(n_features=2).fit(X, 3 * X[:, 2] - X[:, 0]).order_[:2]
    array([2, 0])
    """

    finds = ("order_", "strengths_")

    def __init__(self, *, n_features: int = 10, l1_ratio: float = 1.0, n_alphas: int = 100) -> None:
        self.n_features = n_features
        self.l1_ratio = l1_ratio
        self.n_alphas = n_alphas

    def fit(self, X: Any, y: Any = None) -> Self:
        """Follow the path on these rows."""
        from surefit.models.linear.sparse.regularisation_path import enet_path

        for name in ("n_features", "n_alphas"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(f"{name}={value!r} must be a whole number of at least 1.")
        streamed = is_streamed(X, y)
        if streamed:
            table, target = self._factors(X, y)
        elif y is None:
            raise ValueError("SelectFromPath requires y to be passed, but the target y is None.")
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
            spread = X.std(axis=0)
            table, target = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y - y.mean()
        alphas, coefs, _ = enet_path(
            table, target, l1_ratio=self.l1_ratio, alphas=self.n_alphas, fit_intercept=not streamed
        )
        used = coefs != 0
        first = np.where(used.any(axis=1), used.argmax(axis=1), len(alphas))
        size = np.abs(coefs[np.arange(len(coefs)), np.minimum(first, len(alphas) - 1)])
        self.order_ = np.lexsort((-size, first))
        self.strengths_ = np.append(alphas, 0.0)[first]
        self.support_ = np.zeros(len(coefs), dtype=bool)
        self.support_[self.order_[: self.n_features]] = True
        self.support_ &= self.strengths_ > 0
        return self

    def _factors(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As many rows as columns, with the path of all rows: the triangular factor of the centred table."""
        source = self._admitted(X, y, target="number")
        engine = choose_engine(source)
        means = engine.accumulate(Link.of, source)
        shift = np.append(means.x.mean, means.y.mean)
        factor = engine.accumulate(partial(TriangularFactor.of, shift=shift), source).centred
        rows = factor * np.sqrt(len(factor) / means.y.weight[0])
        table, spread = rows[:, :-1], np.sqrt(means.x.variance)
        varies = varying(means.x)
        return np.where(varies, table / np.where(varies, spread, 1.0), 0.0), rows[:, -1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
