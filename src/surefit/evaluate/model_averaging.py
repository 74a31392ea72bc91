"""Bayesian model averaging: every model counts as much as the data make it probable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from surefit.core.arrays import Vector
from surefit.core.certificate import Certificate
from surefit.core.errors import DataError, FormatError, ParameterError, RefusalError
from surefit.evaluate.persistence import Saved, Verify, check_models, check_numbers
from surefit.evaluate.rows.dataset import HeldRows, rows_of
from surefit.evaluate.rows.source_models import answers_of


def posterior_weights(log_evidence: ArrayLike, prior: ArrayLike | None = None) -> Vector:
    r"""Probabilities of hypotheses: :math:`P(h | D) \propto P(D | h) P(h)`, from the logs of the first.

    For a criterion as BIC, hand in -BIC / 2. Without a prior all are equally probable before the data.

    >>> posterior_weights(np.log([0.2, 0.6]))
    array([0.25, 0.75])
    """
    found = np.asarray(log_evidence, dtype=np.float64)
    before = np.ones(len(found)) if prior is None else np.asarray(prior, dtype=np.float64)
    if before.shape != found.shape or (before < 0).any() or not before.sum() > 0:
        raise DataError(f"prior must be {len(found)} numbers of at least 0, not all of them 0.")
    with np.errstate(divide="ignore"):
        score = found + np.log(before)
    if not np.isfinite(score.max()):
        raise DataError("no hypothesis can have made these data: all have probability 0.")
    weights = np.exp(score - score.max())
    return np.asarray(weights / weights.sum())


def averaged(answers: ArrayLike, weights: ArrayLike) -> Any:
    r"""All hypotheses together: :math:`P(x | D) = \sum_h P(x | h) P(h | D)`; answers are (h, ...).

    >>> averaged([[1.0, 0.0], [1.0, 1.0]], [0.25, 0.75])
    array([1.  , 0.75])
    """
    return np.tensordot(np.asarray(weights, dtype=np.float64), np.asarray(answers, dtype=np.float64), axes=1)


def bic_of(model: Any, X: Any, y: Any) -> float:
    r"""The Bayesian information criterion of a fitted model: :math:`k \ln n - 2 \ln L`.

    L is the likelihood of the rows: of normal errors with their variance fitted for a regression, of the
    probabilities for a classifier. k counts coefficients that are not zero, intercepts, and that
    variance; a model that knows its degrees of freedom (``dof_``) says it itself.

    >>> import surefit
    >>> model = surefit.LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 2.1, 2.9])
    >>> round(bic_of(model, [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 2.1, 2.9]), 4)
    -3.8029
    """
    table = rows_of(model, X, y)
    truth = table.y
    if is_classifier(model):
        shares = table.ask(model, method="predict_proba")
        share = shares[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
        with np.errstate(divide="ignore"):
            return float(_parameters(model) * np.log(len(truth)) - 2 * np.log(share).sum())
    error = float(np.mean((truth - table.ask(model)) ** 2))
    if error <= 0:
        raise RefusalError("the model fits every row exactly, so that its likelihood has no bound.")
    deviance = len(truth) * (np.log(2 * np.pi * error) + 1)
    return float((_parameters(model) + 1) * np.log(len(truth)) + deviance)


def _parameters(model: Any) -> float:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    freedom = getattr(last, "dof_", None)
    if freedom is not None and np.ndim(freedom) == 0:
        return float(freedom)
    if not hasattr(last, "coef_"):
        raise RefusalError(f"{type(last).__name__} has no coefficients to count: average other models.")
    intercept = np.atleast_1d(getattr(last, "intercept_", 0.0))
    return float(
        np.count_nonzero(last.coef_) + (len(intercept) if getattr(last, "fit_intercept", True) else 0)
    )


class BayesianModelAverage(Saved, BaseEstimator):
    """Fit several models, and answer with all of them, weighted by how probable the data make each.

    models: a list of regressors, or of classifiers. weights: "bic", from the likelihood and the number of
    parameters, good for many rows; or "evidence", for models that compute it exactly
    (``log_evidence_`` or the last of ``scores_``). prior: probabilities before the data, equal by
    default. After the fit: ``weights_``, ``models_``, ``log_evidence_``.

    >>> import surefit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> def using(k):
    ...     return surefit.make_pipeline(surefit.SelectKBest("correlation", k=k), surefit.LinearRegression())
    >>> model = surefit.BayesianModelAverage([using(1), using(2)]).fit(X, X[:, 0] + rng.normal(size=80))
    >>> model.weights_.round(2)
    array([0.77, 0.23])
    """

    finds: ClassVar[tuple[str, ...]] = ("models_", "log_evidence_", "weights_", "n_features_in_")
    may_find: ClassVar[tuple[str, ...]] = ("classes_", "feature_names_in_")
    reads_sources: ClassVar[bool] = True
    n_features_in_: int

    def __init__(self, models: Sequence[Any], *, weights: str = "bic", prior: Any = None) -> None:
        self.models = models
        self.weights = weights
        self.prior = prior

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit every model to all rows, and weigh them."""
        if self.weights not in ("bic", "evidence"):
            raise ParameterError(f"weights={self.weights!r} must be 'bic' or 'evidence'.")
        if not len(self.models):
            raise ParameterError("models is empty: give at least one.")
        table = rows_of(self.models[0], X, y)
        if isinstance(table, HeldRows):
            validate_data(self, X, skip_check_array=True)
        else:
            self.n_features_in_ = table.width
        self.models_ = [table.fit(model) for model in self.models]
        self.log_evidence_ = self._log_evidence(*table.given())
        self.weights_ = posterior_weights(self.log_evidence_, self.prior)
        if is_classifier(self):
            self.classes_ = self.models_[0].classes_
        return self

    def _log_evidence(self, X: Any, y: Any, weight: Any = None) -> Vector:
        if self.weights == "bic":
            return np.array([-bic_of(model, X, y) / 2 for model in self.models_])
        return np.array([_evidence(model) for model in self.models_])

    def _check_found(self) -> None:
        check_numbers(self, "weights_", "log_evidence_")
        check_models(self, self.models_)
        if len(self.weights_) != len(self.models_):
            raise FormatError("a BayesianModelAverage has one weight for each of its models.")

    def verify_by(self, verify: Verify, X: Any, y: Any, weight: Any) -> Certificate:
        """Verify every model, and weigh them anew."""
        if weight is not None:
            raise DataError("BayesianModelAverage takes no weights: verify it without them.")
        for model in self.models_:
            found = verify(model, X, y, None)
            if not found.holds:
                return found
        again = posterior_weights(self._log_evidence(X, y), self.prior)
        apart = float(np.abs(again - self.weights_).max())
        measure = "difference of the models' probabilities"
        # A log-likelihood is a sum over rows, whose rounding the exponential carries on.
        return Certificate("exact", measure, apart, 1e-8, {"models": float(len(self.models_))})

    def predict(self, X: Any) -> Any:
        """The weighted mean of the predictions; for classifiers the class that is most probable."""
        check_is_fitted(self)
        if is_classifier(self):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return averaged([answers_of(model, X) for model in self.models_], self.weights_)

    @available_if(lambda self: is_classifier(self))
    def predict_proba(self, X: Any) -> Any:
        """The weighted mean of the probabilities."""
        check_is_fitted(self)
        return averaged([answers_of(model, X, "predict_proba") for model in self.models_], self.weights_)

    def score(self, X: Any, y: Any) -> float:
        """R² of a regression, accuracy of a classifier."""
        from surefit.metrics import accuracy_score, r2_score

        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if len(self.models):
            inner = get_tags(self.models[0])
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
            tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags


def _evidence(model: Any) -> float:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    for name in ("log_evidence_", "log_marginal_likelihood_"):
        if hasattr(last, name):
            return float(getattr(last, name))
    scores = getattr(last, "scores_", None)
    if scores is not None and len(scores):
        return float(scores[-1])
    raise RefusalError(f"{type(last).__name__} computes no evidence: use weights='bic', or models that do.")
