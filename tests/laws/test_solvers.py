"""What holds for every solver: they agree with each other, prove it, and refuse in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from tests.laws.problems import FORMS, PENALTIES, SOLVERS, bound, losses, penalties_of, planted

from surefit.core.errors import RefusalError
from surefit.losses.base import Loss
from surefit.penalties.base import Penalty
from surefit.solvers.objective.solver import Solution, solver_named, suited

TOLERANCE = {"exact": 1e-8, "second order": 1e-8, "first order": 1e-6}
NAMES = 4  # of losses and penalties that each solver meets at the least
TURNS = 80  # after which a solver joins no other's fit: the certificate alone proves it


@dataclass(frozen=True)
class Fit:
    """A pair in one form, and the solvers that are to agree on it."""

    loss: Loss
    penalty: Penalty
    form: str
    fit_intercept: bool
    solvers: tuple[str, ...]

    @property
    def id(self) -> str:
        border = "intercept" if self.fit_intercept else "plain"
        return f"{self.loss.name}-{self.penalty.name}-{self.form}-{border}-{'-'.join(self.solvers)}"

    @property
    def proved(self) -> bool:
        """Whether there is a gap to prove, not only a point that is stationary."""
        return self.loss.convex and self.penalty.convex and self.penalty.offers("conjugate")

    def solve(self, name: str) -> Solution:
        objective = bound(
            *planted(self.loss), self.loss, self.penalty, self.form, fit_intercept=self.fit_intercept
        )
        return solver_named(name, tolerance=TOLERANCE[SOLVERS[name].accuracy]).solve(objective)


def design() -> Iterator[Fit]:
    """Yield each pair once, in a form and with solvers that take turns, then what solvers have not met."""
    turns: dict[str, int] = {}
    names: dict[str, set[str]] = {}
    met: set[tuple[str, str]] = set()
    pairs: dict[str, tuple[Loss, Penalty]] = {}
    for row, loss in enumerate(losses()):
        X, y = planted(loss)
        for column, name in enumerate(PENALTIES):
            cases = penalties_of(name)
            penalty, fit_intercept = cases[row % len(cases)], (row + column) % 3 != 0
            for shift in range(len(FORMS)):
                form = FORMS[(row + column + shift) % len(FORMS)]
                able = suited(bound(X, y, loss, penalty, form, fit_intercept=fit_intercept))
                if able:
                    # Those that had the fewest turns come next.
                    able = sorted(able, key=lambda solver: turns.get(solver, 0))
                    fit = Fit(loss, penalty, form, fit_intercept, tuple(able[:2]))
                    fresh = turns.get(able[min(1, len(able) - 1)], 0) < TURNS
                    chosen = fit.solvers if fit.proved and fresh else fit.solvers[:1]
                    for solver in chosen:
                        turns[solver] = turns.get(solver, 0) + 1
                        names.setdefault(solver, set()).update((loss.name, name))
                        met.add((solver, form))
                    pairs |= dict.fromkeys(able, (loss, penalty))
                    yield Fit(loss, penalty, form, fit_intercept, chosen)
                    break
    for solver, (loss, penalty) in pairs.items():
        borders = itertools.cycle((False, True))
        for form in FORMS:
            objective = bound(*planted(loss), loss, penalty, form)
            if (solver, form) not in met and solver_named(solver).refusal(objective) is None:
                yield Fit(loss, penalty, form, next(borders), (solver,))
        for penalty in (case for name in PENALTIES for case in penalties_of(name)):
            few = len(names.get(solver, ())) < NAMES and penalty.name not in names.get(solver, ())
            if few and solver_named(solver).refusal(bound(*planted(loss), loss, penalty)) is None:
                names.setdefault(solver, set()).update((loss.name, penalty.name))
                yield Fit(loss, penalty, "dense", next(borders), (solver,))


DESIGN = list(design())
FEW = [("none", "dense"), ("l1", "chunked"), ("mcp", "dense"), ("simplex", "sparse")]


def refused(solver: str) -> Iterator[tuple[Loss, Penalty, str]]:
    for loss, (name, form) in itertools.product(losses(), FEW):
        penalty = penalties_of(name)[0]
        if solver_named(solver).refusal(bound(*planted(loss), loss, penalty, form)) is not None:
            yield loss, penalty, form


def test_the_design_is_small_and_covers() -> None:
    assert sum(len(fit.solvers) for fit in DESIGN) <= 27 * len(PENALTIES)
    for solver in SOLVERS:
        used = [fit for fit in DESIGN if solver in fit.solvers]
        assert {fit.fit_intercept for fit in used} == {True, False}, solver
        assert {*FORMS} - {fit.form for fit in used} <= ({"chunked"} if SOLVERS[solver].needs.rows else set())
        assert len({fit.loss.name for fit in used} | {fit.penalty.name for fit in used}) >= NAMES, solver


@pytest.mark.parametrize("fit", DESIGN, ids=lambda fit: fit.id)
def test_solvers_agree_and_prove_it(fit: Fit) -> None:
    found = {name: fit.solve(name) for name in fit.solvers}
    for name, solution in found.items():
        assert solution.holds, (name, solution.certificate.statement, solution.stopped)
        assert solution.certificate.claim == ("optimal" if fit.proved else "stationary")
        assert solution.stopped == "certificate"
        assert solution.passes >= len(solution.trace)
    lowest = min(solution.value for solution in found.values())
    for name, solution in found.items():
        allowed = TOLERANCE[SOLVERS[name].accuracy] * solution.certificate.parts.get("scale", np.inf)
        assert solution.value - lowest <= allowed, name


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_refusal_is_one_sentence_that_names_solver_and_reason(solver: str) -> None:
    pairs = list(refused(solver))
    assert pairs, "a solver that takes everything has nothing to choose by"
    for loss, penalty, form in pairs:
        objective = bound(*planted(loss), loss, penalty, form)
        reason = solver_named(solver).refusal(objective)
        assert reason is not None
        assert reason.endswith(".")
        assert ". " not in reason
        assert solver.replace("_", " ") in reason.replace("_", " ")
        assert any(word in reason for word in (loss.name, type(penalty).__name__, "rows", "table", "columns"))
        with pytest.raises(RefusalError, match=r"choose |no solver supports this loss") as error:
            solver_named(solver).solve(objective)
        assert str(error.value).startswith(reason[:-1])
        assert all(other in str(error.value) for other in suited(objective))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_warm_start_at_the_answer_takes_fewer_passes(solver: str) -> None:
    fit = max((fit for fit in DESIGN if solver in fit.solvers), key=lambda fit: fit.proved)
    cold = fit.solve(solver)
    objective = bound(*planted(fit.loss), fit.loss, fit.penalty, fit.form, fit_intercept=fit.fit_intercept)
    tolerance = TOLERANCE[SOLVERS[solver].accuracy]
    warm = solver_named(solver, tolerance=tolerance).solve(objective, start=cold.x)
    assert warm.holds
    assert warm.passes <= cold.passes


@pytest.mark.parametrize("solver", ["fista", "proximal_gradient"])
def test_units_of_the_columns_do_not_matter(solver: str) -> None:
    from surefit.losses import Logistic
    from surefit.penalties import L1

    X, y = planted(Logistic())
    units, offsets = 10.0 ** np.linspace(-6, 6, X.shape[1]), np.linspace(-100, 100, X.shape[1])
    plain = bound(X, y, Logistic(), L1(0.02, weights=np.ones(len(units))))
    scaled = bound((X + offsets) * units, y, Logistic(), L1(0.02, weights=units))
    one, other = (solver_named(solver).solve(objective) for objective in (plain, scaled))
    assert other.holds
    assert other.value == pytest.approx(one.value, abs=2e-6 * one.certificate.parts["scale"])
    assert other.iterations <= 2 * one.iterations


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_of_iterations_ends_a_fit_and_says_so(solver: str) -> None:
    fit = next((fit for fit in DESIGN if solver in fit.solvers and fit.solve(solver).iterations > 3), None)
    if fit is None:
        assert SOLVERS[solver].accuracy == "exact"
        return
    objective = bound(*planted(fit.loss), fit.loss, fit.penalty, fit.form, fit_intercept=fit.fit_intercept)
    short = solver_named(solver, tolerance=1e-14, max_iter=2).solve(objective)
    assert short.iterations == 2
    assert not short.holds
    assert short.stopped == "limit"
