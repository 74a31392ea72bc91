"""List the tables that come with surefit, show one, or write it to a file."""

from __future__ import annotations

from typing import Any

import click

from surefit.cli._frame import Output, verb


@verb("datasets", __doc__)
@click.argument("name", required=False)
@click.option("--output", "-o", metavar="FILE", help="Write the table: .csv, .parquet, .arrow or .jsonl.")
def command(out: Output, name: str | None, output: str | None) -> None:
    """Without NAME, list what there is."""
    if name is None:
        if output is not None:
            raise click.UsageError("name the table to write, as in: surefit datasets iris --output iris.csv")
        return _list(out)
    from surefit.data.datasets import load

    found = load(name, as_="arrow")
    if output is not None:
        from surefit.cli._write import Rows, write_rows

        rows = write_rows(output, Rows(found.frame.schema, found.frame.to_batches()))
        if not out.json({"name": name, "file": output, "rows": rows}):
            out.text(f"{output}: {rows:,} rows")
        return None
    from surefit.study.table.kinds import decide_kinds

    columns = decide_kinds(found.frame)
    facts = _facts(found)
    if not out.json({**facts, "columns": [{"name": c.name, "kind": c.kind} for c in columns]}):
        out.text(
            f"{name}: {facts['rows']:,} rows, {facts['width']} columns, {found.task} of {facts['target']}"
        )
        for line in found.description.split("\n"):
            out.text(line)
        out.table(
            ("column", "kind", "missing", "values", "summary"),
            [
                (c.name, c.kind, c.missing, c.distinct, ", ".join(f"{k}: {v}" for k, v in c.summary))
                for c in columns
            ],
        )
    return None


def _list(out: Output) -> None:
    from surefit.data.datasets import load, names

    found = [_facts(load(name, as_="arrow")) for name in names()]
    if not out.json(found):
        rows = [(f["name"], f["rows"], f["width"], f["task"], f["target"]) for f in found]
        out.table(("name", "rows", "columns", "task", "target"), rows)
        out.text("surefit datasets NAME shows one, and --output writes it to a file.")


def _facts(found: Any) -> dict[str, Any]:
    target = found.target if isinstance(found.target, str) else ", ".join(found.target)
    return {
        "name": found.name,
        "rows": found.frame.num_rows,
        "width": found.frame.num_columns,
        "task": found.task,
        "target": target,
        "description": found.description,
    }
