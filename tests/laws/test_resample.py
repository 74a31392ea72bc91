"""What holds for every split: parts do not overlap, seeds repeat, and each kind keeps its promise."""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn import model_selection

from surefit import resample
from surefit.core.errors import DataError, ParameterError
from surefit.core.parameters import parameters_of
from surefit.core.registry import members
from surefit.resample.base import Split, Wrapped
from surefit.resample.choose import pairs_of
from surefit.resample.draws import draw_rows
from surefit.resample.streams import stream

ROWS = 53
RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(ROWS, 2)), RNG.choice(["a", "b", "c"], p=[0.5, 0.3, 0.2], size=ROWS)
GROUPS = RNG.integers(9, size=ROWS)
SPLITS: dict[str, type[Split]] = dict(members("split"))  # type: ignore[arg-type]
WRAPPED = {name: cls for name, cls in SPLITS.items() if issubclass(cls, Wrapped)}
FOLDS = {name: cls for name, cls in SPLITS.items() if name.endswith(("KFold", "LeaveOneOut"))}


def each(classes: dict[str, type[Split]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cls", classes.values(), ids=classes.keys())


def made(cls: type[Split], seed: Any = 0) -> Split:
    """Random where it can be."""
    known = parameters_of(cls)
    wanted = {"random_state": seed, "shuffle": True, "p": 1, "n_groups": 2}
    return cls(**{k: v for k, v in wanted.items() if k in known})


def cut(split: Split, rows: int = ROWS) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(split.split(X[:rows], Y[:rows], groups_for(type(split), rows)))


def groups_for(cls: type[Split], rows: int = ROWS) -> Any:
    return GROUPS[:rows] if "Group" in cls.__name__ else None  # the others warn that they ignore them


def assert_same(one: list[Any], two: list[Any]) -> None:
    assert len(one) == len(two)
    for mine, yours in zip(one, two, strict=True):
        np.testing.assert_array_equal(mine[0], yours[0])
        np.testing.assert_array_equal(mine[1], yours[1])


@each(SPLITS)
def test_train_and_test_never_overlap(cls: type[Split]) -> None:
    split = made(cls)
    pairs = cut(split)
    assert len(pairs) == split.get_n_splits(X, Y, groups_for(cls)) > 0
    for train, test in pairs:
        assert len(train)
        assert len(test)
        assert not set(train) & set(test)
        assert set(train) | set(test) <= set(range(ROWS))


@each(FOLDS)
def test_folds_test_every_row_equally_often_and_learn_from_the_rest(cls: type[Split]) -> None:
    pairs = cut(made(cls))
    times = Counter(np.concatenate([test for _, test in pairs]).tolist())
    assert set(times) == set(range(ROWS))
    assert set(times.values()) == {made(cls).options.get("n_repeats", 1)}
    for train, test in pairs:
        assert len(train) + len(test) == ROWS


@pytest.mark.parametrize("name", ["KFold", "RepeatedKFold", "LeaveOneOut"])
def test_fold_sizes_differ_by_one_at_the_most(name: str) -> None:
    sizes = [len(test) for _, test in cut(made(SPLITS[name]))]
    assert max(sizes) - min(sizes) <= 1


def test_as_many_folds_as_rows_leave_one_out() -> None:
    assert_same(cut(resample.KFold(ROWS)), cut(resample.LeaveOneOut()))


@each({name: cls for name, cls in SPLITS.items() if "random_state" in parameters_of(cls)})
def test_a_seed_repeats_and_another_one_differs(cls: type[Split]) -> None:
    assert_same(cut(made(cls, 7)), cut(made(cls, 7)))
    for state in (np.random.RandomState, np.random.default_rng):
        assert_same(cut(made(cls, state(7))), cut(made(cls, state(7))))
    one, two = (np.concatenate([test for _, test in cut(made(cls, seed))]) for seed in (7, 8))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("name", ["StratifiedKFold", "RepeatedStratifiedKFold"])
def test_each_class_is_shared_out_within_one(name: str) -> None:
    pairs = cut(made(SPLITS[name]))
    for label in "abc":
        counts = [int((Y[test] == label).sum()) for _, test in pairs]
        assert max(counts) - min(counts) <= 1


def test_a_stratified_hold_out_keeps_the_shares() -> None:
    for _, test in cut(resample.HoldOut(0.4, stratify=True, n_splits=20, random_state=0)):
        for label in "abc":
            assert abs((Y[test] == label).sum() - 0.4 * np.count_nonzero(label == Y)) <= 1


@pytest.mark.parametrize("name", [name for name in SPLITS if "Group" in name])
def test_no_group_is_on_both_sides(name: str) -> None:
    for train, test in cut(made(SPLITS[name])):
        assert not set(GROUPS[train]) & set(GROUPS[test])


@pytest.mark.parametrize("gap", [0, 3])
def test_time_never_looks_ahead(gap: int) -> None:
    for train, test in cut(resample.TimeSeriesSplit(6, gap=gap)):
        assert train.max() + gap < test.min()


@pytest.mark.covers("intro_to_ml:7.10", by="resample.HoldOut")
def test_a_hold_out_has_the_size_asked_for_and_can_be_held_out_from() -> None:
    [(rest, test)] = cut(resample.HoldOut(0.2, random_state=1), 50)
    assert (len(rest), len(test)) == (40, 10)
    [(train, tune)] = resample.HoldOut(10, random_state=2).split(rest)
    train, tune = rest[train], rest[tune]
    assert sorted([*train, *tune, *test]) == list(range(50))
    assert (len(train), len(tune)) == (30, 10)
    assert [len(part) for part in cut(resample.HoldOut(), 40)[0]] == [30, 10]
    assert [len(part) for part in cut(resample.HoldOut(train_size=5), 40)[0]] == [5, 35]


@pytest.mark.covers("intro_to_ml:7.10", "cs443:8.2", by="resample.TrainValidationTest")
def test_three_parts_share_no_row_and_have_their_sizes() -> None:
    split = resample.TrainValidationTest(0.25, 0.1, random_state=3)
    parts = split.parts(X)
    assert [len(part) for part in parts] == [ROWS - 13 - 5, 13, 5]
    assert sorted(np.concatenate(parts)) == list(range(ROWS))
    assert_same(cut(split), [(parts.train, parts.validation)])
    again = resample.TrainValidationTest(0.25, 0.1, random_state=3).parts(X)
    assert all(np.array_equal(one, two) for one, two in zip(parts, again, strict=True))
    by_class = resample.TrainValidationTest(stratify=True, random_state=0).parts(X, Y)
    for part in by_class:
        for label in "abc":
            assert abs((Y[part] == label).sum() - (label == Y).mean() * len(part)) <= 1.5
    by_group = split.parts(X, groups=GROUPS)
    assert sum(len(set(GROUPS[part])) for part in by_group) == len(set(GROUPS))
    assert sorted(np.concatenate(by_group)) == list(range(ROWS))


def test_three_parts_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(DataError, match="leave no rows to learn from"):
        resample.TrainValidationTest(0.5, 0.5).parts(X)
    with pytest.raises(DataError, match="at least 3"):
        resample.TrainValidationTest().parts(X, groups=np.arange(ROWS) % 2)
    with pytest.raises(DataError, match="one for each row"):
        resample.TrainValidationTest().parts(X, groups=[1, 2, 3])
    with pytest.raises(DataError, match="drop one"):
        resample.TrainValidationTest(stratify=True).parts(X, Y, GROUPS)


def test_leaving_out_goes_through_every_choice() -> None:
    tests = [tuple(test) for _, test in resample.LeavePOut(3).split(range(7))]
    assert tests == list(itertools.combinations(range(7), 3))
    names = [frozenset(GROUPS[test]) for _, test in cut(resample.LeavePGroupsOut(2))]
    assert len(set(names)) == len(names) == len(list(itertools.combinations(set(GROUPS), 2)))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ([([0, 1], [1, 2])], "fold 1 of the split has 1 rows in both parts"),
        ([([0, 1], [])], "fold 1 of the split has an empty part"),
        ([([0, 1], [99])], "fold 1 of the split names row 99"),
        ([([0], [1]), ([0, 1], [-1])], "fold 2 of the split names row"),
        ([], "has no folds"),
        (1, "at least 2 folds"),
        (54, "54 folds cannot be cut from 53 rows"),
        ("five", "must be a number of folds"),
        (None, "must be a number of folds"),
    ],
)
def test_a_split_that_is_not_fair_is_refused(split: Any, message: str) -> None:
    with pytest.raises((DataError, ParameterError), match=message):
        pairs_of(split, X, Y)


def test_a_number_asks_for_folds_that_suit_the_rows() -> None:
    sorted_classes = np.sort(Y)
    for _, test in pairs_of(4, X, sorted_classes, classes=True):
        assert set(sorted_classes[test]) == set("abc")
    for train, test in pairs_of(4, X, Y, GROUPS, classes=True):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    masks = [(test >= 0, test < 0) for test in [np.arange(ROWS) - 20]]
    assert [len(part) for part in pairs_of(masks, X)[0]] == [33, 20]


@each(WRAPPED)
def test_signature_and_rows_are_scikit_learns(cls: type[Split]) -> None:
    theirs = getattr(model_selection, cls.__name__)
    if parameters_of(cls):  # theirs may have no __init__ of its own
        ours, wanted = (inspect.signature(c.__init__).parameters.values() for c in (cls, theirs))
        more = [p for p in ours if p.name in cls.ours]
        assert all(p.kind is p.KEYWORD_ONLY and p.default is None for p in more)
        shared = [(p.name, p.kind, p.default) for p in ours if p not in more]
        assert shared == [(p.name, p.kind, p.default) for p in wanted]
    options = {name: value for name, value in made(cls).options.items() if name not in cls.ours}
    assert_same(cut(made(cls)), list(theirs(**options).split(X, Y, groups_for(cls))))


@each(SPLITS)
def test_scikit_learn_takes_it_as_cv(cls: type[Split]) -> None:
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import GridSearchCV, cross_val_score

    split = made(cls)
    groups = groups_for(cls)
    scores = cross_val_score(DummyClassifier(), X, Y, cv=split, groups=groups)
    assert len(scores) == split.get_n_splits(X, Y, groups)
    grid = {"strategy": ["prior", "stratified"]}
    search = GridSearchCV(DummyClassifier(random_state=0), grid, cv=split).fit(X, Y, groups=groups)
    assert search.n_splits_ == len(scores)


def test_metadata_routing_asks_for_groups() -> None:
    from sklearn import config_context
    from sklearn.dummy import DummyClassifier
    from sklearn.model_selection import cross_val_score

    with config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            DummyClassifier(), X, Y, cv=resample.GroupKFold(3), params={"groups": GROUPS}
        )
    assert len(scores) == 3


@each(SPLITS)
def test_parameters_are_checked_when_rows_are_cut(cls: type[Split]) -> None:
    for name in parameters_of(cls):
        split = cls(**{**made(cls).options, name: -0.5})
        with pytest.raises(ParameterError, match=f"{cls.__name__}: {name}=-0.5 is not allowed"):
            split.split(X, Y, GROUPS)
        with pytest.raises(ParameterError, match=f"{cls.__name__}: {name}=-0.5 is not allowed"):
            split.get_n_splits(X, Y, GROUPS)


def test_a_split_is_found_under_its_name() -> None:
    assert set(SPLITS) <= set(dir(resample))
    assert repr(resample.KFold(3)) == "KFold(n_splits=3, shuffle=False, random_state=None)"
    with pytest.raises(AttributeError, match="'KFolds': did you mean 'KFold'"):
        resample.KFolds  # noqa: B018


def test_the_bootstrap_draws_as_many_rows_and_tests_on_the_rest() -> None:
    for drawn, left in cut(resample.Bootstrap(20, random_state=0)):
        assert len(drawn) == ROWS
        assert sorted(left) == sorted(set(range(ROWS)) - set(drawn))
    assert all(len(drawn) == 7 for drawn, _ in cut(resample.Bootstrap(size=7)))


def test_draws_are_in_proportion_to_the_weights() -> None:
    """A chi-square test; with the right proportions it fails for one seed in a million."""
    weight = np.array([1.0, 0.0, 2.5, 0.5, 4.0])
    drawn = draw_rows(5, 200_000, np.random.default_rng(0), weight)
    counts = np.bincount(drawn, minlength=5)
    assert counts[1] == 0
    possible = weight > 0
    expected = len(drawn) * weight[possible] / weight.sum()
    assert scipy.stats.chisquare(counts[possible], expected).pvalue > 1e-6
    plain = np.bincount(draw_rows(5, 200_000, np.random.default_rng(1)), minlength=5)
    assert scipy.stats.chisquare(plain).pvalue > 1e-6


def test_a_weight_draws_what_a_repetition_would() -> None:
    weight = RNG.integers(0, 4, size=ROWS)
    repeated = np.repeat(np.arange(ROWS), weight)
    bootstrap = resample.Bootstrap(5, size=100, random_state=0)
    by_weight = [drawn for drawn, _ in bootstrap.split(X, sample_weight=weight)]
    by_repetition = [repeated[drawn] for drawn, _ in bootstrap.split(repeated)]
    np.testing.assert_array_equal(by_weight, by_repetition)


def test_a_row_of_weight_zero_is_in_neither_part() -> None:
    weight = np.ones(ROWS)
    weight[[0, 20, ROWS - 1]] = 0
    for drawn, left in resample.Bootstrap(20, random_state=0).split(X, sample_weight=weight):
        assert not {0, 20, ROWS - 1} & {*drawn, *left}


def test_a_place_that_rounds_up_stays_on_the_last_row_that_counts() -> None:
    class Ending(np.random.Generator):
        def random(self, size: Any = None) -> Any:
            return np.full(size, np.nextafter(1.0, 0.0))

    generator = Ending(np.random.PCG64(0))
    for total in np.linspace(1, 2, 101):
        assert draw_rows(3, 1, generator, np.array([1.0, total, 0.0]))[0] == 1
    assert draw_rows(3, 1, generator)[0] == 2


@pytest.mark.parametrize("weight", [np.zeros(ROWS), -np.ones(ROWS), np.full(ROWS, np.nan), np.ones(3)])
def test_bad_weights_are_refused(weight: Any) -> None:
    with pytest.raises(DataError, match=r"^Bootstrap: sample_weight"):
        resample.Bootstrap().split(X, sample_weight=weight)
    with pytest.raises(DataError, match="no rows"):
        resample.Bootstrap().split(X[:0])


@pytest.mark.covers("intro_to_ml:B.26", by="resample.Bootstrap")
def test_the_bootstrap_knows_the_variance_of_the_mean() -> None:
    """The variance of the bootstrap's mean is var / n. From 4000 replicates its estimate has a relative
    standard error of sqrt(2 / 4000) = 0.022; six of them are exceeded by less than one seed in 1e8.
    """
    x = np.random.default_rng(0).normal(size=50)
    means = [x[drawn].mean() for drawn, _ in resample.Bootstrap(4000, random_state=0).split(x)]
    assert np.var(means) == pytest.approx(x.var() / 50, rel=0.14)
    assert np.mean(means) == pytest.approx(x.mean(), abs=6 * np.sqrt(x.var() / 50 / 4000))


def test_each_replicate_has_a_stream_of_its_own() -> None:
    few, many = (cut(resample.Bootstrap(count, random_state=5)) for count in (2, 9))
    assert_same(few, many[:2])
    assert stream(5, 0).random() != stream(5, 1).random()
