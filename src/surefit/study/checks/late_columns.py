"""Columns that come after the event that is to be predicted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen, quoted


class LateColumns(Check):
    """Signs that a column is written when the target is known already: gaps, dates and names."""

    name = "late-columns"
    exactly = 0.99  # of the rows: where gaps and a class go together
    few = 5  # rows, with a gap and without, at least
    short = 3  # letters of a target's name that are found in others by chance

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Look at the three signs."""
        if seen.target is None:
            return
        yield from self._by_gaps(seen, seen.target)
        yield from self._by_dates(seen, seen.target)
        names = [name for name in seen.used if self._named_after(name, seen.target)]
        if names:
            verb = "is" if len(names) == 1 else "are"
            yield Finding(
                self.name,
                "note",
                f"{quoted(names)} {verb} named after the target {seen.target!r}.",
                "Make sure that their values are known before it is, and are not made of it.",
                tuple(names),
            )

    def _by_gaps(self, seen: Seen, target: str) -> Iterator[Finding]:
        """Columns that are filled in for one class only."""
        if seen.task is None or seen.task.task != "classification":
            return
        labelled = ~seen.gaps(target)
        codes = seen.codes(target)[labelled]
        cells = seen.sample.column(target).combine_chunks().filter(pa.array(labelled))
        for column in seen.columns:
            if not column.missing or column.name == target:
                continue
            gone = seen.gaps(column.name)[labelled]
            if min(gone.sum(), (~gone).sum()) < self.few:
                continue
            for code in np.unique(codes):
                same = float(np.mean(gone == (codes == code)))
                if max(same, 1 - same) >= self.exactly:
                    label = cells[int(np.flatnonzero(codes == code)[0])].as_py()
                    when = "is" if same >= self.exactly else "is not"
                    yield Finding(
                        self.name,
                        "problem",
                        f"{column.name!r} is empty when {target!r} {when} {str(label)!r}, and else is not, "
                        f"in {100 * max(same, 1 - same):.4g} % of the rows.",
                        "It is written when the target is known: leave it out.",
                        (column.name,),
                        evidence={"agreement": max(same, 1 - same)},
                    )
                    break

    def _by_dates(self, seen: Seen, target: str) -> Iterator[Finding]:
        """Dates that are never before the date of the event, which is named after the target."""
        dates = [column.name for column in seen.columns if column.kind == "date" and column.name != target]
        events = [name for name in dates if self._named_after(name, target)]
        for event in events:
            when = seen.numbers(event)
            for name in dates:
                both = np.isfinite(when) & np.isfinite(seen.numbers(name))
                later = seen.numbers(name)[both] - when[both]
                if name in events or len(later) < self.few:
                    continue
                if np.mean(later >= 0) >= self.exactly and np.mean(later > 0) > 0.5:
                    yield Finding(
                        self.name,
                        "warning",
                        f"{name!r} is later than {event!r} in {100 * np.mean(later > 0):.3g} % of the rows.",
                        "What is dated after the event is not known when it is predicted: leave it out.",
                        (name,),
                        evidence={"share": float(np.mean(later > 0))},
                    )

    def _named_after(self, name: str, target: str) -> bool:
        own, wanted = _words(name), _words(target)
        if name == target or len(target) < self.short or not wanted or own == wanted:
            return False
        return any(own[i : i + len(wanted)] == wanted for i in range(len(own) - len(wanted) + 1))

    @classmethod
    def triggering_case(cls) -> Case:
        """A reason is given for those who left alone."""
        return cls._case(0)

    @classmethod
    def clean_case(cls) -> Case:
        """It is given for others as well."""
        return cls._case(3)

    @staticmethod
    def _case(others: int) -> Case:
        left = ["yes" if place % 3 == 0 else "no" for place in range(60)]
        given = [1.5 + place % 7 if place % 3 <= (place < others * 9) else None for place in range(60)]
        return Case(pa.table({"left": left, "why": given}), "left")


def _words(name: str) -> list[str]:
    """The words of a name: dateOfSale, date_of_sale and date of sale have the same."""
    return re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
