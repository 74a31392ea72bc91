"""No free lunch: over all labellings of points not seen, every learner is as good as any other."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.evaluate.theory.finite_hypotheses import all_hypotheses


def no_free_lunch(model: Any, X: Any, y: Any, unseen: Any) -> Vector:
    r"""Return the accuracy of a model on points not seen, under each labelling that these may have.

    The model learns from X and y once. With c classes, ``unseen`` has :math:`c^n` labellings, and the mean
    of the accuracies is 1/c whatever the model is.

    >>> import surefit
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> found = no_free_lunch(surefit.GaussianNB(), X, y, [[2.0], [6.0]])
    >>> found.tolist(), float(found.mean())
    ([0.5, 1.0, 0.0, 0.5], 0.5)
    """
    labels = np.unique(np.asarray(y))
    if len(labels) < 2:
        raise DataError("y has one class only: give rows of at least two.")
    answers = np.asarray(clone(model).fit(X, y).predict(unseen))
    if answers.ndim != 1 or not np.isin(answers, labels).all():
        raise DataError(f"{type(model).__name__} must answer with the classes of y: give a classifier.")
    codes = np.searchsorted(labels, answers)
    return np.asarray((all_hypotheses(len(codes), tuple(range(len(labels)))) == codes).mean(axis=1))
