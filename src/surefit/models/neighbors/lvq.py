"""Learning vector quantisation: a few prototypes of each class, moved to where they tell classes best."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError
from surefit.core.parameters import Count, Positive, RandomState, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.source import Source
from surefit.engine.base import Engine
from surefit.models.base import Estimator, Learned
from surefit.models.candidate import Candidate
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of, stream
from surefit.stats.spread import Spread

PULL = 0.01  # of prototypes to the mean, so that separable classes have an answer
FINE, MOST = 1e-7, 200  # tolerance below which, and numbers up to which, Newton's steps end a fit
SOFT = 0.05  # squared spreads within which two nearest prototypes share a row, so that costs have slopes
Algorithm = Literal["glvq", "gmlvq", "lvq1", "rslvq"]


@dataclass(frozen=True, slots=True)
class PrototypeParameters:
    """Prototypes and the class of each; and Omega, of which Omega' Omega is the metric."""

    prototypes: NDArray[np.float64]
    prototype_labels: NDArray[np.int64]
    omega: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: float
    n_iter: int
    classes: NDArray[Any]


class LVQClassifier(ClassifierMixin, Estimator):
    r"""Tell the class of the nearest of a few prototypes, which are learnt.

    With :math:`d^+` the squared distance of a row from the nearest prototype of its class and :math:`d^-`
    from the nearest of the others, algorithm "glvq" minimises

    .. math:: \frac{1}{W} \sum_i s_i \sigma(\mu_i), \qquad \mu_i = \frac{d_i^+ - d_i^-}{d_i^+ + d_i^-},
        \qquad \sigma(\mu) = 1 / (1 + e^{-\beta \mu})

    Where two prototypes are nearly as near (within 0.05 squared spreads), d is a soft minimum, so that the
    cost is smooth. "gmlvq" also learns the metric :math:`d = (x - w)' \Omega' \Omega (x - w)`, of trace 1
    (``metric_matrix_``). "rslvq" minimises the mean of :math:`-\log P(y_i \mid x_i)` in a mixture of one
    normal distribution of variance ``sigma`` (in units of the mean variance of the columns) about each
    prototype. "lvq1" goes through the rows one by one and moves the nearest
    prototype towards those of its class and away from others, by steps ``learning_rate`` that fall to 0.

    prototypes_per_class: how many; the first at the mean of its class, others at rows far from it. beta: the
    steepness of the sigmoid. max_iter: iterations, or passes of "lvq1". tol: size of the gradient, relative
    to what a move of one spread changes, at which a fit ends.

    The certificate of the smooth costs is stationary: their gradient, computed again. That of "lvq1", which
    minimises nothing, says that the same passes over the same rows lead to the same prototypes.

    >>> from surefit import LVQClassifier
    >>> X = [[0.0, 0.0], [0.2, 1.0], [4.0, 0.1], [4.2, 1.1]]
    >>> model = LVQClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.0, 0.5], [3.0, 0.5]]).tolist()
    ['a', 'b']
    """

    accepts = Accepts(target="class", sparse=False)
    learns = PrototypeParameters
    candidate = Candidate("Learnt prototypes", 12, purpose="distance", most_rows=5_000)
    prototypes_: Matrix
    prototype_labels_: NDArray[np.int64]
    omega_: Matrix
    center_: Vector
    scale_: float
    n_iter_: int
    classes_: NDArray[Any]

    def __init__(
        self,
        algorithm: Algorithm = "glvq",
        *,
        prototypes_per_class: Count = 1,
        beta: Positive = 2.0,
        sigma: Positive = 0.5,
        learning_rate: Positive = 0.1,
        max_iter: Count = 500,
        tol: Tolerance = 1e-5,
        random_state: RandomState = None,
    ) -> None:
        self.algorithm = algorithm
        self.prototypes_per_class = prototypes_per_class
        self.beta = beta
        self.sigma = sigma
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _iteration_limit(self) -> int:
        return self.max_iter

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        spread = engine.accumulate(Spread.of, source)
        rows = _Rows.of(gathered(source), source.schema.classes)
        if rows.present() < 2:
            raise DataError(
                "LVQClassifier tells classes apart, and all rows are of one class: give rows of two, since "
                "the number of classes has to be greater than one; got 1 class."
            )
        start, labels = _start(rows, self.prototypes_per_class)
        omega = np.eye(rows.X.shape[1]) / np.sqrt(rows.X.shape[1])
        if self.algorithm == "lvq1":
            found, steps = self._passes(rows, start, labels), self.max_iter
            certificate = self._repeated(0.0)
        else:
            found, omega, steps = self._descend(rows, start, labels, omega, trace)
            certificate = self._stationary(rows, found, labels, omega)
        parameters = PrototypeParameters(
            found * rows.scale + rows.centre, labels, omega, rows.centre, rows.scale, steps, rows.classes
        )
        return Learned(parameters, certificate, {"rows": len(rows.X), "column_moments": spread.moments})

    # --- smooth costs ---

    def _cost(self, rows: _Rows, W: Matrix, labels: Any, omega: Matrix) -> tuple[float, Matrix, Matrix]:
        """The cost and its slopes by prototypes and by Omega."""
        learns_metric = self.algorithm == "gmlvq"
        gaps = rows.X[:, None, :] - W[None, :, :]
        turned = gaps @ omega.T if learns_metric else gaps
        d = np.einsum("nkj,nkj->nk", turned, turned)
        own = rows.codes[:, None] == labels[None, :]
        s = rows.weight / rows.weight.sum()
        if self.algorithm == "rslvq":
            cost, by_distance = self._likelihood(d, own, s)
        else:
            cost, by_distance = self._margins(d, own, s)
        back = turned @ omega if learns_metric else gaps
        slope = -2 * np.einsum("nk,nkj->kj", by_distance, back)
        if self.algorithm == "rslvq":
            cost, slope = cost + PULL / 2 * float((W**2).sum()), slope + PULL * W
        by_omega = np.zeros_like(omega)
        if learns_metric:
            by_omega = 2 * np.einsum("nk,nki,nkj->ij", by_distance, turned, gaps)
        return cost, slope, by_omega

    def _margins(self, d: Matrix, own: Any, s: Vector) -> tuple[float, Matrix]:
        dp, share_p = _soft_least(d, own)
        dm, share_m = _soft_least(d, ~own)
        whole = np.maximum(dp + dm, 1e-300)
        sigmoid = 1 / (1 + np.exp(-self.beta * (dp - dm) / whole))
        slope = s * self.beta * sigmoid * (1 - sigmoid) * 2 / whole**2
        return float(s @ sigmoid), (slope * dm)[:, None] * share_p - (slope * dp)[:, None] * share_m

    def _likelihood(self, d: Matrix, own: Any, s: Vector) -> tuple[float, Matrix]:
        f = -d / (2 * self.sigma)
        logs, p_all = _log_sum(f)
        own_logs, p_own = _log_sum(np.where(own, f, -np.inf))
        return float(s @ (logs - own_logs)), s[:, None] * (p_own - p_all) / (2 * self.sigma)

    def _descend(
        self, rows: _Rows, start: Matrix, labels: Any, omega: Matrix, trace: Trace
    ) -> tuple[Matrix, Matrix, int]:
        shape, learns_metric = start.shape, self.algorithm == "gmlvq"
        steps = 0

        def unpacked(z: Vector) -> tuple[Matrix, Matrix, float]:
            W = z[: start.size].reshape(shape)
            raw = z[start.size :].reshape(omega.shape) if learns_metric else omega
            size = float(np.sqrt((raw**2).sum()))
            return W, raw / size if learns_metric else raw, size

        def cost(z: Vector) -> tuple[float, Vector]:
            W, turned, size = unpacked(z)
            value, slope, by_omega = self._cost(rows, W, labels, turned)
            if not learns_metric:
                return value, slope.ravel()
            by_omega = (by_omega - turned * (turned * by_omega).sum()) / size
            return value, np.concatenate([slope.ravel(), by_omega.ravel()])

        z = np.concatenate([start.ravel(), omega.ravel()]) if learns_metric else start.ravel()
        found = minimize(
            cost,
            z,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "gtol": self.tol / 10, "ftol": 0.0, "maxls": 50},
        )
        steps = int(found.nit)
        W, turned, _ = unpacked(_polished(cost, found.x) if self.tol < FINE and z.size <= MOST else found.x)
        return W, turned, steps

    def _stationary(self, rows: _Rows, W: Matrix, labels: Any, omega: Matrix) -> Certificate:
        _, slope, by_omega = self._cost(rows, W, labels, omega)
        along = by_omega - omega * (omega * by_omega).sum() if self.algorithm == "gmlvq" else by_omega
        worst = max(float(np.abs(slope).max()), float(np.abs(along).max()))
        off = abs(float((omega**2).sum()) - 1.0)
        return Certificate(
            claim="stationary",
            measure="largest slope of the cost by a prototype or the metric, in units of the mean spread",
            value=max(worst, off if off > 1e-9 else 0.0),
            tolerance=self.tol,
        )

    # --- steps one by one ---

    def _passes(self, rows: _Rows, start: Matrix, labels: Any) -> Matrix:
        W, rng = start.copy(), stream(seed_of(self.random_state) if self.random_state is not None else 0, 0)
        n, step = len(rows.X), 0
        weight = rows.weight / rows.weight.max()
        for _ in range(min(self.max_iter, 50)):
            for i in rng.permutation(n):
                rate = self.learning_rate * (1 - step / (n * min(self.max_iter, 50)))
                gap = rows.X[i] - W
                k = int(np.einsum("kj,kj->k", gap, gap).argmin())
                W[k] += (rate if labels[k] == rows.codes[i] else -rate) * weight[i] * gap[k]
                step += 1
        return W

    def _repeated(self, value: float) -> Certificate:
        return Certificate(
            claim="measured",
            measure="largest change of a prototype when the same passes are made again",
            value=value,
            tolerance=1e-9,
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        rows = _Rows.of(gathered(source), self.classes_)
        W = (self.prototypes_ - rows.centre) / rows.scale
        if self.algorithm != "lvq1":
            return self._stationary(rows, W, self.prototype_labels_, self.omega_)
        start, labels = _start(rows, self.prototypes_per_class)
        return self._repeated(float(np.abs(self._passes(rows, start, labels) - W).max()))

    def check_loaded(self) -> None:
        """Prototypes must have a class each and one column a column."""
        width, count = self.n_features_in_, len(self.prototype_labels_)
        fits = self.prototypes_.shape == (count, width) and self.omega_.shape == (width, width)
        labels = self.prototype_labels_
        if not fits or not ((labels >= 0) & (labels < len(self.classes_))).all():
            raise FormatError("the prototypes of a LVQClassifier must have a class each.")

    # --- answers ---

    @property
    def metric_matrix_(self) -> Matrix:
        """Omega' Omega, the matrix of the metric: its diagonal says how much each column counts."""
        return np.asarray(self.omega_.T @ self.omega_)

    def _distances(self, X: Any) -> Matrix:
        gaps = (np.asarray(X, dtype=np.float64)[:, None, :] - self.prototypes_[None]) / self.scale_
        turned = gaps @ self.omega_.T if self.algorithm == "gmlvq" else gaps
        return np.einsum("nkj,nkj->nk", turned, turned)

    def _by_class(self, X: Any) -> Matrix:
        d = self._distances(X)
        classes = range(len(self.classes_))
        absent = np.full(len(d), np.inf)
        each = [self.prototype_labels_ == c for c in classes]
        return np.column_stack([d[:, own].min(axis=1) if own.any() else absent for own in each])

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of the nearest prototype for each row, or write it ``to`` a file."""
        return self._answer(
            lambda rows: self.classes_[self._by_class(rows).argmin(axis=1)], X, to, ["prediction"]
        )

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Matrix:
        """Return, for each class, the margin by which it is nearer than the nearest other, in -1 to 1.

        With two classes, that of the second.
        """
        return self._answer(self._decide, X, to, self._class_names())

    def _decide(self, X: Any) -> Matrix:
        d = self._by_class(X)
        others = np.column_stack([np.delete(d, c, axis=1).min(axis=1) for c in range(d.shape[1])])
        whole = d + others
        with np.errstate(invalid="ignore"):
            margin = np.where(
                np.isinf(d), -1.0, np.where(np.isinf(others), 1.0, (others - d) / np.maximum(whole, 1e-300))
            )
        return margin[:, 1] if margin.shape[1] == 2 else margin


def _polished(cost: Any, z: Vector, step: float = 1e-5) -> Vector:
    """Newton's steps by differences of slopes, while slopes fall: beyond where comparing costs still
    tells.
    """
    slope = cost(z)[1]
    for _ in range(4):
        moves = np.eye(len(z)) * step
        H = np.array([(cost(z + move)[1] - cost(z - move)[1]) / (2 * step) for move in moves])
        there = z - np.linalg.lstsq((H + H.T) / 2, slope, rcond=1e-10)[0]
        after = cost(there)[1]
        if np.abs(after).max() >= np.abs(slope).max():
            break
        z, slope = there, after
    return z


def _log_sum(f: Matrix) -> tuple[Vector, Matrix]:
    """The logarithm of the sum of exponentials of each row, and the share of each."""
    top = f.max(axis=1, keepdims=True)
    parts = np.exp(f - top)
    whole = parts.sum(axis=1, keepdims=True)
    return top[:, 0] + np.log(whole[:, 0]), parts / whole


def _soft_least(d: Matrix, among: NDArray[np.bool_]) -> tuple[Vector, Matrix]:
    """The least of some distances, rounded off where two are nearly equal, and how much each counts for
    it.
    """
    logs, share = _log_sum(np.where(among, -d / SOFT, -np.inf))
    return SOFT * (np.log(among.sum(axis=1)) - logs), share


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows about their mean, in units of the mean spread."""

    X: Matrix
    codes: NDArray[np.int64]
    weight: Vector
    centre: Vector
    scale: float
    classes: NDArray[Any]

    @classmethod
    def of(cls, batch: Batch, classes: Any) -> _Rows:
        X: Any = batch.X
        X, codes = np.asarray(X, dtype=np.float64), np.asarray(batch.y)
        weight = np.ones(len(X)) if batch.weight is None else batch.weight
        there = weight > 0
        X, codes, weight = X[there], codes[there], weight[there]
        share = weight / weight.sum()
        centre = share @ X
        scale = float(np.sqrt((share @ (X - centre) ** 2).mean()))
        if not np.isfinite(scale):
            raise FloatingPointError("the spread of the columns left the range of floats")
        scale = scale if scale > 0 else 1.0
        return cls((X - centre) / scale, codes, weight, centre, scale, classes)

    def present(self) -> int:
        return len(np.unique(self.codes))


def _start(rows: _Rows, each: int) -> tuple[Matrix, NDArray[np.int64]]:
    """Prototypes to begin with: the mean of each class, then rows of it far from those there are."""
    found, labels = [], []
    for c in np.unique(rows.codes):
        own, weight = rows.X[rows.codes == c], rows.weight[rows.codes == c]
        own = own[np.lexsort(own.T[::-1])] if each > 1 else own
        mine = [rows.weight[rows.codes == c] @ rows.X[rows.codes == c] / weight.sum()]
        for _ in range(each - 1):
            far = np.min([((own - one) ** 2).sum(axis=1) for one in mine], axis=0)
            mine.append(own[far.argmax()])
        found += mine
        labels += [c] * each
    return np.array(found), np.array(labels, dtype=np.int64)
