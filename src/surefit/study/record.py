"""The record of a study: plain values that a JSON file holds and a report is drawn from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass
from json.encoder import encode_basestring
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from surefit.core.errors import FormatError
from surefit.core.files import atomic

VERSION = 1  # goes up with every change that an older reader would misread
Task = Literal["regression", "classification"]
Interval = tuple[float, float]
Cell = float | int | str | bool | None


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The table studied. sampled: of how many rows the families that do not stream were compared."""

    name: str
    rows: int
    columns: int
    digest: str  # SHA-256 of the table's values
    sampled: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnRecord:
    """One column: what it was taken for and why, what it holds, and whether models see it.

    kind: number, category, boolean, date, text, identifier or constant. summary: low, median and high of
    numbers and dates, the commonest levels with their counts otherwise.
    """

    name: str
    kind: str
    why: str
    missing: int
    distinct: int
    used: bool
    summary: tuple[tuple[str, Cell], ...] = ()


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """Something found by the audit or the diagnosis; see ``core.diagnosis.Finding``."""

    code: str
    severity: str
    message: str
    remedy: str
    columns: tuple[str, ...] = ()
    evidence: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """One line of the leaderboard. group: letters; two models that share one cannot be told apart.

    score, low, high: of the study's metric; folds: its score of each fold. others: of further metrics, as
    score, low and high. p: against the best, adjusted. failed: why a model could not be fitted.
    """

    name: str
    title: str
    score: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    group: str = ""
    as_good_as_best: bool = False
    complexity: float = 0.0
    seconds: float = 0.0  # of one fit
    rows: int = 0  # it was compared on
    folds: tuple[float, ...] = ()
    others: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    settings: dict[str, Cell] = field(default_factory=dict)
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """The score of the model chosen, lowered by the optimism of choosing the best of ``models``."""

    value: float
    low: float
    high: float
    optimism: float
    models: int


@dataclass(frozen=True, slots=True)
class CoefficientRecord:
    """The weight of a prepared column, with its interval where the model has one; label: of which class."""

    column: str
    value: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """What the final fit proves; see ``core.certificate.Certificate``."""

    claim: str
    measure: str
    value: float
    tolerance: float
    holds: bool
    statement: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The model chosen, fitted on all rows. tree: an SVG drawing of a tree. rules: its rules as text."""

    name: str
    settings: dict[str, Cell]
    why: str  # this one
    certificate: CertificateRecord | None
    diagnosis: tuple[FindingRecord, ...] = ()
    coefficients: tuple[CoefficientRecord, ...] = ()
    intercept: tuple[float, ...] = ()
    tree: str | None = None
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class ImportanceRecord:
    """What the score loses when a column of the table is shuffled, on rows that the fit did not see."""

    column: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DependenceRecord:
    """The mean answer over the values of one column, with its interval; label: the class it is about."""

    column: str
    grid: tuple[Cell, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class ThresholdRecord:
    """The probability from which on the positive class is answered, for the costs stated."""

    positive: str
    value: float
    cost_false_positive: float
    cost_false_negative: float
    cost: float  # mean of a row, on rows that the fit did not see
    cost_at_half: float


@dataclass(frozen=True, slots=True)
class WorstRowRecord:
    """A row that the model got wrong when it had not seen it."""

    row: int
    truth: Cell
    prediction: Cell
    loss: float
    cells: dict[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """What it takes to do it again."""

    command: str
    script: str
    seed: int
    seconds: float
    budget: float
    versions: dict[str, str]
    machine: str
    date: str


@dataclass(frozen=True, slots=True)
class Record:
    """All that a study found.

    answer: three sentences: which model, how good, what to worry about. resampling: how the scores were
    made, in words. better: "higher" or "lower" values of the metric. positive: the class that
    probabilities and the threshold are about, of two.
    """

    table: TableRecord
    target: str
    task: Task
    task_why: str
    classes: tuple[Cell, ...]
    positive: Cell
    metric: str
    better: str
    level: float
    resampling: str
    answer: tuple[str, str, str]
    columns: tuple[ColumnRecord, ...]
    audit: tuple[FindingRecord, ...]
    leaderboard: tuple[EntryRecord, ...]
    baseline: str
    chosen: ModelRecord
    importance: tuple[ImportanceRecord, ...]
    dependence: tuple[DependenceRecord, ...]
    threshold: ThresholdRecord | None
    worst: tuple[WorstRowRecord, ...]
    environment: Environment
    files: dict[str, str] = field(default_factory=dict)  # what it is: its name beside the record
    score: ScoreRecord | None = None  # of the model chosen, allowing for the choice
    weight: str | None = None  # the column that said how often a row counts
    unsuited: dict[str, str] = field(default_factory=dict)  # families that did not enter, and why
    version: int = VERSION

    def to_json(self) -> str:
        """Return the record as JSON; infinite and missing numbers become null."""
        return indented(self)

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read what ``to_json`` wrote; refuses what is no record, or of a version not known here."""
        try:
            told = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(f"this is not the record of a study: {error}.") from None
        if not isinstance(told, dict) or not isinstance(told.get("version"), int):
            raise FormatError("this is not the record of a study: it is JSON without a version.")
        if told["version"] > VERSION:
            raise FormatError(
                f"the record is of version {told['version']}, and this surefit reads up to {VERSION}: "
                "install a newer one."
            )
        record = _built(cls, told, "record")
        assert isinstance(record, Record)
        return record

    def save(self, path: str | Path) -> None:
        """Write the record as a JSON file, whole or not at all."""
        with atomic(path) as file:
            file.write((self.to_json() + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read a record from a file."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))


def plain(value: Any) -> Any:
    """Return what JSON can hold; infinite and missing numbers become null."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


_WRITTEN: dict[type, Any] = {  # values that hold no others; all of them are written without a call in Python
    str: encode_basestring,
    int: int.__repr__,
    bool: ("false", "true").__getitem__,
    NoneType: {None: "null"}.__getitem__,
}


def indented(value: Any, margin: str = "\n") -> str:
    """Write a value as JSON, each entry on a line of its own, as ``json.dumps(plain(value), indent=1)`` does.

    The encoder of the standard library takes ten calls for an entry as soon as it has to indent.

    >>> print(indented({"a": [1.5, float("nan")], "b": {}}))
    {
     "a": [
      1.5,
      null
     ],
     "b": {}
    }
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if not isinstance(value, dict | list | tuple):
        value = plain(value)
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    inner = margin + " "
    names = [f"{encode_basestring(str(key))}: " for key in value] if isinstance(value, dict) else None
    lines = []
    for entry in value.values() if isinstance(value, dict) else value:
        kind = type(entry)
        if kind is float:
            lines.append(float.__repr__(entry) if abs(entry) < float("inf") else "null")
        elif kind in _WRITTEN:
            lines.append(_WRITTEN[kind](entry))
        else:
            lines.append(indented(entry, inner))
    first, last = "[]" if names is None else "{}"
    if not lines:
        return first + last
    if names is not None:
        lines = [name + line for name, line in zip(names, lines, strict=True)]
    return first + inner + f",{inner}".join(lines) + margin + last


def _built(kind: Any, told: Any, where: str) -> Any:
    """Build what a type hint asks for, so that a file from elsewhere cannot smuggle in another shape."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        options = get_args(kind)
        if told is None and NoneType in options:
            return None
        rest = [option for option in options if option is not NoneType]
        if len(rest) == 1:
            return _built(rest[0], told, where)
        if isinstance(told, tuple(option for option in rest if isinstance(option, type))):
            return told
    elif isinstance(kind, type) and is_dataclass(kind):
        if isinstance(told, dict):
            hints = get_type_hints(kind)
            known = {f.name for f in fields(kind)} & set(told)
            try:
                return kind(**{name: _built(hints[name], told[name], f"{where}.{name}") for name in known})
            except TypeError as error:
                raise FormatError(f"{where} of the record is not complete: {error}.") from None
    elif origin is tuple:
        if isinstance(told, list):
            args = get_args(kind)
            of = [args[0]] * len(told) if args[-1] is Ellipsis else args
            if len(of) == len(told):
                return tuple(_built(each, entry, where) for each, entry in zip(of, told, strict=True))
    elif origin is dict:
        if isinstance(told, dict):
            of = get_args(kind)[1]
            return {key: _built(of, entry, f"{where}.{key}") for key, entry in told.items()}
    elif origin is Literal:
        if told in get_args(kind):
            return told
    elif kind is float:
        if told is None:
            return float("nan")
        if isinstance(told, int | float) and not isinstance(told, bool):
            return float(told)
    elif isinstance(told, kind) and not (kind is int and isinstance(told, bool)):
        return told
    raise FormatError(f"{where} of the record is a {type(told).__name__}, which does not belong there.")
