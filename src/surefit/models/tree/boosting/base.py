"""What boosted classifier and regressor share: rows become codes, rounds become trees, trees answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import ParameterError
from surefit.core.native.trees.boost_apply import BoostedNodes
from surefit.core.native.trees.boost_grow import BoostRules
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import admit_rows
from surefit.data.schema import Schema
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.tree.boosting.losses import BoostLoss
from surefit.models.tree.boosting.parameters import BoostParameters, proof
from surefit.models.tree.boosting.rounds import Part, Rounds, Setup, Stopping
from surefit.models.tree.boosting.rows import BoostData, Draw, answered, drawn_apart, losses_again, prepared
from surefit.models.tree.boosting.scoring import scorer_of
from surefit.models.tree.boosting.trees import BoostedTrees, joined
from surefit.models.tree.nodes.loaded_trees import check_boosted, check_classes, check_levels, expect
from surefit.models.tree.nodes.parameters import Target
from surefit.models.tree.rows.bins import MOST_BINS
from surefit.models.tree.rows.matrix import Levels, matrix_of
from surefit.models.tree.rows.row_draws import HeldOutRows
from surefit.models.tree.rows.zero_weight_classes import drop_zero_weight_classes
from surefit.models.tree.targets.base import TreeRows


def interaction_groups(asked: Any, width: int) -> NDArray[np.uint8]:
    """Return (groups, columns), 1 where a column belongs to a group; no rows for no constraint.

    >>> interaction_groups([[0, 1]], 3).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    if asked is None:
        return np.empty((0, 0), dtype=np.uint8)
    groups: Any = asked
    if isinstance(asked, str):
        groups = [[j] for j in range(width)] if asked == "no_interactions" else combinations(range(width), 2)
    try:
        sets = [set(group) for group in groups]
    except TypeError:
        raise ParameterError(
            f"Interaction constraints must be a sequence of tuples or lists, got: {asked!r}."
        ) from None
    for group in sets:
        if not all(isinstance(j, Integral) and 0 <= int(j) < width for j in group):
            raise ParameterError(
                "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
                f"[0, {width - 1}], specifying the position of features, got invalid indices: {group!r}."
            )
    rest = set(range(width)).difference(*sets)
    found = np.zeros((len(sets) + bool(rest), width), dtype=np.uint8)
    for row, group in zip(found, [*sets, rest], strict=False):
        row[list(group)] = 1
    return found


EARLY_ABOVE = 10_000  # rows from which on "auto" holds some out, as in scikit-learn


class HistGradientBoosting(TreeRows, abstract=True):
    """Trees of which each takes a gradient step on the loss of those before."""

    loss: str
    learning_rate: float
    max_iter: int
    l2_regularization: float
    max_bins: int
    interaction_cst: Any
    warm_start: bool
    early_stopping: Any
    scoring: Any
    validation_fraction: Any
    n_iter_no_change: int
    tol: float
    verbose: int
    random_state: Any

    baseline_: Vector
    n_iter_: int
    n_trees_per_iteration_: int
    do_early_stopping_: bool
    train_score_: Vector
    validation_score_: Vector
    training_loss_: float
    held_out_loss_: float
    validated_apart_: bool
    seed_: int
    node_number_: Vector
    node_column_: NDArray[np.int32]
    node_left_: NDArray[np.int32]
    node_right_: NDArray[np.int32]
    node_missing_left_: NDArray[np.uint8]
    node_by_levels_: NDArray[np.uint8]
    node_level_bits_: NDArray[np.uint64]
    tree_root_: NDArray[np.int64]

    @abstractmethod
    def _boost_loss(self, schema: Schema | None = None) -> BoostLoss:
        """Return the loss; of the data of a fit, or as fitted."""

    @abstractmethod
    def _parameters(self, common: BoostParameters, schema: Schema) -> Any:
        """Return what is learnt, with what is the class's own."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Learn from a table; ``X_val`` and ``y_val`` are a validation set for early stopping."""
        apart = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        return self._atomically(lambda: self._fit(X, y, sample_weight, **apart))

    def _source(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        reset: bool = True,
        classes: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        **also: Any,
    ) -> Source:
        given = X_val is not None or y_val is not None
        if given and (X_val is None or y_val is None):
            missing, there = ("X_val", "y_val") if X_val is None else ("y_val", "X_val")
            raise ParameterError(f"{there} is provided, but {missing} was not provided; give both.")
        if given and self.early_stopping is False:
            raise ParameterError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False; "
                "set it to 'auto' or True."
            )
        if reset:
            self._apart = (X_val, y_val, sample_weight_val) if given else None
        return super()._source(X, y, sample_weight, reset=reset, classes=classes, **also)

    def check_loaded(self) -> None:
        """Refuse arrays of a file that are no boosted trees."""
        outputs, labels = self.n_trees_per_iteration_, getattr(self, "classes_", None)
        levels = check_levels(self.levels_, self.n_features_in_, MOST_BINS)
        check_boosted(self._boosted_trees().nodes, levels, self.n_iter_, outputs)
        needed = 1 if labels is None or check_classes(labels, 1) == (2,) else self._boost_loss().outputs
        expect(
            outputs == needed and self.baseline_.shape == (outputs,),
            "every output must have its trees and its baseline",
        )

    def _target(self, batch: Batch, weight: Vector | None) -> Target:
        return Target(np.asarray(batch.y).reshape(len(batch), -1))

    def _weights(self, batch: Batch) -> Vector | None:
        return batch.weight

    def _weighted(self, y: Vector, weight: Vector | None, schema: Schema) -> Vector | None:
        """Return the weights of all rows, those of classes included."""
        return weight

    def _iteration_limit(self) -> int | None:
        return self.max_iter

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        source = drop_zero_weight_classes(self, source)
        who, schema = type(self).__name__, source.schema
        loss = self._boost_loss(schema)
        apart = self.__dict__.pop("_apart", None)
        monotone = self._signs(schema, loss)
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        seed = _Drawn(self.random_state, self.seed_ if goes_on else None)
        data = self._data(source, engine, lambda count, y: self._held_out(count, y, apart is not None, seed))
        rows = prepared(data, self._category_mask(schema), self.max_bins)
        if any(sign != 0 and len(own) > 0 for sign, own in zip(monotone, rows.levels, strict=False)):
            raise ParameterError(
                f"{who}: Categorical features cannot have monotonic constraints; set theirs to 0."
            )
        loss.check(rows.ends(), who)
        baseline = self.baseline_ if goes_on else None
        stops = self._stops_early(rows.count)
        done = self._rounds_done(goes_on)
        number = seed() if self.max_features < 1 else seed.value
        rules = BoostRules(
            max_leaves=self.max_leaf_nodes or 0,
            max_depth=self.max_depth or 0,
            min_rows_leaf=self.min_samples_leaf,
            l2=self.l2_regularization,
            column_share=self.max_features,
            monotone=monotone,
            groups=interaction_groups(self.interaction_cst, schema.width),
        )
        tree_blocks = [self._boosted_trees()] if goes_on else []
        by_loss = self.scoring == "loss"
        setup = Setup(
            loss, rules, self.learning_rate, number, baseline, tree_blocks, scored=stops and not by_loss
        )
        rounds = rows.rounds(setup, lambda: answered(data, tree_blocks[0], self.levels_, self.baseline_)[0])
        assert setup.baseline is not None
        baseline = setup.baseline
        if apart is not None:
            rounds.held_out = self._rows_apart(apart, rows, schema, baseline, tree_blocks)
        held_out = rounds.held_out
        rounds.trees = done * loss.outputs
        stopping = self._stopping(loss, held_out is not None, schema) if stops else None
        if goes_on and stopping is not None:
            stopping.train, stopping.held_out = self.train_score_.tolist(), self.validation_score_.tolist()

        def learned(training_loss: float | None = None) -> Learned:
            common = self._common(
                rounds, baseline, number, stops, stopping, rows.levels, apart is not None, training_loss
            )
            stated = proof(common.training_loss, common.held_out_loss)
            return Learned(self._parameters(common, schema), stated, self._evidence(stopping, rows))

        final = rounds.run(trace, self.max_iter - done, stopping, by_loss, learned)
        return learned(final)

    def _data(self, source: Source, engine: Engine, draw: Draw) -> BoostData:
        def weigh(y: Vector, weight: Vector | None) -> Vector | None:
            return self._weighted(y, weight, source.schema)

        return BoostData(source, engine, getattr(self, "class_weight", None), weigh, draw)

    def _signs(self, schema: Schema, loss: BoostLoss) -> tuple[int, ...]:
        if self.monotonic_cst is None:
            return ()
        if loss.outputs > 1:
            raise ParameterError(
                f"{type(self).__name__}: monotonic constraints are not supported for multiclass "
                "classification; use two classes."
            )
        return self._monotone(schema.width, Target(np.empty((0, 1))))

    def _stops_early(self, rows: int) -> bool:
        return rows > EARLY_ABOVE if self.early_stopping == "auto" else bool(self.early_stopping)

    def _held_out(
        self, count: int, targets: Callable[[], Vector], apart: bool, seed: Callable[[], int]
    ) -> HeldOutRows:
        if apart or self.validation_fraction is None or not self._stops_early(count):
            return HeldOutRows()
        return drawn_apart(count, targets, self.validation_fraction, self._stratified, seed())

    _stratified = False

    def _rows_apart(
        self, apart: Any, rows: Any, schema: Schema, baseline: Vector, tree_blocks: list[BoostedTrees]
    ) -> Part:
        X, y, weight = apart
        accepts = replace(self.accepts, cells=True) if rows.levels else self.accepts
        X = matrix_of(admit_rows(self, accepts, X), rows.levels)
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        score = np.repeat(baseline[:, None], len(X), axis=1)
        for tree_block in tree_blocks:
            tree_block.add_to(score, X)
        return Part(rows.bins.codes(X), self._coded(y, schema), weight, score)

    def _coded(self, y: Any, schema: Schema) -> Vector:
        return np.asarray(y, dtype=np.float64).ravel()

    def _rounds_done(self, goes_on: bool) -> int:
        if not goes_on:
            return 0
        if self.max_iter < self.n_iter_:
            raise ParameterError(
                f"max_iter={self.max_iter} must be larger than or equal to n_iter_={self.n_iter_} "
                "when warm_start==True; raise it."
            )
        return self.n_iter_

    def _stopping(self, loss: BoostLoss, on_held_out: bool, schema: Schema) -> Stopping:
        if self.scoring == "loss":
            return Stopping(self.n_iter_no_change, self.tol, on_held_out, lambda part: -part.mean_loss(loss))
        score = scorer_of(self, loss, schema)
        return Stopping(self.n_iter_no_change, self.tol, on_held_out, score)

    def _common(
        self,
        rounds: Rounds,
        baseline: Vector,
        seed: int,
        stops: bool,
        stopping: Stopping | None,
        levels: Levels,
        apart: bool,
        training_loss: float | None,
    ) -> BoostParameters:
        nodes = joined(rounds.tree_blocks).nodes
        held = rounds.held_out
        stated = rounds.train.mean_loss(rounds.loss) if training_loss is None else training_loss
        return BoostParameters(
            baseline,
            nodes.number,
            nodes.column,
            nodes.left,
            nodes.right,
            nodes.missing_left,
            nodes.by_levels,
            nodes.bits,
            nodes.root,
            levels,
            seed,
            len(nodes.root) // rounds.loss.outputs,
            rounds.loss.outputs,
            stops,
            np.array([] if stopping is None else stopping.train),
            np.array([] if stopping is None else stopping.held_out),
            apart,
            stated,
            float("nan") if held is None else held.mean_loss(rounds.loss),
        )

    def _evidence(self, stopping: Stopping | None, rows: Any) -> dict[str, Any]:
        found: dict[str, Any] = {"rows": rows.count}
        if stopping is not None and stopping.held_out:
            found["held_out_curve"] = (np.array(stopping.held_out), self.max_iter)
        return found

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        """Send the rows down the stored trees and compute both losses again."""
        source = drop_zero_weight_classes(self, source)
        # Rows that were given apart are not here, and what was stated of them is not checked.
        apart = not np.isnan(self.held_out_loss_) and not self._drew_rows

        def drawn(count: int, targets: Callable[[], Vector]) -> HeldOutRows:
            return self._held_out(count, targets, apart, lambda: self.seed_)

        data = self._data(source, engine, drawn)
        train, held = losses_again(
            data, self._boost_loss(), self._boosted_trees(), self.levels_, self.baseline_
        )
        return proof(self.training_loss_, self.held_out_loss_, train, held)

    @property
    def _drew_rows(self) -> bool:
        return self.validation_fraction is not None and not self.validated_apart_

    def _boosted_trees(self) -> BoostedTrees:
        return BoostedTrees(
            BoostedNodes(
                self.node_column_,
                self.node_number_,
                self.node_left_,
                self.node_right_,
                self.node_missing_left_,
                self.node_by_levels_,
                self.node_level_bits_,
                self.tree_root_,
            )
        )

    def _scores(self, X: Any) -> Matrix:
        """What the trees say of rows, (outputs, n)."""
        X = matrix_of(X, self.levels_)
        score = np.repeat(self.baseline_[:, None], len(X), axis=1)
        self._boosted_trees().add_to(score, X)
        return score

    def _staged_scores(self, X: Any) -> Iterator[Matrix]:
        check_is_fitted(self)
        X = matrix_of(admit_rows(self, self._accepted(), X), self.levels_)
        score = np.repeat(self.baseline_[:, None], len(X), axis=1)
        tree_block, outputs = self._boosted_trees(), len(self.baseline_)
        for number in range(self.n_iter_):
            tree_block.add_to(score, X, number * outputs, (number + 1) * outputs)
            yield score.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def is_categorical_(self) -> NDArray[np.bool_] | None:
        """Which columns are split by levels; None for none."""
        check_is_fitted(self)
        return np.array([len(own) > 0 for own in self.levels_]) if self.levels_ else None


class _Drawn:
    """A seed that is drawn when it is first asked for, as scikit-learn draws it; 0 if it never is."""

    def __init__(self, random_state: Any, value: int | None) -> None:
        self._random_state, self._drawn = random_state, value is not None
        self.value = value or 0

    def __call__(self) -> int:
        if not self._drawn:
            given = self._random_state
            rng = RandomState() if given is None else check_random_state(given)
            self.value, self._drawn = int(rng.randint(np.iinfo(np.uint32).max, dtype="u8")), True
        return self.value
