"""The tree that merges leave: cuts, the order of its leaves, and cophenetic distances."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix, Vector
from surefit.core.errors import ParameterError

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MergeTree:
    """Merges in scipy's numbering: node n + t is made of the two nodes ``children[t]``, at ``heights[t]``.

    With fewer than n - 1 merges it is a forest.
    """

    children: NDArray[np.int64]
    heights: Vector

    @property
    def leaves(self) -> int:
        """How many rows there are, if the tree is whole."""
        return len(self.children) + 1

    def sizes(self, leaves: int | None = None) -> NDArray[np.int64]:
        """How many leaves each node holds."""
        n = self.leaves if leaves is None else leaves
        size = [1] * n
        for a, b in self.children.tolist():
            size.append(size[a] + size[b])
        return np.array(size, dtype=np.int64)

    def count_below(self, height: float) -> int:
        """How many clusters are left when only merges below a height are made."""
        return int(np.count_nonzero(self.heights >= height)) + 1

    def cut(self, count: int) -> Labels:
        """Labels of ``count`` clusters, numbered as scikit-learn does: by a heap of their nodes."""
        n = self.leaves
        if count > n:
            raise ParameterError(
                f"Cannot extract more clusters than samples: {count} clusters were given for a tree with "
                f"{n} leaves; ask for at most {n}."
            )
        children = self.children.tolist()
        nodes = [-(2 * n - 2)]
        for _ in range(count - 1):
            a, b = children[-nodes[0] - n]
            heappush(nodes, -a)
            heappushpop(nodes, -b)
        label = [-1] * (2 * n - 1)
        for number, node in enumerate(nodes):
            label[-node] = number
        return self._handed_down(label, n)

    def heads(self, leaves: int) -> Labels:
        """Labels of the trees of a forest, in the order of their topmost nodes."""
        n, children = leaves, self.children.tolist()
        top = [True] * (n + len(children))
        for a, b in children:
            top[a] = top[b] = False
        label, number = [-1] * len(top), 0
        for node, is_top in enumerate(top):
            if is_top:
                label[node], number = number, number + 1
        return self._handed_down(label, n)

    def _handed_down(self, label: list[int], leaves: int) -> Labels:
        """Give the label of a node to all leaves below."""
        for t in range(len(self.children) - 1, -1, -1):
            if (own := label[leaves + t]) >= 0:
                a, b = self.children[t].tolist()
                label[a] = label[b] = own
        return np.array(label[:leaves], dtype=np.int64)

    def leaf_order(self) -> NDArray[np.int64]:
        """The leaves from left to right, the first child of each node on the left."""
        n, children, order, stack = self.leaves, self.children.tolist(), [], [2 * self.leaves - 2]
        while stack:
            node = stack.pop()
            if node < n:
                order.append(node)
            else:
                stack += children[node - n][::-1]
        return np.array(order, dtype=np.int64)

    def spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order of leaves, and for each node where its leaves begin in that order."""
        order, size = self.leaf_order(), self.sizes().tolist()
        n = self.leaves
        start = np.zeros(2 * n - 1, dtype=np.int64)
        for t in range(n - 2, -1, -1):
            a, b = self.children[t].tolist()
            start[a] = start[n + t]
            start[b] = start[n + t] + size[a]
        return order, start

    def as_linkage(self) -> Matrix:
        """scipy's matrix: two nodes, height and size, a row for each merge."""
        return np.column_stack([self.children, self.heights, self.sizes()[self.leaves :]]).astype(np.float64)

    def cophenetic(self) -> Vector:
        """At which height each pair of leaves comes together, in scipy's condensed order."""
        n = self.leaves
        order, start = self.spans()
        size = self.sizes()
        joined = np.zeros((n, n))
        for t, (a, b) in enumerate(self.children.tolist()):
            left = order[start[a] : start[a] + size[a]]
            right = order[start[b] : start[b] + size[b]]
            joined[np.ix_(left, right)] = self.heights[t]
        joined = np.maximum(joined, joined.T)
        return joined[np.triu_indices(n, 1)]


def optimal_order(tree: MergeTree, square: Matrix) -> NDArray[np.int64]:
    """The order of leaves, of all that the tree allows, in which neighbours are closest in sum.

    For each node and each pair of its outermost leaves the best order inside is found from those of its
    children (Bar-Joseph, Gifford and Jaakkola), a block of the matrix at a time.
    """
    n = tree.leaves
    order, start = tree.spans()
    size = tree.sizes()
    best, choice = np.zeros((n, n)), np.zeros((n, n, 2), dtype=np.int32)

    def sides(node: int) -> list[NDArray[np.int64]]:
        """The leaves of the two children; a leaf is its own side."""
        if node < n:
            return [np.array([node])]
        return [order[start[c] : start[c] + size[c]] for c in tree.children[node - n].tolist()]

    for a, b in tree.children.tolist():
        for left in sides(a):
            inside_left = _other_side(a, left, tree, order, start, size)
            for right in sides(b):
                inside_right = _other_side(b, right, tree, order, start, size)
                across, ending = square[np.ix_(inside_left, inside_right)], best[np.ix_(inside_right, right)]
                for u in left.tolist():  # u .. m | k .. w: the best m for each k, then the best k for each w
                    reach = best[u, inside_left][:, None] + across
                    m = reach.argmin(axis=0)
                    total = reach[m, np.arange(len(inside_right))][:, None] + ending
                    k = total.argmin(axis=0)
                    best[u, right] = best[right, u] = total[k, np.arange(len(right))]
                    choice[u, right, 0], choice[u, right, 1] = inside_left[m[k]], inside_right[k]
    return _walked(tree, order, start, size, best, choice)


def _other_side(
    node: int,
    side: NDArray[np.int64],
    tree: MergeTree,
    order: NDArray[np.int64],
    start: NDArray[np.int64],
    size: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The leaves that can end a node whose other end is in ``side``."""
    n = tree.leaves
    if node < n:
        return side
    a, b = tree.children[node - n].tolist()
    first, second = (order[start[c] : start[c] + size[c]] for c in (a, b))
    return second if side[0] == first[0] else first


def _walked(
    tree: MergeTree,
    order: NDArray[np.int64],
    start: NDArray[np.int64],
    size: NDArray[np.int64],
    best: Matrix,
    choice: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Read the chosen order from the outermost pair of the root downwards."""
    n = tree.leaves
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)

    def holds(node: int, leaf: int) -> bool:
        return bool(start[node] <= position[leaf] < start[node] + size[node])

    a, b = tree.children[-1].tolist()
    left, right = (order[start[c] : start[c] + size[c]] for c in (a, b))
    ends = best[np.ix_(left, right)]
    u, w = np.unravel_index(int(ends.argmin()), ends.shape)
    found, stack = [], [(2 * n - 2, int(left[u]), int(right[w]))]
    while stack:
        node, first, last = stack.pop()
        if node < n:
            found.append(node)
            continue
        a, b = tree.children[node - n].tolist()
        turned = not holds(a, first)
        if turned:
            m, k = int(choice[last, first, 0]), int(choice[last, first, 1])
            stack += [(a, m, last), (b, first, k)]
        else:
            m, k = int(choice[first, last, 0]), int(choice[first, last, 1])
            stack += [(b, k, last), (a, first, m)]
    return np.array(found, dtype=np.int64)
