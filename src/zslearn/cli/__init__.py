"""The command line, one file a command."""

from zslearn.cli._main import cli, main

__all__ = ["cli", "main"]
