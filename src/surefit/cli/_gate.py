"""``--fail-on "r2_score<0.5"``: a gate for scripts, which ends the program with 3 when it is true."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

import click

from surefit.cli._frame import GATE_FAILED, stop

_SIGNS: dict[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_FORM = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|<|>)\s*(\S+)\s*")


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on a score under which the program fails."""

    metric: str
    sign: str
    bound: float

    def fails(self, value: float) -> bool:
        """Whether the condition is true; a score that does not exist fails every gate."""
        return math.isnan(value) or _SIGNS[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.bound:g}"


class _GateType(click.ParamType):
    name = "condition"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        """Read a condition."""
        if isinstance(value, Gate):
            return value
        found = _FORM.fullmatch(value)
        try:
            assert found is not None
            bound = float(found[3])
        except (AssertionError, ValueError):
            self.fail(f"{value!r} is not a condition: write it as 'r2_score<0.5'.", param, ctx)
        return Gate(found[1], found[2], bound)


fail_on = click.option(
    "--fail-on",
    "gates",
    type=_GateType(),
    multiple=True,
    metavar="CONDITION",
    help="End with 3 when this holds, as 'r2_score<0.5'; may be repeated.",
)


def check_gates(gates: Sequence[Gate], scores: Mapping[str, float]) -> None:
    """End the program with 3 if a gate fails; ``scores`` must have the metric of every gate."""
    failed = [gate for gate in gates if gate.fails(scores[gate.metric])]
    if failed:
        told = " and ".join(f"{gate} ({gate.metric} is {scores[gate.metric]:.4g})" for gate in failed)
        stop(GATE_FAILED, f"the gate failed: {told}.")
