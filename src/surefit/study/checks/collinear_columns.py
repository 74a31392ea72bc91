"""Columns that others nearly tell."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from surefit.core.diagnosis import Finding
from surefit.study.checks.base import Case, Check, Seen


class CollinearColumns(Check):
    r"""Combinations of columns that hardly vary, where the condition number is above 30 (Belsley).

    The condition number is :math:`\sqrt{\lambda_1 / \lambda_p}` of the correlation matrix of the numbers.
    """

    name = "collinear-columns"
    threshold = 30.0
    exact = 1e7  # beyond it the rest is rounding
    most = 300  # columns: more are rarely read one by one
    shown = 3  # combinations
    telling = 0.1  # of the largest part of a combination

    def findings(self, seen: Seen) -> Iterable[Finding]:
        """One finding for each combination, written out."""
        copies = {name for names in seen.copies.same_columns() for name in names[1:]}
        names = [n for n in seen.used if seen.kinds[n] in ("number", "boolean") and n not in copies]
        names = names[: self.most]
        if len(names) < 2 or seen.sample.num_rows <= len(names) + 1:
            return
        X = np.column_stack([_filled(seen.numbers(name)) for name in names])
        with np.errstate(over="ignore", invalid="ignore"):
            X -= X.mean(axis=0)
            deviations = np.sqrt((X**2).mean(axis=0))
        kept = np.flatnonzero(np.isfinite(deviations) & (deviations > 0))
        if len(kept) < 2:
            return
        deviations, names = deviations[kept], [names[j] for j in kept]
        scaled = X[:, kept] / deviations / np.sqrt(len(X))
        _, singular, directions = np.linalg.svd(scaled, full_matrices=False)
        least = singular[0] / np.finfo(np.float64).max
        conditions = singular[0] / np.maximum(singular, least)
        for place in np.flatnonzero(conditions > self.threshold)[::-1][: self.shown]:
            members, told = self._written(directions[place], deviations, names)
            condition = float(conditions[place])
            exactly = condition > self.exact
            yield Finding(
                self.name,
                "warning" if exactly else "note",
                f"{told}, up to a constant (condition number "
                f"{'beyond ' if exactly else ''}{min(condition, self.exact):.3g}).",
                "With a penalty predictions stay reliable, but single coefficients cannot be interpreted: "
                "drop or combine some of these columns.",
                members,
                evidence={"condition": condition},
            )

    def _written(
        self, direction: NDArray[np.float64], deviations: NDArray[np.float64], names: list[str]
    ) -> tuple[tuple[str, ...], str]:
        """The column with the largest part, as a sum of the others."""
        order = np.argsort(-np.abs(direction))
        first = int(order[0])
        parts = [int(j) for j in order[1:] if abs(direction[j]) >= self.telling * abs(direction[first])][:6]
        terms = [
            f"{-direction[j] / direction[first] * deviations[first] / deviations[j]:.3g} {names[j]!r}"
            for j in parts
        ]
        told = f"{names[first]!r} is about {' + '.join(terms)}".replace("+ -", "- ")
        return (names[first], *(names[j] for j in parts)), told

    @classmethod
    def triggering_case(cls) -> Case:
        """A sum with a little noise."""
        return cls._case(0.01)

    @classmethod
    def clean_case(cls) -> Case:
        """A sum with much noise."""
        return cls._case(0.5)

    @staticmethod
    def _case(noise: float) -> Case:
        a, b, c = np.random.default_rng(0).normal(size=(3, 60))
        return Case(pa.table({"a": a, "b": b, "sum": a + 2 * b + noise * c}))


def _filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    there = np.isfinite(values)
    mean = values[there].mean() if there.any() else 0.0
    return np.where(there, values, mean)
