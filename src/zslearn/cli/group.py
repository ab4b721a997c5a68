"""A group of commands that are imported when used, and that turns errors into one line."""

from __future__ import annotations

import errno
import importlib
from typing import Any

import click

from zslearn.exceptions import ZslearnError

INTERRUPTED = 130


class LazyGroup(click.Group):
    """A click group whose commands live in modules of their own.

    Parameters
    ----------
    commands_at : dict of str to str
        ``{command: "module:attribute"}``. Command modules import scikit-learn only when they run,
        so that help is instant.
    """

    def __init__(self, *args: Any, commands_at: dict[str, str] | None = None, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._commands_at = commands_at or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order they were given."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name."""
        if cmd_name not in self._commands_at:
            return None
        module, _, attribute = self._commands_at[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever the user can mend ends in one line and exit code 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except ZslearnError as error:
            raise click.ClickException(_one_line(error)) from error
        except OSError as error:
            # A reader that went away (zslearn ... | head) is click's business.
            if error.errno == errno.EPIPE:
                raise
            raise click.ClickException(_system_message(error)) from error
        except MemoryError as error:
            raise click.ClickException(
                f"not enough memory ({_one_line(error) or 'no details'}). Use fewer rows or "
                "features, or float32 features."
            ) from error


def _one_line(error: BaseException) -> str:
    """Return the message of an error without line breaks."""
    return " ".join(str(error).split())


def _system_message(error: OSError) -> str:
    """Say what the operating system refused, and for which file."""
    reason = error.strerror or _one_line(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."
