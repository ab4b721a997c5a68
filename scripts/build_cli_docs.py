"""Write the help pages of the command line to docs/cli.md; with --check only compare."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from zslearn.cli import cli

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

This page is made by `python scripts/build_cli_docs.py` from the program's own help.

From your own files to predictions in two commands:

```console
$ zslearn fit --features X.csv --labels y.csv --signatures classes.csv --save model.zsl
$ zslearn predict model.zsl new.csv --unseen-only --top 3
```

- `X.csv`: one sample per line, numbers only, with or without a header; a first column of text is
  taken for the samples' names. `.npy`, `.npz` and `.parquet` do as well.
- `y.csv`: the class of each sample, one per line.
- `classes.csv`: a header with the names of the attributes, then one line per class, its name first.
  Classes that have no sample in `y.csv` are the unseen ones.

Tables go to standard output, progress to standard error; `--json` prints JSON and nothing else on
standard output. Exit codes: 0 all went well, 1 an error (one line says which), 2 wrong usage,
130 interrupted.

Names of commands and options are completed in the shell after
`eval "$(_ZSLEARN_COMPLETE=bash_source zslearn)"` in `~/.bashrc`, with `zsh_source` in `~/.zshrc`,
and `_ZSLEARN_COMPLETE=fish_source zslearn | source` for fish. `zslearn --version --verbose` prints
what the report of a fault needs.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the words that call each command, and its help."""
    yield from _pages(cli, ())


def _pages(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    result = CliRunner().invoke(
        cli, [*words, "--help"], prog_name="zslearn", terminal_width=100, color=False
    )
    yield " ".join(("zslearn", *words)), result.output.rstrip()
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _pages(inner, (*words, name))


def document() -> str:
    """Return the whole page."""
    parts = [f"## `{words}`\n\n```text\n{text}\n```\n" for words, text in pages()]
    return "\n".join([HEAD, *parts])


def main() -> int:
    """Write the page, or say whether it is current."""
    if "--check" in sys.argv[1:]:
        current = TARGET.is_file() and TARGET.read_text("utf-8") == document()
        sys.stdout.write("docs/cli.md is current\n" if current else "docs/cli.md is out of date\n")
        return 0 if current else 1
    TARGET.write_text(document(), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
