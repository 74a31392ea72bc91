"""Trees that can be read: as text, JSON, SQL and Python, as boxes, and the way of a row in words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import RefusalError
from surefit.data.door import admit_rows
from surefit.models.tree.base import DecisionTree
from surefit.models.tree.boxes import Boxes, boxes
from surefit.models.tree.conditions import Condition, conditions
from surefit.models.tree.export import as_json, as_python, as_sql, as_text, path_in_words
from surefit.models.tree.nodes import Nodes
from surefit.models.tree.rows import matrix_of


class ReadableTree(DecisionTree, abstract=True):
    """A tree that says what it has learnt."""

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _splits(self) -> dict[int, Condition]:
        check_is_fitted(self)
        if self._has_detours:
            raise RefusalError(
                f"rules of single columns cannot say what missing={self.missing!r} does: "
                "use missing='learned'."
            )
        return conditions(self._nodes(), self._names(), self.levels_)

    @abstractmethod
    def _answer_of(self, value: NDArray[np.float64]) -> Any:
        """What a node of this value says, as a plain Python value."""

    def _told(self) -> tuple[Nodes, dict[int, Condition], Callable[[int], Any]]:
        """The nodes, their conditions, and what each would answer."""
        splits, nodes = self._splits(), self._nodes()
        return nodes, splits, lambda at: self._answer_of(nodes.value[at])

    def _known(self) -> dict[int, list[Any]]:
        return {j: own.tolist() for j, own in enumerate(self.levels_) if len(own)}

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the rules, one line a branch, as deep as ``max_depth``.

        >>> from surefit import DecisionTreeClassifier
        >>> print(DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]).to_text())
        (4 rows, impurity 0.5)
        |-- x0 <= 2.5: no  (2 rows, impurity 0)
        |-- x0 > 2.5: yes  (2 rows, impurity 0)
        """
        return as_text(*self._told(), max_depth)

    def to_json(self) -> str:
        """Return the nodes as JSON: a split names its column, threshold or levels, and its children."""
        return as_json(*self._told())

    def to_sql(self) -> str:
        """Return one CASE expression over the columns, which gives the prediction.

        >>> from surefit import DecisionTreeRegressor
        >>> print(DecisionTreeRegressor().fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 5.0]).to_sql())
        CASE WHEN "x0" <= 2.5 THEN 1.0 ELSE 5.0 END
        """
        return as_sql(*self._told(), self._known())

    def to_python(self) -> str:
        """Return the source of a function ``predict(row)`` that needs no library; row: its cells in order.

        >>> from surefit import DecisionTreeClassifier
        >>> source = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1]).to_python()
        >>> found = {}
        >>> exec(source, found)
        >>> found["predict"]([1.5]), found["predict"]([3.5])
        (0, 1)
        """
        return as_python(*self._told(), self._known())

    def explain(self, X: Any) -> list[str]:
        """Return the way of each row through the tree, in words.

        >>> from surefit import DecisionTreeClassifier
        >>> DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]).explain([[1.5]])
        ['no, because x0 <= 2.5: so went 2 of 4 rows.']
        """
        told, leaves, rows = self._told(), self.apply(X), self._matrix(X)
        return [path_in_words(*told, int(leaf), row) for leaf, row in zip(leaves, rows, strict=True)]

    def boxes(self) -> Boxes:
        """Return the leaves as boxes and weights: the tree as a sum of basis functions."""
        self._splits()  # refuses what boxes cannot say
        return boxes(self._nodes())

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """Rows as the tree sees them."""
        return np.asarray(matrix_of(admit_rows(self, self._accepted(), X), self.levels_), dtype=np.float64)
