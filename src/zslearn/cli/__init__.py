"""The command line, one file a command."""

from zslearn.cli.main import cli, main

__all__ = ["cli", "main"]
