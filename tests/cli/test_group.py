import errno

import click
import pytest

from tests.streams import SeparateRunner
from zslearn.cli.main import LazyGroup
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
