"""What a person takes home: the class table, the model, its Python lines, a selection."""

from __future__ import annotations

import copy
import csv
import io
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from zslearn import __version__
from zslearn._files import guarded_cell
from zslearn._pipelines import set_signatures
from zslearn.encoders import remember_encoder
from zslearn.evaluation import Shown, answer_held_out, report_page
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.persistence import save
from zslearn.serve.edit_log import packed
from zslearn.serve.responses import RequestError, refuse
from zslearn.serve.studio.board import NONE
from zslearn.serve.studio.methods import MODEL, stacked
from zslearn.serve.studio.session import BoardModel, Session
from zslearn.serve.studio.state import table_of
from zslearn.zero_shot import CalibratedStacking

NOTHING = "none of these"
REPORTED = 176  # pixels of a picture on the report page


def classes_csv(session: Session) -> bytes:
    """Return the class table as CSV, as `Signatures.from_csv` reads it."""
    # Classes that are known by examples alone have no line.
    table = table_of(session.view.state, session.collection.signatures)
    rows = [[name, *row] for name, row in zip(table, table.vectors.tolist(), strict=True)]
    return written([["class", *table.dimensions], *rows])


def selection_csv(session: Session, numbers: Sequence[int]) -> bytes:
    """Return some samples with their answers as CSV."""
    n = session.collection.n
    if not all(0 <= i < n for i in numbers):
        raise refuse(f"ids must be a list of samples, whole numbers from 0 to {n - 1}.")
    data, answers = session.collection, session.view.answers
    names = {one.id: one.name for one in session.view.state.classes.values()} | {NONE: NOTHING}
    header = ["id", "name", "label", "answer", "probability", "second", "margin", "trained_on"]
    scores = session.board().biased(session.bias())
    rows = [
        [
            i,
            "" if data.names is None else data.names[i],
            "" if data.labels is None else str(data.labels[i]),
            names[int(answers.answer[i])],
            _best(session.probabilities(scores[i])),
            names[int(answers.second[i])],
            float(answers.margin[i]),
            int(data.train[i]),
        ]
        for i in numbers
    ]
    return written([header, *rows])


def _best(probabilities: NDArray[np.float64] | None) -> float | str:
    return "" if probabilities is None else float(probabilities.max())


def written(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows as CSV; no cell is run as a formula by a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([guarded_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8")


def model_file(session: Session) -> bytes:
    """Return the model with the classes, examples and bias of the board, as a model file."""
    with tempfile.TemporaryDirectory(prefix="zslearn-studio-") as folder:
        path = Path(folder) / "model.zsl"
        try:
            save(board_model(session), path)
        except ZslearnError as error:
            raise RequestError(409, f"this model cannot be saved: {error}") from error
        return path.read_bytes()


def board_model(session: Session) -> Any:
    """Return a classifier that answers as the board does, for raw samples of its encoder."""
    state, data = session.view.state, session.collection
    made = session.model()
    for key, number in made.keys.items():
        one = state.classes[number]
        if str(key) != one.name:
            kind = "a class that was trained on" if one.seen else "one of whole numbers"
            raise RequestError(
                409,
                f"{one.name!r} is the new name of {kind}, and the model file keeps its own; undo "
                "it, or take the Python lines.",
            )
    model = made.classifier
    seen = {one.name for one in state.described.values() if one.seen}
    if seen != set(map(str, model.seen_classes_)):
        raise RequestError(
            409,
            "the model file keeps the classes it was trained on; undo their deletion, or take the "
            "Python lines.",
        )
    if hasattr(model, "threshold_") and state.method in state.sure:
        model.threshold_ = dict.fromkeys(("all", "unseen"), state.sure[state.method])
    if data.steps:
        model = behind_steps(model, data.steps)
    remember_encoder(model, data.encoder)
    return model


class Reported(NamedTuple):
    """What a report page is made of, so that edits need not wait for it."""

    model: Any
    judged: Any
    title: str
    shown: Shown


def to_report(session: Session) -> Reported:
    """Return what a page about the model of the board is made of."""
    data, model = session.collection, session.model().classifier
    if isinstance(model, CalibratedStacking):
        # Fitted again without some classes, it keeps the classes of the board.
        model.estimator = clone(model.estimator)
        set_signatures(model.estimator, model.signatures_)
    train, picture = np.flatnonzero(data.train), data.picture
    names, texts = data.names, data.texts
    shown = Shown(
        None if names is None else [names[row] for row in train],
        None if texts is None else [texts[row] for row in train],
        None if picture is None else lambda row: picture(int(train[row]), REPORTED),
    )
    title = page_title(data.name, session.project.path.stem)
    return Reported(board_model(session), model, title, shown)


def page_title(data: str, project: str) -> str:
    """Return the names of data and project; one that nobody named begins with that of the data.

    Examples
    --------
    >>> page_title("tickets.csv", "tickets-csv-cc4d4eb1"), page_title("photos", "my work")
    ('tickets.csv', 'photos: my work')
    """
    letters = ["".join(filter(str.isalnum, name)) for name in (data, project)]
    return data if letters[1].startswith(letters[0]) else f"{data}: {project}"


def report(session: Session, made: Reported) -> bytes:
    """Return a page about the model, as ``zslearn fit --report`` makes it."""
    methods, held_out = session.methods, None
    if methods.can_fit and made.model.calibration.threshold is not None:
        with suppress(InvalidInputError):  # too few classes
            held_out = answer_held_out(made.judged, *methods.training_rows())
    page = report_page(made.model, held_out, title=made.title, shown=made.shown)
    return page.encode("utf-8")


def behind_steps(model: Any, steps: tuple[Any, ...]) -> CalibratedStacking:
    """Return a classifier that takes what the steps take."""
    made = model if isinstance(model, CalibratedStacking) else stacked(model)
    twin = copy.copy(made)
    twin.estimator = make_pipeline(*map(clone, steps), made.estimator)
    twin.estimator_ = make_pipeline(*steps, made.estimator_)
    twin.n_features_in_ = steps[0].n_features_in_
    return twin


def python_lines(session: Session) -> bytes:
    """Return a program that makes the same model and gives the same answers."""
    state, data = session.view.state, session.collection
    made = session.model()
    lines = [
        f'"""The model of a zslearn studio, made by zslearn {__version__}."""',
        f"# Data: {data.name!r}",
        "",
        "import numpy as np",
        "",
        *data.recipe,
    ]
    if state.method == MODEL:
        lines += [
            "from zslearn.persistence import load",
            "",
            'clf = load("model.zsl")  # as the studio exports it, with its classes and examples',
        ]
    else:
        lines += [*_fit_lines(session), *_class_lines(session, made)]
    called = [state.classes[number].name for number in made.keys.values()]
    reject = bool(state.reject and session.sure() is not None)
    lines += [
        "",
        f"names = {list(made.keys)!r}",
        f"called = np.array({called!r})",
        "recognizer = clf.recognizer(names)",
        "best = recognizer.rank(X, 1).names[:, 0]",
        "answers = called[[names.index(name) for name in best.tolist()]]",
    ]
    if reject:
        lines.append(f"answers = np.where(recognizer.rejected(X), {NOTHING!r}, answers)")
    return ("\n".join(lines) + "\n").encode("utf-8")


def _fit_lines(session: Session) -> list[str]:
    """Return the lines that fit the method and calibrate it, with all that was chosen."""
    state = session.view.state
    fitted = session.fitted(state.method)
    chosen = {name: _plain(value) for name, value in fitted.method.best_params_.items()}
    lam = state.lam.get(state.method)
    chosen |= {} if lam is None else {"lam": lam}
    given = "".join(f", {name}={value!r}" for name, value in chosen.items())
    learned = fitted.model.calibration
    sure = session.sure()
    threshold = -1e30 if sure is None else sure
    confidence = _plain(dict(learned.coefficients)) or "score"
    return [
        "from zslearn.zero_shot import CalibratedStacking",
        "from zslearn.zero_shot.registry import make_classifier",
        "",
        "clf = CalibratedStacking(",
        f"    make_classifier({state.method!r}, signatures{given}),",
        f"    gamma={session.bias()!r},  # subtracted from the scores of seen classes",
        f"    temperature={_plain(dict(learned.temperature))!r},",
        f"    confidence={confidence!r},",
        f"    threshold={threshold!r},",
        ").fit(X[train], y[train])",
    ]


def _class_lines(session: Session, made: BoardModel) -> list[str]:
    """Return the lines that describe classes and add examples as it was done in the studio."""
    state, known = session.view.state, session.collection.signatures
    learns = session.fitted(state.method).learns
    own = {
        key: one.row.tolist()
        for key, number in made.keys.items()
        for one in [state.classes[number]]
        if not one.alone and (key not in known or not np.array_equal(known[key], one.row))
    }
    lines = [
        "",
        "# Classes as they were described in the studio.",
        "described = {",
        *(f"    {name!r}: {row!r}," for name, row in own.items()),
        "}",
        "known = clf.signatures_.drop([name for name in described if name in clf.signatures_])",
        "clf = clf.with_signatures(known.append(described) if described else known)",
    ]
    if not state.examples or not learns:
        return lines
    keys = {number: key for key, number in made.keys.items()}
    examples = [(keys[n], packed(e.vector)) for n, each in state.examples.items() for e in each]
    return [
        "import base64",
        "",
        *lines,
        "# Examples that were added there: the class and the features.",
        "examples = [",
        *(f"    ({key!r}, {vector!r})," for key, vector in examples),
        "]",
        'vectors = [np.frombuffer(base64.b64decode(text), "<f4") for _, text in examples]',
        "clf.partial_fit(np.stack(vectors), [name for name, _ in examples])",
    ]


def _plain(value: Any) -> Any:
    """Return a parameter as Python writes it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value
