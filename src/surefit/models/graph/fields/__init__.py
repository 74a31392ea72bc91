"""Factor graphs and random fields: products of functions of few variables, and messages between them.

``factor_graph`` joins variables and factors and passes messages, exact on forests, loopy with damping
elsewhere; ``random_field`` is a net of pairs, on a grid or any graph, with samplers and bounds beside.
"""

__all__ = ["factor_graph", "random_field"]
