"""click's test runner with standard output and error kept apart, in old and new versions."""

import inspect

from click.testing import CliRunner


class SeparateRunner(CliRunner):
    """Runner whose results have `stdout` and `stderr`; click 8.1 mixes them unless told not to."""

    def __init__(self) -> None:
        mixes = "mix_stderr" in inspect.signature(CliRunner.__init__).parameters
        super().__init__(**({"mix_stderr": False} if mixes else {}))
