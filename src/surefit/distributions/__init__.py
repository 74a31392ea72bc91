"""Distributions: what a number, a vector or a matrix can be, and how likely.

A distribution is a frozen value; its fields are its parameters, checked when it is made::

    >>> from surefit.distributions import Normal
    >>> bell = Normal(mean=1.0, scale=2.0)
    >>> bell.cdf([1.0, 3.0]).round(4), bell.variance, round(bell.entropy, 4)
    (array([0.5   , 0.8413]), 4.0, 2.1121)

It is learnt as everything else is: by a statistic that adds up. ``statistic(x, sample_weight)`` is a
registered statistic of ``surefit.stats`` (averages of a few functions of x; the table of values where no few
averages will do), ``from_statistic`` finishes it by maximum likelihood or by moments, and the posterior of a
conjugate prior is made from the same value::

    rows --statistic--> (+) --from_statistic--> Normal(...)
                            --update(prior, .)--> posterior --predictive--> StudentT(...)

``base.py`` is the contract; ``univariate.py`` adds tails, quantiles and expectations, ``multivariate.py``
vectors and matrices, ``exponential_family.py`` natural parameters and the log-partition, ``conjugacy.py``
priors and posteriors. ``special.py``, ``likelihood_newton.py``, ``matrices.py`` and
``probability_vector.py`` are what they compute with; tails are those of ``scipy.special``, and
``truncated_standard_normal.py`` draws between bounds however far in one. One distribution is one object with
plain numbers; a mixture or a naive Bayes model holds several.

``information`` has entropy, divergences and mutual information. It lives here because the closed forms are
those of distributions, and everything that asks for them, from EM to trees, is further down.

To add one: a file with a class below ``Univariate`` or ``Multivariate``, its fields, ``_log_density``,
``_sample``, its tails, moments, ``_likeliest`` and ``_by_moments``, and ``cases`` for the laws, which find it
by themselves. Closed forms that do not exist are left out, and refused with a sentence.
"""

from __future__ import annotations

from surefit.core.registry import members_door
from surefit.distributions.base import Distribution as Distribution

__getattr__, __dir__ = members_door(__name__, "distribution")
