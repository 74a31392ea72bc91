"""The command line: one verb a file, and nothing of a verb is imported before it is asked for.

A verb is a module of this folder that holds a click command called ``command``. The first line of its
docstring is the line that ``surefit --help`` shows, read from the file without importing it. A module whose
name begins with an underscore is no verb. To add a verb: add its file. Nothing else changes.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import click

FOLDER = Path(__file__).parent


class Verbs(click.Group):
    """A group of commands whose members are the files of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the verbs."""
        files = (path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
        return sorted(stem.replace("_", "-") for stem in files)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb; None when there is no such file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        verb: click.Command = importlib.import_module(f"surefit.cli.{cmd_name.replace('-', '_')}").command
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, each with the first line of its file."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, _summary(verb)) for verb in self.list_commands(ctx)])


def _summary(verb: str) -> str:
    source = (FOLDER / f"{verb.replace('-', '_')}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="surefit", prog_name="surefit")
def group() -> None:
    """Machine learning that proves its fits."""


def main() -> None:
    """Run the command line: the entry point of ``surefit`` and of ``python -m surefit``."""
    group(prog_name="surefit")
