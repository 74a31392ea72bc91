"""Mean squares of several targets that share their columns.

With a penalty on whole rows of the coefficients. ``columns`` descends row by row, over a matrix or over
sums, and finishes with Newton's steps for the rows in use. Bounds and levels in order have ``constrained``:
it splits squares, penalty and order (``splitting``), ends on a face with Newton's steps along it
(``face``), keeps levels in order target by target (``order``), and is proved by ``gap``.

To add a penalty on rows: one with a row table, which these modules read as plain arrays.
"""

__all__ = ["columns", "constrained", "gap", "order"]
