"""What learning theory says about rows and hypotheses, as functions of numbers.

``hoeffding`` bounds how far a mean over rows can be from the truth, whatever the distribution, for one
model or for the best of several; ``finite_hypotheses`` counts hypotheses: their risks, the version space,
the posterior and the average; ``curse_of_dimensionality`` says how large a neighbourhood must be to hold
some of the rows; ``no_free_lunch`` scores a model under every labelling of points that it has not
seen. ``growth`` counts the labellings that a class of hypotheses can give, ``vapnik_chervonenkis`` makes
bounds on all risks at once of them.

Of probability, what is asked of distributions, random variables and data alike: ``inequalities`` with the
true value beside each bound, ``limits`` that sums and means have, ``estimators`` studied by simulation.

To add a bound: a function with the formula in its docstring and the numbers of a textbook as its test.
"""

__all__ = [
    "curse_of_dimensionality",
    "estimators",
    "finite_hypotheses",
    "growth",
    "hoeffding",
    "inequalities",
    "limits",
    "no_free_lunch",
    "vapnik_chervonenkis",
]
