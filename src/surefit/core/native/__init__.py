"""The compiled kernels as Python sees them: one file a kernel, its face and its numpy twin side by side.

A face allocates the outputs and calls the compiled kernel, with the thread count of :func:`surefit.config`.
The twin does the same in some twenty lines of numpy: the oracle of the kernel's test, and what runs where
the extension is missing or ``SUREFIT_NATIVE=off`` is set.

To add a kernel: ``cpp/kernels/<kernel>.h`` (plain C++), ``cpp/bind/bind_<kernel>.cpp`` (its binding),
``cpp/tests/test_<kernel>.cpp``, and ``<kernel>.py`` in the folder that it serves: ``centres``, ``clusters``,
``columns``, ``kernel``, ``linear``, ``neighbours``, ``scores``, ``sums`` or ``trees``. Nothing else changes.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType

from surefit.core.errors import NativeWarning, warn

__all__ = [
    "centres",
    "clusters",
    "columns",
    "inputs",
    "kernel",
    "linear",
    "neighbours",
    "scores",
    "sums",
    "trees",
]


@cache
def compiled() -> ModuleType | None:
    """Return the extension module that fits this CPU, with scipy's BLAS plugged in; None means: use the
    twins.
    """
    if os.environ.get("SUREFIT_NATIVE", "").lower() in {"off", "0", "no"}:
        return None
    module = _import("v2")
    if module is not None and module.cpu_has_v3():
        module = _import("v3") or module
    module = module or _import("plain")
    if module is None:
        warn(
            "surefit's compiled kernels are missing, so slow numpy code runs instead: "
            "install surefit from a wheel, or with a C++20 compiler at hand.",
            NativeWarning,
        )
        return None
    _plug_blas(module)
    return module


def _import(variant: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"surefit.core.native._native_{variant}")
    except ImportError:
        return None


def _plug_blas(module: ModuleType) -> bool:
    """Give the kernels scipy's BLAS; they keep their plain loops when its signature is not the expected
    one.
    """
    from scipy.linalg import cython_blas

    routines = cython_blas.__pyx_capi__
    return bool(module.use_blas(routines["dgemm"], routines["sgemm"]))
