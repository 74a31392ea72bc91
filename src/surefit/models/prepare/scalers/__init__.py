"""Scalers: an affine map of each column.

`standard_scaler`, `min_max_scaler` and `robust_scaler` hold one estimator each, and `affine` what they
share: the map and its way back, for rows in memory, sparse rows and sources. A fit is one statistic over
the rows, from which centre and scale of each column follow.

To add one: a file here with a class that derives from the affine scaler and says what its statistic, centre
and scale are; the laws of the registry test it.
"""

__all__ = ["affine"]
