"""What became of the tests, and what was said of them beforehand."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Family:
    """A family of estimators, and where scikit-learn's tests of it are."""

    name: str
    title: str
    modules: tuple[str, ...]
    least: float


def families() -> list[Family]:
    """Return the families, in the order of their file."""
    with open(HERE / "families.toml", "rb") as file:
        told = tomllib.load(file)
    return [
        Family(name, entry["title"], tuple(entry["modules"]), entry.get("least", 0.0))
        for name, entry in told.items()
    ]


@dataclass
class Said:
    """The lines of ``exclusions.toml``: patterns of tests, each with its reason, and how often it was met."""

    private: dict[str, str]
    different: dict[str, str]
    met: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path = HERE / "exclusions.toml") -> Said:
        """Read the file."""
        with open(path, "rb") as file:
            told = tomllib.load(file)
        return cls(told.get("private", {}), told.get("different", {}))

    def kind(self, test: str) -> str:
        """Return "private", "different", or "" for a test that nothing is said of."""
        for kind, lines in (("private", self.private), ("different", self.different)):
            for pattern in lines:
                if fnmatchcase(_plain(test), _plain(pattern)):
                    self.met.add(pattern)
                    return kind
        return ""


def _plain(name: str) -> str:
    """Brackets are part of the names of tests, and no ranges of letters."""
    return name.replace("[", "(").replace("]", ")")


@dataclass(frozen=True)
class Tally:
    """Counts of the tests of one family that met one of our classes."""

    passed: int
    private: int  # failed, and checks a private detail
    different: int  # failed, and is a difference that we chose or have not closed
    unexpected: tuple[str, ...]

    @property
    def failed(self) -> int:
        """How many failed, for whatever reason."""
        return self.private + self.different + len(self.unexpected)

    @property
    def raw(self) -> float:
        """The share that passed, of all."""
        return self.passed / max(self.passed + self.failed, 1)

    @property
    def rate(self) -> float:
        """The share that passed, without the tests of private details."""
        return self.passed / max(self.passed + self.failed - self.private, 1)


def notes(path: Path) -> Iterator[dict[str, object]]:
    """Yield the last note of each test that met one of our classes."""
    last: dict[str, dict[str, object]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        last[note["test"]] = note
    yield from (note for note in last.values() if note["met"])


def tally(found: Iterable[dict[str, object]], said: Said) -> Tally:
    """Count; a test that was skipped, or that scikit-learn expects to fail, counts for nothing."""
    passed, kinds, unexpected = 0, {"private": 0, "different": 0}, []
    for note in found:
        test = str(note["test"])
        if note["outcome"] == "passed":
            passed += 1
        elif note["outcome"] == "failed":
            kind = said.kind(test)
            if kind:
                kinds[kind] += 1
            else:
                unexpected.append(test)
    return Tally(passed, kinds["private"], kinds["different"], tuple(sorted(unexpected)))
