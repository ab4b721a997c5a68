"""The curves behind the handles: seen against unseen, rejection, and λ."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from zslearn._optional import require
from zslearn.core.nearest import row_norms
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import seen_unseen_curve
from zslearn.serve.responses import RequestError, write_json
from zslearn.serve.studio.collection import Collection
from zslearn.serve.studio.methods import SAE, finite, lam_of

if TYPE_CHECKING:
    from zslearn.serve.studio.session import Session


DTYPES = {"f4": "<f4", "i4": "<i4", "u1": "u1"}
_LENGTH = struct.Struct("<I")
ALIGNMENT = 8


def pack(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a head and arrays as bytes; each part begins at a multiple of eight.

    Parameters
    ----------
    head : mapping
        What JSON can hold. The key ``arrays`` is added: name, type and shape of each.
    arrays : mapping of str to ndarray
        Of float32, int32 or uint8.

    Returns
    -------
    bytes

    Examples
    --------
    >>> packed = pack({"revision": 3}, {"answer": np.array([1, 2], np.int32)})
    >>> int.from_bytes(packed[:4], "little"), len(packed)
    (68, 80)
    """
    listed = [
        {"name": name, "dtype": array.dtype.str[1:], "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    text = write_json({**head, "arrays": listed})
    text += b" " * (-(len(text) + _LENGTH.size) % ALIGNMENT)
    parts = [_LENGTH.pack(len(text)), text]
    for array in arrays.values():
        raw = np.ascontiguousarray(array, DTYPES[array.dtype.str[1:]]).tobytes()
        parts += [raw, bytes(-len(raw) % ALIGNMENT)]
    return b"".join(parts)


# Points of a curve that travel to the browser.
POINTS = 400


def balance_curve(session: Session) -> bytes:
    """Return seen and unseen accuracy for every bias, packed.

    The oracle looks at the labels of the test rows; the bias chosen does not.
    """
    truth, test = session.truth(), session.is_test()
    some = np.flatnonzero(test & (truth >= 0))
    board = session.board()
    names = np.array([str(number) for number in board.ids.tolist()])
    if not len(some):
        raise RequestError(409, "the classes of the samples are not known.")
    try:
        curve = seen_unseen_curve(
            names[truth[some]], board.scores[some], candidates=names, seen=names[board.seen]
        )
    except InvalidInputError as error:
        raise RequestError(
            409, "a curve needs samples of seen and of unseen classes with a description."
        ) from error
    best, now = curve.oracle, curve.at(session.bias())
    kept = np.unique(
        np.append(
            np.linspace(0, len(curve.gammas) - 1, min(POINTS, len(curve.gammas))).astype(int),
            curve.indices_at(np.array([best.gamma, session.bias()])),
        )
    )
    fitted = session.fitted(session.view.state.method)
    chosen = fitted.bias if fitted.is_calibrated else None
    head = {
        "revision": session.view.revision,
        "chosen": chosen,
        "chosen_point": None if chosen is None else _point(curve.at(chosen)),
        "oracle": best.gamma,
        "oracle_point": _point(best),
        "current": session.bias(),
        "seen": now.seen,
        "unseen": now.unseen,
        "h": now.harmonic_mean,
    }
    columns = {
        "bias": curve.gammas,
        "seen": curve.seen,
        "unseen": curve.unseen,
        "h": curve.harmonic_means,
    }
    return pack(head, {name: _f4(column[kept]) for name, column in columns.items()})


def rejection_curve(session: Session) -> bytes:
    """Return how many test rows each threshold rejects and how right the others are, packed."""
    answers, truth, state = session.view.answers, session.truth(), session.view.state
    if session.sure() is None:
        raise RequestError(409, "how sure answers are could not be learned: there are few classes.")
    test = session.is_test()
    sure, choice = session.sureness()[test], session.board().choose(session.bias())
    known, right = (truth >= 0)[test], (choice.best == truth)[test]
    thresholds = np.unique(np.quantile(sure, np.linspace(0, 1, 101)))
    kept = sure[None, :] >= thresholds[:, None]
    n_kept = (kept & known).sum(axis=1)
    accuracy = np.divide(
        (kept & known & right).sum(axis=1), n_kept, out=np.ones(len(n_kept)), where=n_kept > 0
    )
    head = {
        "revision": session.view.revision,
        "on": state.reject,
        "current": finite(session.sure()),
        "n_rejected": answers.summary["n_rejected"],
        "n": int(test.sum()),
    }
    arrays = {"sure": thresholds, "rejected": 1 - kept.mean(axis=1), "accuracy": accuracy}
    return pack(head, {name: _f4(column) for name, column in arrays.items()})


def lam_curves(session: Session) -> dict[str, Any]:
    """Return the accuracy of encoder and decoder on held-out training classes for each λ."""
    method = session.view.state.method
    if method not in SAE:
        raise RequestError(404, "λ belongs to the semantic autoencoder; choose SAE.")
    both = session.methods.fitted("sae-both")
    found = getattr(both.method, "cv_results_", None)
    if not found:
        raise RequestError(404, "there are too few classes to choose λ on.")
    curves: dict[str, list[tuple[float, float]]] = {"encode": [], "decode": []}
    for point, score in zip(found["params"], found["mean_test_score"], strict=True):
        curves[str(point["direction"])].append((float(point["lam"]), float(score)))
    lam = both.method.lam_
    return {
        "values": [value for value, _ in curves["decode"]],
        "encoder": [score for _, score in curves["encode"]],
        "decoder": [score for _, score in curves["decode"]],
        "chosen_encoder": float(lam["encode"]),
        "chosen_decoder": float(lam["decode"]),
        "current": lam_of(session.fitted(method), method),
    }


def _point(point: Any) -> dict[str, float]:
    return {"seen": point.seen, "unseen": point.unseen, "h": point.harmonic_mean}


def _f4(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.clip(values, -3e38, 3e38).astype(np.float32)


# The axes are learned on so many rows, spread over all.
MOST_ROWS = 4000
# Rows that are placed at a time.
BLOCK = 4096
# More rows are placed by UMAP in minutes only.
MOST_UMAP = 20_000


def make_map(session: Session, kind: str) -> NDArray[np.float32]:
    """Return a point for each sample.

    Parameters
    ----------
    session : Session
        The studio.
    kind : {"pca", "attributes", "umap"}
        Principal components of the features, or of the encoded semantics; or UMAP.

    Returns
    -------
    ndarray of shape (n_samples, 2), float32
        Scaled to the square from -1 to 1.
    """
    if kind == "attributes":
        linear = session.fitted(session.view.state.method).linear
        if linear is None:
            raise RequestError(409, "this method does not encode samples; choose SAE or a ridge.")
        X = session.collection.X
        blocks = (X[start : start + BLOCK] for start in range(0, len(X), BLOCK))
        return _scaled(_components(np.vstack([linear.project(block)[0].z for block in blocks])))
    if kind == "umap":
        return _scaled(_umap(session))
    if kind != "pca":
        raise RequestError(404, f"there is no map {kind!r:.40}; there are pca, attributes, umap.")
    return feature_map(session.collection)


def feature_map(collection: Collection) -> NDArray[np.float32]:
    """Return a point for each sample by the principal components of the features."""
    return _scaled(_components(collection.X, unit=True))


def _components(X: NDArray[Any], *, unit: bool = False) -> NDArray[np.floating]:
    """Return the first two principal components, of rows scaled to unit length if asked for."""
    rows = np.asarray(X[:: -(-len(X) // MOST_ROWS)], np.float32)
    rows = normalize(rows) if unit else rows
    pca = PCA(min(2, *rows.shape), svd_solver="randomized", random_state=0).fit(rows)
    found = np.zeros((len(X), 2), np.float32)
    for start in range(0, len(X), BLOCK):
        block = np.asarray(X[start : start + BLOCK], np.float32)
        points = block @ pca.components_.T.astype(np.float32)
        if unit:
            lengths = row_norms(block)
            points /= np.where(lengths > 0, lengths, 1)[:, None]
        found[start : start + BLOCK, : len(pca.components_)] = points
    return found


def _umap(session: Session) -> NDArray[np.floating]:
    umap = require("umap", extra="umap", purpose="This map")
    if session.collection.n > MOST_UMAP:
        raise RequestError(409, f"UMAP takes minutes for more than {MOST_UMAP} samples.")
    rows = normalize(np.asarray(session.collection.X, np.float32))
    found: NDArray[np.floating] = umap.UMAP(random_state=0, n_jobs=1).fit_transform(rows)
    return found


def _scaled(points: NDArray[np.floating]) -> NDArray[np.float32]:
    """Move points to the square from -1 to 1, proportions kept."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = float((high - low).max()) / 2 or 1.0
    return ((points - (low + high) / 2) / half).astype(np.float32)


def pack_map(kind: str, xy: NDArray[np.float32]) -> bytes:
    """Return a map, packed."""
    return pack({"kind": kind}, {"xy": xy})
