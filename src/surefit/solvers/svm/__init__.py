"""Support vector machines from their dual.

One slope a row, bounded by the loss, in place of one coefficient a column. ``dual_coordinates`` changes one
slope at a time for hinge and epsilon-insensitive losses and their squares, which suits sparse rows of many
columns; ``class_margins`` does so for the hinge of all classes at once. Both read rows in memory, keep the
coefficients that slopes make up to date, and are proved by the gap of primal and dual.

To add one: a file with its own dual step, and the proof from ``objective.gap``.
"""

__all__ = ["class_margins", "dual_coordinates"]
