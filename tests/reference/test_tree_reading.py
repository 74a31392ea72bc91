"""Trees as people and databases read them: missing as a level, odd names, numbers in short."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefit
from surefit import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor
from surefit.core.errors import DataError
from surefit.models.tree.trees.post_pruning import choose_pruning
from surefit.trees import model_tree, oblique_tree, stability

RNG = np.random.default_rng(0)
TOWNS = ["Bern", "Köln", "O'Hara", 'São "P"']
SHOPS = pd.DataFrame({"town": pd.Categorical(RNG.choice(TOWNS, 200)), 'the "size"': RNG.normal(size=200)})
SHOPS.loc[::9, "town"] = np.nan
SHOPS.loc[::13, 'the "size"'] = np.nan
SALES = (
    2.0 * SHOPS["town"].isin(["Bern", "O'Hara"]) - 1.5 * SHOPS["town"].isna() + SHOPS['the "size"'].fillna(1)
)
LABEL = np.where(SALES > 1, 'it\'s "high"', "low")
NEW = pd.DataFrame({"town": ["Paris", None, "Köln"], 'the "size"': [0.0, np.nan, -1.0]})


def by_sql(model: Any, rows: pd.DataFrame) -> list[Any]:
    with sqlite3.connect(":memory:") as base:
        rows.astype({"town": object}).assign(number=range(len(rows))).to_sql("shops", base, index=False)
        return [row[0] for row in base.execute(f"SELECT {model.to_sql()} FROM shops ORDER BY number")]


def by_python(model: Any, rows: pd.DataFrame) -> list[Any]:
    found: dict[str, Any] = {}
    exec(model.to_python(), found)
    return [found["predict"](tuple(row)) for row in rows.astype(object).itertuples(index=False)]


@pytest.mark.parametrize("missing", ["learned", "category"])
@pytest.mark.parametrize("make", [DecisionTreeRegressor, DecisionTreeClassifier])
def test_sql_and_python_predict_what_the_tree_does(make: Any, missing: str) -> None:
    classify = make is DecisionTreeClassifier
    model = make(max_depth=5, missing=missing).fit(SHOPS, LABEL if classify else SALES)
    for rows in (SHOPS, NEW):
        for read in (by_sql, by_python):
            assert read(model, rows) == model.predict(rows).tolist()


def test_missing_as_a_level_is_said_in_words_and_null_in_json() -> None:
    model = DecisionTreeRegressor(max_depth=1, missing="category").fit(
        SHOPS[["town"]], SHOPS["town"].notna() * 1.0
    )
    assert "town in {missing}: 0 " in model.to_text()
    levels = json.loads(model.to_json())["nodes"][0]["levels"]
    assert levels == [None]


def test_text_and_ways_have_six_digits_and_count_one_row() -> None:
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [1 / 3, 2 / 3])
    assert model.to_text().splitlines()[1] == "|-- x0 <= 1.5: 0.333333  (1 row, impurity 0)"
    assert model.explain([[1.0]]) == ["0.333333, because x0 <= 1.5: so went 1 of 2 rows."]


def test_what_is_found_about_trees_is_one_line() -> None:
    X, y = SHOPS[['the "size"']].fillna(0), SALES.to_numpy()
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    tree = DecisionTreeRegressor(max_depth=3)
    told = {
        "Stability(3 trees, split first 3 by column 0": stability(tree, X, y, times=3, random_state=0),
        "PruningChoice(": choose_pruning(tree, X, y, cv=3),
        "OutOfBagImportance(20 trees; column 0": forest.oob_importance(X, y),
        "ModelTree(": model_tree(X, y),
        "ObliqueTree(": oblique_tree(X, y, classify=False),
    }
    for start, found in told.items():
        assert repr(found).startswith(start)
        assert len(repr(found).splitlines()) == 1
        assert len(repr(found)) < 160


def test_mixtures_and_models_of_leaves_can_be_read() -> None:
    X = pd.DataFrame(RNG.normal(size=(300, 2)), columns=["a", "b"])
    sloped = oblique_tree(X, X["a"] - X["b"] < 0, classify=True, max_depth=1).to_text()
    assert re.fullmatch(r"all rows\n\|-- [\d.]+ a - [\d.]+ b <= .*: True\n\|-- .* b > .*: False", sloped)
    bent = model_tree(X, np.where(X["a"] > 0, 2.0, -2.0) * X["b"], max_depth=1).to_text().splitlines()
    assert re.fullmatch(r"\|-- a <= .* - (2|1\.\d+) b  \(\d+ rows, impurity .*\)", bent[1])
    with pytest.raises(DataError, match="encode categories"):
        model_tree(SHOPS, SALES)


def test_a_forests_trace_is_in_the_units_of_its_loss() -> None:
    X, y = RNG.normal(size=(80, 2)), 1e3 * RNG.normal(size=80)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    np.testing.assert_allclose([event.objective for event in forest.trace_], forest.loss_curve_)
    assert "tolerance" not in surefit.verify(forest, X, y).statement
