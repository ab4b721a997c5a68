"""Files are replaced whole, by names nobody can guess, and strays of the dead are cleared away."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zslearn._files import check_is_file, damaged, inside, replacing, replacing_folder
from zslearn.exceptions import InvalidInputError, MissingFileError, WriteError, closest_name

KILLED = """
import os, signal, sys
from pathlib import Path
from zslearn._files import replacing, replacing_folder
with replacing(sys.argv[1] + "/a.bin") as file, replacing_folder(sys.argv[1] + "/f") as folder:
    file.write(b"half")
    (folder / "part").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
WRITES = """
import sys
from zslearn._files import replacing
with replacing(sys.argv[1] + "/b.bin") as file:
    file.write(b"whole")
"""


def run(code, folder):
    return subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    assert run(KILLED, tmp_path) == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    assert run(WRITES, tmp_path) == 0
    assert os.listdir(tmp_path) == ["b.bin"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    with replacing(tmp_path / "a.bin") as file, replacing_folder(tmp_path / "f") as folder:
        file.write(b"half")
        (folder / "part").write_text("half")
        assert run(WRITES, tmp_path) == 0
        assert len(os.listdir(tmp_path)) == 3
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "b.bin", "f"]


def test_names_of_temporary_files_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(2):
        with replacing(tmp_path / "a.bin"):
            (name,) = {path.name for path in tmp_path.iterdir()} - {"a.bin"}
            names.add(name)
    assert len(names) == 2
    assert not any(str(os.getpid()) == part for name in names for part in name.split("."))


def test_an_error_leaves_the_file_as_it_was(tmp_path):
    (tmp_path / "a").write_bytes(b"old")

    def fail():
        with replacing(tmp_path / "a") as file:
            file.write(b"new")
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fail()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("opened", [replacing, replacing_folder])
def test_a_full_disk_names_the_file(tmp_path, opened):
    def fill():
        with opened(tmp_path / "model.zsl"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(WriteError, match=r"model\.zsl could not be written \(No space left"):
        fill()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_disk_that_fails_is_not_called_a_damaged_file(tmp_path, number):
    path = tmp_path / "x.csv"
    with pytest.raises(OSError, match="the system says so") as caught:
        with damaged(path, "table"):
            raise OSError(number, "the system says so")
    assert caught.value.errno == number
    with pytest.raises(InvalidInputError, match=r"x\.csv is not a readable table"):
        with damaged(path, "table"):
            raise OSError("no number")


def test_a_folder_is_not_called_a_missing_file(tmp_path):
    with pytest.raises(InvalidInputError, match="is a folder; give a file"):
        check_is_file(tmp_path)
    with pytest.raises(MissingFileError, match="There is no file"):
        check_is_file(tmp_path / "none")


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..\\x", "C:\\x", "", "a\0b"])
def test_names_cannot_leave_their_folder(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"points outside its folder|holds a NUL"):
        inside(tmp_path, name)


def test_names_inside_a_folder(tmp_path):
    assert inside(tmp_path, "a/b..c.png") == tmp_path / "a" / "b..c.png"


def test_the_closest_name_ignores_capitals():
    assert closest_name("Fox", ["ox", "fox"]) == "fox"
    assert closest_name("GRIZZLY", ["Grizzly+Bear", "Otter"]) == "Grizzly+Bear"


def test_a_pipe_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with replacing(pipe) as file:
            file.write(b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_device_is_named():
    with (
        pytest.raises(WriteError, match=r"/dev/full could not be written \(No space left"),
        replacing("/dev/full") as file,
    ):
        file.write(b"content")
    assert Path("/dev/full").is_char_device()
