"""The command line, one file per command."""

from zslearn.cli.main import cli, main

__all__ = ["cli", "main"]
