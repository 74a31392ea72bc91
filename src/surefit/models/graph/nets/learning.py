"""Tables learnt from rows: maximum likelihood, Dirichlet priors, and EM where cells are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import DataError, ParameterError
from surefit.core.public import public
from surefit.data.read import read
from surefit.data.source import is_source
from surefit.engine.base import choose_engine
from surefit.models.graph.nets.bayes_net import BayesNet, ConditionalTable
from surefit.models.graph.nets.directed_graph import DirectedGraph
from surefit.models.graph.nets.structure import chow_liu_tree, hill_climb
from surefit.stats.category_counts import CategoryCounts
from surefit.stats.distinct_rows import DistinctRows

Table = NDArray[np.float64]
_MOST_LEVELS = 200  # of a column: more are numbers or names, not states


@dataclass(frozen=True)
class NetFit:
    """A net learnt from rows, with its log-likelihood and score."""

    net: BayesNet
    log_likelihood: float
    bic: float
    weight: float
    steps: tuple[float, ...] = ()  # the log-likelihood after each iteration of EM


@public
def fit_bayes_net(
    table: Any,
    structure: Any = "hill climbing",
    *,
    prior: float = 0.0,
    score: Literal["bic", "bdeu"] = "bic",
    equivalent_size: float = 10.0,
    max_parents: int = 3,
    max_iter: int = 200,
    tol: float = 1e-8,
) -> NetFit:
    r"""Learn a Bayes net of a table: :math:`p_{ijk} = (N_{ijk} + \alpha) / (N_{ij} + \alpha K_i)`.

    table: a frame, files, or a source; each column is a variable. structure: "hill climbing", "chow-liu", a
    :class:`DirectedGraph`, or its edges. prior: the :math:`\alpha` of every entry; 0 is maximum likelihood,
    which gives equal probabilities below parents' states that no row has. Missing cells are filled by EM
    over their probabilities given the rest of the row.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "u", "u", "v"]})
    >>> fit = fit_bayes_net(rows, [("a", "b")])
    >>> fit.net.probability({"b": "v"}, given={"a": "y"})
    0.5
    """
    if not prior >= 0 or not np.isfinite(prior):
        raise ParameterError(f"prior={prior!r} must be a finite number of at least 0.")
    counts, names, states = counted_rows(table)
    graph = _graph_of(structure, counts, names, score, equivalent_size, max_parents)
    tables = [_estimated(counts, names, states, name, graph.parents[name], prior) for name in names]
    net = BayesNet(*tables)
    steps: list[float] = []
    if not counts.complete:
        net, steps = _em(net, counts, prior, max_iter, tol)
    value = log_likelihood(net, counts)
    bic = value - 0.5 * np.log(counts.weight) * net.n_parameters
    return NetFit(net, value, float(bic), counts.weight, tuple(steps))


def counted_rows(table: Any) -> tuple[DistinctRows, list[str], dict[str, tuple[Any, ...]]]:
    """Read a table in two passes: the levels of each column, then the distinct rows."""
    source = table if is_source(table) else read(table)
    engine, names = choose_engine(source), list(source.schema.names or [])
    found = engine.accumulate(CategoryCounts.of, source)
    if not names:
        names = [f"x{place}" for place in range(len(found.levels))]
    levels = []
    for name, known in zip(names, found.levels, strict=True):
        present = np.array([level for level in known.tolist() if not _missing(level)], dtype=object)
        if len(present) == 0:
            raise DataError(f"the column {name!r} has no value that is not missing: leave it out.")
        if len(present) > _MOST_LEVELS:
            raise DataError(
                f"the column {name!r} has {len(present)} values, too many for states: "
                "put them into bins first."
            )
        levels.append(np.array(present.tolist()) if known.dtype.kind != "O" else present)
    counts = engine.accumulate(partial(DistinctRows.of, levels=levels), source)
    return counts, names, {name: tuple(known.tolist()) for name, known in zip(names, levels, strict=True)}


def log_likelihood(net: BayesNet, counts: DistinctRows) -> float:
    """The sum over rows of the logarithm of their probability; gaps are summed out."""
    whole = (counts.codes >= 0).all(axis=1)
    total = np.zeros(int(whole.sum()))
    codes = counts.codes[whole]
    number = {name: place for place, name in enumerate(net.nodes)}
    for name, table in net.tables.items():
        columns = [number[each] for each in (*table.given, name)]
        with np.errstate(divide="ignore"):
            total += np.log(table.values[tuple(codes[:, columns].T)])
    value = float(counts.counts[whole] @ total) if len(total) else 0.0
    tree = None if whole.all() else net.junction_tree()
    for row, weight in zip(counts.codes[~whole], counts.counts[~whole], strict=True):
        assert tree is not None
        value += float(weight) * tree.log_probability({j: int(k) for j, k in enumerate(row) if k >= 0})
    return value


def _graph_of(
    structure: Any,
    counts: DistinctRows,
    names: list[str],
    score: Literal["bic", "bdeu"],
    equivalent_size: float,
    max_parents: int,
) -> DirectedGraph:
    if isinstance(structure, str):
        if structure == "hill climbing":
            edges = hill_climb(counts, score=score, equivalent_size=equivalent_size, max_parents=max_parents)
        elif structure == "chow-liu":
            edges = chow_liu_tree(counts)
        else:
            raise ParameterError(
                f"structure={structure!r} must be 'hill climbing', 'chow-liu', a graph or its edges."
            )
        return DirectedGraph([(names[a], names[b]) for a, b in edges], names)
    given = structure if isinstance(structure, DirectedGraph) else DirectedGraph(structure)
    unknown = [node for node in given.nodes if node not in names]
    if unknown:
        raise DataError(f"the structure has the node {unknown[0]!r}, but the table has no such column.")
    return DirectedGraph({name: given.parents.get(name, ()) for name in names})


def _estimated(
    counts: DistinctRows,
    names: list[str],
    states: Mapping[str, tuple[Any, ...]],
    name: str,
    parents: Sequence[str],
    prior: float,
) -> ConditionalTable:
    found = counts.table([names.index(each) for each in (*parents, name)])
    return ConditionalTable(name, shares(found, prior), tuple(parents), states[name])


def shares(counts: Table, prior: float) -> Table:
    """Divide counts by their sum over the last axis; where nothing was counted, all are equal."""
    raised = counts + prior
    sums = raised.sum(axis=-1, keepdims=True)
    even = np.full_like(raised, 1.0 / raised.shape[-1])
    return np.divide(raised, sums, out=even, where=sums > 0)


def _em(
    net: BayesNet, counts: DistinctRows, prior: float, max_iter: int, tol: float
) -> tuple[BayesNet, list[float]]:
    """Fill gaps by their probabilities and count again, until the log-likelihood stands still."""
    # Equal tables are a saddle; those of rows without gaps may have zeros, which EM could never leave.
    net = _rebuilt(net, {name: 0.9 * t.values + 0.1 / t.values.shape[-1] for name, t in net.tables.items()})
    number = {name: place for place, name in enumerate(net.nodes)}
    families = {
        name: tuple(number[each] for each in (*table.given, name)) for name, table in net.tables.items()
    }
    steps: list[float] = []
    for _ in range(max_iter):
        expected = {name: np.zeros_like(table.values) for name, table in net.tables.items()}
        value, tree = 0.0, net.junction_tree()
        for row, weight in zip(counts.codes, counts.counts, strict=True):
            known = {place: int(state) for place, state in enumerate(row) if state >= 0}
            calibrated = tree.calibrate(known)
            value += float(weight) * calibrated.log_probability
            for name, family in families.items():
                expected[name] += weight * calibrated.joint(family)
        steps.append(value)
        net = _rebuilt(net, {name: shares(found, prior) for name, found in expected.items()})
        if len(steps) > 1 and steps[-1] - steps[-2] <= tol * abs(steps[-1]):
            break
    return net, steps


def _rebuilt(net: BayesNet, values: Mapping[str, Table]) -> BayesNet:
    return BayesNet(
        *(
            ConditionalTable(name, values[name], table.given, table.states)
            for name, table in net.tables.items()
        )
    )


def _missing(level: Any) -> bool:
    return level is None or (isinstance(level, float) and level != level)
