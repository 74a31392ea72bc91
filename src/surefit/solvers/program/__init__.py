r"""Linear and quadratic programmes: minimise :math:`\frac12 x'Qx + c'x` under linear constraints.

``data`` checks what the user gave and holds it; ``certificate`` recomputes from (data, primal, dual) how far
a point can be from the best one, and the proofs that there is none. ``definiteness`` decides whether Q allows
a proof at all. ``interior_point`` solves, on matrices that ``scaling`` balanced and ``kkt_system``
factorises, and ``polish`` takes the answer to the last digits::

    Program --scaling--> interior_point --polish--> x, Multipliers --certificate--> ProgramSolution
                                   \--no answer--> phase_one: the multipliers or the ray that prove why

The front ends are ``linear_program`` and ``quadratic_program``; they return a ``solution``.
"""

__all__ = ["certificate", "data", "linear_program", "phase_one", "quadratic_program"]
