"""Kernels behind metrics.

What predictions cost (`error_sums`, `log_score`, `normal_scores`), how numbers vary (`number_spread`),
sums of smoothing kernels over points (`density_sums`),
their order (`select_rank`, `score_groups`), and labels counted as codes (`distinct_items`, `pair_counts`).
Columns of truth and prediction come in, and small sums that can be added up over batches go out; each file
holds the face of one kernel and its numpy twin.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = [
    "density_sums",
    "distinct_items",
    "error_sums",
    "log_score",
    "normal_scores",
    "number_spread",
    "pair_counts",
    "score_groups",
    "select_rank",
    "t_forces",
]
