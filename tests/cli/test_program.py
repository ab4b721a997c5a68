import json
import os
import resource
import shlex
import signal
import subprocess
import sys

import pytest

from zslearn import __version__
from zslearn.cli import cli
from zslearn.cli.main import cli as group

COMMANDS = list(group._commands_at)


def execute(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_the_installed_program_tells_its_version(program):
    result = execute([*program, "--version"])
    assert (result.returncode, result.stdout) == (0, f"zslearn, version {__version__}\n")


def test_the_module_runs_as_the_program_does():
    result = execute([sys.executable, "-m", "zslearn", "--help"])
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: zslearn ")


def test_the_installed_program_prints_json_and_nothing_else(program):
    result = execute([*program, "methods", "--json"])
    assert result.returncode == 0
    assert json.loads(result.stdout)[0]["name"] == "sae"


@pytest.mark.parametrize("arguments", [["nonsense"], ["demo", "--nonsense"], ["demo", "extra"]])
def test_wrong_usage_exits_with_2(program, arguments):
    result = execute([*program, *arguments])
    assert result.returncode == 2
    assert result.stderr.startswith("Usage: zslearn")


def test_help_is_instant_and_imports_nothing_heavy():
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from zslearn.cli import cli\n"
        f"for arguments in [[], *[[name] for name in {COMMANDS!r}]]:\n"
        "    result = CliRunner().invoke(cli, [*arguments, '--help'])\n"
        "    assert result.exit_code == 0, result.output\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "print(sorted(heavy))\n"
    )
    result = execute([sys.executable, "-c", script])
    assert result.stdout == "[]\n", result.stderr


def test_looking_around_costs_little(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    execute([*program, "--help"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_a_terminal_without_greek_letters_is_no_error(program):
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = execute([*program, "demo", "--help"], env=environment)
    assert result.returncode == 0
    assert "with ? chosen" in " ".join(result.stdout.split())


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_goes_away_is_no_traceback(program):
    line = f"{shlex.join([*program, 'methods', '--json'])} | head -c 1"
    result = execute(["sh", "-c", line])
    assert result.stdout == "["
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_page_has_an_example(run, name):
    command = cli.get_command(None, name)
    subcommands = getattr(command, "_commands_at", None) or {"": None}
    for sub in subcommands:
        text = run(*[part for part in (name, sub) if part], "--help").output
        assert "Example" in text
        assert f"zslearn {name}" in text


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_exits_with_130(program):
    process = subprocess.Popen(
        [*program, "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert "Loading" in process.stderr.readline()
    assert "Learning" in process.stderr.readline()  # two fits and a table are still to come
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
