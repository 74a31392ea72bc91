"""Laws so quick that a test around each of their cases would cost more than the law."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def in_one_test(name: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a law for every value of an argument inside one test; a failure says at which."""

    def decorate(law: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(law)

        @functools.wraps(law)
        def run(**given: Any) -> None:
            for number, value in enumerate(values):
                try:
                    law(**given, **{name: value})
                except Exception as error:
                    error.add_note(f"at {name} number {number}: {value!r}")
                    raise

        others = [parameter for parameter in signature.parameters.values() if parameter.name != name]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate
