"""Principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError, RefusalError
from surefit.core.parameters import Count, Interval, RandomState, Tolerance, WholeNumber
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import ArraySource, Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Learned
from surefit.models.factor.components import PrincipalComponents
from surefit.models.factor.optimality import stationary
from surefit.models.factor.spectrum import (
    Components,
    evidence_of,
    finished,
    from_moments,
    from_whole_rows,
    rows_of,
)
from surefit.models.prepare.recompute import seen
from surefit.resample.streams import seed_of, stream
from surefit.solvers.linalg.randomized_svd import leading_axes
from surefit.stats.moments import Moments
from surefit.stats.scatter_product import ScatterProduct
from surefit.stats.spread import Spread
from surefit.stats.triangular import TriangularFactor

PARTS = 16  # for threads; a fixed number, so that sums are the same for any number of them
MOST_CELLS = 2**28  # of a sparse matrix that is filled


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """A table in memory, in parts for threads."""

    schema: Schema
    batch: Batch

    def __iter__(self) -> Iterator[Batch]:
        for part in self.parts():
            yield from part

    def parts(self) -> Sequence[Source]:
        """Blocks of consecutive rows, without a copy."""
        count = min(PARTS, max(1, len(self.batch)))
        cuts = pairwise(len(self.batch) * part // count for part in range(count + 1))
        return [ArraySource(self.schema, self._some(slice(*cut))) for cut in cuts]

    def _some(self, rows: slice) -> Batch:
        X: Any = self.batch.X
        weight = self.batch.weight
        return Batch(X[rows], weight=None if weight is None else weight[rows], start=rows.start)


def centred_rows(source: Source, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """All rows that count, dense, less the mean and times the root of their weight."""
    blocks = []
    for batch in source:
        X: Any = batch.X
        if sparse.issparse(X) and X.shape[0] * X.shape[1] > MOST_CELLS:
            raise RefusalError(
                f"all components of a sparse {X.shape[0]} x {X.shape[1]} table would take as much memory "
                "as its dense form: pass n_components as a small number."
            )
        centred = (X.toarray() if sparse.issparse(X) else X) - mean
        if batch.weight is not None:
            counted = batch.weight > 0
            centred = centred[counted] * np.sqrt(batch.weight[counted])[:, None]
        blocks.append(centred)
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


LARGEST_GRAM = 5000  # columns; beyond it no p x p matrix is formed
ITERATIONS = 500
SMALL = 500  # rows and columns below which all axes cost nothing worth saving
CONVERGED = 1e-11

Way = Literal["moments", "whole rows", "products"]
Share = Annotated[float, Interval(0, 1, open_low=True, open_high=True)]


@dataclass(frozen=True, slots=True)
class PCAParameters(Components):
    """The components, and the weight of the rows that they were found in."""

    n_samples: Any


class PCA(PrincipalComponents):
    r"""Find the orthonormal axes V that minimise :math:`\sum_i s_i \|(x_i - m) - V'V(x_i - m)\|^2`.

    n_components: how many axes (None: all), a share of the variance, or ``"mle"`` for Minka's estimate.
    whiten: divide scores by their standard deviation. svd_solver: ``"auto"`` takes the moments of the
    columns, in one pass, up to 5000 columns and unless there are fewer rows; else singular vectors or, for a
    few axes, a block Krylov method (``"arpack"`` and ``"randomized"`` ask for it). tol, iterated_power: its
    tolerance, and its number of products; n_oversamples: additional starting vectors. copy and
    power_iteration_normalizer: without effect (X is never changed, and blocks are always orthonormal).

    >>> from surefit import PCA
    >>> model = PCA(1).fit([[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0]])
    >>> model.components_, model.explained_variance_ratio_
    (array([[1., 0.]]), array([0.8]))
    """

    accepts = Accepts(sums_first=True)
    learns = PCAParameters
    n_samples_: Any

    def __init__(
        self,
        n_components: WholeNumber | Share | Literal["mle"] | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: Literal["auto", "full", "covariance_eigh", "arpack", "randomized"] = "auto",
        tol: Tolerance = 0.0,
        iterated_power: WholeNumber | Literal["auto"] = "auto",
        n_oversamples: Count = 10,
        power_iteration_normalizer: Literal["auto", "QR", "LU", "none"] = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return 0 if self.svd_solver in ("full", "covariance_eigh") else ITERATIONS

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        way = self._way(source)
        if way == "moments":
            return super()._learn(source, engine, trace)
        self.__dict__.pop("statistic_", None)
        self._schema = source.schema
        columns = engine.accumulate(Spread.of, source)
        if way == "whole rows":
            return self._from_rows(source, engine, columns)
        return self._from_products(source, engine, columns, trace)

    def _way(self, source: Source) -> Way:
        """How to find the axes: the cheapest way that the shape allows."""
        if self.svd_solver == "covariance_eigh":
            return "moments"
        if self.svd_solver in ("arpack", "randomized"):
            return "products"
        if self.svd_solver == "full":
            return "whole rows"
        width, k = source.schema.width, self.n_components
        held = source.batch if isinstance(source, ArraySource) else None
        if width <= LARGEST_GRAM and (held is None or len(held) >= width):
            return "moments"
        count = int(k) if isinstance(k, int | np.integer) else 0
        if held is None and count == 0:
            raise RefusalError(
                f"PCA finds a few components of {width} columns that are read as a source, not all of "
                "them: pass n_components as a number, or the table in memory."
            )
        pays = held is None or _products_pay(count, held.X)
        return "products" if count > 0 and pays else "whole rows"

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if self.svd_solver not in ("auto", "covariance_eigh"):
            raise RefusalError(
                f"PCA(svd_solver={self.svd_solver!r}) needs all rows together and stores no moments: for "
                "partial_fit and merge, set svd_solver to 'auto' or 'covariance_eigh'."
            )
        if schema.width > LARGEST_GRAM and self.svd_solver == "auto":
            raise RefusalError(
                f"PCA stores no covariance matrix of {schema.width} columns; partial_fit and merge support "
                f"up to {LARGEST_GRAM} columns. Fit all rows at once."
            )
        return partial(Moments.of, target=False)

    def _finish(self, statistic: Moments, schema: Schema) -> Learned:
        return self._learned(statistic, *from_moments(statistic, self.n_components, self.svd_solver))

    def _from_rows(self, source: Source, engine: Engine, columns: Spread) -> Learned:
        """Decompose the rows, or their triangular factor where that is smaller."""
        rows = rows_of(columns)
        if columns.rows > len(rows.mean):
            of = partial(TriangularFactor.of, target=False, shift=columns.mean)
            A = engine.accumulate(of, source).centred
        else:
            A = centred_rows(source, columns.mean)
        return self._learned(columns, *from_whole_rows(A, rows, self.n_components, self.svd_solver))

    def _from_products(self, source: Source, engine: Engine, columns: Spread, trace: Trace) -> Learned:
        """Find the leading axes by products with the scatter, each of them a pass."""
        rows = rows_of(columns)
        count = self._few(rows.rank)
        if isinstance(source, ArraySource):
            source = RowBlocks(source.schema, source.batch)
            engine = choose_engine(source)

        def product(block: NDArray[np.float64]) -> NDArray[np.float64]:
            of = partial(ScatterProduct.of, centre=columns.mean, directions=block)
            return engine.accumulate(of, source).product

        shape = (len(rows.mean), min(len(rows.mean), count + self.n_oversamples))
        to_the_end = self.iterated_power == "auto"
        axes, residual = leading_axes(
            product,
            stream(seed_of(self.random_state), 0).standard_normal(shape),
            count,
            float(columns.scatter.sum()),
            tolerance=(self.tol or CONVERGED) if to_the_end else 0.0,
            limit=ITERATIONS if to_the_end else min(int(self.iterated_power) + 1, ITERATIONS),
            trace=trace,
        )
        found = finished(rows, axes, count)
        return self._learned(columns, found, stationary(residual, found.components, self.tol))

    def _few(self, rank: int) -> int:
        """How many axes are asked for, where all of them cannot be had."""
        k, top = self.n_components, rank - 1 if self.svd_solver == "arpack" else rank
        if k is None:
            return top
        if not isinstance(k, int | np.integer) or not 1 <= k <= top:
            raise ParameterError(
                f"n_components={k!r} must be between 1 and {top} with svd_solver={self.svd_solver!r}, since "
                f"min(n_samples, n_features)={rank}."
            )
        return int(k)

    @staticmethod
    def _learned(statistic: Moments | Spread, found: Components, certificate: Certificate) -> Learned:
        own = {entry.name: getattr(found, entry.name) for entry in fields(found)}
        parameters = PCAParameters(**own, n_samples=seen(rows_of(statistic).weight))
        return Learned(parameters, certificate, evidence_of(found, statistic))


def _products_pay(count: int, X: Any) -> bool:
    """Whether a few axes by products cost less than all of them at once."""
    block, rank = count + 10, min(X.shape)
    return rank > SMALL and (3 if sparse.issparse(X) else 10) * block <= rank
