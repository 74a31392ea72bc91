"""Bayes nets against enumeration, the course's numbers, and independence measured on tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import surefit
from surefit import BayesNet, ConditionalTable, DirectedGraph, fit_bayes_net
from surefit.errors import DataError, FormatError, RefusalError
from surefit.models.graph.nets.bif import parsed, written

OR = [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]


def random_net(n, rng, most_parents=3, most_states=3, zeros=False):
    sizes = rng.integers(2, most_states + 1, n)
    tables = []
    for child in range(n):
        count = min(child, int(rng.integers(0, most_parents + 1)))
        parents = sorted(rng.choice(child, count, replace=False)) if count else []
        values = rng.dirichlet(np.ones(sizes[child]), size=[sizes[p] for p in parents] or None)
        if zeros:
            values = np.where(values < 0.2, 0.0, values)
            values = values / values.sum(axis=-1, keepdims=True)
        tables.append(ConditionalTable(f"x{child}", values, tuple(f"x{p}" for p in parents)))
    return BayesNet(*(tables[k] for k in rng.permutation(n)))


@pytest.mark.parametrize("seed", range(12))
def test_answers_are_those_of_the_whole_table(seed):
    rng = np.random.default_rng(seed)
    net = random_net(int(rng.integers(1, 9)), rng, zeros=seed % 3 == 0)
    joint, names = net.joint().values, net.nodes
    assert joint.sum() == pytest.approx(1)
    drawn = np.unravel_index(rng.choice(joint.size, p=joint.ravel() / joint.sum()), joint.shape)
    known = rng.permutation(len(names))[: rng.integers(0, len(names) + 1)]
    evidence = {names[k]: int(drawn[k]) for k in known}
    part = np.zeros_like(joint)
    index = tuple(evidence.get(name, slice(None)) for name in names)
    part[index] = joint[index]
    marginals = net.marginals(evidence)
    for place, name in enumerate(names):
        others = tuple(axis for axis in range(len(names)) if axis != place)
        expected = part.sum(axis=others) / part.sum()
        assert list(marginals[name].values()) == pytest.approx(expected, abs=1e-12)
        assert net.query([name], evidence).values == pytest.approx(expected, abs=1e-12)
    assert net.certificate(evidence).holds
    assert net.probability(evidence) == pytest.approx(part.sum(), abs=1e-12)
    states, chance = net.most_probable(evidence)
    assert chance == pytest.approx(part.max(), rel=1e-12)
    assert part[tuple(states[name] for name in names)] == pytest.approx(part.max(), rel=1e-12)
    soft = {names[0]: rng.random(joint.shape[0])}
    weighted = part * soft[names[0]].reshape(-1, *[1] * (len(names) - 1))
    if weighted.sum() > 0:
        expected = weighted.sum(axis=tuple(range(1, len(names)))) / weighted.sum()
        assert list(net.marginal(names[0], evidence, soft=soft).values()) == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.parametrize("seed", range(6))
def test_separation_is_independence_of_random_tables(seed):
    rng = np.random.default_rng(seed)
    net = random_net(6, rng, most_states=2)
    joint, names = net.joint(), net.nodes
    for _ in range(6):
        a, b, *rest = rng.permutation(names)
        given = list(rest[: rng.integers(0, 4)])
        found = net.d_separated(a, b, given)
        assert bool(found) == (not found.open_paths) == bool(net.d_separated(b, a, given))
        table = joint.marginal([a, b, *given]).values
        product = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
        apart = np.abs(table * table.sum(axis=(0, 1), keepdims=True) - product).max()
        assert bool(found) == (apart < 1e-12)


@pytest.mark.covers("cs443:22.1", by="BayesNet")
def test_factorisation_and_cycles():
    half = [[0.5, 0.5]] * 2
    ring = [ConditionalTable(f"X{k}", half, f"X{k % 3 + 1}") for k in (1, 2, 3)]
    with pytest.raises(DataError, match="form the cycle X1 -> X3 -> X2 -> X1: reverse or remove one"):
        BayesNet(*ring)
    rng = np.random.default_rng(0)

    def table(name, *above):
        return ConditionalTable(name, rng.dirichlet([1, 1], size=[2] * len(above) or None), above)

    full = BayesNet(table("X1"), table("X2", "X1"), table("X3", "X1", "X2"), table("X4", "X1", "X2", "X3"))
    assert full.joint().values.sum() == pytest.approx(1)
    assert full.factorisation() == "p(X1) p(X2 | X1) p(X3 | X1, X2) p(X4 | X1, X2, X3)"
    less = BayesNet(table("X1"), table("X2", "X1"), table("X3", "X2"), table("X4", "X1", "X2", "X3"))
    for x1 in (0, 1):  # p(X3 | X1, X2) = p(X3 | X2)
        given = {"X1": x1, "X2": 1}
        assert less.marginal("X3", given) == pytest.approx(less.marginal("X3", {"X2": 1}))
    assert less.chain_rule(["X3", "X2", "X1", "X4"]).startswith("p(X3) p(X2 | X3) p(X1 | X2)")
    assert full.n_parameters == 15
    assert less.n_parameters == 13


@pytest.mark.covers("cs443:22.2", by="BayesNet")
@pytest.mark.covers("cs443:22.2", by="DirectedGraph.pattern")
def test_elementary_patterns_and_explaining_away():
    net = BayesNet(
        ConditionalTable("X1", [0.9, 0.1]),
        ConditionalTable("X2", [0.9, 0.1]),
        ConditionalTable("X3", OR, ["X1", "X2"]),
    )
    assert net.marginal("X1", {"X3": 1})[1] == pytest.approx(0.52631579, abs=5e-9)
    assert net.marginal("X1", {"X3": 1, "X2": 1})[1] == pytest.approx(0.1)
    graph = DirectedGraph([("c", "a"), ("c", "b")])
    assert graph.pattern("a", "c", "b").startswith("tail-to-tail")
    assert not graph.d_separated("a", "b")
    assert graph.d_separated("a", "b", "c")
    chain = DirectedGraph([("a", "c"), ("c", "b")])
    assert chain.pattern("b", "c", "a").startswith("head-to-tail (a -> c -> b)")
    assert chain.d_separated("a", "b", ["c"])
    collider = DirectedGraph([("a", "c"), ("b", "c")])
    assert DirectedGraph.pattern(collider, "a", "c", "b").startswith("head-to-head")
    assert collider.d_separated("a", "b")
    assert not collider.d_separated("a", "b", ["c"])


@pytest.mark.covers("cs443:22.3", by="DirectedGraph.d_separated")
def test_separation_in_the_example_graph():
    graph = DirectedGraph([("X1", "X2"), ("X2", "X3"), ("X4", "X3")])
    assert graph.d_separated("X1", "X3", ["X2"])
    assert graph.d_separated("X3", "X1", ["X2"])
    assert graph.d_separated("X4", "X1", ["X2"])
    assert not graph.d_separated("X4", "X1", ["X3"])
    assert graph.d_separated("X4", "X1", ["X2", "X3"])
    assert graph.d_separated("X4", "X1")
    below = DirectedGraph([*graph.edges, ("X3", "X5")])
    found = below.d_separated("X4", "X1", ["X5"])
    assert not found
    assert [path.nodes for path in found.open_paths] == [("X4", "X3", "X2", "X1")]
    assert "blocked by X3, a common effect" in str(graph.d_separated("X4", "X1"))


@pytest.mark.covers("cs443:22.4", by="BayesNet.markov_blanket")
def test_the_blanket_separates_a_node_from_all_others():
    rng = np.random.default_rng(4)

    def table(name, *above):
        return ConditionalTable(name, rng.dirichlet([1, 1], size=[2] * len(above) or None), above)

    net = BayesNet(table("X1"), table("X2", "X1"), table("X4"), table("X3", "X2", "X4"), table("X5", "X3"))
    blanket = BayesNet.markov_blanket(net, "X2")
    assert sorted(blanket) == ["X1", "X3", "X4"]
    assert net.d_separated("X2", ["X5"], blanket)
    known = {"X1": 0, "X3": 1, "X4": 0}
    assert net.marginal("X2", {**known, "X5": 1}) == pytest.approx(net.marginal("X2", known))


@pytest.mark.covers("cs443:22.5", by="BayesNet.sample")
@pytest.mark.covers("cs443:22.5", by="BayesNet.likelihood_weighting")
def test_samples_give_marginals():
    net = random_net(6, np.random.default_rng(5))
    rows = BayesNet.sample(net, 20_000, random_state=1).to_pandas()
    for name in net.nodes:
        for state, chance in net.marginal(name).items():
            spread = math.sqrt(chance * (1 - chance) / len(rows))
            assert abs((rows[name] == state).mean() - chance) < 5 * spread + 1e-12
    evidence = {"x5": 0}
    for state, chance in net.marginal("x0", evidence).items():
        found = BayesNet.likelihood_weighting(net, {"x0": state}, evidence, n=20_000)
        assert abs(found.value - chance) < 5 * found.standard_error
        assert 0 < found.effective_draws <= 20_000
    assert (net.sample(50, evidence=evidence).to_pandas()["x5"] == 0).all()


def test_interventions_cut_the_arrows_into_a_node():
    net = BayesNet(
        ConditionalTable("season", [0.5, 0.5], states=("dry", "wet")),
        ConditionalTable("sprinkler", [[0.2, 0.8], [0.9, 0.1]], "season"),
        ConditionalTable("grass", [[0.9, 0.1], [0.1, 0.9]], "sprinkler"),
    )
    assert net.marginal("season", {"sprinkler": 1})["dry"] > 0.8
    acted = net.do(sprinkler=1)
    assert acted.marginal("season")["dry"] == pytest.approx(0.5)
    assert acted.marginal("grass")[1] == pytest.approx(0.9)


def test_sensitivity_of_an_answer_to_an_entry():
    net = random_net(5, np.random.default_rng(6))
    target, evidence = {net.nodes[0]: 0}, {net.nodes[3]: 1}
    name = net.nodes[2]
    table = net.tables[name]
    above = dict.fromkeys(table.given, 0)
    found = net.sensitivity(target, (name, 1, above), evidence)
    assert found(found.entry) == pytest.approx(net.probability(target, given=evidence), rel=1e-10)

    def moved(theta):
        values = np.array(table.values)
        row = values[(0,) * len(above)]
        row[np.arange(len(row)) != 1] *= (1 - theta) / (1 - row[1])
        row[1] = theta
        tables = {**net.tables, name: ConditionalTable(name, values, table.given)}
        return BayesNet(*tables.values()).probability(target, given=evidence)

    assert found(0.37) == pytest.approx(moved(0.37), rel=1e-10)
    step = 1e-5
    slope = (moved(found.entry + step) - moved(found.entry - step)) / (2 * step)
    assert found.derivative == pytest.approx(slope, abs=1e-8)


def test_wide_nets_are_refused_before_memory_is_taken():
    rng = np.random.default_rng(0)
    above = tuple(f"a{k}" for k in range(16))
    roots = [ConditionalTable(name, [0.25] * 4) for name in above]
    pairs = [
        ConditionalTable(f"b{i}.{j}", rng.dirichlet([1, 1], size=(4, 4)), (above[i], above[j]))
        for i in range(16)
        for j in range(i)
    ]
    net = BayesNet(*roots, *pairs)
    assert net.width == 15
    with pytest.raises(RefusalError, match="width 15"):
        net.marginal("a0")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ConditionalTable("a", [[0.5, 0.5], [0.5, 0.6]], "b"),
            r"row \(1,\) of the table of 'a' sums to 1.1",
        ),
        (lambda: ConditionalTable("a", [1.5, -0.5]), "no probability"),
        (
            lambda: BayesNet(
                ConditionalTable("wet", [[1, 0], [0, 1]], "rian"), ConditionalTable("rain", [1, 0])
            ),
            "'rain'",
        ),
        (lambda: BayesNet(ConditionalTable("a", [0.5, 0.5])).marginal("b"), "no node 'b'"),
        (lambda: BayesNet(ConditionalTable("a", [0.5, 0.5])).marginal("a", {"a": 7}), "no state 7"),
        (lambda: BayesNet(ConditionalTable("a", [1, 0])).marginal("a", {"a": 1}), "probability 0"),
        (lambda: BayesNet(), "at least one table"),
        (lambda: DirectedGraph([("a", "a")]), "not its own parent"),
    ],
)
def test_bad_nets_and_questions_end_in_a_sentence(make, words):
    with pytest.raises(DataError, match=words):
        make()


def test_files_keep_every_digit():
    net = random_net(7, np.random.default_rng(8))
    again = parsed(written(net))
    assert again.nodes == net.nodes
    for name, table in net.tables.items():
        assert (again.tables[name].values == table.values).all()
        assert again.tables[name].given == table.given


def test_files_of_others_are_read(tmp_path):
    text = """// a comment
network "wet grass" { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete[2] { no, yes }; property position = (1, 2) ; }
probability ( rain ) { table 0.8, 0.2 ; }
probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.01, 0.99; }
"""
    file = tmp_path / "net.bif"
    file.write_text(text)
    net = surefit.read_bif(file)
    assert net.marginal("wet")["yes"] == pytest.approx(0.8 * 0.1 + 0.2 * 0.99)
    surefit.write_bif(net, file)
    assert surefit.read_bif(file).marginal("wet") == net.marginal("wet")
    for wrong, words in (
        (text.replace("(yes) 0.01, 0.99;", ""), r"no row for \(yes\)"),
        (text.replace("0.99", "0.98"), "sums to 0.99"),
        (text.replace("0.99", "much"), "where numbers belong"),
        (text.replace("wet | rain", "wet | snow"), "'snow', which is no variable"),
        ("nothing", "no probability block"),
    ):
        with pytest.raises((FormatError, DataError), match=words):
            parsed(wrong)
    with pytest.raises(FormatError, match="cannot be read"):
        surefit.read_bif(tmp_path / "none.bif")


def test_tables_are_learnt_by_counting():
    rng = np.random.default_rng(9)
    net = random_net(5, rng)
    rows = net.sample(3000, random_state=3).to_pandas()
    fit = fit_bayes_net(rows, net.graph)
    for name, table in fit.net.tables.items():
        columns = [*table.given, name]
        counts = np.zeros(table.values.shape)
        np.add.at(counts, tuple(rows[column].to_numpy() for column in columns), 1.0)
        seen = counts.sum(axis=-1) > 0
        expected = counts[seen] / counts[seen].sum(axis=-1, keepdims=True)
        assert table.values[seen] == pytest.approx(expected, abs=1e-12)
    each = [fit.net.log_joint(row) for row in rows.head(200).to_dict("records")]
    short = fit_bayes_net(rows.head(200), net.graph)
    assert short.log_likelihood >= sum(each)
    smooth = fit_bayes_net(pd.DataFrame({"a": ["x", "x", "y"]}), [], prior=1.0).net
    assert smooth.marginal("a") == {"x": pytest.approx(3 / 5), "y": pytest.approx(2 / 5)}


def test_structures_are_found_and_trees_are_the_best():
    rng = np.random.default_rng(10)
    net = random_net(6, rng, most_parents=2)
    rows = net.sample(20_000, random_state=4).to_pandas()
    truth = fit_bayes_net(rows, net.graph)
    for score in ("bic", "bdeu"):
        found = fit_bayes_net(rows, score=score)
        assert found.bic >= truth.bic - 1e-6 * abs(truth.bic)
    tree = fit_bayes_net(rows, "chow-liu")
    assert len(tree.net.graph.edges) == 5
    for _ in range(20):  # no other tree has a larger likelihood
        order = rng.permutation(net.nodes)
        other = [(str(order[rng.integers(0, k)]), str(order[k])) for k in range(1, 6)]
        assert fit_bayes_net(rows, other).log_likelihood <= tree.log_likelihood + 1e-6


def test_gaps_are_filled_by_em():
    rng = np.random.default_rng(11)
    net = BayesNet(
        ConditionalTable("a", [0.3, 0.7]),
        ConditionalTable("b", [[0.9, 0.1], [0.2, 0.8]], "a"),
        ConditionalTable("c", [[0.8, 0.2], [0.1, 0.9]], "b"),
    )
    rows = net.sample(4000, random_state=5).to_pandas().astype(object)
    holes = rows.mask(rng.random(rows.shape) < 0.2)
    fit = fit_bayes_net(holes, net.graph)
    assert (np.diff(fit.steps) > -1e-9 * abs(fit.steps[-1])).all()
    assert fit.log_likelihood >= fit.steps[-1] - 1e-6
    for name, table in net.tables.items():
        assert fit.net.tables[name].values == pytest.approx(table.values, abs=0.05)


def test_files_and_frames_learn_the_same(tmp_path):
    rows = random_net(4, np.random.default_rng(12)).sample(500, random_state=6).to_pandas()
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    one, two = fit_bayes_net(rows), fit_bayes_net(str(path))
    assert one.net.graph.edges == two.net.graph.edges
    assert one.bic == pytest.approx(two.bic)
    with pytest.raises(DataError, match="too many for states"):
        fit_bayes_net(pd.DataFrame({"a": np.arange(500.0)}))
