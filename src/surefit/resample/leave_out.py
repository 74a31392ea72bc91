"""Leave some rows, or whole groups of them, out: every choice is the test once."""

from __future__ import annotations

from surefit.core.parameters import Count
from surefit.resample.base import Wrapped


class LeavePOut(Wrapped):
    """Each choice of ``p`` rows is the test once: as many splits as there are choices, which grow fast.

    >>> from surefit.resample import LeavePOut
    >>> [test.tolist() for train, test in LeavePOut(2).split("abc")]
    [[0, 1], [0, 2], [1, 2]]
    """

    def __init__(self, p: Count) -> None:
        self.p = p


class LeaveOneGroupOut(Wrapped):
    """Each group is the test once: how well does a model do for a patient, a plant, a year not seen before?

    >>> from surefit.resample import LeaveOneGroupOut
    >>> plant = ["north", "south", "north"]
    >>> [test.tolist() for train, test in LeaveOneGroupOut().split(plant, groups=plant)]
    [[0, 2], [1]]
    """


class LeavePGroupsOut(Wrapped):
    """Each choice of ``n_groups`` groups is the test once.

    >>> from surefit.resample import LeavePGroupsOut
    >>> [test.tolist() for train, test in LeavePGroupsOut(2).split("abc", groups=[7, 8, 9])]
    [[0, 1], [0, 2], [1, 2]]
    """

    def __init__(self, n_groups: Count) -> None:
        self.n_groups = n_groups
