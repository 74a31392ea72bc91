"""Recompute a model's certificate from its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.engine.base import choose_engine
from surefit.evaluate.saved import Saved
from surefit.io.load import load
from surefit.io.records import is_pipeline
from surefit.models.base import Estimator


@public
def verify(model: Any, X: Any, y: Any = None, sample_weight: Any = None, **also: Any) -> Certificate:
    """Recompute the certificate of a fitted model, or of a model file, from the data that it was fitted to.

    The path is independent of the fit and calls no solver. ``verify(...).holds`` is False when the model, a
    label or a weight was changed. ``also``: what else ``fit`` was given, such as an offset. Of a pipeline
    every step is verified, on the rows that the steps before it give; the first whose certificate does not
    hold is returned, or else the last.

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
        from surefit.io.verify_pipeline import verify_steps

        return verify_steps(model, X, y, sample_weight, verify)
    if isinstance(model, Saved):
        return model.verify_by(verify, X, y, sample_weight)
    if not isinstance(model, Estimator):
        raise DataError(
            f"only surefit's own estimators have a certificate to verify, not a {type(model).__name__}."
        )
    classes = getattr(model, "classes_", None)
    check_is_fitted(model)
    source = model._source(X, y, sample_weight, reset=False, classes=classes, **also)
    return model._certify(source, choose_engine(source))
