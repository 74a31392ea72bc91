"""Epochs of stochastic gradient descent over a source, for one problem or for one a class, side by side.

Rows in memory are one batch, shuffled anew for each epoch; a source is read batch by batch, each shuffled in
itself, and every batch serves all problems before the next one is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.errors import DataError
from surefit.core.native.linear.sgd import SgdEpoch, SgdPlan, SgdState, sgd_epoch
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.solvers.objective.base import Objective

SPARSE_INTERCEPT_RATE = 0.01  # of the other steps: where columns are rare, an intercept would swing
LARGEST_SEED = 2**31 - 1
SHORTEST = 1e-6  # step to which the adaptive rate goes down
SHORTER = 5.0


@dataclass(frozen=True, slots=True)
class Stopping:
    """End when the objective has not fallen by ``tol`` below its best for so many epochs; None never ends."""

    tol: float | None
    patience: int


@dataclass(slots=True)
class Problem:
    """One target with its objective and state; ``target`` makes its y and weights of a batch."""

    objective: Objective
    target: Callable[[Batch], Batch]
    state: SgdState
    seed: int
    scale: float = 1.0  # what the weights are multiplied by, to be 1 on average
    held_out: NDArray[np.bool_] | None = None
    order: NDArray[np.int64] | None = None
    best: float = np.inf
    waited: int = 0
    epochs: int = 0
    moves: int = 0
    done: bool = False
    epoch: SgdEpoch = field(default_factory=lambda: SgdEpoch(0.0, 0.0, 0))

    def packed(self, average: int) -> Vector:
        """Return coefficients and intercept, or their means where averaging has begun."""
        averaged = 0 < average <= self.state.t - 1
        w, b = (
            (self.state.mean, self.state.mean_intercept) if averaged else (self.state.w, self.state.intercept)
        )
        return np.append(w, b) if self.objective.fit_intercept else np.array(w)


def run_epochs(
    problems: Sequence[Problem],
    source: Source,
    plan: SgdPlan,
    stopping: Stopping,
    trace: Trace,
    max_iter: int,
    *,
    shuffle: bool,
    score: Callable[[Problem], float] | None = None,
    learned: Callable[[], Any] | None = None,
) -> None:
    """Go on until every problem is done by its own rule, or the limit of epochs is reached."""
    for number in trace.iterations(max_iter):
        active = [problem for problem in problems if not problem.done]
        for problem in active:
            problem.epoch = SgdEpoch(0.0, 0.0, 0)
        _read(active, source, plan, number, shuffle)
        for problem in active:
            _judge(problem, plan, stopping, number, score)
        objective = float(np.mean([p.epoch.objective / max(p.epoch.weight, 1e-300) for p in problems]))
        step = float(np.mean([problem.state.step for problem in problems]))
        trace.record(objective=objective, step=step, passes=number + 1, learned=learned)
        if all(problem.done for problem in problems):
            break


def _read(problems: Sequence[Problem], source: Source, plan: SgdPlan, epoch: int, shuffle: bool) -> None:
    """Take one step for each row, batch after batch."""
    for number, batch in enumerate(_batches(source)):
        single = len(batch) == source.schema.rows
        for problem in problems:
            rows = problem.target(batch)
            y = np.asarray(rows.y, dtype=np.float64)
            weight = _weights(problem, rows)
            seed = problem.seed
            if not single:  # the order of the last epoch is not kept, so that the seed must change
                problem.order, seed = None, (seed + 0x9E3779B1 * (1 + number + 65537 * epoch)) % 2**32
            if problem.order is None:
                problem.order = np.arange(len(batch))
            order = problem.order
            found = sgd_epoch(batch.X, y, weight, order, plan, problem.state, shuffle=shuffle, seed=seed)
            before = problem.epoch
            problem.epoch = SgdEpoch(
                before.objective + found.objective, before.weight + found.weight, before.moves + found.moves
            )


def _batches(source: Source) -> Iterator[Batch]:
    """Yield the batches as the kernel reads them: rows in C order, or CSR with each entry stored once."""
    for batch in source:
        X: Any = batch.X
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X)
        elif not X.has_canonical_format:
            X = X.tocsr(copy=True)
            X.sum_duplicates()
        yield replace(batch, X=X)


def _weights(problem: Problem, rows: Batch) -> Vector | None:
    weight = rows.weight
    if weight is not None and problem.scale != 1.0:
        weight = weight * problem.scale
    if problem.held_out is not None:
        weight = np.where(problem.held_out, 0.0, 1.0 if weight is None else weight)
    return weight


def _judge(
    problem: Problem,
    plan: SgdPlan,
    stopping: Stopping,
    number: int,
    score: Callable[[Problem], float] | None,
) -> None:
    """Decide whether a problem is done: its objective, or its score on rows held out, no longer improves."""
    problem.epochs, problem.moves = problem.epochs + 1, problem.moves + problem.epoch.moves
    if not np.isfinite(problem.epoch.objective):
        raise DataError(
            f"Floating-point under-/overflow occurred at epoch #{number + 1}. Scaling input data with "
            "StandardScaler or MinMaxScaler might help, and so may a lower eta0."
        )
    now = problem.epoch.objective / problem.epoch.weight if score is None else -score(problem)
    update_stopping(problem, now, stopping.tol, stopping.patience)
    if problem.done and plan.rate == "adaptive" and problem.state.step > SHORTEST:
        problem.state.step /= SHORTER
        problem.waited, problem.done = 0, False


def update_stopping(problem: Problem, now: float, tol: float | None, patience: int) -> None:
    """Take the objective of an epoch in, and end a problem whose best has not fallen by ``tol`` for long."""
    stalled = tol is not None and now > problem.best - tol
    problem.waited = problem.waited + 1 if stalled else 0
    problem.best = min(problem.best, now)
    problem.done = problem.waited >= patience


def seeds_for(random_state: Any, problems: int, regression: bool) -> list[int]:
    """Return one seed a problem, drawn as scikit-learn draws them; None stands for 0."""
    from sklearn.utils import check_random_state

    rng = check_random_state(0 if random_state is None else random_state)
    if regression:
        return [int(rng.randint(0, LARGEST_SEED))]
    if problems == 1:
        return [_second(rng)]
    return [_second(np.random.RandomState(int(seed))) for seed in rng.randint(LARGEST_SEED, size=problems)]


def _second(rng: Any) -> int:
    rng.randint(1, LARGEST_SEED)  # scikit-learn spends one draw on a seed that it does not use
    return int(rng.randint(LARGEST_SEED))


def optimal_begin(alpha: float) -> float:
    r"""Return the t at which 1 / (alpha t) is a typical coefficient's size, :math:`\alpha^{-1/4}`."""
    return 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha) if alpha > 0 else 0.0
