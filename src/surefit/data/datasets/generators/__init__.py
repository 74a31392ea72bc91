"""Generators: data drawn from a truth that is handed over with them.

One family a file. A generator is a frozen dataclass: ``X`` and ``y`` as a model takes them, and beside them
all that was decided before the first row was drawn: coefficients, support, centres, noise, the Bayes error
where it has a closed form. ``draw`` makes one from a seed, and ``surprise`` says how far the data lie from
their truth, in standard errors, so that one law checks them all.

To add one: a file with a dataclass that gives itself a ``name``, a checked ``draw`` and a ``surprise``, and a
line in ``surefit/data/datasets/__init__.py`` for those who import it by name.
"""

__all__ = [
    "base",
    "boards",
    "curves",
    "glm",
    "linear",
    "lowrank",
    "mixtures",
    "network",
    "ordinal",
    "series",
    "smooth",
    "table",
    "topics",
]
