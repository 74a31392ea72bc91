"""The laws of every estimator in the registry; a new class is tested by being there."""

from __future__ import annotations

import inspect
import random
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.discovery import all_estimators
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)
from tests.laws.estimators import (
    CLASSES,
    MANY,
    NAMES_ROWS,
    assert_close,
    assert_same_bits,
    change_first_number,
    each_estimator,
    exact,
    keeping,
    lighter,
    outputs,
    repeatable,
    table,
    weighted,
)

import surefit
from surefit.core.native import compiled
from surefit.core.parameters import parameters_of, validate

PEERS = dict(all_estimators())
# A level that only rows without weight have is none, so these refuse rows that the check removed from the fit
# and asks for; told what to do with such rows, they are put to the same check.
REFUSE_UNKNOWN = {
    "ContrastEncoder": {"handle_unknown": "ignore"},
    "OneHotEncoder": {"handle_unknown": "ignore"},
    "OrdinalEncoder": {"handle_unknown": "use_encoded_value", "unknown_value": -1},
}


def expected_failures(estimator):
    if type(estimator).__name__ not in REFUSE_UNKNOWN or estimator.handle_unknown != "error":
        return {}
    reason = "it asks for levels that no counted row has: docs/decisions/0004"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.parametrize("name", REFUSE_UNKNOWN)
def test_weights_where_unknown_levels_are_no_error(name):
    check_sample_weight_equivalence_on_dense_data(name, CLASSES[name](**REFUSE_UNKNOWN[name]))


@parametrize_with_checks([exact(cls) for cls in CLASSES.values()], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", surefit.core.certificate.CertificateWarning)
        check(estimator)


@each_estimator
def test_signature_is_scikit_learns_plus_keywords(cls):
    ours = list(parameters_of(cls).values())
    peer = PEERS.get(cls.__name__)
    if peer is None:
        return validate(cls())  # no namesake: the declaration itself must hold for its own defaults
    theirs = list(inspect.signature(peer.__init__).parameters.values())[1:]
    assert [p.name for p in ours[: len(theirs)]] == [p.name for p in theirs]
    for mine, its in zip(ours, theirs, strict=False):
        assert mine.default == its.default or mine.default is its.default, mine.name
        assert mine.keyword_only == (its.kind is its.KEYWORD_ONLY), mine.name
    assert all(p.keyword_only for p in ours[len(theirs) :])


@each_estimator
def test_defaults_are_declared_and_valid(cls):
    validate(cls())


@each_estimator
def test_weight_equals_repetition(cls):
    if cls.__name__ in NAMES_ROWS:
        pytest.skip("its answers name the rows of the fit")
    X, y = table(cls)
    times = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    model = repeatable(cls).fit(*weighted(cls, X, y, times.astype(float)))
    repeated = repeatable(cls).fit(X[rows], None if y is None else y[rows])
    assert_close(outputs(model, X[rows]), outputs(repeated, X[rows]))


@each_estimator
def test_row_order_does_not_matter(cls):
    if cls.__name__ in NAMES_ROWS:
        pytest.skip("its answers name the rows of the fit")
    X, y = table(cls)
    order = np.random.default_rng(2).permutation(len(X))
    one = repeatable(cls).fit(X, y)
    two = repeatable(cls).fit(X[order], None if y is None else y[order])
    assert_close(outputs(one, X), outputs(two, X))


@each_estimator
def test_same_bits_for_any_number_of_threads_and_none_is_left_behind(cls):
    X, y = table(cls, rows=MANY.get(cls.__name__, 5000))
    with surefit.config(n_threads=2):
        two = outputs(lighter(cls).fit(X, y), X)
    python_threads, kernels = set(threading.enumerate()), compiled()
    pool = kernels.pool_size() if kernels else 0
    with surefit.config(n_threads=2):
        again = outputs(lighter(cls).fit(X, y), X)
    assert set(threading.enumerate()) <= python_threads
    assert (kernels.pool_size() if kernels else 0) == pool
    with surefit.config(n_threads=1):
        one = outputs(lighter(cls).fit(X, y), X)
    assert_same_bits(one, two)
    assert_same_bits(two, again)


@each_estimator
def test_partial_fit_equals_fit(cls):
    model = keeping(cls)
    if model is None:
        assert not hasattr(cls, "partial_fit") or "max_iter" in parameters_of(cls), (
            "a partial_fit that is not exact must be iterative"
        )
        return
    X, y = table(cls)
    whole = clone(model).fit(X, y)
    pieces = clone(model)
    first = {"classes": np.unique(y)} if cls.accepts.target == "class" else {}
    for start in range(0, len(X), 17):
        stop = start + 17
        pieces.partial_fit(X[start:stop], None if y is None else y[start:stop], **first)
        first = {}
    assert_close(outputs(whole, X), outputs(pieces, X))


@each_estimator
def test_merge_equals_fit(cls):
    model = keeping(cls)
    if model is None:
        assert not hasattr(cls, "merge")
        return
    X, y = table(cls)
    first = {"classes": np.unique(y)} if cls.accepts.target == "class" else {}
    one = clone(model).partial_fit(X[:25], None if y is None else y[:25], **first)
    two = clone(model).partial_fit(X[25:], None if y is None else y[25:], **first)
    before = outputs(two, X[25:])
    assert_close(outputs(one.merge(two), X), outputs(clone(model).fit(X, y), X))
    assert_same_bits(before, outputs(two, X[25:]))
    with pytest.raises(surefit.core.errors.RefusalError, match="can only merge"):
        one.merge(next(c for c in CLASSES.values() if c is not cls)())


@each_estimator
def test_save_and_load_predict_the_same_bits(cls, tmp_path):
    X, y = table(cls)
    model = cls().fit(X, y)
    surefit.save(model, tmp_path / "model.safetensors")
    again = surefit.load(tmp_path / "model.safetensors")
    assert type(again) is cls
    np.testing.assert_equal(again.get_params(), model.get_params())
    assert_same_bits(outputs(model, X), outputs(again, X))
    assert again.certificate_ == model.certificate_
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


@each_estimator
def test_certificate_holds_and_verify_agrees(cls, tmp_path):
    X, y = table(cls)
    model = cls().fit(X, y)
    assert model.certificate_.holds
    assert surefit.verify(model, X, y).holds
    surefit.save(model, tmp_path / "model.safetensors")
    assert surefit.verify(tmp_path / "model.safetensors", X, y).holds


@each_estimator
def test_verify_catches_a_changed_label_weight_or_number(cls):
    X, y = table(cls)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(X))
    data = weighted(cls, X, y, weight)
    model = exact(cls).fit(*data)
    assert surefit.verify(model, *data).holds
    changed = weight.copy()
    changed[0] *= 3
    assert not surefit.verify(model, *weighted(cls, X, y, changed)).holds
    if y is not None:
        other = y.copy()
        other[0] = next(v for v in y if np.any(v != y[0]))
        assert not surefit.verify(model, *weighted(cls, X, other, weight)).holds
    change_first_number(model)
    assert not surefit.verify(model, *data).holds


@each_estimator
def test_nothing_is_printed_drawn_or_changed(cls, capfd):
    X, y = table(cls)
    X_before, y_before = X.copy(), None if y is None else y.copy()
    np.random.seed(7)  # noqa: NPY002 (the global state is what must stay untouched)
    state, python_state = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    model = cls().fit(X, y)
    outputs(model, X)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert random.getstate() == python_state
    np.testing.assert_array_equal(X, X_before)
    if y is not None:
        np.testing.assert_array_equal(y, y_before)
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


@each_estimator
def test_a_fit_that_fails_changes_nothing(cls):
    X, y = table(cls)
    model = cls().fit(X, y)
    before = dict(model.__dict__)
    broken = np.full((len(X), X.shape[1] + 1), np.inf)
    with pytest.raises(ValueError):  # infinite cells, and a target too short for those who take them
        model.fit(broken, None if y is None else y[1:])
    assert model.__dict__ == before
    assert_same_bits(outputs(model, X), outputs(model, X))


@each_estimator
def test_frames_keep_their_names(cls):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = table(cls)
    names = ["größe", "a b", "c", "d"]
    plain = lighter(cls).fit(X, y)
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = lighter(cls).fit(frame, y)
        assert list(model.feature_names_in_) == names
        # Frames lie column by column in memory, so sums run in another order.
        assert_close(outputs(plain, X), outputs(model, frame), rtol=1e-12)
