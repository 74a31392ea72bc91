"""Laws of candidates: each class that takes part in a study can be built, fitted and asked as it declares."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import is_classifier

import surefit
from surefit.core.parameters import validate
from surefit.core.registry import members
from surefit.models.base import Estimator
from surefit.models.candidate import Candidate

CANDIDATES = {name: cls for name, cls in members(Estimator.kind).items() if vars(cls).get("candidate")}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    size = rng.normal(size=60)
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(60) < 0.1),
            "colour": rng.choice(["red", "green", "blue"], 60),
            "amount": rng.poisson(np.exp(0.3 + 0.5 * size)) + 1.0,
            "side": np.where(size + rng.normal(size=60) > 0, "left", "right"),
        }
    )


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_setting_of_a_candidate_is_valid(name: str) -> None:
    cls = CANDIDATES[name]
    candidate: Candidate = cls.candidate
    grid = product(*candidate.settings.values())
    for values in grid:
        chosen = dict(zip(candidate.settings, values, strict=True))
        model = cls(**{**candidate.given, **chosen})
        validate(model)
        assert {key: getattr(model, key) for key in chosen} == chosen


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_candidate_learns_from_a_table_prepared_for_it(name: str, table: pa.Table) -> None:
    cls = CANDIDATES[name]
    candidate: Candidate = cls.candidate
    first = {key: values[0] for key, values in candidate.settings.items()}
    model = surefit.make_pipeline(
        surefit.TablePreparer(candidate.purpose), cls(**{**candidate.given, **first})
    )
    target = "side" if is_classifier(model) else "amount"
    source = surefit.read(table, target=target, columns=["size", "colour"])
    answers = model.fit(source).predict(source)
    assert model[-1].certificate_.holds
    truth = table[target].to_numpy()
    if is_classifier(model):
        assert set(answers) <= {"left", "right"}
        assert hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    else:
        assert np.abs(answers - truth).max() <= 2 * np.ptp(truth)


def test_there_is_a_baseline_for_each_task_and_titles_are_told_apart() -> None:
    by_task: dict[bool, list[Candidate]] = {True: [], False: []}
    for cls in CANDIDATES.values():
        by_task[is_classifier(cls())].append(cls.candidate)
    for candidates in by_task.values():
        assert [entry.complexity for entry in candidates].count(0) == 1
        titles = [entry.title for entry in candidates]
        assert len(set(titles)) == len(titles)
        assert all(entry.target in ("any", "positive", "counts") for entry in candidates)
