"""What is tracked is source text that means the same on every machine."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LARGEST = 2**20
HOME = re.compile(r"(?<![\w.~}/-])/(?:work|home|root|Users|mnt|opt|srv)/\w|\b[A-Z]:\\\\?\w")
INDEX = re.compile(r"(?:--|\b)(?:extra[-_])?index[-_]url\b", re.IGNORECASE)


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git work tree, so nothing says which files are the project's")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line) and path != Path(__file__)
    ]


def test_no_binary_and_no_large_file_is_tracked() -> None:
    content = {path: path.read_bytes() for path in tracked()}
    assert not [path for path, data in content.items() if b"\0" in data]
    assert not [path for path, data in content.items() if len(data) > LARGEST]


def test_no_path_of_one_machine() -> None:
    assert not lines_with(HOME)


def test_no_package_index_is_named() -> None:
    assert not lines_with(INDEX)


def test_links_between_documents_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in tracked()
        if page.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    assert links
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page, target in links
        if not (page.parent / target).exists()
    ]
    assert not broken


def test_the_map_names_files_that_are_there() -> None:
    """The page of the architecture is read before the code: a path that has moved misleads."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:\.py|\.h|/))`", page))
    assert len(named) > 40
    gone = {
        path for path in named if not (ROOT / path).exists() and not (ROOT / "src/surefit" / path).exists()
    }
    assert not gone
    drawn = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    layers = {path.name for path in (ROOT / "src" / "surefit").iterdir() if (path / "__init__.py").exists()}
    assert not {layer for layer in layers if layer not in drawn}


@pytest.mark.parametrize("line", ["cd /home/ada/surefit", "'C:\\Users\\ada'", "/work/data"])
def test_the_pattern_finds_machine_paths(line: str) -> None:
    assert HOME.search(line)


@pytest.mark.parametrize(
    "line",
    ["/usr/bin/env", "/sys/fs/cgroup", "src/work/x", "${ROOT}/home/x", "{base}/opt/x", "/tmp/x", "../home/a"],
)
def test_the_pattern_leaves_other_paths_alone(line: str) -> None:
    assert not HOME.search(line)
