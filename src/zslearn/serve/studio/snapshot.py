"""The studio in one HTML file: no server, and sliders that score again in the browser."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn import __version__
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders.pictures import encode_picture, scaled
from zslearn.serve.responses import RequestError, write_json
from zslearn.serve.studio import views
from zslearn.serve.studio.methods import SAE
from zslearn.serve.studio.session import Session

MOST_SAMPLES = 5000
THUMBNAIL = 40
QUALITY = 60
_IMPORT = re.compile(r"^import .*$\n?", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def snapshot_html(
    session: Session, xy: NDArray[np.float32], thumbnails: Sequence[str] | None
) -> bytes:
    """Return the snapshot of a studio.

    Parameters
    ----------
    session : Session
        The studio.
    xy : ndarray of shape (n_samples, 2)
        The map.
    thumbnails : sequence of str or None
        As `snapshot_thumbnails` returns them.

    Returns
    -------
    bytes
    """
    data = write_json(snapshot_data(session, xy) | {"thumbnails": thumbnails}).decode()
    page = _file("snapshot.html")
    parts = {
        "style": f"<style>\n{_joined(page, 'styles')}\n</style>",
        # Names are written by people: nothing in them can end the script.
        "data": '<script type="application/json" id="snapshot-data">'
        + data.replace("<", "\\u003c")
        + "</script>",
        "script": '<script type="module">\n'
        + _EXPORT.sub("", _IMPORT.sub("", _joined(page, "scripts"))).replace("</", "<\\/")
        + "\n</script>",
    }
    for name, content in parts.items():
        page = page.replace(f"<!-- {name} -->", content)
    return page.encode("utf-8")


def snapshot_data(session: Session, xy: NDArray[np.float32]) -> dict[str, Any]:
    """Return what the page needs: classes, projected samples, the map."""
    state, collection = session.view.state, session.collection
    method = state.method if session.fitted(state.method).linear else _instead(session)
    linear = session.fitted(method).linear
    if linear is None:
        raise RequestError(409, "a snapshot needs a linear method; choose SAE first.")
    kept = _some(session)
    samples = linear.project(collection.X[kept])
    answers = session.view.answers
    return {
        "title": f"{collection.name}: {session.project.path.stem}",
        "made_with": f"zslearn {__version__}",
        "data": collection.name,
        "method": session.methods.title(method),
        "n": len(kept),
        "k": collection.signatures.n_dimensions,
        "bias": session.bias(method),
        "reject": session.threshold(method) if state.reject else None,
        "dimensions": views.dimensions_of(session),
        "classes": [
            {
                "id": one.id,
                "name": one.name,
                "seen": one.seen,
                "described": one.described,
                "added": one.added,
                "row": one.row,
            }
            for one in state.described.values()
        ],
        "form": {
            "metric": linear.metric,
            "signature_norm": linear.signature_norm,
            "branches": [
                {
                    "semantic": branch.coef is not None,
                    "gram": _b64(branch.gram, "<f4"),
                    "z": _b64(projected.z, "<f4"),
                    "lengths": _b64(projected.lengths, "<f4"),
                }
                for branch, projected in zip(linear.branches, samples, strict=True)
            ],
        },
        "xy": _b64(xy[kept], "<f4"),
        "truth": _b64(answers.truth[kept], "<i4"),
        "split": _b64(~collection.train[kept], "u1"),
        "answer": _b64(answers.answer[kept], "<i4"),
        "names": None if collection.names is None else [collection.names[i] for i in kept],
    }


def _instead(session: Session) -> str:
    """Return a linear method where the one shown is not."""
    offered = [name for name in SAE if name in session.methods.offered]
    if not offered:
        raise RequestError(409, "a snapshot needs a linear method, such as SAE.")
    session.methods.calibrate(offered[0])
    return offered[0]


def _some(session: Session) -> NDArray[np.intp]:
    """Return the samples of a snapshot: test rows first, evenly spread."""
    n = session.collection.n
    if n <= MOST_SAMPLES:
        return np.arange(n)
    test = np.flatnonzero(~session.collection.train)
    rows = test if len(test) >= MOST_SAMPLES else np.arange(n)
    return rows[np.linspace(0, len(rows) - 1, MOST_SAMPLES).astype(np.intp)]


def snapshot_thumbnails(session: Session) -> list[str] | None:
    """Return small pictures of the samples of a snapshot, as data URIs; None without pictures."""
    picture = session.collection.picture
    if picture is None:
        return None

    def small(row: int) -> str:
        pixels = picture(row, THUMBNAIL)
        factor = THUMBNAIL / max(pixels.shape[:2])
        size = max(1, round(pixels.shape[0] * factor)), max(1, round(pixels.shape[1] * factor))
        content = encode_picture(scaled(pixels, size), QUALITY)
        return "data:image/jpeg;base64," + base64.b64encode(content).decode()

    rows, text, found = _some(session).tolist(), "Making the page", []
    for done, uri in enumerate(map_in_order(small, rows, n_threads())):
        if done % 250 == 0:
            session.events.publish("progress", {"text": text, "done": done, "total": len(rows)})
        found.append(uri)
    session.events.publish("progress", {"text": text, "done": len(rows), "total": len(rows)})
    return found


def _joined(page: str, kind: str) -> str:
    """Return the files that a comment of the page names, one after the other."""
    named = re.search(rf"<!-- {kind}: ([^>]*) -->", page)
    return "\n".join(map(_file, named[1].split())) if named else ""


def _file(name: str) -> str:
    return (files("zslearn.serve.studio") / "page" / name).read_text("utf-8")


def _b64(array: NDArray[Any], dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype).tobytes()).decode()
