"""What the page is told: the state, the answers, the card of a sample."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.encoders import text_encoder_of
from zslearn.exceptions import InvalidInputError
from zslearn.serve.responses import RequestError
from zslearn.serve.studio.board import NONE
from zslearn.serve.studio.charts import pack
from zslearn.serve.studio.edits import BoardClass
from zslearn.serve.studio.methods import finite, lam_of
from zslearn.serve.studio.session import Session, View

# Two rows are nearly equal below this distance, in parts of the range of the training classes.
NEAR = 0.05
# A class that takes so many times its share of all answers is a hub.
GREEDY = 4.0
SHOWN = 3


def cautions(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    """Return what is odd about a class as it is described now.

    Parameters
    ----------
    session : Session
        The studio.
    view : View
        The answers with this class.
    one : BoardClass
        The class.

    Returns
    -------
    list of dict
        Each with `kind` ("near", "hub" or "range"), `text`, and perhaps `class`.
    """
    return [*_near(session, view, one), *_hub(view, one), *_range(session, one)]


def nearest(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    """Return the classes whose descriptions are most alike, with their distance."""
    low, high = session.ranges()
    spread = np.where(high > low, high - low, 1.0)
    others = [other for other in view.state.described.values() if other.id != one.id]
    if not others:
        return []
    rows = np.stack([other.row for other in others])
    distances = np.sqrt((((rows - one.row) / spread) ** 2).mean(axis=1))
    order = np.argsort(distances, kind="stable")[:SHOWN]
    return [{"class": others[i].id, "distance": float(distances[i])} for i in order]


def _near(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    found = nearest(session, view, one)
    if not found or found[0]["distance"] >= NEAR:
        return []
    other = view.state.classes[found[0]["class"]]
    how = "the same description as" if found[0]["distance"] == 0 else "nearly the description of"
    return [{"kind": "near", "text": f"{one.name} has {how} {other.name}.", "class": other.id}]


def _hub(view: View, one: BoardClass) -> list[dict[str, Any]]:
    answers = view.answers
    place = int(np.flatnonzero(answers.ids == one.id)[0])
    taken, n = int(answers.taken[place]), len(answers.answer)
    share = max(n / len(answers.ids), float(answers.rows[place]))
    if taken <= GREEDY * share or taken < 10:
        return []
    text = f"{one.name} takes {taken} of {n} samples ({taken / n:.0%}), far more than its share."
    return [{"kind": "hub", "text": text}]


def _range(session: Session, one: BoardClass) -> list[dict[str, Any]]:
    low, high = session.ranges()
    slack = 1e-9 * np.maximum(np.abs(low), np.abs(high))
    # A sentence lies outside in some of an encoder's numbers as a rule, and nobody can read them.
    readable = session.collection.named
    outside = np.flatnonzero(readable & ((one.row < low - slack) | (one.row > high + slack)))
    if not len(outside):
        return []
    names = [session.collection.signatures.dimensions[i] for i in outside[:SHOWN]]
    more = f" and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
    text = f"outside the range of the training classes: {', '.join(names)}{more}."
    return [{"kind": "range", "text": text}]


# Words of a suggestion at most, and what each must bring, in squared parts of the range.
MOST, LEAST = 4, 0.05


def suggestion(session: Session) -> dict[str, str] | None:
    """Return a class that waits for its description, and a phrase for it; None if none waits.

    The phrase names the described class that is nearest and what differs most.
    """
    hidden = session.collection.hidden
    if hidden is None:
        return None
    state = session.view.state
    for name in map(str, hidden.names):
        if state.waiting(name) is not None and state.described:
            return {"name": name, "text": _phrase(session, hidden[name])}
    return None


def _phrase(session: Session, row: NDArray[np.float64]) -> str:
    """Return the class and the few words that come nearest to a signature."""
    low, high = session.ranges()
    spread = np.where(high > low, high - low, 1.0)
    known = list(session.view.state.described.values())
    wanted = (row - low) / spread
    rows = (np.stack([one.row for one in known]) - low) / spread
    # A word sets a value to the upper or the lower end; what lies between is left to the sliders.
    words = np.where(wanted >= 0.5, 1.0, 0.0)
    gains = (rows - wanted) ** 2 - (words - wanted) ** 2
    order = np.argsort(-gains, axis=1, kind="stable")[:, :MOST]
    best = np.take_along_axis(gains, order, axis=1).clip(0).sum(axis=1)
    place = int((((rows - wanted) ** 2).sum(axis=1) - best).argmin())
    said = [int(i) for i in order[place] if gains[place, i] > LEAST]
    names = session.collection.signatures.dimensions
    # Where attributes exclude each other, "ring" says "not star" already.
    exclude = session.collection.groups is not None
    texts = [names[i] for i in said if words[i]]
    if not exclude:
        texts = [names[i] if words[i] else f"not {names[i]}" for i in said]
    text = f"like {known[place].name}"
    return f"{text}, but {', '.join(texts)}" if texts else text


RANKED = 10
BEGINNING = 160  # letters of a text that travel with the labels; its card has all of them
# Rows of classes travel with the state up to so many numbers per class.
SENT_DIMENSIONS = 2000


def state_of(session: Session) -> dict[str, Any]:
    """Return everything but arrays of samples."""
    view = session.view
    state, data = view.state, session.collection
    return {
        "revision": view.revision,
        "ready": True,
        "progress": None,
        "notice": data.notice,
        "project": {"name": session.project.path.stem, "file": str(session.project.path)},
        "data": {
            "n": data.n,
            "name": data.name,
            "pictures": data.picture is not None,
            "unit": data.unit,
            "truth": data.labels is not None,
            "maps": maps_of(session),
        },
        "methods": [_method(session, name) for name in session.methods.offered],
        "method": state.method,
        "compare": state.compare,
        "dimensions": dimensions_of(session),
        "classes": _classes(session, view),
        "suggestion": suggestion(session),
        "summary": view.answers.summary,
        "two": None if view.two is None else _two(session, view),
        "balance": _balance(session),
        "reject": _reject(session),
        "lam": _lam(session),
        "text": is_text(session),
        **_steps(session),
    }


def answers_of(session: Session, view: View, *, of_two: bool = False, **more: Any) -> bytes:
    """Return the answers to all samples, packed; those of the method compared with `of_two`."""
    answers = view.two if of_two else view.answers
    if answers is None:
        raise RequestError(404, "no method is compared.")
    head = {
        "revision": view.revision,
        "classes": [*answers.by_class(), *_waiting(session)],
        "summary": answers.summary,
        **_steps(session),
        "reject": _reject(session),
        "bias": session.bias(),
        **more,
    }
    arrays = {"answer": answers.answer, "margin": answers.margin}
    if view.two is not None:
        head["two"] = _two(session, view)
        arrays["answer2"] = view.two.answer
    return pack(head, arrays)


def labels_of(session: Session) -> bytes:
    """Return truth and split of all samples, packed."""
    test = (~session.collection.train).astype(np.uint8)
    texts = session.collection.texts
    head = {
        "revision": session.view.revision,
        "names": session.collection.names,
        "texts": None if texts is None else [_begun(text) for text in texts],
    }
    return pack(head, {"truth": session.truth_ids().astype(np.int32), "split": test})


def _begun(text: str) -> str:
    """Return the beginning of a text, for a tile or below the pointer."""
    return text if len(text) <= BEGINNING else f"{text[:BEGINNING]} …"


def confusion_of(session: Session) -> bytes:
    """Return how often each class is answered for each; the last column is "none of these"."""
    answers = session.view.answers
    places = {number: place for place, number in enumerate(answers.ids.tolist())}
    n = len(answers.ids)
    place = np.vectorize(lambda number: places.get(number, n), otypes=[np.intp])
    some = (answers.truth != NONE) & ~session.collection.train
    truth, given = answers.truth[some], answers.answer[some]
    matrix = np.zeros((n, n + 1), np.int32)
    if len(truth):
        np.add.at(matrix, (place(truth), place(given)), 1)
    return pack({"revision": session.view.revision, "ids": answers.ids}, {"matrix": matrix})


def class_of(session: Session, one: BoardClass) -> dict[str, Any]:
    """Return a class with its signature."""
    return _class(one) | {"row": _sent(one)}


def sample_of(session: Session, number: int, against: BoardClass | None = None) -> dict[str, Any]:
    """Return the card of a sample: its ranking, and what spoke for and against its answer."""
    data, view = session.collection, session.view
    _check_sample(session, number)
    board = session.board()
    scores = board.biased(session.bias())[number]
    truth, answer = int(session.truth_ids()[number]), int(view.answers.answer[number])
    linear = session.fitted(view.state.method).linear
    encoded = None if linear is None else linear.project(data.X[number : number + 1])[0].z[0]
    return {
        "id": number,
        "name": None if data.names is None else data.names[number],
        "text": None if data.texts is None else data.texts[number],
        "label": None if data.labels is None else str(data.labels[number]),
        "truth": truth,
        "answer": answer,
        "second": int(view.answers.second[number]),
        "margin": float(view.answers.margin[number]),
        "test": bool(~data.train[number]),
        "ranking": ranking(board.ids, scores),
        "encoded": encoded,
        "encoded_range": None if encoded is None else session.encoded_range(),
        "reasons": _reasons(session, number, against),
    }


def intervened(session: Session, number: int, changes: dict[int, float]) -> dict[str, Any]:
    """Return the ranking of a sample whose encoded semantics were corrected."""
    _check_sample(session, number)
    view = session.view
    linear = session.fitted(view.state.method).linear
    if linear is None:
        raise RequestError(409, "this method does not encode samples; choose SAE or a ridge.")
    board = session.board()
    samples = linear.project(session.collection.X[number : number + 1])
    rows = np.stack([one.row for one in view.state.described.values()])
    scores = linear.scores(linear.moved(samples, changes) if changes else samples, rows)[0]
    scores = scores - session.bias() * board.seen
    best = ranking(board.ids, scores)
    return {"ranking": best, "answer": best[0]["class"]}


def ranking(ids: NDArray[np.int32], scores: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the best classes and their scores."""
    order = np.argsort(-scores, kind="stable")[:RANKED]
    return [{"class": int(ids[i]), "score": float(scores[i])} for i in order]


def maps_of(session: Session) -> list[str]:
    """Return the kinds of maps that can be drawn."""
    kinds = ["pca"]
    if session.fitted(session.view.state.method).linear is not None:
        kinds.append("attributes")
    return kinds + (["umap"] if importlib.util.find_spec("umap") is not None else [])


def is_text(session: Session) -> bool:
    """Say whether classes can be described by sentences that a text encoder reads."""
    return text_encoder_of(session.collection.signatures) is not None


def _check_sample(session: Session, number: int) -> None:
    if not 0 <= number < session.collection.n:
        raise RequestError(404, f"there is no sample {number}.")


def _reasons(session: Session, number: int, against: BoardClass | None) -> dict[str, Any] | None:
    """Return what each dimension adds to two scores; the differences sum to that of the scores."""
    view, board = session.view, session.board()
    answers, classes = view.answers, view.state.classes
    truth, answer = int(answers.truth[number]), int(answers.answer[number])
    if answer == NONE:
        column = int(board.biased(session.bias())[number].argmax())
        answer = int(board.ids[column])
    right = against.id if against is not None else truth
    given = answer
    if right in (NONE, answer):
        right, given = answer, int(answers.second[number])
    if right == given:
        return None
    x = session.collection.X[number]
    try:
        whys = [
            board.with_class(classes[c]).explain(x, board.key(classes[c])) for c in (right, given)
        ]
    except InvalidInputError:
        return None
    offsets = [
        why.offset - session.bias() * classes[c].seen
        for why, c in zip(whys, (right, given), strict=True)
    ]
    return _compared(whys, offsets, right, given, session.collection.signatures.dimensions)


def _compared(
    whys: Sequence[Any], offsets: list[float], right: int, given: int, known: tuple[str, ...]
) -> dict[str, Any]:
    by_index = whys[0].dimensions == known
    parts = [
        {
            ("index" if by_index else "name"): (place if by_index else name),
            "right": float(one),
            "given": float(other),
            "difference": float(other - one),
        }
        for place, (name, one, other) in enumerate(
            zip(whys[0].dimensions, whys[0].contributions, whys[1].contributions, strict=True)
        )
    ]
    parts.sort(key=lambda part: -abs(part["difference"]))
    offset = offsets[1] - offsets[0]
    return {
        "right": right,
        "given": given,
        "dimensions": parts,
        "offset_difference": offset,
        "score_difference": offset + sum(part["difference"] for part in parts),
    }


def _method(session: Session, name: str) -> dict[str, Any]:
    lam = session.view.state.lam.get(name)
    is_fitted = session.methods.is_fitted(name, lam)
    linear = is_fitted and session.methods.fitted(name, lam).linear is not None
    return {
        "id": name,
        "name": session.methods.title(name),
        "fitted": is_fitted,
        "linear": linear,
        "encodes": linear,
    }


def dimensions_of(session: Session) -> list[dict[str, Any]]:
    """Return the dimensions, each with its range over the training classes."""
    table, groups = session.collection.signatures, session.collection.groups
    low, high = session.ranges()
    named = session.collection.named.tolist()
    blocks = dict(table.blocks)
    group: list[str | None] = [None] * len(table.dimensions) if groups is None else list(groups)
    if groups is None and len(blocks) > 1:
        for block, columns in blocks.items():
            group[columns] = [block] * len(group[columns])
    return [
        {
            "name": name,
            "low": float(low[i]),
            "high": float(high[i]),
            "meaningful": named[i],
            "group": group[i],
        }
        for i, name in enumerate(table.dimensions)
    ]


def _class(one: BoardClass) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "seen": one.seen,
        "described": one.described,
        "added": one.added,
        "changed": one.changed,
        "label": one.label,
    }


def _classes(session: Session, view: View) -> list[dict[str, Any]]:
    figures = {one["id"]: one for one in (*view.answers.by_class(), *_waiting(session))}
    short = all(len(one.row) <= SENT_DIMENSIONS for one in view.state.classes.values())
    return [
        _class(one) | figures[one.id] | ({"row": _sent(one)} if short else {})
        for one in view.state.classes.values()
    ]


def _waiting(session: Session) -> list[dict[str, Any]]:
    """Return the figures of classes that samples have and nobody has described."""
    test, ids = ~session.collection.train, session.truth_ids()
    found = []
    for one in session.view.state.classes.values():
        if not one.described:
            own = ids == one.id
            figures: dict[str, Any] = {
                "id": one.id,
                "count": int((own & test).sum()),
                "rows": int(own.sum()),
            }
            found.append(figures | {"right": 0, "answered": 0, "taken": 0, "accuracy": None})
    return found


def _sent(one: BoardClass) -> NDArray[np.float64] | None:
    return one.row if one.described else None


def _steps(session: Session) -> dict[str, str | None]:
    """Return what undo and redo would do."""
    done = session.project.edits()
    return {
        "undo": done.done[-1]["what"] if done.done else None,
        "redo": done.undone[0]["what"] if done.undone else None,
    }


def _two(session: Session, view: View) -> dict[str, Any]:
    if view.two is None or view.state.compare is None:
        return {}
    return {
        "method": view.state.compare,
        "summary": view.two.summary,
        "classes": view.two.by_class(),
        "bias": session.bias(view.state.compare),
        "agree": float((view.two.answer == view.answers.answer).mean()),
    }


def _balance(session: Session) -> dict[str, Any]:
    state = session.view.state
    learned = session.methods.calibration(state.method, state.lam.get(state.method))
    low, high = session.gaps()
    return {
        "bias": session.bias(),
        "chosen": None if learned is None else learned.bias,
        "oracle": None,
        "low": low,
        "high": high,
    }


def _reject(session: Session) -> dict[str, Any]:
    state = session.view.state
    learned = session.methods.calibration(state.method, state.lam.get(state.method))
    return {
        "on": state.reject,
        "threshold": finite(session.threshold()),
        "chosen": finite(None if learned is None else learned.threshold),
    }


def _lam(session: Session) -> dict[str, Any] | None:
    method = session.view.state.method
    value = lam_of(session.fitted(method), method)
    if value is None:
        return None
    return {"value": value, "chosen": lam_of(session.methods.fitted(method), method)}
