"""Every example in a docstring of the library runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import zslearn
from zslearn.exceptions import MissingExtraError

MISSING = f"{MissingExtraError.__module__}.{MissingExtraError.__name__}"
# Importing this one runs the program.
PROGRAMS = {"zslearn.__main__"}
MODULES = sorted(
    {"zslearn"}
    | {module.name for module in pkgutil.walk_packages(zslearn.__path__, "zslearn.")} - PROGRAMS
)


def examples(name):
    """The docstring examples of a module; a module whose extra is missing is skipped."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("zslearn"):
            raise
        pytest.skip(f"{name} needs an extra: {error}")
    return [test for test in doctest.DocTestFinder().find(module, name) if test.examples]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for test in examples(name):
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        failed = runner.run(test, out=told.append, clear_globs=False).failed
        missing = [line for line in "".join(told).splitlines() if MISSING in line]
        if missing:
            pytest.skip(missing[0].partition(MISSING)[2].strip(": "))
        assert not failed, f"{test.name}\n{''.join(told)}"


def test_a_wrong_example_is_found():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    runner = doctest.DocTestRunner()
    assert runner.run(test, out=lambda _: None).failed == 1


def test_the_library_has_examples():
    assert (
        sum(len(examples(name)) for name in ("zslearn.signatures.table", "zslearn.core.moments"))
        > 5
    )
