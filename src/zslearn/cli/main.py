"""The program `zslearn` and its list of commands."""

from __future__ import annotations

import io
import os
import sys

import click

from zslearn import __version__
from zslearn.cli.group import INTERRUPTED, LazyGroup

EPILOG = """\b
Examples:
  zslearn demo
  zslearn evaluate xlsa17/CUB --method sae,eszsl
  zslearn describe classes.txt --out classes.csv
  zslearn fit --features X.csv --labels y.csv --signatures classes.csv --save model.zsl
  zslearn predict model.zsl new.csv --top 3
"""


@click.group(
    cls=LazyGroup,
    commands_at={
        "demo": "zslearn.cli.demo:demo",
        "data": "zslearn.cli.data:data",
        "describe": "zslearn.cli.describe:describe",
        "features": "zslearn.cli.features:features",
        "advise": "zslearn.cli.advise:advise",
        "fit": "zslearn.cli.fit:fit",
        "predict": "zslearn.cli.predict:predict",
        "serve": "zslearn.cli.serve:serve",
        "studio": "zslearn.cli.studio:studio",
        "evaluate": "zslearn.cli.evaluate:evaluate",
        "methods": "zslearn.cli.methods:methods",
        "segment": "zslearn.cli.segment:segment",
        "cluster": "zslearn.cli.cluster:cluster",
        "reproduce": "zslearn.cli.reproduce:reproduce",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="zslearn")
def cli() -> None:
    """Recognize classes you have no training examples of.

    Tables go to standard output, progress to standard error. Exit codes: 0 all went well, 1 an
    error, 2 wrong usage, 130 interrupted.
    """


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without the letter λ shows a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli(prog_name="zslearn")
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # An interrupt that passed through exec(), as imports do, makes Python end by the signal
        # in place of the exit code; everything is cleaned up by now.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)
