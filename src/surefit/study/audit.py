"""``surefit.audit``: what is wrong with a table, before anything is learnt from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from surefit.core.diagnosis import SEVERITIES, Finding
from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.core.registry import members
from surefit.evaluate.rows.frames import frame_of
from surefit.study.checks.base import Check, Seen
from surefit.study.record import ColumnRecord, FindingRecord, plain
from surefit.study.table.duplicates import Copies
from surefit.study.table.facts import TableFacts, gather
from surefit.study.table.kinds import kinds_of
from surefit.study.table.stream import Sampler, stream_of
from surefit.study.table.task import decide_task

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 20_000  # rows that are looked at one by one


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Sequence[Finding]):
    """What an audit found, worst first; ``ran`` names the checks that looked.

    columns: what each column was taken for. sampled: how many rows were looked at one by one, where these
    are not all; everything else is of all rows.
    """

    findings: tuple[Finding, ...]
    ran: tuple[str, ...]
    rows: int
    columns: tuple[ColumnRecord, ...]
    target: str | None
    task: str | None
    task_why: str | None
    sampled: int | None

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def codes(self) -> tuple[str, ...]:
        """The codes found, worst first."""
        return tuple(finding.code for finding in self.findings)

    @property
    def worst(self) -> str | None:
        """The worst severity found, None if nothing was."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in found), None)

    def records(self) -> tuple[FindingRecord, ...]:
        """The findings as a study's record holds them."""
        return tuple(
            FindingRecord(f.code, f.severity, f.message, f.remedy, f.columns, dict(f.evidence)) for f in self
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return one row a finding."""
        return frame_of(
            {
                "severity": [finding.severity for finding in self],
                "code": [finding.code for finding in self],
                "columns": [", ".join(finding.columns) for finding in self],
                "message": [finding.message for finding in self],
                "remedy": [finding.remedy for finding in self],
            },
            backend,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "rows": self.rows,
            "sampled": self.sampled,
            "target": self.target,
            "task": self.task,
            "task_why": self.task_why,
            "findings": [plain(asdict(record)) for record in self.records()],
            "columns": [plain(asdict(column)) for column in self.columns],
            "ran": list(self.ran),
        }

    def to_json(self) -> str:
        """Return the audit as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def __repr__(self) -> str:
        of = f"{self.rows:,} rows, {len(self.columns):,} columns"
        looked = "" if self.sampled is None else f", {self.sampled:,} rows looked at one by one"
        if not self.findings:
            return f"Audit of {of}{looked}: {len(self.ran)} checks found nothing."
        found = f"{len(self)} finding{'s' if len(self) != 1 else ''}"
        lines = [f"Audit of {of}{looked}: {found} by {len(self.ran)} checks"]
        lines += [f"  {f.severity:<8} {f.code}: {f.message} {f.remedy}" for f in self.findings]
        return "\n".join(lines)


@public
def audit(
    table: Any,
    target: Any = None,
    against: Any = None,
    *,
    kinds: Mapping[str, str] | None = None,
    task: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    sample: int = SAMPLE,
    random_state: int = 0,
) -> Audit:
    """Look for what is wrong with a table: gaps, copies, leaks, outliers, drift, and more.

    table: whatever ``surefit.read`` reads; it is read once, and may be larger than memory. target: the column
    to predict, or its values; without it nothing is said about leaks and classes. against: another table
    with the same columns, such as last year's; the audit then also says what changed since. sample: how many
    rows, drawn at random, the checks see that must look at single rows. kinds, task: overrule what columns
    are and what is learnt. weight: the column that says how often a row counts, which is no feature. drop:
    columns to leave out.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1.0, 2.0, None, 4.0], "b": [7, 7, 7, 7]})
    >>> found = audit(table)
    >>> found.codes()
    ('constant-columns', 'missing-values')
    >>> found[0].message
    "'b' has the same value in every row."
    """
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise ParameterError(f"sample={sample!r} must be a whole number of at least 1.")
    options: dict[str, Any] = {"kinds": kinds, "task": task, "weight": weight, "drop": tuple(drop)}
    options["sample"] = sample
    earlier = None
    if against is not None:
        name = target if isinstance(target, str) else None
        earlier = _seen(against, name, None, seed=random_state, lenient=True, **options)
    seen = _seen(table, target, earlier, seed=random_state, lenient=False, **options)
    return judge(seen)


def judge(seen: Seen) -> Audit:
    """Run every check on what was seen of a table."""
    findings: list[Finding] = []
    checks = members("check")
    for check in checks.values():
        assert issubclass(check, Check)
        findings += check().findings(seen)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    rows = seen.facts.rows
    drawn = seen.sample.num_rows
    return Audit(
        tuple(findings),
        tuple(checks),
        rows,
        seen.columns,
        seen.target,
        None if seen.task is None else seen.task.task,
        None if seen.task is None else seen.task.why,
        drawn if drawn < rows else None,
    )


def _seen(
    table: Any,
    target: Any,
    against: Seen | None,
    *,
    kinds: Mapping[str, str] | None,
    task: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    sample: int,
    seed: int,
    lenient: bool,
) -> Seen:
    """Read a table once; ``lenient`` lets it lack columns that are named."""
    stream, name = stream_of(table, target)
    there = stream.arrow_schema.names
    if lenient:
        name = name if name in there else None
        weight = weight if weight in there else None
        drop = tuple(each for each in drop if each in there)
        kinds = {each: kind for each, kind in (kinds or {}).items() if each in there}
    unknown = next((each for each in drop if each not in there), None)
    if unknown is not None:
        raise DataError(f"the table has no column to drop named {unknown!r}: check its name.")
    names = [each for each in there if each not in drop]
    if not names:
        raise DataError("the table has no column left to look at.")
    watch = Watch.of(names, name, sample, seed)
    facts = gather(stream, names, (watch.see,))
    return watch.seen(facts, kinds, task, weight, against)


@dataclass(frozen=True, slots=True)
class Watch:
    """What an audit notes of a table while its facts are gathered: copies, and a sample of the rows.

    names: the columns that it looks at, which may be fewer than those that pass.
    """

    names: tuple[str, ...]
    target: str | None
    copies: Copies
    sampler: Sampler

    @classmethod
    def of(cls, names: Sequence[str], target: str | None, sample: int = SAMPLE, seed: int = 0) -> Watch:
        """Begin to watch; sample: how many rows to draw."""
        return cls(tuple(names), target, Copies(names, target), Sampler(sample, seed))

    def see(self, batch: pa.RecordBatch, start: int) -> None:
        """Take in a batch; start: the number of its first row."""
        if batch.num_columns > len(self.names):
            batch = batch.select(list(self.names))
        self.copies.see(batch, start)
        self.sampler.see(batch)

    def seen(
        self,
        facts: TableFacts,
        kinds: Mapping[str, str] | None,
        task: str | None,
        weight: str | None,
        against: Seen | None = None,
    ) -> Seen:
        """What the checks are shown; ``facts`` may be of more columns."""
        name = self.target
        facts = replace(facts, columns={each: facts.columns[each] for each in self.names})
        columns = kinds_of(facts, name, kinds, weight=weight)
        decision, refusal = None, None
        if name is not None:
            own = next(column for column in columns if column.name == name)
            try:
                decision = decide_task(facts.columns[name], own.kind, task)
            except DataError as error:
                refusal = str(error)
        drawn = self.sampler.table()
        assert drawn is not None
        return Seen(facts, columns, name, decision, refusal, drawn, self.copies, against)
