"""Model files that lie: arrays and headers changed at random, the digest made to fit, and all methods called.

``python -m tests.laws.hostile_files FIRST LAST`` tries mutations by their numbers, each of which is always
the same, in a process that may hold a GiB more than it does and spend ten seconds on each. It prints the
number of each before it begins, so that whoever started it knows which one it died of, and a line for each
that failed otherwise.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import surefit
from surefit.core.errors import FormatError
from surefit.io.model_file import read, write

MEMORY = 2**30  # bytes that a file of some KB may make a process grow by
SECONDS = 10  # of processor time that one may take
# What learns anew asks for as much as its parameters say; the others only change what was asked for.
LEFT_OUT = ("fit", "set_", "get_metadata_routing", "check_loaded", "of_older_file", "from_file")
WHOLE = [-1, 0, 1, 2, 3, 7, 64, 255, 10**5, 2**30, 2**30 + 1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 10**400]
FLOATS = [0.0, -1.0, 0.5, 1e300, -1e300, 1e-300, 2.0**31, 2.0**63, 2.0**64]
OTHERS: list[Any] = [None, True, False, "", "x", "auto", [], {}, [0], {"a": 1}, {"$tuple": []}]
OTHERS += [{"$float": "nan"}, {"$float": "inf"}, {"$objects": []}, {"$array": "a0", "shape": [2]}]

Case = tuple[str, dict[str, Any], dict[str, Any], Any, Any]


def special_models() -> Iterator[tuple[str, Any, Any, Any]]:
    """Models whose files hold what those of default parameters do not, and those that hold others."""
    from tests.golden import pipeline
    from tests.laws.test_chooser_files import MADE, X, target

    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 4))
    table[:, 3] = rng.integers(0, 70, 80)
    gaps = np.where(rng.random(table.shape) < 0.1, np.nan, table)
    y = table[:, 0] + 0.5 * (table[:, 3] > 30) + 0.1 * rng.normal(size=80)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    by_levels: dict[str, Any] = {"categorical_features": [3]}
    absolute = surefit.RandomForestRegressor(3, criterion="absolute_error", keep_members=True)
    for name, model, rows, answers in [
        ("tree by levels", surefit.DecisionTreeRegressor(**by_levels), table, y),
        (
            "tree with surrogates",
            surefit.DecisionTreeClassifier(missing="surrogate", **by_levels),
            gaps,
            labels,
        ),
        ("tree of absolute errors", surefit.DecisionTreeRegressor(criterion="absolute_error"), table, y),
        ("tree of two outputs", surefit.DecisionTreeRegressor(), table, np.column_stack([y, -y])),
        ("forest by levels", surefit.RandomForestClassifier(3, **by_levels), gaps, labels),
        ("forest of absolute errors", absolute, table, y),
        ("forest of all rows", surefit.ExtraTreesClassifier(3), table, np.column_stack([labels, y > 0])),
        ("boosting by levels", surefit.HistGradientBoostingRegressor(max_iter=3, **by_levels), gaps, y),
        ("OneVsRestClassifier", surefit.OneVsRestClassifier(surefit.RidgeClassifier()), table, labels),
        ("OneVsOneClassifier", surefit.OneVsOneClassifier(surefit.RidgeClassifier()), table, labels),
        ("Pipeline", pipeline(), table, y),
    ]:
        yield name, model, rows, answers
    for name, model in MADE.items():
        yield name, copy.deepcopy(model), X, target(name)


def cases(folder: Path) -> list[Case]:
    """Header and arrays of one file of each class of the registry, and rows of the fit."""
    from tests.golden import GOLDEN, unpacked
    from tests.laws.estimators import CLASSES, table

    found: list[Case] = []
    for name, cls in CLASSES.items():
        (path,) = GOLDEN.glob(f"v1/{name}.txt")
        with unpacked(path) as (file, _):
            found.append((name, *content(file), *table(cls)))
    for name, model, X, y in special_models():
        surefit.save(model.fit(X, y), folder / "special")
        found.append((name, *content(folder / "special"), X, y))
    return found


def content(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``write`` takes to make the same file again."""
    header, arrays = read(path)
    return {key: value for key, value in header.items() if key != "format"}, arrays


def mutate(header: Any, arrays: dict[str, Any], rng: np.random.Generator) -> None:
    """Change one to three things of a file."""
    for _ in range(rng.integers(1, 4)):
        if arrays and rng.random() < 0.6:
            names = list(arrays)
            name = names[rng.integers(len(names))]
            arrays[name] = changed_array(arrays[name], arrays, rng)
        else:
            change_header(header, rng)


def changed_array(array: Any, arrays: dict[str, Any], rng: np.random.Generator) -> Any:
    """An array with entries replaced, or of another length, type or order."""
    array = np.array(array)
    match rng.integers(10):
        case 0:
            return array.reshape(-1)[: rng.integers(array.size + 1)].copy()
        case 1:
            return np.concatenate([array.reshape(-1), array.reshape(-1)[: rng.integers(array.size + 1)]])
        case 2:
            kinds: list[Any] = [np.bool_, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64]
            with np.errstate(all="ignore"):
                return array.astype(kinds[rng.integers(len(kinds))])
        case 3:
            return list(arrays.values())[rng.integers(len(arrays))]
        case 4:
            return rng.permutation(array.reshape(-1)).reshape(array.shape)
    flat = array.reshape(-1)
    for _ in range(rng.integers(1, 4) if flat.size else 0):
        at = rng.integers(flat.size)
        if rng.random() < 0.3:
            flat.view(np.uint8)[rng.integers(flat.nbytes)] = rng.integers(256)
        elif array.dtype.kind == "f":
            flat[at] = [*FLOATS, np.nan, np.inf, -np.inf, float(flat.size)][rng.integers(len(FLOATS) + 4)]
        elif array.dtype.kind in "iu":
            ends = np.iinfo(array.dtype)
            value = [*WHOLE, flat.size, int(flat[at]) + 1, int(flat[at]) - 1][rng.integers(len(WHOLE) + 3)]
            flat[at] = min(max(value, ends.min), ends.max)
        else:
            flat[at] = not flat[at]
    return flat.reshape(array.shape)


def change_header(header: Any, rng: np.random.Generator) -> None:
    """Replace, remove or copy something of the parameters or of the state, however deep it stands."""
    parts = {key: header[key] for key in ("parameters", "state") if key in header}
    places = list(places_in(parts, header))
    if not places:
        return
    within, key = places[rng.integers(len(places))]
    match rng.integers(6):
        case 0:
            del within[key]
        case 1:
            other, name = places[rng.integers(len(places))]
            within[key] = copy.deepcopy(other[name]) if name in range_of(other) else None
        case 2:
            within[key] = WHOLE[rng.integers(len(WHOLE))]
        case 3:
            within[key] = FLOATS[rng.integers(len(FLOATS))]
        case _:
            within[key] = copy.deepcopy(OTHERS[rng.integers(len(OTHERS))])


def range_of(within: Any) -> Any:
    return within if isinstance(within, dict) else range(len(within))


def places_in(content: Any, within: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of nested lists and mappings, as what holds it and where."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield within, key
        if isinstance(value, dict | list):
            yield from places_in(value, value)


def ask_all(model: Any, X: Any, y: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything public that a model answers, by its name."""
    known = {
        "X": X,
        "y": y,
        "Y": X,
        "sample_weight": None,
        "n": 2,
        "trees": 2,
        "node": 0,
        "at": 0,
        "row": X[:1],
    }
    for name in dir(type(model)):
        if name.startswith(("_", *LEFT_OUT)):
            continue

        def ask(name: str = name) -> Any:
            found = getattr(model, name)
            if not callable(found):
                return found
            needed = [
                entry.name
                for entry in inspect.signature(found).parameters.values()
                if entry.default is entry.empty and entry.kind is entry.POSITIONAL_OR_KEYWORD
            ]
            answer = found(*[known.get(each, X) for each in needed])
            return list(itertools.islice(answer, 50)) if isinstance(answer, Iterator) else answer

        yield name, ask
    yield "repr", lambda: repr(model)


def parameters_in(content: Any) -> Iterator[Any]:
    """The parameters of all models of a header."""
    for value in content.values() if isinstance(content, dict) else content:
        if isinstance(value, dict | list):
            yield from parameters_in(value)
    if isinstance(content, dict):
        yield content.get("parameters")


def try_one(case: Case, number: int, path: Path) -> str | None:
    """Load and ask a changed file; what went wrong, beside crashes."""
    name, whole, arrays, X, y = case
    header, arrays = copy.deepcopy(whole), dict(arrays)
    mutate(header, arrays, np.random.default_rng(number))
    try:
        write(path, header, arrays)
    except (ValueError, TypeError):  # not JSON, which nobody can put into a file
        return None
    try:
        model = surefit.load(path)
    except FormatError as error:
        grew = isinstance(error.__context__, MemoryError)
        return f"load of {name} grew: {error}" if grew else None
    except BaseException as error:
        return f"load of {name} raised {type(error).__name__}: {error}"
    asked = list(ask_all(model, X[:5], None if y is None else y[:5]))
    if list(parameters_in(header)) == list(parameters_in(whole)):  # else it costs what these ask for
        asked.append(("verify", lambda: surefit.verify(model, X, y)))
    for method, ask in asked:
        try:
            ask()
        except MemoryError as error:
            return f"{method} of {name} grew: {error}"
        except Exception:
            continue
    return None


def say(line: str) -> None:
    """Tell who waits for it, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(first: int, last: int) -> None:
    """Try the mutations of these numbers, the cases in turn."""
    warnings.simplefilter("ignore")
    os.environ["SUREFIT_THREADS"] = "1"
    os.fsync = lambda file: None  # type: ignore[assignment]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        every = cases(Path(folder))
        for _, header, arrays, X, y in every:  # so that what is imported late is there, too
            write(Path(folder) / "m", header, arrays)
            for _, ask in ask_all(surefit.load(Path(folder) / "m"), X[:5], None if y is None else y[:5]):
                with suppress(Exception):
                    ask()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in range(first, last):
            say(f"at {number} {every[number % len(every)][0]}")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # whose signal ends the process, wherever it is
            wrong = try_one(every[number % len(every)], number, Path(folder) / "m")
            signal.setitimer(signal.ITIMER_PROF, 0)
            if wrong is not None:
                say(f"failed {number}: {' '.join(wrong.split())[:300]}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
