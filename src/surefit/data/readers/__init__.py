"""Readers, one form of table a file: each turns what it takes into a stream of Arrow record batches.

A reader's ``takes`` looks at the object or path, its ``open`` returns an
:class:`~surefit.data.stream.ArrowStream` that can be read many times in the same order. What cannot be read
twice is spilled to Arrow files first. Batches are small enough that one fits in memory many times over,
whatever the size of the file. To add a form: a file here; nothing else changes.
"""

__all__ = ["arrow_table", "dask", "spill", "text"]
