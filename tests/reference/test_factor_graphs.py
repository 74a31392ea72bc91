"""Factor graphs and random fields against enumeration and the course's numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from surefit import FactorGraph, MarkovRandomField
from surefit.errors import DataError, RefusalError


def flat(found):
    return np.concatenate([list(law.values()) for law in found.marginals.values()])


@pytest.mark.covers("cs443:22.6", by="FactorGraph")
def test_the_forest_of_the_course():
    graph = FactorGraph(
        {
            "a": (["X1"], [1, 2]),
            "b": (["X2", "X3"], [[1, 2], [3, 4]]),
            "c": (["X3", "X4"], [[5, 6], [7, 8]]),
        }
    )
    assert graph.is_forest
    found = graph.sum_product(keep_messages=True)
    assert found.exact
    assert np.exp(found.log_partition) == pytest.approx(402)
    expected = {"X1": (134, 268), "X2": (123, 279), "X3": (132, 270), "X4": (186, 216)}
    for name, weights in expected.items():
        assert list(found.marginals[name].values()) == pytest.approx(np.array(weights) / 402, abs=1e-14)
    assert found.marginals["X2"][0] == pytest.approx(0.30597015, abs=5e-9)
    assert len(found.sent) == 2 * 5  # every edge, in both directions
    best = graph.max_product()
    assert best.states == {"X1": 1, "X2": 1, "X3": 1, "X4": 1}
    assert np.exp(best.log_partition) == pytest.approx(2 * 4 * 8)
    assert flat(graph.brute_force()) == pytest.approx(flat(found))
    assert found.certificate.holds


def random_graph(rng, variables, factors, largest=3):
    scopes = [
        rng.choice(variables, min(variables, int(rng.integers(1, largest + 1))), replace=False)
        for _ in range(factors)
    ]
    sizes = rng.integers(2, 4, variables)
    return FactorGraph(
        [([f"x{v}" for v in scope], rng.random([sizes[v] for v in scope]) + 0.05) for scope in scopes]
    )


@pytest.mark.parametrize("seed", range(15))
def test_messages_are_exact_on_forests_and_the_tree_everywhere(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(1, 7)), int(rng.integers(1, 7)))
    truth = graph.brute_force()
    tree = graph.junction_tree()
    assert flat(tree) == pytest.approx(flat(truth), abs=1e-12)
    assert tree.log_partition == pytest.approx(truth.log_partition, abs=1e-10)
    found = graph.sum_product()
    assert found.exact == graph.is_forest
    if found.exact:
        assert flat(found) == pytest.approx(flat(truth), abs=1e-12)
        assert found.log_partition == pytest.approx(truth.log_partition, abs=1e-10)
        best = graph.max_product()
        largest = 0.0
        for x in itertools.product(*graph.states.values()):
            chosen = dict(zip(graph.variables, x, strict=True))
            entries = [f[tuple(chosen[v] for v in f.names)] for f in graph.factors.values()]
            largest = max(largest, float(np.prod(entries)))
        assert np.exp(best.log_partition) == pytest.approx(largest, rel=1e-12)


def test_ties_of_largest_products_agree():
    graph = FactorGraph([(["a", "b"], [[1, 0], [0, 1]]), (["b", "c"], [[0, 1], [1, 0]])])
    assert graph.max_product().states == {"a": 0, "b": 0, "c": 1}


def test_a_loop_is_said_to_be_approximate():
    agree = [[2.0, 1.0], [1.0, 2.0]]
    loop = FactorGraph([(["a", "b"], agree), (["b", "c"], agree), (["c", "a"], agree), (["a"], [1.0, 3.0])])
    found = loop.sum_product(damping=0.2)
    assert not found.exact
    assert found.converged
    assert "approximate" in found.certificate.measure
    truth = loop.brute_force()
    assert 1e-4 < np.abs(flat(found) - flat(truth)).max() < 0.1
    short = loop.sum_product(max_rounds=1)
    assert not short.converged
    assert not short.certificate.holds


def test_bad_factors_end_in_a_sentence():
    with pytest.raises(DataError, match="negative or not finite"):
        FactorGraph([(["a"], [1.0, -1.0])])
    with pytest.raises(DataError, match="elsewhere it has 2"):
        FactorGraph([(["a"], [1.0, 1.0]), (["a", "b"], np.ones((3, 2)))])
    with pytest.raises(DataError, match="is 0"):
        FactorGraph([(["a"], [1.0, 0.0]), (["a"], [0.0, 1.0])]).sum_product()
    with pytest.raises(RefusalError, match="above 1048576"):
        FactorGraph([([f"x{k}"], [1.0, 1.0]) for k in range(21)]).brute_force()


def enumerated(field):
    nodes, states = field.unary.shape
    rows = np.array(list(itertools.product(range(states), repeat=nodes)))
    logs = np.array([field.log_potential(x) for x in rows])
    weights = np.exp(logs - logs.max())
    marginals = np.array([[weights[rows[:, v] == s].sum() for s in range(states)] for v in range(nodes)])
    total = logs.max() + np.log(weights.sum())
    return marginals / weights.sum(), total, rows[np.argmax(logs)], logs.max()


@pytest.mark.covers("cs443:22.7", by="MarkovRandomField")
def test_a_random_field_on_a_grid():
    rng = np.random.default_rng(2)
    field = MarkovRandomField.grid(rng.normal(size=(3, 3, 2)), coupling=0.7)
    assert len(field.edges) == 12
    marginals, total, best, highest = enumerated(field)
    assert MarkovRandomField.marginals(field) == pytest.approx(marginals, abs=1e-12)
    assert field.log_partition() == pytest.approx(total, abs=1e-10)
    assert field.log_potential(field.most_probable()) == pytest.approx(highest)
    assert (field.most_probable() == best).all()
    local = field.conditional_modes()
    assert field.log_potential(field.unary.argmax(axis=1)) <= field.log_potential(local) <= highest + 1e-12
    mean = field.mean_field()
    assert mean.bound <= total
    assert mean.residual < 1e-8
    assert field.check(mean.marginals) < 0.2
    near, messages = field.loopy()
    assert not messages.exact
    assert field.check(near) < 0.05
    drawn = field.gibbs(8000, random_state=1)
    shares = np.stack([(drawn == s).mean(axis=0) for s in (0, 1)], axis=1)
    assert shares == pytest.approx(marginals, abs=0.05)


def test_bad_fields_end_in_a_sentence():
    with pytest.raises(DataError, match="outside of 0 to 1"):
        MarkovRandomField(np.zeros((2, 2)), [(0, 5)], np.zeros((2, 2)))
    with pytest.raises(DataError, match="itself"):
        MarkovRandomField(np.zeros((2, 2)), [(1, 1)], np.zeros((2, 2)))
    with pytest.raises(DataError, match="pairwise has the shape"):
        MarkovRandomField(np.zeros((2, 2)), [(0, 1)], np.zeros((3, 3)))
