"""Coefficients of a linear model behind other steps, in the units of the table that went in.

Each step is followed forwards: a column is a sum of terms, each a number times a product of *atoms*, which
are columns of the table or what an encoder or expansion makes of one of them. Scalers, components and
polynomials turn sums into sums; what does not is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import RefusalError
from surefit.core.public import public

Term = tuple[tuple[str, int], ...]  # names and powers, in order of names; () is the constant
Sum = dict[Term, float]


@dataclass(frozen=True, slots=True)
class OriginalScale:
    """A linear model as a function of the table's own columns.

    names: what each coefficient multiplies: a column, a product of columns, a level of a category, or a
    function of a column. coef is (names,), or one row an output; intercept is a number, or one an output.
    """

    names: tuple[str, ...]
    coef: NDArray[np.float64]
    intercept: Any

    def as_dict(self) -> dict[str, Any]:
        """Return the coefficients by name, "(intercept)" last."""
        found = {name: self.coef[..., j].tolist() for j, name in enumerate(self.names)}
        return {**found, "(intercept)": np.asarray(self.intercept).tolist()}


@public
def original_scale(model: Any) -> OriginalScale:
    """Map the coefficients of a fitted pipeline's linear model back to the columns that went in.

    Scalers, PCA and polynomials are undone, in any order; encoders, contrasts, expansions and formulas must
    come before them, and give a coefficient to each level or function. An imputer leaves the coefficients as
    they are, for rows without gaps. What has no such coefficients, and any other step, is refused.

    >>> import surefit
    >>> from surefit import LinearRegression, StandardScaler
    >>> pipeline = surefit.make_pipeline(StandardScaler(), LinearRegression())
    >>> pipeline = pipeline.fit([[0.0, 10.0], [1.0, 30.0], [2.0, 20.0]], [1.0, 6.0, 5.0])
    >>> found = surefit.original_scale(pipeline)
    >>> found.names, found.coef.round(6), round(found.intercept, 6)
    (('x0', 'x1'), array([1. , 0.2]), -1.0)
    """
    steps = _flat(model)
    linear = steps[-1]
    if not hasattr(linear, "coef_") or not hasattr(linear, "intercept_"):
        raise RefusalError(
            f"a {type(linear).__name__} has no coefficients that could be mapped: end with a linear model."
        )
    first = steps[0]
    check_is_fitted(first)
    names = getattr(first, "feature_names_in_", [f"x{j}" for j in range(first.n_features_in_)])
    columns: list[Sum] = [{((str(name), 1),): 1.0} for name in names]
    for step in steps[:-1]:
        columns = _passed(step, columns)
    coef = np.atleast_2d(np.asarray(_dense(linear.coef_), dtype=np.float64))
    if coef.shape[1] != len(columns):
        raise RefusalError(
            f"the model has {coef.shape[1]} coefficients for {len(columns)} columns: "
            "it expands them itself, so its coefficients cannot be mapped back."
        )
    terms = [term for term in dict.fromkeys(term for column in columns for term in column) if term]
    place = {term: k for k, term in enumerate(terms)}
    mixing, constants = np.zeros((len(columns), len(terms))), np.zeros(len(columns))
    for j, column in enumerate(columns):
        for term, factor in column.items():
            if term:
                mixing[j, place[term]] = factor
            else:
                constants[j] = factor
    found, offset = coef @ mixing, coef @ constants + np.asarray(linear.intercept_)
    flat = np.ndim(linear.coef_) == 1
    return OriginalScale(
        tuple(_written(term) for term in terms),
        found[0] if flat else found,
        float(offset.ravel()[0]) if flat else offset,
    )


def _flat(model: Any) -> list[Any]:
    """The steps of a pipeline, those of pipelines inside it among them."""
    if not isinstance(model, SklearnPipeline):
        return [model]
    found: list[Any] = []
    for _, step in model.steps:
        if step is not None and not (isinstance(step, str) and step == "passthrough"):
            found += _flat(step)
    return found


def _passed(step: Any, columns: list[Sum]) -> list[Sum]:
    kind = type(step).__name__
    if kind not in _STEPS:
        raise RefusalError(
            f"a {kind} is not a linear map of its columns, so that coefficients after it have no meaning "
            f"for the columns before it: original_scale supports {', '.join(sorted(_STEPS))}."
        )
    return _STEPS[kind](step, columns)


def _plus(*parts: tuple[float, Sum]) -> Sum:
    found: Sum = {}
    for factor, part in parts:
        if factor != 0:
            for term, value in part.items():
                found[term] = found.get(term, 0.0) + factor * value
    return found


def _times(one: Sum, two: Sum) -> Sum:
    found: Sum = {}
    for left, a in one.items():
        for right, b in two.items():
            powers = dict(left)
            for name, power in right:
                powers[name] = powers.get(name, 0) + power
            term = tuple(sorted(powers.items()))
            found[term] = found.get(term, 0.0) + a * b
    return found


ONE: Sum = {(): 1.0}


def _shifted(columns: list[Sum], shift: Any, scale: Any) -> list[Sum]:
    """(x - shift) / scale."""
    shifts = np.zeros(len(columns)) if shift is None else np.asarray(shift, dtype=np.float64)
    scales = np.ones(len(columns)) if scale is None else np.asarray(scale, dtype=np.float64)
    return [
        _plus((1.0 / s, column), (-m / s, ONE)) for column, m, s in zip(columns, shifts, scales, strict=True)
    ]


def _min_max(step: Any, columns: list[Sum]) -> list[Sum]:
    if step.clip:
        raise RefusalError("MinMaxScaler(clip=True) is not linear beyond the range: fit with clip=False.")
    return _shifted(columns, -np.asarray(step.min_) / step.scale_, 1.0 / np.asarray(step.scale_))


def _components(step: Any, columns: list[Sum]) -> list[Sum]:
    centred = _shifted(columns, step.mean_, None)
    root = np.sqrt(step.explained_variance_) if step.whiten else np.ones(len(step.components_))
    return [
        _plus(*((float(a) / s, column) for a, column in zip(axis, centred, strict=True)))
        for axis, s in zip(step.components_, root, strict=True)
    ]


def _products(step: Any, columns: list[Sum]) -> list[Sum]:
    found = []
    for powers in step.powers_:
        product = ONE
        for column, power in zip(columns, powers, strict=True):
            for _ in range(power):
                product = _times(product, column)
        found.append(product)
    return found


def _atoms(step: Any, columns: list[Sum]) -> list[Sum]:
    """What comes out is named by the step; it must go straight to columns of the table."""
    names = step.get_feature_names_out(_plain_names(step, columns))
    return [{((str(name), 1),): 1.0} for name in names]


def _plain_names(step: Any, columns: list[Sum]) -> list[str]:
    names = []
    for column in columns:
        term, factor = next(iter(column.items()), ((), 0.0))
        if len(column) != 1 or factor != 1.0 or len(term) != 1 or term[0][1] != 1:
            raise RefusalError(
                f"{type(step).__name__} comes after a step that changed its columns, so that what it makes "
                "is not of the table's own values: put it first."
            )
        names.append(term[0][0])
    return names


def _contrasts(step: Any, columns: list[Sum]) -> list[Sum]:
    """A contrast is a sum of indicators of levels."""
    found: list[Sum] = []
    known = zip(_plain_names(step, columns), step.categories_, step.contrast_matrices_, strict=True)
    for name, levels, matrix in known:
        indicators: list[Sum] = [{((f"{name}_{level}", 1),): 1.0} for level in levels]
        found += [_plus(*zip(column, indicators, strict=True)) for column in matrix.T.tolist()]
    return found


def _expanded(step: Any, columns: list[Sum]) -> list[Sum]:
    if step.basis != "polynomial":
        return [ONE if term == {(("1", 1),): 1.0} else term for term in _atoms(step, columns)]
    found = [ONE] if step.include_bias else []
    for column in columns:
        power = ONE
        for _ in range(step.n_functions):
            power = _times(power, column)
            found.append(power)
    return found


def _filled(step: Any, columns: list[Sum]) -> list[Sum]:
    if step.add_indicator or len(step.get_feature_names_out()) != len(columns):
        raise RefusalError(
            "a SimpleImputer that adds or drops columns cannot be inverted: fit it with add_indicator=False "
            "and keep_empty_features=True."
        )
    return columns


def _prepared(step: Any, columns: list[Sum]) -> list[Sum]:
    """A prepared table: numbers are unscaled, the rest is named by the preparer."""
    from surefit.models.prepare.tables.table_preparer import column_plans

    found: list[Sum] = []
    for plan in column_plans(step, _plain_names(step, columns)):
        atoms: list[Sum] = [{((name, 1),): plan.height} for name in plan.names]
        if plan.role in ("number", "cycle", "calendar"):
            if np.isfinite(plan.low):
                raise RefusalError(
                    "TablePreparer('count') clips columns at zero, which is not linear: use 'linear'."
                )
            atoms[:1] = _shifted([{((plan.names[0], 1),): 1.0}], [plan.shift], [plan.scale])
        found += atoms
    return found


def _written(term: Term) -> str:
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in term)


def _dense(coef: Any) -> Any:
    return coef.toarray() if hasattr(coef, "toarray") else coef


_STEPS: Mapping[str, Callable[[Any, list[Sum]], list[Sum]]] = {
    "BasisExpansion": _expanded,
    "ContrastEncoder": _contrasts,
    "FormulaPreparer": _atoms,
    "IncrementalPCA": _components,
    "MinMaxScaler": _min_max,
    "OneHotEncoder": _atoms,
    "OrdinalEncoder": _atoms,
    "PCA": _components,
    "PolynomialFeatures": _products,
    "RobustScaler": lambda step, columns: _shifted(columns, step.center_, step.scale_),
    "SimpleImputer": _filled,
    "StandardScaler": lambda step, columns: _shifted(
        columns, step.mean_ if step.with_mean else None, step.scale_
    ),
    "TablePreparer": _prepared,
    "TargetEncoder": _atoms,
}
