"""Classes of very different sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from surefit.core.diagnosis import Finding
from surefit.core.rules.imbalanced_classes import ImbalancedClasses
from surefit.study.checks.base import Case, Check, Seen


class Imbalance(Check):
    """The largest class outweighs the smallest by more than ten to one: the rule of the diagnosis."""

    name = "imbalanced-classes"

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """Ask the rule that looks at fits."""
        if seen.target is None or seen.task is None or seen.task.task != "classification":
            return
        counts = seen.facts.columns[seen.target].counts
        if counts:
            weights = np.array(list(counts.values()), dtype=np.float64)
            evidence = {"class_weights": (np.array(list(map(str, counts))), weights)}
            for finding in ImbalancedClasses().findings(evidence):
                yield replace(finding, columns=(seen.target,))

    @classmethod
    def triggering_case(cls) -> Case:
        """Eleven to one."""
        return Case(pa.table({"y": ["no"] * 22 + ["yes"] * 2}), "y")

    @classmethod
    def clean_case(cls) -> Case:
        """Ten to one."""
        return Case(pa.table({"y": ["no"] * 20 + ["yes"] * 2}), "y")
