"""What the courses claim of trees, held against fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import surefit


def xor_table(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of numbers in odd units, categories, missing cells, and labels of which a fifth are wrong."""
    rng = np.random.default_rng(seed)
    size, kind = rng.lognormal(12, 2, rows), rng.choice(["a", "b", "c"], rows)
    truth = (size > np.exp(12)) ^ (kind == "b")
    table = pd.DataFrame({"size": size, "kind": pd.Categorical(kind)})
    table.loc[rng.random(rows) < 0.05, "size"] = np.nan
    return table, np.where(rng.random(rows) < 0.2, ~truth, truth).astype(int)


@pytest.mark.covers("course_summary:5.7", by="DecisionTreeClassifier")
def test_trees_read_easily_need_little_cleaning_and_overfit() -> None:
    table, y = xor_table(600, 0)
    new, truth = xor_table(4000, 1)
    small = surefit.DecisionTreeClassifier(max_depth=2).fit(table, y)
    text = small.to_text()
    assert "size" in text
    assert "kind" in text  # named columns, mixed types, gaps: taken as they are
    scaled = table.assign(size=np.log(table["size"]))  # any rising change of units leaves the tree as it is
    again = surefit.DecisionTreeClassifier(max_depth=2).fit(scaled, y)
    np.testing.assert_array_equal(small.predict(table), again.predict(scaled))
    full = surefit.DecisionTreeClassifier().fit(table, y)
    assert full.score(table, y) > 0.95 > small.score(table, y)  # by heart, but for rows that are equal
    assert full.score(new, truth) < small.score(new, truth) - 0.05
    # Non-parametric: what a tree keeps grows with the rows.
    assert surefit.DecisionTreeClassifier().fit(new, truth).tree_.node_count > 3 * full.tree_.node_count


@pytest.mark.parametrize("bins", [2, 4, 8])
def test_discretising_a_column_loses_information(bins: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(500, 1))
    y = (x[:, 0] > 0.37).astype(int)
    coarse = np.floor(x * bins)
    exact = surefit.DecisionTreeClassifier(max_depth=1).fit(x, y)
    binned = surefit.DecisionTreeClassifier(max_depth=1).fit(coarse, y)
    assert exact.score(x, y) == 1.0
    assert binned.score(coarse, y) < 1.0
