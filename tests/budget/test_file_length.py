"""A file holds one concept and stays short; a folder opens with an essay."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LONGEST = 400
FEWEST_WORDS = 25
CODE = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "cpp", "tests", "tools", "benchmarks")
    for suffix in ("py", "h", "cpp", "sh")  # stubs (.pyi) are written by a tool, one line a signature
    for path in (ROOT / folder).rglob(f"*.{suffix}")
)
PACKAGES = sorted(
    folder.relative_to(ROOT).as_posix()
    for folder in [ROOT / "src" / "surefit", *(ROOT / "src" / "surefit").rglob("*")]
    if folder.is_dir() and folder.name != "__pycache__"
)


def test_a_file_is_short() -> None:
    lengths = {file: len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in CODE}
    assert len(lengths) > 1000
    too_long = {file: length for file, length in lengths.items() if length > LONGEST}
    assert not too_long, f"{too_long}: cut them where a second concept begins."


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_folder_opens_with_what_it_is_for(folder: str) -> None:
    entrance = ROOT / folder / "__init__.py"
    assert entrance.exists(), f"{folder} has no __init__.py: add one that says what lives there."
    essay = ast.get_docstring(ast.parse(entrance.read_text(encoding="utf-8"))) or ""
    words = len(essay.split())
    assert words >= FEWEST_WORDS, (
        f"{folder}/__init__.py says too little: what lives here, how data flows, how to add one."
    )
