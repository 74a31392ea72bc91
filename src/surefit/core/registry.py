"""The one registry: defining a class files it, and laws, menus and file loaders look it up by kind and name.

A kind is declared by its base class, which names the folder where its members live::

    class Loss(Registered, kind="loss", folder="surefit.losses"): ...

Every subclass defined in that folder that gives itself a ``name`` is then a member; nothing else needs to
be edited. A class without a ``name`` of its own is an abstract step in between. A kind declared with
``named_by_class=True`` takes the class's own name, and its steps in between say ``abstract=True``. Classes
defined outside surefit, in a notebook or a test, work as objects but are not listed; a package joins by an
entry point in the group ``surefit`` that names the module to import.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, ClassVar

from surefit.core.errors import RegistryError
from surefit.core.public import missing

# What a model file may name before anything has imported it.
_folders: dict[str, str] = {
    "loss": "surefit.losses",
    "penalty": "surefit.penalties",
    "kernel": "surefit.kernels",
    "distance": "surefit.distances",
    "metric": "surefit.metrics",
    "split": "surefit.resample",
    "chooser": "surefit.evaluate",
}
_members: dict[str, dict[str, type[Registered]]] = {}
_scanned: set[str] = set()
_complete: set[str] = set()
_scanning = threading.RLock()  # one thread imports, others wait until all is there
_roots: set[str] = {"surefit"}


class Registered:
    """Base of everything that is looked up by name."""

    kind: ClassVar[str]
    name: ClassVar[str]
    _named_by_class: ClassVar[bool]

    def __init_subclass__(
        cls,
        kind: str | None = None,
        folder: str | None = None,
        named_by_class: bool = False,
        abstract: bool = False,
        **arguments: Any,
    ) -> None:
        super().__init_subclass__(**arguments)
        if kind is not None:
            cls.kind = kind
            cls._named_by_class = named_by_class
            _folders[kind] = folder or cls.__module__.rpartition(".")[0]
            _members.setdefault(kind, {})
        elif not abstract and cls.__module__.partition(".")[0] in _roots:
            if cls._named_by_class:
                _file(cls, cls.__name__)
            elif "name" in cls.__dict__:
                _file(cls, cls.name)


def _file(cls: type[Registered], name: str) -> None:
    members = _members[cls.kind]
    holder = members.get(name)
    if holder is not None and (holder.__module__, holder.__qualname__) != (cls.__module__, cls.__qualname__):
        raise RegistryError(
            f"the {cls.kind} name {name!r} of {cls.__module__}.{cls.__qualname__} is taken by "
            f"{holder.__module__}.{holder.__qualname__}: choose another name."
        )
    members[name] = cls


def _scan(kind: str) -> dict[str, type[Registered]]:
    """Import every module of the kind's folder, and the plug-ins, on the first look-up."""
    if kind not in _complete:
        with _scanning:
            _import_all(kind)
    return _members[kind]


def _import_all(kind: str) -> None:
    if kind in _scanned:  # by this thread, in the middle of it
        return
    if kind not in _folders:
        raise RegistryError(f"there is no kind {kind!r}; the kinds are {', '.join(sorted(_folders))}.")
    _scanned.add(kind)
    folder = importlib.import_module(_folders[kind])
    for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
        importlib.import_module(module.name)
    if "plug-ins" not in _scanned:
        _scanned.add("plug-ins")
        for plugin in entry_points(group="surefit"):
            _roots.add(plugin.module.partition(".")[0])
            plugin.load()
    _complete.add(kind)


def members(kind: str) -> dict[str, type[Registered]]:
    """Return all members of a kind by name, in alphabetical order."""
    return dict(sorted(_scan(kind).items()))


def lookup(kind: str, name: str) -> type[Registered]:
    """Return one member; an unknown name is an error that offers the nearest one."""
    found = _scan(kind)
    if name in found:
        return found[name]
    near = get_close_matches(name, found, n=1)
    hint = (
        f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(sorted(found)) or 'none yet'}."
    )
    raise RegistryError(f"there is no {kind} named {name!r}: {hint}")


def members_door(
    package: str, kind: str, *, made: bool = False
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that shows the members of a kind.

    By the name of their class; with ``made``, by their registered name, as an object made without arguments.

    >>> find, names = members_door("surefit.losses", "loss")
    >>> find("Huber").__name__
    'Huber'
    """

    def shown() -> dict[str, type[Registered]]:
        return members(kind) if made else {found.__name__: found for found in members(kind).values()}

    def find(name: str) -> Any:
        # Classes begin with a capital: to look for a module in the registry would import all of them.
        if name.startswith("_") or not (made or name[0].isupper()):
            raise AttributeError(f"module {package!r} has no attribute {name!r}.")
        classes = shown()
        if name not in classes:
            raise missing(package, name, classes)
        found = classes[name]() if made else classes[name]
        vars(importlib.import_module(package))[name] = found  # so that the next look-up does not come here
        return found

    def names() -> list[str]:
        return sorted({*vars(importlib.import_module(package)), *shown()})

    return find, names
