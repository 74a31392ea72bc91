"""The columns that a formula asks for.

What functions of a formula learn of all rows together (means, spreads, knots and recurrences) is learnt by
formulaic's own functions, from the columns that they name, and kept as numbers, so that a model file holds
them and later rows are transformed alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, RefusalError
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.batches.cells import column_counts, column_levels, column_numbers, column_places
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.encoders.encoder import is_nan, key, recounted
from surefit.models.prepare.formulas.formula import FUNCTIONS, Formula, load_formulaic, read_formula
from surefit.models.prepare.recompute import relative_change, seen, total_weight
from surefit.models.prepare.tables.column_facts import columns_of
from surefit.models.transformer import Transformer
from surefit.stats.category_counts import CategoryCounts

State = dict[str, dict[str, Any]]
NUMBERED = ("alpha", "norms2")  # of a recurrence: a number for each degree


def learnt_state(formula: Formula, columns: Mapping[str, NDArray[np.float64]]) -> State:
    """Return what the functions learn of columns that hold all rows."""
    import pandas as pd

    formulaic = load_formulaic()
    asked = formulaic.Formula("0 + " + " + ".join(formula.stateful))
    frame = pd.DataFrame(dict(columns))
    try:
        with np.errstate(all="ignore"):
            made = formulaic.model_matrix(asked, frame, context=dict(FUNCTIONS), na_action="ignore")
    except Exception as error:  # formulaic's functions raise whatever numpy and pandas do
        raise DataError(f"{_functions(formula)} cannot learn from these rows: {_reason(error)}.") from None
    state = {name: _plain(found) for name, found in made.model_spec.transform_state.items()}
    broken = [name for name, found in state.items() if not np.isfinite(_state_numbers(found)).all()]
    if broken:
        raise DataError(
            f"{broken[0]} finds no finite numbers in these rows, as its column is constant or too large: "
            "leave it out."
        )
    return state


def by_formulaic(state: State) -> dict[str, dict[str, Any]]:
    """Return a state as formulaic's functions keep it."""
    return {
        name: {
            key: dict(enumerate(value)) if key in NUMBERED and isinstance(value, list) else value
            for key, value in found.items()
        }
        for name, found in state.items()
    }


def state_change(before: State, after: State) -> float:
    """Return the largest change of a number, relative to the largest of its function; inf for others."""
    if before.keys() != after.keys():
        return float("inf")
    change = 0.0
    for name, found in before.items():
        one, two = _state_numbers(found), _state_numbers(after[name])
        if one.shape != two.shape:
            return float("inf")
        size = max(float(np.abs(one).max(initial=0.0)), float(np.finfo(float).tiny))
        change = max(change, float(np.abs(one - two).max(initial=0.0)) / size)
    return change


def refuse_outside(formula: Formula, error: Exception) -> DataError:
    """Return the refusal for rows that a function does not take, such as those beyond its outer knots."""
    return DataError(f"{_functions(formula)} does not take one of these rows: {_reason(error)}.")


def _functions(formula: Formula) -> str:
    return " or ".join(formula.stateful)


def _reason(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return said[0].rstrip(".") if said else type(error).__name__


def _plain(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): _value(value) for key, value in found.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [float(value[key]) for key in sorted(value)]
    if isinstance(value, np.ndarray | list | tuple):
        return np.asarray(value, dtype=np.float64).tolist()
    return value.item() if isinstance(value, np.generic) else value


def _state_numbers(found: Mapping[str, Any]) -> NDArray[np.float64]:
    values = [np.ravel(value) for value in found.values() if value is not None]
    return np.concatenate([np.zeros(0), *values]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class FormulaPreparerParameters:
    """The columns that are categories, their levels and weights; the names that come out; the weight seen;
    what functions such as ``center`` learnt.
    """

    factors: list[str]
    categories: list[NDArray[Any]]
    counts: list[NDArray[np.float64]]
    features: list[str]
    n_samples_seen: Any
    state: dict[str, Any] | None = None


class FormulaPreparer(Transformer):
    """Make the columns of a formula, such as ``a*b + C(c)``, as formulaic lays them out.

    formula: sums of columns, products (``a:b``; ``a*b`` has both columns too), powers, ``C(c)`` for a
    category, also with contrasts, as in ``C(c, contr.sum)``, functions such as ``log(a)``, and arithmetic
    within ``I(...)``; "." is all columns. ``center``, ``scale``, ``poly``, ``bs``, ``cr`` and ``cc`` learn
    from the rows of the fit, whatever their weights; the columns that they name are held in memory for it,
    and no rows can be added later. A left side, ``y ~``, is for :func:`~surefit.fit_formula`. The intercept
    is left to the model. Words are categories by themselves. Levels not seen in fit, missing cells and
    results that are not finite are errors. Needs the extra ``formula``.

    >>> import pandas as pd
    >>> from surefit import FormulaPreparer
    >>> table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "c": ["u", "v", "u"]})
    >>> preparer = FormulaPreparer("a*C(c)").fit(table)
    >>> preparer.get_feature_names_out().tolist()
    ['a', 'C(c)[T.v]', 'a:C(c)[T.v]']
    >>> preparer.transform(table)
    array([[1., 0., 0.],
           [2., 1., 2.],
           [3., 0., 0.]])
    """

    accepts = Accepts(sparse=False, tables=True, cells=True)
    learns = FormulaPreparerParameters
    shaping = ("formula",)

    factors_: list[str]
    categories_: list[NDArray[Any]]
    counts_: list[NDArray[np.float64]]
    features_: list[str]
    n_samples_seen_: Any
    state_: dict[str, Any] | None

    def __init__(self, formula: str = ".") -> None:
        self.formula = formula

    def _accepted(self) -> Accepts:
        return replace(self.accepts, missing=True)  # columns that the formula does not name may have gaps

    def _asked(self, schema: Schema) -> tuple[Formula, list[str], list[str]]:
        """The formula, the columns of the table, and those that are categories."""
        columns = columns_of(schema)
        names = [column.name for column in columns]
        formula = read_formula(self.formula, names)
        words = {column.name for column in columns if column.kind in ("category", "text")}
        factors = [name for name in formula.variables if name in words or name in formula.categories]
        return formula, names, factors

    def _of(self, schema: Schema) -> Callable[[Batch], CategoryCounts]:
        formula = self._asked(schema)[0]
        if formula.stateful:
            raise RefusalError(
                f"{' and '.join(formula.stateful)} in the formula depend on all rows together, so "
                "partial_fit cannot add rows: fit all rows at once."
            )
        return self._counting(schema)

    def _counting(self, schema: Schema) -> Callable[[Batch], CategoryCounts]:
        formula, names, factors = self._asked(schema)
        numbers = [(names.index(name), name) for name in formula.variables if name not in factors]
        return partial(_counted, factors=[names.index(name) for name in factors], numbers=numbers)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        if not self._asked(source.schema)[0].stateful:
            return super()._learn(source, engine, trace)
        self.__dict__.pop("statistic_", None)
        self._schema = source.schema
        counts = engine.accumulate(self._counting(source.schema), source)
        return self._finish(counts, source.schema, self._whole(source, engine))

    def _whole(self, source: Source, engine: Engine) -> dict[str, NDArray[np.float64]]:
        """The columns that functions of all rows name, in memory."""
        formula, names, factors = self._asked(source.schema)
        words = [name for name in formula.whole if name in factors]
        if words:
            raise DataError(f"column {words[0]!r} holds words, and {formula.stateful[0]} takes numbers.")
        columns = [(names.index(name), name) for name in formula.whole]
        pieces = list(engine.map(partial(_held, columns=columns), source))
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in formula.whole}

    def _why_nothing_kept(self) -> str:
        return "its formula learns from all rows together"

    def _finish(
        self,
        statistic: CategoryCounts,
        schema: Schema,
        whole: dict[str, NDArray[np.float64]] | None = None,
    ) -> Learned:
        formula, _, factors = self._asked(schema)
        state = None if whole is None else learnt_state(formula, whole)
        for name, known in zip(factors, statistic.levels, strict=True):
            if any(level is None or is_nan(level) for level in known):
                raise DataError(_missing(name))
        levels = list(statistic.levels)
        samples = dict.fromkeys(formula.variables, np.ones(1))
        samples |= {name: column[:1] for name, column in (whole or {}).items()}
        features = _evaluated(formula, samples, dict(zip(factors, levels, strict=True)), {}, state)[1]
        parameters = FormulaPreparerParameters(
            factors, levels, list(statistic.counts), features, seen(statistic.weight), state
        )
        return Learned(parameters, self._certificate(statistic.rows * np.finfo(float).eps))

    @staticmethod
    def _certificate(value: float) -> Certificate:
        measure = "largest relative change of a count; inf for a changed level"
        return Certificate("exact", measure, value, 1e-8)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Count every category again, one by one."""
        names = [column.name for column in columns_of(source.schema)]
        tallies = recounted(source, engine, [names.index(name) for name in self.factors_])
        change = relative_change(self.n_samples_seen_, total_weight(source, engine))
        if self.state_ is not None:
            again = learnt_state(self._asked(source.schema)[0], self._whole(source, engine))
            change = max(change, state_change(self.state_, again))
        for levels, counts, tally in zip(self.categories_, self.counts_, tallies, strict=True):
            expected = [tally.pop(key(level), 0.0) for level in levels.tolist()]
            change = max(change, np.inf if tally else relative_change(counts, expected))
        return self._certificate(change)

    def _checked_and_mapped(self, X: Any) -> Any:
        """A frame may have more columns than the formula was fitted on, the target for one."""
        given = getattr(X, "columns", None)
        if given is not None and not set(given) <= set(getattr(self, "feature_names_in_", given)):
            kept = [name for name in self.feature_names_in_ if name in set(given)]
            if kept:
                X = nw.from_native(X, eager_only=True).select(kept).to_native()
        return super()._checked_and_mapped(X)

    def _transform(self, X: Any) -> NDArray[np.float64]:
        names = [str(name) for name in _check_feature_names_in(self, None)]
        formula = read_formula(self.formula, names)
        known = dict(zip(self.factors_, self.categories_, strict=True))
        numbers, codes = {}, {}
        for name in formula.variables:
            j = names.index(name)
            if name in known:
                codes[name] = _codes(X, j, name, known[name])
            else:
                numbers[name] = _numbers(X, j, name)
        found, features = _evaluated(formula, numbers, known, codes, self.state_)
        if features != self.features_:
            raise ParameterError(
                f"the formula gives the columns {features}, and gave {self.features_} when it was fitted: "
                "fit again after a change."
            )
        broken = ~np.isfinite(found)
        if broken.any():
            row, column = (int(place) for place in np.argwhere(broken)[0])
            raise DataError(
                f"{self.features_[column]} is not finite in row {row}: correct the row, or the formula."
            )
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names that formulaic gives to the terms."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array(self.features_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = False
        return tags


def _held(batch: Batch, columns: list[tuple[int, str]]) -> dict[str, NDArray[np.float64]]:
    """Columns of the rows that count."""
    counts = slice(None) if batch.weight is None else batch.weight > 0
    return {name: _numbers(batch.X, j, name)[counts] for j, name in columns}


def _counted(batch: Batch, factors: list[int], numbers: list[tuple[int, str]]) -> CategoryCounts:
    """The levels of some columns; missing cells of the others are refused on the way."""
    for j, name in numbers:
        _numbers(batch.X, j, name)
    weight = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
    found = [column_counts(batch.X, j, batch.weight) for j in factors]
    return CategoryCounts(
        len(batch), weight, tuple(levels for levels, _ in found), tuple(counts for _, counts in found)
    )


def _numbers(X: Any, j: int, name: str) -> NDArray[np.float64]:
    values = column_numbers(X, j, name)
    if np.isnan(values).any():
        raise DataError(_missing(name))
    return values


def _codes(X: Any, j: int, name: str, levels: NDArray[Any]) -> NDArray[np.int32]:
    codes = column_places(X, j, levels)
    if len(codes) and codes.min() < 0:
        values, cells = column_levels(X, j)
        unknown = [values[code] for code in np.unique(cells[codes < 0]) if code >= 0]
        if any(value is None or is_nan(value) for value in unknown):
            raise DataError(_missing(name))
        shown = [value.item() if isinstance(value, np.generic) else value for value in unknown[:5]]
        raise DataError(
            f"column {name!r} has the levels {shown}, which were not seen in fit: fit on rows that have "
            "them, or drop these rows."
        )
    return codes


def _missing(name: str) -> str:
    return f"column {name!r} of the formula has missing cells (NaN): fill them, or leave these rows out."


def _evaluated(
    formula: Formula,
    numbers: dict[str, NDArray[np.float64]],
    levels: dict[str, NDArray[Any]],
    codes: dict[str, NDArray[np.int32]],
    state: State | None = None,
) -> tuple[NDArray[np.float64], list[str]]:
    """The columns of a formula without its intercept, and their names."""
    import pandas as pd

    formulaic = load_formulaic()
    columns: dict[str, Any] = {}
    for name in formula.variables:
        if name in levels:
            places = codes.get(name, np.zeros(1, dtype=np.int32))
            known = [level.item() if isinstance(level, np.generic) else level for level in levels[name]]
            columns[name] = pd.Categorical.from_codes(places, categories=known)
        else:
            columns[name] = numbers[name]
    rows = len(next(iter(columns.values()), np.ones(1)))
    frame = pd.DataFrame(columns, index=pd.RangeIndex(rows))
    learnt = by_formulaic(state or {})
    spec = formulaic.ModelSpec(formula.right, transform_state=learnt, na_action="ignore", output="numpy")
    try:
        with np.errstate(all="ignore"):
            made = spec.get_model_matrix(frame, context=dict(FUNCTIONS))
    except Exception as error:  # formulaic's functions raise whatever numpy and pandas do
        if state is None:
            raise
        raise refuse_outside(formula, error) from None
    names = list(made.model_spec.column_names)
    kept = [k for k, name in enumerate(names) if name != "Intercept"]
    return np.asarray(made, dtype=np.float64)[:, kept], [names[k] for k in kept]
