"""The program `zslearn`: its commands, imported when used, and errors and warnings as lines."""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from zslearn import __version__
from zslearn.exceptions import ZslearnError, did_you_mean

INTERRUPTED = 130
# A requirement: its name, and the extra that asks for it.
_REQUIREMENT = re.compile(r"""^([A-Za-z0-9._-]+).*?(?:extra == ['"]([^'"]+)['"])?\s*$""")


class LazyGroup(click.Group):
    """A click group whose commands live in modules of their own.

    Parameters
    ----------
    commands_at : dict of str to dict
        ``{title: {command: "module:attribute"}}``; help lists the commands under these titles.
        Command modules import scikit-learn only when they run, so that help is instant.
    """

    def __init__(
        self, *args: Any, commands_at: dict[str, dict[str, str]] | None = None, **kwargs: Any
    ):
        super().__init__(*args, **kwargs)
        self._titled = commands_at or {}
        self._commands_at = {
            name: place for group in self._titled.values() for name, place in group.items()
        }

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for."""
        width = formatter.width - 6 - max(map(len, self._commands_at), default=0)
        for title, group in self._titled.items():
            found = [(name, self.get_command(ctx, name)) for name in group]
            with formatter.section(title):
                formatter.write_dl(
                    [(name, one.get_short_help_str(width)) for name, one in found if one]
                )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order they were given."""
        return [*self._commands_at, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name."""
        if cmd_name not in self._commands_at:
            return self.commands.get(cmd_name)
        module, _, attribute = self._commands_at[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and for a mistyped one the closest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = did_you_mean(args[0], self.list_commands(ctx))
            if not hint or args[0].startswith("-"):
                raise
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx) from error

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


@contextmanager
def warnings_as_lines(prefix: str = "") -> Iterator[None]:
    """Print each kind of warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            messages = dict.fromkeys(" ".join(str(item.message).split()) for item in caught)
            for message in messages:
                click.echo(f"Warning: {prefix}{message}", err=True)


# What people do, in the order in which they do it.
START = """\
Recognize classes you have no training examples of.

See it on animals:          zslearn demo
Your pictures or texts:     zslearn fit photos --signatures classes.csv --save model.zsl
                            zslearn predict model.zsl new.jpg
On a page in the browser:   zslearn studio photos --signatures classes.csv

zslearn --help lists all commands, zslearn COMMAND --help explains one."""
EPILOG = """\b
Examples:
  zslearn demo
  zslearn fit photos --signatures classes.csv --save model.zsl
  zslearn predict model.zsl new.jpg --top 3
  zslearn evaluate xlsa17/CUB --method sae,eszsl
  zslearn describe classes.txt --out classes.csv
"""


@click.group(
    cls=LazyGroup,
    commands_at={
        "Use": {
            "demo": "zslearn.cli.demo:demo",
            "fit": "zslearn.cli.fit:fit",
            "predict": "zslearn.cli.predict:predict",
            "teach": "zslearn.cli.teach:teach",
            "suggest": "zslearn.cli.teach:suggest",
            "studio": "zslearn.cli.serve:studio",
            "serve": "zslearn.cli.serve:serve",
        },
        "Prepare": {
            "features": "zslearn.cli.features:features",
            "describe": "zslearn.cli.describe:describe",
            "data": "zslearn.cli.data:data",
        },
        "Measure": {
            "evaluate": "zslearn.cli.evaluate:evaluate",
            "advise": "zslearn.cli.advise:advise",
            "methods": "zslearn.cli.methods:methods",
        },
        "The paper": {
            "reproduce": "zslearn.cli.reproduce:reproduce",
            "cluster": "zslearn.cli.cluster:cluster",
            "segment": "zslearn.cli.segment:segment",
        },
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
    invoke_without_command=True,
)
@click.option("--version", "shows_version", is_flag=True, help="Show the version and exit.")
@click.option(
    "--verbose",
    is_flag=True,
    help="With --version: all packages and BLAS, for a report of a fault.",
)
@click.pass_context
def cli(context: click.Context, /, shows_version: bool, verbose: bool) -> None:
    """Recognize classes you have no training examples of.

    Tables go to standard output, progress to standard error. Exit codes: 0 all went well, 1 an
    error, 2 wrong usage, 130 interrupted.
    """
    if shows_version:
        if verbose:
            click.echo(describe_environment())
        else:
            click.echo(f"zslearn, version {__version__}")
        context.exit()
    if verbose:
        raise click.UsageError("--verbose goes with --version")
    if context.invoked_subcommand is None:
        click.echo(START)


def describe_environment() -> str:
    """Return versions of Python and of every package the library may use, and its BLAS.

    A report of a fault needs it.
    """
    import platform
    from importlib.metadata import distribution, version

    from threadpoolctl import threadpool_info

    lines = [
        f"zslearn {version('zslearn')}",
        f"python {platform.python_version()}, {platform.platform()}, {platform.machine()}",
    ]
    wanted: dict[str, list[str]] = {}
    for requirement in distribution("zslearn").requires or ():
        found = _REQUIREMENT.match(requirement)
        if found is not None:
            wanted.setdefault(found[2] or "", []).append(found[1])
    for extra in sorted(wanted):
        if extra in ("test", "lint", "docs"):
            continue
        title = f"extra {extra}" if extra else "core"
        lines.append(f"{title}: " + ", ".join(map(_installed, dict.fromkeys(wanted[extra]))))
    # Looked at last: it shows the libraries that are loaded.
    importlib.import_module("scipy.linalg")

    lines += [
        f"{pool['user_api']}: {pool['internal_api']} {pool['version']}, {pool['num_threads']} "
        f"threads, {pool.get('architecture', 'unknown')} ({pool['prefix']})"
        for pool in threadpool_info()
    ]
    return "\n".join(lines)


def _installed(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without the letter λ shows a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli(prog_name="zslearn")
    except Exception:
        traceback.print_exc()
        click.echo(
            "This is a fault of zslearn. Please report it with the lines above and the output of "
            "zslearn --version --verbose.",
            err=True,
        )
        sys.exit(1)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # An interrupt that passed through exec(), as imports do, makes Python end by the signal
        # in place of the exit code; everything is cleaned up by now.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)
