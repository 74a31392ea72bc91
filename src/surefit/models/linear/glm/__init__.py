"""Generalised linear models: a family, a link, and a linear score.

``base`` is what all of them share: from a source with offsets to a proved minimum of the mean deviance, a
start whose scores the link takes, and the share of deviance explained. ``poisson_regressor``,
``gamma_regressor`` and ``tweedie_regressor`` fix the family; ``glm_regressor`` takes any family and link,
and estimates a dispersion as well; ``ordinal_classifier`` learns thresholds between classes in order.
``likelihood_constraints`` bounds coefficients that are estimated together with thresholds or a dispersion.

To add an estimator, derive from ``base`` and say which family and link it has; inference comes from the
package of that name.
"""
