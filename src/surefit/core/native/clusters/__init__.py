"""Kernels that group rows.

`density`: core rows and their clusters over a grid. `linkage`: the merges of agglomerative clustering and
minimum spanning trees. Rows, or a square of distances, come in; labels, or merges in scipy's numbering, go
out. The numpy twin of each kernel stands beside its face.

To add one: the C++ kernel, its binding and test, and a file here of the same name.
"""

__all__ = ["density", "linkage"]
