"""The project file: what was acknowledged is there, whatever happens; other files are refused."""

import json
import os
import re
import signal
import sqlite3
import threading
import time
from http.client import HTTPConnection

import pytest

from tests.serve.process import Fork
from tests.serve.studio.conftest import unpack
from zslearn import __version__
from zslearn.exceptions import InvalidInputError, MissingFileError, WriteError
from zslearn.serve.studio.opening import open_project
from zslearn.zero_shot import PrototypeRegression

DATA = {"name": "shapes", "sha256": "ab"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.project"


def test_edits_come_back(path):
    project = open_project(path, DATA)
    for number in range(4):
        project.add({"op": "add", "n": number})
    assert project.undo()
    assert project.undo()
    assert project.redo()
    project.close()
    again = open_project(path, DATA)
    assert [e["n"] for e in again.edits().done] == [0, 1, 2]
    assert [e["n"] for e in again.edits().undone] == [3]
    again.add({"op": "add", "n": 9})
    assert again.edits().undone == []
    assert not again.redo()
    again.close()


def test_a_second_program_is_refused(path):
    project = open_project(path, DATA)
    with pytest.raises(InvalidInputError, match=r"another program has the project .* open; close"):
        open_project(path, DATA)
    project.close()
    open_project(path, DATA).close()


def test_other_data_is_refused(path):
    open_project(path, DATA).close()
    with pytest.raises(InvalidInputError, match="was made for shapes, not for these of birds"):
        open_project(path, {"name": "birds", "sha256": "cd"})


def test_what_is_no_project_is_refused_and_not_touched(path, tmp_path):
    path.write_bytes(b"not a data base at all, but long enough to be looked at" * 20)
    before = path.read_bytes()
    with pytest.raises(InvalidInputError, match="is no file of edits, or damaged"):
        open_project(path, DATA)
    assert path.read_bytes() == before
    foreign = tmp_path / "foreign.sqlite"
    base = sqlite3.connect(foreign)
    base.execute("CREATE TABLE bills (amount)")
    base.commit()
    base.close()
    with pytest.raises(InvalidInputError, match="is an SQLite file of another program"):
        open_project(foreign, DATA)
    base = sqlite3.connect(foreign)
    assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("bills",)]
    base.close()
    with pytest.raises(MissingFileError, match="There is no folder"):
        open_project(tmp_path / "none" / "x.project", DATA)


def test_a_damaged_project_is_refused(path):
    project = open_project(path, DATA)
    for number in range(400):
        project.add({"op": "add", "n": number})
    project.close()
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"my\.project"):
        open_project(path, DATA)


@pytest.mark.parametrize(
    "edit",
    [
        {},
        {"op": "nix"},
        {"op": ["add"]},
        {"op": "rename", "class": 999, "name": "x", "what": "rename"},
        {"op": "row", "class": 0, "row": [1.0], "what": "change"},
        {"op": "row", "class": 0, "row": "x", "what": "change"},
        {"op": "add", "class": 99, "name": 7, "row": [1.0] * 20, "what": "add"},
    ],
)
def test_a_project_with_an_edit_that_cannot_be_made_is_refused_in_one_line(open_shapes, path, edit):
    visitor = open_shapes(project=path)
    visitor.session.project.add(edit)
    visitor.session.close()
    said = r"my\.project: edit 1 cannot be made .*; choose another --project"
    with pytest.raises(InvalidInputError, match=said):
        open_shapes(project=path)


def test_an_edit_that_does_not_say_what_it_is_can_be_undone(path, open_shapes):
    visitor = open_shapes(project=path)
    visitor.session.project.add({"op": "balance", "bias": 0.1, "method": "sae"})
    visitor.session.close()
    visitor = open_shapes(project=path)
    assert visitor.json("state")["undo"] == "the change before"
    assert visitor.step("undo")["redo"] == "the change after"


@pytest.mark.parametrize("undone", [False, True])
def test_settings_in_a_project_are_of_the_method_that_it_began_with(path, open_shapes, undone):
    """Shapes began with the semantic autoencoder once, and no edit said so."""
    visitor = open_shapes(project=path)
    assert visitor.json("state")["method"] == "prototype-regression"
    made = {"op": "balance", "method": "sae", "bias": 0.06, "what": "balance"}
    visitor.session.project.add(made)
    if undone:
        visitor.session.project.undo()
    visitor.session.close()
    visitor = open_shapes(project=path)
    state = visitor.json("state")
    assert state["method"] == "sae"
    assert (state["balance"]["bias"] == 0.06) is not undone


def test_models_kept_by_another_version_are_fitted_again(path, open_shapes):
    visitor = open_shapes(project=path)
    visitor.session.close()
    folder = path.with_name(f"{path.name}.models")
    mark = folder / "trained_on.txt"
    other = visitor.session.collection.training_identity()  # as it was before it had a version
    mark.write_text(other)
    (folder / "prototype-regression.zsl").write_bytes((folder / "sae.zsl").read_bytes())
    visitor = open_shapes(project=path)
    assert type(visitor.session.fitted("prototype-regression").method) is PrototypeRegression
    assert mark.read_text() == f"{__version__} {other}"


def test_a_project_of_today_is_taken_over_once(path, open_shapes):
    row = open_shapes().json("classes/0")["row"]
    identity = open_shapes(project=path).session.collection.identity()
    path.unlink()
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    base.execute(
        "CREATE TABLE edits (number INTEGER PRIMARY KEY AUTOINCREMENT, edit TEXT NOT NULL, "
        "undone INTEGER NOT NULL DEFAULT 0)"
    )
    facts = [("version", "1"), ("data", json.dumps(identity))]
    base.executemany("INSERT INTO facts VALUES (?, ?)", facts)
    base.execute(f"PRAGMA application_id = {0x7A736C73}")
    made = {"op": "add", "class": 42, "name": "mine", "row": row, "what": "add mine"}
    edits = [made, {"op": "rename", "class": 42, "name": "ours", "what": "rename mine"}]
    edits.append({"op": "delete", "class": 0, "what": "delete it"})
    base.executemany(
        "INSERT INTO edits (edit, undone) VALUES (?, ?)",
        [(json.dumps(edit), int(edit["op"] == "delete")) for edit in edits],
    )
    base.close()
    for undo, redo in (("rename mine", "delete it"), ("add mine", "rename mine")):
        visitor = open_shapes(project=path)
        state = visitor.json("state")
        assert (state["undo"], state["redo"]) == (undo, redo)
        visitor.step("undo")
        visitor.session.close()


def test_what_a_full_disk_refuses_was_not_applied(open_shapes, small_disk, fitted_shapes):
    # The models have room elsewhere.
    (small_disk / "my.project.models").symlink_to(fitted_shapes)
    (small_disk / "other").write_bytes(bytes(40_000))
    visitor = open_shapes(project=small_disk / "my.project")
    kept, refused = 0, []
    for number in range(400):
        before = visitor.json("state")
        answer = visitor.post("edits", {"op": "add", "name": f"n{number}", "like": 0})
        if answer.status_code == 200:
            kept += 1
            continue
        assert answer.status_code == 503, answer.text
        assert "could not be written" in answer.json()["error"]
        after = visitor.json("state")
        assert (after["classes"], after["undo"]) == (before["classes"], before["undo"])
        refused.append(f"n{number}")
        if len(refused) > 3:
            break
    assert kept
    assert len(refused) > 3
    visitor.session.close()
    with pytest.raises(WriteError, match=r"my\.project could not be written .* Make room"):
        open_shapes(project=small_disk / "my.project")
    (small_disk / "other").unlink()
    names = {
        one["name"]
        for one in open_shapes(project=small_disk / "my.project").json("state")["classes"]
    }
    assert not names & set(refused)
    assert sum(name[0] == "n" and name[1:].isdigit() for name in names) == kept


class Running:
    """The program in a process of its own, entered by its token."""

    def __init__(self, project):
        self.log = project.with_name(f"log-{time.monotonic_ns()}")
        self.log.touch()
        command = ["studio", "--no-browser", "--project", str(project)]
        self.process = Fork(command, self.log)
        deadline = time.monotonic() + 60
        pattern = r"http://127.0.0.1:(\d+)(/studio/enter\S+)"
        while not (found := re.search(pattern, self.log.read_text())):
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        self.port = int(found[1])
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", found[2])
        self.cookie = connection.getresponse().headers["set-cookie"].partition(";")[0]
        connection.close()
        while not json.loads(self.ask("GET", "state")[1])["ready"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def ask(self, method, path, document=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"cookie": self.cookie, "content-type": "application/json"}
            connection.request(
                method, f"/studio/api/{path}", document and json.dumps(document), headers
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def test_nothing_acknowledged_is_lost_when_the_program_is_killed(path):
    running = Running(path)
    acknowledged, stop = {}, threading.Event()
    head, _ = unpack(running.ask("POST", "edits", {"op": "add", "name": "mine", "like": 0})[1])
    number = head["edit"]["class"]

    def edit():
        """Set one dimension after the other to a new value, as fast as it goes."""
        step = 0
        while not stop.is_set():
            step += 1
            document = {"op": "set", "class": number, "changes": {str(step % 20): step}}
            try:
                status, _ = running.ask("POST", "edits", document)
            except OSError:
                return
            if status == 200:
                acknowledged[step % 20] = step

    thread = threading.Thread(target=edit)
    thread.start()
    time.sleep(1.0)
    os.kill(running.process.pid, signal.SIGKILL)
    thread.join()
    stop.set()
    running.process.wait()
    assert len(acknowledged) > 3
    again = Running(path)
    try:
        classes = json.loads(again.ask("GET", "state")[1])["classes"]
        row = next(one for one in classes if one["name"] == "mine")["row"]
        for index, step in acknowledged.items():
            # The last edit may be in the file although its answer was never sent.
            assert row[index] in (step, step + 20)
    finally:
        os.kill(again.process.pid, signal.SIGKILL)
        again.process.wait()
