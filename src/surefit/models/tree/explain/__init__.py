"""Questions about trees, most of which are answered by fitting more of them.

``mimic`` fits a tree to the predictions of another model and says how faithful it is, ``stability`` fits
trees to rows drawn again and says how much they differ, and ``optimal`` compares a greedy tree of depth two
with the best of all. Each takes an estimator and rows, and returns a small record with its numbers.
``class_impurity`` says from counts what a split is chosen by.

To add a question, write a module with such a record and one function that fills it.
"""

__all__ = ["class_impurity", "mimic", "optimal", "stability"]
