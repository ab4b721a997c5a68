"""Samples as points of a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from zslearn._optional import require
from zslearn.core.nearest import row_norms
from zslearn.serve.errors import RequestError
from zslearn.serve.studio.collection import Collection
from zslearn.serve.studio.packed import pack
from zslearn.serve.studio.session import Session

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
