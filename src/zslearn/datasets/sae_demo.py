"""The data files that came with the authors' code for the semantic autoencoder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets.dataset import SAE, ClassSplit, ZeroShotDataset
from zslearn.datasets.matlab import read_indices, read_matlab, read_matrix
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures

# The same thing is called differently in the AwA, the CUB and the ImNet-2 file.
_TRAIN_LABELS = ("train_labels", "train_labels_cub", "train_labels_awa")
_TEST_LABELS = ("test_labels", "test_labels_cub", "test_labels_awa", "Y_te")
_TEST_CLASSES = ("testclasses_id", "te_cl_id", "X_te_cl_id")


def load_sae_demo(path: str | os.PathLike[str]) -> ZeroShotDataset:
    """Load ``awa_demo_data.mat``, ``cub_demo_data.mat`` or ``ImNet_2_demo_data.mat``.

    These are the files of the demos that reach the figures of the paper: features ``X_tr`` and
    ``X_te``, the signature ``S_tr`` of each training sample, signatures ``S_te_pro`` of the unseen
    classes, and the labels. All matrices have samples as rows.

    Parameters
    ----------
    path : path-like
        The ``.mat`` file, of MATLAB version 5 or 7.3. Training labels are ``train_labels_cub``, the
        one-hot matrix ``Y``, or ``param.train_labels``; a file without them is read too, if its
        training samples share a class exactly when they share a signature. Test labels are
        ``param.test_labels``, ``test_labels_cub`` or ``Y_te``, and the order of the rows of
        ``S_te_pro`` is ``param.testclasses_id``, ``te_cl_id`` or ``X_te_cl_id``.

    Returns
    -------
    ZeroShotDataset
        Classes are called "seen 1", "unseen 1" and so on by the numbers in the file, which may
        overlap between the two sides. The split "standard" trains on the rows of ``X_tr`` and tests
        on those of ``X_te``. Where ``S_te_gt`` differs from ``S_te_pro``, as the AwA demo allows,
        it is the space "ground truth".

    Raises
    ------
    MissingFileError
        If there is no such file.
    InvalidInputError
        If it is damaged, lacks a part, or a class has two signatures.

    References
    ----------
    E. Kodirov, T. Xiang, S. Gong. Semantic autoencoder for zero-shot learning. CVPR 2017.

    Examples
    --------
    >>> from zslearn.datasets import load_sae_demo
    >>> load_sae_demo("awa_demo_data.mat").X.shape  # doctest: +SKIP
    (30475, 1024)
    """
    file = Path(path)
    stored = read_matlab(file)
    param = stored.pop("param", {})
    if isinstance(param, dict):
        stored |= {name: value for name, value in param.items() if name not in stored}
    _check_parts(stored, file)
    seen_rows, seen_names, seen_vectors = _seen(stored, file)
    test_rows, unseen_names = _unseen(stored, file)
    names = np.array([*seen_names, *unseen_names])
    y = np.concatenate([names[seen_rows], names[len(seen_names) + test_rows]])
    n_train = len(seen_rows)
    return ZeroShotDataset(
        name=file.stem.removesuffix("_data").removesuffix("_demo"),
        X=np.concatenate([stored["X_tr"], stored["X_te"]]),
        y=y,
        semantics=_spaces(stored, names, seen_vectors),
        splits={
            "standard": ClassSplit(
                seen_names,
                unseen_names,
                train=np.arange(n_train),
                test_unseen=np.arange(n_train, len(y)),
            )
        },
        features=f"{stored['X_tr'].shape[1]} dimensions, as in the file",
        source=f"{file.name}, data of the authors' demo",
        citation=SAE,
    )


def _check_parts(stored: dict[str, Any], file: Path) -> None:
    """Check that the matrices are there and fit together."""
    lacking = [name for name in ("X_tr", "X_te", "S_tr", "S_te_pro") if name not in stored]
    if lacking:
        raise InvalidInputError(
            f"{file} has no {', '.join(lacking)}; it holds {', '.join(stored) or 'nothing'}. This "
            "is not one of the data files of the authors' demos."
        )
    X_tr, X_te, S_tr, S_te = (
        read_matrix(stored, name, file) for name in ("X_tr", "X_te", "S_tr", "S_te_pro")
    )
    if X_tr.shape[1] != X_te.shape[1] or len(X_tr) != len(S_tr) or S_tr.shape[1] != S_te.shape[1]:
        raise InvalidInputError(
            f"{file}: X_tr {X_tr.shape}, X_te {X_te.shape}, S_tr {S_tr.shape} and S_te_pro "
            f"{S_te.shape} do not fit together; samples and classes are rows."
        )


def _vector(stored: dict[str, Any], names: tuple[str, ...], file: Path) -> NDArray[np.intp] | None:
    """Return the first of the named vectors that is there."""
    present = [name for name in names if name in stored]
    return read_indices(stored, present[0], file) if present else None


def _seen(stored: dict[str, Any], file: Path) -> tuple[NDArray[np.intp], list[str], NDArray[Any]]:
    """Return the position of the class of each training row, class names and signatures."""
    S = np.asarray(stored["S_tr"], np.float64)
    labels = _vector(stored, _TRAIN_LABELS, file)
    if labels is None and "Y" in stored and len(read_matrix(stored, "Y", file)) == len(S):
        labels = np.argmax(stored["Y"], axis=1) + 1
    if labels is None:
        vectors, rows = np.unique(S, axis=0, return_inverse=True)
        return rows.ravel(), [f"seen {number}" for number in range(1, len(vectors) + 1)], vectors
    if len(labels) != len(S):
        raise InvalidInputError(f"{file}: {len(S)} training rows have {len(labels)} labels.")
    numbers, first, rows = np.unique(labels, return_index=True, return_inverse=True)
    vectors = S[first]
    wrong = ~np.isclose(S, vectors[rows], rtol=1e-6, atol=1e-9).all(axis=1)
    if wrong.any():
        raise InvalidInputError(
            f"{file}: training rows of class {labels[np.argmax(wrong)]} differ in their signature "
            f"(row {np.argmax(wrong)} of S_tr); a class must have one."
        )
    return rows, [f"seen {number}" for number in numbers], vectors


def _unseen(stored: dict[str, Any], file: Path) -> tuple[NDArray[np.intp], list[str]]:
    """Return the row of `S_te_pro` of each test row, and the class names in its order."""
    labels, order = (_vector(stored, names, file) for names in (_TEST_LABELS, _TEST_CLASSES))
    if labels is None or order is None:
        what, names = (
            ("test labels", _TEST_LABELS) if labels is None else ("test classes", _TEST_CLASSES)
        )
        raise InvalidInputError(f"{file} has no {what}; looked for {', '.join(names)}.")
    if len(order) != len(stored["S_te_pro"]) or len(labels) != len(stored["X_te"]):
        raise InvalidInputError(
            f"{file}: {len(order)} test classes for {len(stored['S_te_pro'])} rows of S_te_pro, "
            f"{len(labels)} test labels for {len(stored['X_te'])} rows of X_te."
        )
    position = {number: row for row, number in enumerate(order.tolist())}
    unknown = [number for number in np.unique(labels).tolist() if number not in position]
    if unknown:
        raise InvalidInputError(f"{file}: test label {unknown[0]} is not among the test classes.")
    rows = np.array([position[number] for number in labels.tolist()], np.intp)
    return rows, [f"unseen {number}" for number in order]


def _spaces(stored: dict[str, Any], names: NDArray[Any], seen: Any) -> dict[str, Signatures]:
    """Return the semantic space, and the other table of unseen classes where it differs."""
    spaces = {"signatures": Signatures(names, np.concatenate([seen, stored["S_te_pro"]]))}
    truth = stored.get("S_te_gt")
    if isinstance(truth, np.ndarray) and truth.shape == stored["S_te_pro"].shape:
        if not np.array_equal(truth, stored["S_te_pro"]):
            spaces["ground truth"] = Signatures(names, np.concatenate([seen, truth]))
    return spaces
