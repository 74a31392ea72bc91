"""What cells of text may stand for: numbers, yes and no, dates, nothing.

Each cell is read by its own form alone, never by its neighbours, so that a table of one row is read as the
table was that a model learnt from. What cannot be told by form is left as text: 03/04/2020 is in March or
in April, and 007 is a code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Words for nothing, in small letters; in a column of words they stay levels, for "none" may be one.
NOTHING = (
    "",
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "nan",
    "null",
    "none",
    "nil",
    "?",
    "-",
    "--",
    ".",
    "..",
    "missing",
)
TRUE = ("true", "t", "yes", "y", "on", "1", "ja", "wahr", "oui", "vrai", "si", "sí")
FALSE = ("false", "f", "no", "n", "off", "0", "nein", "falsch", "non", "faux")
_MARK = "[$€£¥]?"
NUMBER = (
    rf"^[+-]?\s*{_MARK}\s*[+-]?((0|[1-9]\d*|[1-9]\d{{0,2}}(,\d{{3}})+)(\.\d*)?|\.\d+)"
    rf"([eE][+-]?\d{{1,3}})?\s*(%|{_MARK})$"
)
_ISO_TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$"
_ISO_ZONE = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})$"
_FIRST, _LAST, _MIDDLE = r"^(?P<day>\d{1,2})", r"(?P<day>\d{1,2})$", r" (?P<day>\d{1,2}),"
_DAYS = (  # a form, how to read it, and where its day of the month stands
    (r"^\d{4}-\d{1,2}-\d{1,2}$", "%Y-%m-%d", _LAST),
    (r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d", _LAST),
    (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y", _FIRST),
    (r"^\d{1,2} [A-Za-z]{3,9} \d{4}$", "%d %b %Y", _FIRST),
    (r"^\d{1,2}-[A-Za-z]{3}-\d{4}$", "%d-%b-%Y", _FIRST),
    (r"^[A-Za-z]{3,9} \d{1,2}, \d{4}$", "%b %d, %Y", _MIDDLE),
)
SLASHED = r"^\d{1,2}/\d{1,2}/(\d{2}|\d{4})$"


def trimmed(cells: pa.Array) -> pa.Array:
    """Strings without space around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_trim_whitespace(cells.cast(pa.large_string()))


def are_nothing(cells: pa.Array) -> pa.Array:
    """Where a cell is a word for nothing."""
    return _among(cells, NOTHING)


def are_numbers(cells: pa.Array) -> pa.Array:
    """Where a cell is a number: 12, 1,234.5, 12 %, $3; none that begins with a needless zero."""
    return _match(trimmed(cells), NUMBER)


def are_booleans(cells: pa.Array) -> pa.Array:
    """Where a cell is one of the words for yes and no."""
    return _among(cells, TRUE + FALSE)


def are_slashed(cells: pa.Array) -> pa.Array:
    """Where a cell is a date with slashes, whose month cannot be told from its day."""
    return _match(trimmed(cells), SLASHED)


def to_numbers(cells: pa.Array) -> pa.Array:
    """Read numbers; null where a cell is none. A percentage is its share.

    >>> import pyarrow as pa
    >>> to_numbers(pa.array(["1,234", "12 %", "n/a", "$ 3.5", "007"])).to_pylist()
    [1234.0, 0.12, None, 3.5, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = trimmed(cells)
    fits = _match(cells, NUMBER)
    bare = pc.replace_substring_regex(cells, r"[,$€£¥%\s]", "")
    values = pc.if_else(fits, bare, pa.scalar(None, pa.large_string())).cast(pa.float64())
    return pc.if_else(pc.ends_with(cells, "%"), pc.divide(values, 100.0), values)


def to_booleans(cells: pa.Array) -> pa.Array:
    """Read yes and no; null where a cell is neither.

    >>> import pyarrow as pa
    >>> to_booleans(pa.array(["Yes", " n", "TRUE", "maybe"])).to_pylist()
    [True, False, True, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    yes, no = _among(cells, TRUE), _among(cells, FALSE)
    return pc.if_else(pc.or_(yes, no), yes, pa.scalar(None, pa.bool_()))


def to_dates(cells: pa.Array) -> pa.Array:
    """Read dates of forms that leave no doubt; null where a cell is none.

    >>> import pyarrow as pa
    >>> found = to_dates(pa.array(["2020-12-31", "31.12.2020", "Dec 31, 2020", "31/12/2020", "2020-02-30"]))
    >>> [None if day is None else day.day for day in found.to_pylist()]
    [31, 31, 31, None, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = trimmed(cells)
    moment = pa.timestamp("us")
    found = pa.nulls(len(cells), moment)
    for form, layout, place in _DAYS:
        fits = _match(cells, form)
        if pc.any(fits).as_py():
            days = pc.strptime(_only(cells, fits), layout, "us", error_is_null=True)
            told = pc.struct_field(pc.extract_regex(cells, place), "day").cast(pa.int64())
            same = pc.equal(pc.day(days), told)  # 30 February is read as 1 March
            found = pc.coalesce(found, pc.if_else(same, days, pa.scalar(None, moment)))
    for form, kind in ((_ISO_TIME, moment), (_ISO_ZONE, pa.timestamp("us", "UTC"))):
        fits = _match(cells, form)
        if pc.any(fits).as_py():
            try:
                times = _only(cells, fits).cast(kind)
            except pa.ArrowInvalid:  # an hour 25: nothing of the form is read
                continue
            found = pc.coalesce(found, times.cast(moment))
    return found


def _match(cells: pa.Array, pattern: str) -> pa.Array:
    import pyarrow.compute as pc

    return pc.fill_null(pc.match_substring_regex(cells, pattern), False)


def _among(cells: pa.Array, words: tuple[str, ...]) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    known: Any = pa.array(words, pa.large_string())
    there = pc.is_in(pc.utf8_lower(trimmed(cells)), known)
    return pc.and_(there, cells.is_valid())


def _only(cells: pa.Array, fits: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(fits, cells, pa.scalar(None, pa.large_string()))
