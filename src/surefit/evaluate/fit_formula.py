"""Fit a model by a formula."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from surefit.core.errors import ParameterError, RefusalError
from surefit.core.public import public
from surefit.data.read import read, with_columns
from surefit.evaluate.pipeline import Pipeline
from surefit.models.linear.squares.linear_regression import LinearRegression
from surefit.models.prepare.formulas.formula import read_formula, target_of
from surefit.models.prepare.formulas.formula_preparer import FormulaPreparer


@public
def fit_formula(formula: str, data: Any, model: Any = None, *, weight: str | None = None) -> Pipeline:
    """Fit a model to a table by a formula such as ``y ~ a*b + C(c)``, and return the fitted pipeline.

    data: a frame, files or any other table; its target is the column on the left. model: an estimator, least
    squares by default; a formula without an intercept (``0 + ...``) takes its away. weight: the name of a
    column of weights. Predictions take tables with the columns on the right.

    >>> import pandas as pd
    >>> import surefit
    >>> table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "c": list("uvuv"), "y": [1.0, 4.0, 3.0, 6.0]})
    >>> model = surefit.fit_formula("y ~ a + C(c)", table)
    >>> model.predict(pd.DataFrame({"a": [4.0], "c": ["u"]})).round(6)
    array([5.])
    """
    target, intercept = target_of(formula)
    last = LinearRegression() if model is None else clone(model)
    if not intercept:
        if "fit_intercept" not in last.get_params(deep=False):
            raise RefusalError(
                f"the formula {formula!r} has no intercept, and a {type(last).__name__} cannot be told so: "
                "leave '0 +' or '- 1' out."
            )
        last.set_params(fit_intercept=False)
    preparer = FormulaPreparer(formula).set_output(transform="pandas")  # so that names reach the model
    steps = [("formula", preparer), ("model", last)]
    source: Any = read(data, target=target, weight=weight)
    columns = source.schema.columns or ()
    asked = read_formula(formula, [column.name for column in columns]).variables
    if not asked:
        raise ParameterError(
            f"the formula {formula!r} has no column on its right: name one, as in '{target} ~ .' for all, or "
            "take MeanRegressor for a constant alone."
        )
    return Pipeline(steps).fit(
        with_columns(source, tuple(column for column in columns if column.name in asked))
    )
