"""Changes of classes are kept in SQLite: whole or not at all, and what is damaged is refused."""

import hashlib
import json
import sqlite3
import threading
import zlib

import pytest

from zslearn.exceptions import InvalidInputError
from zslearn.persistence import save
from zslearn.serve.edit_log import BusyError, DamagedError, EditLog, Kind
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

CLASSES = "/v2/models/made/classes"
KIND = Kind(0x1234, "a log", "move it away")


def names(client):
    return [one["name"] for one in client.get(CLASSES).json()["classes"]]


def put(client, name, like="seen0"):
    return client.put(f"{CLASSES}/{name}", json={"like": like}).status_code


@pytest.fixture
def log_file(model_file):
    return model_file.with_name("made.zsl.classes")


def damaged(path, change):
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


# ---- the log itself


def test_several_logs_of_one_file_read_what_each_other_wrote(tmp_path):
    one, two = (EditLog(tmp_path / "x", KIND, {}) for _ in range(2))
    assert one.read_on() == (True, [])
    assert not one.is_behind()
    with two.writing():
        two.append({"n": 1})
        assert not one.is_behind()  # and does not wait
    assert one.is_behind()
    assert one.read_on() == (False, [{"n": 1}])
    assert not one.is_behind()
    with one.writing():
        two_waits = pytest.raises(BusyError, match="could not be written")
        two._base.execute("PRAGMA busy_timeout = 10")
        with two_waits, two.writing():
            pass
    two.rewrite([{"n": 2}, {"n": 3}])
    assert one.is_behind()
    assert one.read_on() == (True, [{"n": 2}, {"n": 3}])
    for log in (one, two):
        log.close()


def test_an_error_inside_changes_nothing(tmp_path):
    log = EditLog(tmp_path / "x", KIND, {})

    def fail():
        with log.writing():
            log.append({"n": 1})
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert log.read_on() == (True, [])
    log.close()


def test_threads_of_several_logs_lose_nothing(tmp_path):
    def work(prefix):
        log = EditLog(tmp_path / "x", KIND, {})
        for i in range(20):
            with log.writing():
                log.append({"n": f"{prefix}{i}"})
        log.close()

    threads = [threading.Thread(target=work, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = EditLog(tmp_path / "x", KIND, {})
    found = [edit["n"] for edit in log.read_on()[1]]
    assert sorted(found) == sorted(f"{prefix}{i}" for prefix in "abcd" for i in range(20))
    log.close()


def test_every_flipped_bit_of_an_edit_is_noticed(tmp_path):
    path = tmp_path / "x"
    log = EditLog(path, KIND, {})
    for i in range(30):
        log.add({"name": f"class {i}", "vector": [i / 7, -i / 3]})
    log.close()
    whole = path.read_bytes()
    wanted = EditLog(path, KIND, {})
    expected = wanted.edits()
    wanted.close()
    refused = 0
    # One bit of every seventh byte: rows, pointers to them, heads of pages, unused space.
    for place in range(3, len(whole), 7):
        content = bytearray(whole)
        content[place] ^= 1 << place % 8
        path.write_bytes(content)
        try:
            log = EditLog(path, KIND, {})
        except InvalidInputError:
            refused += 1
            continue
        try:
            # The file is used only if it holds exactly what was written.
            assert log.edits() == expected, place
        except DamagedError:
            refused += 1
        finally:
            log.close()
            for rest in ("x-wal", "x-shm"):
                (tmp_path / rest).unlink(missing_ok=True)
    assert refused > 100


# ---- the server with it


def test_a_long_log_is_written_anew(make_client, log_file, monkeypatch):
    monkeypatch.setattr("zslearn.serve.changes.SLACK", 40)
    client, other = make_client(), make_client()
    changes = client.app.state.server.shelf.slot("made").changes()
    for i in range(100):
        changes.put("new", [float(i), 1, 1, 1, 1])
        changes.put(f"gone{i}", [float(i), 1, 1, 1, 1])
        changes.remove(f"gone{i}")
    base = sqlite3.connect(log_file)
    assert base.execute("SELECT count(*) FROM edits").fetchone()[0] < 50
    base.close()
    for one in (client, other, make_client()):
        assert one.get(f"{CLASSES}/new").json()["vector"]["d0"] == 99
        assert not any(name.startswith("gone") for name in names(one))


def test_a_log_that_was_cut_is_refused_or_whole_and_ignored_while_serving(make_client, log_file):
    client = make_client()
    for i in range(20):
        assert put(client, f"n{i}") == 201
    served, whole, refused = names(client), log_file.read_bytes(), 0
    for cut in (1, 100, 3000, 4096, 5000, 9000, 13_000, len(whole) - 50):
        log_file.write_bytes(whole[:-cut])
        assert names(client) == served
        try:
            assert names(make_client()) == served, cut  # what was cut off holds nothing
        except InvalidInputError:
            refused += 1
    assert refused >= 3


def test_a_change_to_a_damaged_log_is_refused_and_not_made(make_client, log_file):
    client = make_client()
    put(client, "a")
    served = names(client)

    def flip(content):
        content[content.index(b'"name": "a"') + 9] ^= 1

    damaged(log_file, flip)
    make_other = pytest.raises(DamagedError, match="does not hold the edits that were written")
    with make_other:
        make_client()
    assert names(client) == served


def test_a_log_that_is_removed_begins_anew_with_the_next_change(make_client, log_file):
    client = make_client()
    put(client, "a")
    for path in log_file.parent.glob("made.zsl.classes*"):
        path.unlink()
    assert put(client, "b") == 201
    assert names(client)[-1] == "b"
    assert "a" not in names(client)
    assert names(make_client()) == names(client)


def test_a_log_of_other_dimensions_is_refused(make_client, model_file, data):
    put(make_client(), "new")
    table = data.signatures
    renamed = Signatures(table.names, table.vectors, ["a", "b", "c", "d", "e"])
    save(SAEClassifier(renamed, lam=1.0).fit(data.X, data.y), model_file)
    with pytest.raises(InvalidInputError, match="other dimensions than those of the model"):
        make_client()


def test_a_read_only_server_reads_in_a_folder_where_nothing_can_be_written(make_client, log_file):
    put(make_client(), "new")
    for rest in ("-wal", "-shm"):
        log_file.with_name(log_file.name + rest).unlink(missing_ok=True)
    content = sorted(path.name for path in log_file.parent.iterdir())
    client = make_client(read_only=True)
    assert "new" in names(client)
    assert put(client, "other") == 403
    assert set(content) <= {path.name for path in log_file.parent.iterdir()}


# ---- a journal of a server before this one


def journal(classifier, *changes):
    """The lines that earlier servers wrote: a checksum, then JSON; the first names the table."""
    text = json.dumps(list(classifier.signatures_.dimensions)).encode()
    head = {"zslearn_classes": 1, "dimensions": hashlib.sha256(text).hexdigest()}
    lines = [json.dumps(one, separators=(",", ":")).encode() for one in (head, *changes)]
    return b"".join(b"%08x %s\n" % (zlib.crc32(line), line) for line in lines)


CHANGES = [
    {"name": "mine", "vector": [1.0, 2.0, 3.0, 4.0, 5.5]},
    {"name": "gone", "vector": [1.0, 0.0, 0.0, 0.0, 0.0]},
    {"name": "gone", "vector": None},
    {"name": "seen1", "vector": None},
]


@pytest.mark.parametrize("torn", [b"", b'1234abcd {"name": "tor'])
def test_a_journal_of_today_is_taken_over_once(make_client, log_file, classifier, torn):
    content = journal(classifier, *CHANGES) + torn
    log_file.write_bytes(content)
    client = make_client()
    assert names(client)[-1] == "mine"
    assert not {"gone", "seen1"} & set(names(client))
    assert list(client.get(f"{CLASSES}/mine").json()["vector"].values()) == [1, 2, 3, 4, 5.5]
    assert log_file.with_name("made.zsl.classes.old").read_bytes() == content
    assert log_file.read_bytes().startswith(b"SQLite format 3")
    assert put(client, "next") == 201
    assert names(make_client()) == names(client)
    assert log_file.with_name("made.zsl.classes.old").read_bytes() == content


def test_a_read_only_server_leaves_a_journal_as_it_is(make_client, log_file, classifier):
    log_file.write_bytes(journal(classifier, *CHANGES))
    assert names(make_client(read_only=True))[-1] == "mine"
    assert log_file.read_bytes() == journal(classifier, *CHANGES)


@pytest.mark.parametrize("line", [1, 3, 5])
def test_a_flipped_bit_in_a_journal_is_noticed_in_every_line(
    make_client, log_file, classifier, line
):
    lines = journal(classifier, *CHANGES).split(b"\n")
    lines[line - 1] = lines[line - 1][:-3] + bytes([lines[line - 1][-3] ^ 1]) + lines[line - 1][-2:]
    log_file.write_bytes(b"\n".join(lines))
    with pytest.raises(InvalidInputError, match=f"damaged at line {line}"):
        make_client()


# ---- a full disk


def test_what_is_answered_with_503_on_a_full_disk_was_not_applied(
    make_client, small_disk, monkeypatch
):
    monkeypatch.setattr("zslearn.serve.changes.SLACK", 5)  # written anew every few changes
    client = make_client(classes_folder=small_disk)
    made, refused = set(), set()
    for number in range(400):
        name = f"n{number}"
        status = put(client, name)
        (made if status == 201 else refused).add(name)
        assert status in (201, 503)
        if number % 3 == 0 and name in made:
            status = client.delete(f"{CLASSES}/{name}").status_code
            assert status in (204, 503)
            if status == 204:
                made.discard(name)
        found = set(names(client))
        assert made <= found
        assert not refused & found
        if len(refused) > 8:
            break
    assert len(made) > 5
    assert len(refused) > 8
    again = set(names(make_client(classes_folder=small_disk)))
    assert made <= again
    assert not refused & again
