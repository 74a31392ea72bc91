r"""Minimise a quadratic over ordered coefficients, :math:`\tfrac12 x'Hx - c'x + pen(x)`, by blocks of levels.

Levels that are equal at the answer form blocks, and a block is one coordinate, so that the rest is a penalty
of single coordinates. Blocks that would pass each other on the way to their minimum are joined where they
meet; at the minimum, a block is cut where its lower levels gain by falling or its upper ones by rising.
Either lowers the objective, so no choice of blocks comes twice. Every direction that keeps the order is made
of such falls and rises, so where none gains, the answer is found.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from surefit.core.arrays import Matrix, Vector
from surefit.penalties.coordinate_table import CoordinateTable
from surefit.solvers.newton.quadratic_model import ROUNDING, minimise_table

Blocks = list[list[int]]


def minimise_ordered(
    H: Matrix, c: Vector, table: CoordinateTable, groups: list[list[int]], start: Vector
) -> Vector | None:
    """Return the minimiser from a start in order; None where H does not determine one.

    >>> free = np.full(2, np.inf)
    >>> table = CoordinateTable(np.zeros(2), np.zeros(2), -free, free)
    >>> minimise_ordered(np.eye(2), np.array([3.0, 1.0]), table, [[0, 1]], np.zeros(2))
    array([2., 2.])
    """
    x = start.copy()
    chains = [_joined_levels(x, group) for group in groups]
    alone = np.setdiff1d(np.arange(len(c)), np.concatenate(groups))
    for _ in range(4 * len(c) + 20):  # as a rule each level is joined and cut once
        blocks: Blocks = [[int(j)] for j in alone] + [block for chain in chains for block in chain]
        aim = _tied(H, c, table, blocks, x)
        if aim is None:
            return None
        share, meeting = _first_meeting(x, aim, chains)
        if meeting is not None:
            x = x + share * (aim - x)
            chain, k = meeting
            merged = chain[k] + chain[k + 1]
            x[merged] = x[merged].mean()
            chain[k : k + 2] = [merged]
            continue
        x = aim
        cut = _gain(H, c, table, chains, x)
        if cut is None:
            return x
        chain, k, at = cut
        chain[k : k + 1] = [chain[k][:at], chain[k][at:]]
    return x


def _joined_levels(x: Vector, group: list[int]) -> Blocks:
    """Return the levels of a group in blocks of equal ones."""
    blocks: Blocks = [[group[0]]]
    for before, j in pairwise(group):
        if x[j] <= x[before]:
            blocks[-1].append(j)
        else:
            blocks.append([j])
    for block in blocks:
        x[block] = x[block].mean()
    return blocks


def _tied(H: Matrix, c: Vector, table: CoordinateTable, blocks: Blocks, x: Vector) -> Vector | None:
    """Return the minimiser with each block as one coordinate."""
    member = np.empty(len(c), dtype=np.intp)
    for k, block in enumerate(blocks):
        member[block] = k
    rows = np.zeros((len(blocks), len(c)))
    np.add.at(rows, member, H)
    tied = np.zeros((len(blocks), len(blocks)))
    np.add.at(tied, member, rows.T)
    first = np.array([block[0] for block in blocks])
    sizes = np.array([len(block) for block in blocks], dtype=np.float64)
    numbers = CoordinateTable(
        table.l1[first] * sizes, table.l2[first] * sizes, table.lower[first], table.upper[first]
    )
    found = minimise_table(
        0.5 * (tied + tied.T), np.bincount(member, c, len(blocks)).astype(np.float64), numbers, x[first]
    )
    return None if found is None else np.clip(found, numbers.lower, numbers.upper)[member]


def _first_meeting(x: Vector, aim: Vector, chains: list[Blocks]) -> tuple[float, tuple[Blocks, int] | None]:
    """Return how far two neighbouring blocks can go until they meet, and which; None where none do."""
    share, found = 1.0, None
    for chain in chains:
        at = np.array([x[block[0]] for block in chain])
        to = np.array([aim[block[0]] for block in chain])
        for k in np.flatnonzero(np.diff(to) < 0):
            room = (at[k + 1] - at[k]) / ((at[k + 1] - at[k]) - (to[k + 1] - to[k]))
            if found is None or room < share:
                share, found = float(room), (chain, int(k))
    return share, found


def _gain(
    H: Matrix, c: Vector, table: CoordinateTable, chains: list[Blocks], x: Vector
) -> tuple[Blocks, int, int] | None:
    """Return the block, and the place in it, where a cut lowers the objective the fastest; None for none."""
    smooth = H @ x - c + table.l2 * x
    noise = ROUNDING * (np.abs(H) @ np.abs(x) + np.abs(c) + table.l2 * np.abs(x) + table.l1)
    scale = np.sqrt(np.maximum(np.diagonal(H) + table.l2, np.finfo(float).tiny))
    best, found = 0.0, None
    for chain in chains:
        for k, block in enumerate(chain):
            if len(block) == 1:
                continue
            value, kink = x[block[0]], table.l1[block[0]]
            slope = smooth[block] + kink * np.sign(value)
            bend = kink if value == 0 else 0.0
            count = np.arange(1, len(block))
            doubt = 8 * noise[block].max() * len(block)
            fall = -np.cumsum(slope)[:-1] + bend * count if value > table.lower[block[0]] else None
            rise = (
                np.cumsum(slope[::-1])[:-1][::-1] + bend * count[::-1]
                if value < table.upper[block[0]]
                else None
            )
            for way in (fall, rise):
                if way is None:
                    continue
                at = int(np.argmin(way))
                gain = -float(way[at]) - doubt
                if gain > 0 and gain / scale[block].max() > best:
                    best, found = gain / scale[block].max(), (chain, k, at + 1)
    return found
