"""What all verbs share: exit codes, one sentence for bad input, clean output, and a first line at once."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.e2e.cli import call, refused

from surefit.cli import FOLDER, group
from surefit.cli._frame import Output, shown, stop, verb
from surefit.cli._gate import Gate, check_gates
from surefit.cli._table import sniffed
from surefit.core.errors import DataError
from surefit.core.printable_text import visible

VERBS = group.list_commands(click.Context(group))  # type: ignore[attr-defined]
HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "rich", "surefit.data", "surefit.models.base"}
AT_ONCE = [name for name in VERBS if name not in ("demo", "doctor")]  # which have nothing to wait for


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_explains_itself_and_takes_json_and_debug(name: str) -> None:
    done = call(name, "--help")
    assert done.code == 0
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    [command] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "command"]
    shown_text = " ".join(done.out.replace("-\n", "-").split())
    for node in (tree, command):
        assert " ".join((ast.get_docstring(node) or "?").split()) in shown_text
    assert "--json" in done.out
    assert "--debug" in done.out


def test_help_shows_what_an_option_is_unless_given() -> None:
    assert "[default: 0.95; 0<x<1]" in call("evaluate", "--help").out


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_verb_can_say_its_first_line_before_anything_heavy_is_imported(name: str) -> None:
    program = f"import sys, surefit.cli.{name}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert not HEAVY & set(done.stdout.split())


def test_the_first_line_comes_before_the_result(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    command = [sys.executable, "-m", "surefit", "audit", str(tmp_path / "t.csv"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline().startswith("looking at ")
        told = json.loads(process.stdout.read())
    assert process.returncode == 0
    assert told["rows"] == 2


def test_bad_input_is_one_sentence_and_debug_shows_more(tmp_path: Path) -> None:
    refused(call("audit", tmp_path / "none.csv"), "there is no file or folder")
    more = call("audit", tmp_path / "none.csv", "--debug")
    assert more.code == 1
    assert "Traceback" in more.err
    assert "surefit: there is no file or folder" in more.err


def test_a_wrong_call_ends_with_2() -> None:
    assert call("audit").code == 2
    assert call("audit", "t.csv", "--kind", "a=colour").code == 2
    assert call("audit", "t.csv", "--kind", "number").code == 2
    assert call("audit", "t.csv", "--task", "clustering").code == 2
    assert call("audit", "t.csv", "--sample", "0").code == 2
    assert call("nothing").code == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DataError("the table\nis empty."), "the table is empty."),
        (ValueError("X is wrong.\nAnd so on\nfor many lines"), "X is wrong."),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "x.csv: no such file or directory."),
        (PermissionError(13, "Permission denied", "x.csv"), "x.csv: permission denied."),
        (MemoryError(), "there is not enough memory for this: take a sample of the rows with --sample."),
        (DataError("bad \x1b[31mname"), "bad \\x1b[31mname"),
    ],
    ids=["ours", "others", "absent", "forbidden", "memory", "control"],
)
def test_errors_become_sentences(error: Exception, said: str) -> None:
    @verb("fail", "Fail.")
    def command(out: Output) -> None:
        raise error

    found = CliRunner().invoke(command, [])
    assert found.exit_code == 1
    assert found.stderr == f"surefit: {said}\n"


def test_a_defect_is_not_taken_for_bad_input() -> None:
    @verb("fail", "Fail.")
    def command(out: Output) -> None:
        raise KeyError("a defect")

    assert isinstance(CliRunner().invoke(command, []).exception, KeyError)


def test_warnings_are_a_line_for_people() -> None:
    import warnings

    @verb("warn", "Warn.")
    def command(out: Output) -> None:
        warnings.warn("mind\nthe gap", stacklevel=1)
        out.text("done")

    found = CliRunner().invoke(command, [])
    assert (found.stderr, found.stdout) == ("warning: mind the gap\n", "done\n")


def test_other_exit_codes_come_with_a_sentence() -> None:
    @verb("stop", "Stop.")
    def command(out: Output) -> None:
        stop(4, "not there yet.")

    found = CliRunner().invoke(command, [])
    assert (found.exit_code, found.stderr) == (4, "surefit: not there yet.\n")


def test_json_holds_only_what_json_knows() -> None:
    import numpy as np

    @verb("tell", "Tell.")
    def command(out: Output) -> None:
        out.json(
            {"a": np.float64("nan"), "b": np.arange(2), "c": [np.inf, True, None], "d": Path("x"), 1: "\x9b"}
        )

    found = CliRunner().invoke(command, ["--json"])
    assert json.loads(found.stdout) == {
        "a": None,
        "b": [0, 1],
        "c": [None, True, None],
        "d": "x",
        "1": "\x9b",
    }
    assert found.stdout.isascii()


def test_markup_and_control_characters_are_shown_not_obeyed() -> None:
    hostile = "[bold red]x[/] :smile: \x1b[31m\x9b\u202e\u2028\r\n\t"

    @verb("show", "Show.")
    def command(out: Output) -> None:
        out.table((hostile, "n"), [(hostile, 1.5), (None, 2.5)], title=hostile)
        out.text(hostile.replace("\n", ""))
        out.log(hostile)

    found = CliRunner(env={"FORCE_COLOR": "1"}).invoke(command, [])
    assert found.exit_code == 0
    for text in (found.stdout, found.stderr):
        assert "[bold red]x[/] :smile: \\x1b[31m\\x9b\\u202e\\u2028\\r" in text
        assert not {"\x9b", "\u202e", "\u2028", "\r", "\t"} & set(text)
        assert "\x1b[31m" not in text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("plain", "plain"), ("é漢", "é漢"), ("\x00", "\\x00"), ("\ud800", "\\ud800"), ("a\u200b", "a\\u200b")],
    ids=["ascii", "letters", "null", "surrogate", "zero width"],
)
def test_clean_keeps_letters_and_writes_out_the_rest(text: str, cleaned: str) -> None:
    assert visible(text) == cleaned


def test_cells_for_people() -> None:
    assert [shown(cell) for cell in (1.0, 123456.0, 12, None, False, "x")] == [
        "1",
        "1.235e+05",
        "12",
        "",
        "no",
        "x",
    ]


def test_no_color_is_honoured_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,4\n")
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}  # rich takes any stream for one then
    coloured = call("audit", tmp_path / "t.csv", **terminal, NO_COLOR="")
    plain = call("audit", tmp_path / "t.csv", **terminal, NO_COLOR="1")
    assert "\x1b[36mnote: constant-columns" in coloured.out
    assert "note: constant-columns" in plain.out
    assert "\x1b[3" not in plain.out


def test_gates_are_conditions_under_which_a_score_fails() -> None:
    assert Gate("r2_score", "<", 0.5).fails(0.4)
    assert not Gate("r2_score", "<", 0.5).fails(0.5)
    assert Gate("log_loss", ">=", 0.5).fails(0.5)
    assert Gate("r2_score", "<", 0.5).fails(float("nan"))
    check_gates([Gate("r2_score", "<", 0.5)], {"r2_score": 0.9})
    with pytest.raises(click.exceptions.Exit) as found:
        check_gates([Gate("r2_score", "<", 0.5)], {"r2_score": 0.1})
    assert found.value.exit_code == 3


@pytest.mark.parametrize(
    ("head", "ending"),
    [
        (b"a,b\n1,2", ".csv"),
        (b"\xef\xbb\xbfa\tb\n", ".tsv"),
        (b'\n{"a": 1}', ".jsonl"),
        (b"PAR1", ".parquet"),
        (b"ARROW1\0\0", ".arrow"),
        (b"\xff\xff\xff\xff\x10", ".arrows"),
        (b"\x1f\x8b\x08", ".csv.gz"),
        (b"{name},b\n", ".csv"),
    ],
)
def test_the_format_of_standard_input_is_told_from_its_first_bytes(head: bytes, ending: str) -> None:
    assert sniffed(head) == ending


def test_empty_standard_input_is_refused() -> None:
    refused(call("audit", "-", stdin=b" \n"), "standard input is empty")


def test_the_documents_name_every_verb_and_every_check() -> None:
    from surefit.core.registry import members
    from surefit.study.checks.base import Check

    docs = FOLDER.parent.parent.parent / "docs"
    verbs = (docs / "command-line.md").read_text(encoding="utf-8")
    checks = (docs / "audit.md").read_text(encoding="utf-8")
    assert [name for name in VERBS if f"| `{name}" not in verbs] == []
    assert [name for name in members(Check.kind) if f"| `{name}` |" not in checks] == []
