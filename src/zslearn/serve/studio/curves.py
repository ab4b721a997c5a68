"""The curves behind the handles: seen against unseen, rejection, and λ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.exceptions import InvalidInputError
from zslearn.metrics import seen_unseen_curve
from zslearn.serve.errors import RequestError
from zslearn.serve.studio.methods import SAE, finite, lam_of
from zslearn.serve.studio.packed import pack
from zslearn.serve.studio.session import Session

# Points of a curve that travel to the browser.
POINTS = 400


def balance_curve(session: Session) -> bytes:
    """Return seen and unseen accuracy for every bias, packed.

    The oracle looks at the labels of the test rows; the bias chosen does not.
    """
    truth, test = session.truth(), ~session.collection.train
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
    state = session.view.state
    learned = session.methods.calibration(state.method, state.lam.get(state.method))
    head = {
        "revision": session.view.revision,
        "chosen": None if learned is None else learned.bias,
        "chosen_point": None if learned is None else _point(curve.at(learned.bias)),
        "oracle": best.gamma,
        "oracle_point": _point(best),
        "current": session.bias(),
        "seen": now.seen,
        "unseen": now.unseen,
        "h": now.harmonic_mean,
        "area": curve.area,
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
    answers, truth = session.view.answers, session.truth()
    test = ~session.collection.train
    choice = session.board().choose(session.bias())
    margin = choice.margin[test]
    known, right = (truth >= 0)[test], (choice.best == truth)[test]
    thresholds = np.unique(np.quantile(margin, np.linspace(0, 1, 101)))
    kept = margin[None, :] >= thresholds[:, None]
    n_kept = (kept & known).sum(axis=1)
    accuracy = np.divide(
        (kept & known & right).sum(axis=1), n_kept, out=np.ones(len(n_kept)), where=n_kept > 0
    )
    head = {
        "revision": session.view.revision,
        "on": session.view.state.reject,
        "current": finite(session.threshold()),
        "n_rejected": answers.summary["n_rejected"],
        "n": int(test.sum()),
    }
    arrays = {"threshold": thresholds, "rejected": 1 - kept.mean(axis=1), "accuracy": accuracy}
    return pack(head, {name: _f4(column) for name, column in arrays.items()})


def lam_curves(session: Session) -> dict[str, Any]:
    """Return the accuracy of encoder and decoder on held-out training classes for each λ."""
    method = session.view.state.method
    if method not in SAE:
        raise RequestError(404, "λ belongs to the semantic autoencoder; choose SAE.")
    both = session.methods.fitted("sae-both")
    found = getattr(both.classifier, "cv_results_", None)
    if not found:
        raise RequestError(404, "there are too few classes to choose λ on.")
    curves: dict[str, list[tuple[float, float]]] = {"encode": [], "decode": []}
    for point, score in zip(found["params"], found["mean_test_score"], strict=True):
        curves[str(point["direction"])].append((float(point["lam"]), float(score)))
    lam = both.classifier.lam_
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
