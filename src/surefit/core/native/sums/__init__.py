"""Kernels that add up rows in one pass.

`moments`, `grouped_moments` and `class_sums` of columns, the `mixture_sums` of an EM step, `gram` matrices,
the `triangular` factor of a tall matrix, and `topk`, the least or greatest entries of each row. A dense or
CSR block of rows comes in, and sums that the statistics in surefit.stats join over batches go out; the
numpy twin of each kernel stands beside its face.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = ["class_sums", "gram", "grouped_moments", "mixture_sums", "moments", "topk", "triangular"]
