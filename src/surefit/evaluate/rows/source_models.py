"""Fit and ask any model over a table that is read in batches.

Models that read sources do so. Others, scikit-learn's among them, learn from rows in memory, if those are
few enough, and answer batch by batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from surefit.core.errors import DataError, RefusalError
from surefit.data.batches.batch import Batch
from surefit.data.checks.cells import Checked
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.data.source import MappedSource, Source
from surefit.data.targets import with_target
from surefit.engine.base import choose_engine
from surefit.evaluate.pipeline import Pipeline
from surefit.models.base import Estimator

MOST_CELLS = 40_000_000  # numbers of a table that are loaded for what looks at all rows at once


def reads_sources(model: Any) -> bool:
    """Whether a model, with all of its steps, learns from a table as it is read.

    >>> import surefit
    >>> from sklearn.linear_model import LinearRegression
    >>> reads_sources(surefit.LinearRegression()), reads_sources(LinearRegression())
    (True, False)
    """
    if getattr(model, "reads_sources", False):
        inner = getattr(model, "estimator", getattr(model, "model", None))
        return inner is None or reads_sources(inner)
    if hasattr(model, "steps"):
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        return isinstance(model, Pipeline) and all(map(reads_sources, steps))
    return isinstance(model, Estimator)


def fit_source(model: Any, source: Source) -> Any:
    """Fit a model to a source; one that does not read sources to its rows in memory."""
    if isinstance(model, FrozenEstimator):  # which learns nothing
        return model
    if reads_sources(model):
        return model.fit(source)
    kind: Any = "class" if is_classifier(model) else "number" if is_regressor(model) else "any"
    held = loaded(type(model).__name__, source, kind, missing=get_tags(model).input_tags.allow_nan)
    given = {} if held.weight is None else weights_for(model, held.weight)
    return model.fit(held.X, *(() if held.y is None else (held.y,)), **given)


def weights_for(model: Any, weight: Any) -> dict[str, Any]:
    """The weights under the names that ``fit`` wants: a pipeline hands them to each step that takes some."""
    if isinstance(model, FrozenEstimator):  # which learns nothing
        return {}
    if not isinstance(model, SklearnPipeline):
        if not has_fit_parameter(model, "sample_weight") and not _passes_on(model):
            raise RefusalError(
                f"{type(model).__name__} takes no sample_weight: leave it out, or choose another model."
            )
        return {"sample_weight": weight}
    steps = [(name, step) for name, step in model.steps if step is not None and step != "passthrough"]
    takers = [name for name, step in steps if has_fit_parameter(step, "sample_weight") or _passes_on(step)]
    if steps[-1][0] not in takers and not isinstance(steps[-1][1], FrozenEstimator):
        raise RefusalError(
            f"{type(steps[-1][1]).__name__}, the last step, takes no sample_weight: leave it out, or choose "
            "another model."
        )
    return {f"{name}__sample_weight": weight for name in takers}


def _passes_on(model: Any) -> bool:
    """Whether it is a search around another model, to whose fit it passes what it does not know."""
    inner = getattr(model, "estimator", None)
    return (
        inner is not None and has_fit_parameter(model, "params") and has_fit_parameter(inner, "sample_weight")
    )


def answers_of(model: Any, X: Any, method: str = "predict") -> NDArray[Any]:
    """The answers of a fitted model for rows in memory, or for all rows of a table that is read."""
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    if not is_streamed(X) or reads_sources(model):
        return np.asarray(getattr(model, method)(X))
    source = read(X)
    checked = Checked(type(model).__name__, missing=get_tags(model).input_tags.allow_nan)
    rows = MappedSource(source, source.schema, checked)
    return np.concatenate(list(choose_engine(rows).map(_Asked(getattr(model, method)), rows)))


@dataclass(frozen=True, slots=True)
class _Asked:
    method: Any

    def __call__(self, batch: Batch) -> Any:
        return np.asarray(self.method(batch.X))


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """All rows of a table, as numbers."""

    X: Any
    y: Any
    weight: NDArray[np.float64] | None


def loaded(
    who: str, source: Source, kind: Literal["number", "class", "any"] | None, missing: bool = False
) -> Loaded:
    """Load a table of numbers, unless it is larger than ``MOST_CELLS``; kind: what the target is for."""
    if kind is not None and source.schema.targets:
        source = with_target(who, source, kind)
    batches: list[Any] = []
    cells = 0
    for batch in MappedSource(source, source.schema, Checked(who, missing=missing)):
        X: Any = batch.X
        cells += X.nnz if sparse.issparse(X) else X.size
        if cells > MOST_CELLS:
            raise RefusalError(
                f"{who} needs all rows in memory at once, and these are more than {MOST_CELLS:,} numbers: "
                "give it a sample, as surefit.resample.source_sample(table, 100_000) draws one, or choose "
                "a method whose sums add up as rows are read."
            )
        batches.append(batch)
    if not batches:
        raise DataError("the table has no rows.")
    blocks = [batch.X for batch in batches]
    X = sparse.vstack(blocks, format="csr") if any(map(sparse.issparse, blocks)) else np.concatenate(blocks)
    y = None if batches[0].y is None else np.concatenate([np.asarray(batch.y) for batch in batches])
    if y is not None and source.schema.classes is not None:
        y = np.asarray(source.schema.classes)[y]
    weights: list[Any] = [batch.weight for batch in batches]
    return Loaded(X, y, None if weights[0] is None else np.concatenate(weights))
