"""Text that was read in the wrong encoding."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted

_BROKEN = "\ufffd|[\u00c3\u00c2][\u0080-\u00bf]|\u00e2\u0080[\u0080-\u00bf]"  # UTF-8 read as Latin-1


class BrokenCharacters(Check):
    """Cells with characters that only a wrong encoding leaves behind."""

    name = "broken-characters"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Name the columns of the sample."""
        names = []
        for name, column in seen.facts.columns.items():
            if column.text is not None:
                cells = seen.sample.column(name).combine_chunks()
                words = (cells.dictionary if hasattr(cells, "dictionary") else cells).cast(pa.large_string())
                if pc.any(pc.match_substring_regex(words, _BROKEN)).as_py():
                    names.append(name)
        if names:
            yield Finding(
                self.name,
                "warning",
                f"{quoted(names)} {'has' if len(names) == 1 else 'have'} cells with broken characters.",
                "The file was read or written in the wrong encoding: write it again as UTF-8.",
                tuple(names),
                evidence={"columns": float(len(names))},
            )

    @classmethod
    def triggering_case(cls) -> Case:
        """A name whose accent was read as two characters."""
        return Case(pa.table({"a": ["Ren\u00c3\u00a9", "Ann"]}))

    @classmethod
    def clean_case(cls) -> Case:
        """The same name as it should be."""
        return Case(pa.table({"a": ["Ren\u00e9", "Ann"]}))
