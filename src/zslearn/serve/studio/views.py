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
from zslearn.serve.studio.methods import finite, lam_of
from zslearn.serve.studio.session import Session, View
from zslearn.serve.studio.state import BoardClass, Example

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
    every = session.candidates(state=view.state).values()
    others = [other for other in every if other.id != one.id and not other.alone]
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
    known = [one for one in session.view.state.described.values() if not one.alone]
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
    fitted = session.fitted(state.method)
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
            "drop": session.drops.kind,
            "truth": data.labels is not None,
            "maps": maps_of(session),
        },
        "methods": [
            {"id": name, "name": session.methods.title(name)} for name in session.methods.offered
        ],
        "method": state.method,
        "learns": fitted.learns,
        "description_counts_as": finite(fitted.model.kappa_) if fitted.learns else None,
        "compare": state.compare,
        "dimensions": dimensions_of(session),
        "classes": _classes(session, view),
        "suggestion": suggestion(session),
        "summary": view.answers.summary,
        "two": None if view.two is None else _two(session, view),
        "balance": {
            "bias": session.bias(),
            "chosen": fitted.bias if fitted.is_calibrated else None,
        },
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
    test = session.is_test().astype(np.uint8)
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
    some = (answers.truth != NONE) & session.is_test()
    truth, given = answers.truth[some], answers.answer[some]
    matrix = np.zeros((n, n + 1), np.int32)
    if len(truth):
        np.add.at(matrix, (place(truth), place(given)), 1)
    return pack({"revision": session.view.revision, "ids": answers.ids}, {"matrix": matrix})


def class_of(session: Session, one: BoardClass) -> dict[str, Any]:
    """Return a class with its signature."""
    candidates = session.candidates()
    return _class(one) | {"row": _sent(one), "described": one.id in candidates}


def sample_of(session: Session, number: int, against: BoardClass | None = None) -> dict[str, Any]:
    """Return the card of a sample: its ranking, and what spoke for and against its answer."""
    data, view = session.collection, session.view
    x = session.vector(number)
    scores = session.board().biased(session.bias())[number]
    truth, answer = int(session.truth_ids()[number]), int(view.answers.answer[number])
    own = int(view.answers.truth[number])
    return {
        "id": number,
        "name": None if data.names is None else data.names[number],
        "text": None if data.texts is None else data.texts[number],
        "label": None if data.labels is None else str(data.labels[number]),
        "truth": truth,
        "margin": float(view.answers.margin[number]),
        "test": bool(session.is_test()[number]),
        "example": _class_of_example(session, number),
        **_answered(session, x, scores, answer, own, against),
    }


def dropped_of(session: Session, number: int, against: BoardClass | None = None) -> dict[str, Any]:
    """Return the card of a photograph or text that a visitor brought."""
    drop, state = session.drops.get(number), session.view.state
    board = session.board()
    whole = board.whole(session.candidates())
    scores = whole.scores(drop.vector[None])[0] - session.bias() * board.seen
    answer = int(board.ids[scores.argmax()])
    if state.reject and (level := session.sure()) is not None:
        made = session.model()
        recognizer = made.classifier.recognizer(list(made.keys))
        answer = answer if recognizer.confidence(drop.vector[None])[0] >= level else NONE
    taught = [
        number
        for number, examples in state.examples.items()
        if any(one.key == session.drops.example(drop.number).key for one in examples)
    ]
    return {
        "id": drop.number,
        "dropped": True,
        "name": drop.title,
        "face": None if session.drops.kind == "text" else drop.face,
        "text": drop.face if session.drops.kind == "text" else None,
        "truth": NONE,
        "example": taught[0] if taught else None,
        **_answered(session, drop.vector, scores, answer, NONE, against),
    }


def _answered(
    session: Session,
    x: NDArray[Any],
    scores: NDArray[Any],
    answer: int,
    truth: int,
    against: BoardClass | None,
) -> dict[str, Any]:
    """Return what is said of one sample, given its biased scores."""
    board, linear = session.board(), session.fitted(session.view.state.method).linear
    encoded = None if linear is None else linear.project(x[None])[0].z[0]
    order = board.ids[np.argsort(-scores, kind="stable")]
    return {
        "answer": answer,
        "ranking": ranking(session, scores),
        "calibrated": session.fitted(session.view.state.method).is_calibrated,
        "encoded": encoded,
        "encoded_range": None if encoded is None else session.encoded_range(),
        "reasons": _reasons(session, x, order, answer, truth, against),
    }


def _class_of_example(session: Session, number: int) -> int | None:
    """Return the class that a sample is an example of; None if it is none."""
    name = session.sample_name(number)
    for own, examples in session.view.state.examples.items():
        if any(one.sample == name for one in examples):
            return own
    return None


def intervened(session: Session, number: int, changes: dict[int, float]) -> dict[str, Any]:
    """Return the ranking of a sample whose encoded semantics were corrected."""
    view, x = session.view, session.vector(number)
    linear = session.fitted(view.state.method).linear
    if linear is None:
        raise RequestError(409, "this method does not encode samples; choose SAE or a ridge.")
    board = session.board()
    samples = linear.project(x[None])
    rows = np.stack([one.row for one in session.candidates().values()])
    scores = linear.scores(linear.moved(samples, changes) if changes else samples, rows)[0]
    scores = scores - session.bias() * board.seen
    best = ranking(session, scores)
    return {"ranking": best, "answer": best[0]["class"]}


def ranking(session: Session, scores: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the best classes with their scores, and probabilities if they can be believed."""
    ids, order = session.board().ids, np.argsort(-scores, kind="stable")[:RANKED]
    likely = session.probabilities(np.asarray(scores, np.float64))
    return [
        {
            "class": int(ids[i]),
            "score": float(scores[i]),
            "probability": None if likely is None else float(likely[i]),
        }
        for i in order
    ]


def maps_of(session: Session) -> list[str]:
    """Return the kinds of maps that can be drawn."""
    kinds = ["pca"]
    if session.fitted(session.view.state.method).linear is not None:
        kinds.append("attributes")
    return kinds + (["umap"] if importlib.util.find_spec("umap") is not None else [])


def is_text(session: Session) -> bool:
    """Say whether classes can be described by sentences that a text encoder reads."""
    return text_encoder_of(session.collection.signatures) is not None


def _reasons(
    session: Session,
    x: NDArray[Any],
    order: NDArray[np.int32],
    answer: int,
    truth: int,
    against: BoardClass | None,
) -> dict[str, Any] | None:
    """Return what speaks for the answer and for another class; differences sum to the scores'."""
    board, classes = session.board(), session.view.state.classes
    given = int(order[0]) if answer == NONE else answer
    right = against.id if against is not None else truth
    if right in (NONE, given):
        others = order[order != given]
        if not len(others):
            return None
        right = int(others[0])
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
    found = _compared(whys, offsets, session.collection.signatures.dimensions)
    says = [[one._asdict() for one in why.removals] for why in whys]
    return {"right": right, "given": given, "note": whys[1].note, **found} | {
        "says_right": says[0],
        "says_given": says[1],
    }


def _compared(whys: Sequence[Any], offsets: list[float], known: tuple[str, ...]) -> dict[str, Any]:
    one, other = whys
    by_index = one.dimensions == known
    differences = (other.contributions - one.contributions).tolist()
    order = sorted(range(len(differences)), key=lambda place: -abs(differences[place]))
    parts = [
        {
            ("index" if by_index else "name"): (place if by_index else one.dimensions[place]),
            "right": float(one.contributions[place]),
            "given": float(other.contributions[place]),
            "difference": differences[place],
            "right_has": _has(one, place),
            "given_has": _has(other, place),
        }
        for place in order
    ]
    offset = offsets[1] - offsets[0]
    return {
        "dimensions": parts,
        "offset_difference": offset,
        "score_difference": offset + sum(differences),
    }


def _has(why: Any, place: int) -> bool | None:
    """Say whether a class has a trait, compared with what its score begins from."""
    return None if why.deviations is None else bool(why.deviations[place] > 0)


def dimensions_of(session: Session) -> list[dict[str, Any]]:
    """Return the dimensions, each with its range over the training classes."""
    table, groups = session.collection.signatures, session.collection.groups
    low, high = session.ranges()
    known = session.start.known
    rows = np.stack([one.row for one in known])
    names = [_at_ends(known, column) for column in rows.T]
    between = np.any((rows > low) & (rows < high), axis=0).tolist()
    named = [bool(one) for one in session.collection.named]
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
            "least": names[i][0],
            "most": names[i][1],
            "either": not between[i],
            "meaningful": named[i],
            "group": group[i],
        }
        for i, name in enumerate(table.dimensions)
    ]


def _at_ends(known: Sequence[BoardClass], column: NDArray[np.float64]) -> tuple[str, str]:
    """Return the class with the least and that with the most, or how many have as much."""
    places = [np.flatnonzero(column == end) for end in (column.min(), column.max())]
    least, most = (known[at[0]].name if len(at) == 1 else f"{len(at)} classes" for at in places)
    return least, most


def _class(one: BoardClass) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "seen": one.seen,
        "added": one.added,
        "changed": one.changed,
        "alone": one.alone,
        "label": one.label,
        "text": "" if one.told is None else " ".join(one.told.texts),
    }


def _example(session: Session, one: Example) -> dict[str, Any]:
    number = None if one.sample is None else session.place(one.sample)
    return {"key": one.key, "title": one.title, "sample": number, "face": one.face}


def _classes(session: Session, view: View) -> list[dict[str, Any]]:
    figures = {one["id"]: one for one in (*view.answers.by_class(), *_waiting(session))}
    candidates = session.candidates(state=view.state)
    short = all(len(one.row) <= SENT_DIMENSIONS for one in view.state.classes.values())
    return [
        _class(one)
        | {"described": one.id in candidates}
        | figures[one.id]
        | ({"row": _sent(one)} if short else {})
        | {"examples": [_example(session, each) for each in view.state.examples.get(one.id, ())]}
        for one in view.state.classes.values()
    ]


def _waiting(session: Session) -> list[dict[str, Any]]:
    """Return the figures of classes that cannot be answered, since nobody has described them."""
    test, ids, candidates = session.is_test(), session.truth_ids(), session.candidates()
    found = []
    for one in session.view.state.classes.values():
        if one.id not in candidates:
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
        "undo": done.done[-1].get("what", "the change before") if done.done else None,
        "redo": done.undone[0].get("what", "the change after") if done.undone else None,
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


def _reject(session: Session) -> dict[str, Any] | None:
    on = session.view.state.reject
    return {"on": on, "sure": finite(session.sure()), "chosen": finite(session.learned_sure())}


def _lam(session: Session) -> dict[str, Any] | None:
    method = session.view.state.method
    value = lam_of(session.fitted(method), method)
    if value is None:
        return None
    return {"value": value, "chosen": lam_of(session.methods.fitted(method), method)}
