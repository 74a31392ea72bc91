"""Bounds of what rows can say, and finitely many hypotheses: the courses' numbers and exact counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

import surefit
from surefit import plots
from surefit.core.errors import DataError, ParameterError
from surefit.losses import Squared
from surefit.theory import (
    all_hypotheses,
    averaged_hypotheses,
    cube_edge,
    hoeffding_deviation,
    hoeffding_interval,
    hoeffding_probability,
    hoeffding_rows,
    hypothesis_posterior,
    likelihoods,
    no_free_lunch,
    risks,
    version_space,
)


@pytest.mark.covers("intro_to_ml:1.6", "cs443:8.3", by="theory.hoeffding_probability")
def test_the_bound_of_one_model_has_the_courses_numbers() -> None:
    assert hoeffding_probability(100, 0.1) == pytest.approx(0.2706705665, abs=1e-10)
    assert hoeffding_probability(1000, 0.05) == pytest.approx(0.0134758940, abs=1e-10)
    assert hoeffding_probability(10, 0.01) > 1  # vacuous, and said as it is
    assert hoeffding_deviation(1000, 0.05) == pytest.approx(0.04294694, abs=1e-8)
    assert hoeffding_deviation(4000, 0.05) == pytest.approx(hoeffding_deviation(1000, 0.05) / 2)


@pytest.mark.covers("intro_to_ml:1.6", "cs443:8.4", by="theory.hoeffding_deviation")
def test_the_bound_of_many_models_has_the_courses_numbers() -> None:
    assert hoeffding_probability(500, 0.1, models=16) == pytest.approx(0.0014527978, abs=1e-10)
    assert hoeffding_deviation(1000, 0.05, models=100) == pytest.approx(0.06439740, abs=1e-8)
    assert hoeffding_deviation(1000, 0.05, models=1) == hoeffding_deviation(1000, 0.05)


@pytest.mark.parametrize("models", [1, 7])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 3.0)])
def test_the_three_forms_are_inverses(models: int, low: float, high: float) -> None:
    kept = {"models": models, "low": low, "high": high}
    deviation = hoeffding_deviation(500, 0.03, **kept)
    assert hoeffding_probability(500, deviation, **kept) == pytest.approx(0.03)
    rows = hoeffding_rows(deviation, 0.03, **kept)
    assert rows in (500, 501)  # rounding may ask for one row more, never for fewer
    assert hoeffding_probability(hoeffding_rows(0.2, 0.03, **kept), 0.2, **kept) <= 0.03
    assert hoeffding_probability(hoeffding_rows(0.2, 0.03, **kept) - 1, 0.2, **kept) > 0.03


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_the_bound_is_never_broken_by_coins(share: float) -> None:
    """Exactly, by the binomial distribution: the interval misses the truth no more often than it says."""
    counts = np.arange(201)
    chance = scipy.stats.binom(200, share).pmf(counts)
    missed = [share not in hoeffding_interval(count / 200, 200, level=0.9) for count in counts]
    assert chance @ missed <= 0.1


@pytest.mark.parametrize(
    "given",
    [
        {"rows": 0},
        {"deviation": -1.0},
        {"models": 0},
        {"models": 1.5},
        {"low": 1.0, "high": 1.0},
        {"rows": math.inf},
    ],
)
def test_numbers_without_a_bound_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        hoeffding_probability(**{"rows": 10, "deviation": 0.1, **given})
    with pytest.raises(ParameterError, match="delta=1"):
        hoeffding_rows(0.1, 1.0)
    with pytest.raises(ParameterError, match="is not between"):
        hoeffding_interval(2.0, 10)


@pytest.mark.covers("intro_to_ml:1.2", by="theory.version_space")
def test_labels_halve_the_version_space() -> None:
    every = all_hypotheses(3)
    assert len(every) == 8
    assert len(version_space(every, [0], [1])) == 4
    for seen in range(4):
        assert len(version_space(every, range(seen), [1] * seen)) == 2 ** (3 - seen)
    assert len(version_space(every, [0, 0], [0, 1])) == 0


@pytest.mark.covers("intro_to_ml:1.3", by="losses.Squared")
def test_the_losses_of_the_course() -> None:
    assert risks([[1], [0]], [1]).tolist() == [0.0, 1.0]
    assert risks([[3.0], [1.0]], [1.0], loss="squared").tolist() == [4.0, 0.0]
    # The library's squared loss has the factor one half; the course's has not.
    assert 2 * Squared().value(np.array([1.0]), np.array([3.0]))[0] == 4.0


@pytest.mark.covers("intro_to_ml:1.4", "ml_lecture_notes:5.1", "cs443:8.1", by="theory.risks")
def test_the_empirical_risk_is_the_mean_loss_and_tends_to_the_risk() -> None:
    """The risks of all eight rules on three inputs with a known joint distribution, and 40000 draws of it."""
    inputs, positive = np.array([0.2, 0.3, 0.5]), np.array([0.9, 0.5, 0.2])
    joint = np.column_stack([inputs * (1 - positive), inputs * positive])
    every = all_hypotheses(3)
    true = risks(every, [0, 1], joint)
    np.testing.assert_allclose(true, [0.43, 0.73, 0.43, 0.73, 0.27, 0.57, 0.27, 0.57])
    rng = np.random.default_rng(0)
    x = rng.choice(3, size=40000, p=inputs)
    y = (rng.random(40000) < positive[x]).astype(int)
    empirical = risks(every[:, x], y)
    assert np.abs(empirical - true).max() < hoeffding_deviation(40000, 1e-6, models=8)
    assert np.abs(empirical - true).max() > 0  # the generalisation error is a difference, and not none


@pytest.mark.covers("intro_to_ml:1.5", by="theory.risks")
def test_the_least_empirical_risk_is_found_by_looking_at_all() -> None:
    every = all_hypotheses(3)
    inputs, labels = [0, 0, 0, 1, 2, 2], [1, 1, 0, 1, 0, 0]
    found = risks(every[:, inputs], labels)
    assert every[np.argmin(found)].tolist() == [1, 1, 0]
    assert found.min() == pytest.approx(1 / 6)


@pytest.mark.covers("intro_to_ml:1.11", by="theory.hypothesis_posterior")
def test_the_likeliest_hypothesis_has_the_least_risk() -> None:
    every = all_hypotheses(3)
    seen, labels = np.array([0, 1]), np.array([1, 0])
    likely = likelihoods(every, seen, labels)
    assert set(likely) == {0.0, 1.0}
    np.testing.assert_array_equal(likely == 1, risks(every[:, seen], labels) == 0)
    # With noise every hypothesis is possible, and the order is that of the risks.
    noisy = likelihoods(every, seen, labels, noise=0.1)
    np.testing.assert_array_equal(
        np.argsort(-noisy, kind="stable"), np.argsort(risks(every[:, seen], labels), kind="stable")
    )
    prior = np.arange(1.0, 9.0)
    posterior = hypothesis_posterior(every, seen, labels, prior)
    assert posterior.sum() == pytest.approx(1)
    assert np.argmax(posterior) == max(np.flatnonzero(likely))
    with pytest.raises(DataError, match="no hypothesis is consistent"):
        hypothesis_posterior(every, [0, 0], [0, 1])


@pytest.mark.covers("intro_to_ml:1.12", by="theory.averaged_hypotheses")
def test_the_average_of_hypotheses_has_the_courses_numbers() -> None:
    every = all_hypotheses(3)
    averaged = averaged_hypotheses(every, hypothesis_posterior(every, [0], [1]))
    np.testing.assert_allclose(averaged, [1.0, 0.5, 0.5])


LEARNERS = {
    "tree": surefit.DecisionTreeClassifier(),
    "bayes": surefit.GaussianNB(),
    "logistic": surefit.LogisticRegression(),
    "forest": surefit.RandomForestClassifier(5, random_state=0),
    "majority": surefit.MajorityClassifier(),
}


@pytest.mark.covers("ml_for_data_science:1.6", by="theory.no_free_lunch")
@pytest.mark.parametrize("name", LEARNERS)
def test_no_learner_beats_a_coin_over_all_labellings(name: str) -> None:
    rng = np.random.default_rng(0)
    X, unseen = rng.normal(size=(20, 2)), rng.normal(size=(8, 2))  # shares of eight are exact
    two = np.where(X[:, 0] > 0, "high", "low")
    found = no_free_lunch(LEARNERS[name], X, two, unseen)
    assert len(found) == 2**8
    assert found.mean() == 0.5
    assert sorted(found)[0] == 0.0  # the labelling that contradicts every answer
    assert sorted(found)[-1] == 1.0
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    found = no_free_lunch(LEARNERS[name], X, three, unseen[:4])
    assert found.mean() == pytest.approx(1 / 3, rel=1e-12)
    # A model that has learnt from other rows, or in another way, has other answers and the same mean.
    assert no_free_lunch(LEARNERS[name], X[:10], two[:10], unseen).mean() == 0.5


def test_what_no_classifier_can_answer_is_told() -> None:
    with pytest.raises(DataError, match="one class only"):
        no_free_lunch(surefit.GaussianNB(), [[0.0], [1.0]], [1, 1], [[2.0]])
    with pytest.raises(DataError, match="Ridge must answer with the classes"):
        no_free_lunch(surefit.Ridge(), [[0.0], [1.0], [3.0]], [0, 1, 0], [[2.0]])


EDGES = {
    0.1: [0.1, 0.46415888, 0.63095734, 0.71968567, 0.79432823],
    0.01: [0.01, 0.21544347, 0.39810717, 0.51794747, 0.63095734],
}


@pytest.mark.covers("ml_for_data_science:1.8", by="theory.cube_edge")
def test_the_edge_of_a_neighbourhood_has_the_courses_numbers() -> None:
    for share, edges in EDGES.items():
        found = [cube_edge(share, dimensions) for dimensions in (1, 3, 5, 7, 10)]
        np.testing.assert_allclose(found, edges, atol=5e-9)
    rows = np.random.default_rng(0).random((20_000, 5))
    inside = (rows < cube_edge(0.1, 5)).all(axis=1).mean()
    assert inside == pytest.approx(0.1, abs=5 * math.sqrt(0.1 * 0.9 / 20_000))
    for bad in ((1.5, 2), (0.5, 0)):
        with pytest.raises(ParameterError, match="must be"):
            cube_edge(*bad)


@pytest.mark.covers("ml_for_data_science:1.8", by="plots.plot_cube_edges")
def test_the_chart_of_edges_has_a_line_for_each_number_of_columns() -> None:
    chart = plots.plot_cube_edges((1, 3, 10))
    drawn = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    for columns in (1, 3, 10):
        line = {row["share"]: row["edge"] for row in drawn if row["columns"] == str(columns)}
        assert len(line) == 101
        assert line[0.1] == pytest.approx(cube_edge(0.1, columns))
        assert list(line.values()) == sorted(line.values())
    with pytest.raises(ParameterError, match="give 1 to 20"):
        plots.plot_cube_edges(())


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="one row a hypothesis"):
        risks([0, 1], [0, 1])
    with pytest.raises(DataError, match="give one each"):
        risks([[0, 1]], [0])
    with pytest.raises(DataError, match="inputs, labels"):
        risks([[0, 1]], [0, 1], np.ones((3, 2)))
    with pytest.raises(ParameterError, match="loss='magic'"):
        risks([[0]], [0], loss="magic")
    with pytest.raises(ParameterError, match="noise"):
        likelihoods([[0]], [0], [0], noise=0.7)
    with pytest.raises(ParameterError, match="too many"):
        all_hypotheses(40)
