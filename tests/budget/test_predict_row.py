"""Predicting one row stays cheap: Python calls and memory blocks are counted, not seconds."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

import surefit

CALLS = 12  # Python functions entered
BLOCKS = 12  # memory blocks alive at the peak beyond those before
MODELS = {"MeanRegressor": surefit.MeanRegressor, "MajorityClassifier": surefit.MajorityClassifier}


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request):
    X = np.arange(40.0).reshape(10, 4)
    y = np.arange(10) % 3
    return request.param().fit(X, y)


def test_python_calls(model):
    row = np.ones((1, 4))
    model.predict(row)
    entered = []

    def profile(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_qualname)

    sys.setprofile(profile)
    try:
        model.predict(row)
    finally:
        sys.setprofile(None)
    assert len(entered) <= CALLS, entered


def test_memory_blocks(model):
    row = np.ones((1, 4))
    for _ in range(3):
        model.predict(row)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        model.predict(row)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before <= BLOCKS * 100
