"""Files that announce what is not there, point elsewhere, or would run code are refused."""

import json

import h5py
import numcodecs
import numpy as np
import pyarrow as pa
import pytest
import zarr
from pyarrow import parquet

from zslearn.encoders.store import NpyFile
from zslearn.exceptions import InvalidInputError
from zslearn.scale import open_source

X = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([0, 1, 1, 0])


class Trap:
    """Something that acts when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        import os

        return os.mkdir, (self.path,)


def write_zarr(path, zarr_format=3, **options):
    group = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
    group.create_array("X", data=X, chunks=(2, 3), **options)
    group.create_array("y", data=Y)
    return path


def changed(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def read(source):
    return np.concatenate([block.X for block in source.blocks(2)])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_zarr_group_whose_codec_would_run_code_is_refused(tmp_path, zarr_format):
    path = write_zarr(tmp_path / "a.zarr", zarr_format)
    chunk = numcodecs.Pickle().encode(np.array([Trap(tmp_path / "sprung")] * 6, object))
    if zarr_format == 2:
        pickled = {"filters": [{"id": "pickle", "protocol": 5}], "compressor": None}
        changed(path / "X" / ".zarray", dtype="|O", fill_value=None, **pickled)
        changed(path / "y" / ".zarray", **pickled)
        (path / "X" / "0.0").write_bytes(chunk)
    else:
        codecs = [{"name": "numcodecs.pickle", "configuration": {}}]
        sharded = {"name": "sharding_indexed", "configuration": {"codecs": codecs}}
        changed(path / "X" / "zarr.json", codecs=[sharded])
    with pytest.raises(InvalidInputError, match=r"never objects|'numcodecs\.pickle', which is not"):
        open_source(path)
    with pytest.raises(InvalidInputError, match="pickle', which is not on the list"):
        open_source(path, keys=("y", "X") if zarr_format == 2 else ("X", "y"))
    assert not (tmp_path / "sprung").exists()


def test_consolidated_metadata_cannot_bring_another_codec(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", 2)
    zarr.consolidate_metadata(str(path))
    document = json.loads((path / ".zmetadata").read_text())
    document["metadata"]["X/.zarray"]["filters"] = [{"id": "pickle", "protocol": 5}]
    (path / ".zmetadata").write_text(json.dumps(document))
    np.testing.assert_array_equal(read(open_source(path)), X)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_ordinary_codecs_of_zarr_are_read(tmp_path, zarr_format):
    codec = zarr.codecs.GzipCodec() if zarr_format == 3 else numcodecs.GZip()
    path = write_zarr(tmp_path / "a.zarr", zarr_format, compressors=[codec])
    np.testing.assert_array_equal(read(open_source(path)), X)
    sharded = write_zarr(tmp_path / "b.zarr", shards=(4, 3))
    np.testing.assert_array_equal(read(open_source(sharded)), X)


@pytest.mark.parametrize("name", ["../b.zarr/X", "/etc"])
def test_names_in_a_zarr_group_cannot_leave_it(tmp_path, name):
    path = write_zarr(tmp_path / "a.zarr")
    write_zarr(tmp_path / "b.zarr")
    with pytest.raises(InvalidInputError, match="points outside its folder"):
        open_source(path, keys=(name, "y"))


@pytest.mark.parametrize("dtype", [pa.list_(pa.float32()), pa.large_list(pa.float64())])
@pytest.mark.parametrize("rows", [[[1, 2, 3], [4, 5], [6, 7, 8, 9]], [[1, 2, 3], [4, 5], [6]]])
def test_lists_of_several_lengths_are_not_shifted(tmp_path, rows, dtype):
    table = pa.table({"features": pa.array(rows, dtype), "label": [0, 1, 0]})
    parquet.write_table(table, tmp_path / "a.parquet")
    source = open_source(tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="lists or binary values of one length"):
        list(source.blocks(10))


def test_blocks_of_another_width_than_the_first_are_refused(tmp_path):
    rows = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0], [6.0]], pa.list_(pa.float64()))
    parquet.write_table(pa.table({"X": rows, "y": Y}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="of one length"):
        list(open_source(tmp_path / "a.parquet").blocks(2))


def test_values_missing_within_lists_and_binary_of_odd_size_are_refused(tmp_path):
    for number, column in enumerate(
        (pa.array([[1.0, None], [1.0, 2.0]]), pa.array([b"12345", b"12345"], pa.binary(5)))
    ):
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(pa.table({"X": column, "y": [0, 1]}), path)
        with pytest.raises(InvalidInputError, match="of one length"):
            list(open_source(path).blocks(2))


def test_sliced_and_chunked_lists_are_read_right(tmp_path):
    column = pa.array(list(X), pa.list_(pa.float32()))
    parquet.write_table(pa.table({"X": column, "y": Y}), tmp_path / "a.parquet", 3)
    np.testing.assert_array_equal(read(open_source(tmp_path / "a.parquet")), X)


def write_hdf5(path):
    with h5py.File(path, "w") as file:
        file["X"], file["y"] = X, Y
    return path


def test_links_and_storage_outside_an_hdf5_file_are_refused(tmp_path):
    write_hdf5(tmp_path / "other.h5")
    (tmp_path / "raw.bin").write_bytes(X.tobytes())
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["y"] = Y
        file["external"] = h5py.ExternalLink("other.h5", "/X")
        file["soft"] = h5py.SoftLink("/external")
        file.create_dataset("raw", X.shape, X.dtype, external=[(tmp_path / "raw.bin", 0, 48)])
        layout = h5py.VirtualLayout(X.shape, X.dtype)
        layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "X", X.shape)
        file.create_virtual_dataset("virtual", layout)
    for name, message in {
        "external": "'external' is a link to another place",
        "soft": "'soft' is a link to another place",
        "raw": "'raw' keeps its data in another file",
        "virtual": "'virtual' keeps its data in another file",
    }.items():
        with pytest.raises(InvalidInputError, match=message):
            open_source(tmp_path / "a.h5", keys=(name, "y"))


def test_an_announcement_without_data_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = X
        file.create_dataset("y", (10**12,), "i8", chunks=(1024,))
    with pytest.raises(InvalidInputError, match=r"'y' claims the shape \(1000000000000,\)"):
        open_source(tmp_path / "a.h5")


def test_a_group_where_a_data_set_is_expected(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["y"] = Y
        file.create_group("X")
    with pytest.raises(InvalidInputError, match="'X' is a group"):
        open_source(tmp_path / "a.h5")


def test_a_header_of_negative_shape_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content.replace(b"(4, 3)", b"(-4,3)"))
    with pytest.raises(InvalidInputError, match="must hold a matrix"):
        NpyFile(tmp_path / "a.npy")
