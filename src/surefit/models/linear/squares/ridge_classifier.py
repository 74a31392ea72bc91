"""Classification by ridge regression on targets of plus and minus one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.certificate import Certificate
from surefit.core.errors import RefusalError
from surefit.core.parameters import Count, RandomState, Strength, Tolerance
from surefit.core.trace import Trace
from surefit.data.batches.batch import Batch
from surefit.data.door import Accepts
from surefit.data.schema import Schema
from surefit.data.source import MappedSource, Source
from surefit.engine.base import Engine
from surefit.models.base import Learned
from surefit.models.class_weight import ClassWeight, class_factors, given_factors
from surefit.models.linear.common.class_scores import LinearClassification, SignedTargets, signed_labels
from surefit.models.linear.common.constraints import Constraints
from surefit.models.linear.common.label_columns import TakesLabelColumns
from surefit.models.linear.squares.ridge import NoInference, RidgeBase, RidgeParameters, certify_ridge
from surefit.models.linear.squares.ridge_fit import Fitted, Solver
from surefit.models.updating import OneStatisticClassifier
from surefit.stats.moments import Moments


@dataclass(frozen=True, slots=True)
class RidgeClassifierParameters(RidgeParameters):
    """The same, and the labels."""

    classes: NDArray[Any]


class RidgeClassifier(
    TakesLabelColumns, NoInference, LinearClassification, RidgeBase, OneStatisticClassifier
):
    r"""Fit ridge to targets of +1 for the class and -1 for the others, and predict the largest score.

    Minimises :math:`\sum_i s_i \|t_i - W'x_i - b\|^2 + \alpha \|W\|^2`. class_weight: what the weight of a
    row is multiplied by, one number a class; "balanced" gives all classes the same weight in total. The rest
    is as in :class:`~surefit.Ridge`. Of equal scores, the class that sorts first wins. A target of several
    columns holds labels, each there (1) or not (0), and is predicted so.

    >>> from surefit import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['low', 'high']
    >>> model.decision_function([[2.0]]).round(6)
    array([0.])
    """

    accepts = Accepts(target="class")
    learns = RidgeClassifierParameters
    shaping = ("class_weight",)

    def __init__(
        self,
        alpha: Strength | np.ndarray | list | tuple = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Count | None = None,
        tol: Tolerance = 1e-4,
        class_weight: ClassWeight = None,
        solver: Solver = "auto",
        positive: bool = False,
        random_state: RandomState = None,
        constraints: Constraints = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.constraints = constraints

    def _of(self, schema: Schema) -> Callable[[Batch], Moments]:
        if self.class_weight == "balanced":
            raise RefusalError(
                "class_weight='balanced' depends on all rows, so rows cannot be added or removed: give the "
                "weights as a dictionary, or fit all rows at once."
            )
        super()._of(schema)
        assert schema.classes is not None
        factors = given_factors(self.class_weight, schema.classes)
        return partial(_signed_moments, SignedTargets(len(schema.classes), factors))

    def _learn(self, source: Source, engine: Engine, trace: Trace) -> Learned:
        signed = signed_source(source, engine, self.class_weight)
        learned = self._learn_numbers(signed, engine, trace, source.schema)
        if self.class_weight == "balanced" or source.schema.classes is None:
            self.__dict__.pop("statistic_", None)
        return learned

    def _why_nothing_kept(self) -> str:
        if self.class_weight == "balanced":
            return "class_weight='balanced' depends on all rows"
        if self._has_label_columns():
            return "rows with several labels are fitted all at once"
        return super()._why_nothing_kept()

    def _learned(self, found: Fitted, schema: Schema) -> Learned:
        learned = super()._learned(found, schema)
        classes = labels_of(schema)
        old = {entry.name: getattr(learned.parameters, entry.name) for entry in fields(RidgeParameters)}
        return Learned(
            RidgeClassifierParameters(**old, classes=classes),
            learned.certificate,
            class_evidence(learned.evidence, schema.classes),
        )

    def _certify(self, source: Source, engine: Engine) -> Certificate:
        signed = signed_source(source, engine, self.class_weight)
        return certify_ridge(self, signed, engine, self._problem(signed.schema.targets))


def signed_source(source: Source, engine: Engine, class_weight: ClassWeight) -> Source:
    """The source with targets of plus and minus one, and the weights of the classes in."""
    classes = source.schema.classes
    if classes is None:
        if class_weight is not None:
            raise RefusalError("class_weight is not supported for multilabel targets: use sample_weight.")
        return MappedSource(source, source.schema, signed_labels)
    return SignedTargets(len(classes), class_factors(class_weight, source, engine)).source(source)


def labels_of(schema: Schema) -> NDArray[Any]:
    """The classes, or the numbers of the columns of labels."""
    return np.arange(schema.targets) if schema.classes is None else schema.classes


def class_evidence(evidence: Any, classes: NDArray[Any] | None) -> dict[str, Any]:
    """What a fit to targets of plus and minus one says of the classes; of labels nothing."""
    if classes is None:
        return dict(evidence)
    targets = evidence["target_moments"]
    share = (1.0 + targets.mean) / 2
    weights = targets.weight * (
        np.concatenate([1.0 - share, share])[: len(classes)] if len(share) == 1 else share
    )
    kept = {name: value for name, value in evidence.items() if name != "target_moments"}
    return {**kept, "class_weights": (classes, weights)}


def _signed_moments(signed: SignedTargets, batch: Batch) -> Moments:
    return Moments.of(signed(batch))
