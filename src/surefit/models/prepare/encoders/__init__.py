"""Encoders: categories as numbers.

`encoder` holds what all share, the levels of each column and the codes of new cells; `one_hot_encoder`,
`ordinal_encoder`, `contrast_encoder` and `target_encoder` hold one estimator each, `rare_levels` puts rare
levels together, and `cross_fitting` encodes each row by a fit to the other rows. Levels are counted in one
pass, and cells are turned into codes and then into columns.

To add one: a file here with a class that derives from Encoder; the laws of the registry test it.
"""

__all__ = ["cross_fitting", "encoder", "one_hot_encoder", "ordinal_encoder", "rare_levels"]
