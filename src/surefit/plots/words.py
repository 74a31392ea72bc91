"""Numbers, durations and names as a reader wants them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from surefit.core.printable_text import visible
from surefit.core.registry import members

GROUPED = 10_000  # from here on digits are set in threes: a number of four may be a year


def number(value: float, digits: int = 6) -> str:
    """A number with few digits; powers of ten only where they are shorter.

    >>> number(-1237016.2, 7), number(3.31e-10, 2), number(0.25), number(2003.0, 4)
    ('−1,237,016', '3.3e-10', '0.25', '2003')
    """
    if value == 0 or not math.isfinite(value) or 1e-3 <= abs(value) < 10**digits:
        text = f"{value:{',' if abs(value) >= GROUPED else ''}.{digits}g}"
    else:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
    return f"−{text[1:]}" if text.startswith("-") else text


def tick_format(values: Iterable[float]) -> str:
    """How an axis writes numbers such as these: in threes where :func:`number` does.

    >>> tick_format([1998.0, 2003.5]), tick_format([0.0, 25_000.0])
    ('~f', ',~f')
    """
    return ",~f" if max(map(abs, values), default=0.0) >= GROUPED else "~f"


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> duration(0.00042), duration(0.31), duration(12.3), duration(200)
    ('0.42 ms', '310 ms', '12 s', '3.3 min')
    """
    if seconds < 1:
        return f"{seconds * 1e3:.2g} ms" if seconds < 0.0995 else f"{seconds * 1e3:.0f} ms"
    return (
        f"{seconds:.0f} s"
        if 10 <= seconds < 100
        else f"{seconds:.1f} s"
        if seconds < 10
        else f"{seconds / 60:.1f} min"
    )


def ticks(last: int, most: int = 10) -> list[int]:
    """Where to mark an axis that counts from 1: at 1 and at round numbers.

    >>> ticks(40), ticks(3)
    ([1, 5, 10, 15, 20, 25, 30, 35, 40], [1, 2, 3])
    """
    step = next(
        s for power in range(20) for s in (10**power, 2 * 10**power, 5 * 10**power) if last / s <= most
    )
    return [1, *(place for place in range(step, last + 1, step) if place > 1 + step / 2)]


def metric_words(metric: str) -> str:
    """The name of a metric as people write it: what it declares, or its name without underscores.

    >>> metric_words("r2_score"), metric_words("mean_absolute_error"), metric_words("my_own_scorer")
    ('R²', 'mean absolute error', 'my own scorer')
    """
    found: Any = members("metric").get(metric)
    return (
        visible(metric, 60).replace("_", " ").replace("roc auc", "ROC AUC")
        if found is None
        else str(found.words)
    )


def listed(names: Sequence[str], most: int) -> str:
    """Names for a sentence.

    >>> listed(["Lasso"], 2), listed(["a", "b", "c"], 3), listed(["a", "b", "c", "d"], 3)
    ('Lasso', 'a, b and c', 'a, b and 2 more')
    """
    more = len(names) - most
    shown = list(names) if more <= 0 else [*names[: most - 1], f"{more + 1} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def labels(names: Sequence[object], most: int = 28) -> list[str]:
    """Names short enough for a chart, with what would act spelt out, and still different if they were.

    >>> labels(["price", "a very long name of a column 1", "a very long name of a column 2"], most=12)
    ['price', 'a very long…', 'a very l… #2']
    """
    found: dict[str, int] = {}
    shown = []
    for name in names:
        short = visible(name, most)
        found[short] = found.get(short, 0) + 1
        if found[short] > 1:
            mark = f" #{found[short]}"
            short = f"{visible(name, most - len(mark))}{mark}"
        shown.append(short)
    return shown
