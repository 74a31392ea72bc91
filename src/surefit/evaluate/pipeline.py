"""Pipelines over arrays, frames and sources."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline as _Pipeline
from sklearn.pipeline import make_pipeline as _make_pipeline

from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.data.source import Source
from surefit.models.base import Estimator
from surefit.models.transformer import Transformer


@public
class Pipeline(_Pipeline):
    """scikit-learn's pipeline, which also takes sources: files, folders, Arrow tables, Dask frames.

    Over a source, ``fit`` reads it once for each step; ``transform`` and ``predict`` read it once. A weight
    column, ``fit(read(table, "price", weight="n"))``, counts for every step.

    >>> import pyarrow as pa
    >>> import surefit
    >>> table = pa.table({"size": [1.0, 2.0, 3.0], "price": [10.0, 20.0, 60.0]})
    >>> model = surefit.make_pipeline(surefit.StandardScaler(), surefit.MeanRegressor())
    >>> model.fit(table, "price").predict(table)
    array([30., 30., 30.])
    """

    steps: list[tuple[str, Any]]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Pipeline:
        """Fit every transformer on what the one before it gives, and the last step on the result."""
        if not is_streamed(X, y):
            return super().fit(X, y, **params)
        self._fit_source(self._opened(X, y, params))
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return the training rows as the last transformer gives them."""
        if not is_streamed(X, y):
            return super().fit_transform(X, y, **params)
        return self._fit_source(self._opened(X, y, params), transform=True)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return the last step's answers for the training rows."""
        if not is_streamed(X, y):
            return super().fit_predict(X, y, **params)
        source = self._opened(X, y, params)
        return self.fit(source).predict(source)

    def _opened(self, X: Any, y: Any, params: dict[str, Any]) -> Source:
        if params:
            raise DataError(
                f"a pipeline over a source takes no {', '.join(params)}: "
                "name target and weights in surefit.read(table, target=..., weight=...)."
            )
        return read(X, target=y)

    def _fit_source(self, source: Source, transform: bool = False) -> Any:
        """Fit copies step after step, put in place at the end, so that a failure changes nothing."""
        steps: list[tuple[str, Any]] = []
        for number, (name, step) in enumerate(self.steps):
            last = number == len(self.steps) - 1
            if step is None or step == "passthrough":
                steps.append((name, step))
                continue
            reads = getattr(step, "reads_sources", False)
            if not reads and not isinstance(step, Estimator if last and not transform else Transformer):
                raise DataError(
                    f"the step {name!r} is a {type(step).__name__}, which cannot read a source: "
                    "use surefit's own estimators, or pass X as an array or frame in memory."
                )
            fitted = step if last else clone(step)
            if last and not transform:
                fitted.fit(source)
            else:
                source = fitted.fit_transform(source)
            steps.append((name, fitted))
        self.steps = steps
        return source


@public
def make_pipeline(
    *steps: Any, memory: Any = None, transform_input: Any = None, verbose: bool = False
) -> Pipeline:
    """Put steps into a pipeline under the names of their classes, as scikit-learn's function does.

    >>> import surefit
    >>> [name for name, _ in surefit.make_pipeline(surefit.StandardScaler(), surefit.MeanRegressor()).steps]
    ['standardscaler', 'meanregressor']
    """
    named = _make_pipeline(*steps).steps
    return Pipeline(named, memory=memory, transform_input=transform_input, verbose=verbose)
