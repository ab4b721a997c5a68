"""Folders of pictures become stores, whatever is in the way."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.encoders.picture_files import BAD
from tests.encoders.tiny_onnx import write_onnx
from zslearn.encoders import ImageEncoder, PictureStore, extract_features, find_pictures
from zslearn.encoders import building as module
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.scale import StoreSource


@pytest.fixture
def folder(tmp_path):
    """Seventy small pictures of two classes."""
    rng = np.random.default_rng(0)
    for i in range(70):
        file = tmp_path / "pictures" / ("cat" if i % 3 else "dog") / f"{i:02d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save(file)
    return tmp_path / "pictures"


@pytest.fixture
def encoder(tmp_path):
    return ImageEncoder(write_onnx(tmp_path / "net.onnx"), n_jobs=2)


def digest(store):
    """SHA-256 of every file of a store by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in store.rglob("*.*")}


def test_a_store_holds_vectors_classes_names_and_the_encoder(folder, encoder, tmp_path):
    pictures = find_pictures(folder)
    store = extract_features(pictures, tmp_path / "s", encoder)
    assert store.samples == tuple(picture.name for picture in pictures)
    assert store.y.tolist() == [picture.name.split("/")[0] for picture in pictures]
    assert np.array_equal(store.X, encoder.transform([picture.path for picture in pictures]))
    assert store.encoder == encoder.identity
    assert (store.refused, store.duplicates) == ({}, ())
    assert not (tmp_path / "s" / "parts").exists()
    source = StoreSource(tmp_path / "s")
    assert source.names[source.labels()].tolist() == store.y.tolist()
    assert np.array_equal(source.read(30, 40), store.X[30:40])


def test_the_same_bits_whatever_the_threads(folder, encoder, tmp_path):
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "a", encoder)
    one = ImageEncoder(encoder.model, n_jobs=1, batch_size=5)
    extract_features(pictures, tmp_path / "b", one, progress=True)
    assert digest(tmp_path / "a") == digest(tmp_path / "b")


def test_a_stopped_run_continues_and_encodes_nothing_twice(folder, encoder, tmp_path, monkeypatch):
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "whole", encoder)
    seen = []
    original = module.encode_chunk

    def counted(chunk, **settings):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(chunk[0].name)
        return original(chunk, **settings)

    monkeypatch.setattr(module, "encode_chunk", counted)
    one = ImageEncoder(encoder.model, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        extract_features(pictures, tmp_path / "s", one)
    with pytest.raises(MissingFileError, match=r"is no complete store of pictures"):
        PictureStore.open(tmp_path / "s")
    monkeypatch.setattr(module, "encode_chunk", original)
    calls = []
    store = extract_features(
        pictures, tmp_path / "s", one, spread=lambda f, xs: (calls.append(x) or f(x) for x in xs)
    )
    assert [chunk[0].name for chunk in calls] == [pictures[64].name]
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")
    again = extract_features(pictures, tmp_path / "s", one, spread=None)
    assert again.samples == store.samples


def stop_at_move(monkeypatch, target):
    """Stop as a kill would, when a file that is ready is to be moved to its place."""
    original = os.replace

    def stopped(source, place):
        if place == target:
            raise KeyboardInterrupt
        original(source, place)

    monkeypatch.setattr(os, "replace", stopped)


FILES = ("X.npy", "y.npy", "samples.json", "meta.json")


@pytest.mark.parametrize("name", [f"parts/{file}" for file in FILES] + list(FILES))
def test_a_run_stopped_at_the_end_continues(folder, encoder, tmp_path, monkeypatch, name):
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "whole", encoder)
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / name)
        with pytest.raises(KeyboardInterrupt):
            extract_features(pictures, tmp_path / "s", encoder)
    with pytest.raises(MissingFileError, match=r"is no complete store of pictures"):
        PictureStore.open(tmp_path / "s")
    extract_features(pictures, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_a_store_grows_by_new_and_changed_pictures(folder, encoder, tmp_path):
    pictures = find_pictures(folder)
    extract_features(pictures[::2], tmp_path / "s", encoder)
    pictures[2].path.write_bytes(pictures[4].path.read_bytes())
    encoded = []
    store = extract_features(
        pictures,
        tmp_path / "s",
        encoder,
        spread=lambda f, chunks: (encoded.extend(chunk) or f(chunk) for chunk in chunks),
    )
    assert encoded == [pictures[1], pictures[2], *pictures[3::2]]
    extract_features(pictures, tmp_path / "whole", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")
    assert store.duplicates == ((pictures[2].name, pictures[4].name),)
    assert store.sha256[2] == hashlib.sha256(pictures[4].path.read_bytes()).hexdigest()


def test_pictures_that_are_gone_can_be_forgotten(folder, encoder, tmp_path):
    pictures = find_pictures(folder)
    extract_features(pictures[:-1], tmp_path / "s", encoder)
    left, encoded = [*pictures[1:4], *pictures[6:]], []
    with pytest.raises(InvalidInputError, match="holds 3 pictures that are not among those given"):
        extract_features(left, tmp_path / "s", encoder)
    extract_features(
        left,
        tmp_path / "s",
        encoder,
        spread=lambda f, chunks: (encoded.extend(chunk) or f(chunk) for chunk in chunks),
        forget=True,
    )
    assert encoded == [pictures[-1]]
    extract_features(left, tmp_path / "whole", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_new_classes_need_no_encoding(folder, encoder, tmp_path):
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "s", encoder)
    for label in ("pet", None):
        changed = [picture._replace(label=label) for picture in pictures]
        store = extract_features(changed, tmp_path / "s", encoder, spread=lambda f, chunks: chunks)
        assert store.y is None if label is None else set(store.y) == {"pet"}
    assert not (tmp_path / "s" / "y.npy").exists()


@pytest.mark.parametrize("name", ["parts/000000.npy", "parts/meta.json", *FILES])
def test_growing_may_stop_at_any_moment(folder, encoder, tmp_path, monkeypatch, name):
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "whole", encoder)
    old = extract_features(pictures[:30], tmp_path / "s", encoder)
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / name)
        with pytest.raises(KeyboardInterrupt):
            extract_features(pictures, tmp_path / "s", encoder)
    if name.startswith("parts"):
        assert PictureStore.open(tmp_path / "s").samples == old.samples
    else:
        with pytest.raises(MissingFileError, match="is no complete store"):
            PictureStore.open(tmp_path / "s")
    # Another set of pictures than the one that was begun is as good.
    again = pictures[:69] if name.startswith("parts") else pictures
    extract_features(again, tmp_path / "s", encoder)
    extract_features(pictures, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


# Each child dies by a signal a random moment after it has finished a part; its own clock does it,
# so that it cannot run far ahead of who kills it.
KILLED = """
import os, random, signal, sys
import onnxruntime
from zslearn.encoders import ImageEncoder, extract_features, find_pictures

folder, model, store = sys.argv[1:]
pictures = find_pictures(folder)
draw = random.Random(0)
put = os.replace

def put_and_start_the_clock(old, new):
    put(old, new)
    if str(new).endswith(".json") and signal.getitimer(signal.ITIMER_REAL)[0] == 0:
        signal.setitimer(signal.ITIMER_REAL, delay)

killed = 0
while killed < 20:
    delay = draw.uniform(1e-6, 0.01)
    child = os.fork()
    if not child:
        os.replace = put_and_start_the_clock
        extract_features(pictures, store, ImageEncoder(model, batch_size=1, n_jobs=2))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        break
    killed += 1
print(killed, os.path.exists(store + "/meta.json"))
"""


def test_killed_twenty_times_the_result_has_the_same_bits(encoder, tmp_path):
    rng = np.random.default_rng(1)
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(1600):
        Image.fromarray(rng.integers(0, 256, (5, 5, 3), dtype=np.uint8)).save(
            folder / f"{i:04d}.bmp"
        )
    pictures = find_pictures(folder)
    extract_features(pictures, tmp_path / "whole", encoder)
    command = [sys.executable, "-c", KILLED, str(folder), encoder.model, str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["20", "False"]
    extract_features(pictures, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_bad_files_are_listed_and_left_out(folder, encoder, tmp_path):
    good = find_pictures(folder)
    for name, content in BAD.items():
        (folder / "dog" / name).write_bytes(content)
    (folder / "cat" / "gone.png").symlink_to(tmp_path / "nowhere")
    store = extract_features(find_pictures(folder), tmp_path / "s", encoder)
    assert store.samples == tuple(picture.name for picture in good)
    assert len(BAD) >= 30
    assert set(store.refused) == {f"dog/{name}" for name in BAD} | {"cat/gone.png"}
    assert store.refused["dog/text.jpg"].startswith("it is damaged or none of BMP")
    assert store.refused["cat/gone.png"] == "no such file or directory"
    assert np.array_equal(store.X, encoder.transform([picture.path for picture in good]))
    with pytest.raises(InvalidInputError, match=r"bad colors\.png cannot be read as a picture"):
        extract_features(find_pictures(folder / "dog"), tmp_path / "t", encoder, strict=True)


def test_only_bad_files_make_no_store(encoder, tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.png").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match=r"none of the 1 files could be read .* a\.png: it"):
        extract_features(find_pictures(tmp_path / "p"), tmp_path / "s", encoder)


def test_copies_are_reported(folder, encoder, tmp_path):
    first = find_pictures(folder)[0].path
    (folder / "dog" / "copy.png").write_bytes(first.read_bytes())
    store = extract_features(find_pictures(folder), tmp_path / "s", encoder)
    assert store.duplicates == (("cat/01.png", "dog/copy.png"),)


def test_a_store_is_not_mixed(folder, encoder, tmp_path, monkeypatch):
    pictures = find_pictures(folder)
    flip = ImageEncoder(encoder.model, views="flip")
    (tmp_path / "begun").mkdir()
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "begun" / "parts" / "000001.npy")
        with pytest.raises(KeyboardInterrupt):
            extract_features(pictures, tmp_path / "begun", encoder)
    with pytest.raises(InvalidInputError, match="was begun with other pictures or labels"):
        extract_features(pictures[1:], tmp_path / "begun", encoder)
    with pytest.raises(InvalidInputError, match="was begun with another encoder"):
        extract_features(pictures, tmp_path / "begun", flip)
    extract_features(pictures, tmp_path / "s", encoder)
    before = digest(tmp_path / "s")
    with pytest.raises(InvalidInputError, match=r"holds 1 pictures that are not among .* 'cat/01"):
        extract_features(pictures[1:], tmp_path / "s", encoder)
    with pytest.raises(InvalidInputError, match=r"was made by the encoder .*; got .*views flip"):
        extract_features(pictures, tmp_path / "s", flip)
    assert digest(tmp_path / "s") == before
    with pytest.raises(InvalidInputError, match="holds something else"):
        extract_features(pictures, folder, encoder)
    with pytest.raises(InvalidInputError, match="there are no pictures"):
        extract_features([], tmp_path / "t", encoder)


@pytest.mark.parametrize("damage", ["X.npy", "y.npy", "samples.json", "meta.json"])
def test_a_damaged_store_is_refused(folder, encoder, tmp_path, damage):
    extract_features(find_pictures(folder), tmp_path / "s", encoder)
    file = tmp_path / "s" / damage
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"[]"):
        file.write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"damaged|is not JSON|must hold an object"):
            PictureStore.open(tmp_path / "s")


@pytest.mark.parametrize("damage", ["plan.json", "000000.json", "000000.npy"])
def test_a_damaged_beginning_is_refused(folder, encoder, tmp_path, monkeypatch, damage):
    pictures = find_pictures(folder)
    (tmp_path / "s").mkdir()
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / "parts" / "X.npy")
        with pytest.raises(KeyboardInterrupt):
            extract_features(pictures, tmp_path / "s", encoder)
    file = tmp_path / "s" / "parts" / damage
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"[]", whole.replace(b"(", b"(1,")):
        file.write_bytes(content)
        if content == whole:
            continue
        with pytest.raises(InvalidInputError, match=r"parts is damaged .* Remove it to start over"):
            extract_features(pictures, tmp_path / "s", encoder)
    assert not (tmp_path / "s" / "X.npy").exists()


def test_pictures_without_classes(folder, encoder, tmp_path):
    store = extract_features(find_pictures(folder / "cat"), tmp_path / "s", encoder)
    assert store.y is None
    assert PictureStore.open(tmp_path / "s").y is None
    assert store.samples[0] == "01.png"


def test_classes_from_a_list(folder, tmp_path):
    for title in ("", "file,class\n"):
        (tmp_path / "l.csv").write_text(f'{title}dog/00.png,canine\n"cat/01.png","cat, tame"\n')
        found = find_pictures(folder, tmp_path / "l.csv")
        assert [(picture.name, picture.label) for picture in found] == [
            ("cat/01.png", "cat, tame"),
            ("dog/00.png", "canine"),
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("file,class\n", "a header but no line below it"),
        ("dog/00.png\n", "each row must hold a file and its class; got 1 columns"),
        ("dog/00.png,\n", "each row must hold a file and its class"),
        ("dog/00.png,a\ndog/01.png,\n", "Line 2 has no value in column 2"),
        ("a,b\ndog/99.png,x\n", "there is no file 'dog/99.png'"),
        ("dog/00.png,a\ndog/00.png,b\n", "lists 'dog/00.png' twice"),
    ],
)
def test_wrong_lists_are_refused(folder, tmp_path, text, message):
    (tmp_path / "l.csv").write_text(text)
    with pytest.raises(InvalidInputError, match=rf"l\.csv: .*{message}"):
        find_pictures(folder, tmp_path / "l.csv")


def test_folders_that_cannot_be_taken(folder, tmp_path):
    with pytest.raises(MissingFileError, match="There is no folder"):
        find_pictures(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").touch()
    with pytest.raises(InvalidInputError, match="holds no files"):
        find_pictures(tmp_path / "empty")
    (folder / "loose.png").touch()
    with pytest.raises(InvalidInputError, match=r"the file 'loose\.png' beside them"):
        find_pictures(folder)


def test_the_description_is_plain_json(folder, encoder, tmp_path):
    extract_features(find_pictures(folder), tmp_path / "s", encoder)
    meta = json.loads((tmp_path / "s" / "meta.json").read_text())
    assert meta["classes"] == ["cat", "dog"]
    assert meta["encoder"]["sha256"] == encoder.identity.sha256
