"""A page taken apart without a browser: its elements in order, with their attributes and their text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    parts: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        return [part for part in self.parts if isinstance(part, Element)]

    def all(self, *tags: str) -> list[Element]:
        """Every element below, in order; of those tags, if any are named."""
        found = []
        for child in self.children:
            found += ([child] if not tags or child.tag in tags else []) + child.all(*tags)
        return found

    def one(self, tag: str) -> Element:
        [found] = self.all(tag)
        return found

    @property
    def text(self) -> str:
        """All words in it, in order."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].parts.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def parsed(page: str) -> Element:
    """Take a page apart; every element must be closed in its turn."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].tag}> is not closed"
    return builder.root
