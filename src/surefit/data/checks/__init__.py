"""Checks of what comes in, each with an error that names the column, counts the cells and offers a remedy.

`cells` checks the cells of a batch or table, `schemas` that many files agree on their columns and kinds,
`float_range` that squares stay within the range of floats, and `explain` says in one sentence why a table
in memory was refused. The door and the readers call them while rows stream by, and nothing behind the door
checks again.

To add one: a function here, and its call in the door.
"""

__all__ = ["cells", "explain", "float_range", "schemas"]
