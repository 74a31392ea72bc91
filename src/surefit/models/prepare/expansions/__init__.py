"""Expansions: more columns made of each row.

`basis_expansion` puts splines, bumps, waves or powers in the place of a column, and `polynomial_features`
gives all products of columns up to a degree. A fit learns ranges, knots and names in one pass, and rows are
then expanded batch by batch, so that a linear model can follow a curve.

To add one: a file here with a class that derives from Transformer; the laws of the registry test it.
"""
