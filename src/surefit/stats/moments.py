"""Weight, means and centred second moments of all columns and targets: what least squares is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import DataError, RefusalError
from surefit.core.native.inputs import side_matrix
from surefit.core.native.sums.gram import centred_gram
from surefit.data.batches.batch import Batch
from surefit.data.batches.column_batch import ColumnBatch
from surefit.data.batches.columns import Columns
from surefit.data.batches.deferred_batch import LateBatch
from surefit.stats import double_double as pair
from surefit.stats import rounding
from surefit.stats.base import Statistic, seal
from surefit.stats.cases import Trial
from surefit.stats.overflow import refuse_overflow

# The error bound grows with the rows of a block, the time of joining blocks falls: narrow tables, whose rows
# are soon added up, get longer blocks.
BLOCK_ROWS = 2**18
_FEWEST_ROWS, _BLOCK_CELLS = 2**15, 2**25
LIMIT = 1e-8
_TILE = 2**14  # entries joined at once, so that the temporaries stay in the cache


@dataclass(frozen=True, slots=True)
class Moments(Statistic):
    r"""Of Z = [X|Y]: W, the mean m and the scatter :math:`M = \sum_i s_i (z_i - m)(z_i - m)'`.

    Weight, mean and scatter are pairs of floats (see ``double_double.py``), so that joining rounds nothing
    that matters. ``error`` bounds each entry of M relative to :math:`\sqrt{M_{ii} M_{jj}}`. Rows can be
    subtracted again; when the bound then passes 1e-8, subtracting refuses.

    rows counts the rows with positive weight. doubt and drift are the bounds that ``rounding.py`` explains.

    >>> moments = Moments.of(Batch(np.array([[1.0], [3.0]]), np.array([2.0, 6.0])))
    >>> moments.covariance(), moments.cross
    (array([[2.]]), array([[4.]]))
    """

    name = "moments"
    subtractable = True

    rows: int
    targets: int
    total: pair.Pair
    centre: pair.Pair
    scatter: pair.Pair
    doubt: Vector
    drift: Vector

    def __post_init__(self) -> None:
        seal(self)

    @classmethod
    def of(cls, batch: Batch, *, target: bool = True, **context: Any) -> Moments:
        """Compute it over the columns of X and, unless ``target`` is false, the targets."""
        Y = side_matrix(batch.y) if target else None
        rows: Any = batch.columns if isinstance(batch, ColumnBatch) else None
        if isinstance(batch, LateBatch):
            rows = batch.unchecked
        if rows is None or (batch.weight is not None and not batch.weight.all()):
            return cls._of_rows(batch.X, Y, batch.weight)  # cells of no weight are checked there only
        try:
            found = cls._of_rows(rows, Y, batch.weight)
        except DataError:
            _ = batch.X  # names the cell that is not finite, if there is one
            raise
        if isinstance(batch, LateBatch):
            batch.known_finite()
        return found

    @classmethod
    def _of_rows(cls, X: Any, Y: Matrix | None, weight: Vector | None) -> Moments:
        found = None
        by_columns = isinstance(X, np.ndarray) and not X.flags.c_contiguous and len(X) > _FEWEST_ROWS
        if by_columns and X.dtype == np.float64 and (weight is None or weight.all()):
            X = Columns([X[:, j] for j in range(X.shape[1])], len(X))  # so that some rows are no copy
            by_columns = False
        blocks = _blocks(X.shape[0], X.shape[1], _FEWEST_ROWS if by_columns else BLOCK_ROWS)
        if len(blocks) == 1:
            return cls._of_block(X, Y, weight)
        for rows in blocks:
            part = cls._of_block(X[rows], None if Y is None else Y[rows], _some(weight, rows))
            found = part if found is None else found + part
        assert found is not None
        return found

    @classmethod
    def _of_block(cls, X: Any, Y: Matrix | None, weight: Vector | None) -> Moments:
        sparse = not isinstance(X, np.ndarray | Columns)
        if isinstance(X, np.ndarray) and not X.flags.forc:
            X = np.asfortranarray(X)  # some rows of a column-major matrix
        found = centred_gram(X, Y, weight)
        rows = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        total = np.array((float(rows), 0.0)) if weight is None else pair.total(weight)
        scatter, relative = np.diagonal(found.scatter), rounding.of_block(rows, sparse, weight)
        refuse_overflow(scatter, X.shape[1], found.weight)
        doubt = relative * scatter
        if sparse:  # what centring left of the offset cancels, squared
            doubt += relative * (rows * pair.UNIT) ** 2 * found.weight * found.mean**2
        drift = relative * np.sqrt(scatter / found.weight) if rows else np.zeros_like(found.mean)
        return cls(
            rows,
            0 if Y is None else Y.shape[1],
            total,
            pair.pair(found.mean, found.low),
            np.array((found.scatter, np.zeros_like(found.scatter))),
            doubt,
            drift,
        )

    def __add__(self, other: Moments) -> Moments:
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        total = pair.add(self.total, other.total)
        theirs = pair.divide(other.total, total)
        shift = pair.add(other.centre, -self.centre)
        gap, coupling = shift.sum(axis=0), float(self.total[0] * theirs[0])
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            scatter = _join(self.scatter, other.scatter, coupling, gap, sign=1.0)
        drift = self.drift + other.drift
        diagonal = np.diagonal(scatter[0])
        refuse_overflow(diagonal, self._features, float(total[0]))
        return Moments(
            self.rows + other.rows,
            self.targets,
            total,
            pair.add(self.centre, pair.multiply(shift, theirs[:, None])),
            scatter,
            self.doubt + other.doubt + rounding.of_between(coupling, gap, drift, diagonal),
            (1.0 - theirs[0]) * self.drift
            + theirs[0] * other.drift
            + _wobble(gap, self.centre, other.centre),
        )

    def __sub__(self, other: Moments) -> Moments:
        if other.rows == 0:
            return self
        total, rows = pair.add(self.total, -other.total), self.rows - other.rows
        if rows < 0 or total[0] < 0 or (rows == 0) != (total[0] <= 0):
            raise RefusalError(
                f"{other.rows} rows of weight {other.weight:g} cannot be taken from {self.rows} rows of "
                f"weight {self.weight:g}: subtract only rows that were added before, with the same weights."
            )
        if rows == 0:
            return self._nothing()
        taken = pair.divide(other.total, total)  # relative to what is left
        away = pair.add(self.centre, -other.centre)
        growth = 1.0 + float(taken[0])
        gap, coupling = away.sum(axis=0) * growth, float(other.total[0]) / growth
        scatter = _join(self.scatter, -other.scatter, coupling, gap, sign=-1.0)
        drift = growth * (self.drift + other.drift)
        between = rounding.of_between(coupling, gap, drift, np.diagonal(scatter[0]))
        left = Moments(
            rows,
            self.targets,
            total,
            pair.add(self.centre, pair.multiply(away, taken[:, None])),
            scatter,
            self.doubt + other.doubt + between,
            growth * self.drift + taken[0] * other.drift + growth * _wobble(gap, self.centre, other.centre),
        )
        if left.error > LIMIT:
            raise RefusalError(
                f"without these {other.rows} rows the moments of the other {rows} would be known only to a "
                f"relative error of {left.error:.1g}, beyond {LIMIT:g}, because of cancellation: compute "
                "them again over the rows that remain."
            )
        return left

    def _nothing(self) -> Moments:
        zero = np.zeros_like
        pairs = (zero(self.total), zero(self.centre), zero(self.scatter))
        return Moments(0, self.targets, *pairs, zero(self.doubt), zero(self.drift))

    @property
    def error(self) -> float:
        r"""A bound on the error of every entry of M, relative to :math:`\sqrt{M_{ii} M_{jj}}`."""
        return rounding.share(self.doubt, np.diagonal(self.scatter[0]))

    @property
    def weight(self) -> float:
        """W."""
        return float(self.total[0])

    @property
    def mean_x(self) -> Vector:
        """The means of the columns of X."""
        return np.array(self.centre[0, : self._features])

    @property
    def mean_y(self) -> Vector:
        """The means of the targets."""
        return np.array(self.centre[0, self._features :])

    @property
    def gram(self) -> Matrix:
        """The scatter of X, X'SX after centring."""
        return np.array(self.scatter[0, : self._features, : self._features])

    @property
    def cross(self) -> Matrix:
        """The scatter of X with the targets, one column a target."""
        return np.array(self.scatter[0, : self._features, self._features :])

    @property
    def target_scatter(self) -> Matrix:
        """The scatter of the targets."""
        return np.array(self.scatter[0, self._features :, self._features :])

    def covariance(self, ddof: float = 1.0) -> Matrix:
        """The covariance of the columns of X, M / (W - ddof); NaN where that is not positive."""
        free = self.weight - ddof
        return self.gram / free if free > 0 else np.full_like(self.gram, np.nan)

    def correlation(self) -> Matrix:
        """The correlation of the columns of X; NaN for a constant one."""
        gram = self.gram
        scale = np.sqrt(np.diagonal(gram))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = gram / np.multiply.outer(scale, scale)
        return np.clip(found, -1.0, 1.0)

    @property
    def _features(self) -> int:
        return int(self.centre.shape[1]) - self.targets

    def distance(self, other: Moments) -> float:
        r"""The greatest difference: of scatters on the scale :math:`\sqrt{M_{ii} M_{jj}}`, of means on that
        of the standard error, of weights.
        """
        if self.scatter.shape != other.scatter.shape or self.targets != other.targets:
            return np.inf
        if self.weight == 0 or other.weight == 0:
            return 0.0 if self.weight == other.weight else np.inf
        scale = np.sqrt(np.diagonal(self.scatter[0]))
        scatter = np.abs((self.scatter - other.scatter).sum(axis=0))
        shift = np.abs(pair.add(self.centre, -other.centre).sum(axis=0)) * np.sqrt(self.weight)
        gaps = [
            rounding.share(scatter.ravel(), np.multiply.outer(scale, scale).ravel()),
            rounding.share(shift, scale),
            abs(float(pair.add(self.total, -other.total).sum())) / self.weight,
        ]
        return max(gaps)

    @classmethod
    def law_contexts(cls) -> Iterable[Trial]:
        """Dense and sparse rows, one target, two, and none."""
        return Trial("numbers"), Trial("sparse"), Trial("targets"), Trial("numbers", {"target": False})


def _blocks(rows: int, columns: int, most: int) -> list[slice]:
    step = min(most, max(_FEWEST_ROWS, _BLOCK_CELLS // max(columns, 1)))
    return [slice(start, min(start + step, rows)) for start in range(0, max(rows, 1), step)]


def _some(weight: Vector | None, rows: slice) -> Vector | None:
    return None if weight is None else weight[rows]


def _wobble(gap: Vector, one: pair.Pair, two: pair.Pair) -> Vector:
    """What rounding can do to a mean that moves."""
    return np.where(gap == 0, 0.0, 4 * pair.ROUNDING * (np.abs(one[0]) + np.abs(two[0])))


def _join(one: pair.Pair, two: pair.Pair, coupling: float, gap: Vector, sign: float) -> pair.Pair:
    """Return one + two + sign κ g g', tile by tile; the last term is symmetric to the bit."""
    step = np.sqrt(coupling) * gap
    joined = np.empty_like(one)
    rows = max(1, _TILE // max(len(gap), 1))
    for start in range(0, len(gap), rows):
        some = slice(start, start + rows)
        between = np.multiply.outer(sign * step[some], step)
        high, low = pair.two_sum(one[0, some], two[0, some])
        high, more = pair.two_sum(high, between)
        low += more
        low += one[1, some]
        low += two[1, some]
        np.add(high, low, out=joined[0, some])
        np.subtract(low, joined[0, some] - high, out=joined[1, some])
    return joined
