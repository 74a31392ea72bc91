"""What is public: names are marked where they are defined, and doors find them without importing the rest.

Every registered estimator is public under ``surefit``; what is not registered says so itself with
:func:`public`. ``make stubs`` writes all names, with the modules that define them, into the stub of their
package (``__init__.pyi``), where type checkers and editors read them. :func:`door` reads the same stub, so a
name that is asked for imports its own module alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TypeVar

Thing = TypeVar("Thing")
Door = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]
marked: dict[str, str] = {}  # name -> the module that defines it


def public(thing: Thing) -> Thing:
    """Make a function or a class one of surefit's own names.

    >>> from surefit import config
    >>> marked["config"]
    'surefit.core.config'
    """
    name: str = thing.__name__  # type: ignore[attr-defined]
    marked[name] = thing.__module__
    return thing


def door(package: str, file: str) -> Door:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names stand in its stub.

    package and file: the package's ``__name__`` and ``__file__``.

    >>> import surefit
    >>> find, names, _ = door("surefit", surefit.__file__)
    >>> find("Ridge").__name__, "Ridge" in names()
    ('Ridge', True)
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from surefit")]
    homes = {line[5]: (line[1], line[3]) for line in lines}  # from <1> import <3> as <5>

    def find(name: str) -> object:
        if name not in homes:
            raise missing(package, name, homes)
        module, called = homes[name]
        if module == package:  # a folder of its own, not yet imported
            return import_module(f"{module}.{called}")
        # with a list of names, as `from ... import` does it, so that the name may be a module of its own
        return getattr(__import__(module, fromlist=[called]), called)

    return find, lambda: sorted(homes), sorted(homes)


def missing(package: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for a name that a package does not have; it offers the nearest one."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(names), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"dir({package}) lists what it has."
    return AttributeError(f"module {package!r} has no attribute {name!r}: {hint}")
