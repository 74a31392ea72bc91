"""Learn from a real table and show what surefit says about it, on one screen."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.rule import Rule

from surefit.core.certificate import Certificate
from surefit.data.datasets import load as load_table
from surefit.io.load import load
from surefit.io.save import save
from surefit.io.verify import verify
from surefit.models.bayes.gaussian_nb import GaussianNB
from surefit.models.linear.linear_regression import LinearRegression


@click.command(name="demo", help=__doc__)
def command() -> None:
    """Print the screen."""
    console = Console(highlight=False)
    console.print(Rule("surefit: machine learning that proves its fits"))
    _answer_and_proof(console)
    _diagnosis(console)
    _race(console)
    console.print(Rule())
    console.print(
        "Next: [bold]surefit doctor[/bold] shows what runs underneath; the README has a first example."
    )


def _answer_and_proof(console: Console) -> None:
    table = load_table("diabetes", as_="arrow").frame.drop_columns(["sex"])
    model = LinearRegression().fit(table, "progression")
    summary = model.summary()
    row = summary.names.index("bmi")
    console.print(
        f"\n[bold]The answer.[/bold] Diabetes after a year, {len(table)} patients, nine measurements:"
    )
    console.print(
        f"  a point of body-mass index goes with {summary.estimate[row]:.1f} points of it, "
        f"95 % interval {summary.lower[row]:.1f} to {summary.upper[row]:.1f}"
    )
    console.print(f"[bold]The certificate.[/bold] {model.certificate_}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save(model, path)
        honest = _verdict(verify(path, table, "progression"))
        console.print(f"[bold]Verified[/bold] from file and data: [green]{honest}[/green]")
        tampered = load(path)
        tampered.coef_ = model.coef_ * 1.001
        save(tampered, path)
        caught = _verdict(verify(path, table, "progression"))
        console.print(f"  and with coefficients changed by a thousandth: [red]{caught}[/red]")


def _verdict(certificate: Certificate) -> str:
    return f"{'holds' if certificate.holds else 'does NOT hold'}, {certificate.value:.1g}"


def _diagnosis(console: Console) -> None:
    table = load_table("digits", as_="arrow").frame
    model = GaussianNB().fit(table, "digit")
    console.print(f"\n[bold]The diagnosis[/bold] of {len(table)} scanned digits of 64 pixels:")
    first, *others = model.diagnosis_
    console.print(f"  {first}")
    console.print(f"  and {len(others)} more, of {len(model.diagnosis_.ran)} rules that looked")


def _race(console: Console) -> None:
    from sklearn.linear_model import LinearRegression as Peer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 50))
    y = X @ rng.normal(size=50) + rng.normal(size=200_000)
    ours, theirs = _fastest(lambda: LinearRegression().fit(X, y), lambda: Peer().fit(X, y))
    apart = np.max(np.abs(ours[1].coef_ - theirs[1].coef_))
    console.print(
        "\n[bold]The race[/bold], on this machine, now: least squares on 200 000 rows by 50 columns."
    )
    console.print(
        f"  surefit {1e3 * ours[0]:.0f} ms, scikit-learn {1e3 * theirs[0]:.0f} ms: "
        f"{theirs[0] / ours[0]:.1f} times as fast, the same to {apart:.0e}"
    )


def _fastest(*contenders: Callable[[], Any]) -> list[tuple[float, Any]]:
    """The shortest of three turns, taken alternately, with the result."""
    best: list[tuple[float, Any]] = [(float("inf"), None)] * len(contenders)
    for _ in range(3):
        for i, call in enumerate(contenders):
            start = time.perf_counter()
            result = call()
            best[i] = min(best[i], (time.perf_counter() - start, result), key=lambda entry: entry[0])
    return best
