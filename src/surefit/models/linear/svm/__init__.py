"""Linear support vector machines.

``base`` is what both share: a strength that is the inverse of a penalty, an intercept that is penalised as
liblinear does it, and which solver suits the rows, those of nonsmooth losses for the hinge and
those of smooth ones otherwise. ``linear_svc`` separates classes by the hinge or its square, one class
against the rest; ``linear_svr`` fits numbers up to a margin that costs nothing. Each states its loss and
gets coefficients, gap and certificate from the shared road.

To add one, derive from ``base`` and name the loss.
"""
