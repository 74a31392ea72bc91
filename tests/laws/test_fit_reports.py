"""Certificate, diagnosis, trace and settings: what a fit says of itself, and where."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from tests.toys import DescentMean

import surefit
from surefit.core.certificate import Certificate, CertificateWarning
from surefit.core.diagnosis import Diagnosis, Finding, diagnose
from surefit.core.errors import ParameterError
from surefit.core.registry import members
from surefit.core.trace import Trace


def test_a_certificate_speaks_plainly():
    good = Certificate("optimal", "duality gap", 3e-9, 1e-8)
    assert good.holds
    assert good.statement == (
        "No parameters can lower the objective by more than 3e-09 (duality gap), "
        "within the tolerance of 1e-08."
    )
    bad = Certificate("stationary", "gradient norm", float("nan"), 1e-8)
    assert not bad.holds
    assert "NOT within" in str(bad)
    assert good.view()["holds"] is True


def test_a_certificate_that_does_not_hold_warns_with_the_diagnosis():
    with pytest.warns(
        CertificateWarning, match=r"NOT within.*limit of iterations.*Allow more iterations"
    ) as caught:
        model = DescentMean(max_iter=2).fit([[0.0], [1.0]], [5.0, 7.0])
    assert caught[0].filename == __file__
    assert not model.certificate_.holds
    assert model.diagnosis_.codes() == ("not-converged",)
    assert not surefit.verify(model, [[0.0], [1.0]], [5.0, 7.0]).holds


@pytest.mark.parametrize("rule", members("rule").values(), ids=members("rule").keys())
def test_a_rule_finds_its_case_and_passes_a_clean_one(rule):
    found = list(rule().findings(rule.triggering_case()))
    assert [finding.code for finding in found] == [rule.name]
    assert all(finding.message.endswith(".") and finding.remedy.endswith(".") for finding in found)
    assert all(np.isfinite(list(finding.evidence.values())).all() for finding in found)
    assert list(rule().findings(rule.clean_case())) == []
    assert set(rule.needs) <= set(rule.triggering_case())


def test_a_diagnosis_lists_the_worst_first_and_the_rules_that_ran():
    found = surefit.MeanRegressor().fit([[1.0, 2.0], [1.0, 3.0]], [4.0, 4.0]).diagnosis_
    assert found.codes() == ("constant-target", "constant-columns")
    assert found[1].columns == ("x0",)
    assert "not-converged" in found.ran
    clean = surefit.MeanRegressor().fit([[1.0], [2.0]], [4.0, 5.0]).diagnosis_
    assert len(clean) == 0
    assert str(clean) == f"Nothing found by {len(clean.ran)} rules."
    assert "constant-columns" in clean.ran
    assert diagnose({}) == Diagnosis((), ())
    assert str(Finding("a", "note", "This.", "Do that.")) == "note: This. Do that."


def test_a_trace_records_each_iteration_once():
    trace = Trace(keep_learned=True)
    for iteration in trace.iterations(3):
        trace.record(objective=1.0 / (iteration + 1), passes=iteration, learned=lambda: "now", radius=2.0)
    assert len(trace) == 3
    assert repr(trace) == "Trace(3 iterations, objective 1 -> 0.333)"
    np.testing.assert_allclose(trace.column("objective"), [1, 1 / 2, 1 / 3])
    np.testing.assert_allclose(trace.column("radius"), [2, 2, 2])
    assert np.isnan(trace.column("gap")).all()
    assert trace.last.learned == "now"
    assert (np.diff(trace.column("seconds")) >= 0).all()
    with pytest.raises(RuntimeError, match="exactly once"):
        for _ in trace.iterations(2):
            pass


def test_a_fitted_model_with_its_trace_can_be_pickled():
    model = DescentMean().fit([[0.0], [1.0]], [5.0, 7.0])
    again = pickle.loads(pickle.dumps(model))
    assert len(again.trace_) == len(model.trace_) == model.n_iter_
    assert again.trace_.column("gap")[-1] <= 1e-10


def test_settings_belong_to_their_context():
    default = surefit.current_config()
    with surefit.config(n_threads=1, progress="off") as inner:
        assert surefit.current_config() is inner
        assert inner.n_threads == 1
        seen = []
        thread = threading.Thread(target=lambda: seen.append(surefit.current_config()))
        thread.start()
        thread.join()
        assert seen == [default]
    assert surefit.current_config() == default


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_thread": 2}, "no setting 'n_thread': did you mean 'n_threads'"),
        ({"n_threads": 0}, "n_threads=0 must be None or a whole number of at least 1"),
        ({"n_threads": True}, "n_threads=True"),
        ({"progress": "maybe"}, "progress='maybe' must be one of"),
        ({"engine": 3}, "engine=3 must be the name"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ParameterError, match=message), surefit.config(**settings):
        pass
    assert surefit.current_config() == surefit.core.config.Config()


def test_what_overflowed_is_not_called_orthogonal():
    from surefit.models.linear.squares.orthogonality import orthogonality

    one = np.ones((1, 1))
    assert orthogonality(0 * one, one, np.ones(1), np.ones(1), {}).holds
    for column, pull in [(np.nan, 0.0), (np.inf, 0.0), (1.0, np.nan)]:
        assert not orthogonality(pull * one, one, np.array([column]), np.ones(1), {}).holds
