"""Trees that are cut back after they are grown: by a validation part, and by folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError, RefusalError
from surefit.models.tree.growing.pruning import (
    kept_below,
    pruning_path,
    reduced_error_cuts,
    simplified,
    weakest_links,
)
from surefit.models.tree.trees.base import ReadableTree


class PrunableTree(ReadableTree, abstract=True):
    """A tree that can be pruned; each method returns another fitted tree and leaves this one as it is."""

    def prune(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return the tree after reduced-error pruning on these rows, which should be new to it.

        One after the other, the branch whose replacement by a leaf lowers the loss most, or does not
        raise it, becomes one.

        >>> from surefit import DecisionTreeClassifier
        >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 1, 0, 1])
        >>> model.get_n_leaves(), model.prune([[1], [2], [3], [4]], [0, 0, 1, 1]).get_n_leaves()
        (4, 2)
        """
        nodes = self._fitted_nodes()
        loss = self._loss_at_nodes(X, y, sample_weight)
        return self._with(kept_below(nodes, reduced_error_cuts(nodes, loss)))

    def simplify(self) -> Self:
        """Return the tree without splits whose two sides predict the same."""
        nodes = self._fitted_nodes()
        answers = [repr(self._answer_of(value)) for value in nodes.value]
        return self._with(simplified(nodes, np.unique(answers, return_inverse=True)[1]))

    def prune_at(self, ccp_alpha: float) -> Self:
        """Return the tree of least cost-complexity for ``ccp_alpha``."""
        if not ccp_alpha >= 0:
            raise ParameterError(f"prune_at: ccp_alpha={ccp_alpha!r} must be a number of at least 0.")
        nodes = self._fitted_nodes()
        order, alphas, _ = weakest_links(nodes)
        cut = np.zeros(nodes.node_count, dtype=bool)
        cut[[at for at, price in zip(order, alphas[1:], strict=True) if price <= ccp_alpha]] = True
        return self._with(kept_below(nodes, cut))

    def _fitted_nodes(self) -> Any:
        check_is_fitted(self)
        if self._has_surrogates:
            raise RefusalError(
                f"a tree with missing={self.missing!r} cannot be pruned: limit its growth, as by max_depth."
            )
        return self._nodes()

    def _with(self, nodes: Any) -> Self:
        """A copy with another tree, whose splits are some of this one's and so are as good."""
        from surefit.models.tree.nodes.parameters import as_parameters

        other = clone(self)
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k not in other.__dict__})
        kind = self.kernel_criteria[self.criterion]
        arrays = as_parameters(nodes, kind, self.levels_, self.seed_, self.max_features_, self.n_outputs_)
        for name in type(arrays).__dataclass_fields__:
            setattr(other, f"{name}_", getattr(arrays, name))
        return other

    def _loss_at_nodes(self, X: Any, y: Any, weight: Any) -> Vector:
        """The loss of the rows that come by each node, if it were a leaf."""
        path = self.decision_path(X)
        y = np.asarray(y)
        w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        row, node = path.tocoo().coords
        answers = np.array([self._answer_of(value) for value in self._nodes().value])
        if is_classifier(self):
            each = (y[row] != answers[node]).reshape(len(row), -1).mean(axis=1)
        elif self.criterion == "absolute_error":
            each = np.abs(y[row] - answers[node]).reshape(len(row), -1).mean(axis=1)
        else:
            each = ((y[row] - answers[node]) ** 2).reshape(len(row), -1).mean(axis=1)
        found = np.zeros(path.shape[1])
        np.add.at(found, node, w[row] * each)
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PruningChoice:
    """The values of ``ccp_alpha`` that were tried, their cross-validated loss, and which one to take.

    errors: (alphas, folds). best: the value with the least mean. careful: the largest whose mean is within
    one standard error of it. model: the tree of all rows, pruned at the value chosen.
    """

    alphas: Vector
    errors: Matrix
    best: float
    careful: float
    model: Any

    def __repr__(self) -> str:
        losses = dict(zip(self.alphas.tolist(), self.errors.mean(axis=1), strict=True))
        return (
            f"PruningChoice({len(self.alphas)} values of ccp_alpha; best {self.best:.3g} with a loss of "
            f"{losses[self.best]:.4g}, careful {self.careful:.3g} with {losses[self.careful]:.4g}; "
            f"{self.model.get_n_leaves()} leaves)"
        )


def choose_pruning(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, cv: Any = 5, one_standard_error: bool = True
) -> PruningChoice:
    """Choose ``ccp_alpha`` by cross-validation, with the one-standard-error rule unless told otherwise.

    The values tried are the geometric means of neighbours on the pruning path of all rows.

    >>> from surefit import DecisionTreeClassifier
    >>> from surefit.models.tree.trees.post_pruning import choose_pruning
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X[:, 0] > 20) ^ (np.arange(40) % 9 == 0)
    >>> choose_pruning(DecisionTreeClassifier(), X, y, cv=4).model.get_n_leaves()
    2
    """
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing as rows_of

    full = clone(model).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
    path, _ = pruning_path(full._nodes())
    path = np.unique(np.maximum(path, 0.0))
    alphas = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
    y = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    folds = list(check_cv(cv, y, classifier=is_classifier(model)).split(X, y))
    errors = np.empty((len(alphas), len(folds)))
    for k, (train, test) in enumerate(folds):
        inside = None if weight is None else weight[train]
        outside = np.ones(len(test)) if weight is None else weight[test]
        grown = clone(full).fit(rows_of(X, train), y[train], inside)
        losses = grown._loss_at_nodes(rows_of(X, test), y[test], outside)
        errors[:, k] = _losses_along(grown, losses, alphas) / outside.sum()
    mean = errors.mean(axis=1)
    spread = errors.std(axis=1, ddof=1) / np.sqrt(len(folds))
    least = int(np.flatnonzero(mean <= mean.min() + 1e-12)[-1])
    careful = int(np.flatnonzero(mean <= mean[least] + spread[least] + 1e-12)[-1])
    chosen = alphas[careful if one_standard_error else least]
    final = full.prune_at(float(chosen)).set_params(ccp_alpha=float(chosen))
    return PruningChoice(alphas, errors, float(alphas[least]), float(alphas[careful]), final)


def _losses_along(tree: Any, losses: Vector, alphas: Vector) -> Vector:
    """The loss of the tree at each price, from what its nodes would lose as leaves."""
    nodes = tree._nodes()
    order, prices, _ = weakest_links(nodes)
    found = np.empty(len(alphas))
    branch, parents = losses.copy(), nodes.parents
    for at in np.flatnonzero(nodes.inner)[::-1]:
        branch[at] = branch[nodes.grown.left[at]] + branch[nodes.grown.right[at]]
    done = 0
    for k, alpha in enumerate(alphas):
        while done < len(order) and prices[done + 1] <= alpha:
            at = order[done]
            change = losses[at] - branch[at]
            while at >= 0:
                branch[at] += change
                at = int(parents[at])
            done += 1
        found[k] = branch[0]
    return found
