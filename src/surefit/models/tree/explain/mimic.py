"""A tree that mimics another model, so that it can be read, and how faithful it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from surefit.models.tree.trees.classifier import DecisionTreeClassifier
from surefit.models.tree.trees.regressor import DecisionTreeRegressor


@dataclass(frozen=True, slots=True, eq=False)
class Mimic:
    """A tree fitted to what another model predicts.

    fidelity: on the rows given, the share that tree and model classify alike, or R^2 of the model's numbers
    by the tree's. It says how well the tree speaks for the model, not how well either predicts.
    """

    tree: Any
    fidelity: float

    def fidelity_on(self, model: Any, X: Any) -> float:
        """The same on other rows, which is what an explanation of new rows relies on."""
        return float(self.tree.score(X, model.predict(X)))


def mimic(model: Any, X: Any, **settings: Any) -> Mimic:
    """Fit a tree, with these settings (max_depth=4 unless told otherwise), to a model's predictions for X.

    >>> from surefit import LogisticRegression
    >>> X = np.arange(20.0)[:, None]
    >>> found = mimic(LogisticRegression().fit(X, X[:, 0] > 12), X)
    >>> found.fidelity, found.tree.get_n_leaves()
    (1.0, 2)
    """
    given = {"max_depth": 4, **settings}
    predicted = np.asarray(model.predict(X))
    make = DecisionTreeClassifier if is_classifier(model) else DecisionTreeRegressor
    tree = make(**given).fit(X, predicted)
    return Mimic(tree, float(tree.score(X, predicted)))
