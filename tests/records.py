"""Records of made-up studies, as real ones look: a regression, two classes, many, and a hostile one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.study.predictions import Predictions
from surefit.study.record import (
    CertificateRecord,
    CoefficientRecord,
    ColumnRecord,
    DependenceRecord,
    EntryRecord,
    Environment,
    FindingRecord,
    ImportanceRecord,
    ModelRecord,
    Record,
    ScoreRecord,
    TableRecord,
    ThresholdRecord,
    WorstRowRecord,
)

TITLES = {
    "ElasticNet": "Elastic net",
    "Ridge": "Ridge regression",
    "HuberRegressor": "Huber regression",
    "DecisionTreeRegressor": "Decision tree",
    "MeanRegressor": "Mean of the target",
    "DecisionTreeClassifier": "Decision tree",
    "LogisticRegression": "Logistic regression",
    "MajorityClassifier": "Commonest class",
}
SCRIPT = """import surefit

table = surefit.read("houses.csv")
model = surefit.make_pipeline(surefit.TablePreparer(), surefit.Ridge(alpha=1.0))
model.fit(table, "price")
"""
ENVIRONMENT = Environment(
    command="surefit learn houses.csv --target price --budget 30",
    script=SCRIPT,
    seed=0,
    seconds=24.7,
    budget=30.0,
    versions={"surefit": "0.1.0", "python": "3.12.4", "numpy": "2.3.1", "scikit-learn": "1.9.0"},
    machine="x86_64, 8 cores, x86-64-v3 kernels",
    date="2026-03-01T10:30:00+00:00",
)
HOLDS = CertificateRecord(
    claim="optimal",
    measure="relative duality gap",
    value=3.1e-13,
    tolerance=1e-8,
    holds=True,
    statement="No parameters can lower the objective by more than 3.1e-13 (relative duality gap), within the "
    "tolerance of 1e-08.",
)
FILES = {
    "record": "report.json",
    "model": "model.safetensors",
    "predictions": "predictions.parquet",
    "script": "script.py",
    "report": "report.html",
}
AUDIT = (
    FindingRecord(
        "leak",
        "problem",
        "sold_on alone predicts price with an R² of 0.97 (0.96 to 0.98).",
        "Leave it out if it is only known after the sale: --drop sold_on.",
        ("sold_on",),
        {"r2": 0.97, "low": 0.96, "high": 0.98},
    ),
    FindingRecord(
        "missing",
        "warning",
        "2 columns have missing values in more than a tenth of the rows.",
        "Check why; they are filled with the median and marked in a column of their own.",
        ("garage_year", "lot_frontage"),
        {"share": 0.177},
    ),
    FindingRecord("rare_levels", "note", "quarter has 3 levels with fewer than 10 rows.", "They are pooled."),
)


def entry(
    name: str, score: float, half: float, group: str, rng: np.random.Generator, **more: Any
) -> EntryRecord:
    return EntryRecord(
        name=name,
        title=TITLES[name],
        score=score,
        low=score - half,
        high=score + half,
        group=group,
        as_good_as_best=group == "a",
        seconds=0.03,
        rows=1460,
        folds=tuple(rng.normal(score, half, size=10).tolist()),
        others={"mean_absolute_error": (17.2, 16.1, 18.4)},
        **more,
    )


def column(name: str, kind: str = "number", used: bool = True, missing: int = 0) -> ColumnRecord:
    summary: tuple[tuple[str, Any], ...] = (("low", 12.0), ("median", 98.5), ("high", 402.0))
    if kind == "category":
        summary = (("north", 512), ("south", 230), ("harbour", 61))
    why = {"number": "numbers with 811 distinct values", "category": "text with 6 distinct values"}
    return ColumnRecord(name, kind, why.get(kind, "all rows differ"), missing, 811, used, summary)


def dependence(name: str, rng: np.random.Generator, label: str = "") -> DependenceRecord:
    grid = np.linspace(10, 400, 30)
    mean = 0.2 + 0.6 / (1 + np.exp(-(grid - 200) / 60)) if label else 100 + 0.9 * grid
    half = 0.04 * np.ptp(mean)
    return DependenceRecord(
        name,
        tuple(grid.tolist()),
        tuple(mean.tolist()),
        tuple((mean - half).tolist()),
        tuple((mean + half).tolist()),
        label,
    )


def regression() -> tuple[Record, Predictions]:
    rng = np.random.default_rng(0)
    columns = ["living_area", "quality", "garage_year", "lot_frontage", "baths", "rooms", "age"]
    leaderboard = (
        entry("ElasticNet", 0.842, 0.021, "a", rng, settings={"alpha": 0.01, "l1_ratio": 0.5}),
        entry("Ridge", 0.838, 0.022, "a", rng, p=0.41, settings={"alpha": 1.0}),
        entry("HuberRegressor", 0.801, 0.025, "b", rng, p=0.012),
        entry("DecisionTreeRegressor", 0.712, 0.04, "c", rng, p=0.0004, settings={"max_depth": 6}),
        entry("MeanRegressor", -0.004, 0.003, "d", rng, p=1e-9),
        EntryRecord("GammaRegressor", "Gamma regression", failed="The target has values at or below zero."),
    )
    truth = rng.gamma(9.0, 20.0, size=900)
    guess = truth + rng.normal(size=900) * (6 + 0.08 * truth)
    order = np.argsort(-np.abs(truth - guess))[:8]
    record = Record(
        table=TableRecord("houses.csv", 1460, 9, "9f2c" * 16),
        target="price",
        task="regression",
        task_why="numbers with 663 distinct values",
        classes=(),
        positive=None,
        metric="r2_score",
        better="higher",
        level=0.95,
        resampling="2 times 5 folds, the same for all models; settings were chosen inside each fold.",
        answer=(
            "Ridge regression predicts price; it cannot be told apart from Elastic net and is simpler.",
            "On rows it had not seen, its R² score is 0.838, with a 95 % interval of 0.816 to 0.86.",
            "Worry about sold_on, which alone predicts price and may not be known in time.",
        ),
        columns=(
            column("price"),
            *(column(name, missing=81 if name == "garage_year" else 0) for name in columns),
            column("quarter", "category"),
            column("id", "identifier", used=False),
        ),
        audit=AUDIT,
        leaderboard=leaderboard,
        baseline="MeanRegressor",
        chosen=ModelRecord(
            "Ridge",
            {"alpha": 1.0},
            "It is the simplest of two models that cannot be told apart.",
            HOLDS,
            coefficients=tuple(
                CoefficientRecord(name, value, value - 3, value + 3)
                for name, value in zip(columns, (41.0, 22.5, 3.1, -1.2, 8.8, 0.4, -14.9), strict=True)
            ),
            intercept=(180.9,),
        ),
        importance=tuple(
            ImportanceRecord(name, value, value * 0.8 - 0.004, value * 1.2 + 0.004)
            for name, value in zip(columns, (0.31, 0.18, 0.01, 0.0, 0.05, 0.001, 0.09), strict=True)
        ),
        dependence=(
            dependence("living_area", rng),
            dependence("quality", rng),
            DependenceRecord(
                "quarter",
                ("north", "south", "harbour"),
                (171.0, 180.0, 214.0),
                (168.0, 175.0, 202.0),
                (174.0, 186.0, 226.0),
            ),
        ),
        threshold=None,
        worst=tuple(
            WorstRowRecord(
                int(row),
                float(truth[row]),
                float(guess[row]),
                float((truth[row] - guess[row]) ** 2),
                {"living_area": 4676.0, "quality": 10, "quarter": "harbour", "garage_year": None},
            )
            for row in order
        ),
        environment=ENVIRONMENT,
        files=FILES,
        score=ScoreRecord(0.836, 0.812, 0.858, 0.002, 5),
    )
    fold = np.arange(900) % 5
    return record, Predictions(np.arange(900), fold, truth, guess)


def two_classes() -> tuple[Record, Predictions]:
    rng = np.random.default_rng(1)
    truth = rng.random(700) < 0.3
    score = np.where(truth, 1.4, -1.1) + rng.normal(size=700) * 1.3
    chance = 1 / (1 + np.exp(-score))
    names = np.array(["stays", "leaves"])
    base, _ = regression()
    tree = _tree()
    columns = ("tenure", "monthly_charge", "contract")
    record = replace(
        base,
        table=TableRecord("customers.parquet", 7043, 21, "b31e" * 16, sampled=5000),
        target="churn",
        task="classification",
        task_why="text with 2 distinct values",
        classes=("leaves", "stays"),
        positive="leaves",
        metric="log_loss",
        better="lower",
        answer=(
            "A decision tree predicts churn; no simpler model is as good.",
            "On rows it had not seen, its log loss is 0.41, with a 95 % interval of 0.39 to 0.43.",
            "Worry about contract, whose levels are rare, and about one class in four.",
        ),
        columns=(column("churn", "category"), *(column(name) for name in columns)),
        leaderboard=(
            entry("DecisionTreeClassifier", 0.41, 0.02, "a", rng, settings={"max_depth": 3}),
            entry("LogisticRegression", 0.47, 0.02, "b", rng, p=0.003),
            entry("MajorityClassifier", 0.61, 0.01, "c", rng, p=1e-7),
        ),
        score=None,
        baseline="MajorityClassifier",
        chosen=ModelRecord(
            "DecisionTreeClassifier",
            {"max_depth": 3, "criterion": "gini"},
            "No simpler model is as good.",
            replace(
                HOLDS, claim="best splits", holds=False, value=2e-3, statement="One split can be improved."
            ),
            diagnosis=(
                FindingRecord(
                    "small_leaves", "warning", "3 leaves have fewer than 10 rows.", "Prune the tree."
                ),
            ),
            tree=tree[0],
            rules=tree[1],
        ),
        importance=tuple(
            ImportanceRecord(name, 0.1 / k, 0.08 / k, 0.12 / k) for k, name in enumerate(columns, 1)
        ),
        dependence=tuple(dependence(name, rng, "leaves") for name in columns[:2]),
        threshold=ThresholdRecord("leaves", 0.2, 1.0, 4.0, 0.31, 0.44),
        worst=(WorstRowRecord(17, "leaves", "stays", 4.2, {"tenure": 61.0, "contract": "two years"}),),
    )
    return record, Predictions(
        np.arange(700),
        np.arange(700) % 5,
        names[truth.astype(int)],
        names[(chance >= 0.5).astype(int)],
        np.column_stack([chance, 1 - chance]),
        ("leaves", "stays"),
    )


def many_classes(count: int = 8) -> tuple[Record, Predictions]:
    rng = np.random.default_rng(2)
    base, _ = two_classes()
    names = [f"species {chr(97 + k)}" for k in range(count)]
    code = rng.integers(count, size=800)
    logits = rng.normal(size=(800, count)) + 2.5 * np.eye(count)[code]
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    coefficients = tuple(
        CoefficientRecord(name, float(rng.normal()), label=label)
        for label in names
        for name in ("bill", "flipper", "mass")
    )
    record = replace(
        base,
        target="species",
        classes=tuple(names),
        positive=None,
        threshold=None,
        chosen=replace(
            base.chosen,
            name="LogisticRegression",
            tree=None,
            rules=None,
            certificate=HOLDS,
            diagnosis=(),
            coefficients=coefficients,
            intercept=tuple(range(count)),
        ),
    )
    picked = np.array(names)
    return record, Predictions(
        np.arange(800), np.arange(800) % 5, picked[code], picked[chance.argmax(axis=1)], chance, tuple(names)
    )


def _tree() -> tuple[str, str]:
    import surefit
    from surefit import plots

    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=300) > 0.3, "leaves", "stays")
    table = {name: X[:, j] for j, name in enumerate(("tenure", "monthly_charge", "contract"))}
    import pandas as pd

    model = surefit.DecisionTreeClassifier(max_depth=3).fit(pd.DataFrame(table), y)
    return plots.to_svg(plots.plot_tree(model)), model.to_text()


def spoil(text: str, bad: Sequence[str]) -> str:
    """The text with one of the bad ones before it, the same one each time."""
    return f"{bad[sum(map(ord, text)) % len(bad)]}{text}"


def hostile(base: Record, *bad: str) -> Record:
    """The record with bad text wherever text from a table can be."""

    def spoilt(value: Any, path: str = "") -> Any:
        if path in {"task", "better", "chosen.tree", "metric"} or path.endswith(("group", "severity")):
            return value
        if isinstance(value, str):
            return spoil(value, bad)
        if isinstance(value, tuple):
            return tuple(spoilt(each, path) for each in value)
        if isinstance(value, dict):
            return {spoil(key, bad): spoilt(each, path) for key, each in value.items()}
        if hasattr(value, "__dataclass_fields__"):
            return replace(
                value,
                **{
                    name: spoilt(getattr(value, name), f"{path}.{name}".lstrip("."))
                    for name in value.__dataclass_fields__
                },
            )
        return value

    found = spoilt(base)
    assert isinstance(found, Record)
    return found
