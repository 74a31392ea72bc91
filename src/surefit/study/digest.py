"""What a table holds, in one number that does not depend on how it is stored or cut into batches."""

from __future__ import annotations

from hashlib import sha256

from surefit.data.stream import ArrowStream
from surefit.study.hashing import hash_cells


def digest_of(stream: ArrowStream) -> str:
    """SHA-256 of the names and cells of a table, read once.

    >>> import pyarrow as pa
    >>> from surefit.study.rows import stream_of
    >>> one, two = pa.table({"a": [1, 2]}), pa.table({"a": [1.0, 2.0]})
    >>> digest_of(stream_of(one)[0]) == digest_of(stream_of(two)[0])
    True
    """
    columns = {name: sha256() for name in stream.arrow_schema.names}
    for batch in stream.batches():
        for name, column in columns.items():
            column.update(hash_cells(batch.column(name)).tobytes())
    whole = sha256()
    for name, column in columns.items():
        whole.update(f"{len(name.encode('utf-8', 'replace'))}:{name}".encode("utf-8", "replace"))
        whole.update(column.digest())
    return whole.hexdigest()
