"""Kernels of clusters with centres: the nearest centre of each row (`nearest_centre`), sums and cost of
clusters (`cluster_sums`), and what k-means++ needs of its candidates (`seeding`).

Rows come in C order, float32 or float64; labels are int32. Each file holds the face of one kernel and its
numpy twin.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = ["cluster_sums", "fuzzy_step", "medoid_swaps", "nearest_centre", "seeding"]
