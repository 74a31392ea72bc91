"""Small planted problems for every loss, in every form that an objective can read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.laws.pieces import Pieces

from surefit.core.registry import members
from surefit.data.batches.batch import Batch
from surefit.data.schema import Schema
from surefit.engine.serial import Serial
from surefit.losses.base import Loss
from surefit.penalties.base import CASE_COLUMNS, Penalty
from surefit.solvers.objective.base import Objective
from surefit.solvers.objective.solver import Solver

LOSSES: dict[str, type[Loss]] = dict(members("loss"))  # type: ignore[arg-type]
PENALTIES: dict[str, type[Penalty]] = dict(members("penalty"))  # type: ignore[arg-type]
SOLVERS: dict[str, type[Solver]] = dict(members("solver"))  # type: ignore[arg-type]
FORMS = ("dense", "sparse", "chunked", "weighted")
ROWS, CLASSES = 60, 3


def losses() -> list[Loss]:
    """Return one loss a class."""
    return [next(iter(cls.variants())) for cls in LOSSES.values()]


def penalties_of(name: str) -> list[Penalty]:
    return list(PENALTIES[name].cases(np.random.default_rng(3)))


def planted(loss: Loss, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw columns, some cells 0, and a target that depends on them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, CASE_COLUMNS)) * (rng.random((ROWS, CASE_COLUMNS)) < 0.7)
    z = X @ rng.normal(size=CASE_COLUMNS) * 0.5 + 0.3 + 0.5 * rng.normal(size=ROWS)
    if loss.task == "multiclass":
        return X, np.argmax(X @ rng.normal(size=(CASE_COLUMNS, CLASSES)) + rng.gumbel(size=(ROWS, 3)), axis=1)
    if loss.task == "binary":
        return X, (rng.random(ROWS) < 1 / (1 + np.exp(-z))).astype(float)
    if loss.domain.high is not None:
        return X, np.clip(np.round(z), loss.domain.low, loss.domain.high)
    if loss.domain.low is None:
        return X, z
    y = np.exp(z) * rng.gamma(2.0, 0.5, size=ROWS) + 0.05
    return X, y if loss.domain.open_low else np.round(y)


def bound(
    X: Any, y: Any, loss: Loss, penalty: Penalty, form: str = "dense", *, fit_intercept: bool = True
) -> Objective:
    """Bind rows to loss and penalty in one of the forms."""
    outputs = CLASSES if loss.task == "multiclass" else None
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "outputs": outputs}
    if form == "weighted":
        options["sample_weight"] = np.arange(len(X)) % 4 * 0.5
    if form != "chunked":
        rows = sp.csr_array(X) if form == "sparse" else X
        return Objective.of_arrays(rows, y, loss, penalty, **options)
    cuts = (0, 7, 30, 31, len(X))
    batches = [Batch(X[a:b], y[a:b], start=a) for a, b in pairwise(cuts)]
    source = Pieces(Schema(X.shape[1], rows=len(X)), (tuple(batches[:2]), tuple(batches[2:])))
    return Objective(source, Serial(), loss, penalty, **options)
