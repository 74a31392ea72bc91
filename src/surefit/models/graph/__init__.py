"""Graphs: Bayes nets, factor graphs, random fields, and labels that spread along edges.

``nets`` has the directed graph with its separation, factors over named variables, the Bayes net built of
tables, exact inference and learning from tables of data; ``fields`` factor graphs and random fields, whose
messages can be watched; ``propagation`` graphs with weights and labels that spread over them::

    ConditionalTable, ... --> BayesNet --junction tree--> marginals, most probable explanation, interventions
    rows --DistinctRows (a sum over rows)--> tables and structure --> BayesNet
    factors --> FactorGraph --messages along edges--> marginals, exact on forests

All but ``propagation`` are values that answer questions; what is fitted behind scikit-learn's contract is an
estimator, as everywhere. To add an inference: a function of the factors beside ``junction_tree``; a score of
structures: a function in ``nets/structure``.
"""
