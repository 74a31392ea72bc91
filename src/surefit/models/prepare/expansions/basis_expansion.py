"""Functions of each column in place of the column, so that a linear model can bend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, CubicSpline
from scipy.spatial.distance import cdist
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import Count, Positive, WholeNumber
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.prepare.imputers.missing_indicator import missing_cells
from surefit.models.prepare.quantiles import ExactInMemory, ExactQuantiles, quantile_change
from surefit.models.prepare.recompute import relative_change, seen, total_weight
from surefit.models.transformer import Transformer
from surefit.stats.base import Joint
from surefit.stats.sketch import Sketch
from surefit.stats.spread import Spread

Basis = Literal["bspline", "natural", "gaussian", "hat", "fourier", "polynomial"]


def b_splines(x: Vector, knots: Vector, degree: int) -> Matrix:
    """Return the B-splines of a degree on knots, which add up to 1; outside they stay as at the end.

    >>> b_splines(np.array([0.0, 0.5, 3.0]), np.array([0.0, 1.0, 2.0]), 1)
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    ends = np.repeat(knots[0], degree), np.repeat(knots[-1], degree)
    padded = np.concatenate([ends[0], knots, ends[1]])
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(BSpline.design_matrix(inside, padded, degree).toarray())


def natural_splines(x: Vector, knots: Vector) -> Matrix:
    """Return the cubic splines that are 1 at one knot and 0 at the others, and straight outside.

    >>> natural_splines(np.array([0.0, 3.0]), np.array([0.0, 1.0, 2.0])).round(6)
    array([[ 1.  ,  0.  ,  0.  ],
           [ 0.25, -1.5 ,  2.25]])
    """
    spline = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(spline(inside) + (x - inside)[:, None] * spline(inside, 1))


def gaussian(distance: Matrix, width: float) -> Matrix:
    r"""Return :math:`e^{-t^2 / (2 \sigma^2)}`."""
    return np.asarray(np.exp(-0.5 * (distance / width) ** 2))


def hat(distance: Matrix, width: float) -> Matrix:
    r"""Return :math:`1 - |t| / \alpha` where that is positive, 0 elsewhere."""
    return np.asarray(np.maximum(1.0 - np.abs(distance) / width, 0.0))


def waves(x: Vector, period: float, functions: int) -> Matrix:
    """Return sine and cosine of one wave a period, then of two, and so on."""
    angle = 2.0 * np.pi * (x / period)
    return np.column_stack(
        [(np.sin, np.cos)[k % 2]((k // 2 + 1) * angle) for k in range(functions)] or [np.zeros((len(x), 0))]
    )


def powers(x: Vector, highest: int) -> Matrix:
    """Return x, x squared, and so on."""
    return np.asarray(x[:, None] ** np.arange(1, highest + 1))


def function_names(basis: Basis, functions: int) -> list[str]:
    """Return what each function is called, after the column's name."""
    if basis == "polynomial":
        return ["" if k == 0 else f"^{k + 1}" for k in range(functions)]
    if basis == "fourier":
        return [f"_{('sin', 'cos')[k % 2]}{k // 2 + 1}" for k in range(functions)]
    return [f"_{basis}{k}" for k in range(functions)]


SPREAD_OUT = ("bspline", "natural", "gaussian", "hat")  # those with places of their own


@dataclass(frozen=True, slots=True)
class BasisExpansionParameters:
    """Quantiles of each column, (shares, columns), how far their ranks can be off, the weight of the rows."""

    quantiles: Matrix
    rank_error: Vector
    n_samples_seen: Any


class BasisExpansion(ExactInMemory, Transformer):
    r"""Replace each column x by functions :math:`\varphi_1(x), \dots, \varphi_k(x)` of it.

    basis: "bspline" (of ``degree``; they add up to 1, and stay outside the range what they are at its end),
    "natural" (cubic splines, straight outside), "gaussian" :math:`e^{-(x - \mu)^2 / 2 \sigma^2}`, "hat"
    :math:`\max(0, 1 - |x - \mu| / \alpha)`, "fourier" (sine and cosine, in turn) or "polynomial" (powers).
    n_functions: how many a column. placement: knots or centres at quantiles ("quantile"), or evenly spread
    over the range ("even"); where values are equal, there are fewer. width: sigma, alpha or the period;
    None takes the largest gap between centres, or the range. centers: points (k, columns) in place of them:
    then "gaussian" and "hat" are functions of the distance to each. include_bias: start with ones.

    >>> from surefit import BasisExpansion
    >>> expansion = BasisExpansion("hat", n_functions=3, placement="even").fit([[0.0], [4.0]])
    >>> expansion.centers_[0], expansion.transform([[1.0]])
    (array([0., 2., 4.]), array([[0.5, 0.5, 0. ]]))
    """

    accepts = Accepts(sparse=False)
    learns = BasisExpansionParameters
    shaping = ("basis", "placement")

    quantiles_: Matrix
    rank_error_: Vector
    n_samples_seen_: Any

    def __init__(
        self,
        basis: Basis = "bspline",
        *,
        n_functions: Count = 5,
        degree: WholeNumber = 3,
        placement: Literal["quantile", "even"] = "quantile",
        width: Positive | None = None,
        centers: np.ndarray | list | None = None,
        include_bias: bool = False,
    ) -> None:
        self.basis = basis
        self.n_functions = n_functions
        self.degree = degree
        self.placement = placement
        self.width = width
        self.centers = centers
        self.include_bias = include_bias

    def _is_sketched(self) -> bool:
        return self.basis in SPREAD_OUT and self.placement == "quantile"

    def _places(self) -> int:
        """How many knots or centres a column has."""
        if self.basis == "bspline":
            places = self.n_functions - self.degree + 1
            if places < 2:
                raise ParameterError(
                    f"BasisExpansion: B-splines of degree {self.degree} are at least {self.degree + 1}, "
                    f"not n_functions={self.n_functions}: take more, or a lower degree."
                )
            return places
        if self.basis == "natural" and self.n_functions < 2:
            raise ParameterError("BasisExpansion: natural splines are at least 2: raise n_functions.")
        return self.n_functions

    def _shares(self) -> list[float]:
        even = np.linspace(0.0, 1.0, max(self._places(), 2)) if self._is_sketched() else [0.0, 1.0]
        return [float(share) for share in even]

    def _of(self, schema: Schema) -> Callable[[Batch], Joint]:
        self._check_centers(schema.width)
        return partial(_gathered, values=Sketch.of if self._is_sketched() else Spread.of)

    def _of_memory(self, batch: Batch, schema: Schema) -> Joint:
        self._check_centers(schema.width)
        return _gathered(batch, partial(ExactQuantiles.of, shares=self._shares()))

    def _check_centers(self, columns: int) -> None:
        self._shares()
        if self.centers is None:
            return
        if self.basis not in ("gaussian", "hat") or self.width is None:
            raise ParameterError(
                "BasisExpansion: centers= goes with basis='gaussian' or 'hat' and with a width: give both."
            )
        given = np.asarray(self.centers, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != columns or not np.isfinite(given).all():
            raise ParameterError(
                f"BasisExpansion: centers has the shape {given.shape}, and must be (centres, {columns}) of "
                "finite numbers: one row a point."
            )

    def _finish(self, statistic: Joint, schema: Schema) -> Learned:
        values: Any = statistic["values"]
        if isinstance(values, Sketch | ExactQuantiles):
            found, error = values.quantile(self._shares()), values.error
        else:
            found, error = np.stack([values.minimum, values.maximum]), np.zeros(schema.width)
        with np.errstate(over="ignore"):
            endless = np.flatnonzero(~np.isfinite(found[-1] - found[0]))
        if len(endless):
            raise DataError(
                f"the numbers in column {int(endless[0])} of X spread over more than floats can hold: "
                "divide them by a power of ten."
            )
        parameters = BasisExpansionParameters(found, error, seen(statistic["rows"].weight))
        return Learned(parameters, self._certificate(0.0, error))

    @staticmethod
    def _certificate(value: float, error: Vector) -> Certificate:
        worst = float(np.max(error, initial=0.0))
        measure = "largest change of a quantile, in ranges of its column"
        return Certificate("exact", measure, value, 1e-8, {"rank error": worst})

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Sort the columns again; of columns from a sketch, count the ranks of what it gave."""
        moved = quantile_change(source, engine, self._shares(), self.quantiles_, self.rank_error_)
        counted = relative_change(self.n_samples_seen_, total_weight(source, engine))
        return self._certificate(max(moved, counted), self.rank_error_)

    @property
    def centers_(self) -> list[Vector]:
        """The knots or centres of each column; the points given, if they were."""
        check_is_fitted(self)
        if self.centers is not None:
            return list(np.asarray(self.centers, dtype=np.float64))
        return [self._knots(j) for j in range(self.n_features_in_)]

    def _knots(self, j: int) -> Vector:
        found = self.quantiles_[:, j]
        low, high = float(found[0]), float(found[-1])
        if (
            low == high
        ):  # a constant column gets a range of its own size, lest there be nothing to spread over
            half = 0.5 * (abs(low) or 1.0)
            return np.linspace(low - half, high + half, max(self._places(), 2))
        if not self._is_sketched():
            return np.linspace(low, high, max(self._places(), 2))
        return np.unique(found)

    def _functions(self, x: Vector, j: int) -> Matrix:
        """The functions of one column."""
        if self.basis == "polynomial":
            return powers(x, self.n_functions)
        knots = self._knots(j)
        if self.basis == "fourier":
            return waves(x - knots[0], self.width or float(knots[-1] - knots[0]), self.n_functions)
        if self.basis == "bspline":
            return b_splines(x, knots, self.degree)
        if self.basis == "natural":
            return natural_splines(x, knots)
        width = self.width or float(np.diff(knots).max())
        centres = knots.mean(keepdims=True) if self.n_functions == 1 else knots
        return self._bumps(x[:, None] - centres, width)

    def _bumps(self, distance: Matrix, width: float) -> Matrix:
        return (gaussian if self.basis == "gaussian" else hat)(distance, width)

    def _transform(self, X: Any) -> Matrix:
        rows = np.asarray(X, dtype=np.float64)
        if self.centers is not None:
            points = np.asarray(self.centers, dtype=np.float64)
            assert self.width is not None
            blocks = [self._bumps(cdist(rows, points), self.width)]
        else:
            blocks = [self._functions(rows[:, j], j) for j in range(rows.shape[1])]
        return np.hstack([np.ones((len(rows), int(self.include_bias))), *blocks])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The name of the column and of the function; "1" for the ones."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        names = ["1"] if self.include_bias else []
        if self.centers is not None:
            names += [f"{self.basis}{k}" for k in range(len(np.asarray(self.centers)))]
        else:
            for j, name in enumerate(inputs):
                count = self._functions(self.quantiles_[:1, j], j).shape[1]
                names += [f"{name}{end}" for end in function_names(self.basis, count)]
        return np.array(names, dtype=object)


def _gathered(batch: Batch, values: Callable[[Batch], Any]) -> Joint:
    return Joint({"values": values(batch), "rows": missing_cells(batch, np.nan)})
