"""Too few rounds of boosting, or rounds after the validation score stopped improving."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from surefit.core.diagnosis import Evidence, Finding, Rule

STILL_GAINING = 0.01  # of all that was gained: what the last tenth of the rounds may add
LOST = 0.05  # of all that was gained: what may be lost after the best round


class HeldOutCurve(Rule):
    """The score of rows held out was still rising at the last round, or had fallen from its best."""

    name = "held-out-curve"
    needs = ("held_out_curve",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Compare the last rounds with the best one."""
        scores, limit = evidence["held_out_curve"]
        rounds, best = len(scores) - 1, int(np.argmax(scores))
        gained = float(scores[best] - scores[0])
        if rounds < 1:
            return
        lost = float(scores[best] - scores[-1])
        if gained <= 0 or lost > LOST * gained:
            yield Finding(
                code=self.name,
                severity="warning",
                message=(
                    f"The validation score was best after round {best} of {rounds} and has fallen by "
                    f"{lost:.3g} since: the later trees overfit."
                ),
                remedy=(
                    "Lower learning_rate, require more rows in a leaf, or set max_iter near the best round."
                ),
                evidence={"best round": float(best), "rounds": float(rounds), "lost": lost},
            )
            return
        tail = float(scores[-1] - scores[-1 - max(1, rounds // 10)])
        if rounds >= limit and tail > STILL_GAINING * gained:
            yield Finding(
                code=self.name,
                severity="note",
                message=(
                    f"The validation score still rose by {tail:.3g} over the last tenth of the {rounds} "
                    "rounds, so more rounds would help."
                ),
                remedy="Raise max_iter, or learning_rate.",
                evidence={"gained lately": tail, "rounds": float(rounds)},
            )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """Ten rounds, of which the third is the best by far."""
        return {"held_out_curve": (-np.array([9.0, 4, 3, 2, 3, 4, 5, 5, 5, 5, 5]), 10)}

    @classmethod
    def clean_case(cls) -> Evidence:
        """Ten rounds that settle."""
        return {"held_out_curve": (-np.array([9.0, 4, 3, 2.5, 2.2, 2.1, 2, 2, 2, 2, 2]), 10)}
