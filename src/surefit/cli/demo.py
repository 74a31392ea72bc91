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
from scipy.stats import t as student

from surefit.core.certificate import Certificate
from surefit.core.native.gram import centred_gram
from surefit.io.load import load
from surefit.io.save import save
from surefit.io.verify import verify
from surefit.models.baseline.majority import MajorityClassifier
from surefit.models.baseline.mean import MeanRegressor


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
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = MeanRegressor().fit(X, y)
    margin = student.ppf(0.975, len(y) - 1) * model.standard_error_[0]
    console.print(f"\n[bold]The answer.[/bold] Disease progression of {len(y)} patients, by its mean.")
    low, high = model.mean_[0] - margin, model.mean_[0] + margin
    console.print(f"  mean {model.mean_[0]:.1f}, 95 % interval {low:.1f} to {high:.1f}")
    console.print(f"[bold]The certificate.[/bold] {model.certificate_}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save(model, path)
        honest = verify(path, X, y)
        console.print(f"[bold]Verified[/bold] from the file and the data: [green]{_verdict(honest)}[/green]")
        tampered = load(path)
        tampered.mean_ = model.mean_ + 0.5
        save(tampered, path)
        caught = verify(path, X, y)
        console.print(f"  and with the mean in the file moved by 0.5: [red]{_verdict(caught)}[/red]")


def _verdict(certificate: Certificate) -> str:
    return f"{'holds' if certificate.holds else 'does NOT hold'}, gap {certificate.value:.2g}"


def _diagnosis(console: Console) -> None:
    from sklearn.datasets import load_digits

    data = load_digits()
    model = MajorityClassifier().fit(data.data, data.target)
    rows, columns = data.data.shape
    console.print(f"\n[bold]The diagnosis[/bold] of {rows} scanned digits, {columns} pixels each.")
    for finding in model.diagnosis_:
        console.print(f"  {finding}")


def _race(console: Console) -> None:
    from sklearn.covariance import EmpiricalCovariance

    X = np.random.default_rng(0).normal(size=(200_000, 50))
    ours, theirs = _fastest(
        lambda: centred_gram(X).scatter / len(X),
        lambda: EmpiricalCovariance(store_precision=False).fit(X).covariance_,
    )
    apart = np.max(np.abs(ours[1] - theirs[1]))
    console.print(
        "\n[bold]The race[/bold], on this machine, now: the covariance of 200 000 rows by 50 columns."
    )
    console.print(
        f"  surefit {1e3 * ours[0]:.1f} ms, scikit-learn {1e3 * theirs[0]:.1f} ms: "
        f"{theirs[0] / ours[0]:.1f} times as fast, the same to {apart:.0e}"
    )


def _fastest(*contenders: Callable[[], Any]) -> list[tuple[float, Any]]:
    """The shortest of five turns, taken alternately, with the result."""
    best: list[tuple[float, Any]] = [(float("inf"), None)] * len(contenders)
    for _ in range(5):
        for i, call in enumerate(contenders):
            start = time.perf_counter()
            result = call()
            best[i] = min(best[i], (time.perf_counter() - start, result), key=lambda entry: entry[0])
    return best
