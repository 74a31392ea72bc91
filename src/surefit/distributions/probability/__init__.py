"""Probability on finite spaces and by densities: events, random variables, and laws of two numbers at once.

A finite space is outcomes with their probabilities; an event is a set of outcomes; a random variable is a
function of the outcome, with an algebra of its own. Probabilities that are whole numbers or fractions stay
exact fractions throughout::

    FiniteSpace --event--> frozenset --probability(A, given=B)--> a number
    FiniteSpace --variable--> RandomVariable --law, cdf, expectation, covariance--> numbers
                                             --conditional_expectation(Y)--> RandomVariable
    JointDensity (a density of two numbers) --expectation, marginal, conditional--> numbers and functions

Distributions with a name are in the folder above; bounds, limits and studies of estimators, which are asked
of a distribution, of a random variable or of data alike, in ``evaluate.theory``. All of it is public as
``surefit.probability``.

To add something: a method where it needs the outcomes, else a function of the law in ``evaluate.theory``.
"""

__all__ = ["finite_space", "joint_density"]
