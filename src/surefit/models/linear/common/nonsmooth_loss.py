"""What models with kinked losses share: all rows in memory."""

from __future__ import annotations

from surefit.data.source import ArraySource, Source, in_memory
from surefit.models.rows_in_memory import gathered


def all_in_memory(source: Source) -> Source:
    """Return the source with its rows in one batch; those that are read piece by piece are joined."""
    if in_memory(source) is not None:
        return source
    return ArraySource(source.schema, gathered(source))
