"""The table that sums up a maximum-likelihood fit, as arrays and in print."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Vector
from surefit.core.diagnosis import listed


@dataclass(frozen=True, slots=True)
class LikelihoodSummary:
    """Estimates with their errors, tests and intervals, and how well the model fits; ``print`` shows a table.

    names, estimate, standard_error, z, p_value, lower, upper: one entry a parameter. covariance: of the
    estimates. test, interval: "wald", or by likelihood ratio and profile. log_likelihood and
    null_log_likelihood: of the fit and of a constant; lr, lr_p_value: the test that all slopes are 0. aic,
    bic: count the parameters, not the dispersion. mcfadden, cox_snell, nagelkerke: pseudo R2. deviance,
    null_deviance, pearson, dispersion: of generalised linear models, NaN for others. overdispersion:
    Pearson's sum over the degrees of freedom, about 1 where the variance is what the family says.
    """

    title: str
    names: tuple[str, ...]
    estimate: Vector
    standard_error: Vector
    z: Vector
    p_value: Vector
    lower: Vector
    upper: Vector
    covariance: NDArray[np.float64]
    kind: str
    test: str
    interval: str
    level: float
    count: float
    freedom: float
    log_likelihood: float
    null_log_likelihood: float
    lr: float
    lr_p_value: float
    aic: float
    bic: float
    mcfadden: float
    cox_snell: float
    nagelkerke: float
    deviance: float
    null_deviance: float
    pearson: float
    dispersion: float
    overdispersion: float

    def __str__(self) -> str:
        width = max(12, *(len(name) for name in self.names))
        lines = [
            f"{self.title}: {self.count:g} rows, {self.freedom:g} degrees of freedom, {self.kind} errors",
            f"log-likelihood {self.log_likelihood:.6g} (constant {self.null_log_likelihood:.6g}, "
            f"LR {self.lr:.4g}, p {self.lr_p_value:.3g})   AIC {self.aic:.6g}   BIC {self.bic:.6g}",
        ]
        if np.isfinite(self.deviance):
            lines.append(
                f"deviance {self.deviance:.6g} (constant {self.null_deviance:.6g})   "
                f"Pearson {self.pearson:.6g}   dispersion {self.dispersion:.5g}   "
                f"Pearson / freedom {self.overdispersion:.4g}"
            )
        lines.append(
            f"pseudo R2: McFadden {self.mcfadden:.4f}   Cox-Snell {self.cox_snell:.4f}   "
            f"Nagelkerke {self.nagelkerke:.4f}"
        )
        percent = f"{100 * self.level:g} % {self.interval}"
        name = "z" if self.test == "wald" else "sqrt LR"
        head = f"{'':{width}} {'estimate':>12} {'std. error':>12} {name:>9} {'p':>9}"
        lines += ["", f"{head}   {percent} interval"]
        columns = (self.estimate, self.standard_error, self.z, self.p_value, self.lower, self.upper)
        for label, estimate, error, z, p, low, high in zip(self.names, *columns, strict=True):
            lines.append(
                f"{label:{width}} {estimate:12.5g} {error:12.4g} {z:9.3f} {p:9.3g}   {low:.5g} to {high:.5g}"
            )
        return "\n".join([*lines, *depending(self.names, np.isnan(self.standard_error), self.freedom)])


def depending(names: tuple[str, ...], open_: NDArray[np.bool_], freedom: float) -> list[str]:
    """Return the lines that tell why some parameters have no errors, if for columns that depend on others.

    >>> depending(("intercept", "a", "b", "c"), np.array([False, True, False, True]), 10.0)[1]
    'nan: a, c are linearly dependent: their coefficients are not identified and have no standard errors.'
    """
    if not open_.any() or freedom <= 0:  # without freedom no error is known at all
        return []
    which = [name for name, left_open in zip(names, open_, strict=True) if left_open]
    return [
        "",
        f"nan: {listed(which, 12)} are linearly dependent: their coefficients are not identified and have no "
        "standard errors.",
        "Drop one column of each dependency, which diagnosis_ lists, and fit again.",
    ]
