"""Pictures, stores of their features and encoders: small whole files, and how each is read."""

import json

import numpy as np


def write_pictures(folder):
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    for name in ("a.png", "a.jpg", "a.tif", "a.bmp", "a.ppm", "a.webp"):
        keep = {"exif": exif} if name[2:] in ("png", "jpg", "webp") else {}
        Image.fromarray(pixels).save(folder / name, **keep)
    Image.fromarray(pixels[:, :, 0].astype(np.uint16) * 257).save(folder / "deep.png")


def read_pictures(folder):
    from zslearn.encoders.pictures import picture_size, read_rgb

    for path in sorted(folder.iterdir()):
        picture_size(path)
        read_rgb(path, height=5)


def write_pixel_store(folder):
    from PIL import Image

    from zslearn.cluster import extract_pixel_features

    Image.new("RGB", (8, 4), "red").save(folder / "red.png")
    extract_pixel_features([folder / "red.png"], folder / "store", height=6)


def read_pixel_store(folder):
    from zslearn.cluster import PixelStore

    store = PixelStore.open(folder / "store")
    return [store.features(i).shape for i in range(len(store))]


def write_list(folder):
    from PIL import Image

    for name in ("a.png", "b.png", "c.png"):
        Image.new("RGB", (4, 3), "red").save(folder / name)
    (folder / "labels.csv").write_text("picture,class\na.png,cat\nb.png,dog\nc.png,cat\n")


def read_list(folder):
    from zslearn.encoders import find_pictures

    return find_pictures(folder, folder / "labels.csv")


def write_encoder(folder):
    from tests.encoders.tiny_onnx import write_onnx

    write_onnx(folder / "net.onnx")


def read_encoder(folder):
    from zslearn.encoders import ImageEncoder

    pixels = np.zeros((1, 5, 6, 3), dtype=np.uint8)
    return ImageEncoder(f"onnx:{folder / 'net.onnx'}", n_jobs=1).transform(pixels)


def write_store(folder):
    """Write a store of pictures, with vectors made up: their encoder does not matter."""
    from zslearn.encoders import EncoderIdentity
    from zslearn.encoders.store import KIND, write_json, write_labels, write_vectors

    store = folder / "store"
    store.mkdir()
    write_vectors(store / "X.npy", iter(np.ones((3, 2), dtype=np.float32)), 3)
    samples = {"names": ["a.png", "b.png", "c.png"], "sha256": ["0a", "0b", "0c"]}
    write_json(store / "samples.json", samples)
    encoder = EncoderIdentity("minilm", "ab" * 32, {"views": "flip"}).as_dict()
    meta = {"kind": KIND, "version": 1, "n_features": 2, "dtype": "float32", "rows": [3]}
    meta |= {"classes": write_labels(store, ["cat", "dog", "cat"]), "encoder": encoder}
    write_json(store / "meta.json", meta | {"refused": {"d.png": "cut off"}, "duplicates": []})


def write_new_store(folder):
    """Write a store of texts, as it is written now."""
    from tests.encoders.tiny_text import letter_encoder
    from zslearn.encoders import Sample, build_store

    texts = ["where is my card", "money back, please", "a long text " * 9]
    samples = [Sample(str(i), text, "card") for i, text in enumerate(texts)]
    build_store(samples, folder / "store", letter_encoder())


def read_store(folder):
    from zslearn.encoders import Store
    from zslearn.scale import open_source

    store = Store.open(folder / "store")
    source = open_source(folder / "store")
    shapes = [block.X.shape for block in source.blocks(2)]
    return str(store.encoder), store.y, shapes, store.samples.texts


def write_text_table(folder):
    texts = 'Where is my card?,card\n"Money, please",refund\nWhere is it?,card\n'
    (folder / "tickets.csv").write_text("text,category\n" + texts)
    lines = [{"text": "Where is my card?", "category": "card"}, {"text": "x", "category": "y"}]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "tickets.jsonl").write_text(content)


def read_text_table(folder):
    from zslearn.encoders import read_texts

    for name in ("tickets.csv", "tickets.jsonl"):
        read_texts(folder / name, text="text", labels="category")
