"""The curse of dimensionality in numbers: how large a neighbourhood must be to hold some of the rows."""

from __future__ import annotations

import math

from surefit.core.errors import ParameterError


def cube_edge(share: float, dimensions: int) -> float:
    r"""The edge of the cube that holds a share of rows spread evenly over a unit cube: :math:`f^{1/d}`.

    >>> round(cube_edge(0.1, 10), 10), round(cube_edge(0.01, 10), 10)
    (0.7943282347, 0.6309573445)
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"share={share!r} must be between 0 and 1.")
    _check_dimensions(dimensions)
    return float(share ** (1 / dimensions))


def sphere_volume(radius: float, dimensions: int) -> float:
    r"""The volume of a ball: :math:`\pi^{d/2} r^d / \Gamma(d/2 + 1)`.

    >>> round(sphere_volume(1.0, 2), 6), round(sphere_volume(1.0, 3), 6)
    (3.141593, 4.18879)
    """
    _check_dimensions(dimensions)
    if radius < 0:
        raise ParameterError(f"radius={radius!r} must be at least 0.")
    if radius == 0:
        return 0.0
    half = dimensions / 2
    return math.exp(half * math.log(math.pi) + dimensions * math.log(radius) - math.lgamma(half + 1))


def sphere_share(dimensions: int) -> float:
    r"""The share of a cube that lies in the ball inside of it, which vanishes as dimensions grow.

    >>> round(sphere_share(2), 6), round(sphere_share(10), 6)
    (0.785398, 0.00249)
    """
    return sphere_volume(0.5, dimensions)


def shell_share(thickness: float, dimensions: int) -> float:
    r"""The share of a ball within a relative ``thickness`` of its surface: :math:`1 - (1 - \epsilon)^d`.

    >>> round(shell_share(0.05, 2), 6), round(shell_share(0.05, 100), 6)
    (0.0975, 0.994079)
    """
    _check_dimensions(dimensions)
    if not 0 <= thickness <= 1:
        raise ParameterError(f"thickness={thickness!r} must be between 0 and 1.")
    return 1 - float((1 - thickness) ** dimensions)


def empty_cube_probability(edge: float, rows: int, dimensions: int) -> float:
    r"""The chance that a cube inside the unit cube holds none of m rows spread evenly: :math:`(1 - r^d)^m`.

    >>> round(empty_cube_probability(0.517792, 500, 10), 4)
    0.5
    """
    _check_dimensions(dimensions)
    if not 0 <= edge <= 1 or rows < 0:
        raise ParameterError(f"edge={edge!r} must be between 0 and 1, and rows={rows!r} at least 0.")
    return float((1 - edge**dimensions) ** rows)


def empty_cube_edge(probability: float, rows: int, dimensions: int) -> float:
    r"""The edge of the cube that is empty with this probability: :math:`(1 - \rho^{1/m})^{1/d}`.

    >>> round(empty_cube_edge(0.5, 500, 10), 6)
    0.517792
    """
    _check_dimensions(dimensions)
    if not 0 <= probability <= 1 or rows < 1:
        raise ParameterError(
            f"probability={probability!r} must be between 0 and 1, and rows={rows!r} at least 1."
        )
    return float((1 - probability ** (1 / rows)) ** (1 / dimensions))


def nearest_neighbor_excess(lipschitz: float, rows: int, dimensions: int) -> float:
    r"""What the risk of one nearest neighbour may exceed twice Bayes' risk by: :math:`4 c \sqrt{d}
    N^{-1/(d+1)}`.

    Rows lie in the unit cube, and the probability of a class changes by at most c times a distance.

    >>> round(nearest_neighbor_excess(1.0, 1000, 2), 8)
    0.56568542
    """
    _check_dimensions(dimensions)
    if lipschitz < 0 or rows < 1:
        raise ParameterError(f"lipschitz={lipschitz!r} must be at least 0, and rows={rows!r} at least 1.")
    return float(4 * lipschitz * math.sqrt(dimensions) * rows ** (-1 / (dimensions + 1)))


def nearest_neighbor_bound(bayes_risk: float, lipschitz: float, rows: int, dimensions: int) -> float:
    r"""The bound on the risk of one nearest neighbour: :math:`2 L(f^*) + 4 c \sqrt{d} N^{-1/(d+1)}`.

    >>> round(nearest_neighbor_bound(0.1, 1.0, 1000, 2), 8)
    0.76568542
    """
    if not 0 <= bayes_risk <= 0.5:
        raise ParameterError(f"bayes_risk={bayes_risk!r} must be between 0 and 0.5.")
    return 2 * bayes_risk + nearest_neighbor_excess(lipschitz, rows, dimensions)


def nearest_neighbor_rows(excess: float, lipschitz: float, dimensions: int) -> float:
    r"""How many rows bring the excess down to this: :math:`(4 c \sqrt{d} / \epsilon)^{d+1}`.

    >>> round(nearest_neighbor_rows(0.56568542, 1.0, 2))
    1000
    """
    _check_dimensions(dimensions)
    if excess <= 0:
        raise ParameterError(f"excess={excess!r} must be above 0.")
    return float((4 * lipschitz * math.sqrt(dimensions) / excess) ** (dimensions + 1))


def label_disagreement(eta: float, other: float) -> float:
    r"""The chance that two labels differ, of rows where 1 has these probabilities:
    :math:`\eta (1 - \eta') + \eta' (1 - \eta)`.

    >>> round(label_disagreement(0.3, 0.3), 4)
    0.42
    """
    if not (0 <= eta <= 1 and 0 <= other <= 1):
        raise ParameterError("label_disagreement takes two probabilities, between 0 and 1.")
    return eta * (1 - other) + other * (1 - eta)


def distance_contrast(rows: int, dimensions: int, random_state: int | None = 0) -> float:
    """The greatest over the least distance between rows drawn evenly from the unit cube: it falls to 1.

    >>> distance_contrast(100, 1000) < 1.5 < distance_contrast(100, 5)
    True
    """
    import numpy as np
    from scipy.spatial.distance import pdist

    _check_dimensions(dimensions)
    if rows < 2:
        raise ParameterError(f"rows={rows!r} must be at least 2.")
    found = pdist(np.random.default_rng(random_state).random((rows, dimensions)))
    return float(found.max() / found.min())


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1 or dimensions != int(dimensions):
        raise ParameterError(f"dimensions={dimensions!r} must be a whole number of at least 1.")
