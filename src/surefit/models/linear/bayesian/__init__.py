"""Linear models with a prior, whose answer is a distribution.

``gaussian_posterior`` solves for the posterior from moments, ``prediction`` says how sure a prediction is.
``conjugate_regression`` takes a prior as given; ``evidence`` maximises the evidence over the
precisions, and ``evidence_regression`` is what ``evidence_ridge`` and ``ard`` share, which use it;
``laplace_logistic`` does the same for classes, by a normal distribution at the mode. Constraints truncate a
posterior: ``constrained_mode`` finds and proves the mode within, ``truncated_normal`` how likely the set
is, ``gibbs_sampling`` draws from it, and ``truncated_posterior`` says what draws tell of coefficients and
of new rows.

To add a model, give its posterior as a mean and a factor of the covariance; the mixins of ``prediction``
and ``truncated_posterior`` do the rest.
"""
