"""Recompute the certificate of a model, or of each step of a pipeline, from the rows it was fitted to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, RefusalError
from surefit.core.public import public
from surefit.data.door import is_streamed
from surefit.data.read import read
from surefit.evaluate.persistence import Saved
from surefit.io.load import load
from surefit.io.records import is_left_out, is_pipeline
from surefit.models.base import Estimator, admitted, certify_in_units
from surefit.models.prepare.encoders.cross_fitting import CrossFitOverSources


@public
def verify(model: Any, X: Any, y: Any = None, sample_weight: Any = None, **also: Any) -> Certificate:
    """Recompute the certificate of a fitted model, or of a model file, from the data that it was fitted to.

    The path is independent of the fit and calls no solver. ``verify(...).holds`` is False when the model, a
    label or a weight was changed. Of coefficients that minimise a smooth objective the statement says how far
    a Newton step would move them, and ``witness["steps"]`` has the step of each in its own units. ``also``:
    what else ``fit`` was given, such as an offset. Of a pipeline every step is verified, on the rows that the
    steps before it give; the first whose certificate does not hold is returned, or else the last.

    >>> import surefit
    >>> X, y = [[0], [1], [2]], [1.0, 2.0, 6.0]
    >>> model = surefit.MeanRegressor().fit(X, y)
    >>> surefit.verify(model, X, y).holds
    True
    >>> surefit.verify(model, X, [1.0, 2.0, 7.0]).holds
    False
    """
    if isinstance(model, str | Path):
        model = load(model)
    if is_pipeline(model):
        return _verify_steps(model, X, y, sample_weight)
    if isinstance(model, Saved):
        return model.verify_by(verify, X, y, sample_weight)
    if not isinstance(model, Estimator):
        raise DataError(
            f"only surefit's own estimators have a certificate to verify, not a {type(model).__name__}."
        )
    check_is_fitted(model)
    return certify_in_units(model, admitted(model, X, y, sample_weight, reset=False, **also))


def _verify_steps(model: Any, X: Any, y: Any, weight: Any) -> Certificate:
    """The first certificate that does not hold, or the last; its parts have the value of every step.

    Weights of rows in memory are the last step's, as ``fit`` hands them to one step; those that a source
    carries count in every step.
    """
    streamed = is_streamed(X, y, weight)
    if streamed:
        X, y, weight = read(X, target=y, weight=weight), None, None
    steps = [(name, step) for name, step in model.steps if not is_left_out(step)]
    if not steps:
        raise DataError("the pipeline has no step that could be verified.")
    found: dict[str, Certificate] = {}
    for place, (name, step) in enumerate(steps, 1):
        last = place == len(steps)
        found[name] = verify(step, X, y, weight if last else None)
        if not last:
            X = _rows_after(name, step, X, y, streamed)
    name = next((name for name, certificate in found.items() if not certificate.holds), steps[-1][0])
    values = {name: certificate.value for name, certificate in found.items()}
    told = found[name]
    return replace(told, measure=f"step {name!r}: {told.measure}", parts={**values, **told.parts})


def _rows_after(name: str, step: Any, X: Any, y: Any, streamed: bool) -> Any:
    """The rows that the next step was fitted to."""
    if is_pipeline(step):
        for inner, inside in step.steps:
            X = X if is_left_out(inside) else _rows_after(inner, inside, X, y, streamed)
        return X
    if not isinstance(step, CrossFitOverSources):
        return step.transform(X)
    return _cross_fitted(name, step, X, y, streamed)


def _cross_fitted(name: str, step: Any, X: Any, y: Any, streamed: bool) -> Any:
    # Each row was encoded by the rows outside of its fold, so the folds must be the same again.
    drawn = step.cv if hasattr(step.cv, "split") else step
    if not streamed and getattr(drawn, "shuffle", False) and not isinstance(drawn.random_state, int):
        raise RefusalError(
            f"the step {name!r} drew its folds at random, so the rows that the next step was fitted to "
            "cannot be made again: give it a random_state, or cv=KFold(shuffle=False), and fit anew."
        )
    return clone(step).fit_transform(X, y)
