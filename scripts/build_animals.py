"""Build the bundled animals data set from its sources.

Usage: python scripts/build_animals.py SOURCE [TARGET]

SOURCE holds animals28/animals28_effnet_lite2.npz (features and labels) and awa_original/ (the text
files of Animals with Attributes). The same sources give the same bytes. Word vectors and
photographs of the source are left out on purpose: only the features and the attribute table may be
passed on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "src/zslearn/datasets/data/animals28.npz"


def main() -> None:
    """Read the sources and write the archive."""
    parser = argparse.ArgumentParser(description="Build the bundled animals data set.")
    parser.add_argument("source", type=Path, help="folder with animals28/ and awa_original/")
    parser.add_argument("target", type=Path, nargs="?", default=TARGET, help="file to write")
    arguments = parser.parse_args()
    np.savez_compressed(arguments.target, allow_pickle=False, **build(arguments.source))


def build(source: Path) -> dict[str, NDArray]:
    """Return the arrays of the archive."""
    with np.load(source / "animals28/animals28_effnet_lite2.npz", allow_pickle=False) as archive:
        stored = {name: archive[name] for name in archive.files}
    classes = stored["class_names"]
    continuous = read_table(source / "awa_original", "continuous", classes)
    return {
        "X": stored["X"].astype(np.float16),
        "y": stored["y"].astype(np.uint8),
        "class_names": classes,
        "attribute_names": np.array(read_names(source / "awa_original/predicates.txt")),
        # The source marks missing values by −1.
        "attributes": np.maximum(continuous, 0).astype(np.float32),
        "binary_attributes": read_table(source / "awa_original", "binary", classes).astype(
            np.uint8
        ),
        "standard_unseen": stored["ss_test_classes"].astype(np.uint8),
        "proposed_unseen": stored["ps_test_classes"].astype(np.uint8),
        "image_files": stored["image_files"],
    }


def read_names(path: Path) -> list[str]:
    """Read a numbered list of names."""
    return [line.split()[1] for line in path.read_text().splitlines()]


def read_table(folder: Path, kind: str, classes: NDArray) -> NDArray:
    """Read the rows of an attribute table that belong to `classes`."""
    names = read_names(folder / "classes.txt")
    table = np.loadtxt(folder / f"predicate-matrix-{kind}.txt")
    return table[[names.index(name) for name in classes]]


if __name__ == "__main__":
    main()
