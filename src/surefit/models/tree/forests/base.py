"""What all forests share: how their trees are grown, judged by rows out of bag, and proved."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError, SurefitWarning, warn
from surefit.core.native.trees.forest_grow import Sample, joined, packed
from surefit.core.parameters import validate
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source, in_memory
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.ensemble import STATED, jobs_for, relative_change
from surefit.models.tree.growing.binned_search import exact_search_rows
from surefit.models.tree.growing.forest_errors import ForestErrors, grow_into, judge
from surefit.models.tree.growing.forest_grower import Grower, bootstrap_sample, tree_seeds
from surefit.models.tree.growing.forest_samples import (
    judged_blocks,
    leaf_change,
    packed_members,
    pruned_forest,
    weights_drawn,
)
from surefit.models.tree.nodes.compact_forest import CompactForest, compact_forest, numbered, widened
from surefit.models.tree.nodes.forest_arrays import (
    Bootstrap,
    ForestParameters,
    answers_in_units,
    in_target_units,
    loss_unit,
    some_trees,
    tree_nodes,
)
from surefit.models.tree.nodes.forest_store import ForestStore
from surefit.models.tree.nodes.loaded_trees import (
    check_classes,
    check_forest,
    check_levels,
    check_samples,
    expect,
)
from surefit.models.tree.nodes.node_arrays import Nodes
from surefit.models.tree.nodes.parameters import Target, scaled_by
from surefit.models.tree.rows.matrix import MOST_LEVELS, find_levels, level_counts, matrix_of, whole
from surefit.models.tree.rows.zero_weight_classes import drop_zero_weight_classes
from surefit.models.tree.streams.errors import StreamedErrors, judged, judged_with_leaves
from surefit.models.tree.streams.setup import is_streamed, open_stream, stream_evidence, stream_facts
from surefit.models.tree.targets.base import TreeRows, columns_searched, growth_rules
from surefit.models.tree.trees.base import DecisionTree
from surefit.models.tree.trees.proof import Problem, best_splits
from surefit.resample.streams import seed_of
from surefit.stats.missing import Missing

TREES = 3  # looked at again, unless they have more
CELLS = 1e8  # than these, so that a proof takes seconds: rows times columns times depths


@dataclass(frozen=True, slots=True)
class Rescored:
    """By how much splits fall short of the best of their nodes: rounding, where they hold.

    trees, splits: how many were scored again. why_none: a reason, in words.
    """

    worst: float = 0.0
    trees: int = 0
    splits: int = 0
    why_none: str = ""

    def said_with(self, found: Certificate) -> Certificate:
        """The certificate with what was scored; in words where that is nothing."""
        parts = {**found.parts, "trees scored again": self.trees, "splits scored again": self.splits}
        words = "" if self.splits else f" no split being scored again ({self.why_none}),"
        return replace(found, measure=found.measure + words, parts=parts)


def rescored(forest: CompactForest, grower: Grower, seeds: NDArray[np.uint64], by_bins: bool) -> Rescored:
    """Score the splits of some trees again.

    by_bins: large nodes were searched by bins, and are left out.
    """
    X, target = grower.X, grower.target
    worst, cells, trees, splits = 0.0, 0.0, 0, 0
    why_none = "large nodes were searched by bins" if by_bins else "trees have none"
    for t in np.linspace(0, forest.trees - 1, min(TREES, forest.trees)).astype(int).tolist():
        nodes = scaled_by(tree_nodes(forest, t, grower.kind, target.classes, grower.levels), target)
        cells += float(X.size) * float(nodes.depths.max() + 1)
        if cells > CELLS:
            why_none = why_none if trees else f"a tree takes more than {CELLS:.0e} cells to prove"
            break
        seed = int(seeds[t])
        weight = weights_drawn(grower.sample, len(X), seed, target)
        rules = replace(grower.rules, seed=seed)
        exact = exact_search_rows(int(nodes.grown.rows[0]), X.shape[1], rules) if by_bins else None
        problem = Problem(X, target.Y, weight, grower.kind, target.classes, rules, exact, target.grain)
        worst = max(worst, *best_splits(nodes, problem).values())
        looked_at = nodes.inner if exact is None else nodes.inner & (nodes.grown.rows <= exact)
        trees, splits = trees + 1, splits + int(np.count_nonzero(looked_at))
    return Rescored(worst, trees, splits, why_none)


BLOCK = 10  # trees that are grown at a time, between which a fit can be watched and stopped
SETTLING = 3  # blocks over which the loss must not have moved


class Forest(TreeRows, abstract=True):
    """Trees grown from samples of the rows, each split chosen among some columns, and averaged."""

    n_estimators: int
    bootstrap: Bootstrap
    oob_score: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    max_samples: Any
    ccp_alpha: float
    settled: float
    keep_members: bool
    missing: str
    splitter: str = "best"
    min_impurity: float = 0.0
    min_gain: float = 0.0
    loss_name: ClassVar[str]

    loss_curve_: Vector
    loss_trees_: NDArray[np.int64]
    row_cumulative_: Vector
    member_error_: float
    member_correlation_: float
    nodes_: NDArray[np.uint64]
    node_start_: NDArray[np.int64]
    leaf_value_: Matrix
    leaf_weight_: NDArray[Any]
    leaf_impurity_: NDArray[Any]
    leaf_start_: NDArray[np.int64]
    tree_importance_: Matrix
    level_bits_: NDArray[np.uint64]
    level_start_: NDArray[np.int64]
    inner_value_: Matrix
    inner_impurity_: NDArray[Any]
    tree_seeds_: NDArray[np.uint64]
    seed_: int
    draws_: int
    rows_: int
    searched_by_bins_: bool
    max_features_: int
    n_outputs_: int
    oob_answers_: Matrix
    oob_value_: float
    leaf_member_: NDArray[np.int32]
    member_target_: Matrix

    @abstractmethod
    def _tree(self, seed: int) -> DecisionTree:
        """An unfitted tree with the parameters of one of this forest's."""

    @abstractmethod
    def _forest_parameters(self, common: dict[str, Any]) -> ForestParameters:
        """What is learnt, with what is the class's own."""

    @abstractmethod
    def _truth(self, target: Target) -> Matrix:
        """The target as leaves would say it if they were right, (n, width)."""

    @abstractmethod
    def _score_of(self, errors: ForestErrors, target: Target, batch: Batch) -> float:
        """The score of the answers for rows out of bag, as scikit-learn has it."""

    @property
    def _class_counts(self) -> tuple[int, ...]:
        return ()

    @property
    def _balanced(self) -> bool:
        return False

    @classmethod
    def of_older_file(cls, parameters: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Fitted values that an older version wrote, as they are kept now."""
        from surefit.models.tree.nodes.older_files import forest_of_older_file

        return forest_of_older_file(state)

    def check_loaded(self) -> None:
        """Refuse arrays of a file that are no forest."""
        width, labels = self.n_features_in_, getattr(self, "classes_", None)
        classes = () if labels is None else check_classes(labels, self.n_outputs_)
        forest, trees = self._stored(), len(self.tree_seeds_)
        check_forest(forest, check_levels(self.levels_, width, MOST_LEVELS), classes, self.n_outputs_)
        check_samples(
            forest, self.draws_, self.rows_, self.row_cumulative_, self.leaf_member_, self.member_target_
        )
        expect(self.tree_seeds_.shape == (forest.trees,), "every tree must have its seed")
        expect(self.loss_curve_.shape == self.loss_trees_.shape, "losses must have one entry a block")
        counted = np.concatenate([[0], self.loss_trees_.reshape(-1), [trees]])
        expect((np.diff(counted) >= 0).all(), "blocks of trees must ascend")
        expect(self.oob_answers_.ndim == 2, "answers out of bag must be a table")
        expect(1 <= self.max_features_ <= width, "columns that were looked at must be in the table")

    def _iteration_limit(self) -> int:
        return -(-self.n_estimators // BLOCK)

    def _fit(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> None:
        is_whole = self._continues() and self.n_estimators == len(self.tree_seeds_)
        if is_whole and (not self.oob_score or len(self.oob_answers_)):
            validate(self)
            self._check_settings()
            return
        super()._fit(X, y, sample_weight, **also)

    def _source(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None, **also: Any
    ) -> Source:
        if reset:
            self._check_settings()
        return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)

    def _check_settings(self) -> None:
        """Refuse valid parameters that do not go together."""
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True: "
                "set bootstrap=True or oob_score=False."
            )
        if self.max_samples is not None and not self.bootstrap:
            raise ParameterError(
                "`max_sample` cannot be set if `bootstrap=False`. "
                "Either switch to `bootstrap=True` or set `max_sample=None`."
            )
        more = self.n_estimators - len(self.tree_seeds_) if self._continues() else 1
        if more < 0:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(self.tree_seeds_)} when warm_start==True."
            )
        if more == 0:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.", SurefitWarning)

    def _continues(self) -> bool:
        return self.warm_start and "tree_seeds_" in self.__dict__

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        source = drop_zero_weight_classes(self, source)
        schema = source.schema
        if is_streamed(self, source, engine):
            return self._learn_streamed(source, engine, trace)
        cells = None if in_memory(source) is not None else engine.accumulate(Missing.of, source)
        batch = whole(source, type(self).__name__)
        levels = find_levels(batch.X, self._category_mask(schema), schema.names, self.missing == "category")
        X, weight = matrix_of(batch.X, levels), self._weights(batch)
        target = self._target(batch, weight)
        goes_on, seed = self._continues(), self._first_seed()
        grower = self._grower(X, target, weight, level_counts(levels, X.shape[1]), seed)
        errors = self._errors(batch, target)
        store = ForestStore()
        seeds = tree_seeds(seed, self.n_estimators)
        if goes_on:
            store.add(forest := self._grown())
            for block, own in judged_blocks(forest, seeds, self.loss_trees_):
                judge(errors, block, block.value, own, grower)
                errors.record()
        counted = self.loss_trees_.tolist() if goes_on else []
        self.__dict__.pop("_views", None)

        def learned(last: bool = False) -> Learned:
            forest = store.forest(last=last)
            return self._learned(forest, counted, errors, grower, batch, levels, seeds[: forest.trees], cells)

        steps = [seeds[at : at + BLOCK] for at in range(store.trees, self.n_estimators, BLOCK)]
        for step, _ in zip(steps, trace.iterations(len(steps)), strict=False):
            grow_into(store, errors, step, grower)
            loss = errors.record() / loss_unit(target)
            counted.append(store.trees)
            trace.record(objective=loss if np.isfinite(loss) else None, learned=learned)
            if self._has_settled(errors.curve):
                break
        self._schema = schema
        return learned(last=True)

    def _first_seed(self) -> int:
        """The seed that those of all trees come from; that of the first trees where more are added."""
        if self._continues():
            return self.seed_
        return 0 if self.random_state is None else seed_of(self.random_state)

    def _grower(
        self,
        X: NDArray[Any],
        target: Target,
        weight: Vector | None,
        levels: NDArray[np.int64],
        seed: int,
        by_number: bool = False,
    ) -> Grower:
        """What trees are grown from; by_number: each row is drawn by its number, as those of a stream are."""
        by_number = by_number or self.bootstrap == "poisson"
        looked_at = columns_searched(self.max_features, X.shape[1])
        if self.bootstrap:
            sample = bootstrap_sample(len(X), weight, self.max_samples, by_number, self._balanced)
            rules = growth_rules(self, X.shape, None, target, looked_at, 0)
            least = self.min_weight_fraction_leaf * abs(sample.draws)
            rules = replace(rules, min_weight_leaf=least)
        else:
            sample = Sample(0, None, weight, self._balanced)
            rules = growth_rules(self, X.shape, weight, target, looked_at, 0)
        kind, jobs = self.kernel_criteria[self.criterion], jobs_for(self.n_jobs)
        return Grower(X, target, levels, sample, rules, kind, looked_at, seed, self.ccp_alpha, jobs)

    def _learn_streamed(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        """Grow the trees, some at a time, from sums that passes over the rows add up, and judge them."""
        width, goes_on, seed = source.schema.width, self._continues(), self._first_seed()
        looked_at = columns_searched(self.max_features, width)
        categories = self._category_mask(source.schema)
        opened = open_stream(self, source, engine, categories, looked_at, 0, self._balanced)
        stream, known, levels = opened
        seeds = tree_seeds(seed, self.n_estimators)
        store = ForestStore()
        if goes_on:
            store.add(self._grown())
        counted: list[int] = self.loss_trees_.tolist() if goes_on else []
        self.__dict__.pop("_views", None)
        evidence = stream_evidence(known, source, engine)
        target, kind = known.target.target(np.empty(0)), known.target.kind

        def errors(forest: CompactForest) -> StreamedErrors:
            return judged(forest, seeds, counted, levels, known, source, engine)

        def learned(last: bool = False) -> Learned:
            forest = store.forest(last=last)
            told = {
                "tree_seeds": seeds[: forest.trees],
                "levels": levels,
                "seed": seed,
                "draws": -known.draws,
                "rows": known.facts.rows,
                "row_cumulative": np.full(1 if known.draws and known.is_weighted else 0, np.nan),
                "searched_by_bins": True,
                "max_features": looked_at,
                "n_outputs": 1,
            }
            return self._stated(forest, counted, errors(forest), target, told, dict(evidence))

        steps = [seeds[at : at + BLOCK] for at in range(store.trees, self.n_estimators, BLOCK)]
        for step, _ in zip(steps, trace.iterations(len(steps)), strict=False):
            grown = [packed(tree, 1, kind) for tree in stream.grow(tuple(step.tolist()))]
            found = in_target_units(joined(grown), target)
            if self.ccp_alpha > 0:
                found = pruned_forest(found, kind, target, level_counts(levels, width), self.ccp_alpha)
            store.add(compact_forest(found, target.classes))
            counted.append(store.trees)
            # Asking all trees again costs a pass, so only where it decides.
            curve = errors(store.forest(last=False)).curve if self.settled > 0 else [float("nan")]
            loss = curve[-1] / loss_unit(target)
            trace.record(objective=loss if np.isfinite(loss) else None, learned=learned)
            if self._has_settled(curve):
                break
        self._schema = source.schema
        return learned(last=True)

    def _has_settled(self, curve: list[float]) -> bool:
        if self.settled <= 0 or len(curve) <= SETTLING or not np.isfinite(curve[-1 - SETTLING]):
            return False
        recent = np.array(curve[-1 - SETTLING :])
        return bool(np.ptp(recent) <= self.settled * max(recent[-1], np.finfo(float).tiny))

    def _errors(self, batch: Batch, target: Target) -> ForestErrors:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        return ForestErrors(self._truth(target), weight, target.classes)

    def _learned(
        self,
        forest: CompactForest,
        counted: list[int],
        errors: ForestErrors,
        grower: Grower,
        batch: Batch,
        levels: Any,
        seeds: NDArray[np.uint64],
        cells: Missing | None,
    ) -> Learned:
        target = grower.target
        if self.oob_score and not errors.counts.all():
            warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates.",
                SurefitWarning,
            )
        members = np.empty(0, dtype=np.int32)
        if self.keep_members:
            members = packed_members(forest, grower.X, grower.levels, grower.sample, seeds)
        told = {
            "tree_seeds": seeds,
            "levels": levels,
            "seed": grower.seed,
            "draws": grower.sample.draws,
            "rows": len(batch),
            "row_cumulative": np.empty(0) if grower.sample.cumulative is None else grower.sample.cumulative,
            "searched_by_bins": grower.columns is not None,
            "max_features": grower.looked_at,
            "n_outputs": target.Y.shape[1],
            "leaf_member": members,
            "member_target": self._kept_target(target) if self.keep_members else np.empty((0, 0)),
        }
        if self.oob_score:
            told["oob_answers"] = answers_in_units(errors.averages(), target)
            told["oob_value"] = self._score_of(errors, target, batch)
        evidence = {"rows": len(batch), **self._forest_evidence(batch)}
        if cells is not None:
            evidence["cells"] = (cells.weight, cells.missing)
        return self._stated(forest, counted, errors, target, told, evidence)

    def _stated(
        self, forest: CompactForest, counted: list[int], errors: Any, target: Target, told: Any, evidence: Any
    ) -> Learned:
        """The trees, and what is known of their errors."""
        forest, (alone, correlation) = widened(forest), errors.decomposition()
        scale = loss_unit(target)
        common = {
            "loss_curve": np.array(errors.curve) / scale,
            "loss_trees": np.array(counted, dtype=np.int64),
            "member_error": alone / scale,
            "member_correlation": correlation,
            "nodes": forest.nodes,
            "node_start": forest.node_start,
            "leaf_value": forest.leaf_value,
            "leaf_weight": forest.leaf_weight,
            "leaf_impurity": forest.leaf_impurity,
            "leaf_start": forest.leaf_start,
            "tree_importance": forest.importance,
            "level_bits": forest.level_bits,
            "level_start": forest.level_start,
            "inner_value": forest.inner_value,
            "inner_impurity": forest.inner_impurity,
            "oob_answers": np.empty((0, 0)),
            "oob_value": float("nan"),
            "leaf_member": np.empty(0, dtype=np.int32),
            "member_target": np.empty((0, 0)),
            **told,
        }
        if np.isfinite(correlation) and alone > 0:
            evidence["member_errors"] = (correlation, forest.trees, type(self).__name__)
        return Learned(self._forest_parameters(common), self._estimate(errors, scale), evidence)

    def _forest_evidence(self, batch: Batch) -> dict[str, Any]:
        return {}

    def _kept_target(self, target: Target) -> Matrix:
        return answers_in_units(target.Y.astype(np.float64), target)

    def _estimate(self, errors: Any, scale: float) -> Certificate:
        loss, error = (part / scale for part in errors.loss())
        parts = {
            "loss": loss,
            "standard error": error,
            "rows": float(errors.seen.sum()),
            "loss of a constant": errors.constant_loss() / scale,
        }
        if not np.isfinite(loss):
            words = "relative change of what trees state, no row being out of bag"
            return Certificate("measured", words, 0.0, STATED, parts)
        if self.bootstrap:
            words = f"{self.loss_name} of rows out of bag, with a standard error of {error:.2g},"
            return Certificate("estimated", words, loss, float("inf"), parts)
        words = f"relative change of the {self.loss_name} of training rows, none being out of bag"
        return Certificate("measured", words, 0.0, STATED, parts)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Draw the samples again, and ask all trees for the rows that they have not seen."""
        source = drop_zero_weight_classes(self, source)
        if is_streamed(self, source, engine):
            errors, leaves, scale = self._judged_streamed(source, engine)
            splits = Rescored(why_none="the rows are a stream")
        else:
            errors, leaves, splits, scale = self._judged_again(source)
        again = self._estimate(errors, scale)
        alone, correlation = errors.decomposition()
        size = max(float(np.nanmax(self.loss_curve_, initial=0.0)), again.parts["loss of a constant"])
        gaps = {
            "loss after each block of trees": relative_change(
                self.loss_curve_, np.array(errors.curve) / scale, size
            ),
            "error of one tree": relative_change(
                self.member_error_, alone / scale, max(self.member_error_, size)
            ),
            "correlation of two trees": relative_change(self.member_correlation_, correlation, 1.0),
            "leaves of trees": leaves,
            "splits of trees": splits.worst,
        }
        worst = max(gaps, key=lambda name: gaps[name])
        if not gaps[worst] <= STATED:
            words = f"relative change of the {worst}"
            return Certificate("measured", words, gaps[worst], STATED, again.parts)
        return splits.said_with(again)

    def _judged_streamed(self, source: Source, engine: Engine) -> tuple[Any, float, float]:
        """Draw the samples again; return errors, by how much leaves have changed, and the units of losses."""
        known = stream_facts(self, source, engine, self._balanced)
        self._refuse_other_rows(known.facts.rows)
        seeds, counted = self.tree_seeds_, self.loss_trees_.tolist()
        found, leaves = judged_with_leaves(
            self._grown(), seeds, counted, self.levels_, known, source, engine, self._balanced
        )
        return found, leaves, 1.0 if known.target.classes else known.target.factor**2

    def _refuse_other_rows(self, rows: int) -> None:
        if rows != self.rows_:
            raise DataError(
                f"the trees drew their samples from {self.rows_} rows, but {rows} were given: "
                "give the rows of the fit, in their order."
            )

    def _judged_again(self, source: Source) -> tuple[Any, float, Rescored, float]:
        batch = whole(source, type(self).__name__)
        self._refuse_other_rows(len(batch))
        X, weight = matrix_of(batch.X, self.levels_), self._weights(batch)
        target, levels = self._target(batch, weight), level_counts(self.levels_, X.shape[1])
        grower = self._grower(X, target, weight, levels, self.seed_, by_number=self.draws_ < 0)
        errors, forest = self._errors(batch, target), self._grown()
        for block, seeds in judged_blocks(forest, self.tree_seeds_, self.loss_trees_):
            judge(errors, block, block.value, seeds, grower)
            errors.record()
        medians = self.kernel_criteria[self.criterion] == "absolute"
        leaves = leaf_change(forest, X, target, levels, grower.sample, self.tree_seeds_, medians)
        splits = rescored(forest, grower, self.tree_seeds_, self.searched_by_bins_)
        return errors, leaves, splits, loss_unit(target)

    def _grown(self) -> CompactForest:
        return numbered(self._stored())

    def _stored(self) -> CompactForest:
        """The trees as they are kept: enough to add up what leaves say."""
        return CompactForest(
            self.nodes_,
            self.node_start_,
            self.leaf_start_,
            self.tree_importance_,
            self.level_bits_,
            self.level_start_,
            self.leaf_value_,
            self.leaf_weight_,
            self.leaf_impurity_,
            self.inner_value_,
            self.inner_impurity_,
        )

    def _level_counts(self) -> NDArray[np.int64]:
        return level_counts(self.levels_, self.n_features_in_)

    def _nodes_of(self, t: int) -> Nodes:
        kind = self.kernel_criteria[self.criterion]
        one = numbered(some_trees(self._stored(), t, t + 1))
        return tree_nodes(one, 0, kind, self._class_counts, self._level_counts())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def forest_nodes(forest: Forest) -> list[Nodes]:
    """Return the nodes of each tree of a fitted forest as arrays."""
    return [forest._nodes_of(t) for t in range(len(forest.tree_seeds_))]
