"""Kernels of linear models.

The losses of linear scores and their derivatives in one pass over the rows (`linear_loss`, `class_loss`,
`row_loss`, `round_trip`), coordinate descent in the primal and in the dual (`column_cd`, `quad_cd`,
`task_cd`, `dual_cd`, `class_dual_cd`) with the duality gap that ends it (`table_gap`), steps along drawn
rows (`sgd`, `sampled_steps`) within a `coefficient_set`, and `linear_shuffle` for permutation importances.
Solvers and statistics call the faces, which hand arrays to the compiled kernel or to the numpy twin beside
it.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = [
    "class_dual_cd",
    "class_loss",
    "coefficient_set",
    "column_cd",
    "dual_cd",
    "linear_loss",
    "linear_shuffle",
    "nonnegative_rows",
    "quad_cd",
    "round_trip",
    "row_loss",
    "sampled_steps",
    "sgd",
    "table_gap",
    "task_cd",
]
