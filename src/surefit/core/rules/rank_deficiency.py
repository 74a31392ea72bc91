"""Columns that depend on each other, with the dependency written out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class RankDeficiency(Rule):
    """Directions in which the columns cancel: ``null_space`` has one in each of its columns."""

    name = "rank-deficiency"
    needs = ("null_space",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Write out up to five dependencies, each solved for the column that it leaves free."""
        null: NDArray[np.float64] = evidence["null_space"]
        if null.shape[1] == 0:
            return
        size = _sizes(evidence.get("column_moments"), len(null))
        reduced, pivots = reduced_echelon(null * size)  # so that units do not decide which terms count
        reduced *= size[pivots, 0] / size
        names = named(evidence.get("column_names"), range(len(null)))
        sentences = [_equation(names, column, pivot) for column, pivot in zip(reduced.T, pivots, strict=True)]
        involved = np.flatnonzero((np.abs(reduced) > 0).any(axis=1))
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"{null.shape[1]} of {len(null)} columns are linear combinations of the others, up to a "
                f"constant: {listed(sentences)}."
            ),
            remedy=_remedy(evidence.get("penalty"), evidence.get("shortest", True)),
            columns=tuple(names[i] for i in involved),
            evidence={"rank": float(len(null) - null.shape[1]), "columns": float(len(null))},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """The third column is the sum of the first two."""
        return {"null_space": np.array([[1.0], [1.0], [-1.0]])}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No direction cancels."""
        return {"null_space": np.empty((3, 0))}


def _sizes(moments: Any, columns: int) -> NDArray[np.float64]:
    """How much each column varies, as a column; 1 for one that does not, or if nothing is known."""
    found = np.ones((columns, 1)) if moments is None else np.sqrt(np.reshape(moments.scatter, (-1, 1)))
    return np.where(found > 0, found, 1.0)


def _remedy(penalty: float | None, shortest: bool) -> str:
    """What a fit with this penalty, or without any, has made of many equal answers, and what to do."""
    if penalty:
        return (
            "The penalty splits one effect among them; drop a column of each to estimate it by one "
            "coefficient."
        )
    taken = "The minimum-norm coefficients were taken" if shortest else "Other coefficients fit equally well"
    return f"{taken}; drop a column of each to make them unique."


def reduced_echelon(null: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int]]:
    """Mix the null directions so that each has a column of its own, with -1 there."""
    work = null / np.linalg.norm(null, axis=0)
    pivots: list[int] = []
    for k in range(work.shape[1]):
        rest = np.abs(work[:, k])
        rest[pivots] = 0.0
        # The last column that counts, so that later columns are explained by earlier ones.
        j = int(np.flatnonzero(rest > 0.1 * rest.max())[-1])
        pivots.append(j)
        work[:, k] /= -work[j, k]
        for other in range(work.shape[1]):
            if other != k:
                work[:, other] += work[j, other] * work[:, k]
    work[np.abs(work) < 1e-7 * np.abs(work).max(axis=0)] = 0.0
    return work, pivots


def _equation(names: tuple[str, ...], column: NDArray[np.float64], pivot: int) -> str:
    terms = [(float(value), names[i]) for i, value in enumerate(column) if i != pivot and value != 0.0]
    if not terms:
        return f"{names[pivot]} is constant"
    shown = " + ".join(name if f"{value:.4g}" == "1" else f"{value:.4g} {name}" for value, name in terms[:6])
    more = f" + {len(terms) - 6} more terms" if len(terms) > 6 else ""
    return f"{names[pivot]} = {shown}{more}".replace("+ -", "- ")
