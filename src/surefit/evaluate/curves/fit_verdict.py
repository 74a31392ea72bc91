"""Overfit or underfit, in words, from scores for rows learnt from and rows left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.evaluate.cross_validation.result import CrossValidation
from surefit.evaluate.scoring.corrected_resampled_t import corrected_interval
from surefit.evaluate.scoring.interval_base import ScoreInterval

REMEDIES = {
    "overfit": "The model is too complex for these rows: take a simpler model or a stronger penalty, fewer "
    "columns, or more rows.",
    "underfit": "The model is too simple, or the columns say too little: give it more degrees of freedom, a "
    "weaker penalty, or better columns.",
    "good fit": "It does as well on rows left out as on its own, and well enough.",
    "unclear": "The intervals are too wide to say: score it on more rows or more folds.",
}


@dataclass(frozen=True, slots=True)
class FitVerdict:
    """What ails a fit: verdict is "overfit", "underfit", "good fit" or "unclear"; gap is train minus test.

    For an error the gap is test minus train, so that a large gap is always bad.
    """

    verdict: str
    gap: ScoreInterval
    train: ScoreInterval
    test: ScoreInterval
    good: float
    statement: str

    def __str__(self) -> str:
        return self.statement


@public
def diagnose_fit(
    train: Any,
    test: Any = None,
    *,
    good: float,
    better: str = "higher",
    test_share: float = 0.25,
    folds: int | None = None,
    tolerance: float = 0.0,
    level: float = 0.95,
) -> FitVerdict:
    r"""Say whether a model overfits or underfits, from its scores in each fold.

    train, test: scores of the same folds, for the rows learnt from and those left out; or a cross-validation
    with train_scores alone, whose first metric it is then about. good: the score
    from which on a fit is good enough, such as that of a rival or of the noise. tolerance: a gap that
    does not matter. test_share: rows tested on over rows learnt from. folds: how many scores are of one cut,
    where rows were cut several times. A good training score with a worse
    test score is an overfit; bad scores on both are an underfit.

    >>> found = diagnose_fit([0.99, 0.98, 1.0, 0.99], [0.62, 0.58, 0.65, 0.6], good=0.9)
    >>> found.verdict, str(found.gap)
    ('overfit', 'gap 0.3775 [0.3276, 0.4274] (95 %, corrected resampled t)')
    """
    if isinstance(train, CrossValidation):
        name, metric = next(iter(train.metrics.items()))
        if name not in train.train_scores:
            raise DataError("the scores on the training rows are missing: pass train_scores=True.")
        better, test_share = getattr(metric, "better", "higher"), train.test_share
        train, test = train.train_scores[name], train.scores[name]
    learnt, left = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    if learnt.shape != left.shape or learnt.ndim != 1:
        raise DataError("train and test must hold one score for each fold, in the same order.")
    sign = 1.0 if better == "higher" else -1.0
    options: Any = {"level": level, "folds": folds}
    gap = corrected_interval(sign * (learnt - left), test_share, name="gap", **options)
    own = corrected_interval(learnt, test_share, name="train", **options)
    other = corrected_interval(left, test_share, name="test", **options)
    worst, best = (own.low, own.high) if better == "higher" else (own.high, own.low)
    falls_short = sign * best < sign * good
    if gap.low > tolerance and not falls_short:
        verdict = "overfit"
    elif falls_short:
        verdict = "underfit"
    elif gap.high <= tolerance or sign * other.estimate >= sign * good:
        verdict = (
            "good fit" if sign * worst >= sign * good or sign * other.estimate >= sign * good else "unclear"
        )
    else:
        verdict = "unclear"
    said = (
        f"{verdict.capitalize()}: {own.estimate:.4g} for rows learnt from, {other.estimate:.4g} for rows "
        f"left out, a gap of {gap.estimate:.4g} [{gap.low:.4g}, {gap.high:.4g}]. {REMEDIES[verdict]}"
    )
    return FitVerdict(verdict, gap, own, other, good, said)
