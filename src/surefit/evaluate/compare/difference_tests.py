"""Tests of whether two models differ, each for the scores that it suits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from surefit.core.errors import DataError, ParameterError
from surefit.evaluate.scoring.delong import delong
from surefit.evaluate.scoring.row_means import mean_and_error
from surefit.metrics import door


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test: its statistic, the chance of one at least as far out if the models are equal, and its name."""

    __test__ = False  # not a test of ours, whatever its name

    statistic: float
    pvalue: float
    method: str
    difference: float = math.nan

    def __str__(self) -> str:
        return f"{self.method}: statistic {self.statistic:.4g}, p = {self.pvalue:.4g}"


def corrected_t_test(differences: Any, test_share: float) -> TestResult:
    r"""The corrected resampled t test of Nadeau and Bengio: :math:`\bar d / \sqrt{(1/J + q)\, v}`, J - 1 df.

    differences: of two models' scores, fold by fold. test_share: rows tested over rows learnt from. The
    usual t test, without :math:`q`, finds a difference in equal models several times too often.

    >>> print(corrected_t_test([0.02, 0.01, 0.03, 0.02, 0.04], 1 / 4))
    corrected resampled t: statistic 3.138, p = 0.03492
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values).all():
        raise DataError("the corrected t test needs the finite scores of at least two folds.")
    error = math.sqrt((1 / len(values) + test_share) * float(values.var(ddof=1)))
    return _student(float(values.mean()), error, len(values) - 1, "corrected resampled t")


def paired_t_test(one: Any, two: Any, sample_weight: Any = None) -> TestResult:
    """Student's paired t of the values of the same rows under two models; weights count repetitions.

    >>> print(paired_t_test([1.0, 2.0, 4.0], [0.5, 1.0, 2.0]))
    paired t: statistic 2.646, p = 0.1181
    """
    values = np.asarray(one, dtype=np.float64) - np.asarray(two, dtype=np.float64)
    mean, error, total = mean_and_error(values, door.weights(sample_weight, len(values)))
    if math.isnan(error):
        raise DataError("a paired t test needs at least two rows.")
    return _student(mean, error, total - 1, "paired t")


def _student(mean: float, error: float, df: float, name: str) -> TestResult:
    if error == 0:  # the same difference everywhere: certain, unless it is none
        return TestResult(0.0 if mean == 0 else math.copysign(math.inf, mean), float(mean == 0), name, mean)
    statistic = mean / error
    return TestResult(statistic, 2 * float(special.stdtr(df, -abs(statistic))), name, mean)


def mcnemar_test(
    y: Any,
    one: Any,
    two: Any,
    *,
    method: Literal["mid-p", "exact", "chi2"] = "mid-p",
    sample_weight: Any = None,
) -> TestResult:
    """McNemar's test: of the rows that just one model gets right, does either get more?

    "exact" is a sign test; "mid-p" counts the observed split by half, which is less careful and nearer to the
    level asked for; "chi2" is the approximation with continuity correction. Weights must be whole numbers.

    >>> print(mcnemar_test([1] * 10, [1] * 9 + [0], [1] * 3 + [0] * 6 + [1], method="exact"))
    McNemar (exact): statistic 1, p = 0.125
    """
    truth = np.asarray(y)
    right, left = np.asarray(one) == truth, np.asarray(two) == truth
    weight = door.weights(sample_weight, len(truth))
    counts = np.ones(len(truth)) if weight is None else weight
    if (counts != np.floor(counts)).any():
        raise DataError("McNemar's test counts rows: give whole numbers as sample_weight, or none.")
    b, c = float(counts[right & ~left].sum()), float(counts[~right & left].sum())
    total, least = b + c, min(b, c)
    difference = (b - c) / float(counts.sum())
    name = f"McNemar ({method})"
    if method == "chi2":
        statistic = max(0.0, abs(b - c) - 1) ** 2 / total if total else 0.0
        return TestResult(statistic, float(special.chdtrc(1, statistic)), name, difference)
    if method not in ("exact", "mid-p"):
        raise ParameterError(f"method={method!r} must be 'mid-p', 'exact' or 'chi2'.")
    tail = float(special.bdtr(least, int(total), 0.5)) if total else 1.0
    at = math.exp(_log_choose(total, least) - total * math.log(2)) if total else 0.0
    pvalue = min(1.0, 2 * tail) if method == "exact" else min(1.0, 2 * tail - at)
    return TestResult(least, pvalue, name, difference)


def _log_choose(total: float, some: float) -> float:
    return float(special.gammaln(total + 1) - special.gammaln(some + 1) - special.gammaln(total - some + 1))


def delong_test(y: Any, one: Any, two: Any, sample_weight: Any = None) -> TestResult:
    """DeLong's test of two areas under the ROC curve, for scores of the same rows.

    >>> y = [0, 0, 0, 1, 1, 1]
    >>> print(delong_test(y, [1, 2, 3, 4, 5, 6], [1, 4, 2, 3, 5, 6]))
    DeLong: statistic 0.7071, p = 0.4795
    """
    found = delong(y, np.column_stack([np.asarray(one, float), np.asarray(two, float)]), sample_weight)
    difference = float(found.area[0] - found.area[1])
    cov = found.covariance
    variance = float(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    if math.isnan(variance):
        raise DataError("DeLong's test needs at least two rows of each class.")
    # Equal placements cancel but for rounding, which is no evidence.
    if variance <= 1e-15 * float(cov[0, 0] + cov[1, 1]):
        same = abs(difference) < 1e-12
        return TestResult(
            0.0 if same else math.copysign(math.inf, difference), float(same), "DeLong", difference
        )
    statistic = difference / math.sqrt(variance)
    return TestResult(statistic, 2 * float(special.ndtr(-abs(statistic))), "DeLong", difference)


def five_by_two_test(differences: Any, *, statistic: Literal["t", "F"] = "F") -> TestResult:
    r"""The 5x2cv tests: of five halvings, each model of one half judged by the other.

    differences: (5, 2). "t" is Dietterich's :math:`d_{11} / \sqrt{\tfrac15 \sum s_i^2}` with 5 df, "F"
    Alpaydin's :math:`\sum d_{ij}^2 / 2\sum s_i^2` with (10, 5) df, which does not hang on the first
    difference.

    >>> print(five_by_two_test([[0.02, 0.01], [0.03, 0.02], [0.01, 0.02], [0.02, 0.03], [0.02, 0.02]]))
    5x2cv F: statistic 11, p = 0.008156
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.shape != (5, 2) or not np.isfinite(d).all():
        raise DataError(f"differences has shape {d.shape}; the 5x2cv tests take finite ones of shape (5, 2).")
    spread = float(np.sum((d - d.mean(axis=1, keepdims=True)) ** 2))
    mean = float(d.mean())
    if statistic == "t":
        return _student(float(d[0, 0]), math.sqrt(spread / 5), 5, "5x2cv t")
    if statistic != "F":
        raise ParameterError(f"statistic={statistic!r} must be 't' or 'F'.")
    total = float(np.sum(d**2))
    if spread == 0:
        return TestResult(0.0 if total == 0 else math.inf, float(total == 0), "5x2cv F", mean)
    value = total / (2 * spread)
    return TestResult(value, float(special.fdtrc(10, 5, value)), "5x2cv F", mean)


@dataclass(frozen=True, slots=True)
class Odds:
    """Probabilities that the first model is worse, as good within the rope, or better."""

    worse: float
    alike: float
    better: float

    def __str__(self) -> str:
        return f"worse {self.worse:.3f}, alike {self.alike:.3f}, better {self.better:.3f}"


def bayesian_correlated_t(differences: Any, test_share: float, *, rope: float = 0.01) -> Odds:
    r"""The Bayesian correlated t test: the posterior of the mean difference is Student's t, J - 1 df.

    Its middle is the mean of the J differences and its scale :math:`\sqrt{(1/J + q)\,v}`, that of the
    corrected t test, with q the rows tested over those learnt from. rope: the half width of the region
    that is as good as no difference. Differences are of scores of which more is better.

    >>> print(bayesian_correlated_t([0.02, 0.01, 0.03, 0.02, 0.04], 1 / 4, rope=0.01))
    worse 0.006, alike 0.065, better 0.929
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values).all():
        raise DataError("the Bayesian correlated t test needs the finite scores of at least two folds.")
    if not rope >= 0 or not math.isfinite(rope):
        raise ParameterError(f"rope={rope!r} must be a finite number of at least 0.")
    mean = float(values.mean())
    scale = math.sqrt((1 / len(values) + test_share) * float(values.var(ddof=1)))
    if scale == 0:
        return Odds(float(mean < -rope), float(abs(mean) <= rope), float(mean > rope))
    low, high = (float(special.stdtr(len(values) - 1, (end - mean) / scale)) for end in (-rope, rope))
    return Odds(low, high - low, 1 - high)
