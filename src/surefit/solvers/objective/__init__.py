"""Objectives, and the contract of those who minimise them.

``base`` binds source, engine, loss and penalty to an ``Objective`` of packed points; ``function`` makes one
of a user's own function, ``constrained_function`` one with constraints that are functions. ``solver`` holds
the contract ``Solver``, what it needs and returns, and ``choose``, which says who suits. A point is proved
by ``gap``, the duality gap from the data alone, and where there is none by ``newton_decrement``, whose
second derivatives ``centred_hessian`` forms without cancellation; ``newton_step`` says how far coefficients
can be from the best, in their own units. ``subsample`` starts a solver near the
answer, ``by_output`` runs it target by target.

To add an objective: a class below ``Objective`` with ``at`` and ``certificate``.
"""

__all__ = [
    "base",
    "by_output",
    "centred_hessian",
    "constrained_function",
    "function",
    "gap",
    "newton_decrement",
    "newton_step",
    "solver",
    "subsample",
]
