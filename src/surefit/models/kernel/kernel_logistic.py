"""Logistic regression in the feature space of a kernel, or on its values themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import ClassifierMixin

from surefit.core.arrays import Matrix, Vector
from surefit.core.certificate import Certificate
from surefit.core.parameters import Count, Positive, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.door import Accepts
from surefit.data.schema import Column
from surefit.data.source import ArraySource, MappedSource, Source, in_memory
from surefit.engine.base import Engine, choose_engine
from surefit.kernels import Kernel
from surefit.models.base import Learned, certify, fit_admitted
from surefit.models.candidate import Candidate
from surefit.models.class_weight import ClassWeight
from surefit.models.kernel.base import (
    KernelModel,
    KernelName,
    KernelParameters,
    by_bands,
    check_rows,
    finite_gram,
    kept_rows,
    kernel_times,
    objects_again,
    seed_in_use,
    some_floats,
    whole_gram,
)
from surefit.models.kernel.centres import Centres, chosen_centres, drawn_rows
from surefit.models.linear.classification.logistic import LogisticRegression
from surefit.models.transformer import MapRows

FEW = 1000  # rows up to which every one is a centre unless asked otherwise
CUT = 1e-12  # of the largest eigenvalue of the centres' kernel


@dataclass(frozen=True, slots=True)
class KernelLogisticParameters:
    """Coefficients of the rows (m, k), one column for two classes, the intercepts, the rows, the labels, the
    coordinates of the linear fit and what makes them.
    """

    dual_coef: Matrix
    intercept: Vector
    X_fit: Any
    classes: NDArray[Any]
    coordinates: Matrix
    coef: Matrix
    places: Any
    n_iter: int


class KernelLogisticRegression(ClassifierMixin, KernelModel):
    r"""Classify by :math:`P(c | x)` of scores :math:`f(x) = \sum_i a_i k(x_i, x) + b`.

    .. math:: \min_{a, b} \sum_i s_i \ell(y_i, f(x_i)) + \alpha \, a' K a

    :math:`\ell` is the logistic loss, of more than two classes the softmax's cross-entropy. penalty: "l2" as
    above, or "l1" for :math:`\alpha \|a\|_1`, which leaves few rows with a coefficient; then the
    kernel need not be positive. The intercept b is free of penalty. approximation: "nystroem" writes f with
    ``n_centres`` rows alone, and reads rows past memory in passes; None takes all rows; "auto" all of up to
    1000. class_weight, tol and max_iter are those of :class:`~surefit.LogisticRegression`.

    >>> from surefit import KernelLogisticRegression
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelLogisticRegression(gamma=1.0, alpha=0.01).fit(X, y)
    >>> model.predict(X), model.certificate_.holds
    (array([0, 1, 1, 0]), True)
    """

    accepts = Accepts(target="class")
    learns = KernelLogisticParameters
    candidate = Candidate(
        "Kernel logistic regression",
        40,
        purpose="distance",
        settings={"alpha": (0.01, 0.1, 1.0)},
        most_rows=1000,
    )

    dual_coef_: Matrix
    intercept_: Vector
    X_fit_: Any
    classes_: NDArray[Any]
    coordinates_: Matrix
    coef_: Matrix
    places_: Any
    n_iter_: int

    def __init__(
        self,
        kernel: KernelName = "rbf",
        *,
        alpha: Positive = 0.5,
        gamma: Strength | None = None,
        degree: Strength = 3,
        coef0: float = 1,
        kernel_params: KernelParameters = None,
        penalty: Literal["l2", "l1"] = "l2",
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: Tolerance = 1e-4,
        max_iter: Count = 100,
        approximation: Literal["auto", "nystroem"] | None = "auto",
        n_centres: Count = 300,
        centres: Centres = "uniform",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.approximation = approximation
        self.n_centres = n_centres
        self.centres = centres
        self.random_state = random_state

    def _iteration_limit(self) -> int | None:
        return None

    def _linear(self) -> LogisticRegression:
        """The linear fit in coordinates of the feature space."""
        C = 1 / self.alpha if self.penalty == "l1" else 0.5 / self.alpha
        return LogisticRegression(
            C=C,
            l1_ratio=1.0 if self.penalty == "l1" else 0.0,
            tol=self.tol,
            max_iter=self.max_iter,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
        )

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        classes = source.schema.classes
        assert classes is not None
        kernel = self._fitted_kernel()
        chosen, places, K = self._centres(source, engine, kernel)
        R = np.eye(len(K)) if self.penalty == "l1" else coordinates_of(K)
        inner = self._linear()
        made = self._in_coordinates(source, kernel, chosen, places, R, K)
        fit_admitted(inner, made)
        for event in inner.trace_.events:
            for _ in trace.iterations(1):
                trace.record(objective=event.objective, gap=event.gap)
        coef = np.atleast_2d(inner.coef_)
        self._schema = source.schema
        parameters = KernelLogisticParameters(
            np.ascontiguousarray(R @ coef.T),
            np.atleast_1d(np.asarray(inner.intercept_, dtype=np.float64)),
            None if kernel.takes == "gram" else kept_rows(chosen),
            classes,
            R,
            coef,
            places if kernel.takes == "gram" else None,
            int(np.max(inner.n_iter_)),
        )
        certificate = self._said(inner.certificate_, len(K), source.schema.rows)
        return Learned(parameters, certificate, {})

    def _centres(self, source: Source, engine: Engine, kernel: Kernel) -> tuple[Any, Any, Matrix]:
        """Return the rows that f is written with, their places, and their kernel."""
        batch = in_memory(source)
        rows = None if batch is None else len(batch)
        every = self.approximation is None or (self.approximation == "auto" and (rows or FEW + 1) <= FEW)
        seed = seed_in_use(self.random_state)
        if every and batch is None:
            from surefit.models.rows_in_memory import gathered

            batch = gathered(source)
        if every and batch is not None:
            X: Any = some_floats(batch.X)
            weight = np.ones(len(batch)) if batch.weight is None else np.asarray(batch.weight)
            places = np.flatnonzero(weight > 0)
            chosen = X if len(places) == len(weight) or kernel.takes == "gram" else X[places]
        else:
            X, weight, _ = drawn_rows(source, engine, seed)
            X = some_floats(X)
            if kernel.takes == "gram":
                chosen, places = (
                    X,
                    chosen_centres("uniform", kernel, np.arange(len(weight)), weight, self.n_centres, seed)[
                        1
                    ],
                )
            else:
                chosen, places = chosen_centres(self.centres, kernel, X, weight, self.n_centres, seed)
        if kernel.takes == "gram":
            return chosen, places, np.asarray(kernel(chosen), dtype=np.float64)[np.ix_(places, places)]
        return chosen, places, whole_gram(kernel, chosen)

    def _in_coordinates(
        self, source: Source, kernel: Kernel, chosen: Any, places: Any, R: Matrix, K: Matrix
    ) -> Source:
        """The rows as coordinates of the feature space, at once if they are in memory."""
        columns = tuple(Column(f"k{j}") for j in range(R.shape[1]))
        schema = replace(source.schema, width=R.shape[1], columns=columns)
        plain = self.penalty == "l1"

        def values(X: Any) -> Matrix:
            if kernel.takes == "gram":
                found = np.asarray(kernel(X, X), dtype=np.float64)[:, places]
                return np.ascontiguousarray(found if plain else found @ R)
            rows = objects_again(kept_rows(chosen))
            wide = some_floats(X)
            found = by_bands(
                lambda band: np.asarray(kernel(band, rows)) if plain else np.asarray(kernel(band, rows)) @ R,
                wide,
                len(R),
            )
            return np.ascontiguousarray(found, dtype=np.float64)

        batch = in_memory(source)
        if batch is not None:
            return ArraySource(schema, replace(batch, X=values(batch.X)))
        return MappedSource(source, schema, MapRows(values))

    def _said(self, found: Certificate, centres: int, rows: int | None) -> Certificate:
        if rows is not None and centres >= rows:
            return found
        measure = (
            f"{found.measure}, of the problem approximated by {centres} centres, not of the whole kernel"
        )
        return replace(found, measure=measure)

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        kernel = self._fitted_kernel()
        rows = self.X_fit_ if self.places_ is None else None
        chosen, places = objects_again(rows) if rows is not None else None, self.places_
        made = self._in_coordinates(source, kernel, chosen, places, self.coordinates_, np.empty(0))
        inner = self._linear()
        inner.n_features_in_ = made.schema.width
        inner.coef_, inner.intercept_, inner.classes_ = self.coef_, self.intercept_, self.classes_
        inner.certificate_, inner._schema = self.certificate_, made.schema
        inner.n_iter_ = np.array([self.n_iter_], dtype=np.int32)
        found = certify(inner, made, choose_engine(made))
        again = self.coordinates_ @ self.coef_.T
        size = max(float(np.abs(again).max(initial=0.0)), 1e-300)
        change = float(np.abs(again - self.dual_coef_).max(initial=0.0)) / size
        found = self._said(found, len(self.dual_coef_), source.schema.rows)
        parts = {**found.parts, "coefficients of the rows": change}
        value = found.value if change <= 1e-9 else max(found.value, change, 2 * found.tolerance)
        return replace(found, value=value, parts=parts)

    def check_loaded(self) -> None:
        """Refuse a file whose rows and coefficients do not belong together."""
        check_rows(self, self.dual_coef_, self.X_fit_)
        check_rows(self, self.dual_coef_, self.coordinates_)

    def decision_function(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the scores, (n,) for two classes and (n, k) for more, or write them ``to`` a file."""
        names = self._class_names()
        return self._answer(self._scores, X, to, names[1:] if len(names) == 2 else names)

    def predict(self, X: Any, *, to: str | Path | None = None) -> NDArray[Any]:
        """Return the class of each row, or write it ``to`` a file; of two, a score of 0 is the first."""
        return self._answer(self._labels, X, to, ["prediction"])

    def predict_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, or write them ``to`` a file."""
        return self._answer(self._chances, X, to, self._class_names())

    def predict_log_proba(self, X: Any, *, to: str | Path | None = None) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities."""
        return self._answer(self._log_chances, X, to, self._class_names(), infinite=True)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        kernel = self._fitted_kernel()
        if kernel.takes == "gram":
            found = np.asarray(X, dtype=np.float64)[:, self.places_] @ self.dual_coef_
        else:
            found = kernel_times(kernel, X, self.X_fit_, self.dual_coef_)
        found = found + self.intercept_
        return np.asarray(found[:, 0] if found.shape[1] == 1 else found, dtype=np.float64)

    def _labels(self, X: Any) -> NDArray[Any]:
        scores = self._scores(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _chances(self, X: Any) -> NDArray[np.float64]:
        z = self._scores(X)
        return np.column_stack([expit(-z), expit(z)]) if z.ndim == 1 else np.asarray(softmax(z, axis=1))

    def _log_chances(self, X: Any) -> NDArray[np.float64]:
        z = self._scores(X)
        if z.ndim == 1:
            return np.column_stack([log_expit(-z), log_expit(z)])
        return np.asarray(log_softmax(z, axis=1))


def coordinates_of(K: Matrix) -> Matrix:
    """Return R with R'KR = I, on the range of K: what is rounding of its largest eigenvalue is left out."""
    values, vectors = linalg.eigh(finite_gram((K + K.T) / 2))
    kept = values > CUT * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
    found: Vector = np.sqrt(values[kept])
    return np.ascontiguousarray(vectors[:, kept] / found)
