"""The kernels behind the metrics of numbers equal their twins: sums of errors, spreads, ranks."""

from __future__ import annotations

import numpy as np
import pytest

from surefit import metrics
from surefit.core.errors import DataError
from surefit.core.native.scores.error_sums import COSTS, error_sums, error_sums_twin
from surefit.core.native.scores.number_spread import number_spread, number_spread_twin
from surefit.core.native.scores.select_rank import (
    absolute_errors,
    absolute_errors_twin,
    select_ranks,
    select_ranks_twin,
)
from surefit.metrics.base import Metric

RNG = np.random.default_rng(0)
TRUTH = RNG.gamma(2.0, size=70_001)
GUESS = TRUTH * np.exp(RNG.normal(size=70_001))
WEIGHT = RNG.uniform(0.5, 2.0, size=70_001)
NAMES = (
    "mean_squared_error root_mean_squared_error sum_squared_error mean_absolute_error max_error "
    "mean_absolute_percentage_error mean_pinball_loss median_absolute_error r2_score adjusted_r2_score "
    "explained_variance_score mean_squared_log_error root_mean_squared_log_error mean_poisson_deviance "
    "mean_gamma_deviance mean_tweedie_deviance"
)
NUMBERS = NAMES.split()


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("rows", [0, 1, 3, 513, 70_001])
def test_sums_equal_the_twin_and_do_not_depend_on_threads(cost, rows):
    columns = TRUTH[:rows], GUESS[:rows]
    for weight in (None, WEIGHT[:rows]):
        found = [error_sums(cost, *columns, weight, option=0.3, least=True, _threads=k) for k in (1, 3)]
        assert found[0] == found[1]
        np.testing.assert_allclose(
            found[0], error_sums_twin(cost, *columns, weight, option=0.3, least=True), rtol=1e-12
        )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_spreads_equal_the_twin(offset):
    for weight in (None, WEIGHT):
        found = [number_spread(TRUTH + offset, GUESS, weight, with_errors=True, _threads=k) for k in (1, 3)]
        assert found[0] == found[1]
        twin = number_spread_twin(TRUTH + offset, GUESS, weight, with_errors=True)
        for ours, theirs in zip(found[0][1:], twin[1:], strict=True):
            # The two split the mean into its parts at another digit.
            assert ours.mean + ours.low == pytest.approx(theirs.mean + theirs.low, rel=1e-15)
            np.testing.assert_allclose(np.delete(ours, [1, 2]), np.delete(theirs, [1, 2]), rtol=1e-12)
        assert found[0][0] == pytest.approx(twin[0], rel=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 1000, 70_001])
@pytest.mark.parametrize("kind", ["distinct", "ties", "sorted"])
def test_ranks_are_those_of_the_sorted_numbers(kind, rows):
    x = {"distinct": GUESS - TRUTH, "ties": np.round(TRUTH), "sorted": np.sort(TRUTH)}[kind][:rows]
    for low in {0, rows // 3, rows // 2, rows - 1}:
        for high in {low, min(low + 1, rows - 1)}:
            assert select_ranks(x, low, high, _threads=3) == select_ranks_twin(x, low, high)
    for ours, twin in zip(absolute_errors(x, x[::-1].copy()), absolute_errors_twin(x, x[::-1]), strict=True):
        np.testing.assert_array_equal(ours, twin)


@pytest.mark.parametrize("name", NUMBERS)
def test_one_pass_gives_what_looking_first_gives(name, monkeypatch):
    metric = getattr(metrics, name)
    cases = [(TRUTH, GUESS, None), (TRUTH[:999], GUESS[:999], WEIGHT[:999])]
    cases.append((TRUTH[::7].astype(np.float32), GUESS[::7], np.arange(len(TRUTH[::7])) % 2))
    quick = [metric(*case) for case in cases]
    monkeypatch.setattr(type(metric), "_at_once", Metric._at_once)
    np.testing.assert_allclose(quick, [metric(*case) for case in cases], rtol=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(name, bad):
    for place, what in enumerate(("y_true", "y_pred", "sample_weight")):
        columns = [TRUTH[:700].copy(), GUESS[:700].copy(), WEIGHT[:700].copy()]
        columns[place][613] = bad
        with pytest.raises(DataError, match=f"{what} of row 613 is"):
            getattr(metrics, name)(*columns)


def test_errors_beyond_the_largest_number_are_infinite_as_ever():
    with np.errstate(over="ignore"):
        assert metrics.mean_squared_error([1e200, 0.0], [0.0, 0.0]) == np.inf
