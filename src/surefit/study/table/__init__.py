"""What is known of a table, and the table as it is learnt from.

``stream`` makes named columns of anything that is given, and keeps a small text file as it passes; ``facts``
are gathered of each column in one pass, with hashes of cells (``hashing``) that tell distinct values,
``duplicates`` and the digest of the table; ``kinds`` decides from them
what each column is, by what its cells spell (``spellings``), ``task`` what is to be learnt, and ``decide``
both together. ``typed`` reads the table by these decisions, ``prepared_rows`` holds its rows in memory as
numbers for each family, and ``single_column_skill`` says how well one column alone tells the target.

To add a kind: its spelling in ``spellings``, its rule in ``kinds`` and its conversion in ``typed``.
"""

__all__ = [
    "decide",
    "duplicates",
    "facts",
    "hashing",
    "kinds",
    "prepared_rows",
    "single_column_skill",
    "spellings",
    "stream",
    "task",
    "typed",
]
