import json

import numpy as np
import pytest
from PIL import Image

from zslearn.cluster import PixelStore, extract_pixel_features, pixel_features
from zslearn.encoders.pictures import read_rgb
from zslearn.exceptions import InvalidInputError, MissingFileError


@pytest.fixture
def pictures(tmp_path):
    rng = np.random.default_rng(0)
    files = [tmp_path / f"p{i}.png" for i in range(3)]
    for file in files:
        Image.fromarray(rng.integers(0, 256, (12, 18, 3), dtype=np.uint8)).save(file)
    return files


@pytest.mark.parametrize(("dtype", "error"), [("float32", 0), ("float16", 0.04)])
def test_a_store_gives_back_the_features(pictures, tmp_path, dtype, error):
    extract_pixel_features(pictures, tmp_path / "store", height=6, dtype=dtype)
    store = PixelStore.open(tmp_path / "store")
    assert store.names == ("p0", "p1", "p2")
    assert len(store) == 3
    for i, file in enumerate(pictures):
        expected = pixel_features(read_rgb(file, height=6))
        assert expected.shape == (6 * 9, 135)
        np.testing.assert_allclose(store.features(i), expected, atol=error)
        assert store.features(i).dtype == np.float32


def test_an_interrupted_extraction_continues_and_keeps_what_is_there(pictures, tmp_path):
    broken = [*pictures[:2], tmp_path / "p2_broken.png"]
    broken[2].write_bytes(b"no picture")
    with pytest.raises(InvalidInputError, match=r"p2_broken\.png cannot be read as a picture"):
        extract_pixel_features(broken, tmp_path / "store", height=6)
    with pytest.raises(MissingFileError, match="lacks 1 of 3 pictures, the first is 'p2_broken'"):
        PixelStore.open(tmp_path / "store")
    kept = (tmp_path / "store" / "p0.npy").stat().st_mtime_ns
    Image.open(pictures[2]).save(broken[2])
    extract_pixel_features(broken, tmp_path / "store", height=6, progress=True)
    assert (tmp_path / "store" / "p0.npy").stat().st_mtime_ns == kept
    assert not list((tmp_path / "store").glob(".*"))
    assert len(PixelStore.open(tmp_path / "store")) == 3


def test_several_processes_write_the_same_store(pictures, tmp_path):
    one = extract_pixel_features(pictures, tmp_path / "one", height=6)
    two = extract_pixel_features(pictures, tmp_path / "two", height=6, n_jobs=2)
    for i in range(3):
        np.testing.assert_array_equal(one.features(i), two.features(i))


def test_a_store_of_other_settings_is_not_mixed(pictures, tmp_path):
    extract_pixel_features(pictures, tmp_path / "store", height=6)
    with pytest.raises(InvalidInputError, match=r"other pictures or settings .* height 6"):
        extract_pixel_features(pictures, tmp_path / "store", height=7)


def test_wrong_stores_are_refused(pictures, tmp_path):
    with pytest.raises(MissingFileError, match=r"has no meta\.json"):
        PixelStore.open(tmp_path)
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(InvalidInputError, match="is damaged"):
        PixelStore.open(tmp_path)
    (tmp_path / "meta.json").write_text(json.dumps({"version": 99}))
    with pytest.raises(InvalidInputError, match="does not describe pixel features"):
        PixelStore.open(tmp_path)
    with pytest.raises(InvalidInputError, match="'p0' appears twice"):
        extract_pixel_features([pictures[0], pictures[0]], tmp_path / "s")
    with pytest.raises(InvalidInputError, match="got 'int8'"):
        extract_pixel_features(pictures, tmp_path / "s", dtype="int8")


def test_names_in_a_store_cannot_leave_its_folder(pictures, tmp_path):
    extract_pixel_features(pictures, tmp_path / "store", height=6)
    meta = json.loads((tmp_path / "store" / "meta.json").read_text())
    np.save(tmp_path / "outside.npy", np.zeros((36, 135), np.float32))
    meta["names"][0] = "../outside"
    (tmp_path / "store" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(InvalidInputError, match="points outside its folder"):
        PixelStore.open(tmp_path / "store")


@pytest.mark.parametrize("change", [{"names": 3}, {"names": [1]}, {"height": "x"}, {"dtype": "O"}])
def test_a_description_of_another_kind_is_refused(pictures, tmp_path, change):
    extract_pixel_features(pictures, tmp_path / "store", height=6)
    path = tmp_path / "store" / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InvalidInputError, match="does not describe pixel features"):
        PixelStore.open(tmp_path / "store")


def test_a_damaged_file_of_features_is_named(pictures, tmp_path):
    store = extract_pixel_features(pictures, tmp_path / "store", height=6)
    store.path("p0").write_bytes(b"\x93NUMPY")
    np.save(store.path("p1"), np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"p0\.npy is not a readable file of features"):
        store.features(0)
    with pytest.raises(InvalidInputError, match=r"p1\.npy must hold features of shape"):
        store.features(1)
