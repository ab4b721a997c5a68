import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from zslearn.cli import cli


@pytest.fixture
def run():
    """Run the command line in this process; standard output and error are kept apart."""

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The installed program, or the module where the package is only on the path."""
    installed = Path(sys.executable).with_name("zslearn")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "zslearn"]
