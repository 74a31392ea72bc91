"""Inference for classifiers by maximum likelihood: logistic, softmax and ordered classes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.data.source import Source
from surefit.losses.families import Binomial
from surefit.losses.family_loss import FamilyLoss
from surefit.losses.joint import CumulativeLink
from surefit.losses.links import Logit
from surefit.models.linear.inference.generalised_linear import FamilyPieces
from surefit.models.linear.inference.likelihood import Likelihood, ManyScores, OneScore
from surefit.models.linear.inference.likelihood_report import FitNumbers, LikelihoodInference, penalised
from surefit.models.linear.inference.marginal_effects import (
    Effects,
    MeanEffects,
    OrderedEffects,
    SoftmaxEffects,
)


class ClassInference(LikelihoodInference):
    """Inference for classes: the log-likelihood needs no constant, and there is no dispersion."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def _source(self, *data: Any, **also: Any) -> Source: ...

    def _rows_for_inference(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> Source:
        if any(finding.code == "separated-classes" for finding in self.__dict__.get("diagnosis_", ())):
            raise RefusalError(
                f"{type(self).__name__} has no standard errors, tests and intervals for this fit: its "
                "classes are separable, so no finite maximum-likelihood estimate exists; drop the "
                "separating column, or use BayesianLogisticRegression."
            )
        return self._source(X, y, sample_weight, reset=False, classes=np.unique(self.classes_), **also)

    def _title(self) -> str:
        return type(self).__name__

    def _fit_numbers(self, source: Source, dispersion: str | float) -> FitNumbers:
        weight = sum(
            float(len(batch)) if batch.weight is None else float(batch.weight.sum()) for batch in source
        )
        used = dispersion if isinstance(dispersion, float | int) else 1.0
        return FitNumbers(self._title(), weight, 0.0, float(used))


class LogisticInference(ClassInference):
    """Inference for logistic regression with C=inf; parameters of several classes are beside the first."""

    coef_: NDArray[np.float64]
    intercept_: Any
    fit_intercept: bool
    C: float

    def _why_no_inference(self) -> str | None:
        if getattr(self, "constraints", None) is not None:
            return "its constraints hold coefficients at their bounds"
        if getattr(self, "correction", None) is not None:
            return "Firth's correction changes its likelihood"
        if getattr(self, "class_weight", None) is not None:
            return "class_weight makes weights that are no longer counts of rows"
        if np.isinf(self.C):
            return None
        return penalised("C", self.C)

    def _title(self) -> str:
        return "Logistic regression" if len(self.classes_) == 2 else "Softmax regression"

    def _likelihood(self, source: Source) -> Likelihood:
        names = self._column_names()
        if len(self.classes_) > 2:
            return ManyScores(source, names, self.fit_intercept, self.coef_, self.intercept_, self.classes_)
        head = self.intercept_[:1] if self.fit_intercept else []
        pieces = FamilyPieces(FamilyLoss(Binomial(), Logit()))
        theta = np.concatenate([head, self.coef_[0]])
        return OneScore(source, names, self.fit_intercept, theta, (), pieces, pieces.expected)

    def _effects(self, likelihood: Likelihood) -> Effects:
        if len(self.classes_) == 2:
            return MeanEffects(Logit(), self.fit_intercept)
        return SoftmaxEffects(self.fit_intercept, tuple(str(label) for label in self.classes_))


class OrderedInference(ClassInference):
    """Inference for ordered classes: coefficients and thresholds."""

    coef_: NDArray[np.float64]
    thresholds_: NDArray[np.float64]
    alpha: float
    link: Any

    if TYPE_CHECKING:

        def _ranked(self, source: Source) -> Source: ...

    def _why_no_inference(self) -> str | None:
        if getattr(self, "constraints", None) is not None:
            return "its constraints hold coefficients at their bounds"
        if self.alpha == 0:
            return None
        return penalised("alpha", self.alpha)

    def _rows_for_inference(self, X: Any, y: Any, sample_weight: Any, **also: Any) -> Source:
        return self._ranked(super()._rows_for_inference(X, y, sample_weight, **also))

    def _title(self) -> str:
        return f"Cumulative {self.link} regression"

    def _likelihood(self, source: Source) -> Likelihood:
        labels = [str(label) for label in self.classes_]
        between = tuple(f"{low}|{high}" for low, high in pairwise(labels))
        theta = np.concatenate([self.coef_, self.thresholds_])
        pieces = CumulativeLink(self.link).pieces
        return OneScore(source, self._column_names(), False, theta, between, pieces, thresholds=True)

    def _effects(self, likelihood: Likelihood) -> Effects:
        return OrderedEffects(CumulativeLink(self.link), tuple(str(label) for label in self.classes_))
