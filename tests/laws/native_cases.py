"""A case for every compiled kernel: what to call its face with, and what it writes."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import scipy.sparse

from surefit.core.native.centres.nearest_centre import Bounds
from surefit.core.native.kernel.kernel_sums import PlainKernel
from surefit.core.native.kernel.smo import DualProblem
from surefit.core.native.linear.coefficient_set import CoefficientSet
from surefit.core.native.linear.dual_cd import DualPlan
from surefit.core.native.linear.sampled_steps import Samples
from surefit.core.native.linear.sgd import SgdPlan, SgdState
from surefit.core.native.neighbours.point_tree import grow_point_tree
from surefit.core.native.scores.density_sums import density_tree
from surefit.core.native.sums.mixture_sums import NormalMixture
from surefit.core.native.trees.boost_apply import BoostedNodes
from surefit.core.native.trees.boost_grow import BoostRules, BoostTable, BoostWork, boost_grow
from surefit.core.native.trees.forest_grow import Sample, forest_grow
from surefit.core.native.trees.level_sums import LevelRules, LevelTree, level_sums
from surefit.core.native.trees.tree_grow import Rules, tree_grow

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20_000, 12))
SPARSE = scipy.sparse.random(20_000, 12, density=0.2, format="csr", random_state=0)
SQUARE = np.triu(RNG.standard_normal((40, 40))) + 20 * np.eye(40)

WEIGHT = np.arange(20_000) % 3.0
GRAM = X.T @ X / len(X)
FREE = np.full(12, np.inf)
TABLE = SimpleNamespace(l1=np.full(12, 0.01), l2=np.full(12, 0.1), lower=-FREE, upper=FREE)
CHANCES = X**2 / (X**2).max()
POSITIVE = np.abs(X[:, 0]) + 0.1
TARGET = X @ np.linspace(-1.0, 1.0, 12) + 1.0
MIXTURE = NormalMixture(X[:2], np.stack([np.triu(SQUARE[:12, :12]) / 20] * 2), np.array([-1.0, -2.0]))


class Writing:
    """Arguments of a kernel that writes: ``make`` returns fresh ones, and those that it changes."""

    def __init__(self, make):
        self.make = make


class Options:
    """Arguments some of which go by name."""

    def __init__(self, *given, **named):
        self.given, self.named = given, named


def into(*arguments, shape):
    def make():
        out = np.zeros(shape)
        return (*arguments, out), {}, [out]

    return Writing(make)


def gram_of_columns():
    G = np.zeros((12, 12))
    return (np.asfortranarray(X), np.arange(12), G, 0, X.mean(axis=0), WEIGHT, 0.5), {}, [G]


def dual_slopes():
    rows, at = X[:200].copy(), np.sign(TARGET[:200])
    u, w, end = np.zeros(200), np.zeros(12), np.full(200, np.inf)
    low, high = np.where(at > 0, -end, 0.0), np.where(at > 0, 0.0, end)
    plan = DualPlan(0.0, 0.5, 400.0)
    return (rows, at, low, high, plan, u, w), {"weight": WEIGHT[:200], "tolerance": 0.0, "most": 150}, [w]


def class_slopes():
    a, w = np.zeros((30, 3)), np.zeros((3, 12))
    arguments = X[:30].copy(), np.arange(30) % 3, WEIGHT[:30] + 0.1, a, w
    return arguments, {"tolerance": 1e-14, "most": 50_000}, [w]


def quadratic():
    w, gradient = np.zeros(12), np.zeros(12)
    arguments = GRAM, X.T @ TARGET / len(X), float(TARGET @ TARGET) / len(X), TABLE, w, gradient
    return arguments, {"tolerance": -1.0, "most": 200}, [w]


def columns():
    w, residual = np.zeros(12), TARGET.copy()
    arguments = (
        np.asfortranarray(X),
        np.arange(12),
        np.zeros(12),
        np.diagonal(GRAM).copy(),
        TABLE,
        w,
        residual,
    )
    return arguments, {"tolerance": -1.0, "most": 200}, [w, residual]


def tasks():
    W, gradient = np.zeros((12, 2)), np.zeros((12, 2))
    C = np.column_stack([X.T @ TARGET, X.T @ X[:, 0]]) / len(X)
    goal = {"outside": float(np.mean(TARGET**2)), "tolerance": 0.0, "most": 500}
    return (GRAM, C, TABLE.l1, TABLE.l2, W, gradient), goal, [W]


FEW = X[:120].copy()
DENSITY = density_tree(X)
LABELS = (TARGET[:120] > 1.0).astype(np.int64)[:, None]
TREE = tree_grow(FEW, LABELS, criterion="gini", classes=(2,))


HELD = CoefficientSet.of(np.full(12, -0.02), np.full(12, 0.05), [[2, 3, 4], [9, 7]])


def epoch(within=None):
    state = SgdState.start(12, 0.01)
    plan = SgdPlan("logistic", alpha=0.01, l1_ratio=0.5, penalised=True, average=1, within=within)
    return (
        (FEW, 2.0 * LABELS[:, 0] - 1.0, WEIGHT[:120], np.arange(120), plan, state),
        {},
        [state.w, state.mean],
    )


def steps():
    w, memory, mean = np.zeros(12), np.zeros(120), np.zeros(12)
    samples = Samples(FEW, TARGET[:120].copy(), np.ones(120), "squared")
    options = {"memory": memory, "mean": mean, "renew": True}
    return (samples, np.arange(300) % 120, np.full(300, 0.01), TABLE, w), options, [w, memory, mean]


def shuffled():
    change = np.zeros((12, 2, 120, 1))
    order = np.stack([np.roll(np.arange(120), 7), np.arange(120)[::-1]])
    return (TREE, TREE.impurity[:, None].copy(), FEW, order, change), {}, [change]


CODES = np.asfortranarray(np.clip(64 * X + 100, 0, 200).astype(np.uint8))


def boosted():
    work, table = BoostWork(20_000), BoostTable.of(CODES, [201] * 12, [False] * 12)
    bounds = float(np.abs(TARGET).max()), 1.0, 20_000.0
    tree = boost_grow(table, TARGET, np.ones(20_000), bounds, BoostRules(), work, _threads=1)
    score = np.zeros((1, 20_000))
    nodes = BoostedNodes(
        tree.column,
        np.where(tree.column < 0, tree.value, tree.bin),
        tree.left,
        tree.right,
        tree.missing_left,
        np.zeros_like(tree.missing_left),
        np.empty(0, np.uint64),
        np.zeros(1, np.int64),
    )
    return table, bounds, tree, work, nodes, score


def boost_growing():
    table, bounds, _, work, _, _ = boosted()
    return (table, TARGET, np.ones(20_000), bounds, BoostRules(max_leaves=5), work), {}, [work.rows]


def boost_updating():
    _, _, tree, work, _, score = boosted()
    return (tree, tree.value, work, score[0]), {}, [score]


def boost_applying():
    *_, nodes, score = boosted()
    return (nodes, CODES, score, 0, 1), {}, [score]


def levelled():
    slot, terms = (np.arange(20_000) % 3 - 1).astype(np.int32), np.ones((20_000, 2), dtype=np.int64)
    terms[:, 0], terms[:, 1] = np.rint(TARGET * 1024), (1 << 20) + 1
    return CODES, np.full(12, 201), slot, terms, 2


def level_tree():
    _, _, tree, *_ = boosted()
    none = np.zeros(12, np.uint8)
    return LevelTree(tree.column, tree.bin, tree.left, tree.right, tree.missing_left, tree.levels, none)


def level_search():
    none, few = np.zeros(12, np.uint8), 3
    codes, counts, slot, terms, slots = levelled()
    sums = level_sums(codes[:, :few].copy("F"), counts[:few], slot, terms, slots)
    rules = LevelRules(counts[:few], none[:few], none[:few], (), (1024.0, 1.0, 20), 5, 0.0)
    bounds = np.array([[-1.0, -np.inf, np.inf]] * slots)
    return sums[:, :, 0], bounds, np.ones((slots, few), np.uint8), rules


SEEDS = np.array([3, 9], dtype=np.uint64)
FOREST = forest_grow(FEW, LABELS, SEEDS, criterion="gini", classes=(2,))
EDGES = [np.linspace(-2.0, 2.0, 200)] * 12


NEAR = X[:150, :3]
APART = np.sqrt(((NEAR[:, None] - NEAR) ** 2).sum(axis=2))


def squared():
    square = APART.copy()  # it is used up
    return (square, "complete"), {}, []


LINKS = (np.arange(149), np.arange(1, 150), np.diagonal(APART, 1).copy())
POINTS = grow_point_tree(X[:, :3].copy())
WORDS = ["".join(chr(97 + (i * j) % 5) for j in range(i % 9)) for i in range(300)]
CENTRES, LABELS_OF_ROWS = X[:9].copy(), (np.arange(20_000) % 9).astype(np.int32)


def nearest(columns=0):
    bounds = None if columns == 0 else Bounds.of(len(X), columns)
    labels = np.zeros(len(X), dtype=np.int32)
    return (X, CENTRES, labels, bounds), {}, [labels]


def summed():
    high, low = np.zeros((9, 13)), np.zeros((9, 13))
    return (X, WEIGHT, None, LABELS_OF_ROWS, high, low), {}, [high]


def swapped():
    medoids = np.arange(3)
    return (np.abs(np.subtract.outer(X[:90, 0], X[:90, 0])), WEIGHT[:90], medoids, 5), {}, [medoids]


def accepted():
    closest = np.full(len(X), np.inf, dtype=np.float32)
    return (X, WEIGHT, np.zeros(12), 1.0, X[0].copy(), closest), {}, [closest]


RBF, COEF = PlainKernel("rbf", gamma=0.5), X[400:800, :3].T.copy()
SIGN, FEW_TARGETS, MOST = np.sign(TARGET[:120]), TARGET[:120] / 4, 0.8 * np.ones(120)
CLASSIFY = DualProblem(-SIGN, -SIGN, np.minimum(MOST * SIGN, 0.0), np.maximum(MOST * SIGN, 0.0))
# Two variables a row, one in each group.
ROW_OF, GROUP_OF = np.arange(120) // 2, (np.arange(120) % 2).astype(np.uint8)
REGRESS = DualProblem(0.1 - FEW_TARGETS, -0.1 - FEW_TARGETS, -MOST, MOST, ROW_OF, GROUP_OF)
# Apart by so much that the least eigenvalue is near one: the tolerance bounds the error of each variable.
DUAL_GRAM = RBF.values(FEW[:60], FEW[:60])

MAP = np.abs(X[:300, :3]) + X[:300, 3:6]
EDGE_STARTS = np.arange(301) * 4
EDGE_ENDS = (np.arange(1200) * 7 + 3) % 300


def nonnegative():
    w = np.abs(X[:600])
    order = np.roll(np.arange(12), 5)
    options = {"order": order, "sweeps": 30, "tolerance": 1e-3}
    return (GRAM, X[600:1200].copy(), w), options, [w]


# Every file of native/ with a face has a line here for each of its kernels; the first name is the file's.
CASES = {
    "affine.standardise": ("affine", "standardise", into(X, X[0], X[1] ** 2, shape=X.shape)),
    "affine.stretch": ("affine", "stretch", into(X, X[0], X[1], shape=X.shape)),
    "bin_columns.bin_columns": ("bin_columns", "bin_columns", (X, EDGES)),
    "forest_columns.forest_columns": ("forest_columns", "forest_columns", (FEW,)),
    "forest_columns.forest_columns few": ("forest_columns", "forest_columns", (FEW, FEW.shape[1] // 4)),
    "forest_draws.forest_draws": ("forest_draws", "forest_draws", (7, 500, 120)),
    "forest_grow.forest_grow classes": (
        "forest_grow",
        "forest_grow",
        Options(FEW, LABELS, SEEDS, Sample(120), criterion="entropy", classes=(2,)),
    ),
    "forest_grow.forest_grow numbers": (
        "forest_grow",
        "forest_grow",
        Options(FEW, FEW[:, :1], SEEDS, criterion="squared", rules=Rules(max_columns=4)),
    ),
    "forest_walk.forest_sums": ("forest_walk", "forest_sums", (FOREST, FEW, FOREST.value)),
    "forest_walk.forest_apply": ("forest_walk", "forest_apply", (FOREST, FEW)),
    "boost_apply.boost_apply": ("boost_apply", "boost_apply", Writing(boost_applying)),
    "boost_gradients.boost_gradients": (
        "boost_gradients",
        "boost_gradients",
        ("logistic", (TARGET > 1.0).astype(float), X[:, 0].copy(), WEIGHT),
    ),
    "boost_grow.boost_grow": ("boost_grow", "boost_grow", Writing(boost_growing)),
    "boost_grow.boost_update": ("boost_grow", "boost_update", Writing(boost_updating)),
    "level_sums.level_sums": ("level_sums", "level_sums", levelled()),
    "level_sums.level_route": ("level_sums", "level_route", (level_tree(), CODES)),
    "level_sums.level_best": ("level_sums", "level_best", level_search()),
    "density.grid_density": ("density", "grid_density", (X[:900, :2], 0.3, 9.0, WEIGHT[:900] + 1)),
    "linkage.linkage_of_rows ward": ("linkage", "linkage_of_rows", (NEAR, "ward")),
    "linkage.linkage_of_rows single": ("linkage", "linkage_of_rows", (NEAR, "single", None, APART[0])),
    "linkage.linkage_of_rows average": ("linkage", "linkage_of_rows", (NEAR, "average", WEIGHT[:150] + 1)),
    "linkage.linkage_of_rows median": ("linkage", "linkage_of_rows", (NEAR, "median")),
    "linkage.linkage_of_square": ("linkage", "linkage_of_square", Writing(squared)),
    "linkage.linkage_along_edges": ("linkage", "linkage_along_edges", (NEAR, "ward", LINKS)),
    "linkage.nearest_row": ("linkage", "nearest_row", (NEAR, X[150:300, :3])),
    "nearest_centre.nearest_centre": ("nearest_centre", "nearest_centre", Writing(nearest)),
    "nearest_centre.nearest_centre bounds": (
        "nearest_centre",
        "nearest_centre",
        Writing(partial(nearest, 1)),
    ),
    "nearest_centre.nearest_centre each": ("nearest_centre", "nearest_centre", Writing(partial(nearest, 9))),
    "cluster_sums.cluster_sums": ("cluster_sums", "cluster_sums", Writing(summed)),
    "cluster_sums.cluster_cost": (
        "cluster_sums",
        "cluster_cost",
        (X, WEIGHT, CENTRES, LABELS_OF_ROWS),
    ),
    "fuzzy_step.fuzzy_step": ("fuzzy_step", "fuzzy_step", (X, WEIGHT, CENTRES, 1.7)),
    "medoid_swaps.medoid_swaps": ("medoid_swaps", "medoid_swaps", Writing(swapped)),
    "seeding.seeding_accept": ("seeding", "seeding_accept", Writing(accepted)),
    "seeding.seeding_potentials": (
        "seeding",
        "seeding_potentials",
        (X, WEIGHT, np.zeros(12), 1.0, CENTRES, np.ones(20_000, np.float32)),
    ),
    "columns_dot.columns_dot": ("columns_dot", "columns_dot", (X, X[:, 0], X[0])),
    "columns_dot.columns_dot csc": ("columns_dot", "columns_dot", (SPARSE.tocsc(), X[:, 0])),
    "columns_dot.columns_times": ("columns_dot", "columns_times", (X, X[0], X[1])),
    "column_facts.column_facts": ("column_facts", "column_facts", (np.asfortranarray(X), X[:, 0], WEIGHT)),
    "column_facts.column_facts csc": (
        "column_facts",
        "column_facts",
        (SPARSE.tocsc(), TARGET - TARGET.mean()),
    ),
    "column_gram.column_gram": ("column_gram", "column_gram", Writing(gram_of_columns)),
    "quad_cd.quad_cd": ("quad_cd", "quad_cd", Writing(quadratic)),
    "column_cd.column_cd": ("column_cd", "column_cd", Writing(columns)),
    "task_cd.task_cd": ("task_cd", "task_cd", Writing(tasks)),
    "task_cd.row_gap": (
        "task_cd",
        "row_gap",
        (X[:12, :3].copy(), X[20:32, :3].copy(), TABLE.l1, TABLE.l2, 9.0),
    ),
    "finite.all_finite": ("finite", "all_finite", (X,)),
    "gram.centred_gram": ("gram", "centred_gram", (X, X[:, :2] ** 2, np.arange(20_000) % 3.0)),
    "gram.centred_gram csr": ("gram", "centred_gram", (SPARSE,)),
    "gram.sandwich": ("gram", "sandwich", (X, np.arange(20_000) % 3.0, X[:, :2].copy())),
    "gram.sandwich csr": ("gram", "sandwich", (SPARSE,)),
    "grouped_moments.grouped_moments": (
        "grouped_moments",
        "grouped_moments",
        (X, np.arange(20_000) % 4, 4, np.arange(20_000) % 3.0),
    ),
    "grouped_moments.grouped_moments csr": (
        "grouped_moments",
        "grouped_moments",
        (SPARSE, np.arange(20_000) % 4, 4),
    ),
    "class_sums.class_sums": ("class_sums", "class_sums", (X, np.arange(20_000) % 4, 4, WEIGHT)),
    "class_sums.class_sums csr": ("class_sums", "class_sums", (SPARSE, np.arange(20_000) % 4, 4)),
    "density_sums.density_sums": ("density_sums", "density_sums", (DENSITY, FEW, "gaussian", 1.0)),
    "density_sums.density_tree": ("density_sums", "density_tree", (FEW,)),
    "moments.column_moments": ("moments", "column_moments", (X,)),
    "moments.column_moments csr": ("moments", "column_moments", (SPARSE,)),
    "mixture_sums.mixture_sums": ("mixture_sums", "mixture_sums", (X, POSITIVE, MIXTURE)),
    "mixture_sums.mixture_scores": ("mixture_sums", "mixture_scores", (X, MIXTURE)),
    "normal_scores.normal_scores": ("normal_scores", "normal_scores", (X, X[:3], X[3:6] ** 2, X[0, :3])),
    "normal_scores.best_normal": ("normal_scores", "best_normal", (X, X[:3], X[3:6] ** 2, X[0, :3])),
    "round_trip.round_trip": (
        "round_trip",
        "round_trip",
        (X, X[:12, :2].copy(), X[:, :2] + 1.0, np.arange(20_000) % 3.0, X[0]),
    ),
    "class_dual_cd.class_dual_cd": ("class_dual_cd", "class_dual_cd", Writing(class_slopes)),
    "dual_cd.dual_cd": ("dual_cd", "dual_cd", Writing(dual_slopes)),
    "distinct_items.distinct_items": ("distinct_items", "distinct_items", (np.arange(20_000) % 7,)),
    "error_sums.error_sums": (
        "error_sums",
        "error_sums",
        Options("gamma", POSITIVE, POSITIVE[::-1].copy(), WEIGHT, least=True),
    ),
    "number_spread.number_spread": (
        "number_spread",
        "number_spread",
        Options(X[:, 0].copy(), X[:, 1].copy(), WEIGHT + 1, with_errors=True),
    ),
    "select_rank.select_ranks": ("select_rank", "select_ranks", (X[:, 0].copy(), 999, 1000)),
    "select_rank.absolute_errors": ("select_rank", "absolute_errors", (X[:, 0].copy(), X[:, 1].copy())),
    "linear_shuffle.linear_shuffle": (
        "linear_shuffle",
        "linear_shuffle",
        (X, X[:, 0].copy(), np.arange(20_000)[None, ::-1].copy()),
    ),
    "log_score.log_score": ("log_score", "log_score", (CHANCES, np.arange(20_000) % 12, WEIGHT, 1e-9)),
    "pair_counts.pair_counts": (
        "pair_counts",
        "pair_counts",
        (np.arange(20_000) % 7, np.arange(20_000) % 5, WEIGHT, 0, 7),
    ),
    "score_groups.score_groups": (
        "score_groups",
        "score_groups",
        (X[:, 0].round(3), X[:, 1] > 0, WEIGHT),
    ),
    "score_groups.score_areas": ("score_groups", "score_areas", (WEIGHT, WEIGHT[::-1].copy())),
    "topk.row_argmin": ("topk", "row_argmin", (X,)),
    "topk.top_k": ("topk", "top_k", (X, 5)),
    "triangular.triangular_factor": ("triangular", "triangular_factor", (X, X[:, 0] ** 2)),
    "triangular.triangular_factor csr": ("triangular", "triangular_factor", (SPARSE,)),
    "kernel_sums.kernel_sums rbf": ("kernel_sums", "kernel_sums", (RBF, X[400:800], X[:300], COEF)),
    "kernel_sums.kernel_sums poly": (
        "kernel_sums",
        "kernel_sums",
        (PlainKernel("poly", 0.1, 1.0, 3), X[400:800], X[:300], COEF),
    ),
    "kernel_sums.kernel_sums csr": (
        "kernel_sums",
        "kernel_sums",
        (RBF, SPARSE[400:800], SPARSE[:300], COEF),
    ),
    "smo.smo classes": (
        "smo",
        "smo",
        Options(RBF, FEW, CLASSIFY, np.zeros(120), np.zeros(120), tolerance=1e-14),
    ),
    "smo.smo groups": (
        "smo",
        "smo",
        Options(PlainKernel("gram"), DUAL_GRAM, REGRESS, np.zeros(120), np.zeros(60), tolerance=1e-14),
    ),
    "t_forces.t_forces plane": (
        "t_forces",
        "t_forces",
        (MAP[:, :2].copy(), WEIGHT[:300] + 1, EDGE_STARTS, EDGE_ENDS, POSITIVE[:1200], 0.0),
    ),
    "t_forces.t_forces space": (
        "t_forces",
        "t_forces",
        (MAP, WEIGHT[:300] + 1, EDGE_STARTS, EDGE_ENDS, POSITIVE[:1200], 0.0),
    ),
    "nonnegative_rows.nonnegative_rows": ("nonnegative_rows", "nonnegative_rows", Writing(nonnegative)),
    "linear_loss.linear_loss": (
        "linear_loss",
        "linear_loss",
        ("logistic", X, TARGET > 1.0, X[0], 0.5, WEIGHT),
    ),
    "linear_loss.linear_hessian": (
        "linear_loss",
        "linear_hessian",
        ("logistic", X, TARGET > 1.0, X[0], 0.5, WEIGHT),
    ),
    "linear_loss.linear_excess": (
        "linear_loss",
        "linear_excess",
        Options("logistic", X, TARGET > 1.0, X[0], 0.5, WEIGHT, change=(0.5, 0.0, 0.9, 0.8)),
    ),
    "class_loss.class_loss": (
        "class_loss",
        "class_loss",
        (X, np.arange(20_000) % 3, X[:12, :3].copy(), np.zeros(3)),
    ),
    "sgd.sgd_epoch": ("sgd", "sgd_epoch", Writing(epoch)),
    "sgd.sgd_epoch within a set": ("sgd", "sgd_epoch", Writing(partial(epoch, HELD))),
    "sampled_steps.sampled_steps": ("sampled_steps", "sampled_steps", Writing(steps)),
    "table_gap.table_gap": ("table_gap", "table_gap", (X[0], X[1] / 20, TABLE, 1.0, 2.0)),
    "edit_distance.edit_distances": ("edit_distance", "edit_distances", (WORDS, WORDS[:50])),
    "near_rows.rows_nearest": ("near_rows", "rows_nearest", (X, X[:300], 7)),
    "near_rows.rows_within": ("near_rows", "rows_within", (X, X[:300], np.full(300, 4.0))),
    "point_tree.tree_nearest": ("point_tree", "tree_nearest", (POINTS, X[:300, :3].copy(), 7)),
    "point_tree.tree_within": (
        "point_tree",
        "tree_within",
        (POINTS, X[:300, :3].copy(), np.full(300, 0.1)),
    ),
    "tree_apply.tree_apply": ("tree_apply", "tree_apply", (TREE, X)),
    "tree_grow.tree_grow classes": (
        "tree_grow",
        "tree_grow",
        Options(FEW, LABELS, criterion="gini", classes=(2,)),
    ),
    "tree_grow.tree_grow numbers": ("tree_grow", "tree_grow", Options(FEW, FEW[:, :1], criterion="squared")),
    "tree_shuffle.tree_shuffle": ("tree_shuffle", "tree_shuffle", Writing(shuffled)),
    "triangular.merge_triangular": ("triangular", "merge_triangular", (SQUARE, SQUARE)),
}
