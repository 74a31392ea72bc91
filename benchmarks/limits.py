"""What this machine can do at best: matrix multiplication and reading memory, measured in a fresh process."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.runner import run_module
from benchmarks.task import Case


@dataclass(frozen=True)
class Limits:
    """Measured rates: float64 GEMM in flop/s on all threads, reads in bytes/s with one and with all."""

    threads: int
    gemm: float
    read_one: float
    read_all: float

    def seconds(self, case: Case) -> float | None:
        """Return max(flops / GEMM rate, bytes / bandwidth); None when the case states neither."""
        least = max(case.flops / self.gemm, case.bytes / max(self.read_one, self.read_all))
        return least if least > 0 else None

    def __str__(self) -> str:
        gemm, one, all_ = self.gemm / 1e9, self.read_one / 1e9, self.read_all / 1e9
        return (
            f"GEMM {gemm:.1f} Gflop/s (float64, {self.threads} threads); "
            f"reads {one:.1f} GB/s with 1 thread, {all_:.1f} GB/s with {self.threads}"
        )


def measure_limits(threads: int, quick: bool) -> Limits:
    """Measure the limits with the threads that every contender gets."""
    with tempfile.TemporaryDirectory(prefix="surefit-bench-") as folder:
        output = Path(folder) / "limits.json"
        code = run_module(__name__, str(threads), str(int(quick)), threads=threads, output=output)
        text = output.read_text()
    if code != 0:
        raise RuntimeError(f"The machine's limits could not be measured: {text.strip().splitlines()[-1:]}")
    return Limits(**json.loads(text))


def _measure(threads: int, quick: bool) -> Limits:
    import numpy as np
    from threadpoolctl import threadpool_limits

    def best(work: Callable[[], object], repeats: int = 7) -> float:
        times = []
        for _ in range(repeats):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
        return min(times)

    side = 500 if quick else 2000
    a = np.random.default_rng(0).standard_normal((side, side))
    gemm = 2.0 * side**3 / best(lambda: a @ a)

    # A dot product of a vector with itself reads it once, with less arithmetic than the loads can hide.
    vector = np.ones(2**20 if quick else 2**26)
    pieces = np.array_split(vector, 16 * threads)
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        one = vector.nbytes / best(lambda: [piece @ piece for piece in pieces])
        all_ = vector.nbytes / best(lambda: list(pool.map(lambda piece: piece @ piece, pieces)))
    return Limits(threads, gemm, one, all_)


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(int(sys.argv[1]), sys.argv[2] == "1"))))
