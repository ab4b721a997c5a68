"""Every reader with small whole files to damage; each writes them to a folder and reads them."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.fuzz import picture_targets, word_targets

X = np.random.default_rng(0).standard_normal((6, 4))
NAMES = ["cat", "dog", "fox"]
Y = [NAMES[i] for i in (0, 1, 2, 0, 1, 2)]
CLASSES = [0, 1, 2, 0, 1, 2]


@dataclass(frozen=True)
class Target:
    """How whole files are written to a folder, and how damaged ones are read."""

    write: Callable[[Path], None]
    read: Callable[[Path], object]


def rows(source):
    """Read everything a source gives."""
    return [(block.X.shape, block.y[0]) for block in source.blocks(4)], source.labels()


def write_npy(folder):
    np.save(folder / "x.npy", X)


def read_npy(folder):
    from zslearn.datasets import load_features
    from zslearn.scale import open_source

    load_features(folder / "x.npy")
    return rows(open_source(folder / "x.npy", Y))


def write_npz(folder):
    np.savez(folder / "a.npz", X=X, y=Y)
    np.savez_compressed(folder / "b.npz", X=X)


def read_npz(folder):
    from zslearn.datasets import load_features
    from zslearn.datasets.table import read_labels

    for name in ("a.npz", "b.npz"):
        load_features(folder / name)
    return read_labels(folder / "a.npz")


def write_mat5(folder):
    from scipy.io import savemat

    parts = {"x": X, "names": np.array(NAMES, object)[:, None], "s": {"t": "text", "m": X[:2]}}
    savemat(folder / "a.mat", parts | {"n": np.arange(6, dtype=np.uint8)})
    savemat(folder / "b.mat", parts, do_compression=True)


def read_mat5(folder):
    from zslearn.datasets.matlab import matlab_names, read_matlab

    return [(matlab_names(path), read_matlab(path)) for path in sorted(folder.glob("*.mat"))]


def write_xlsa17(folder):
    from tests.datasets.xlsa17_folder import write_folder

    write_folder(folder / "CUB")


def read_folder(folder):
    from zslearn.datasets import open_dataset

    return open_dataset(next(folder.iterdir())).X.shape


def write_mat73(folder):
    import h5py

    with h5py.File(folder / "a.mat", "w", userblock_size=512) as file:
        file["x"] = X.T
        file.create_dataset("z", data=X, chunks=(3, 4), compression="gzip")
        cells = [
            file.create_dataset(f"#refs#/{n}", data=np.uint16(list(map(ord, n)))) for n in NAMES
        ]
        file["names"] = np.array([[cell.ref for cell in cells]], dtype=h5py.ref_dtype)


def write_csv(folder):
    lines = [",".join([f"p{i}", Y[i], *map(repr, X[i].tolist())]) for i in range(6)]
    (folder / "x.csv").write_text("\n".join(["photo,label,a,b,c,d", *lines]))
    european = [";".join(f"{v:.3f}".replace(".", ",") for v in row) for row in X]
    (folder / "e.csv").write_text("\n".join(["a;b;c;d", *european]))
    (folder / "y.txt").write_text("\n".join(Y))


def read_csv(folder):
    from zslearn._files import read_names
    from zslearn.datasets import load_features, load_table

    table = {name: [i, 1] for i, name in enumerate(NAMES)}
    load_features(folder / "e.csv")
    read_names(folder / "y.txt")
    load_table(folder / "e.csv", folder / "y.txt", table)
    return load_table(folder / "x.csv", "label", table).X.shape


def write_tables(folder):
    """The same small table in every form that is neither CSV nor Parquet."""
    import json

    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=Y)
    frame.to_csv(folder / "x.tsv", sep="\t", index=False)
    frame.to_csv(folder / "x.csv", sep="|", encoding="utf-16")
    lines = frame.to_dict("records")
    (folder / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    frame.to_feather(folder / "x.feather")
    (folder / "s.tsv").write_text("class\tstriped\tswims\ncat\tyes\tx\ndog\tno\t\nfox\tyes\t\n")


def read_tables(folder):
    from zslearn.datasets import load_table

    return [load_table(path, "label", folder / "s.tsv").X.shape for path in folder.glob("x.*")]


def write_excel(folder):
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["photo", "a", "b"], ["p", 1.5, 2], ["q", 3, 4.25]]:
        book.active.append(row)
    book.save(folder / "x.xlsx")


def read_excel(folder):
    from zslearn.datasets import load_features

    return load_features(folder / "x.xlsx").shape


def write_parquet(folder):
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"p{i}" for i in range(6)])
    frame.assign(label=Y).to_parquet(folder / "t.parquet")
    lists = pa.array(list(X), pa.list_(pa.float64()))
    binary = pa.array([row.tobytes() for row in X.astype(np.float32)], pa.binary(16))
    parquet.write_table(pa.table({"features": lists, "label": Y}), folder / "l.parquet")
    parquet.write_table(pa.table({"features": binary, "label": CLASSES}), folder / "b.parquet")


def read_parquet(folder):
    from zslearn.datasets import load_table
    from zslearn.scale import open_source

    for name in ("l.parquet", "b.parquet"):
        rows(open_source(folder / name))
    return load_table(folder / "t.parquet", "label", {n: [1, i] for i, n in enumerate(NAMES)})


def write_hdf5(folder):
    import h5py

    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(3, 4), compression="gzip")
        file["y"] = np.array(Y, "S")


def read_hdf5(folder):
    from zslearn.scale import open_source

    return rows(open_source(folder / "a.h5"))


def write_zarr(folder):
    import zarr

    for version in (2, 3):
        group = zarr.open_group(str(folder / f"{version}.zarr"), mode="w", zarr_format=version)
        group.create_array("X", data=X, chunks=(3, 4))
        group.create_array("y", data=np.array(CLASSES))


def read_zarr(folder):
    from zslearn.scale import open_source

    return [rows(open_source(folder / f"{version}.zarr")) for version in (2, 3)]


def write_signatures(folder):
    from zslearn.signatures import Signatures

    table = Signatures(NAMES, [[1.5, 2], [0, 1], [3, 4]], ["stripes", "tail"])
    table.to_csv(folder / "s.csv")
    table.to_npz(folder / "s.npz")


def read_signatures(folder):
    from zslearn.signatures import Signatures

    Signatures.from_npz(folder / "s.npz")
    return Signatures.from_csv(folder / "s.csv")


def write_checkpoint(folder):
    from zslearn.scale import Checkpoint

    Checkpoint(folder / "c.npz").write("me", {"sums": X, "blocks": np.array(3)})


def read_checkpoint(folder):
    from zslearn.scale import Checkpoint

    return Checkpoint(folder / "c.npz").read("me")


def write_results(folder):
    from zslearn.reproduce import ResultsFile

    results = ResultsFile(folder / "r.jsonl")
    for key in ("a", "b", "ü"):
        results.add({"key": key, "status": "ok", "accuracy": 0.5, "chosen": {"lam": 1.0}})


def read_results(folder):
    from zslearn.reproduce import ResultsFile

    return ResultsFile(folder / "r.jsonl").rows()


def write_store(folder):
    from zslearn.encoders import write_store

    write_store(folder / "store", [(X, Y)], shard_rows=4)


def read_store(folder):
    from zslearn.scale import open_source

    return rows(open_source(folder / "store"))


def write_large(folder):
    from zslearn.datasets import make_imagenet_like

    sizes = {"n_seen": 3, "n_unseen": 2, "n_samples": 10, "n_features": 4, "n_dimensions": 3}
    make_imagenet_like(folder / "large", **sizes)


def read_large(folder):
    from zslearn.datasets import open_dataset

    data = open_dataset(folder / "large")
    return np.array(data.X), data.signatures.vectors


def write_archives(folder):
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("top/a.txt", "one" * 50)
        file.writestr("top/deep/b.txt", "two")
    for ending in ("gz", "xz"):
        with tarfile.open(folder / f"a.tar.{ending}", f"w:{ending}") as file:
            member = tarfile.TarInfo("top/a.txt")
            member.size = 150
            file.addfile(member, io.BytesIO(b"one" * 50))


def read_archives(folder):
    import tempfile

    from zslearn.datasets.downloads import unpack

    with tempfile.TemporaryDirectory() as out:
        for path in sorted(folder.iterdir()):
            unpack(path, Path(out, path.name))
        assert all(path.is_relative_to(out) for path in Path(out).rglob("*"))


def write_model(folder):
    from zslearn.persistence import save
    from zslearn.zero_shot import SAEClassifier

    save(
        SAEClassifier({n: [i, 1, i * i] for i, n in enumerate(NAMES)}, lam=1.0).fit(X, Y),
        folder / "m.zsl",
    )


def read_model(folder):
    from zslearn.persistence import load

    return load(folder / "m.zsl").predict(X)


def write_pipeline(folder):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from zslearn.persistence import save
    from zslearn.zero_shot import SAEClassifier

    table = {n: [i, 1, i * i] for i, n in enumerate(NAMES)}
    pipeline = make_pipeline(StandardScaler(), PCA(3), SAEClassifier(table, lam=1.0))
    save(pipeline.fit(X, Y), folder / "m.zsl")


def write_moments(folder):
    from zslearn.persistence import save_moments
    from zslearn.scale import gather

    save_moments(gather(learner(), X[:3], Y[:3]), folder / "a.zsm")
    save_moments(gather(learner(), X[3:], Y[3:]), folder / "b.zsm")


def read_moments(folder):
    from zslearn.persistence import merge_moments

    return learner().learn(merge_moments(sorted(folder.glob("*.zsm")))).predict(X)


def learner():
    from zslearn.zero_shot import SAEClassifier

    return SAEClassifier({n: [i, 1, i * i] for i, n in enumerate(NAMES)}, lam=1.0)


TARGETS = {
    "npy": Target(write_npy, read_npy),
    "npz": Target(write_npz, read_npz),
    "mat5": Target(write_mat5, read_mat5),
    "mat73": Target(write_mat73, read_mat5),
    "xlsa17": Target(write_xlsa17, read_folder),
    "csv": Target(write_csv, read_csv),
    "tables": Target(write_tables, read_tables),
    "excel": Target(write_excel, read_excel),
    "parquet": Target(write_parquet, read_parquet),
    "hdf5": Target(write_hdf5, read_hdf5),
    "zarr": Target(write_zarr, read_zarr),
    "signatures": Target(write_signatures, read_signatures),
    "checkpoint": Target(write_checkpoint, read_checkpoint),
    "results": Target(write_results, read_results),
    "pictures": Target(picture_targets.write_pictures, picture_targets.read_pictures),
    "pixel_store": Target(picture_targets.write_pixel_store, picture_targets.read_pixel_store),
    "store": Target(write_store, read_store),
    "archives": Target(write_archives, read_archives),
    "large": Target(write_large, read_large),
    "picture_store": Target(picture_targets.write_store, picture_targets.read_store),
    "text_store": Target(picture_targets.write_new_store, picture_targets.read_store),
    "text_table": Target(picture_targets.write_text_table, picture_targets.read_text_table),
    "picture_list": Target(picture_targets.write_list, picture_targets.read_list),
    "encoder": Target(picture_targets.write_encoder, picture_targets.read_encoder),
    "word_vectors": Target(word_targets.write_vectors, word_targets.read_vectors),
    "wordnet": Target(word_targets.write_nouns, word_targets.read_nouns),
    "descriptions": Target(word_targets.write_texts, word_targets.read_texts),
    "model": Target(write_model, read_model),
    "pipeline": Target(write_pipeline, read_model),
    "moments": Target(write_moments, read_moments),
}
