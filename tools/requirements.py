"""Print the requirement strings of named groups of pyproject.toml, for pip: ``requirements.py runtime build
test``.
"""

import sys
import tomllib
from pathlib import Path


def requirements(group: str) -> list[str]:
    """Return the requirements of ``runtime``, of an extra, or of a dependency group."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    if group == "runtime":
        return list(project["project"]["dependencies"])
    groups = {**project["project"]["optional-dependencies"], **project["dependency-groups"]}
    return list(groups[group])


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    wanted = [line for name in names for line in requirements(name)]
    print("\n".join(wanted) if "--each" in sys.argv else " ".join(wanted))
