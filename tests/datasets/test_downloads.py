"""Downloads from a server on this machine, whole and broken."""

import hashlib
import http.server
import io
import shutil
import threading
import zipfile

import pytest

from tests.datasets.xlsa17_folder import write_folder
from zslearn.datasets import downloads, fetch_archive, fetch_awa2, fetch_xlsa17
from zslearn.exceptions import DownloadError, InvalidInputError


class Server(http.server.ThreadingHTTPServer):
    """Serves `files`; a path that starts with /cut breaks off half way."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = {}, []

    def url(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path.removeprefix("/cut").strip("/"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if "/cut" in self.path else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def offer(server, monkeypatch):
    """Return a function that puts an archive on the server in place of a public one."""

    def put(name, content, *, path=None, sha256=None):
        file = downloads.ARCHIVES[name].file
        server.files[file] = content
        url = server.url(path or file)
        archive = downloads.Archive(url, file, "small", sha256)
        monkeypatch.setitem(downloads.ARCHIVES, name, archive)

    return put


def everything_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def test_download_is_unpacked_once(server, offer, tmp_path):
    content = zipped({"top/a.txt": "one"})
    offer("awa2-base", content, sha256=hashlib.sha256(content).hexdigest())
    for _ in range(2):
        folder = fetch_archive("awa2-base", tmp_path / "home", progress=False)
        assert (folder / "top" / "a.txt").read_text() == "one"
    assert len(server.asked) == 1


def test_progress_bar_is_on_stderr(offer, tmp_path, capsys):
    offer("awa2-base", zipped({"a.txt": "x" * 100_000}))
    fetch_archive("awa2-base", tmp_path)
    captured = capsys.readouterr()
    assert "100%" in captured.err
    assert captured.out == ""


def test_cache_folder_from_the_environment(offer, tmp_path, monkeypatch):
    monkeypatch.setenv("ZSLEARN_DATA_HOME", str(tmp_path / "cache"))
    offer("awa2-base", zipped({"a.txt": "x"}))
    assert fetch_archive("awa2-base", progress=False) == tmp_path / "cache" / "awa2-base"


def test_user_cache_folder_is_the_default(monkeypatch):
    monkeypatch.delenv("ZSLEARN_DATA_HOME", raising=False)
    assert downloads.data_folder().name == "zslearn"


def test_local_copy_needs_no_network(server, offer, tmp_path):
    offer("awa2-base", b"never asked for")
    (tmp_path / "AwA2-base.zip").write_bytes(zipped({"a.txt": "mine"}))
    folder = fetch_archive("awa2-base", tmp_path, progress=False)
    assert (folder / "a.txt").read_text() == "mine"
    assert server.asked == []


def test_local_copy_of_another_content_is_refused_and_kept(offer, tmp_path):
    offer("awa2-base", b"", sha256="0" * 64)
    (tmp_path / "AwA2-base.zip").write_bytes(zipped({"a.txt": "mine"}))
    with pytest.raises(InvalidInputError, match="not the expected archive"):
        fetch_archive("awa2-base", tmp_path, progress=False)
    assert [path.name for path in everything_below(tmp_path)] == ["AwA2-base.zip"]


@pytest.mark.parametrize(
    ("path", "sha256"),
    [("cut/AwA2-base.zip", None), ("missing.zip", None), (None, "0" * 64)],
    ids=["interrupted", "not found", "wrong hash"],
)
def test_failed_download_leaves_nothing_and_tells_the_manual_way(offer, tmp_path, path, sha256):
    offer("awa2-base", zipped({"a.txt": "x" * 200_000}), path=path, sha256=sha256)
    with pytest.raises(DownloadError, match=r"Could not download .*put it at .*AwA2-base\.zip"):
        fetch_archive("awa2-base", tmp_path / "home", progress=False)
    assert everything_below(tmp_path) == []


def test_no_network_tells_the_manual_way(offer, tmp_path, monkeypatch):
    # Port 9 of this machine answers nothing.
    archive = downloads.Archive("http://127.0.0.1:9/x.zip", "x.zip", "0.9 GB")
    monkeypatch.setitem(downloads.ARCHIVES, "xlsa17", archive)
    with pytest.raises(DownloadError, match=r"\(0\.9 GB\).*Without a network, download"):
        fetch_xlsa17("CUB", data_home=tmp_path, progress=False)
    assert everything_below(tmp_path) == []


def test_page_in_place_of_an_archive_is_refused_and_not_kept(offer, tmp_path):
    offer("awa2-base", b"<html>moved</html>")
    with pytest.raises(DownloadError, match="neither a zip nor a tar file"):
        fetch_archive("awa2-base", tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_local_copy_that_is_no_archive_is_refused_and_kept(tmp_path):
    (tmp_path / "AwA2-base.zip").write_bytes(b"<html>moved</html>")
    with pytest.raises(InvalidInputError, match="neither a zip nor a tar file"):
        fetch_archive("awa2-base", tmp_path, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["AwA2-base.zip"]


def test_xlsa17_is_loaded(offer, tmp_path):
    source = write_folder(tmp_path / "CUB")
    members = {f"xlsa17/data/CUB/{path.name}": path.read_bytes() for path in source.iterdir()}
    offer("xlsa17", zipped(members))
    data = fetch_xlsa17("CUB", data_home=tmp_path / "home", progress=False)
    assert data.X.shape == (13, 4)
    with pytest.raises(InvalidInputError, match="no data set 'SUN'; it has CUB"):
        fetch_xlsa17("SUN", data_home=tmp_path / "home", progress=False)


def test_awa2_is_loaded_from_both_archives(offer, tmp_path):
    top = "Animals_with_Attributes2"
    base = {
        "classes.txt": "1\trat\n2\tseal\n3\tcow\n",
        "predicates.txt": "1\tblack\n",
        "predicate-matrix-continuous.txt": "1\n2\n3\n",
        "testclasses.txt": "rat\n",
    }
    features = {"AwA2-features.txt": "1 2\n3 4\n", "AwA2-labels.txt": "3\n1\n"}
    offer("awa2-base", zipped({f"{top}/{name}": text for name, text in base.items()}))
    offer(
        "awa2-features",
        zipped({f"{top}/Features/ResNet101/{name}": text for name, text in features.items()}),
    )
    assert fetch_awa2(data_home=tmp_path, progress=False).signatures.shape == (3, 1)
    data = fetch_awa2("ResNet101", data_home=tmp_path, progress=False)
    assert data.y.tolist() == ["cow", "rat"]


def test_unknown_archive_suggests_one(tmp_path):
    with pytest.raises(InvalidInputError, match=r"no archive 'xlsa'; .* Did you mean 'xlsa17'\?"):
        fetch_archive("xlsa", tmp_path)


def test_a_copy_that_differs_from_the_first_download_is_refused(offer, tmp_path):
    """No hash is published for this archive: the first download is trusted, and only that one."""
    offer("awa2-base", zipped({"top/classes.txt": "x"}))
    folder = fetch_archive("awa2-base", tmp_path, progress=False)
    shutil.rmtree(folder)
    assert fetch_archive("awa2-base", tmp_path, progress=False) == folder
    shutil.rmtree(folder)
    (tmp_path / downloads.ARCHIVES["awa2-base"].file).write_bytes(zipped({"top/other.txt": "y"}))
    with pytest.raises(InvalidInputError, match="not the expected archive: its SHA-256"):
        fetch_archive("awa2-base", tmp_path, progress=False)
