"""Say what a model file makes of the columns of a table, or why it answers one row as it does."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from surefit.cli._frame import Output, shown, verb
from surefit.cli._table import chosen, table_options
from surefit.core.errors import DataError

if TYPE_CHECKING:
    from surefit.study.fitted.matrix_model import MatrixModel

ROWS = 2000  # drawn at random, that the model is asked about
BACKGROUND = 200  # rows whose cells take the place of one row's
STEPS = 9  # values of a number
LEVELS = 12  # of a category
DRAWN = 3  # columns whose dependence is shown, unless some are named
CLASSES = 5  # whose probabilities are shown, if there are more than two


@verb("explain", __doc__)
@click.argument("model")
@table_options(weight=False, learning=False)
@click.option("--row", type=click.IntRange(min=0), help="Explain this row; the first is 0.")
@click.option(
    "--column", "columns", metavar="NAME", multiple=True, help="How answers depend on it; repeatable."
)
@click.option("--metric", metavar="NAME", help="What the importance of a column is measured by.")
@click.option("--seed", type=int, default=0, help="The seed of random draws.")
def command(
    out: Output,
    model: str,
    table: str,
    target: str | None,
    drop: tuple[str, ...],
    sample: int | None,
    row: int | None,
    columns: tuple[str, ...],
    metric: str | None,
    seed: int,
) -> None:
    """Where the table has the truth, what the score loses when a column is shuffled; always, how the mean
    answer depends on columns; with --row, what each cell of one row does to its answer.
    """
    given = chosen(table, target=target, drop=drop, sample=sample)
    out.log(f"explaining {model} on {given.name}")
    from surefit.cli._model import opened
    from surefit.study.table.stream import stream_of

    applied = opened(model)
    rows = given.table()
    if row is not None:
        facts = _one_row(applied, rows, row, drop, seed)
        if not out.json(facts):
            _show_row(out, facts)
        return
    if target is None and applied.target in applied.unused(rows):
        target = applied.target
    total = stream_of(rows)[0].rows
    facts = {"rows": None, "importance": [], "dependence": [], "metric": None}
    coded, X, truth = _drawn(applied, rows, target, drop, seed)
    facts["rows"] = len(X)
    unknown = next((name for name in columns if name not in coded.names), None)
    if unknown is not None:
        raise DataError(
            f"the model does not read a column {unknown!r}; it reads {', '.join(coded.names[:10])}."
        )
    order = list(coded.names)
    if truth is not None:
        found = _importance(coded, X, truth, metric, seed)
        facts["metric"] = found.metric
        facts["importance"] = [
            {"column": coded.names[j], "mean": found.mean[j], "low": found.low[j], "high": found.high[j]}
            for j in found.order()
        ]
        order = [coded.names[j] for j in found.order()]
    labels = [None] if applied.classes is None else applied.classes.tolist()
    labels = labels[-1:] if len(labels) == 2 else labels[:CLASSES]
    facts["dependence"] = [
        _dependence(coded, X, name, label) for name in columns or order[:DRAWN] for label in labels
    ]
    if not out.json(facts):
        _show(out, facts, total)


def _drawn(applied: Any, table: Any, target: str | None, drop: tuple[str, ...], seed: int) -> Any:
    """Rows drawn at random, as the model reads them, in a matrix; and their truth."""
    import numpy as np

    from surefit.study.fitted.matrix_model import MatrixModel
    from surefit.study.fitted.scored_answers import truth_of
    from surefit.study.table.stream import sample, stream_of

    drawn = sample(stream_of(table)[0], ROWS, seed)
    if drawn.num_rows == 0:
        raise DataError("the table has no rows.")
    also = () if target is None else (target,)
    pieces, truths = [], []
    coded: MatrixModel | None = None
    for batch, rows in applied.rows(drawn, also, labelled=target, besides=drop):
        coded = coded or MatrixModel(applied, rows)
        pieces.append(coded.matrix(rows))
        if target is not None:
            truths.append(truth_of(applied, batch.column(target)))
    if coded is None:
        raise DataError(f"no row has a {target!r}.")
    return coded, np.concatenate(pieces), np.concatenate(truths) if truths else None


def _importance(coded: MatrixModel, X: Any, truth: Any, metric: str | None, seed: int) -> Any:
    from surefit.evaluate.explain.permutation_importance import permutation_importance
    from surefit.study.fitted.scored_answers import metrics_of

    chosen_metric = next(iter(metrics_of(coded.applied, [metric] if metric else []).values()))
    return permutation_importance(coded, X, truth, metric=chosen_metric, random_state=seed)


def _dependence(coded: MatrixModel, X: Any, name: str, label: Any) -> dict[str, Any]:
    import numpy as np

    from surefit.evaluate.explain.partial_dependence import partial_dependence

    place = coded.names.index(name)
    own = X[:, place]
    there, counts = np.unique(own[~np.isnan(own)], return_counts=True)
    columns = coded.applied.columns
    if columns is not None and columns[place].kind == "category":
        grid = np.sort(there[np.argsort(-counts, kind="stable")[:LEVELS]])
    else:
        grid = (
            there
            if len(there) <= STEPS
            else np.unique(np.quantile(own[~np.isnan(own)], np.linspace(0.05, 0.95, STEPS)))
        )
    if len(grid) == 0:
        return {"column": name, "label": label, "values": [], "mean": [], "low": [], "high": []}
    found = partial_dependence(coded, X, place, values=grid.tolist(), target=label)
    return {
        "column": name,
        "label": label,
        "values": [coded.shown(place, float(value)) for value in grid],
        "mean": found.mean.tolist(),
        "low": found.low.tolist(),
        "high": found.high.tolist(),
    }


def _one_row(applied: Any, table: Any, number: int, drop: tuple[str, ...], seed: int) -> dict[str, Any]:
    import numpy as np

    from surefit.study.fitted.matrix_model import MatrixModel, contributions

    start, row, coded = 0, None, None
    for _, rows in applied.rows(table, besides=drop):
        size = len(rows.batch)
        if number < start + size:
            coded = MatrixModel(applied, rows)
            row = coded.matrix(rows)[number - start]
            break
        start += size
    if row is None or coded is None:
        raise DataError(f"the table has {start:,} rows, counted from 0, and so no row {number}.")
    _, others, _ = _drawn(applied, table, None, drop, seed)
    others = others[np.random.default_rng(seed).permutation(len(others))[:BACKGROUND]]
    answer = coded.predict(row[None])[0]
    label = share = None
    if applied.classes is not None:
        label = int(np.flatnonzero(applied.classes == answer)[0])
        share = float(coded.predict_proba(row[None])[0, label])
    parts = contributions(coded, row, others, label)
    path = _path(applied, coded.rows(row[None])) if hasattr(applied.last, "explain") else None
    return {
        "row": number,
        "prediction": answer,
        "probability": share,
        "path": path,
        "contributions": [
            {"column": part.column, "value": part.value, "change": part.change} for part in parts
        ],
    }


def _path(applied: Any, rows: Any) -> str | None:
    """The way through a tree, in words, with the names of the columns that it reads."""
    from surefit.core.errors import RefusalError
    from surefit.study.fitted.readable_tree import readable

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            words: str = readable(applied.model).explain(applied.matrix(rows))[0]
    except RefusalError:
        return None
    return words


def _show_row(out: Output, facts: dict[str, Any]) -> None:
    sure = "" if facts["probability"] is None else f", with probability {facts['probability']:.3g}"
    out.text(f"Row {facts['row']}: {shown(_plain(facts['prediction']))}{sure}.")
    if facts["path"]:
        for line in facts["path"].split("\n"):
            out.text(line)
    what = "prediction" if facts["probability"] is None else "probability"
    rows = []
    for part in facts["contributions"]:
        words = "does not matter"
        if part["change"]:
            words = f"{'raises' if part['change'] > 0 else 'lowers'} the {what} by {abs(part['change']):.3g}"
        rows.append((part["column"], "(missing)" if part["value"] is None else part["value"], words))
    out.table(("column", "value", "compared with other rows, it ..."), rows)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _show(out: Output, facts: dict[str, Any], total: int | None) -> None:
    of = "" if total is None or total == facts["rows"] else f" of {total:,}"
    out.text(f"{facts['rows']:,}{of} rows were asked about.")
    if facts["importance"]:
        out.table(
            ("column", f"loss of {facts['metric']}", "95 % interval"),
            [
                (e["column"], float(e["mean"]), f"[{e['low']:.4g}, {e['high']:.4g}]")
                for e in facts["importance"]
            ],
            title="What is lost when a column is shuffled",
        )
    for name in dict.fromkeys(entry["column"] for entry in facts["dependence"]):
        entries = [entry for entry in facts["dependence"] if entry["column"] == name]
        if len(entries) > 1:
            heads, cells = _by_class(entries)
        else:
            heads, cells = _with_ends(entries[0])
        title = "The mean probability of each class" if len(entries) > 1 else None
        out.table((name, *heads), list(zip(entries[0]["values"], *cells, strict=True)), title)


def _by_class(entries: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """The mean probabilities of several classes side by side."""
    return [str(entry["label"]) for entry in entries], [entry["mean"] for entry in entries]


def _with_ends(entry: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The mean answer and its interval."""
    what = "mean prediction" if entry["label"] is None else f"mean probability of {entry['label']}"
    ends = [f"[{low:.4g}, {high:.4g}]" for low, high in zip(entry["low"], entry["high"], strict=True)]
    return [what, "95 % interval"], [entry["mean"], ends]
