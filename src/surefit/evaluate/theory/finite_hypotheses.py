"""Finitely many hypotheses: their risks, the best of them, what data leave of them, and their average.

Hypotheses are a table with one row each and one column an input: what each says there.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError


def all_hypotheses(inputs: int, labels: tuple[Any, ...] = (0, 1)) -> NDArray[Any]:
    """List every function from ``inputs`` points to the labels, one a row.

    >>> all_hypotheses(3).shape
    (8, 3)
    """
    if inputs < 1 or len(labels) ** inputs > 2**20:
        raise ParameterError(
            f"inputs={inputs!r} has too many functions to list, or none: take 1 to 20 points."
        )
    return np.array(list(product(labels, repeat=inputs)))


def risks(hypotheses: Any, y: Any, probability: Any = None, *, loss: str = "zero_one") -> Vector:
    r"""Return the risk of each hypothesis, :math:`\sum_i p_i L(y_i, h(x_i))`; with p = 1/n the empirical one.

    loss: "zero_one" or "squared". With ``probability`` as a (inputs, labels) joint table, y lists the labels.

    >>> risks([[0, 0], [0, 1]], [0, 1])
    array([0.5, 0. ])
    """
    table, truth = _table(hypotheses), np.asarray(y)
    if loss not in ("zero_one", "squared"):
        raise ParameterError(f"loss={loss!r} must be 'zero_one' or 'squared'.")
    joint = None if probability is None else np.asarray(probability, dtype=np.float64)
    if joint is not None and joint.ndim == 2:
        if joint.shape != (table.shape[1], len(truth)):
            raise DataError(f"probability has shape {joint.shape}; it must be (inputs, labels).")
        return np.asarray(np.einsum("hil,il->h", _loss(table[:, :, None], truth[None, None], loss), joint))
    if len(truth) != table.shape[1]:
        raise DataError(f"y has {len(truth)} entries for {table.shape[1]} inputs; give one each.")
    shares = np.full(len(truth), 1 / len(truth)) if joint is None else joint
    return np.asarray(_loss(table, truth[None], loss) @ shares)


def _loss(guess: NDArray[Any], truth: NDArray[Any], loss: str) -> Vector:
    return np.asarray(guess != truth if loss == "zero_one" else np.square(guess - truth), dtype=np.float64)


def version_space(hypotheses: Any, seen: Any, y: Any) -> NDArray[np.intp]:
    """Return the numbers of the hypotheses that agree with all labels seen; ``seen`` are places of inputs.

    >>> version_space(all_hypotheses(3), [0], [1])
    array([4, 5, 6, 7])
    """
    return np.flatnonzero(likelihoods(hypotheses, seen, y) == 1)


def likelihoods(hypotheses: Any, seen: Any, y: Any, *, noise: float = 0.0) -> Vector:
    r"""Return :math:`\prod_i P(y_i | h)`: 1 on the version space and 0 elsewhere, unless labels are noisy.

    noise: the chance that a label is not what the hypothesis says, of two labels.

    >>> likelihoods([[0, 0], [0, 1]], [0, 1], [0, 1])
    array([0., 1.])
    """
    table, places, labels = _table(hypotheses), np.asarray(seen, dtype=np.intp), np.asarray(y)
    if not 0 <= noise < 0.5:
        raise ParameterError(f"noise={noise!r} must be at least 0 and below 0.5.")
    right = np.count_nonzero(table[:, places] == labels, axis=1)
    wrong = len(labels) - right
    return np.asarray((1 - noise) ** right * (noise**wrong), dtype=np.float64)


def hypothesis_posterior(
    hypotheses: Any, seen: Any, y: Any, prior: Any = None, *, noise: float = 0.0
) -> Vector:
    """Return the probability of each hypothesis after the labels seen: likelihood times prior, normalised.

    Its largest entry is the MAP hypothesis; with an even prior that of the largest likelihood.

    >>> hypothesis_posterior(all_hypotheses(2), [0], [1])
    array([0. , 0. , 0.5, 0.5])
    """
    weight = likelihoods(hypotheses, seen, y, noise=noise)
    weight = weight * (1.0 if prior is None else np.asarray(prior, dtype=np.float64))
    if not weight.sum() > 0:
        raise DataError("no hypothesis is consistent with the labels: add hypotheses, or allow for noise.")
    return np.asarray(weight / weight.sum())


def averaged_hypotheses(hypotheses: Any, posterior: Any) -> Vector:
    """Return what the hypotheses say on average at each input: Bayesian model averaging of labels 0 and 1.

    >>> every = all_hypotheses(3)
    >>> averaged_hypotheses(every, hypothesis_posterior(every, [0], [1]))
    array([1. , 0.5, 0.5])
    """
    return np.asarray(np.asarray(posterior, dtype=np.float64) @ _table(hypotheses))


def _table(hypotheses: Any) -> NDArray[Any]:
    table = np.asarray(hypotheses)
    if table.ndim != 2 or table.size == 0:
        raise DataError(
            f"hypotheses has shape {table.shape}; give one row a hypothesis, one column an input."
        )
    return table
