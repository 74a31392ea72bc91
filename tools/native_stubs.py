"""Write the stub of the native module from the module as built; ``native_stubs.py --check`` only compares.

Every instruction set has the same functions, so one stub is generated and the others repeat it. Shapes and
devices are left out: no type checker reads them.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from surefit.core.native import compiled

FOLDER = Path(__file__).parent.parent / "src" / "surefit" / "core" / "native"
STUB = FOLDER / "_native_v3.pyi"
ARRAY = re.compile(r"Annotated\[NDArray\[numpy\.(\w+)\], dict\(shape=\([^()]*\)[^()]*\)\]")
SHORT = {
    "float32": "F32",
    "float64": "F64",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint32": "U32",
    "uint64": "U64",
}
HEAD = '''"""The compiled kernels. Written by tools/native_stubs.py: do not edit."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy
from numpy.typing import NDArray

''' + "".join(f"{short}: TypeAlias = NDArray[numpy.{dtype}]\n" for dtype, short in SHORT.items())


def generated() -> str:
    """Return the stub that the module as built asks for, in the project's format."""
    module = compiled()
    if module is None:
        raise SystemExit("The native module is not built: run `make build`, without SUREFIT_NATIVE=off.")
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / STUB.name
        stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "-D", "--exclude-values"]
        subprocess.run([*stubgen, "-m", module.__name__, "-o", raw], check=True)
        body = raw.read_text()
    text = HEAD + ARRAY.sub(lambda match: SHORT[match[1]], body[body.index("variant: str") :])
    text = re.sub(r"(: |-> )tuple\b(?!\[)", r"\1tuple[Any, ...]", text)
    text = re.sub(r"(: |-> )list\b(?!\[)", r"\1list[Any]", text)
    ruff = str(Path(sys.executable).parent / "ruff")
    command = [ruff, "format", "--quiet", f"--stdin-filename={STUB}", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main(check: bool) -> int:
    """Write the stub, or return 1 if the one that is there is out of date."""
    text = generated()
    if not check:
        STUB.write_text(text)
        return 0
    if STUB.exists() and STUB.read_text() == text:
        return 0
    print(f"{STUB.name} is out of date: run {Path(sys.executable).name} tools/native_stubs.py.")
    return 1


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
