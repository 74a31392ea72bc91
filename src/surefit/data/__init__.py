"""Data: whatever the user has, turned into batches that are valid by construction.

A :class:`~surefit.data.source.Source` can be read again and again and gives the same rows in the same order
each time. It knows its :class:`~surefit.data.schema.Schema` before the first row. The door (``door.py``) is
the only place where input is checked: what comes out of it needs no further check, so nothing behind it has
any.

``read.py`` finds the reader of an input (``readers/``), which gives a ``stream.py`` of Arrow record batches
or of plain matrices; ``source.py`` and ``matrix.py`` make batches (``batches/``) of them, ``levels.py`` and
``targets.py`` find the levels of categories and the classes of a target, and ``checks/`` holds the checks.
``files.py`` knows paths and formats, ``arrow.py`` Arrow's types, and ``write.py`` writes predictions.
``datasets/`` has tables to learn on. To add a form of input: a file in ``readers/``.
"""
