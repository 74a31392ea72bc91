"""The compiled kernels. Written by tools/native_stubs.py: do not edit."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy
from numpy.typing import NDArray

F32: TypeAlias = NDArray[numpy.float32]
F64: TypeAlias = NDArray[numpy.float64]
I32: TypeAlias = NDArray[numpy.int32]
I64: TypeAlias = NDArray[numpy.int64]
U8: TypeAlias = NDArray[numpy.uint8]
U32: TypeAlias = NDArray[numpy.uint32]
U64: TypeAlias = NDArray[numpy.uint64]
variant: str = ...

def cpu_has_v3() -> bool: ...
def use_blas(dgemm: object, sgemm: object) -> bool: ...
def pool_size() -> int: ...
@overload
def standardise(X: F32, shift: F64, scale: F64, out: F32, threads: int) -> bool: ...
@overload
def standardise(X: F64, shift: F64, scale: F64, out: F64, threads: int) -> bool: ...
@overload
def stretch(X: F32, scale: F64, shift: F64, out: F32, threads: int) -> bool: ...
@overload
def stretch(X: F64, scale: F64, shift: F64, out: F64, threads: int) -> bool: ...
@overload
def bin_columns(X: F32, edges: F64, start: I64, levels: I64, codes: U8, threads: int) -> None: ...
@overload
def bin_columns(X: F64, edges: F64, start: I64, levels: I64, codes: U8, threads: int) -> None: ...
@overload
def boost_apply(
    X: F32,
    column: I32,
    number: F64,
    left: I32,
    right: I32,
    missing_left: U8,
    by_levels: U8,
    bits: U64,
    root: I64,
    first: int,
    last: int,
    score: F64,
    threads: int,
) -> None: ...
@overload
def boost_apply(
    X: F64,
    column: I32,
    number: F64,
    left: I32,
    right: I32,
    missing_left: U8,
    by_levels: U8,
    bits: U64,
    root: I64,
    first: int,
    last: int,
    score: F64,
    threads: int,
) -> None: ...
@overload
def boost_apply(
    X: U8,
    column: I32,
    number: F64,
    left: I32,
    right: I32,
    missing_left: U8,
    by_levels: U8,
    bits: U64,
    root: I64,
    first: int,
    last: int,
    score: F64,
    threads: int,
) -> None: ...
def boost_gradients(
    kind: int,
    parameter: float,
    y: F64,
    score: F64,
    weight: F64 | None,
    gradient: F64,
    curvature: F64,
    threads: int,
) -> tuple[Any, ...]: ...
def boost_softmax(
    y: F64, score: F64, weight: F64 | None, gradient: F64, curvature: F64, threads: int
) -> tuple[Any, ...]: ...
def boost_stride(width: int) -> int: ...
def boost_pack(codes: U8, counts: I64, packed: U8, threads: int) -> None: ...
def boost_grow(
    codes: U8,
    packed: U8,
    counts: I64,
    is_level: U8,
    has_missing: U8,
    monotone: Sequence[int],
    groups: Sequence[int],
    gradient: F64,
    curvature: F64,
    bounds: Sequence[float],
    rows: U32,
    spare: U32,
    sums: I64,
    max_leaves: int,
    max_depth: int,
    min_rows_leaf: int,
    l2: float,
    column_share: float,
    seed: int,
    threads: int,
) -> tuple[Any, ...]: ...
def boost_update(rows: U32, begin: I64, end: I64, value: F64, score: F64, threads: int) -> None: ...
@overload
def nearest_centre(
    X: F32, centres: F64, labels: I32, upper: F32 | None, lower: F32 | None, moved: F64 | None, threads: int
) -> int: ...
@overload
def nearest_centre(
    X: F64, centres: F64, labels: I32, upper: F32 | None, lower: F32 | None, moved: F64 | None, threads: int
) -> int: ...
@overload
def cluster_sums(
    X: F32, weight: F64 | None, before: I32 | None, after: I32, high: F64, low: F64, threads: int
) -> int: ...
@overload
def cluster_sums(
    X: F64, weight: F64 | None, before: I32 | None, after: I32, high: F64, low: F64, threads: int
) -> int: ...
@overload
def cluster_cost(
    X: F32, weight: F64 | None, centres: F64, labels: I32, squares: F64 | None, threads: int
) -> float: ...
@overload
def cluster_cost(
    X: F64, weight: F64 | None, centres: F64, labels: I32, squares: F64 | None, threads: int
) -> float: ...
@overload
def seeding_potentials(
    X: F32,
    weight: F64 | None,
    origin: F64,
    scale: float,
    candidates: F64,
    closest: F32,
    out: F64,
    threads: int,
) -> None: ...
@overload
def seeding_potentials(
    X: F64,
    weight: F64 | None,
    origin: F64,
    scale: float,
    candidates: F64,
    closest: F32,
    out: F64,
    threads: int,
) -> None: ...
@overload
def seeding_accept(
    X: F32,
    weight: F64 | None,
    origin: F64,
    scale: float,
    centre: F64,
    closest: F32,
    totals: F64,
    threads: int,
) -> None: ...
@overload
def seeding_accept(
    X: F64,
    weight: F64 | None,
    origin: F64,
    scale: float,
    centre: F64,
    closest: F32,
    totals: F64,
    threads: int,
) -> None: ...
@overload
def class_dual_cd(
    X: F32, y: I64, cost: F64, classes: int, a: F64, w: F64, tolerance: float, most: int, seed: int
) -> tuple[Any, ...]: ...
@overload
def class_dual_cd(
    X: F64, y: I64, cost: F64, classes: int, a: F64, w: F64, tolerance: float, most: int, seed: int
) -> tuple[Any, ...]: ...
@overload
def class_dual_cd_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    y: I64,
    cost: F64,
    classes: int,
    a: F64,
    w: F64,
    tolerance: float,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def class_dual_cd_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    y: I64,
    cost: F64,
    classes: int,
    a: F64,
    w: F64,
    tolerance: float,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def class_dual_cd_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    y: I64,
    cost: F64,
    classes: int,
    a: F64,
    w: F64,
    tolerance: float,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def class_dual_cd_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    y: I64,
    cost: F64,
    classes: int,
    a: F64,
    w: F64,
    tolerance: float,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
def class_loss(
    X: object,
    coef: F64,
    intercept: F64 | None,
    code: I64,
    weight: F64 | None,
    offset: F64 | None,
    gradient: F64,
    bends: F64 | None,
    sums: F64 | None,
    squares: F64 | None,
    signs: F64 | None,
    threads: int,
) -> float: ...
@overload
def class_sums(
    X: F32, codes: I64, weight: F64 | None, threshold: float | None, sums: F64, least: F64, threads: int
) -> None: ...
@overload
def class_sums(
    X: F64, codes: I64, weight: F64 | None, threshold: float | None, sums: F64, least: F64, threads: int
) -> None: ...
@overload
def class_sums_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    codes: I64,
    weight: F64 | None,
    threshold: float | None,
    sums: F64,
    least: F64,
    threads: int,
) -> None: ...
@overload
def class_sums_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    codes: I64,
    weight: F64 | None,
    threshold: float | None,
    sums: F64,
    least: F64,
    threads: int,
) -> None: ...
@overload
def class_sums_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    codes: I64,
    weight: F64 | None,
    threshold: float | None,
    sums: F64,
    least: F64,
    threads: int,
) -> None: ...
@overload
def class_sums_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    codes: I64,
    weight: F64 | None,
    threshold: float | None,
    sums: F64,
    least: F64,
    threads: int,
) -> None: ...
@overload
def column_cd(
    X: F32,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_cd(
    X: F64,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_cd_csc(
    data: F32,
    indices: I32,
    indptr: I32,
    rows: int,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_cd_csc(
    data: F32,
    indices: I64,
    indptr: I64,
    rows: int,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_cd_csc(
    data: F64,
    indices: I32,
    indptr: I32,
    rows: int,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_cd_csc(
    data: F64,
    indices: I64,
    indptr: I64,
    rows: int,
    which: I64 | None,
    centre: F64,
    curvature: F64,
    weight: F64 | None,
    total: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    r: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def column_facts(
    X: F32, target: F64, weight: F64 | None, total: float, centred: bool, facts: F64, threads: int
) -> None: ...
@overload
def column_facts(
    X: F64, target: F64, weight: F64 | None, total: float, centred: bool, facts: F64, threads: int
) -> None: ...
@overload
def column_facts_csc(
    data: F32,
    indices: I32,
    indptr: I32,
    rows: int,
    target: F64,
    weight: F64 | None,
    total: float,
    centred: bool,
    facts: F64,
    threads: int,
) -> bool: ...
@overload
def column_facts_csc(
    data: F32,
    indices: I64,
    indptr: I64,
    rows: int,
    target: F64,
    weight: F64 | None,
    total: float,
    centred: bool,
    facts: F64,
    threads: int,
) -> bool: ...
@overload
def column_facts_csc(
    data: F64,
    indices: I32,
    indptr: I32,
    rows: int,
    target: F64,
    weight: F64 | None,
    total: float,
    centred: bool,
    facts: F64,
    threads: int,
) -> bool: ...
@overload
def column_facts_csc(
    data: F64,
    indices: I64,
    indptr: I64,
    rows: int,
    target: F64,
    weight: F64 | None,
    total: float,
    centred: bool,
    facts: F64,
    threads: int,
) -> bool: ...
@overload
def column_gram(
    X: F32, which: I64, old: int, centre: F64 | None, weight: F64 | None, factor: float, G: F64, threads: int
) -> None: ...
@overload
def column_gram(
    X: F64, which: I64, old: int, centre: F64 | None, weight: F64 | None, factor: float, G: F64, threads: int
) -> None: ...
@overload
def column_gram_csc(
    data: F32,
    indices: I32,
    indptr: I32,
    rows: int,
    which: I64,
    old: int,
    centre: F64 | None,
    weight: F64 | None,
    factor: float,
    G: F64,
    threads: int,
) -> None: ...
@overload
def column_gram_csc(
    data: F32,
    indices: I64,
    indptr: I64,
    rows: int,
    which: I64,
    old: int,
    centre: F64 | None,
    weight: F64 | None,
    factor: float,
    G: F64,
    threads: int,
) -> None: ...
@overload
def column_gram_csc(
    data: F64,
    indices: I32,
    indptr: I32,
    rows: int,
    which: I64,
    old: int,
    centre: F64 | None,
    weight: F64 | None,
    factor: float,
    G: F64,
    threads: int,
) -> None: ...
@overload
def column_gram_csc(
    data: F64,
    indices: I64,
    indptr: I64,
    rows: int,
    which: I64,
    old: int,
    centre: F64 | None,
    weight: F64 | None,
    factor: float,
    G: F64,
    threads: int,
) -> None: ...
@overload
def columns_dot(X: F32, v: F64, centre: F64 | None, which: I64 | None, out: F64, threads: int) -> None: ...
@overload
def columns_dot(X: F64, v: F64, centre: F64 | None, which: I64 | None, out: F64, threads: int) -> None: ...
@overload
def columns_times(X: F32, w: F64, centre: F64 | None, which: I64 | None, out: F64, threads: int) -> None: ...
@overload
def columns_times(X: F64, w: F64, centre: F64 | None, which: I64 | None, out: F64, threads: int) -> None: ...
@overload
def columns_dot_csc(
    data: F32,
    indices: I32,
    indptr: I32,
    rows: int,
    v: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_dot_csc(
    data: F32,
    indices: I64,
    indptr: I64,
    rows: int,
    v: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_dot_csc(
    data: F64,
    indices: I32,
    indptr: I32,
    rows: int,
    v: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_dot_csc(
    data: F64,
    indices: I64,
    indptr: I64,
    rows: int,
    v: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_dot_csr(
    data: F32, indices: I32, indptr: I32, cols: int, v: F64, centre: F64 | None, out: F64, threads: int
) -> None: ...
@overload
def columns_dot_csr(
    data: F32, indices: I64, indptr: I64, cols: int, v: F64, centre: F64 | None, out: F64, threads: int
) -> None: ...
@overload
def columns_dot_csr(
    data: F64, indices: I32, indptr: I32, cols: int, v: F64, centre: F64 | None, out: F64, threads: int
) -> None: ...
@overload
def columns_dot_csr(
    data: F64, indices: I64, indptr: I64, cols: int, v: F64, centre: F64 | None, out: F64, threads: int
) -> None: ...
@overload
def columns_times_csc(
    data: F32,
    indices: I32,
    indptr: I32,
    rows: int,
    w: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_times_csc(
    data: F32,
    indices: I64,
    indptr: I64,
    rows: int,
    w: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_times_csc(
    data: F64,
    indices: I32,
    indptr: I32,
    rows: int,
    w: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
@overload
def columns_times_csc(
    data: F64,
    indices: I64,
    indptr: I64,
    rows: int,
    w: F64,
    centre: F64 | None,
    which: I64 | None,
    out: F64,
    threads: int,
) -> None: ...
def grid_density(
    X: F64, weight: F64, eps: float, least: float, nearest: bool, core: U8, label: I64, threads: int
) -> None: ...
def density_tree(X: F64, levels: int, order: I64, boxes: F64) -> None: ...
def density_sums(
    columns: F64,
    weight: F64,
    boxes: F64,
    totals: F64,
    queries: F64,
    kind: int,
    h: float,
    relative: float,
    absolute: float,
    skip: I64 | None,
    log_sum: F64,
    error: F64,
    threads: int,
) -> None: ...
def distinct_items(items: U8, code: I32, threads: int) -> list[Any]: ...
@overload
def dual_cd(
    X: F32, at: F64, low: F64, high: F64, weight: F64 | None, plan: F64, u: F64, w: F64, most: int, seed: int
) -> tuple[Any, ...]: ...
@overload
def dual_cd(
    X: F64, at: F64, low: F64, high: F64, weight: F64 | None, plan: F64, u: F64, w: F64, most: int, seed: int
) -> tuple[Any, ...]: ...
@overload
def dual_cd_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    at: F64,
    low: F64,
    high: F64,
    weight: F64 | None,
    plan: F64,
    u: F64,
    w: F64,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def dual_cd_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    at: F64,
    low: F64,
    high: F64,
    weight: F64 | None,
    plan: F64,
    u: F64,
    w: F64,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def dual_cd_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    at: F64,
    low: F64,
    high: F64,
    weight: F64 | None,
    plan: F64,
    u: F64,
    w: F64,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
@overload
def dual_cd_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    at: F64,
    low: F64,
    high: F64,
    weight: F64 | None,
    plan: F64,
    u: F64,
    w: F64,
    most: int,
    seed: int,
) -> tuple[Any, ...]: ...
def edit_distances(
    left: U32, left_start: I64, right: U32, right_start: I64, out: F64, threads: int
) -> None: ...
def error_sums(
    kind: int, option: float, truth: F64, guess: F64, weight: F64 | None, least: bool, threads: int
) -> tuple[Any, ...]: ...
@overload
def all_finite(x: F32, threads: int) -> bool: ...
@overload
def all_finite(x: F64, threads: int) -> bool: ...
def t_forces(
    Y: F64,
    mass: F64,
    starts: I64,
    ends: I64,
    weight: F64,
    angle: float,
    repulsion: F64,
    attraction: F64,
    threads: int,
) -> float: ...
@overload
def forest_grow_classes(
    X: F32,
    quick: bool,
    small: bool,
    rank: U32 | None,
    ascending: U32 | None,
    bins: U8,
    lowest: F64,
    highest: F64,
    by_column: bool,
    y: I32,
    outputs: int,
    weight: F64 | None,
    cumulative: F64 | None,
    draws: int,
    balanced: bool,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seeds: U64,
    threads: int,
) -> list[Any]: ...
@overload
def forest_grow_classes(
    X: F64,
    quick: bool,
    small: bool,
    rank: U32 | None,
    ascending: U32 | None,
    bins: U8,
    lowest: F64,
    highest: F64,
    by_column: bool,
    y: I32,
    outputs: int,
    weight: F64 | None,
    cumulative: F64 | None,
    draws: int,
    balanced: bool,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seeds: U64,
    threads: int,
) -> list[Any]: ...
@overload
def forest_grow_numbers(
    X: F32,
    quick: bool,
    small: bool,
    rank: U32 | None,
    ascending: U32 | None,
    bins: U8,
    lowest: F64,
    highest: F64,
    by_column: bool,
    y: F64,
    outputs: int,
    weight: F64 | None,
    cumulative: F64 | None,
    draws: int,
    balanced: bool,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seeds: U64,
    threads: int,
) -> list[Any]: ...
@overload
def forest_grow_numbers(
    X: F64,
    quick: bool,
    small: bool,
    rank: U32 | None,
    ascending: U32 | None,
    bins: U8,
    lowest: F64,
    highest: F64,
    by_column: bool,
    y: F64,
    outputs: int,
    weight: F64 | None,
    cumulative: F64 | None,
    draws: int,
    balanced: bool,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seeds: U64,
    threads: int,
) -> list[Any]: ...
@overload
def forest_columns(
    X: F32, places: U32, ascending: bool, bins: U8, lowest: F64, highest: F64, by_column: bool, threads: int
) -> None: ...
@overload
def forest_columns(
    X: F64, places: U32, ascending: bool, bins: U8, lowest: F64, highest: F64, by_column: bool, threads: int
) -> None: ...
def forest_draws(seed: int, draws: int, cumulative: F64 | None, counts: U32) -> None: ...
@overload
def forest_sums(
    X: F32,
    nodes: U64,
    node_start: I64,
    leaf_start: I64,
    bits: U64,
    level_start: I64,
    levels: I64 | None,
    values: F64 | None,
    width: int,
    left_out: U8 | None,
    out: F64,
    counts: I64 | None,
    threads: int,
    shared: bool = ...,
) -> None: ...
@overload
def forest_sums(
    X: F64,
    nodes: U64,
    node_start: I64,
    leaf_start: I64,
    bits: U64,
    level_start: I64,
    levels: I64 | None,
    values: F64 | None,
    width: int,
    left_out: U8 | None,
    out: F64,
    counts: I64 | None,
    threads: int,
    shared: bool = ...,
) -> None: ...
@overload
def forest_apply(
    X: F32,
    nodes: U64,
    node_start: I64,
    leaf_start: I64,
    bits: U64,
    level_start: I64,
    levels: I64 | None,
    left_out: U8 | None,
    out: I32,
    threads: int,
) -> None: ...
@overload
def forest_apply(
    X: F64,
    nodes: U64,
    node_start: I64,
    leaf_start: I64,
    bits: U64,
    level_start: I64,
    levels: I64 | None,
    left_out: U8 | None,
    out: I32,
    threads: int,
) -> None: ...
@overload
def fuzzy_step(
    X: F32, weight: F64 | None, centres: F64, power: float, sums: F64, shares: F64 | None, threads: int
) -> float: ...
@overload
def fuzzy_step(
    X: F64, weight: F64 | None, centres: F64, power: float, sums: F64, shares: F64 | None, threads: int
) -> float: ...
def medoid_swaps(turned: F64, weight: F64 | None, medoids: I64, limit: int) -> tuple[int, int]: ...
@overload
def centred_gram(
    X: F32, Y: F64 | None, weight: F64 | None, mean: F64, scatter: F64, threads: int
) -> float: ...
@overload
def centred_gram(
    X: F64, Y: F64 | None, weight: F64 | None, mean: F64, scatter: F64, threads: int
) -> float: ...
@overload
def sandwich(
    X: F32, G: F64 | None, weight: F64 | None, gram: F64, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def sandwich(
    X: F64, G: F64 | None, weight: F64 | None, gram: F64, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def centred_gram_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    threads: int,
) -> float: ...
@overload
def centred_gram_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    threads: int,
) -> float: ...
@overload
def centred_gram_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    threads: int,
) -> float: ...
@overload
def centred_gram_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    threads: int,
) -> float: ...
@overload
def sandwich_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    G: F64 | None,
    weight: F64 | None,
    gram: F64,
    cross: F64,
    sums: F64,
    threads: int,
) -> None: ...
@overload
def sandwich_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    G: F64 | None,
    weight: F64 | None,
    gram: F64,
    cross: F64,
    sums: F64,
    threads: int,
) -> None: ...
@overload
def sandwich_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    G: F64 | None,
    weight: F64 | None,
    gram: F64,
    cross: F64,
    sums: F64,
    threads: int,
) -> None: ...
@overload
def sandwich_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    G: F64 | None,
    weight: F64 | None,
    gram: F64,
    cross: F64,
    sums: F64,
    threads: int,
) -> None: ...
def centred_gram_columns(
    columns: list[Any], rows: int, Y: F64 | None, weight: F64 | None, mean: F64, scatter: F64, threads: int
) -> float: ...
@overload
def grouped_moments(
    X: F32, group: I64, weight: F64 | None, total: F64, mean: F64, scatter: F64, threads: int
) -> None: ...
@overload
def grouped_moments(
    X: F64, group: I64, weight: F64 | None, total: F64, mean: F64, scatter: F64, threads: int
) -> None: ...
@overload
def grouped_moments_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    group: I64,
    weight: F64 | None,
    total: F64,
    mean: F64,
    scatter: F64,
    threads: int,
) -> None: ...
@overload
def grouped_moments_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    group: I64,
    weight: F64 | None,
    total: F64,
    mean: F64,
    scatter: F64,
    threads: int,
) -> None: ...
@overload
def grouped_moments_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    group: I64,
    weight: F64 | None,
    total: F64,
    mean: F64,
    scatter: F64,
    threads: int,
) -> None: ...
@overload
def grouped_moments_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    group: I64,
    weight: F64 | None,
    total: F64,
    mean: F64,
    scatter: F64,
    threads: int,
) -> None: ...
def level_sums(
    codes: U8, counts: I64, slot: I32, part: I32, terms: I64, slots: int, parts: int, out: I64, threads: int
) -> None: ...
def level_route(
    codes: U8,
    column: I32,
    bin: I32,
    left: I32,
    right: I32,
    missing_left: U8,
    levels: U64,
    is_level: U8,
    out: I32,
    threads: int,
) -> None: ...
def level_best(
    sums: I64,
    bounds: F64,
    chosen: U8,
    counts: I64,
    is_level: U8,
    has_missing: U8,
    monotone: Sequence[int],
    gradient_unit: float,
    curvature_unit: float,
    row_bits: int,
    min_rows_leaf: int,
    l2: float,
    gain: F64,
    found: I64,
    levels: U64,
    threads: int,
) -> None: ...
def linear_loss(
    X: object,
    kind: int,
    options: F64,
    coef: F64,
    intercept: float,
    y: F64,
    weight: F64 | None,
    offset: F64 | None,
    gradient: F64 | None,
    bends: F64 | None,
    sums: F64 | None,
    squares: F64 | None,
    signs: F64 | None,
    threads: int,
) -> float: ...
def linear_hessian(
    X: object,
    kind: int,
    options: F64,
    coef: F64,
    intercept: float,
    y: F64,
    weight: F64 | None,
    offset: F64 | None,
    value: F64,
    slope: F64,
    bend: F64,
    gram: F64,
    cross: F64,
    sums: F64,
    threads: int,
) -> None: ...
def linear_excess(
    X: object,
    kind: int,
    options: F64,
    coef: F64,
    intercept: float,
    y: F64,
    weight: F64 | None,
    offset: F64 | None,
    change: F64,
    threads: int,
) -> tuple[Any, ...]: ...
def linear_shuffle(terms: F64, error: F64, order: I64, change: F64, spread: F64, threads: int) -> None: ...
def linkage_along_edges(
    X: F64,
    weight: F64,
    start: I64,
    stop: I64,
    apart: F64,
    linkage: int,
    children: I64,
    height: F64,
    threads: int,
) -> int: ...
def nearest_row(X: F64, Q: F64, index: I64, squares: F64, threads: int) -> None: ...
def linkage_of_rows(
    X: F64, weight: F64, core: F64, linkage: int, children: I64, height: F64, size: I64, threads: int
) -> None: ...
def linkage_of_square(
    square: F64, weight: F64, linkage: int, children: I64, height: F64, size: I64, threads: int
) -> None: ...
@overload
def log_score(chance: F32, code: I64, weight: F64 | None, step: float, threads: int) -> tuple[Any, ...]: ...
@overload
def log_score(chance: F64, code: I64, weight: F64 | None, step: float, threads: int) -> tuple[Any, ...]: ...
@overload
def mixture_sums(
    X: F32,
    weight: F64 | None,
    mean: F64,
    factor: F64,
    offset: F64,
    diagonal: bool,
    total: F64,
    first: F64,
    square: F64,
    threads: int,
) -> float: ...
@overload
def mixture_sums(
    X: F64,
    weight: F64 | None,
    mean: F64,
    factor: F64,
    offset: F64,
    diagonal: bool,
    total: F64,
    first: F64,
    square: F64,
    threads: int,
) -> float: ...
@overload
def mixture_scores(
    X: F32, mean: F64, factor: F64, offset: F64, diagonal: bool, out: F64, threads: int
) -> None: ...
@overload
def mixture_scores(
    X: F64, mean: F64, factor: F64, offset: F64, diagonal: bool, out: F64, threads: int
) -> None: ...
@overload
def column_moments(
    X: F32, weight: F64 | None, mean: F64, scatter: F64, minimum: F64, maximum: F64, threads: int
) -> float: ...
@overload
def column_moments(
    X: F64, weight: F64 | None, mean: F64, scatter: F64, minimum: F64, maximum: F64, threads: int
) -> float: ...
@overload
def column_moments_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    minimum: F64,
    maximum: F64,
    threads: int,
) -> float: ...
@overload
def column_moments_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    minimum: F64,
    maximum: F64,
    threads: int,
) -> float: ...
@overload
def column_moments_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    minimum: F64,
    maximum: F64,
    threads: int,
) -> float: ...
@overload
def column_moments_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    weight: F64 | None,
    mean: F64,
    scatter: F64,
    minimum: F64,
    maximum: F64,
    threads: int,
) -> float: ...
def rows_nearest(
    X: F64, centre: F64, scale: float, Q: F64, own: bool, index: I64, value: F64, threads: int
) -> None: ...
def rows_within(
    X: F64, centre: F64, scale: float, Q: F64, radius: F64, own: bool, by_distance: bool, threads: int
) -> tuple[Any, ...]: ...
def nonnegative_rows(
    square: F64, cross: F64, order: I64, sweeps: int, tolerance: float, w: F64, threads: int
) -> float: ...
@overload
def normal_scores(X: F32, mean: F64, scale: F64, offset: F64, out: F64, threads: int) -> None: ...
@overload
def normal_scores(X: F64, mean: F64, scale: F64, offset: F64, out: F64, threads: int) -> None: ...
@overload
def best_normal(
    X: F32, mean: F64, scale: F64, offset: F64, otherwise: int, out: I64, threads: int
) -> None: ...
@overload
def best_normal(
    X: F64, mean: F64, scale: F64, offset: F64, otherwise: int, out: I64, threads: int
) -> None: ...
def number_spread(
    truth: F64, guess: F64, weight: F64 | None, with_errors: bool, threads: int
) -> tuple[Any, ...]: ...
@overload
def pair_counts(a: U8, b: U8, weight: F64 | None, low: int, table: F64, threads: int) -> int: ...
@overload
def pair_counts(a: I32, b: I32, weight: F64 | None, low: int, table: F64, threads: int) -> int: ...
@overload
def pair_counts(a: I64, b: I64, weight: F64 | None, low: int, table: F64, threads: int) -> int: ...
def grow_point_tree(
    X: F64, norm: str, p: float, bucket: int, kind: str, points: F64, ids: I32, bounds: F64, threads: int
) -> None: ...
def tree_nearest(
    rows: int,
    norm: str,
    p: float,
    bucket: int,
    kind: str,
    points: F64,
    ids: I32,
    bounds: F64,
    Q: F64,
    own: bool,
    index: I64,
    value: F64,
    threads: int,
) -> None: ...
def tree_within(
    rows: int,
    norm: str,
    p: float,
    bucket: int,
    kind: str,
    points: F64,
    ids: I32,
    bounds: F64,
    Q: F64,
    radius: F64,
    own: bool,
    by_distance: bool,
    threads: int,
) -> tuple[Any, ...]: ...
def quad_cd(
    G: F64,
    c: F64,
    energy: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    noise: F64 | None,
    w: F64,
    gradient: F64,
    tolerance: float,
    most: int,
) -> tuple[Any, ...]: ...
@overload
def round_trip(
    X: F32, V: F64, B: F64 | None, weight: F64 | None, centre: F64 | None, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def round_trip(
    X: F64, V: F64, B: F64 | None, weight: F64 | None, centre: F64 | None, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def sampled_steps(
    X: F32,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def sampled_steps(
    X: F64,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def sampled_steps_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def sampled_steps_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def sampled_steps_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def sampled_steps_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    share: F64,
    rows: I64,
    batch: int,
    steps: F64,
    constant: bool,
    loss: int,
    parameter: float,
    l1: F64,
    l2: F64,
    lower: F64,
    upper: F64,
    w: F64,
    memory: F64 | None,
    mean: F64 | None,
    renew: bool,
    total: F64 | None,
) -> None: ...
@overload
def score_groups(
    score: F32, positive: U8, weight: F64 | None, value: F32, above: F64, below: F64, threads: int
) -> int: ...
@overload
def score_groups(
    score: F64, positive: U8, weight: F64 | None, value: F64, above: F64, below: F64, threads: int
) -> int: ...
def score_areas(positive: F64, negative: F64, threads: int) -> tuple[Any, ...]: ...
def select_ranks(x: F64, low: int, high: int, threads: int) -> tuple[Any, ...]: ...
def absolute_errors(truth: F64, guess: F64, error: F64, threads: int) -> bool: ...
@overload
def sgd_epoch(
    X: F32,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch(
    X: F64,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within(
    X: F32,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within(
    X: F64,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
@overload
def sgd_epoch_within_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    y: F64,
    weight: F64 | None,
    order: I64,
    shuffle: bool,
    seed: int,
    loss: int,
    parameter: float,
    plan: F64,
    w: F64,
    mean: F64 | None,
    q: F64 | None,
    state: F64,
    lower: F64,
    upper: F64,
    members: I64,
    starts: I64,
) -> tuple[Any, ...]: ...
def smo(
    kernel: tuple[Any, ...],
    rows: tuple[Any, ...],
    row: I64 | None,
    plus: F64,
    minus: F64,
    low: F64,
    high: F64,
    group: U8 | None,
    beta: F64,
    gradient: F64,
    tolerance: float,
    most_steps: int,
    cache_bytes: int,
    shrinking: bool,
    single: bool,
    working_set: int,
    threads: int,
) -> tuple[Any, ...]: ...
def kernel_sums(
    kernel: tuple[Any, ...],
    rows: tuple[Any, ...],
    queries: tuple[Any, ...],
    coef: F64,
    out: F64,
    threads: int,
) -> None: ...
def table_gap(
    w: F64, u: F64, l1: F64, l2: F64, lower: F64, upper: F64, noise: F64 | None, rr: float, yr: float
) -> tuple[Any, ...]: ...
def task_cd(
    G: F64, C: F64, l1: F64, l2: F64, W: F64, gradient: F64, outside: float, tolerance: float, most: int
) -> tuple[int, float]: ...
def row_gap(W: F64, gradient: F64, l1: F64, l2: F64, rr: float) -> float: ...
@overload
def row_argmin(A: F32, index: I64, value: F32, threads: int) -> None: ...
@overload
def row_argmin(A: F64, index: I64, value: F64, threads: int) -> None: ...
@overload
def top_k(A: F32, largest: bool, index: I64, value: F32, threads: int) -> None: ...
@overload
def top_k(A: F64, largest: bool, index: I64, value: F64, threads: int) -> None: ...
@overload
def tree_apply(
    X: F32, feature: I32, threshold: F64, right: I32, left_levels: U64, levels: I64, leaf: I64, threads: int
) -> None: ...
@overload
def tree_apply(
    X: F64, feature: I32, threshold: F64, right: I32, left_levels: U64, levels: I64, leaf: I64, threads: int
) -> None: ...
@overload
def tree_grow_classes(
    X: F32,
    y: I32,
    outputs: int,
    weight: F64 | None,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seed: int,
    threads: int,
) -> tuple[Any, ...]: ...
@overload
def tree_grow_classes(
    X: F64,
    y: I32,
    outputs: int,
    weight: F64 | None,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seed: int,
    threads: int,
) -> tuple[Any, ...]: ...
@overload
def tree_grow_numbers(
    X: F32,
    y: F64,
    outputs: int,
    weight: F64 | None,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seed: int,
    threads: int,
) -> tuple[Any, ...]: ...
@overload
def tree_grow_numbers(
    X: F64,
    y: F64,
    outputs: int,
    weight: F64 | None,
    criterion: int,
    starts: Sequence[int],
    levels: Sequence[int],
    monotone: Sequence[int],
    max_depth: int,
    min_rows_split: int,
    min_rows_leaf: int,
    min_weight_leaf: float,
    min_decrease: float,
    min_gain: float,
    pure_below: float,
    max_leaves: int,
    max_columns: int,
    random_threshold: bool,
    seed: int,
    threads: int,
) -> tuple[Any, ...]: ...
@overload
def tree_shuffle(
    X: F32,
    feature: I32,
    threshold: F64,
    right: I32,
    left_levels: U64,
    levels: I64,
    values: F64,
    order: I64,
    change: F64,
    plain: bool,
    threads: int,
) -> None: ...
@overload
def tree_shuffle(
    X: F64,
    feature: I32,
    threshold: F64,
    right: I32,
    left_levels: U64,
    levels: I64,
    values: F64,
    order: I64,
    change: F64,
    plain: bool,
    threads: int,
) -> None: ...
@overload
def triangular_factor(
    X: F32, Y: F64 | None, weight: F64 | None, shift: F64 | None, ones: bool, out: F64, threads: int
) -> None: ...
@overload
def triangular_factor(
    X: F64, Y: F64 | None, weight: F64 | None, shift: F64 | None, ones: bool, out: F64, threads: int
) -> None: ...
@overload
def triangular_factor_csr(
    data: F32,
    indices: I32,
    indptr: I32,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    shift: F64 | None,
    ones: bool,
    out: F64,
    threads: int,
) -> None: ...
@overload
def triangular_factor_csr(
    data: F64,
    indices: I32,
    indptr: I32,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    shift: F64 | None,
    ones: bool,
    out: F64,
    threads: int,
) -> None: ...
@overload
def triangular_factor_csr(
    data: F32,
    indices: I64,
    indptr: I64,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    shift: F64 | None,
    ones: bool,
    out: F64,
    threads: int,
) -> None: ...
@overload
def triangular_factor_csr(
    data: F64,
    indices: I64,
    indptr: I64,
    cols: int,
    Y: F64 | None,
    weight: F64 | None,
    shift: F64 | None,
    ones: bool,
    out: F64,
    threads: int,
) -> None: ...
def merge_triangular(R1: F64, R2: F64, out: F64) -> None: ...
