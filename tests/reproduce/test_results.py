import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError, WriteError
from zslearn.reproduce import ResultsFile, Run, make_tables, specification

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_results.py"


@pytest.fixture
def results(tmp_path) -> ResultsFile:
    return ResultsFile(tmp_path / "results.jsonl")


def test_rows_come_back_and_the_last_of_a_key_counts(results):
    results.add({"key": "a", "status": "failed", "error": "x"})
    results.add({"key": "b", "status": "ok", "value": np.float64(0.5), "list": np.arange(2)})
    results.add({"key": "a", "status": "ok", "nan": float("nan")})
    again = ResultsFile(results.path)
    assert again.rows() == results.rows()
    assert again.rows() == [
        {"key": "b", "status": "ok", "value": 0.5, "list": [0, 1]},
        {"key": "a", "status": "ok", "nan": None},
    ]


def test_every_prefix_of_the_file_is_readable(results):
    """Whatever byte a power failure stops at, whole rows stay and the rest is dropped."""
    for key in "abc":
        results.add({"key": key, "status": "ok", "text": "ä" * 5})
    content = results.path.read_bytes()
    for length in range(0, len(content) + 1, 7):
        results.path.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        again = ResultsFile(results.path)
        assert [row["key"] for row in again.rows()] == list("abc")[:whole]
        again.add({"key": "d", "status": "ok"})
        lines = results.path.read_text().splitlines()
        assert [json.loads(line)["key"] for line in lines] == [*"abc"[:whole], "d"]


def test_damage_inside_is_refused_with_its_line(results):
    results.path.write_text('{"key": "a"}\nrubbish\n')
    with pytest.raises(InvalidInputError, match="line 2 is not a result"):
        ResultsFile(Path(results.path))


def test_a_reader_in_the_middle_of_a_line_takes_nothing_away(results):
    results.add({"key": "a", "status": "ok"})
    with results.path.open("ab") as file:
        file.write(b'{"key": "b", "sta')
        file.flush()
        assert [row["key"] for row in ResultsFile(results.path).rows()] == ["a"]
        file.write(b'tus": "ok"}\n')
    assert [row["key"] for row in ResultsFile(results.path).rows()] == ["a", "b"]


def test_a_write_of_a_few_bytes_goes_on_until_the_row_is_whole(results, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, bytes(content)[:5]))
    results.add({"key": "a", "text": "long" * 20})
    assert ResultsFile(results.path).rows() == [{"key": "a", "text": "long" * 20}]


def test_a_full_disk_leaves_the_rows_before(results, monkeypatch):
    results.add({"key": "a"})
    before, write = results.path.read_bytes(), os.write

    def fill(file, content):
        if len(content) < 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, bytes(content)[:10])

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(WriteError, match=r"could not be written \(No space left"):
        results.add({"key": "b", "text": "long" * 20})
    assert results.path.read_bytes() == before
    assert [row["key"] for row in results.rows()] == ["a"]


def test_two_runs_cannot_write_to_one_file(results):
    with results.held():
        results.add({"key": "a"})
        with pytest.raises(InvalidInputError, match=r"another run is writing to .*results\.jsonl"):
            ResultsFile(results.path).add({"key": "b"})
    other = ResultsFile(results.path)
    other.add({"key": "b"})
    with results.held():
        assert [row["key"] for row in results.rows()] == ["a", "b"]


def test_a_killed_run_holds_nothing(results):
    program = (
        "import sys, time; from zslearn.reproduce import ResultsFile\n"
        "with ResultsFile(sys.argv[1]).held():\n print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(results.path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(InvalidInputError, match="another run is writing"):
            results.add({"key": "a"})
        process.send_signal(signal.SIGKILL)
    results.add({"key": "a"})
    assert [row["key"] for row in ResultsFile(results.path).rows()] == ["a"]


def test_a_key_that_is_no_text_is_refused(results):
    results.path.write_text('{"key": ["a"]}\n')
    with pytest.raises(InvalidInputError, match="line 1 is not a result"):
        ResultsFile(results.path)


def test_a_row_of_a_new_version_replaces_the_older_one_in_files_and_tables(tmp_path, monkeypatch):
    """The key holds the version, so both have one of their own; the configuration is the same."""
    keys, files = [], []
    for version, runs in (("0.1.0", {"wine": 0.5, "iris": 0.25}), ("1.0.0", {"wine": 0.75})):
        monkeypatch.setattr(specification, "__version__", version)
        files.append(ResultsFile(tmp_path / f"{version}.jsonl"))
        for table, loss in runs.items():
            run = Run("clustering-tables", "lda", parameters={"table": table, "splits": 2})
            keys.append(run.key)
            found = {"clustering_loss": loss, "adjusted_rand_index": 0.5}
            found |= {"status": "ok", "series": {"losses": [loss, loss]}}
            files[-1].add({"key": run.key, **run.configuration(), **found})
    assert len(set(keys)) == 3
    both = tmp_path / "both.jsonl"
    given = [files[0].path, files[1].path, "--write", both]
    for _ in range(2):  # a second time gives the same file
        done = subprocess.run([sys.executable, SCRIPT, *given], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        rows = ResultsFile(both).rows()
        assert {row["parameter_table"]: row["clustering_loss"] for row in rows} == {
            "wine": 0.75,
            "iris": 0.25,
        }
    (appended,) = make_tables([*files[0].rows(), *files[1].rows()])["clustering-tables"]
    (written,) = make_tables(rows)["clustering-tables"]
    assert appended.rows == written.rows
    assert "0.750" in str(written.rows)
    assert "0.500" not in str(written.rows)
