"""The compiled kernels. Written by tools/native_stubs.py: do not edit."""

from typing import TypeAlias, overload

import numpy
from numpy.typing import NDArray

F32: TypeAlias = NDArray[numpy.float32]
F64: TypeAlias = NDArray[numpy.float64]
I32: TypeAlias = NDArray[numpy.int32]
I64: TypeAlias = NDArray[numpy.int64]
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
def all_finite(x: F32, threads: int) -> bool: ...
@overload
def all_finite(x: F64, threads: int) -> bool: ...
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
@overload
def round_trip(
    X: F32, V: F64, B: F64 | None, weight: F64 | None, centre: F64 | None, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def round_trip(
    X: F64, V: F64, B: F64 | None, weight: F64 | None, centre: F64 | None, cross: F64, sums: F64, threads: int
) -> None: ...
@overload
def row_argmin(A: F32, index: I64, value: F32, threads: int) -> None: ...
@overload
def row_argmin(A: F64, index: I64, value: F64, threads: int) -> None: ...
@overload
def top_k(A: F32, largest: bool, index: I64, value: F32, threads: int) -> None: ...
@overload
def top_k(A: F64, largest: bool, index: I64, value: F64, threads: int) -> None: ...
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
