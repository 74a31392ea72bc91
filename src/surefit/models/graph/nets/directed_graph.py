"""Directed graphs without cycles: order, separation, blankets, and the three patterns of two arrows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from surefit.core.errors import DataError
from surefit.core.public import public

_MOST_PATHS = 10_000  # that a list of paths may have


@dataclass(frozen=True)
class Path:
    """A path between two nodes, and what blocks it: the node and the reason, or None."""

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]  # "->" or "<-" between neighbours
    blocked_by: str | None
    reason: str

    def __str__(self) -> str:
        drawn = self.nodes[0] + "".join(
            f" {arrow} {node}" for arrow, node in zip(self.arrows, self.nodes[1:], strict=True)
        )
        return f"{drawn}: {self.reason}"


@dataclass(frozen=True)
class Separation:
    """Whether two sets of nodes are d-separated, its truth value, with every path and its blocker."""

    separated: bool
    paths: tuple[Path, ...]

    def __bool__(self) -> bool:
        return self.separated

    @property
    def open_paths(self) -> tuple[Path, ...]:
        """The paths that nothing blocks."""
        return tuple(path for path in self.paths if path.blocked_by is None)

    def __str__(self) -> str:
        first = "d-separated" if self.separated else "not d-separated"
        return "\n".join([first, *(f"  {path}" for path in self.paths)])


@public
class DirectedGraph:
    """Nodes and arrows from parents to children, without a cycle.

    edges: pairs (parent, child); or a mapping from each node to its parents. nodes: those without an arrow,
    or the order in which nodes are listed.

    >>> graph = DirectedGraph([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    >>> graph.parents["wet"], graph.markov_blanket("rain")
    (('rain', 'sprinkler'), ['wet', 'sprinkler'])
    >>> bool(graph.d_separated("rain", "sprinkler"))
    True
    >>> bool(graph.d_separated("rain", "sprinkler", given=["slippery"]))
    False
    """

    def __init__(
        self, edges: Iterable[tuple[str, str]] | Mapping[str, Iterable[str]], nodes: Iterable[str] = ()
    ) -> None:
        parents: dict[str, list[str]] = {node: [] for node in nodes}
        if isinstance(edges, Mapping):
            pairs = [(parent, child) for child, above in edges.items() for parent in above]
            for child in edges:
                parents.setdefault(child, [])
        else:
            pairs = [(str(parent), str(child)) for parent, child in edges]
        for parent, child in pairs:
            if parent == child:
                raise DataError(f"the edge {parent} -> {child} is a cycle: a node is not its own parent.")
            above = parents.setdefault(child, [])
            parents.setdefault(parent, [])
            if parent not in above:
                above.append(parent)
        self.parents: dict[str, tuple[str, ...]] = {node: tuple(above) for node, above in parents.items()}
        self.children: dict[str, tuple[str, ...]] = {
            node: tuple(child for child, above in self.parents.items() if node in above)
            for node in self.parents
        }
        self.order = self._sorted()

    def __repr__(self) -> str:
        return f"DirectedGraph({len(self.parents)} nodes, {len(self.edges)} edges)"

    @property
    def nodes(self) -> list[str]:
        """All nodes, in the order given."""
        return list(self.parents)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """All arrows, (parent, child)."""
        return [(parent, child) for child, above in self.parents.items() for parent in above]

    def _sorted(self) -> list[str]:
        """Parents before children; a cycle is an error that names it."""
        waiting = {node: len(above) for node, above in self.parents.items()}
        ready = [node for node, count in waiting.items() if count == 0]
        order: list[str] = []
        while ready:
            node = ready.pop(0)
            order.append(node)
            for child in self.children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        if len(order) < len(self.parents):
            raise DataError(
                f"the edges form the cycle {' -> '.join(self._cycle(order))}: reverse or remove one."
            )
        return order

    def _cycle(self, sorted_nodes: list[str]) -> list[str]:
        """A cycle, by going from parent to parent among nodes that no order was found for."""
        left = [node for node in self.parents if node not in set(sorted_nodes)]
        walk = [left[0]]
        while True:
            above = next(parent for parent in self.parents[walk[-1]] if parent in left)
            if above in walk:
                return [above, *reversed(walk[walk.index(above) :])]
            walk.append(above)

    def check(self, nodes: Any) -> list[str]:
        """Return one node or several as a list; an unknown one is an error that offers the nearest name."""
        listed = [nodes] if isinstance(nodes, str) else list(nodes)
        for node in listed:
            if node not in self.parents:
                near = get_close_matches(str(node), self.parents, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"the nodes are {', '.join(self.nodes[:8])}."
                raise DataError(f"there is no node {node!r}: {hint}")
        return listed

    def ancestors(self, nodes: Any) -> set[str]:
        """Return all nodes from which arrows lead to one of these, without these themselves."""
        return self._reached(nodes, self.parents)

    def descendants(self, nodes: Any) -> set[str]:
        """Return all nodes to which arrows lead from one of these, without these themselves."""
        return self._reached(nodes, self.children)

    def _reached(self, nodes: Any, along: Mapping[str, tuple[str, ...]]) -> set[str]:
        listed = self.check(nodes)
        found: set[str] = set()
        stack = [other for node in listed for other in along[node]]
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(along[node])
        return found - set(listed)

    def markov_blanket(self, node: str) -> list[str]:
        """Return parents, children and the children's other parents; given them, no other node matters."""
        self.check(node)
        near = {*self.parents[node], *self.children[node]}
        near.update(other for child in self.children[node] for other in self.parents[child])
        return [other for other in self.parents if other in near and other != node]

    def moral_edges(self, nodes: Iterable[str] | None = None) -> set[frozenset[str]]:
        """Return the edges without direction, and one between any two parents of a child."""
        kept = set(self.parents if nodes is None else nodes)
        found = set()
        for child in kept:
            family = [child, *(parent for parent in self.parents[child] if parent in kept)]
            found |= {frozenset((a, b)) for i, a in enumerate(family) for b in family[i + 1 :]}
        return found

    def is_separated(self, x: Any, y: Any, given: Any = ()) -> bool:
        """Whether x and y are d-separated: apart in the moral graph of ancestors without ``given``."""
        left, right, known = set(self.check(x)), set(self.check(y)), set(self.check(given))
        overlap = left & right or (left | right) & known
        if overlap:
            raise DataError(
                f"{sorted(overlap)[0]!r} is in two of the sets: they must have no node in common."
            )
        kept = {*left, *right, *known}
        kept |= self.ancestors(kept)
        near: dict[str, set[str]] = {node: set() for node in kept}
        for edge in self.moral_edges(kept):
            one, two = edge
            near[one].add(two)
            near[two].add(one)
        seen, stack = set(left), list(left)
        while stack:
            for other in near[stack.pop()] - seen - known:
                seen.add(other)
                stack.append(other)
        return not seen & right

    def d_separated(self, x: Any, y: Any, given: Any = ()) -> Separation:
        """Return whether x and y are d-separated given others, with every path and what blocks it.

        The answer comes from the moral graph of ancestors; paths are listed for its explanation, up to
        10,000.
        """
        separated = self.is_separated(x, y, given)
        known = set(self.check(given))
        informed = known | self.ancestors(known)
        paths: list[Path] = []
        for start in self.check(x):
            for end in self.check(y):
                for nodes in self._paths(start, end):
                    paths.append(self._judged(nodes, known, informed))
                    if len(paths) == _MOST_PATHS:
                        return Separation(separated, tuple(paths))
        return Separation(separated, tuple(paths))

    def _paths(self, start: str, end: str) -> Iterator[list[str]]:
        """Every path without a repeated node, whatever the direction of its arrows."""
        stack: list[list[str]] = [[start]]
        while stack:
            path = stack.pop()
            if path[-1] == end:
                yield path
                continue
            near = (*self.parents[path[-1]], *self.children[path[-1]])
            stack += [[*path, node] for node in reversed(near) if node not in path]

    def _judged(self, nodes: list[str], known: set[str], informed: set[str]) -> Path:
        arrows = tuple("->" if a in self.parents[b] else "<-" for a, b in pairwise(nodes))
        for place in range(1, len(nodes) - 1):
            node = nodes[place]
            if arrows[place - 1] == "->" and arrows[place] == "<-":
                if node not in informed:
                    return Path(
                        tuple(nodes),
                        arrows,
                        node,
                        f"blocked by {node}, a common effect that is not known, nor anything below it",
                    )
            elif node in known:
                kind = "a common cause" if arrows[place - 1] == "<-" and arrows[place] == "->" else "a link"
                return Path(tuple(nodes), arrows, node, f"blocked by {node}, {kind} that is known")
        return Path(tuple(nodes), arrows, None, "open")

    def pattern(self, a: str, middle: str, b: str) -> str:
        """Explain what two arrows at a middle node say of the nodes beside it.

        >>> print(DirectedGraph([("c", "a"), ("c", "b")]).pattern("a", "c", "b"))
        tail-to-tail (a <- c -> b): c is a common cause; a and b depend on each other until c is known
        """
        self.check([a, middle, b])
        toward = []
        for node in (a, b):
            if node in self.parents[middle]:
                toward.append(True)
            elif middle in self.parents[node]:
                toward.append(False)
            else:
                raise DataError(f"there is no edge between {node!r} and {middle!r}: choose neighbours.")
        if all(toward):
            return (
                f"head-to-head ({a} -> {middle} <- {b}): {middle} is a common effect; on this path "
                f"{a} and {b} are independent until {middle}, or something below it, is known"
            )
        if not any(toward):
            return (
                f"tail-to-tail ({a} <- {middle} -> {b}): {middle} is a common cause; {a} and {b} depend "
                f"on each other until {middle} is known"
            )
        first, last = (a, b) if toward[0] else (b, a)
        return (
            f"head-to-tail ({first} -> {middle} -> {last}): {middle} passes on what {first} says; "
            f"{first} and {last} depend on each other until {middle} is known"
        )
