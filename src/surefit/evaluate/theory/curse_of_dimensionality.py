"""The curse of dimensionality in numbers: how large a neighbourhood must be to hold some of the rows."""

from __future__ import annotations

from surefit.core.errors import ParameterError


def cube_edge(share: float, dimensions: int) -> float:
    r"""The edge of the cube that holds a share of rows spread evenly over a unit cube: :math:`f^{1/d}`.

    >>> round(cube_edge(0.1, 10), 10), round(cube_edge(0.01, 10), 10)
    (0.7943282347, 0.6309573445)
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"share={share!r} must be between 0 and 1.")
    if dimensions < 1 or dimensions != int(dimensions):
        raise ParameterError(f"dimensions={dimensions!r} must be a whole number of at least 1.")
    return float(share ** (1 / dimensions))
