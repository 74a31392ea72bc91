"""Build and run the C++ tests: ``cpp_tests.py address,undefined [--fast]`` or ``cpp_tests.py thread``."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main(sanitize: str, fast: bool) -> int:
    """Configure, build and run every test program, under the sanitizers named; return the number that
    failed.
    """
    build = ROOT / "build" / f"tests-{sanitize.replace(',', '-') or 'plain'}"
    tool = Path(sys.executable).parent
    configure: list[str | Path] = [
        tool / "cmake",
        "-S",
        ROOT,
        "-B",
        build,
        "-G",
        "Ninja",
        "-DSUREFIT_TESTS=ON",
    ]
    configure += [f"-DSUREFIT_SANITIZE={sanitize}", f"-DCMAKE_MAKE_PROGRAM={tool / 'ninja'}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tool / "cmake", "--build", build, "--", "--quiet"], check=True)
    environment = {**os.environ, "SUREFIT_TEST_FAST": "1" if fast else "0"}
    programs = sorted(path for path in build.glob("test_*") if path.is_file() and os.access(path, os.X_OK))
    failed = sum(subprocess.run([program], env=environment).returncode != 0 for program in programs)
    print(f"C++: {len(programs) - failed} passed, {failed} failed ({sanitize or 'no sanitizer'})")
    return failed


if __name__ == "__main__":
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    sys.exit(main(names[0] if names else "", "--fast" in sys.argv) != 0)
