"""Calling the command line in process, and tables and models for it to read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from click.testing import CliRunner

import surefit
from surefit.cli import group
from surefit.study.table.decide import decide


@dataclass
class Done:
    """How a call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(*arguments: object, stdin: bytes | None = None, **environment: str) -> Done:
    """Run a verb; an exception that is not an exit is raised."""
    runner = CliRunner(env=environment)
    found = runner.invoke(group, [str(a) for a in arguments], input=stdin, catch_exceptions=False)
    return Done(found.exit_code, found.stdout, found.stderr)


def refused(done: Done, *words: str) -> None:
    """Bad input: exit code 1, one sentence after the remarks, no traceback, no result."""
    assert done.code == 1
    said = [line for line in done.err.splitlines() if line.startswith("surefit: ")]
    assert len(said) == 1
    assert "Traceback" not in done.err
    assert done.out == ""
    for word in words:
        assert word in said[0]


def houses(rows: int, seed: int) -> pa.Table:
    """Numbers stored as text, words, yes and no, an identifier, gaps, a price and whether it was sold."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(300, 6000, rows)
    city = rng.choice(["Rome", "Oslo", "Bern"], rows)
    new = rng.choice(["yes", "no"], rows)
    price = size + 900.0 * (city == "Oslo") + 400.0 * (new == "yes") + 200 * rng.normal(size=rows)
    return pa.table(
        {
            "id": np.arange(rows) + 1000 * seed,
            "size": [f"{value:,.1f}" if rng.random() < 0.95 else "n/a" for value in size],
            "city": city,
            "new": new,
            "price": price.round(1),
            "sold": np.where(price > 3500, "yes", "no"),
        }
    )


def write_houses(folder: Path) -> Path:
    """Two tables, and models of the first: prices and sales, by lines and by trees."""
    for name, rows, seed in (("train", 240, 1), ("test", 120, 2)):
        pa.csv.write_csv(houses(rows, seed), folder / f"{name}.csv")
    train = str(folder / "train.csv")
    for target, other, models in (
        (
            "price",
            "sold",
            (surefit.LinearRegression(), surefit.Ridge(), surefit.DecisionTreeRegressor(max_depth=3)),
        ),
        ("sold", "price", (surefit.LogisticRegression(), surefit.DecisionTreeClassifier(max_depth=3))),
    ):
        source = decide(train, target, drop=(other,)).read(train)
        for model in models:
            purpose: Any = "tree" if "Tree" in type(model).__name__ else "linear"
            fitted = surefit.make_pipeline(surefit.TablePreparer(purpose), model).fit(source)
            surefit.save(fitted, folder / f"{target}-{type(model).__name__}.safetensors")
    return folder
