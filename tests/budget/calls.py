"""Which Python functions a piece of work enters: what does not depend on how busy the machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def entered(work: Callable[[], Any]) -> list[str]:
    """The Python functions entered on the way, once everything is warm."""
    work()
    found: list[str] = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            found.append(frame.f_code.co_qualname)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found
