"""What all verbs share: ``--json`` and ``--debug``, where output goes, exit codes, errors as one sentence.

A verb is written as::

    @verb("audit", __doc__)
    @click.argument("table")
    def command(out: Output, table: str) -> None:
        found = ...
        if not out.json(found):                     # one JSON object, where it was asked for
            out.table(("column", "kind"), rows)     # else for people

Results go to standard output, everything else to standard error. Names and cells of a table are hostile until
``visible`` has seen them; the methods of ``Output`` see to that.
"""

from __future__ import annotations

import inspect
import json
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from surefit.core.errors import SurefitError
from surefit.core.files import FULL, naming
from surefit.core.printable_text import visible

if TYPE_CHECKING:
    from rich.console import Console

BAD_INPUT, GATE_FAILED, NOT_CONVERGED = 1, 3, 4  # 0 is fine, 2 is a wrong call, which click says itself
STDOUT = "standard output"
WIDE = 10_000  # columns of text where no terminal cuts a line
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Output:
    """Where a verb writes: results on standard output, progress and remarks on standard error."""

    as_json: bool = False

    def json(self, value: Any) -> bool:
        """Print JSON if it was asked for, and say whether it was."""
        if self.as_json:
            with naming(STDOUT):
                click.echo(json.dumps(_plain(value), indent=2, allow_nan=False))
        return self.as_json

    def text(self, text: str = "", style: str = "") -> None:
        """Print one line for people; a line's end in it came out of a table, and is spelt out."""
        from rich.text import Text

        results = self.results
        with naming(STDOUT):
            results.print(Text(visible(text), style=style), soft_wrap=not results.is_terminal)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> None:
        """Print a table for people; numbers are shortened and set to the right."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        rows = [list(row) for row in rows]
        table = Table(
            box=box.SIMPLE_HEAD, title=None if title is None else Text(visible(title)), title_justify="left"
        )
        for place, name in enumerate(columns):
            values = [row[place] for row in rows if row[place] is not None]
            number = bool(values) and all(isinstance(v, int | float) and v is not True for v in values)
            table.add_column(Text(visible(name)), justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        with naming(STDOUT):
            self.results.print(table)

    def log(self, text: str) -> None:
        """Write a remark to standard error."""
        click.echo(visible(text), err=True)

    @property
    def results(self) -> Console:
        """The console of standard output; no markup, no emoji, lines cut for terminals alone."""
        return _console(sys.stdout)

    @property
    def progress(self) -> Console:
        """The console of standard error."""
        return _console(sys.stderr)


def _console(stream: Any) -> Console:
    from rich.console import Console

    watched = stream.isatty()
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=None if watched else WIDE)


def shown(cell: Any) -> str:
    """A cell for people: numbers to four digits, nothing for None.

    >>> shown(0.123456), shown(1500), shown(None), shown(True)
    ('0.1235', '1500', '', 'yes')
    """
    if cell is None:
        return ""
    if cell is True or cell is False:
        return "yes" if cell else "no"
    return f"{cell:.4g}" if isinstance(cell, float) else visible(cell)


def _plain(value: Any) -> Any:
    """What JSON can hold; infinite and missing numbers become null."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class _Verb(click.Command):
    """A command with ``--json`` and ``--debug`` that ends in one sentence when the input is bad."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.params += [
            click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object, for machines."),
            click.Option(["--debug"], is_flag=True, help="Show where an error came from."),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb."""
        debug = ctx.params.pop("debug")
        ctx.params["out"] = Output(ctx.params.pop("as_json"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("once", UserWarning)
                warnings.showwarning = _warned
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # nobody reads on, and click ends quietly
        except (SurefitError, ValueError, OSError, MemoryError) as error:
            if debug:
                click.echo(traceback.format_exc(), err=True)
            stop(BAD_INPUT, _sentence(error))


def _warned(message: Warning | str, *where: Any, **also: Any) -> None:
    """A warning as a line for people, without the place in the code that gave it."""
    click.echo(f"warning: {visible(' '.join(str(message).split()))}", err=True)


def _sentence(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this: take a sample of the rows with --sample."
    if isinstance(error, OSError) and not isinstance(error, SurefitError) and error.strerror:
        if error.errno in FULL:
            where = error.filename or "a file"
            return f"the disk is full: {where} could not be written; make room, or choose another place."
        return f"{error.filename or 'a file'}: {error.strerror.lower()}."
    # What is not ours to say may go on for many lines, of which the first says what is wrong.
    told = str(error) if isinstance(error, SurefitError) else str(error).strip().partition("\n")[0]
    return " ".join(told.split()) or type(error).__name__


def stop(code: int, sentence: str) -> NoReturn:
    """End the program with an exit code and one sentence on standard error."""
    click.echo(f"surefit: {visible(sentence)}", err=True)
    raise click.exceptions.Exit(code)


def verb(name: str, doc: str | None) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function whose first argument is an ``Output`` named ``out``.

    ``--help`` shows the docstring of the file, then that of the function.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        told = f"{doc}\n\n{inspect.getdoc(function)}"
        shown_defaults = {"show_default": True}
        return click.command(name=name, cls=_Verb, help=told, context_settings=shown_defaults)(function)

    return decorate


def together(*decorators: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Join options into one decorator, in the order in which ``--help`` lists them."""

    def decorate(function: Decorated) -> Decorated:
        for each in reversed(decorators):
            function = each(function)
        return function

    return decorate
