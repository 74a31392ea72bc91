"""Text from a table made safe to look at: what would act on the page or the terminal is spelt out."""

from __future__ import annotations

import unicodedata

# Controls, formats (marks that turn the direction of writing), halves of characters, what no letter has been
# assigned to, and separators of lines. The joiners of Persian, Hindi and emoji only choose the shape of
# letters, so they stay.
_ACTING = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
_HARMLESS = {"\u200c", "\u200d"}


def visible(text: object, most: int | None = None) -> str:
    """Return the text with every acting character spelt out, cut after ``most`` characters.

    >>> print(visible("price\\x1b[31m\\u202eecirp\\n"))
    price\\x1b[31m\\u202eecirp\\n
    >>> visible("a" * 30, most=8)
    'aaaaaaa…'
    """
    words = str(text)
    if most is not None and len(words) > most:
        words = words[:most] + "…"  # before the loop, which need not see ten thousand characters
    shown = words if words.isprintable() else "".join(map(_spelt, words))
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"


def _spelt(character: str) -> str:
    if unicodedata.category(character) not in _ACTING or character in _HARMLESS:
        return character
    return character.encode("unicode_escape").decode("ascii")
