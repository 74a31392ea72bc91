"""``surefit.group_rows``: the groups of a table's rows, how many there are, and what sets each apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefit.core.arrays import Matrix
from surefit.core.errors import DataError
from surefit.core.public import public
from surefit.data.source import TableSource
from surefit.evaluate.clusters.choice import ClusterChoice, Criterion, choose_clusters
from surefit.evaluate.clusters.description import ClusterSummary, describe_clusters
from surefit.evaluate.pipeline import make_pipeline
from surefit.models.cluster.kmeans.kmeans import KMeans
from surefit.models.factor.pca import PCA
from surefit.models.prepare.tables.table_preparer import TablePreparer
from surefit.study.record import ColumnRecord
from surefit.study.table.facts import gather
from surefit.study.table.kinds import kinds_of
from surefit.study.table.stream import sample, stream_of
from surefit.study.table.typed import typed

LOOKED_AT = 2000  # rows that the number of groups is chosen on, and that are described and drawn
_SCRIPT = '''"""Group the rows of {name} again: python script.py [TABLE] [MODEL]."""

import sys

import surefit

TABLE = {table!r}
KINDS = {kinds!r}

table = sys.argv[1] if len(sys.argv) > 1 else TABLE
file = sys.argv[2] if len(sys.argv) > 2 else "model-again.safetensors"
rows = surefit.typed(table, KINDS{weight})
model = surefit.make_pipeline(
    surefit.TablePreparer("distance", identifiers="keep"),
    surefit.KMeans({clusters}, n_init=5, random_state={seed}),
)
model.fit(rows)
print(model[-1].certificate_.statement)
surefit.save(model, file)
'''


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """A fitted model of the groups of a table, and what is told of them.

    model: a pipeline that ``surefit.predict`` takes. choice: how their number was chosen; None where it was
    given. summaries: what sets each apart, in words. sizes: the weight of each group. stability: how alike
    groups of two thirds of the rows are (1: the same). picture: two principal components, and the group, of
    some rows.
    """

    name: str
    model: Any
    columns: tuple[ColumnRecord, ...]
    choice: ClusterChoice | None
    summaries: tuple[ClusterSummary, ...]
    sizes: NDArray[np.float64]
    stability: float
    picture: tuple[Matrix, NDArray[np.int32]]
    explained: float  # share of the variance that the picture shows
    script: str

    @property
    def labels(self) -> NDArray[np.int32]:
        """The group of each row."""
        found: NDArray[np.int32] = self.model[-1].labels_
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        best = None if self.choice is None else dict(self.choice.best)
        return {
            "table": self.name,
            "rows": len(self.labels),
            "clusters": len(self.sizes),
            "best": best,
            "stability": None if np.isnan(self.stability) else self.stability,
            "certificate": self.model[-1].certificate_.statement,
            "groups": [
                {
                    "group": told.label,
                    "size": float(self.sizes[told.label]),
                    "apart": [trait.words for trait in told.traits],
                }
                for told in self.summaries
            ],
        }


@public
def group_rows(
    table: Any,
    clusters: int | None = None,
    *,
    by: Criterion = "silhouette",
    most: int = 10,
    kinds: Mapping[str, str] | None = None,
    drop: tuple[str, ...] = (),
    weight: str | None = None,
    random_state: int = 0,
) -> Grouping:
    """Group the rows of a table by k-means on its columns, each standardised or turned into indicators by its
    kind.

    clusters: how many groups; None chooses their number up to ``most`` by a criterion of ``choose_clusters``,
    on 2000 rows at the most. The fit itself reads all rows.

    >>> import pyarrow as pa
    >>> size = [1.0, 1.1, 0.9, 1.2, 5.0, 5.1, 4.9, 5.2] * 5
    >>> found = group_rows(pa.table({"size": size, "price": [2 * s for s in size]}))
    >>> len(found.sizes), found.summaries[0].rows
    (2, 20)
    """
    stream, _ = stream_of(table)
    columns = kinds_of(gather(stream), None, kinds, drop=drop, weight=weight)
    used = {column.name: column.kind for column in columns if column.used}
    if not used:
        raise DataError(
            "no column is left to group by: each is an identifier, text, constant or empty; overrule a kind "
            "if that is wrong."
        )
    source = typed(table, used, weight=weight)
    few = typed(sample(stream, LOOKED_AT, random_state), used, weight=weight)
    preparer = TablePreparer("distance", identifiers="keep").fit(few)
    rows = _matrix(preparer, few)
    if len(rows) < 4:
        raise DataError(f"{len(rows)} rows do not make groups: give at least 4.")
    base = KMeans(n_init=5, random_state=random_state)
    top = min(most, len(np.unique(rows, axis=0)) - 1)
    numbers = range(2, max(top, 2) + 1) if clusters is None else (clusters,)
    choice = choose_clusters(rows, numbers, by=by, model=base, draws=5, random_state=random_state)
    k = choice.chosen if clusters is None else clusters
    model = make_pipeline(
        TablePreparer("distance", identifiers="keep"), KMeans(k, n_init=5, random_state=random_state)
    ).fit(source)
    points = _matrix(model[0], few)
    labels = np.asarray(model.predict(few))
    axes = PCA(min(2, *points.shape)).fit(points)
    flat = np.zeros((len(points), 2))
    flat[:, : axes.components_.shape[0]] = axes.transform(points)
    name = str(table) if isinstance(table, str) else type(table).__name__
    script = _SCRIPT.format(
        name=name.replace('"', "").replace("\\", "/"),
        table=name,
        kinds=used,
        clusters=k,
        seed=random_state,
        weight="" if weight is None else f", weight={weight!r}",
    )
    return Grouping(
        name,
        model,
        columns,
        choice if clusters is None else None,
        tuple(describe_clusters(_readable(few), labels)),
        model[-1].cluster_weights_,
        float(choice.stability[list(choice.k).index(k)]),
        (flat, labels),
        float(axes.explained_variance_ratio_.sum()),
        script,
    )


def _matrix(preparer: TablePreparer, source: TableSource) -> Matrix:
    blocks: list[Any] = [batch.X for batch in preparer.transform(source)]
    found = np.concatenate(
        [b.toarray() if hasattr(b, "toarray") else getattr(b, "numbers", b) for b in blocks]
    )
    return np.ascontiguousarray(found, dtype=np.float64)


def _readable(source: TableSource) -> dict[str, NDArray[Any]]:
    """The columns of a typed table as people know them: numbers, and the names of levels."""
    found: dict[str, list[Any]] = {}
    for batch in source:
        X: Any = batch.X
        for j, column in enumerate(X.columns):
            cells = X.column(j)
            if column.kind == "category":
                names = np.array([*map(str, column.levels.tolist()), "missing"], dtype=object)
                cells = names[np.where(X.missing(j), len(names) - 1, cells)]
            found.setdefault(column.name, []).append(cells)
    return {name: np.concatenate(parts) for name, parts in found.items()}
