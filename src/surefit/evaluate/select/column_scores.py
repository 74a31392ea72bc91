"""Scores of single columns: how much each one tells of the target, whatever the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from surefit.core.arrays import Vector
from surefit.core.errors import DataError, ParameterError
from surefit.distributions.information import estimated_mutual_information, label_counts, mutual_information
from surefit.evaluate.select.column_tests import (
    chi2_of_counts,
    f_of_correlations,
    f_of_groups,
    f_score_of_groups,
)

Scores = Vector | tuple[Vector, Vector]


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _centred(values: Any) -> NDArray[np.float64]:
    """Centred and of unit length; a constant column becomes zero."""
    table = _dense(values)
    table = table - table.mean(axis=0)
    largest = np.abs(table).max(axis=0, initial=0.0)
    table = table / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((table**2).sum(axis=0))
    # What rounding leaves of a constant is no spread: below it a correlation would be of noise.
    spread = largest > 8 * np.finfo(float).eps * np.abs(_dense(values)).max(axis=0, initial=0.0)
    return np.asarray(np.where(spread, table / np.where(length > 0, length, 1.0), 0.0))


def r_regression(X: Any, y: Any) -> Vector:
    """Pearson's correlation of each column with the target; 0 for a constant column.

    >>> r_regression([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [2.0, 4.0, 6.0])
    array([1., 0.])
    """
    target = _centred(np.asarray(y, dtype=np.float64)[:, None])[:, 0]
    return np.asarray(np.clip(_centred(X).T @ target, -1.0, 1.0))


def f_regression(X: Any, y: Any) -> tuple[Vector, Vector]:
    r"""The F test of a line through each column: :math:`F = r^2 (n - 2) / (1 - r^2)`, and its p-value.

    >>> F, p = f_regression([[1.0], [2.0], [3.0], [5.0]], [1.0, 2.0, 2.0, 6.0])
    >>> F.round(4), p.round(4)
    (array([17.1204]), array([0.0537]))
    """
    return f_of_correlations(r_regression(X, y), len(_dense(y)))


def f_classif(X: Any, y: Any) -> tuple[Vector, Vector]:
    """The F test that the means of a column differ between classes (analysis of variance), and its p-value.

    A constant column has F = 0 and p = 1.

    >>> F, p = f_classif([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]], ["a", "a", "b", "b"])
    >>> F, p.round(4)
    (array([32.,  0.]), array([0.0299, 1.    ]))
    """
    table = _centred(X)
    classes, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    indicator = (codes[:, None] == np.arange(len(classes))).astype(np.float64)
    means = indicator.T @ table / counts[:, None]
    return f_of_groups(counts, means, ((table - means[codes]) ** 2).sum(axis=0))


def f_score(X: Any, y: Any) -> Vector:
    r"""How far two classes lie apart in each column, over their spread: Chen and Lin's F-score.

    .. math:: \frac{(\bar x^+ - \bar x)^2 + (\bar x^- - \bar x)^2}{v^+ + v^-}

    >>> f_score([[1.0], [2.0], [3.0], [4.0], [6.0], [8.0]], [1, 1, 1, 0, 0, 0])
    array([1.6])
    """
    table, labels = _centred(X), np.asarray(y)
    parts = [table[labels == name] for name in np.unique(labels)]
    means = np.array([part.mean(axis=0) for part in parts])
    scatter = np.array([len(part) * part.var(axis=0) for part in parts])
    return f_score_of_groups([len(part) for part in parts], means, scatter)


def chi2(X: Any, y: Any) -> tuple[Vector, Vector]:
    """The chi-squared test of counts in each column against the classes, and its p-value.

    >>> value, p = chi2([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]], [0, 0, 1, 1])
    >>> value, p.round(4)
    (array([2., 0.]), array([0.1573, 1.    ]))
    """
    table = X if sparse.issparse(X) else _dense(X)
    if (table.min() if table.shape[0] else 0) < 0:
        raise DataError("chi2 is a test of counts, and X has a number below 0: use f_classif.")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    indicator = (codes[:, None] == np.arange(len(classes))).astype(np.float64)
    return chi2_of_counts((table.T @ indicator).T, indicator.sum(axis=0))


def mutual_info_classif(X: Any, y: Any, *, discrete_features: Any = "auto", n_neighbors: int = 3) -> Vector:
    """Mutual information of each column and the classes, in nats.

    Columns of whole numbers with few values (``"auto"``), or those named, are counted; the others go to
    Ross's estimator by nearest neighbours.

    >>> mutual_info_classif([[0], [0], [1], [1]], ["a", "a", "b", "b"]).round(4)
    array([0.6931])
    """
    return _information(X, y, discrete_features, n_neighbors, labels=True)


def mutual_info_regression(
    X: Any, y: Any, *, discrete_features: Any = "auto", n_neighbors: int = 3
) -> Vector:
    """Mutual information of each column and a number, in nats, by nearest neighbours.

    The estimator is that of Kraskov, Stögbauer and Grassberger; for a column of few values Ross's, with
    the column as the classes; where the target has few values too, counts.

    >>> x = np.linspace(-1, 1, 200)
    >>> mutual_info_regression(np.column_stack([x, np.cos(97 * x)]), x**2).round(1)
    array([2.4, 0.4])
    """
    return _information(X, y, discrete_features, n_neighbors, labels=False)


def _information(X: Any, y: Any, discrete: Any, neighbours: int, labels: bool) -> Vector:
    table, target = _dense(X), np.asarray(y)
    few = _few(target) or labels
    found = []
    for column, counted in zip(table.T, _discrete(table, discrete), strict=True):
        if counted and few:
            found.append(mutual_information(label_counts(column, target)))
        elif np.ptp(column) == 0:
            found.append(0.0)
        elif labels:
            found.append(estimated_mutual_information(column, target, labels=True, neighbors=neighbours))
        elif counted:
            found.append(estimated_mutual_information(target, column, labels=True, neighbors=neighbours))
        else:
            found.append(estimated_mutual_information(column, target, neighbors=neighbours))
    return np.maximum(np.array(found, dtype=np.float64), 0.0)


def _few(column: Any) -> bool:
    return bool(len(np.unique(column)) <= max(2, int(np.sqrt(len(column)))))


def _discrete(table: Any, given: Any) -> NDArray[np.bool_]:
    columns = table.shape[1]
    if isinstance(given, str):
        if given != "auto":
            raise ParameterError(
                f"discrete_features={given!r} must be 'auto', a bool, a mask or column numbers."
            )
        return np.array([bool((column == np.round(column)).all()) and _few(column) for column in table.T])
    if isinstance(given, bool):
        return np.full(columns, given)
    mask = np.asarray(given)
    if mask.dtype == bool:
        return mask
    found = np.zeros(columns, dtype=bool)
    found[mask] = True
    return found


def interaction_gain(X: Any, y: Any) -> NDArray[np.float64]:
    r"""What two columns tell together beyond each alone: :math:`I(x_1, x_2; y) - I(x_1; y) - I(x_2; y)`.

    For columns and targets of few values, which are counted; in nats, as a symmetric table. Among many
    pairs the largest are often chance: judge them on other rows.

    >>> interaction_gain([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).round(4)
    array([[0.    , 0.6931],
           [0.6931, 0.    ]])
    """
    table, target = _dense(X), np.asarray(y)
    codes = [np.unique(column, return_inverse=True)[1] for column in table.T]
    alone = [mutual_information(label_counts(code, target)) for code in codes]
    found = np.zeros((len(codes), len(codes)))
    for i in range(len(codes)):
        for j in range(i):
            pair = codes[i] * (codes[j].max() + 1) + codes[j]
            found[i, j] = found[j, i] = mutual_information(label_counts(pair, target)) - alone[i] - alone[j]
    return found


def dispersion(X: Any, y: Any = None) -> Vector:
    """The variance of each column over the size of its mean; infinite where the mean is zero and it varies.

    >>> dispersion([[1.0, 4.0], [3.0, 4.0]])
    array([0.5, 0. ])
    """
    table = _dense(X)
    spread, middle = table.var(axis=0), np.abs(table.mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(_centred(table).any(axis=0), spread / middle, 0.0)


def permutation_p_values(
    score: Callable[[Any, Any], Any], X: Any, y: Any, *, draws: int = 200, random_state: Any = 0
) -> tuple[Vector, Vector]:
    r"""Return the columns' scores, and how often shuffled targets reach them: :math:`(1 + \#) / (1 + B)`.

    >>> X = np.column_stack([np.arange(20.0), np.cos(np.arange(20.0))])
    >>> permutation_p_values(lambda X, y: r_regression(X, y) ** 2, X, np.arange(20.0), draws=99)[1].round(2)
    array([0.01, 0.91])
    """
    rng = np.random.default_rng(random_state)
    target = np.asarray(y)
    observed = scores_only(score(X, y))
    above = sum(scores_only(score(X, rng.permutation(target))) >= observed for _ in range(draws))
    return observed, np.asarray((1 + above) / (1 + draws), dtype=np.float64)


def scores_only(found: Any) -> Vector:
    """The scores of a function that may return p-values beside them."""
    return np.asarray(found[0] if isinstance(found, tuple) else found, dtype=np.float64)


def benjamini_hochberg(p_values: Any, share: float) -> NDArray[np.bool_]:
    """Which tests to call discoveries so that at most a share of them is false, on average.

    >>> benjamini_hochberg([0.01, 0.02, 0.03, 0.9], 0.05)
    array([ True,  True,  True, False])
    """
    p = np.asarray(p_values, dtype=np.float64)
    return np.asarray(stats.false_discovery_control(np.where(np.isfinite(p), p, 1.0)) <= share)


CELLS = 4_000_000  # distances held at a time


def relief(X: Any, y: Any, *, rows: int | None = None, scale: bool = True, random_state: Any = 0) -> Vector:
    r"""Kira and Rendell's weights: :math:`w \gets w - (x - \text{hit})^2 + (x - \text{miss})^2`, over rows.

    Columns are scaled to [0, 1] first, unless ``scale=False``. hit is the nearest other row of the same
    class, miss the nearest of another. rows: how many to draw; None takes each once. Ties go to the row
    that comes first.

    >>> relief([[0, 0.2], [0.1, 0.9], [0.9, 0.1], [1, 0.8]], [0, 0, 1, 1], scale=False).round(4)
    array([ 3.2 , -1.92])
    """
    table, codes = _scaled(X) if scale else _plain(X), _codes(y)
    total = np.zeros(table.shape[1])
    for i, near in _distances(table, _drawn(len(table), rows, random_state)):
        hit, miss = _nearest(near, codes == codes[i], i, 1), _nearest(near, codes != codes[i], i, 1)
        total += ((table[i] - table[miss[0]]) ** 2) - ((table[i] - table[hit[0]]) ** 2)
    return total


def relieff(
    X: Any, y: Any, *, n_neighbors: int = 10, rows: int | None = None, random_state: Any = 0
) -> Vector:
    r"""Kononenko's weights: means over neighbours of every class, misses weighted by how frequent theirs is.

    :math:`w_j = \frac1m \sum_i \Big[ \sum_{c \ne y_i} \frac{P(c)}{1 - P(y_i)} \overline{|x_{ij} -
    \text{miss}_{cj}|} - \overline{|x_{ij} - \text{hit}_j|} \Big]`, with columns scaled to [0, 1] and
    distances the sum over columns.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(200, 6)).astype(float)
    >>> weights = relieff(X, X[:, 0].astype(int) ^ X[:, 1].astype(int))
    >>> sorted(np.argsort(weights)[-2:].tolist())  # an exclusive or, which no single column shows
    [0, 1]
    """
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or n_neighbors < 1:
        raise ParameterError(f"n_neighbors={n_neighbors!r} must be a whole number of at least 1.")
    table, codes = _scaled(X), _codes(y)
    share = np.bincount(codes) / len(codes)
    total, chosen = np.zeros(table.shape[1]), _drawn(len(table), rows, random_state)
    for i, near in _distances(table, chosen, power=1):
        for label in range(len(share)):
            found = _nearest(near, codes == label, i, n_neighbors)
            apart = np.abs(table[i] - table[found]).mean(axis=0)
            own = label == codes[i]
            total += -apart if own else apart * share[label] / (1 - share[codes[i]])
    return total / len(chosen)


def _plain(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _scaled(X: Any) -> NDArray[np.float64]:
    table = _plain(X)
    low, high = table.min(axis=0), table.max(axis=0)
    return np.asarray((table - low) / np.where(high > low, high - low, 1.0))


def _codes(y: Any) -> NDArray[np.intp]:
    labels, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    if len(labels) < 2 or counts.min() < 2:
        raise DataError("Relief needs at least two rows of each class.")
    return codes


def _drawn(count: int, rows: int | None, random_state: Any) -> NDArray[np.intp]:
    if rows is None:
        return np.arange(count)
    return np.random.default_rng(random_state).integers(count, size=rows)


def _distances(table: Any, chosen: Any, power: int = 2) -> Any:
    """Yield each chosen row and its distances to all, in blocks that fit the memory."""
    from scipy.spatial.distance import cdist

    metric = "sqeuclidean" if power == 2 else "cityblock"
    step = max(1, CELLS // len(table))
    for begin in range(0, len(chosen), step):
        block = chosen[begin : begin + step]
        yield from zip(block, cdist(table[block], table, metric), strict=True)


def _nearest(near: Any, among: Any, own: int, count: int) -> Any:
    places = np.flatnonzero(among)
    places = places[places != own]
    if count == 1:
        return places[[np.argmin(near[places])]]
    return places[np.argsort(near[places], kind="stable")[:count]]
