"""Least squares that keep few columns: absolute penalties, paths, and the choice of their strength.

``elastic_net`` and ``lasso`` solve for one strength, ``multi_task`` for several targets that share their
columns (``multi_task_constraints`` bounds those), ``norm_constrained`` bounds the size of the coefficients
instead. ``regularisation_path`` runs through a row of strengths, each begun at the answer to the one
before; ``lars_path``, ``lars_fit`` and ``lars`` follow the exact path, and ``lars_ic`` chooses on it by an
information criterion. ``cross_validation`` runs one path a fold and chooses by rows left out, for
``elastic_net_cv``, ``lars_cv`` and ``multi_task_cv``.

To add an estimator, state its penalty, take problems from ``squares.separable_penalty``, and let the gap
certify each target.
"""

__all__ = ["cross_validation", "elastic_net", "elastic_net_cv", "lasso", "regularisation_path"]
