"""Bayes nets over variables with finitely many states.

``directed_graph`` knows nodes and arrows: order, cycles, separation, blankets. ``factor`` is a table over
named variables with its algebra; ``junction_tree`` turns factors into cliques once and answers any evidence
by two passes of messages. ``bayes_net`` joins both behind the questions that people ask. ``learning`` fills
tables from counts, ``structure`` searches arrows, ``bif`` reads and writes files.

An array of a factor has one axis a variable, in the order of its names; axes of a clique ascend in the order
of the net's nodes, so that a message is a sum over axes and a reshape.
"""

__all__ = ["bayes_net", "directed_graph", "factor", "junction_tree"]
