"""Values: rows in memory as statistics and kernels take them.

A `table` is a typed block of numbers, category codes and text, `columns` a matrix whose columns lie apart,
and `cells` are columns of any type as they came, with `distinct` levels and codes; `objects` are rows that
have no columns, such as strings. A `batch` is some
checked rows with targets and weights; `column_batch` becomes a matrix only when asked, and `deferred_batch`
leaves the look at its cells to the sums over them. Sources make batches from record batches, and everything
behind the door reads them.

To add one: a class that derives from Batch, in a file of its own here.
"""

__all__ = ["batch", "cells", "column_batch", "columns", "deferred_batch", "distinct", "objects", "table"]
