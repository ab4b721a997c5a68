"""Folders of pictures and tables of texts become stores, whatever is in the way."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.encoders.picture_files import BAD
from tests.encoders.tiny_onnx import write_onnx
from tests.encoders.tiny_text import LetterCounts, letter_encoder, unit
from zslearn.encoders import (
    ImageEncoder,
    Sample,
    Store,
    TextEncoder,
    build_store,
    find_pictures,
    read_texts,
    register_encoder,
)
from zslearn.encoders import building as module
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.scale import StoreSource

ROOT = Path(__file__).resolve().parents[2]


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
def image_encoder(tmp_path):
    return ImageEncoder(write_onnx(tmp_path / "net.onnx"), n_jobs=2)


@pytest.fixture(params=["pictures", "texts"])
def samples(request, tmp_path):
    """Seventy pictures or texts of two classes."""
    if request.param == "pictures":
        return find_pictures(request.getfixturevalue("folder"))
    rng = np.random.default_rng(0)
    words = ["card", "money", "lost", "where", "address", "back"]
    texts = [" ".join(rng.choice(words, 5)) + f" {i}" for i in range(70)]
    kinds = ["cat" if i % 3 else "dog" for i in range(70)]
    table = pd.DataFrame({"id": [f"t{i:02d}" for i in range(70)], "text": texts, "kind": kinds})
    return read_texts(table, text="text", labels="kind", name="id")


@pytest.fixture
def encoder(samples, request, monkeypatch):
    """What encodes the samples."""
    if not isinstance(samples[0].content, str):
        return request.getfixturevalue("image_encoder")
    monkeypatch.setitem(module.CHUNK, "text", 32)
    return letter_encoder(n_jobs=2)


def other_settings(encoder, **settings):
    """An encoder of the same model."""
    return type(encoder)(encoder.model, **settings)


def change(samples, row, by):
    """Give a sample the content of another one."""
    if isinstance(samples[row].content, str):
        samples[row] = samples[row]._replace(content=samples[by].content)
    else:
        samples[row].content.write_bytes(samples[by].content.read_bytes())


def another(encoder):
    """An encoder that gives other vectors."""
    if encoder.kind == "image":
        return ImageEncoder(encoder.model, views="flip")
    register_encoder("text", "count", OtherCounts)
    return TextEncoder("count")


class OtherCounts(LetterCounts):
    sha256 = "b" * 64


def bytes_of(sample):
    text = isinstance(sample.content, str)
    return sample.content.encode() if text else sample.content.read_bytes()


def digest(store):
    """SHA-256 of every file of a store by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in store.rglob("*.*")}


def test_a_store_holds_vectors_classes_names_and_the_encoder(samples, encoder, tmp_path):
    store = build_store(samples, tmp_path / "s", encoder)
    assert tuple(store.samples) == tuple(sample.name for sample in samples)
    assert store.y.tolist() == [sample.label for sample in samples]
    assert np.array_equal(store.X, encoder.transform([sample.content for sample in samples]))
    assert store.encoder == encoder.identity
    assert (store.refused, store.duplicates) == ({}, ())
    assert not (tmp_path / "s" / "parts").exists()
    source = StoreSource(tmp_path / "s")
    assert source.names[source.labels()].tolist() == store.y.tolist()
    assert np.array_equal(source.read(30, 40), store.X[30:40])


def test_the_same_bits_whatever_the_threads(samples, encoder, tmp_path):
    build_store(samples, tmp_path / "a", encoder)
    one = other_settings(encoder, n_jobs=1, batch_size=5)
    build_store(samples, tmp_path / "b", one, progress=True)
    assert digest(tmp_path / "a") == digest(tmp_path / "b")


def test_a_stopped_run_continues_and_encodes_nothing_twice(samples, encoder, tmp_path, monkeypatch):
    build_store(samples, tmp_path / "whole", encoder)
    seen = []
    original = module.encode_chunk

    def counted(chunk, **settings):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(chunk[0].name)
        return original(chunk, **settings)

    monkeypatch.setattr(module, "encode_chunk", counted)
    one = other_settings(encoder, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        build_store(samples, tmp_path / "s", one)
    with pytest.raises(MissingFileError, match=r"is no complete store"):
        Store.open(tmp_path / "s")
    monkeypatch.setattr(module, "encode_chunk", original)
    calls = []
    store = build_store(
        samples, tmp_path / "s", one, spread=lambda f, xs: (calls.append(x) or f(x) for x in xs)
    )
    assert [chunk[0].name for chunk in calls] == [samples[64].name]
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")
    again = build_store(samples, tmp_path / "s", one, spread=None)
    assert again.samples == store.samples


def stop_at_move(monkeypatch, target):
    """Stop as a kill would, when a file that is ready is to be moved to its place."""
    original = os.replace

    def stopped(source, place):
        if place == target:
            raise KeyboardInterrupt
        original(source, place)

    monkeypatch.setattr(os, "replace", stopped)


FILES = ("X.npy", "y.npy", "samples.jsonl", "meta.json")


@pytest.mark.parametrize("name", [f"parts/{file}" for file in FILES] + list(FILES))
def test_a_run_stopped_at_the_end_continues(samples, encoder, tmp_path, monkeypatch, name):
    build_store(samples, tmp_path / "whole", encoder)
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / name)
        with pytest.raises(KeyboardInterrupt):
            build_store(samples, tmp_path / "s", encoder)
    with pytest.raises(MissingFileError, match=r"is no complete store"):
        Store.open(tmp_path / "s")
    build_store(samples, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_a_store_grows_by_new_and_changed_pictures(samples, encoder, tmp_path):
    build_store(samples[::2], tmp_path / "s", encoder)
    change(samples, 2, by=4)
    encoded = []
    store = build_store(
        samples,
        tmp_path / "s",
        encoder,
        spread=lambda f, chunks: (encoded.extend(chunk) or f(chunk) for chunk in chunks),
    )
    # A text is known whatever its row, a picture by its name.
    known = isinstance(samples[0].content, str)
    assert sorted(encoded) == sorted([samples[1], *([] if known else [samples[2]]), *samples[3::2]])
    build_store(samples, tmp_path / "whole", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")
    assert store.duplicates == ((samples[2].name, samples[4].name),)
    assert store.samples.sha256[2] == hashlib.sha256(bytes_of(samples[4])).hexdigest()


def test_pictures_that_are_gone_can_be_forgotten(samples, encoder, tmp_path):
    build_store(samples[:-1], tmp_path / "s", encoder)
    left, encoded = [*samples[1:4], *samples[6:]], []
    with pytest.raises(InvalidInputError, match=r"holds 3 (picture|text)s that are not among"):
        build_store(left, tmp_path / "s", encoder)
    build_store(
        left,
        tmp_path / "s",
        encoder,
        spread=lambda f, chunks: (encoded.extend(chunk) or f(chunk) for chunk in chunks),
        forget=True,
    )
    assert encoded == [samples[-1]]
    build_store(left, tmp_path / "whole", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_new_classes_need_no_encoding(samples, encoder, tmp_path):
    build_store(samples, tmp_path / "s", encoder)
    for label in ("pet", None):
        changed = [sample._replace(label=label) for sample in samples]
        store = build_store(changed, tmp_path / "s", encoder, spread=lambda f, chunks: chunks)
        assert store.y is None if label is None else set(store.y) == {"pet"}
    assert not (tmp_path / "s" / "y.npy").exists()


@pytest.mark.parametrize("name", ["parts/000000.npy", "parts/meta.json", *FILES])
def test_growing_may_stop_at_any_moment(samples, encoder, tmp_path, monkeypatch, name):
    build_store(samples, tmp_path / "whole", encoder)
    old = build_store(samples[:30], tmp_path / "s", encoder)
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / name)
        with pytest.raises(KeyboardInterrupt):
            build_store(samples, tmp_path / "s", encoder)
    if name.startswith("parts"):
        assert Store.open(tmp_path / "s").samples == old.samples
    else:
        with pytest.raises(MissingFileError, match="is no complete store"):
            Store.open(tmp_path / "s")
    # Another set of samples than the one that was begun is as good.
    again = samples[:69] if name.startswith("parts") else samples
    build_store(again, tmp_path / "s", encoder)
    build_store(samples, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


# Each child dies by a signal of its own clock, a random moment after it has finished a part: with
# equal odds microseconds or milliseconds later. It is held before a second part after that one, so
# that on a quick machine, too, twenty children leave something to do.
KILLED = """
import math, os, random, signal, sys
import onnxruntime
from tests.encoders.tiny_text import letter_encoder
from zslearn.encoders import ImageEncoder, build_store, building, find_pictures, read_texts

source, model, store = sys.argv[1:]
if model == "letters":
    samples, encoder = read_texts(source), letter_encoder(batch_size=1, n_jobs=2)
    building.CHUNK["text"] = 32
else:
    samples, encoder = find_pictures(source), ImageEncoder(model, batch_size=1, n_jobs=2)
draw = random.Random(0)
put = os.replace

def put_and_start_the_clock(old, new):
    record = str(new).endswith(".json")
    if record and len(records) == 2:
        signal.pause()
    put(old, new)
    if record:
        records.append(new)
        if len(records) == 1:
            signal.setitimer(signal.ITIMER_REAL, delay)

killed, records = 0, []
while killed < 20:
    delay = math.exp(draw.uniform(math.log(1e-5), math.log(0.01)))
    child = os.fork()
    if not child:
        os.replace = put_and_start_the_clock
        build_store(samples, store, encoder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        break
    killed += 1
print(killed, os.path.exists(store + "/meta.json"))
"""


def many_pictures(folder, rng):
    folder.mkdir()
    for i in range(1600):
        pixels = rng.integers(0, 256, (5, 5, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:04d}.bmp")
    return folder


def test_killed_twenty_times_the_result_has_the_same_bits(encoder, tmp_path, warm):
    rng = np.random.default_rng(1)
    if encoder.kind == "text":
        source = tmp_path / "many.csv"
        lines = [f"row {i} says {rng.integers(10**9)}" for i in range(1600)]
        source.write_text("\n".join(["text", *lines]) + "\n")
        samples = read_texts(source)
    else:
        source = many_pictures(tmp_path / "many", rng)
        samples = find_pictures(source)
    build_store(samples, tmp_path / "whole", encoder)
    done = warm.python("-c", KILLED, source, encoder.model, tmp_path / "s", timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["20", "False"]
    build_store(samples, tmp_path / "s", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_bad_files_are_listed_and_left_out(folder, image_encoder, tmp_path):
    good = find_pictures(folder)
    for name, content in BAD.items():
        (folder / "dog" / name).write_bytes(content)
    (folder / "cat" / "gone.png").symlink_to(tmp_path / "nowhere")
    store = build_store(find_pictures(folder), tmp_path / "s", image_encoder)
    assert tuple(store.samples) == tuple(picture.name for picture in good)
    assert len(BAD) >= 30
    assert set(store.refused) == {f"dog/{name}" for name in BAD} | {"cat/gone.png"}
    assert store.refused["dog/text.jpg"].startswith("it is damaged or none of BMP")
    assert store.refused["cat/gone.png"] == "no such file or directory"
    assert np.array_equal(store.X, image_encoder.transform([picture.content for picture in good]))
    with pytest.raises(InvalidInputError, match=r"bad colors\.png cannot be read as a picture"):
        build_store(find_pictures(folder / "dog"), tmp_path / "t", image_encoder, strict=True)


def test_only_bad_files_make_no_store(image_encoder, tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.png").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match=r"none of the 1 files could be read .* a\.png: it"):
        build_store(find_pictures(tmp_path / "p"), tmp_path / "s", image_encoder)
    assert not (tmp_path / "s").exists()


def test_copies_are_reported(folder, image_encoder, tmp_path):
    first = find_pictures(folder)[0].content
    (folder / "dog" / "copy.png").write_bytes(first.read_bytes())
    store = build_store(find_pictures(folder), tmp_path / "s", image_encoder)
    assert store.duplicates == (("cat/01.png", "dog/copy.png"),)


def test_a_store_is_not_mixed(samples, encoder, tmp_path, monkeypatch):
    flip = another(encoder)
    (tmp_path / "begun").mkdir()
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "begun" / "parts" / "000001.npy")
        with pytest.raises(KeyboardInterrupt):
            build_store(samples, tmp_path / "begun", encoder)
    with pytest.raises(InvalidInputError, match=r"was begun with other (picture|text)s or labels"):
        build_store(samples[1:], tmp_path / "begun", encoder)
    with pytest.raises(InvalidInputError, match="was begun with another encoder"):
        build_store(samples, tmp_path / "begun", flip)
    forgotten = build_store(samples[1:], tmp_path / "begun", encoder, forget=True)
    assert list(forgotten.samples) == [sample.name for sample in samples[1:]]
    build_store(samples, tmp_path / "s", encoder)
    before = digest(tmp_path / "s")
    with pytest.raises(InvalidInputError, match=r"holds 1 (picture|text)s .* '(cat/01|t00)"):
        build_store(samples[1:], tmp_path / "s", encoder)
    with pytest.raises(InvalidInputError, match=r"was made by the encoder .*(views flip|count)"):
        build_store(samples, tmp_path / "s", flip)
    assert digest(tmp_path / "s") == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds something else"):
        build_store(samples, tmp_path / "other", encoder)
    with pytest.raises(InvalidInputError, match=r"there are no (picture|text)s"):
        build_store([], tmp_path / "t", encoder)


@pytest.mark.parametrize("damage", ["X.npy", "y.npy", "samples.jsonl", "meta.json"])
def test_a_damaged_store_is_refused(samples, encoder, tmp_path, damage):
    build_store(samples, tmp_path / "s", encoder)
    file = tmp_path / "s" / damage
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"[]"):
        file.write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"damaged|is not JSON|must hold an object"):
            len(Store.open(tmp_path / "s").samples)


@pytest.mark.parametrize("damage", ["plan.json", "000000.json", "000000.npy"])
def test_a_damaged_beginning_is_refused(samples, encoder, tmp_path, monkeypatch, damage):
    (tmp_path / "s").mkdir()
    with monkeypatch.context() as patch:
        stop_at_move(patch, tmp_path / "s" / "parts" / "X.npy")
        with pytest.raises(KeyboardInterrupt):
            build_store(samples, tmp_path / "s", encoder)
    file = tmp_path / "s" / "parts" / damage
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"[]", whole.replace(b"(", b"(1,")):
        file.write_bytes(content)
        if content == whole:
            continue
        with pytest.raises(InvalidInputError, match=r"parts is damaged .* Remove it to start over"):
            build_store(samples, tmp_path / "s", encoder)
    assert not (tmp_path / "s" / "X.npy").exists()


def test_pictures_without_classes(folder, image_encoder, tmp_path):
    store = build_store(find_pictures(folder / "cat"), tmp_path / "s", image_encoder)
    assert store.y is None
    assert Store.open(tmp_path / "s").y is None
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
    with pytest.raises(InvalidInputError, match=r"empty holds no files\.$"):
        find_pictures(tmp_path / "empty")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "cat").symlink_to(folder)
    with pytest.raises(InvalidInputError, match="only links to folders, which are not followed"):
        find_pictures(tmp_path / "linked")
    (folder / "loose.png").touch()
    with pytest.raises(InvalidInputError, match=r"the file 'loose\.png' beside them"):
        find_pictures(folder)


def test_the_description_is_plain_json(folder, image_encoder, tmp_path):
    build_store(find_pictures(folder), tmp_path / "s", image_encoder)
    meta = json.loads((tmp_path / "s" / "meta.json").read_text())
    assert meta["classes"] == ["cat", "dog"]
    assert meta["encoder"]["sha256"] == image_encoder.identity.sha256


def rows(*texts, first=0):
    return [Sample(str(first + row), text) for row, text in enumerate(texts)]


def test_texts_that_cannot_be_read_are_listed_and_left_out(tmp_path):
    texts = rows("a card", "", " \t\n", "money back", "half \ud800")
    store = build_store(texts, tmp_path / "s", letter_encoder())
    assert store.samples.texts == ("a card", "money back")
    assert list(store.samples) == ["0", "3"]
    empty, half = "the text is empty", "the text holds half a character"
    assert store.refused == {"1": empty, "2": empty, "4": half}
    with pytest.raises(InvalidInputError, match=r"^1: the text is empty\.$"):
        build_store(texts, tmp_path / "t", letter_encoder(), strict=True)
    with pytest.raises(InvalidInputError, match="none of the 2 texts could be read as a text; 0: "):
        build_store(rows("", " "), tmp_path / "u", letter_encoder())


def test_long_texts_are_noted(tmp_path):
    texts = rows("short", "long " * 20, "", "long " * 30, "short again")
    store = build_store(texts, tmp_path / "s", letter_encoder(batch_size=1))
    assert store.samples.cut == {1, 2}
    more = build_store([*texts, *rows("x" * 90, first=5)], tmp_path / "s", letter_encoder())
    assert more.samples.cut == {1, 2, 4}
    assert more.samples.names == ("0", "1", "3", "4", "5")


def test_a_text_is_known_in_whatever_row_it_stands(tmp_path):
    encoder = letter_encoder()
    build_store(rows("one", "two", "three"), tmp_path / "s", encoder)
    asked = encoder.opened.model.asked
    before = len(asked)
    changed = rows("new", "one", "two", "three", "two")
    store = build_store(changed, tmp_path / "s", encoder)
    assert asked[before:] == ["new"]
    assert store.samples.texts == ("new", "one", "two", "three", "two")
    assert store.duplicates == (("2", "4"),)
    build_store(changed, tmp_path / "whole", encoder)
    assert digest(tmp_path / "s") == digest(tmp_path / "whole")


def test_a_text_that_changes_without_changing_its_length(tmp_path):
    build_store(rows("one", "two"), tmp_path / "s", letter_encoder())
    store = build_store(rows("one", "too"), tmp_path / "s", letter_encoder())
    assert store.samples.texts == ("one", "too")
    np.testing.assert_allclose(store.X, unit(["one", "too"]), rtol=1e-6)


def test_samples_and_encoder_are_of_one_kind(folder, image_encoder, tmp_path):
    with pytest.raises(InvalidInputError, match=r"are texts, and the encoder 'onnx.* is one of"):
        build_store(rows("a"), tmp_path / "s", image_encoder)
    with pytest.raises(InvalidInputError, match="are pictures, and the encoder 'letters' is one"):
        build_store(find_pictures(folder), tmp_path / "s", letter_encoder())


def test_odd_letters_come_back(tmp_path):
    texts = ["line\u2028break", "tab\tand\vfeed", 'quote "', "\\n", "žluťoučký 🐴", "a\x00b"]
    build_store(rows(*texts), tmp_path / "s", letter_encoder())
    assert Store.open(tmp_path / "s").samples.texts == tuple(texts)
