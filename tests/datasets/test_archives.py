"""Unpacking: complete or not at all, and never outside the folder."""

import io
import tarfile
import zipfile

import pytest

from zslearn.datasets.downloads import unpack
from zslearn.exceptions import InvalidInputError


def write_zip(path, members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def write_tar(path, members):
    with tarfile.open(path, "w:gz") as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content.encode()))
    return path


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_files_come_out(tmp_path, write):
    archive = write(tmp_path / "a", {"top/a.txt": "one", "top/deep/b.txt": "two"})
    folder = unpack(archive, tmp_path / "out")
    assert (folder / "top" / "a.txt").read_text() == "one"
    assert (folder / "top" / "deep" / "b.txt").read_text() == "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "out"]


@pytest.mark.parametrize("write", [write_zip, write_tar])
@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_paths_that_lead_outside_are_refused(tmp_path, write, name):
    archive = write(tmp_path / "a", {"ok.txt": "1", name: "x"})
    with pytest.raises(InvalidInputError, match="points outside its folder"):
        unpack(archive, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_links_are_refused(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        file.addfile(link)
    with pytest.raises(InvalidInputError, match="'link', which is neither a file nor a folder"):
        unpack(tmp_path / "a.tar", tmp_path / "out")


def test_damaged_member_leaves_nothing(tmp_path):
    archive = write_zip(tmp_path / "a.zip", {"a.txt": "x" * 1000})
    content = bytearray(archive.read_bytes())
    content[100] ^= 255
    archive.write_bytes(content)
    with pytest.raises(InvalidInputError, match="not a readable archive"):
        unpack(archive, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_something_else_is_refused(tmp_path):
    (tmp_path / "a.zip").write_text("<html>not found</html>")
    with pytest.raises(InvalidInputError, match="neither a zip nor a tar file"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_tar_file_of_a_whole_folder_and_repeated_names(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        folder = tarfile.TarInfo("./")
        folder.type = tarfile.DIRTYPE
        file.addfile(folder)
        for content in (b"old", b"new"):
            member = tarfile.TarInfo("./a.txt")
            member.size = 3
            file.addfile(member, io.BytesIO(content))
    assert (unpack(tmp_path / "a.tar", tmp_path / "out") / "a.txt").read_text() == "new"


def test_a_zip_file_with_a_password_is_refused(tmp_path):
    archive = write_zip(tmp_path / "a.zip", {"a.txt": "x"})
    content = bytearray(archive.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"not a readable archive \(File .* is encrypted"):
        unpack(archive, tmp_path / "out")
