"""Classes by linear scores.

``logistic`` is logistic regression of two classes or of many by the softmax, and learns many targets of the
same rows at once where that can be proved; ``logistic_cv`` chooses its strength and mix of penalties by
warm paths over folds. ``binary_members`` makes a classifier of many classes from classifiers of two: it
fits, updates and certifies the members, for ``one_vs_rest``, which sets each class against all others and
takes several labels a row, and for ``one_vs_one``, where pairs vote.

To add a scheme, derive from ``binary_members`` and say which rows and targets each member is given and how
their scores become classes.
"""

__all__ = ["logistic"]
