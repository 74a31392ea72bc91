"""What a study is about: the table as it was read, what was decided about it, and its rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.config import current_config
from surefit.core.errors import DataError
from surefit.data.files import is_path
from surefit.data.source import TableSource
from surefit.data.stream import ArrowStream
from surefit.study.audit import Watch, judge
from surefit.study.events import Event, Listener
from surefit.study.record import FindingRecord, Task
from surefit.study.table.decide import Decided, decide_from
from surefit.study.table.facts import gather
from surefit.study.table.hashing import Digest
from surefit.study.table.prepared_rows import RowsInMemory
from surefit.study.table.stream import Keeper, sample, stream_of

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST = 4  # rows with a target: two to learn from and two to test on
FEW_ROWS = 20_000  # of a text file that is not read again; an audit samples as many
MOST_CELLS = 40_000_000  # of a table that is held in memory; of a larger one a sample is


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A table and all that was decided before anything is learnt.

    table: a path, or the table itself; stream: the same, opened once for all passes, and read once if it is
    small. whole: its rows that have a target, as the models read them. held: these rows in memory, or those
    of the sample ``drawn`` from a table that is larger, which ``sampled`` reads. digest: of its values.
    """

    table: Any
    stream: ArrowStream
    name: str
    decided: Decided
    findings: tuple[FindingRecord, ...]
    whole: TableSource
    held: RowsInMemory
    digest: str
    drawn: Any = None
    sampled: TableSource | None = None
    piped: bool = False  # read from a file that will not be there again

    @property
    def streamed(self) -> bool:
        """Whether the table is read as it goes, and a sample is held."""
        return self.drawn is not None

    @property
    def task(self) -> Task:
        """What is learnt."""
        return self.decided.task.task

    @property
    def is_path(self) -> bool:
        """Whether the table lies in files."""
        return is_path(self.table)

    def source(self, whole: bool = True) -> TableSource:
        """All rows with a target, as the models read them, or those of the sample."""
        if whole or self.sampled is None:
            return self.whole
        return self.sampled

    def rows(self, numbers: Any) -> pa.Table:
        """Some rows of the table, as they are."""
        import pyarrow as pa

        wanted, start, pieces = np.sort(np.asarray(numbers)), 0, []
        for batch in self.stream.batches():
            here = wanted[(wanted >= start) & (wanted < start + batch.num_rows)] - start
            if len(here):
                pieces.append(pa.Table.from_batches([batch]).take(here))
            start += batch.num_rows
        return pa.concat_tables(pieces, promote_options="permissive")


def look(
    table: Any,
    target: Any,
    *,
    kinds: Mapping[str, str] | None,
    task: str | None,
    weight: str | None,
    drop: tuple[str, ...],
    name: str | None,
    seed: int,
    most_cells: int,
    tell: Listener,
) -> Subject:
    """Read a table, decide what its columns are, audit it, and take its rows into memory."""
    opened, wanted = _opened(table, target)
    stream = stream_of(opened, wanted)[0]
    names = stream.arrow_schema.names
    watch, digest = Watch.of([each for each in names if each not in drop], wanted), Digest(names)
    keeper = Keeper(stream, FEW_ROWS)
    facts = gather(stream, watchers=(watch.see, digest.see, keeper.see))
    stream = keeper.stream()
    decided = decide_from(facts, wanted, kinds, task, weight=weight, drop=drop)
    tell(Event("columns", f"{decided.task.task}: {decided.task.why}", about=decided))
    findings = judge(watch.seen(facts, kinds, task, weight)).records()
    tell(Event("audit", f"{len(findings)} findings", about=findings))
    width = max(1, len(decided.used))
    whole, drawn, sampled = decided.read_stream(stream), None, None
    if decided.rows * width > most_cells or current_config().engine == "dask":
        drawn = sample(stream, max(FEWEST, most_cells // width), seed)
        sampled = decided.read(drawn)
    held = RowsInMemory.of(whole if sampled is None else sampled, decided.task.task)
    if held.classes is not None and len(held.classes) < 2:
        raise DataError(
            f"the target {decided.target!r} has only one class: classification needs at least two."
        )
    if len(held) < FEWEST:
        raise DataError(
            f"{len(held)} rows have a target, and at least {FEWEST} are needed to fit and to test: give more."
        )
    return Subject(
        opened,
        stream,
        name or _name(opened),
        decided,
        findings,
        whole,
        held,
        digest.hexdigest(),
        drawn,
        sampled,
        piped=name is not None,
    )


def _opened(table: Any, target: Any) -> tuple[Any, str]:
    """A path as it is, and whatever else holds a table as an Arrow table, which can be read again."""
    import pyarrow as pa

    if is_path(table) or _is_dask(table):
        if not isinstance(target, str):
            raise DataError("the target of a table that is read from files must name one of its columns.")
        return table, target
    stream, name = stream_of(table, target)
    if name is None:
        raise DataError("name the column to predict as the target.")
    return pa.Table.from_batches(list(stream.batches()), stream.arrow_schema), name


def _is_dask(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] in ("dask", "dask_expr")


def _name(table: Any) -> str:
    if not is_path(table):
        return "table"
    return Path(table).name if isinstance(table, str | Path) else "files"
