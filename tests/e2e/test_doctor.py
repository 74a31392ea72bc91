"""`surefit doctor` as a person and as a program calls it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SUREFIT = [str(Path(sys.executable).parent / "surefit")]
MODULE = [sys.executable, "-m", "surefit"]


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("start", [SUREFIT, MODULE], ids=["script", "module"])
def test_plain_lines_when_nobody_watches(start: list[str]) -> None:
    done = run([*start, "doctor"])
    assert (done.returncode, done.stderr) == (0, "")
    facts = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert facts["versions.python"] == sys.version.split()[0]
    assert facts["kernels.variant"] in {"v2", "v3", "plain"}
    assert "\x1b" not in done.stdout


def test_json_for_machines() -> None:
    done = run([*SUREFIT, "doctor", "--json"], OMP_NUM_THREADS="1")
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(facts) == {"versions", "system", "processor", "kernels", "blas", "threads", "missing"}
    assert facts["versions"]["numpy"]
    assert facts["blas"]
    assert facts["threads"]["available"] == facts["threads"]["OMP_NUM_THREADS"] == 1
    assert "OMP_NUM_THREADS" in facts["threads"]["because of"]
    assert (
        facts["kernels"]["variant"] == ("v3" if facts["kernels"]["cpu_has_v3"] else "v2")
        or os.uname().machine != "x86_64"
    )


def test_a_table_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "120"}
    with subprocess.Popen([*SUREFIT, "doctor"], stdout=theirs, env=environment) as process:
        os.close(theirs)
        text = read_all(ours)
    assert process.returncode == 0
    assert "surefit doctor" in text
    assert "│" in text
    assert "\x1b[3" not in text.replace("\x1b[3m", "")  # italics may stay; 30 to 38 would be colours


def read_all(descriptor: int) -> str:
    chunks = []
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux's end of file on a terminal whose other side is closed
            chunk = b""
        if not chunk:
            os.close(descriptor)
            return b"".join(chunks).decode()
        chunks.append(chunk)


def test_missing_kernels_are_a_failure_with_one_sentence() -> None:
    blocked = "; ".join(
        f"sys.modules['surefit.core.native._native_{v}'] = None" for v in ("v2", "v3", "plain")
    )
    program = f"import sys; {blocked}; sys.argv = ['surefit', 'doctor']; from surefit.cli import main; main()"
    done = run([sys.executable, "-c", program])
    assert done.returncode == 1
    assert "kernels.variant: numpy twins" in done.stdout
    assert done.stderr.strip().startswith("surefit: surefit's compiled kernels are missing")
    assert len(done.stderr.strip().splitlines()) == 1


def test_what_is_missing_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.e2e.cli import call

    from surefit.cli import doctor

    known = doctor._version
    assert call("doctor", "--json").json["missing"]["needed"] == []
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "distributed" else known(name))
    done = call("doctor")
    assert done.code == 0
    assert "missing.optional: distributed, for tables on a cluster: pip install 'surefit[dask]'" in done.out
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "jinja2" else known(name))
    done = call("doctor")
    assert done.code == 1
    assert done.err == "surefit: jinja2 must be installed: pip install jinja2.\n"


def test_kernels_turned_off_on_purpose_are_no_failure() -> None:
    done = run([*SUREFIT, "doctor"], SUREFIT_NATIVE="off")
    assert done.returncode == 0
    assert "numpy twins, because SUREFIT_NATIVE" in done.stdout


def test_help_lists_the_verbs_and_imports_none_of_them() -> None:
    program = "import atexit, sys; atexit.register(lambda: sys.stderr.write(' '.join(sys.modules))); "
    program += "sys.argv = ['surefit', '--help']; from surefit.cli import main; main()"
    done = run([sys.executable, "-c", program])
    loaded = done.stderr.split()
    assert done.returncode == 0
    assert "doctor Show what surefit runs on here" in " ".join(done.stdout.split())
    assert "surefit.cli" in loaded
    assert not {"numpy", "rich", "surefit.cli.doctor"} & set(loaded)


def test_an_unknown_verb_is_refused() -> None:
    done = run([*SUREFIT, "doctr"])
    assert done.returncode == 2
    assert "No such command 'doctr'" in done.stderr
