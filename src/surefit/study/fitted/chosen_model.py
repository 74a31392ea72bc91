"""The model chosen, fitted on all rows: its certificate, diagnosis, coefficients, tree and worst rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.errors import RefusalError
from surefit.evaluate.explain.original_scale import OriginalScale, original_scale
from surefit.study.fitted.readable_tree import readable
from surefit.study.predictions import Predictions
from surefit.study.record import (
    Cell,
    CertificateRecord,
    CoefficientRecord,
    FindingRecord,
    ModelRecord,
    WorstRowRecord,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from surefit.study.subject import Subject

MOST_COEFFICIENTS = 300  # the largest, in units of prepared columns
WORST = 10
CELLS = 30  # of a row
LONGEST = 200  # letters of a cell
FITTED = ("alpha_", "C_", "l1_ratio_", "lambda_", "n_iter_")  # what a fit chose by itself


def describe(pipeline: Any, settings: Mapping[str, Any], why: str, level: float) -> ModelRecord:
    """What is told of a fitted pipeline."""
    model = pipeline[-1]
    certificate = model.certificate_
    findings = [finding for step in pipeline for finding in getattr(step, "diagnosis_", ())]
    coefficients, intercept = _coefficients(pipeline, level)
    tree = readable(pipeline) if hasattr(model, "_splits") else None
    return ModelRecord(
        type(model).__name__,
        {**{key: cell(value) for key, value in settings.items()}, **_found(model)},
        why,
        CertificateRecord(
            certificate.claim,
            certificate.measure,
            float(certificate.value),
            float(certificate.tolerance),
            bool(certificate.holds),
            certificate.statement,
        ),
        tuple(
            FindingRecord(f.code, f.severity, f.message, f.remedy, f.columns, dict(f.evidence))
            for f in findings
        ),
        coefficients,
        intercept,
        None if tree is None else _drawing(tree),
        None if tree is None else tree.to_text(),
    )


def _found(model: Any) -> dict[str, Cell]:
    """Strengths that the fit chose, under their fitted names."""
    found = {}
    for name in FITTED[:-1]:
        value = getattr(model, name, None)
        if value is not None and np.ndim(value) == 0:
            found[name] = cell(value)
    return found


def cell(value: Any) -> Cell:
    """A value as a record holds it."""
    value = value.item() if hasattr(value, "item") and np.ndim(value) == 0 else value
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _coefficients(pipeline: Any, level: float) -> tuple[tuple[CoefficientRecord, ...], tuple[float, ...]]:
    """Coefficients in the units of the table, with intervals where the model has a theory of its errors."""
    model = pipeline[-1]
    if not hasattr(model, "coef_"):
        return (), ()
    try:
        found = original_scale(pipeline)
    except RefusalError:
        return (), ()
    prepared = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    coef = np.atleast_2d(found.coef)
    order = np.argsort(-np.abs(prepared).max(axis=0), kind="stable")[:MOST_COEFFICIENTS]
    ends = _ends(model, found, level)
    labels = _labels(model, len(coef))
    records = [
        CoefficientRecord(name, float(coef[k, j]), low, high, label)
        for k, label in enumerate(labels)
        for j in order
        for name in [found.names[j]]
        for low, high in [ends.get(name, (None, None))]
    ]
    return tuple(records), tuple(float(value) for value in np.ravel(found.intercept))


def _labels(model: Any, rows: int) -> list[str]:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return [""] * rows
    return [str(classes[-1])] if rows == 1 else [str(label) for label in classes]


def _ends(model: Any, found: OriginalScale, level: float) -> dict[str, tuple[float, float]]:
    """The intervals of prepared columns, each of which is one column of the table times a number."""
    if not hasattr(model, "summary") or np.ndim(model.coef_) != 1:
        return {}
    try:
        summary = model.summary(level=level)
    except (RefusalError, TypeError):
        return {}
    ends = {}
    lower = dict(zip(summary.names, zip(summary.lower, summary.upper, strict=True), strict=True))
    for name, own, prepared in zip(found.names, found.coef, model.coef_, strict=True):
        if name in lower and prepared != 0:
            both = sorted(float(end * own / prepared) for end in lower[name])
            if np.isfinite(both).all():
                ends[name] = (both[0], both[1])
    return ends


def _drawing(model: Any) -> str:
    from surefit.plots.base import to_svg
    from surefit.plots.tree import plot_tree

    return to_svg(plot_tree(model))


def worst_rows(subject: Subject, predictions: Predictions) -> tuple[WorstRowRecord, ...]:
    """The rows with the largest loss: how far off a number is, or how unlikely the truth was held."""
    loss = _losses(predictions, subject.task == "regression")
    if predictions.weight is not None:
        loss = np.where(predictions.weight > 0, loss, 0.0)
    order = np.argsort(-loss, kind="stable")[:WORST]
    order = order[loss[order] > 0]
    if len(order) == 0:
        return ()
    numbers = predictions.row[order]
    table = subject.rows(numbers)
    place = {int(number): k for k, number in enumerate(np.sort(numbers))}
    return tuple(
        WorstRowRecord(
            int(predictions.row[at]),
            cell(predictions.truth[at]),
            cell(predictions.prediction[at]),
            float(loss[at]),
            _cells(table, place[int(predictions.row[at])]),
        )
        for at in order
    )


def _losses(predictions: Predictions, regression: bool) -> NDArray[np.float64]:
    truth, answer = predictions.truth, predictions.prediction
    if regression:
        return np.abs(np.asarray(answer, dtype=np.float64) - np.asarray(truth, dtype=np.float64))
    if predictions.probabilities is None:
        return (np.asarray(answer) != np.asarray(truth)).astype(np.float64)
    place = {label: k for k, label in enumerate(predictions.classes)}
    codes = np.array([place[str(label)] for label in truth])
    share = predictions.probabilities[np.arange(len(truth)), codes]
    return np.asarray(-np.log(np.maximum(share, np.finfo(float).tiny)))


def _cells(table: pa.Table, row: int) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for name in table.column_names[:CELLS]:
        value = cell(table[name][row].as_py())
        found[name] = value[:LONGEST] if isinstance(value, str) else value
    return found
