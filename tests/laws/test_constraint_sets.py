"""What holds for the projection to every constraint set, and for intersections of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.penalties import CASES, points

from surefit import penalties
from surefit.core.errors import DataError, ParameterError
from surefit.optimize import pack, projection_certificate, quadratic_program, unpack
from surefit.penalties.base import CASE_COLUMNS, Penalty

SETS = [case for case in CASES if case.values[0].constraint and case.values[0].name != "none"]
each_set = pytest.mark.parametrize("constraint", SETS)


def far_and_near(seed: int) -> list[np.ndarray]:
    near = points((CASE_COLUMNS,), 8, seed=seed)
    return near + [1e6 + v for v in near[:2]] + [1e-12 * v for v in near[2:4]]


@each_set
def test_projections_are_feasible_idempotent_and_leave_members_alone(constraint: Penalty) -> None:
    for v in far_and_near(1):
        w = constraint.prox(v, 1.0)
        assert constraint.feasible(w)
        np.testing.assert_allclose(constraint.prox(w, 1.0), w, rtol=1e-13, atol=1e-14 * (1 + np.abs(w).max()))


@each_set
def test_projections_expand_no_distance(constraint: Penalty) -> None:
    for one, two in zip(far_and_near(1), far_and_near(2), strict=True):
        moved = np.linalg.norm(constraint.prox(one, 1.0) - constraint.prox(two, 1.0))
        assert moved <= np.linalg.norm(one - two) * (1 + 1e-12) + 1e-14 * np.abs(one).max()


@each_set
def test_no_member_is_on_the_far_side_of_the_projection(constraint: Penalty) -> None:
    """The variational inequality: (v - P v)'(y - P v) ≤ 0 for every member y."""
    members = [constraint.prox(y, 1.0) for y in points((CASE_COLUMNS,), 25, seed=3)]
    for v in far_and_near(4):
        w = constraint.prox(v, 1.0)
        size = max(np.linalg.norm(v - w), np.linalg.norm(w)) * max(1.0, np.abs(v).max())
        for y in members:
            assert (v - w) @ (y - w) <= 1e-13 * CASE_COLUMNS * size + 1e-25


@pytest.mark.covers("cs443:3.10", by="penalties.PositiveSemidefinite")
def test_the_semidefinite_projection_drops_negative_eigenvalues() -> None:
    rng = np.random.default_rng(0)
    for d in (1, 2, 5, 12):
        root = rng.normal(size=(d, d))
        matrix = root + root.T
        values, vectors = np.linalg.eigh(matrix)
        nearest = unpack(penalties.PositiveSemidefinite().prox(pack(matrix), 1.0))
        np.testing.assert_allclose(nearest, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12 * d)
        assert np.linalg.norm(pack(matrix)) == pytest.approx(np.linalg.norm(matrix), rel=1e-14)
    with pytest.raises(DataError, match="4 coefficients are not a packed matrix"):
        penalties.PositiveSemidefinite().prox(np.zeros(4), 1.0)
    with pytest.raises(DataError, match=r"has shape \(2, 3\)"):
        pack(np.zeros((2, 3)))


@pytest.mark.covers("cs443:3.10", by="penalties.Intersection")
@pytest.mark.parametrize("seed", range(10))
def test_the_nearest_point_of_a_polyhedron_is_that_of_the_quadratic_programme(seed: int) -> None:
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(5, 4))
    offsets = rng.random(5)
    sets = [
        penalties.Box(-1.0, 1.5),
        *(penalties.HalfSpace(a, float(b)) for a, b in zip(normals, offsets, strict=True)),
    ]
    if seed % 2:
        sets.append(penalties.AffineSubspace([[1.0, 1.0, 1.0, 1.0]], [0.25]))
    v = rng.normal(size=4) * 10 ** rng.uniform(-1, 3)
    w = penalties.Intersection(sets).prox(v, 1.0)
    equations = ([[1.0] * 4], [0.25]) if seed % 2 else (None, None)
    exact = quadratic_program(np.eye(4), -v, normals, offsets, *equations, (-1.0, 1.5))
    np.testing.assert_allclose(w, exact.x, rtol=0, atol=1e-9)


def test_the_nearest_correlation_matrix() -> None:
    """Positive semidefinite with ones on the diagonal, as Higham's example has it."""
    start = np.array([[2.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]])
    rows = np.array([pack(np.diag(row)) for row in np.eye(4)])
    both = penalties.Intersection(
        [penalties.AffineSubspace(rows, np.ones(4)), penalties.PositiveSemidefinite()]
    )
    nearest = unpack(both.prox(pack(start), 1.0))
    np.testing.assert_allclose(np.diag(nearest), 1.0, atol=1e-10)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-12
    assert nearest[0, 1] == pytest.approx(-0.8084, abs=5e-5)
    assert nearest[0, 2] == pytest.approx(0.1916, abs=5e-5)
    assert nearest[0, 3] == pytest.approx(0.1068, abs=5e-5)


def test_the_certificate_of_an_intersection_can_be_recomputed_and_refuted() -> None:
    sets = [penalties.NonNegative(), penalties.L2Ball(1.0), penalties.HalfSpace([1.0, 1.0, 0.0], 1.0)]
    v = np.array([3.0, 1.0, -2.0])
    certificate = penalties.Intersection(sets).certificate(v)
    assert certificate.holds
    assert set(certificate.parts) == {"gap", *(f"distance to sets[{i}]" for i in range(3))}
    point, corrections = certificate.witness["point"], certificate.witness["corrections"]
    np.testing.assert_allclose(point + np.sum(corrections, axis=0), v, atol=1e-12)
    assert projection_certificate(sets, v, point, corrections).value == certificate.value
    for other in ([0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [1.0, 0.1, 0.0]):  # inside but farther, or outside
        assert not projection_certificate(sets, v, other, corrections).holds


def test_dykstra_finds_the_nearest_point_where_plain_projections_find_another() -> None:
    sets = [penalties.HalfSpace([0.0, 1.0], 0.0), penalties.HalfSpace([1.0, 1.0], 0.0)]
    v = np.array([2.0, 1.0])
    plain = sets[1].prox(sets[0].prox(v, 1.0), 1.0)
    nearest = penalties.Intersection(sets).prox(v, 1.0)
    np.testing.assert_allclose(nearest, [0.5, -0.5], atol=1e-12)
    assert np.linalg.norm(plain - v) > np.linalg.norm(nearest - v) + 0.1


def test_sets_without_a_common_point_are_told() -> None:
    apart = penalties.Intersection(
        [penalties.Box(0.0, 1.0), penalties.HalfSpace([1.0, 1.0], -1.0)], max_rounds=200
    )
    with pytest.raises(DataError, match=r"from sets\[0\]; the sets may have no point in common"):
        apart.prox([0.5, 0.5], 1.0)


def test_what_is_no_convex_set_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"sets\[1\] is L1"):
        penalties.Intersection([penalties.Box(), penalties.L1(1.0)])
    with pytest.raises(ParameterError, match="sets is empty"):
        penalties.Intersection([])
