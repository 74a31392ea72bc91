"""Data: whatever the user has, turned into batches that are valid by construction.

A :class:`~surefit.data.source.Source` can be read again and again and gives the same rows in the same order
each time. It knows its :class:`~surefit.data.schema.Schema` before the first row. The door (``door.py``) is
the only place where input is checked: what comes out of it needs no further check, so nothing behind it has
any.
"""
