"""A column that is constant within a class gives that class a degenerate density."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named
from surefit.core.native.sums.grouped_moments import GroupedMoments, grouped_moments


class ZeroVarianceClass(Rule):
    """Columns that vary over all rows, but not over those of one class."""

    name = "zero-variance-class"
    needs = ("class_moments", "class_weights")

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the classes and their columns; a column that is constant everywhere has a rule of its own."""
        moments: GroupedMoments = evidence["class_moments"]
        classes, _ = evidence["class_weights"]
        here = moments.weight > 0
        still = (moments.scatter == 0) & here[:, None]
        still &= np.ptp(moments.mean[here], axis=0) + moments.scatter.max(axis=0) > 0  # it varies elsewhere
        (constant,) = np.nonzero(still.any(axis=1))
        if len(constant) == 0:
            return
        names = evidence.get("column_names")
        where = [f"{classes[c]!s} ({listed(named(names, np.flatnonzero(still[c])), 3)})" for c in constant]
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"Within {len(constant)} of {len(classes)} classes some columns are constant, so the density "
                f"of any other value is nearly zero: {listed(where)}."
            ),
            remedy="Add rows of these classes, drop these columns, or raise var_smoothing.",
            columns=named(names, np.flatnonzero(still.any(axis=0))),
            evidence={"classes": float(len(constant)), "cells": float(still.sum())},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The second column does not vary in the first of two classes."""
        return cls._case(2.0)

    @classmethod
    def clean_case(cls) -> Evidence:
        """It varies, though very little."""
        return cls._case(2.0 + 1e-12)

    @staticmethod
    def _case(last: float) -> Evidence:
        X = np.array([[1.0, 2.0], [3.0, last], [5.0, 6.0], [7.0, 8.0]])
        moments = grouped_moments(X, np.array([0, 0, 1, 1]), 2)
        return {"class_moments": moments, "class_weights": (np.array(["no", "yes"]), moments.weight)}
