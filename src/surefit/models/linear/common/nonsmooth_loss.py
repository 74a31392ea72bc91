"""What models with kinked losses share: all rows in memory, and a proof that belongs to these rows.

Changing a row that is far from its kink leaves the best coefficients as they are, so that the gap alone would
not notice: a recomputed proof must also find the objective that the fit found.
"""

from __future__ import annotations

from dataclasses import replace

from surefit.core.certificate import Certificate
from surefit.data.source import ArraySource, Source, in_memory
from surefit.engine.base import Engine
from surefit.models.linear.common.mean_loss import MeanLossModel
from surefit.models.rows_in_memory import gathered


class SameObjective(MeanLossModel, abstract=True):
    """A model whose certificate, recomputed, holds for the objective that was found and no other."""

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        again = super()._certify(source, engine)
        return same_objective(again, self.certificate_)


def same_objective(again: Certificate, before: Certificate) -> Certificate:
    """Return a recomputed certificate, its value no less than the relative change of the objective."""
    if "scale" not in before.parts:
        return again
    change = abs(again.parts["objective"] - before.parts["objective"]) / before.parts["scale"]
    rounding = 1e-12 * abs(before.parts["objective"]) / before.parts["scale"]
    if change <= max(rounding, 1e-12):
        return again
    return replace(again, value=max(again.value, change))


def all_in_memory(source: Source) -> Source:
    """Return the source with its rows in one batch; those that are read piece by piece are joined."""
    if in_memory(source) is not None:
        return source
    return ArraySource(source.schema, gathered(source))
