r"""Classifiers out of machines for two classes: one for each pair, which vote.

Their scores also become probabilities that never contradict the predicted class.

A score f of two classes becomes :math:`1 / (1 + e^{-s f})`. The slope s >= 0 is the likeliest for scores of
rows that were held out, with the targets of Platt; there is no shift, so that a probability passes one half
where the score passes 0. Several classes are coupled out of their pairs by least squares (Wu, Lin and Weng),
and where that would put another class than the predicted one first, the two change places.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, ParameterError
from surefit.core.native.kernel.smo import DualSolution
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.source import Source
from surefit.engine.base import Engine, choose_engine
from surefit.models.base import Learned
from surefit.models.class_weight import class_factors, with_class_weight
from surefit.models.kernel.svm.duality import KKTReport, Machine, certificate, kkt_report
from surefit.models.kernel.svm.kernel_values import KernelValues
from surefit.models.kernel.svm.machine import KernelMachine, MachineParameters
from surefit.models.rows_in_memory import gathered
from surefit.resample.streams import seed_of, stream

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
FOLDS = 5
STEEPEST = 1e3  # slope times the mean score: certainty to hundreds of digits
FLATTEST = 1e-6  # the same; what knows nothing still says which class it would take


@dataclass(frozen=True, slots=True)
class PairParameters(MachineParameters):
    """The same, the labels, how many support vectors each class has, the factors of the classes' weights, and
    the slopes that turn scores of pairs into probabilities, if they were asked for.
    """

    classes: NDArray[Any]
    support_of_class: NDArray[np.int32]
    class_weight: Floats
    slopes: Floats


@dataclass(frozen=True, slots=True)
class PairFit:
    """The machine of two classes: its rows, their signed multipliers and sums, and the intercept."""

    rows: NDArray[np.intp]
    beta: Floats
    intercept: float
    machine: Machine | None
    solution: DualSolution | None


def has_probability(model: Any) -> bool:
    """Whether probabilities were asked for."""
    if model.probability == "deprecated" or not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class PairMachine(ClassifierMixin, KernelMachine, abstract=True):
    """One machine for each pair of classes, or a single one for two."""

    learns = PairParameters

    class_weight: Any
    decision_function_shape: str
    break_ties: bool
    probability: Any
    random_state: Any
    tie: str

    classes_: NDArray[Any]
    support_of_class_: NDArray[np.int32]
    class_weight_: Floats
    slopes_: Floats

    @abstractmethod
    def _two(self, points: Any, y: Floats, weight: Floats, names: NDArray[Any]) -> PairFit:
        """Fit the machine of two classes; y: signs, names: the numbers of the rows."""

    @abstractmethod
    def _pair_machine(self, y: Floats, weight: Floats, beta: Floats, f: Floats, intercept: float) -> Machine:
        """The problem of two classes and a point of it."""

    # --- fitting ---

    def _weighted(self, source: Source, engine: Engine) -> Batch:
        return gathered(with_class_weight(source, engine, self.class_weight))

    @staticmethod
    def _pairs(codes: Codes, classes: int) -> Iterator[tuple[int, NDArray[np.intp], Floats]]:
        """The number of each pair, its rows, and their signs: those of the first class are positive, but of
        two classes in all those of the second.
        """
        side = -1.0 if classes == 2 else 1.0
        for at, (a, b) in enumerate(combinations(range(classes), 2)):
            rows = np.flatnonzero((codes == a) | (codes == b))
            yield at, rows, np.where(codes[rows] == a, side, -side)

    def _fit_pairs(
        self, points: Any, codes: Codes, weight: Floats, classes: int, names: NDArray[Any]
    ) -> list[PairFit]:
        found = []
        for _, rows, y in self._pairs(codes, classes):
            if len(rows) == 0 or (y == y[0]).all():  # a class without rows never wins
                alone = float(y[0]) if len(rows) else 0.0
                found.append(PairFit(rows, np.zeros(len(rows)), alone, None, None))
                continue
            fit = self._two(self._subset(points, rows), y, weight[rows], names[rows])
            found.append(PairFit(rows, fit.beta, fit.intercept, fit.machine, fit.solution))
        return found

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        labels = source.schema.classes
        assert labels is not None
        if len(labels) < 2:
            raise DataError(
                f"The number of classes has to be greater than one; got {len(labels)} class: add rows of "
                "another."
            )
        factors = class_factors(self.class_weight, source, engine)
        batch, rows = self._kept(self._weighted(source, engine))
        codes = np.asarray(batch.y, dtype=np.int64)[rows]
        if len(np.unique(codes)) < 2:
            raise DataError(
                "Invalid input - all samples with positive weights belong to the same class: give weight to "
                "rows of another."
            )
        weight = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        gamma = self._gamma_of(batch)
        values = self._values(gamma, source.schema.width)
        X: Any = batch.X
        if len(rows) < len(batch):
            X = X[np.ix_(rows, rows)] if values.given else X[rows]
        points = values.solvable(X)
        fits = self._fit_pairs(points, codes, weight[rows], len(labels), rows)
        machines = [fit.machine for fit in fits if fit.machine is not None]
        proof = certificate(machines, self.tol, values.is_positive(points[1], points[0]))
        support, signed, counts = _merged(fits, codes, len(labels))
        slopes = np.empty(0)
        if self.probability != "deprecated" and self.probability:
            slopes = self._slopes(values, points, X, codes, weight[rows], fits, len(labels))
        solutions = [fit.solution for fit in fits if fit.solution is not None]
        steps = np.array([0 if f.solution is None else f.solution.steps for f in fits], dtype=np.int32)
        more = {
            "classes": labels,
            "support_of_class": counts,
            "class_weight": np.ones(len(labels)) if factors is None else factors,
            "slopes": slopes,
        }
        intercept = np.array([fit.intercept for fit in fits])
        return self._learned(
            batch,
            gamma,
            signed,
            intercept,
            rows[support],
            solutions,
            steps,
            trace,
            proof,
            self._evidence(source, engine),
            more,
        )

    def _slopes(
        self,
        values: KernelValues,
        points: Any,
        X: Any,
        codes: Codes,
        weight: Floats,
        fits: list[PairFit],
        classes: int,
    ) -> Floats:
        """The slopes of the sigmoids, by scores of rows that were held out."""
        scores = np.zeros((len(codes), len(fits)))
        parts = folds(codes, self.random_state) or [(np.arange(len(codes)),) * 2]
        for here, held in parts:
            inner = self._fit_pairs(
                self._subset(points, here), codes[here], weight[here], classes, np.arange(len(here))
            )
            coef = np.zeros((len(fits), len(here)))
            for at, fit in enumerate(inner):
                coef[at, fit.rows] = fit.beta
            rows = X[np.ix_(held, here)] if values.given else X[held]
            found = values.sums(None if values.given else X[here], rows, coef)
            scores[held] = found + np.array([fit.intercept for fit in inner])
        slopes = np.ones(len(fits))
        for at, rows, y in self._pairs(codes, classes):
            if len(rows) and not (y == y[0]).all():
                slopes[at] = sigmoid_slope(scores[rows, at], y > 0, weight[rows])
        return slopes

    # --- proof ---

    def _spread(self, batch: Batch) -> Floats:
        """The signed coefficients, one row a pair."""
        return self._of_pairs()

    def _of_pairs(self) -> Floats:
        classes = len(self.classes_)
        if classes == 2:
            return self.signed_
        own = np.repeat(np.arange(classes), self.support_of_class_)
        found = np.zeros((classes * (classes - 1) // 2, len(own)))
        for at, (a, b) in enumerate(combinations(range(classes), 2)):
            found[at, own == a] = self.signed_[b - 1, own == a]
            found[at, own == b] = self.signed_[a, own == b]
        return found

    def _machines(self, batch: Batch, f: Floats) -> list[Machine]:
        weight = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight, dtype=np.float64)
        codes = np.where(weight > 0, np.asarray(batch.y, dtype=np.int64), -1)
        signed, found = np.zeros((f.shape[1], len(batch))), []
        signed[:, self.support_] = self._of_pairs()
        for at, rows, y in self._pairs(codes, len(self.classes_)):
            if len(rows) and not (y == y[0]).all():
                beta, bias = signed[at, rows], float(self.intercept_[at])
                found.append(self._pair_machine(y, weight[rows], beta, f[rows, at], bias))
        return found

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        return super()._certify(with_class_weight(source, engine, self.class_weight), engine)

    def kkt_report(self, X: Any, y: Any, sample_weight: Any = None) -> KKTReport | list[KKTReport]:
        """Return, for the rows of the fit, multipliers, slacks, and how far each KKT condition is from
        holding; of more than two classes a list, one report a pair, with the rows of its classes.

        >>> from surefit import SVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
        >>> SVC(kernel="linear").fit(X, y).kkt_report(X, y).place.tolist()
        ['on the margin', 'misclassified', 'misclassified', 'on the margin']
        """
        source = self._source(X, y, sample_weight, reset=False, classes=self.classes_)
        batch = self._weighted(source, choose_engine(source))
        machines = self._checked_machines(batch, self._values(self.gamma_, self.n_features_in_))
        reports = [kkt_report(machine) for machine in machines]
        return reports[0] if len(self.classes_) == 2 else reports

    def check_loaded(self) -> None:
        """Refuse fitted values that do not belong together."""
        super().check_loaded()
        classes = len(self.classes_)
        pairs = classes * (classes - 1) // 2
        fits = (
            classes >= 2
            and self.signed_.shape[0] == classes - 1
            and self.intercept_.shape == (pairs,)
            and self.support_of_class_.shape == (classes,)
            and int(self.support_of_class_.min()) >= 0
            and int(self.support_of_class_.sum()) == len(self.support_)
            and self.slopes_.shape in ((0,), (pairs,))
        )
        if not fits:
            self._refuse_parts()

    # --- answers ---

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many support vectors each class has."""
        found: NDArray[np.int32] = self._fitted("support_of_class_")
        return found

    @property
    def probA_(self) -> Floats:
        """Minus the slopes of the sigmoids, as libsvm writes them; empty without probabilities."""
        return -np.asarray(self._fitted("slopes_"))

    @property
    def probB_(self) -> Floats:
        """The shifts of the sigmoids, which are 0, so that probabilities agree with predictions."""
        return np.zeros(len(self._fitted("slopes_")))

    def _weights(self, signed: Floats) -> Any:
        return super()._weights(self._of_pairs())

    def _pair_scores(self, X: Any) -> Floats:
        """One score a pair, (n, pairs): positive for the first class, but of two in all for the second."""
        return self._scores(X, self._of_pairs()) + self.intercept_

    def _first_wins(self, scores: Floats) -> NDArray[np.bool_]:
        """Whether the first class of each pair wins; a score of exactly 0 goes by ``tie``."""
        won = scores < 0 if len(self.classes_) == 2 else scores > 0
        return won | (scores == 0) if self.tie == "first" else won

    def _codes(self, scores: Floats) -> NDArray[np.intp]:
        """The class of each row, by scores of pairs."""
        first, classes = self._first_wins(scores), len(self.classes_)
        if classes == 2:
            return np.where(first[:, 0], 0, 1)
        if self.break_ties:
            return np.asarray(self._rest_scores(scores).argmax(axis=1))
        votes = np.zeros((len(scores), classes), dtype=np.int64)
        for at, (a, b) in enumerate(combinations(range(classes), 2)):
            votes[:, a] += first[:, at]
            votes[:, b] += ~first[:, at]
        return np.asarray(votes.argmax(axis=1))

    def _rest_scores(self, scores: Floats) -> Floats:
        """One score a class: its votes, and a part of its scores, so that the surer of equals wins."""
        classes = len(self.classes_)
        votes, sums = np.zeros((2, len(scores), classes))
        for at, (a, b) in enumerate(combinations(range(classes), 2)):
            votes[:, a] += scores[:, at] >= 0
            votes[:, b] += scores[:, at] < 0
            sums[:, a] += scores[:, at]
            sums[:, b] -= scores[:, at]
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))

    def _decide(self, X: Any) -> Floats:
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        return self._rest_scores(scores) if self.decision_function_shape == "ovr" else scores

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the scores: one a row for two classes, else one a class, or one a pair for
        ``decision_function_shape="ovo"``; or write them ``to`` a file.
        """
        names = self._class_names()
        if self.decision_function_shape == "ovo" and len(names) > 2:
            names = [f"{a}, {b}" for a, b in combinations(names, 2)]
        return self._answer(self._decide, X, to, names if len(names) > 2 else ["score"])

    def predict(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the class of each row, or write it ``to`` a file."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                "break_ties must be False when decision_function_shape is 'ovo': scores of pairs have no "
                "best class."
            )
        return self._answer(
            lambda rows: self.classes_[self._codes(self._pair_scores(rows))], X, to, ["prediction"]
        )

    def _proba(self, X: Any) -> Floats:
        scores = self._pair_scores(X)
        with np.errstate(over="ignore"):
            first = 1 / (1 + np.exp(-self.slopes_ * scores))
        first = 1 - first if len(self.classes_) == 2 else first
        return agreeing(coupled(first, len(self.classes_)), self._codes(scores))

    @available_if(has_probability)
    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the probability of each class for each row, or write them ``to`` a file; the largest is that
        of the predicted class.
        """
        if "slopes_" in self.__dict__ and len(self.slopes_) == 0:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: fit again with "
                "probability=True."
            )
        return self._answer(self._proba, X, to, self._class_names())

    @available_if(has_probability)
    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> Any:
        """Return the logarithms of the probabilities, or write them ``to`` a file."""

        def logs(rows: Any) -> Floats:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self._proba(rows)))

        return self._answer(logs, X, to, self._class_names(), infinite=True)


def _merged(
    fits: list[PairFit], codes: Codes, classes: int
) -> tuple[NDArray[np.intp], Floats, NDArray[np.int32]]:
    """Return the support vectors, class by class, their coefficients (classes - 1, count) as scikit-learn
    lays them out, and how many each class has.
    """
    signed = np.zeros((classes - 1, len(codes)))
    for fit, (a, b) in zip(fits, combinations(range(classes), 2), strict=True):
        mine = codes[fit.rows] == a
        if classes == 2:
            signed[0, fit.rows] = fit.beta
        else:
            signed[b - 1, fit.rows[mine]] = fit.beta[mine]
            signed[a, fit.rows[~mine]] = fit.beta[~mine]
    rows = np.flatnonzero((signed != 0).any(axis=0))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    counts = np.bincount(codes[rows], minlength=classes).astype(np.int32)
    return rows, np.ascontiguousarray(signed[:, rows]), counts


def sigmoid_slope(scores: Floats, positive: NDArray[np.bool_], weight: Floats) -> float:
    """Return the likeliest slope for scores that were held out.

    >>> one, y = np.ones(4), np.array([False, True, False, True])
    >>> sigmoid_slope(np.array([-2.0, -1.0, 1.0, 2.0]), y, one).__round__(3)
    0.202
    """
    scale = float(weight @ np.abs(scores)) / float(weight.sum())
    if not scale > 0:
        return 1.0
    ours, theirs = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (ours + 1) / (ours + 2), 1 / (theirs + 2))

    def fall(slope: float) -> float:
        return float(weight @ (scores * (expit(slope * scores / scale) - target)))

    if fall(FLATTEST) >= 0:
        return FLATTEST / scale
    if fall(STEEPEST) <= 0:
        return STEEPEST / scale
    return float(brentq(fall, FLATTEST, STEEPEST, xtol=1e-12)) / scale


def coupled(pairs: Floats, classes: int) -> Floats:
    """Return probabilities (n, classes) out of those of the first of each pair (n, pairs).

    They minimise the sum over pairs of (r_ba p_a - r_ab p_b)^2.
    """
    n = len(pairs)
    if classes == 2:
        return np.column_stack([pairs[:, 0], 1 - pairs[:, 0]])
    system = np.zeros((n, classes + 1, classes + 1))
    for at, (a, b) in enumerate(combinations(range(classes), 2)):
        first = np.clip(pairs[:, at], 1e-7, 1 - 1e-7)
        second = 1 - first
        system[:, a, a] += second**2
        system[:, b, b] += first**2
        system[:, a, b] -= first * second
        system[:, b, a] -= first * second
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((n, classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def agreeing(probabilities: Floats, codes: NDArray[Any]) -> Floats:
    """Return probabilities whose largest is that of the predicted class in every row."""
    rows = np.arange(len(codes))
    found = probabilities.copy()
    first = found.argmax(axis=1)
    found[rows, first], found[rows, codes] = probabilities[rows, codes], probabilities[rows, first]
    tied = found.argmax(axis=1) != codes
    found[tied] *= 1 - 1e-12
    found[tied, codes[tied]] += 1e-12
    return found


def folds(codes: NDArray[Any], random_state: Any) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return rows to fit and rows to hold out, each class spread evenly; none where a class has one row."""
    counts = np.bincount(codes)
    parts = min(FOLDS, int(counts[counts > 0].min()))
    if parts < 2:
        return []
    rng = stream(seed_of(random_state), 0)
    fold = np.empty(len(codes), dtype=np.int64)
    for code in np.flatnonzero(counts):
        mine = np.flatnonzero(codes == code)
        fold[mine[rng.permutation(len(mine))]] = np.arange(len(mine)) % parts
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(parts)]
