"""Truncated singular value decomposition: principal axes of rows that are not centred."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import FormatError, ParameterError
from surefit.core.parameters import Count, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Learned
from surefit.models.factor.optimality import orthonormality
from surefit.models.factor.pca import RowBlocks
from surefit.models.prepare.recompute import block
from surefit.models.transformer import InvertibleMap
from surefit.resample.streams import seed_of, stream
from surefit.solvers.linalg.principal_axes import completed, from_scatter
from surefit.solvers.linalg.randomized_svd import leading_axes
from surefit.stats.scatter_product import ScatterProduct
from surefit.stats.spread import Spread

SMALL = 500  # columns up to which X'X is formed
CONVERGED = 1e-11  # of the largest squared singular value
SAME = 1e-7  # what recomputing may change in the numbers beside the axes


@dataclass(frozen=True, slots=True)
class TruncatedSVDParameters:
    """Axes, singular values, and the variance of the scores, in all and as a share."""

    components: Matrix
    explained_variance: Vector
    explained_variance_ratio: Vector
    singular_values: Vector


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, InvertibleMap):
    r"""The k largest singular values and right singular vectors: :math:`X \approx U S V'`.

    Rows are not centred, so sparse tables stay sparse; no other matrix of rank k is closer to X. Up to 500
    columns X'X is decomposed. Else ``algorithm="randomized"`` takes n_iter + 1 products with X'X in a block
    Krylov space, and "arpack" goes on until ``tol`` (1e-11 for 0). Each product is a pass over the rows.

    >>> from surefit import TruncatedSVD
    >>> TruncatedSVD(1).fit([[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]).singular_values_
    array([4.])
    """

    accepts = Accepts(by_columns=False)
    learns = TruncatedSVDParameters

    components_: Matrix
    explained_variance_: Vector
    explained_variance_ratio_: Vector
    singular_values_: Vector

    def __init__(
        self,
        n_components: Count = 2,
        *,
        algorithm: Literal["arpack", "randomized"] = "randomized",
        n_iter: WholeNumber = 5,
        n_oversamples: Count = 10,
        power_iteration_normalizer: Literal["auto", "OR", "QR", "LU", "none"] = "auto",
        random_state: RandomState = None,
        tol: Tolerance = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def _iteration_limit(self) -> int | None:
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        width, count = source.schema.width, self.n_components
        if width < 2:
            raise ParameterError("Found array with 1 feature(s) while a minimum of 2 is required.")
        if count > width:
            raise ParameterError(f"n_components({count}) must be <= n_features({width}).")
        columns = engine.accumulate(Spread.of, source)
        if width > SMALL and isinstance(source, ArraySource):
            source = RowBlocks(source.schema, source.batch)
            engine = choose_engine(source)

        def product(directions: Matrix) -> Matrix:
            of = partial(ScatterProduct.of, centre=np.zeros(width), directions=directions)
            return engine.accumulate(of, source).product

        weight = float(columns.weight.max(initial=0.0))
        total = float((columns.scatter + weight * columns.mean**2).sum())
        if width <= SMALL:
            gram = product(np.eye(width))
            found = from_scatter(0.5 * (gram + gram.T), count)
        else:
            to_the_end = self.algorithm == "arpack"
            start = stream(0 if self.random_state is None else seed_of(self.random_state), 0)
            found, _ = leading_axes(
                product,
                start.standard_normal((width, min(width, count + self.n_oversamples))),
                count,
                total,
                tolerance=self.tol or CONVERGED,
                limit=500 if to_the_end else self.n_iter + 1,
                trace=trace,
            )
        found = completed(found, count)
        axes = np.ascontiguousarray(found.axes[:count])
        image = product(axes.T)
        along = np.maximum(np.einsum("kp,pk->k", axes, image), 0.0)
        parameters = _summary(axes, along, columns, weight)
        return Learned(parameters, self._proof(axes, image, along, 0.0), {"column_moments": columns.moments})

    def _owed(self, width: int) -> float:
        """What the eigen-equations may be off: tol, or what so many products promise (Musco and Musco)."""
        if width <= SMALL:
            return 1e-9
        if self.algorithm == "arpack":
            return max(self.tol, 1e-9)
        return max(self.tol, min(1.0, float(np.log(width) / (2 * self.n_iter + 1)) ** 2), 1e-9)

    def _proof(self, axes: Matrix, image: Matrix, along: Vector, changed: float) -> Certificate:
        largest = float(along.max(initial=0.0))
        residual = float(np.linalg.norm(image - axes.T * along, axis=0).max(initial=0.0))
        residual = residual / largest if largest > 0 else residual
        parts = {
            "eigen-equations": residual,
            "orthonormality": orthonormality(axes),
            "change by recomputing the other numbers": changed,
        }
        owed = self._owed(axes.shape[1])
        value = max(residual / owed, parts["orthonormality"] / 1e-9, changed / SAME)
        measure = "eigen-equations, as a share of what so many products owe"
        return Certificate("stationary", measure, value, 1.0, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        axes = np.asarray(self.components_, dtype=np.float64)
        found = list(engine.map(partial(_plain_sums, axes), source))
        weight, sums, squares, image, along, scores = (sum(each[i] for each in found) for i in range(6))
        mean = sums / weight
        variance = along / weight - (scores / weight) ** 2
        whole = float((squares / weight - mean**2).sum())
        along = np.asarray(along, dtype=np.float64)
        size = max(float(along.max(initial=0.0)), np.finfo(float).tiny)
        unit = max(whole, np.finfo(float).tiny)
        steps = [
            np.abs(self.singular_values_**2 - along).max(initial=0.0) / size,
            np.abs(self.explained_variance_ - variance).max(initial=0.0) / max(size / float(weight), unit),
            np.abs(self.explained_variance_ratio_ * whole - variance).max(initial=0.0) / unit,
        ]
        return self._proof(axes, np.asarray(image), along, float(max(steps)))

    def _transform(self, X: Any) -> Any:
        return np.asarray(X @ self.components_.T).astype(X.dtype, copy=False)

    def _inverse_transform(self, X: Any) -> Any:
        return np.asarray(X @ self.components_).astype(X.dtype, copy=False)

    def check_loaded(self) -> None:
        """Refuse axes of another width."""
        super().check_loaded()
        if self.components_.ndim != 2 or self.components_.shape[1] != self.n_features_in_:
            raise FormatError("the file's axes do not fit its columns: it is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _summary(axes: Matrix, along: Vector, columns: Spread, weight: float) -> TruncatedSVDParameters:
    variance = np.maximum(along / weight - (axes @ columns.mean) ** 2, 0.0)
    whole = float(columns.scatter.sum()) / weight
    share = variance / whole if whole > 0 else np.zeros_like(variance)
    return TruncatedSVDParameters(axes, variance, share, np.sqrt(along))


def _plain_sums(axes: Matrix, batch: Any) -> tuple[Any, ...]:
    """Weight, sums and squares of the columns; X'X V', the squares of scores and their sums."""
    if hasattr(batch.X, "tocsr"):
        X: Any = batch.X
        s: NDArray[np.float64] = np.ones(X.shape[0]) if batch.weight is None else batch.weight
    else:
        X, s = block(batch)
    codes = np.asarray(X @ axes.T)
    weighted = s[:, None] * codes
    squares = X.multiply(X).T @ s if hasattr(X, "multiply") else s @ X**2
    return (
        s.sum(),
        np.asarray(X.T @ s),
        np.asarray(squares),
        np.asarray(X.T @ weighted),
        (weighted * codes).sum(axis=0),
        weighted.sum(axis=0),
    )
