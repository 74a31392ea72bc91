"""Zero counts whose fitted means tend to 0, so that the maximum-likelihood estimate does not exist."""

from __future__ import annotations

from collections.abc import Iterable

from surefit.core.diagnosis import Evidence, Finding, Rule, listed, named


class NoMinimum(Rule):
    """A direction was found along which means of zero counts fall and all other means stay."""

    name = "no-minimum"
    needs = ("falling_zeros",)

    def findings(self, evidence: Evidence) -> Iterable[Finding]:
        """Name the columns of that direction."""
        columns, rows = evidence["falling_zeros"]
        if rows == 0:
            return
        names = named(evidence.get("column_names"), columns)
        along = f"along {listed(names)}" if names else "along the intercept"
        yield Finding(
            code=self.name,
            severity="warning",
            message=(
                f"The maximum-likelihood estimate does not exist: {along} the fitted means of {rows} rows "
                "with a count of 0 go to zero and those of all other rows stay, so the objective has no "
                "minimum, and the size of these coefficients only reflects where the fit stopped."
            ),
            remedy=(
                "Add a penalty (alpha above 0), or drop a column that varies only among rows with a count "
                "of 0."
            ),
            columns=names,
            evidence={"rows": float(rows)},
        )

    @classmethod
    def triggering_case(cls) -> Evidence:
        """One column, which three rows of count 0 alone have."""
        return {"falling_zeros": ((1,), 3), "column_names": ("age", "region")}

    @classmethod
    def clean_case(cls) -> Evidence:
        """No direction was found."""
        return {"falling_zeros": ((), 0)}
