import json

import numpy as np
import pytest

from zslearn.datasets import make_imagenet_like
from zslearn.encoders import write_store
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.scale import StoreSource, fit_batches, open_source
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((250, 6)).astype(np.float32)
    return X, rng.integers(0, 4, 250)


def content(source, block_rows=64, skip=0):
    """All rows a source gives, with the numbers of the blocks' first rows."""
    blocks = list(source.blocks(block_rows, skip))
    X = np.concatenate([block.X for block in blocks])
    return X, np.concatenate([block.y for block in blocks]), [block.first for block in blocks]


def as_store(path, X, y):
    return write_store(path / "store", [(X[:100], y[:100]), (X[100:], y[100:])], shard_rows=70)


def as_npy(path, X, y):
    np.save(path / "X.npy", X)
    np.save(path / "labels.npy", y)
    return path / "X.npy", path / "labels.npy"


def as_columns(path, X, y):
    np.save(path / "X.npy", np.asfortranarray(X))
    return path / "X.npy", y


def as_memmap(path, X, y):
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r"), y


def as_hdf5(path, X, y):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "data.h5", "w") as file:
        file["features"], file["labels"] = X, y.astype(float)
    return path / "data.h5"


def as_matlab(path, X, y):
    """MATLAB 7.3: axes reversed, labels as a column of doubles, 512 bytes of text in front."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path / "data.mat", "w", userblock_size=512) as file:
        file["X"], file["y"] = X.T, y.astype(float)[None]
    return path / "data.mat"


def as_zarr(path, X, y):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(path / "data.zarr"), mode="w")
    group.create_array("X", data=X, chunks=(50, 6))
    group.create_array("y", data=y)
    return path / "data.zarr"


def parquet(path, X, y, column):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pa.table({"features": column(pa), "label": y}), path / "data.parquet", 90)
    return path / "data.parquet"


def as_parquet_lists(path, X, y):
    return parquet(path, X, y, lambda pa: pa.array(list(X), pa.list_(pa.float32())))


def as_parquet_fixed_lists(path, X, y):
    return parquet(path, X, y, lambda pa: pa.array(list(X), pa.list_(pa.float32(), 6)))


def as_parquet_binary(path, X, y):
    return parquet(path, X, y, lambda pa: pa.array([x.tobytes() for x in X], pa.binary(24)))


FORMATS = [
    as_store,
    as_npy,
    as_columns,
    as_memmap,
    as_hdf5,
    as_matlab,
    as_zarr,
    as_parquet_lists,
    as_parquet_fixed_lists,
    as_parquet_binary,
]


@pytest.mark.parametrize("written", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path, rows, written):
    what = written(tmp_path, *rows)
    source = open_source(*what) if isinstance(what, tuple) else open_source(what)
    X, y, firsts = content(source)
    np.testing.assert_array_equal(X, rows[0])
    np.testing.assert_array_equal(y, rows[1])
    assert (source.n_rows, source.n_features, firsts) == (250, 6, [0, 64, 128, 192])
    np.testing.assert_array_equal(source.labels(), rows[1])
    X, _, firsts = content(source, skip=2)
    assert firsts == [128, 192]
    np.testing.assert_array_equal(X, rows[0][128:])
    json.dumps(source.identity())


def test_several_files_are_read_as_one(tmp_path, rows):
    X, y = rows
    for number, part in enumerate((slice(0, 90), slice(90, 250))):
        (tmp_path / str(number)).mkdir()
        write_store(tmp_path / str(number), [(X[part], y[part])])
    source = open_source([tmp_path / "0", tmp_path / "1"])
    got, labels, firsts = content(source)
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(labels, y)
    assert firsts == [0, 64, 90, 154, 218]
    assert content(source, skip=3)[2] == [154, 218]


def test_keys_name_what_is_called_otherwise(tmp_path, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        file["pool5"], file["wnid"] = rows[0], np.array([f"n{c}" for c in rows[1]], dtype="S")
    with pytest.raises(InvalidInputError, match=r"has no features under .* it holds pool5, wnid"):
        open_source(tmp_path / "odd.h5")
    source = open_source(tmp_path / "odd.h5", keys=("pool5", "wnid"))
    assert source.labels()[0] == f"n{rows[1][0]}"
    with pytest.raises(InvalidInputError, match="has no 'fc7'"):
        open_source(tmp_path / "odd.h5", keys=("fc7", "wnid"))


def test_a_store_of_seen_and_unseen_classes_trains_on_the_seen_ones(tmp_path):
    folder = make_imagenet_like(
        tmp_path / "big", n_seen=8, n_unseen=3, n_samples=200, n_features=6, n_dimensions=5
    )
    table = Signatures.from_npz(folder / "signatures.npz")
    model = fit_batches(SAEClassifier(table, lam=1.0), folder, block_rows=32)
    names = (folder / "seen.txt").read_text().split("\n")[:8]
    assert sorted(model.seen_classes_.tolist()) == sorted(names)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_stores_keep_the_precision_asked_for(tmp_path, rows, dtype):
    store = StoreSource(write_store(tmp_path / "s", [rows], dtype=dtype))
    assert store.read(0, 10).dtype == dtype
    np.testing.assert_array_equal(store.read(5, 200), rows[0][5:200].astype(dtype))


def test_stores_are_not_overwritten_and_need_known_numbers(tmp_path, rows):
    write_store(tmp_path / "s", [rows])
    with pytest.raises(InvalidInputError, match="holds features already"):
        write_store(tmp_path / "s", [rows])
    with pytest.raises(InvalidInputError, match="dtype must be"):
        write_store(tmp_path / "t", [rows], dtype="int8")


def test_what_cannot_be_opened_is_named(tmp_path, rows):
    X, y = rows
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "a.csv").write_text("1,2\n")
    (tmp_path / "b.h5").write_text("no HDF5")
    (tmp_path / "c.parquet").write_text("no Parquet")
    (tmp_path / "empty").mkdir()
    cases = [
        ((tmp_path / "gone.npy",), MissingFileError, "no file or folder"),
        ((tmp_path / "X.npy",), InvalidInputError, "holds no labels"),
        ((tmp_path / "a.csv",), InvalidInputError, "got '.csv'"),
        ((tmp_path / "b.h5",), InvalidInputError, "not a readable HDF5"),
        ((tmp_path / "c.parquet",), InvalidInputError, "not a readable Parquet"),
        ((tmp_path / "empty",), MissingFileError, "no complete store"),
        ((X,), InvalidInputError, "needs its labels"),
        ((X, y[:5]), InvalidInputError, "one entry per sample"),
        ((7,), InvalidInputError, "got int"),
    ]
    for arguments, kind, message in cases:
        with pytest.raises(kind, match=message):
            open_source(*arguments)
