"""Labels that spread: a few rows have one, and a graph of who resembles whom passes them on.

``weighted_graph`` has graphs with weights, their matrices, and the harmonic labels of Dirichlet's energy;
``label_propagation`` the two estimators over rows, which solve for the labels that iterating would end in.

A row without a label has the target -1, as in scikit-learn.
"""

__all__ = ["label_propagation", "weighted_graph"]
