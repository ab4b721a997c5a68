"""What a person takes home: the class table, the model, its Python lines, a selection."""

from __future__ import annotations

import copy
import csv
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zslearn import __version__
from zslearn._files import guarded_cell
from zslearn.exceptions import ZslearnError
from zslearn.persistence import save
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.studio.board import NONE
from zslearn.serve.studio.methods import MODEL
from zslearn.serve.studio.session import Session
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking

NOTHING = "none of these"


def class_table(session: Session) -> Signatures:
    """Return the classes on the board."""
    classes = list(session.view.state.described.values())
    table = session.collection.signatures
    rows = np.stack([one.row for one in classes])
    return Signatures([one.name for one in classes], rows, table.dimensions, blocks=table.blocks)


def classes_csv(session: Session) -> bytes:
    """Return the class table as CSV, as `Signatures.from_csv` reads it."""
    table = class_table(session)
    rows = [[name, *row] for name, row in zip(table, table.vectors.tolist(), strict=True)]
    return written([["class", *table.dimensions], *rows])


def selection_csv(session: Session, numbers: Sequence[int]) -> bytes:
    """Return some samples with their answers as CSV."""
    n = session.collection.n
    if not all(0 <= i < n for i in numbers):
        raise refuse(f"ids must be a list of samples, whole numbers from 0 to {n - 1}.")
    data, answers = session.collection, session.view.answers
    names = {one.id: one.name for one in session.view.state.classes.values()} | {NONE: NOTHING}
    header = ["id", "name", "label", "answer", "second", "margin", "trained_on"]
    rows = [
        [
            i,
            "" if data.names is None else data.names[i],
            "" if data.labels is None else str(data.labels[i]),
            names[int(answers.answer[i])],
            names[int(answers.second[i])],
            float(answers.margin[i]),
            int(data.train[i]),
        ]
        for i in numbers
    ]
    return written([header, *rows])


def written(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows as CSV; no cell is run as a formula by a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([guarded_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8")


def model_file(session: Session) -> bytes:
    """Return the model with the classes and the bias of the board, as a model file."""
    with tempfile.TemporaryDirectory(prefix="zslearn-studio-") as folder:
        path = Path(folder) / "model.zsl"
        try:
            save(board_model(session), path)
        except ZslearnError as error:
            raise RequestError(409, f"this model cannot be saved: {error}") from error
        return path.read_bytes()


def board_model(session: Session) -> Any:
    """Return a classifier that answers as the board does."""
    state = session.view.state
    table = class_table(session)
    inner: Any = copy.copy(session.fitted(state.method).classifier)
    inner.signatures = inner.signatures_ = table
    seen = [one.name for one in state.described.values() if one.seen]
    if set(seen) != set(map(str, inner.seen_classes_)):
        raise RequestError(
            409,
            "the model file keeps the classes it was trained on; undo the deletion or the new name "
            "of a training class, or take the Python lines.",
        )
    threshold = session.threshold() if state.reject else None
    model: Any = CalibratedStacking(
        inner.frozen(),
        gamma=session.bias(),
        temperature=1.0,
        confidence="margin",
        threshold=-1.0 if threshold is None else threshold,
    )
    model.estimator_, model.seen_classes_ = inner, inner.seen_classes_
    model.n_features_in_ = inner.n_features_in_
    model.gamma_, model.temperature_ = session.bias(), {"all": 1.0, "unseen": 1.0}
    model.threshold_ = dict.fromkeys(("all", "unseen"), model.threshold)
    model.confidence_, model.curves_, model.cv_results_, model.best_params_ = {}, [], None, {}
    return model


def python_lines(session: Session) -> bytes:
    """Return a program that makes the same model and gives the same answers."""
    state, data = session.view.state, session.collection
    classes = list(state.described.values())
    fitted = session.fitted(state.method).classifier
    start = {one.name: one.row for one in session.start.classes.values()}
    own = [
        one
        for one in classes
        if one.name not in start or not np.array_equal(start[one.name], one.row)
    ]
    if state.method == MODEL:
        made = ["from zslearn.persistence import load", "", "clf = load(MODEL)  # your model file"]
    else:
        chosen = {name: _plain(value) for name, value in fitted.best_params_.items()}
        lam = state.lam.get(state.method)
        chosen |= {} if lam is None else {"lam": lam}
        given = "".join(f", {name}={value!r}" for name, value in chosen.items())
        made = [
            "from zslearn.zero_shot.registry import make_classifier",
            "",
            f"clf = make_classifier({state.method!r}, signatures{given})",
            "clf.fit(X[train], y[train])",
        ]
    lines = [
        f'"""The model of a zslearn studio, made by zslearn {__version__}."""',
        f"# Data: {data.name!r}",
        "",
        "import numpy as np",
        "",
        *data.recipe,
        *made,
        "",
        "# Classes as they were described in the studio.",
        "described = {",
        *(f"    {one.name!r}: {one.row.tolist()!r}," for one in own),
        "}",
        f"names = {[one.name for one in classes]!r}",
        f"seen = {[one.name for one in classes if one.seen]!r}",
        "recognizer = clf.recognizer()",
        "for name, row in described.items():",
        "    recognizer = recognizer.replace(name, row)",
        "recognizer = recognizer.among(names)",
        "",
        f"bias = {session.bias()!r}  # subtracted from the scores of seen classes",
        "scores = recognizer.scores(X) - bias * np.isin(names, seen)",
        "answers = np.array(names)[scores.argmax(axis=1)]",
        *_rejection(session),
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _rejection(session: Session) -> list[str]:
    threshold = session.threshold() if session.view.state.reject else None
    if threshold is None:
        return []
    return [
        "best = np.sort(scores, axis=1)",
        f"unsure = best[:, -1] - best[:, -2] < {threshold!r}",
        f"answers = np.where(unsure, {NOTHING!r}, answers)",
    ]


def _plain(value: Any) -> Any:
    """Return a parameter as Python writes it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value
