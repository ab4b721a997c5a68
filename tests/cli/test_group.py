import errno
import os
import re
import subprocess
from importlib.metadata import version

import click
import pytest

from tests.streams import SeparateRunner
from zslearn.cli import cli
from zslearn.cli.main import LazyGroup, main
from zslearn.exceptions import InvalidInputError


def failing(error: BaseException) -> LazyGroup:
    """Return a group whose only command raises `error`."""

    @click.command()
    def fail() -> None:
        raise error

    group = LazyGroup("zslearn", commands_at={})
    group.get_command = lambda ctx, name: fail
    return group


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InvalidInputError("the\nthing is\nwrong."), "Error: the thing is wrong."),
        (PermissionError(errno.EACCES, "Permission denied", "m.zsl"), "m.zsl: Permission denied."),
        (OSError("disk on fire"), "Error: disk on fire."),
        (MemoryError("Unable to allocate 9 TiB"), "not enough memory (Unable to allocate 9 TiB)"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_exit_code_1(error, line):
    result = SeparateRunner().invoke(failing(error), ["fail"])
    assert result.exit_code == 1
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_an_error_of_the_program_itself_is_not_hidden():
    result = SeparateRunner().invoke(failing(ZeroDivisionError("a bug")), ["fail"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_interrupt_exits_with_130():
    result = SeparateRunner().invoke(failing(KeyboardInterrupt()), ["fail"])
    assert result.exit_code == 130
    assert "Interrupted." in result.stderr


def test_without_arguments_it_shows_what_people_do(run):
    result = run()
    assert result.exit_code == 0
    for command in ("demo", "fit", "predict", "studio"):
        assert f"zslearn {command}" in result.stdout
    assert "Commands" not in result.stdout


def test_help_lists_every_command_once_under_a_title(run):
    lines = run("--help").stdout.splitlines()
    titles = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Options", "Use", "Prepare", "Measure", "The paper"]
    listed = [line.split()[0] for line in lines if re.match(r"  [a-z]+  ", line)]
    assert sorted(listed) == sorted(cli.list_commands(click.Context(cli)))


def test_the_verbose_version_names_what_is_and_is_not_installed(run):
    text = run("--version", "--verbose").stdout
    assert f"numpy {version('numpy')}" in text
    assert re.search(r"^extra serve: httptools", text, re.MULTILINE)
    assert re.search(r"^blas: \S+ [\d.]+, \d+ threads", text, re.MULTILINE)
    assert run("--version").stdout == f"zslearn, version {version('zslearn')}\n"
    assert run("--verbose").exit_code == 2


def test_a_fault_of_the_program_ends_with_what_to_report(monkeypatch, capsys):
    monkeypatch.setitem(main.__globals__, "cli", failing(ZeroDivisionError("a bug")))
    monkeypatch.setattr("sys.argv", ["zslearn", "fail"])
    with pytest.raises(SystemExit, match="1"):
        main()
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2] == "ZeroDivisionError: a bug"
    assert (
        "report it with the lines above and the output of zslearn --version --verbose" in lines[-1]
    )


def test_the_shell_can_complete_commands(program):
    environment = os.environ | {
        "_ZSLEARN_COMPLETE": "bash_complete",
        "COMP_WORDS": "zslearn pre",
        "COMP_CWORD": "1",
    }
    result = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=60)
    assert result.stdout.split() == ["plain,predict"]
