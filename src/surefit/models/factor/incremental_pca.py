"""Principal component analysis of rows that come in pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.core.parameters import Count
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.models.base import Learned
from surefit.models.factor.components import PrincipalComponents
from surefit.models.factor.spectrum import Components, evidence_of, from_moments
from surefit.models.prepare.recompute import seen
from surefit.stats.moments import Moments

LARGEST_GRAM = 5000  # columns; beyond it no p x p matrix is kept


@dataclass(frozen=True, slots=True)
class IncrementalPCAParameters(Components):
    """The components, the variance (divisor n) of each column, and the weight of the rows seen."""

    var: NDArray[np.float64]
    n_samples_seen: Any
    batch_size: int


class IncrementalPCA(PrincipalComponents):
    r"""Find the principal axes of rows that come in pieces, exactly: those of all rows seen so far.

    The moments of the columns add up, so nothing is lost between pieces, whatever their size and order; the
    axes are those of :class:`PCA`. n_components: how many (None: all that the rows seen allow). whiten:
    divide scores by their standard deviation. copy, batch_size: without effect (X is never changed, and
    cutting it changes nothing).

    >>> from surefit import IncrementalPCA
    >>> model = IncrementalPCA(1)
    >>> model.partial_fit([[2.0, 0.0], [0.0, 1.0]]).partial_fit([[-2.0, 0.0], [0.0, -1.0]]).components_
    array([[1., 0.]])
    """

    learns = IncrementalPCAParameters

    var_: NDArray[np.float64]
    n_samples_seen_: Any
    batch_size_: int

    def __init__(
        self,
        n_components: Count | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: Count | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def _samples(self) -> Any:
        return self.n_samples_seen_

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if schema.width > LARGEST_GRAM:
            raise RefusalError(
                f"IncrementalPCA stores the covariance matrix and supports up to {LARGEST_GRAM} columns, "
                f"not {schema.width}: use PCA, which finds a few components of more columns from all rows "
                "at once."
            )
        return partial(Moments.of, target=False)

    def _finish(self, statistic: Moments, schema: Schema) -> Learned:
        found, certificate = from_moments(statistic, self.n_components, "covariance_eigh")
        own = {entry.name: getattr(found, entry.name) for entry in fields(found)}
        parameters = IncrementalPCAParameters(
            **own,
            var=np.diagonal(statistic.gram) / statistic.weight,
            n_samples_seen=seen(statistic.weight),
            batch_size=self.batch_size or 5 * schema.width,
        )
        return Learned(parameters, certificate, evidence_of(found, statistic))
