"""What holds for every statistic in the registry; a new one is tested by being there."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import pytest

from surefit.core.errors import RefusalError
from surefit.core.registry import lookup, members
from surefit.data.batches.batch import Batch
from surefit.data.batches.table import Table
from surefit.stats.base import Statistic
from surefit.stats.cases import Trial
from surefit.stats.values import decode, encode

STATISTICS: dict[str, type[Statistic]] = {
    name: cls
    for name, cls in members("statistic").items()
    if cls.__module__.startswith("surefit.stats.") and issubclass(cls, Statistic)
}
TRIALS = [
    pytest.param(cls, trial, id=f"{name}-{number}-{trial.rows}")
    for name, cls in STATISTICS.items()
    for number, trial in enumerate(cls.law_contexts())
]
each_trial = pytest.mark.parametrize(("cls", "trial"), TRIALS)
ROWS = 150
TOLERANCE = 1e-12


def take(batch: Batch, rows: Any) -> Batch:
    """Some rows of a batch; ``start`` is that of the first, where they follow each other."""
    X: Any = batch.X.take(rows) if isinstance(batch.X, Table) else batch.X[rows]
    if isinstance(X, np.ndarray) and not X.flags.forc:
        X = np.asfortranarray(X)
    start = batch.start + (rows.start or 0 if isinstance(rows, slice) else 0)
    y, weight = (None if part is None else part[rows] for part in (batch.y, batch.weight))
    return Batch(X, y, weight, start)


def weighted(trial: Trial, rows: int = ROWS) -> Batch:
    weight = np.random.default_rng(4).uniform(0.25, 4.0, size=rows)
    return replace(trial.batch(rows), weight=weight)


def repetitions(rows: int = ROWS) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 4, size=rows)


def joined_at_random(parts: Sequence[Any], rng: np.random.Generator) -> Any:
    """Add up in a random tree, in random order."""
    left = list(parts)
    while len(left) > 1:
        one, two = (left.pop(int(rng.integers(len(left)))) for _ in range(2))
        left.append(one + two)
    return left[0]


def bits(value: Any) -> Any:
    """The fields of a statistic, to be compared exactly."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, Statistic):
        return tuple(bits(getattr(value, entry.name)) for entry in fields(value))  # type: ignore[arg-type]
    if isinstance(value, np.ndarray):
        value = value + 0.0 if value.dtype.kind == "f" else value  # 0.0 and -0.0 are one number
        content = repr(value.tolist()) if value.dtype == object else value.tobytes()
        return value.dtype.kind, value.shape, content
    return value


def assert_same_bits(one: Any, two: Any) -> None:
    assert type(one) is type(two)
    for entry in fields(one):
        assert bits(getattr(one, entry.name)) == bits(getattr(two, entry.name)), entry.name


def test_the_laws_see_the_statistics() -> None:
    expected = {"moments", "triangular-factor", "counts", "curvature", "sketch", "top-k", "spread", "missing"}
    assert expected <= set(STATISTICS)


@each_trial
def test_any_split_order_and_tree_agree(cls: type[Statistic], trial: Trial) -> None:
    rng, plain, uneven = np.random.default_rng(2), trial.batch(ROWS), weighted(trial)
    for batch, pieces in ((plain, 2), (plain, 7), (uneven, 5), (uneven, ROWS)):
        whole = cls.of(batch, **trial.context)
        cuts = np.sort(rng.choice(np.arange(1, ROWS), size=pieces - 1, replace=False))
        edges = [0, *cuts.tolist(), ROWS]
        parts = [cls.of(take(batch, slice(a, b)), **trial.context) for a, b in pairwise(edges)]
        for joined in (reduce(add, parts), joined_at_random(parts, rng)):
            assert whole.distance(joined) <= TOLERANCE
            assert getattr(joined, "rows", 0) == getattr(whole, "rows", 0)


@each_trial
def test_the_distance_sees_a_missing_row(cls: type[Statistic], trial: Trial) -> None:
    batch = trial.batch(ROWS)
    keep = np.arange(ROWS) > 0
    if cls.name == "top-k":
        keep = ~np.isin(np.arange(ROWS), cls.of(batch, **trial.context).numbers[:1])  # type: ignore[attr-defined]
    if cls.name == "sketch":
        keep = np.arange(ROWS) < ROWS // 2  # a single row may lie within the error
    whole, rest = (cls.of(some, **trial.context) for some in (batch, take(batch, keep)))
    assert whole.distance(rest) > 1e-6


@each_trial
def test_no_rows_change_nothing(cls: type[Statistic], trial: Trial) -> None:
    batch = weighted(trial)
    nothing = cls.of(take(batch, slice(0, 0)), **trial.context)
    statistic = cls.of(batch, **trial.context)
    assert_same_bits(nothing + statistic, statistic)
    assert_same_bits(statistic + nothing, statistic)


@each_trial
def test_a_weight_is_a_repetition(cls: type[Statistic], trial: Trial) -> None:
    batch, times = trial.batch(ROWS), repetitions()
    by_weight = cls.of(replace(batch, weight=times.astype(float)), **trial.context)
    if not cls.weights_repeat:
        assert by_weight.distance(cls.of(replace(batch, weight=np.sign(times) * 1.0), **trial.context)) == 0
        return
    repeated = cls.of(take(batch, np.repeat(np.arange(ROWS), times)), **trial.context)
    assert by_weight.distance(repeated) <= TOLERANCE


@each_trial
def test_rows_without_weight_drop_out(cls: type[Statistic], trial: Trial) -> None:
    batch = weighted(trial)
    assert batch.weight is not None
    # The rows that count come in one piece, so that a row's number means the same in both.
    silenced = replace(batch, weight=np.where(np.arange(ROWS) // 60 == 1, batch.weight, 0.0))
    shown = cls.of(take(batch, slice(60, 120)), **trial.context)
    assert cls.of(silenced, **trial.context).distance(shown) <= TOLERANCE


@each_trial
def test_adding_and_subtracting_returns_the_start(cls: type[Statistic], trial: Trial) -> None:
    batch = weighted(trial)
    one, two = (cls.of(take(batch, rows), **trial.context) for rows in (slice(0, 90), slice(90, ROWS)))
    if not cls.subtractable:
        with pytest.raises(RefusalError, match="compute it again over the rows that remain"):
            (one + two) - two
        return
    left = (one + two) - two
    assert left.distance(one) <= getattr(left, "error", TOLERANCE)
    nothing = cls.of(take(batch, slice(0, 0)), **trial.context)
    assert_same_bits((one + two) - nothing, one + two)
    assert ((one + two) - one - two).distance(nothing) == 0
    with pytest.raises(RefusalError, match="subtract only rows that were added before"):
        one - (one + two)


@each_trial
def test_save_and_load_give_the_same_bits(cls: type[Statistic], trial: Trial) -> None:
    statistic = cls.of(weighted(trial), **trial.context)
    arrays: dict[str, Any] = {}
    written = encode(statistic, arrays, "statistic")
    assert lookup("statistic", written["$statistic"]) is cls
    assert_same_bits(decode(written, {name: array.copy() for name, array in arrays.items()}), statistic)
    assert_same_bits(pickle.loads(pickle.dumps(statistic)), statistic)


@each_trial
def test_the_value_is_frozen_and_the_rows_stay_as_they_are(cls: type[Statistic], trial: Trial) -> None:
    batch = weighted(trial)
    before = pickle.dumps(batch)
    statistic = cls.of(batch, **trial.context)
    copy = pickle.loads(pickle.dumps(statistic))
    _ = statistic + statistic
    assert_same_bits(statistic, copy)
    assert pickle.dumps(batch) == before
    with pytest.raises(FrozenInstanceError):
        setattr(statistic, fields(statistic)[0].name, 0)  # type: ignore[arg-type]
