"""Golden files: one model of each class, as this format version wrote it, kept as text.

``python -m tests.golden`` writes those that are missing; a file that is there is never touched, so that
what an older version wrote stays what it was.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden_files"


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The model file, and the answers it gave for five rows."""
    answers, model = path.read_text().split("\n", 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        file.write_bytes(base64.b64decode(model))
        yield file, json.loads(answers)


def pipeline() -> Any:
    """A pipeline with a step left out and one inside of another."""
    import surefit

    inner = surefit.make_pipeline(surefit.StandardScaler(), surefit.PCA(2))
    return surefit.make_pipeline(surefit.SimpleImputer(), "passthrough", inner, surefit.Ridge(0.5))


def _small(cls: Any) -> dict[str, int]:
    """What makes an ensemble as small as has several members."""
    from surefit.core.parameters import parameters_of

    if cls.__name__.startswith("HistGradientBoosting"):
        return {"max_iter": 3}
    return {"n_estimators": 3} if "n_estimators" in parameters_of(cls) else {}


def main() -> None:
    """Write what is missing."""
    from tests.laws.estimators import CLASSES, outputs, table

    import surefit
    from surefit.io.model_file import VERSION

    models = {name: (partial(cls, **_small(cls)), table(cls)) for name, cls in CLASSES.items()}
    for name, (make, (X, y)) in {**models, "Pipeline": (pipeline, table(CLASSES["Ridge"]))}.items():
        path = GOLDEN / f"v{VERSION}" / f"{name}.txt"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        model = make().fit(X, y)
        answers = {key: _dense(value).tolist() for key, value in outputs(model, X[:5]).items()}
        with tempfile.TemporaryDirectory() as folder:
            surefit.save(model, Path(folder) / "m")
            content = base64.encodebytes((Path(folder) / "m").read_bytes()).decode()
        path.write_text(f"{json.dumps(answers)}\n{content}")


def _dense(value: Any) -> Any:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


if __name__ == "__main__":
    main()
