"""How a transformer hands sparse rows over, as scikit-learn's settings ask for it."""

from __future__ import annotations

from typing import Any

import sklearn
from scipy import sparse
from sklearn.utils._set_output import _get_output_config

from surefit.core.errors import DataError


def sparse_output(rows: Any) -> Any:
    """A CSR array as a matrix or an array, whichever interface is set."""
    if sklearn.get_config()["sparse_interface"] == "spmatrix":
        return getattr(sparse, f"{rows.format}_matrix")(rows)
    return rows


def dense_frames_asked(transformer: Any) -> None:
    """Refuse to make frames of sparse rows."""
    asked = _get_output_config("transform", transformer)["dense"]
    if asked != "default":
        raise DataError(
            f"{asked.capitalize()} output does not support sparse data. Set sparse_output=False to output "
            f'{asked} dataframes or disable {asked.capitalize()} output via set_output(transform="default").'
        )
