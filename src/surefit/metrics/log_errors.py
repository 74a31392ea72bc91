"""Squared errors of logarithms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError
from surefit.metrics.cases import Case
from surefit.metrics.native_sums import columns_of, sums
from surefit.metrics.squared import SquaredErrors
from surefit.metrics.sums import ManyOutputMetric, ManyOutputs

Form = Literal["log1p", "log", "log_sum"]


class MeanSquaredLogError(ManyOutputMetric):
    r"""The mean squared difference of logarithms,
    :math:`\frac{1}{W} \sum_i s_i (\log(1 + y_i) - \log(1 + \hat y_i))^2`.

    >>> from surefit import metrics
    >>> round(metrics.mean_squared_log_error([3.0, 5.0], [2.5, 5.0]), 6)
    0.008915
    """

    name = "mean_squared_log_error"
    statistic = SquaredErrors
    form: Form = "log1p"

    @property
    def context(self) -> dict[str, Any]:
        """The logarithm."""
        return {"transform": np.log1p if self.form == "log1p" else np.log}

    def _at_once(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        shift = 1.0 if self.form == "log1p" else 0.0
        columns = columns_of(y_true, y_pred, sample_weight)
        found = sums("squared_log", columns, option=shift, above=(-shift, -shift))
        return None if found is None or columns is None else SquaredErrors.found(len(columns[0]), found)

    def finish(self, statistic: SquaredErrors) -> float | NDArray[np.float64]:
        """Return the mean, averaged over outputs; NaN for no rows."""
        return self._averaged(statistic.mean)

    def _admit(self, y_true: Any, y_pred: Any) -> Any:
        pair = super()._admit(y_true, y_pred)
        bound = -1.0 if self.form == "log1p" else 0.0
        for what, table in (("y_true", pair.truth), ("y_pred", pair.prediction)):
            outside = (table <= bound) if table.ndim == 1 else (table <= bound).any(axis=1)
            if outside.any():
                row = int(np.argmax(outside))
                raise DataError(
                    f"{what} of row {row} is {table[row]}; its logarithm needs numbers above {bound:g}."
                )
        return pair

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Positive numbers."""
        for case in super().cases(rng):
            truth, guess = (np.exp(table - case.truth.mean()) for table in (case.truth, case.prediction))
            yield Case(truth, guess, truth, case.options)


class RootMeanSquaredLogError(MeanSquaredLogError):
    r"""The root of the mean squared difference of logarithms, in the form asked for.

    form: "log1p", of 1 + y, as usual; "log", of y itself: :math:`\sqrt{\frac{1}{W} \sum_i s_i (\log y_i -
    \log \hat y_i)^2}`; "log_sum", the same without 1/W, as some texts print it. All are symmetric in truth
    and prediction; for the same absolute error, predicting too little costs more.

    >>> from surefit import metrics
    >>> round(metrics.root_mean_squared_log_error([10.0], [5.0], form="log"), 6)
    0.693147
    """

    name = "root_mean_squared_log_error"

    def __init__(self, *, multioutput: ManyOutputs = "uniform_average", form: Form = "log1p") -> None:
        self.multioutput = multioutput
        self.form = form

    def finish(self, statistic: SquaredErrors) -> float | NDArray[np.float64]:
        """Return the root, averaged over outputs; NaN for no rows."""
        return self._averaged(np.sqrt(statistic.errors if self.form == "log_sum" else statistic.mean))

    @classmethod
    def cases(cls, rng: np.random.Generator) -> Iterator[Case]:
        """Add the forms."""
        for case in super().cases(rng):
            yield case
            if not case.options:
                yield case.with_options(form="log")
                yield case.with_options(form="log_sum")
