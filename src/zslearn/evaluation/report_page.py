"""One page about a fitted model: what to expect, how it is mistaken, how to use it.

The page is a single HTML file without scripts, which loads nothing from anywhere.
"""

from __future__ import annotations

import base64
import shlex
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn import __version__
from zslearn.encoders import encoder_of_model
from zslearn.encoders.pictures import encode_picture, scaled
from zslearn.evaluation.answers import LEVEL, Answers, ClassAnswers, Share, percent
from zslearn.exceptions import ZslearnError
from zslearn.zero_shot import ZeroShotClassifier

# Rows of the confusion matrix; more classes are listed by their most frequent mistakes.
MOST_CLASSES = 40
_MISTAKES, _LISTED, _THUMBNAIL, _NAME, _LETTERS = 12, 60, 176, 80, 400
# What turns the order of letters around, and control letters.
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, eq=False)
class Shown:
    """How samples are shown.

    Attributes
    ----------
    names : sequence of str or None
        What the samples are called, such as names of files.
    texts : sequence of str or None
        The samples themselves, if they are texts.
    picture : callable or None
        ``picture(row)`` gives the RGB pixels of a sample, an array of uint8 of shape (height,
        width, 3), if they are pictures.
    """

    names: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    picture: Callable[[int], NDArray[np.uint8]] | None = None


def report_page(
    model: ZeroShotClassifier,
    held_out: Answers | None,
    *,
    title: str = "A zero-shot model",
    file: str = "model.zsl",
    warnings: Sequence[str] = (),
    shown: Shown | None = None,
) -> str:
    """Make the page about a fitted classifier.

    Parameters
    ----------
    model : ZeroShotClassifier
        Fitted.
    held_out : Answers or None
        What `answer_held_out` found; None where there are too few classes.
    title : str, default="A zero-shot model"
        Of the page.
    file : str, default="model.zsl"
        The file of the model, for the commands that use it.
    warnings : sequence of str
        What was found wrong with the data, a line each.
    shown : Shown, optional
        How the samples that `held_out` is about are shown.

    Returns
    -------
    str
        HTML. Names of classes and files, and texts, are data wherever they stand.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.evaluation import answer_held_out, report_page
    >>> from zslearn.zero_shot import CalibratedStacking, SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> X, y = data.X[seen], data.y[seen]
    >>> model = CalibratedStacking(SAEClassifier(data.signatures)).fit(X, y)
    >>> page = report_page(model, answer_held_out(model, X, y), title="Made-up classes")
    >>> page.startswith("<!DOCTYPE html>"), "<title>Made-up classes</title>" in page
    (True, True)
    """
    parts = [_head(model, title), _expected(model, held_out)]
    if warnings:
        items = "".join(f"<li>{_text(line, _LETTERS)}</li>" for line in warnings)
        parts.append(f'<section class="warnings"><h2>Warnings</h2><ul>{items}</ul></section>')
    if held_out is not None:
        unseen = held_out.side(unseen=True)
        parts += [_classes(unseen), _confused(unseen), _mistakes(unseen, shown or Shown())]
        parts.append(_reliability(held_out))
    parts.append(_use(model, file))
    style = (files("zslearn.evaluation") / "data" / "report.css").read_text("utf-8")
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_plain(title)}</title><style>\n{style}</style></head>\n<body>"
        + "\n".join(filter(None, parts))
        + "</body></html>\n"
    )


def _head(model: ZeroShotClassifier, title: str) -> str:
    seen, n_classes = len(model.seen_classes_), len(model.classes_)
    unseen = np.setdiff1d(model.classes_, model.seen_classes_).tolist()
    named = ", ".join(map(_text, unseen[:_LISTED])) + " …" * (len(unseen) > _LISTED)
    what = f"{seen} classes with samples" + f", {n_classes - seen} without: {named}" * bool(unseen)
    encoder = encoder_of_model(model)
    by = "" if encoder is None else f" Samples are encoded by {_text(encoder.model)}."
    return f"<header><h1>{_text(title)}</h1><p>{what}.{by} zslearn {__version__}.</p></header>"


def _expected(model: Any, held_out: Answers | None) -> str:
    """Say what to expect on samples of classes that were not learned from."""
    expected = getattr(model, "expected_accuracy_", None)
    if expected is None and held_out is None:
        return (
            "<section><h2>What to expect</h2><p>Nothing is known about it: that takes at least "
            "four classes with samples, each of which is then held out once.</p></section>"
        )
    figures = []
    if expected is not None:
        m = expected.n_candidates
        n = len(model.classes_)
        for what, one in (
            (f"among all {n} classes", model.expected_accuracy(m, among="all")),
            (f"among {m} unseen ones alone", expected),
        ):
            share = Share(one.accuracy, one.low, one.high)
            figures.append(_figure(share, f"of samples of unseen classes, {what}", one.chance))
    elif held_out is not None and (reached := held_out.accuracy(unseen=True)) is not None:
        n = held_out.n_candidates
        figures.append(
            _figure(reached, f"of samples of unseen classes, among all {n} classes", 1 / n)
        )
    seen = None if held_out is None else held_out.accuracy(unseen=False)
    if seen is not None:
        figures.append(_figure(seen, "of new samples of classes that it learned from", None))
    return (
        "<section><h2>What to expect</h2>"
        f'<div class="figures">{"".join(figures)}</div>'
        '<p class="note">Right answers, as the mean over classes. Measured by leaving out each '
        "class once, as if it were unseen. In brackets and as a band: where the figure is meant to "
        f"lie for {_percent(LEVEL)} of other draws of such classes, or of samples where classes "
        "were learned from; the thin line is guessing. With few classes, the ones that come decide "
        "more than the method.</p></section>"
    )


def _figure(share: Share, words: str, chance: float | None) -> str:
    tick = "" if chance is None else f'<s style="left:{100 * chance:.1f}%"></s>'
    return (
        f"<div><b>{_percent(share.value)}</b>({_percent(share.low)} to {_percent(share.high)})"
        f"{_bar(share, tick)}{escape(words)}</div>"
    )


def _bar(share: Share, more: str = "") -> str:
    low, high, value = (100 * part for part in (share.low, share.high, share.value))
    return (
        f'<div class="bar"><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i>'
        f'<b style="left:{value:.1f}%"></b>{more}</div>'
    )


def _classes(unseen: Answers) -> str:
    """List how each class is recognized when it is held out, the hardest first."""
    rows = sorted(unseen.classes, key=lambda one: one.accuracy.value)
    more = f"<p>… and {len(rows) - _LISTED} more</p>" if len(rows) > _LISTED else ""
    lines = "".join(map(_class_line, rows[:_LISTED]))
    return (
        "<section><h2>Each class, when it is held out</h2><div class='wide'>"
        '<table class="list bars"><thead><tr><th>class</th><th></th><th class="number">right</th>'
        '<th class="number">samples</th><th>else mostly taken for</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>{more}</section>"
    )


def _class_line(one: ClassAnswers) -> str:
    other = "" if one.mistaken_for is None else f"{_text(one.mistaken_for)} ({one.n_mistaken})"
    return (
        f"<tr><td>{_text(one.name)}</td><td>{_bar(one.accuracy)}</td>"
        f'<td class="number">{_percent(one.accuracy.value)}</td>'
        f'<td class="number">{one.n_samples}</td><td>{other}</td></tr>'
    )


def _confused(unseen: Answers) -> str:
    """Show the confusion matrix of held-out classes, or the most frequent confusions of many."""
    names = [one.name for one in unseen.classes]
    answered = np.unique(unseen.answers).tolist()
    columns = names + [name for name in answered if name not in set(names)]
    if max(len(names), len(columns)) > MOST_CLASSES:
        lines = "".join(
            f"<tr><td>{_text(true)}</td><td>{_text(answer)}</td>"
            f'<td class="number">{count} of {size}</td></tr>'
            for true, answer, count, size in unseen.confusions(_LISTED)
        )
        return (
            "<section><h2>The most frequent mistakes</h2><div class='wide'><table class='list'>"
            '<thead><tr><th>class</th><th>taken for</th><th class="number">how often</th></tr>'
            f"</thead><tbody>{lines}</tbody></table></div></section>"
        )
    head = "".join(
        f'<th title="{_plain(name)}"><span>{_text(name)}</span></th>' for name in columns
    )
    lines = ""
    for one in unseen.classes:
        given = unseen.answers[unseen.truth == one.name]
        cells = "".join(_cell(name == one.name, np.mean(given == name)) for name in columns)
        lines += f'<tr><th title="{_plain(one.name)}">{_text(one.name)}</th>{cells}</tr>'
    return (
        "<section><h2>How held-out classes are confused</h2>"
        '<p class="note">A row per class, a column per answer, in % of the samples of the class. '
        "All classes were allowed as answers.</p><div class='wide'>"
        f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div></section>"
    )


def _cell(own: bool, share: float) -> str:
    number = f"{100 * share:.0f}" if share >= 0.005 else ""
    return f'<td class="{"own" if own else "other"}" style="--share:{share:.3f}">{number}</td>'


def _mistakes(unseen: Answers, shown: Shown) -> str:
    """Show a sample of each of the most frequent confusions."""
    if shown.names is None and shown.texts is None and shown.picture is None:
        return ""
    found = []
    for place in unseen.mistakes(_MISTAKES).tolist():
        row = int(unseen.rows[place])
        sure = "" if unseen.sure is None else f", {_percent(float(unseen.sure[place]))}"
        name = "" if shown.names is None else f"<small>{_text(shown.names[row])}</small>"
        found.append(
            f"<figure>{_sample(shown, row)}<figcaption><strong>{_text(unseen.truth[place])}"
            f"</strong> taken for <strong>{_text(unseen.answers[place])}</strong>{sure}{name}"
            "</figcaption></figure>"
        )
    if not found:
        return ""
    kind = "mistakes texts" if shown.texts is not None else "mistakes"
    return (
        "<section><h2>Typical mistakes</h2>"
        '<p class="note">Of each of the most frequent confusions the one that the model was surest '
        f'of.</p><div class="{kind}">{"".join(found)}</div></section>'
    )


def _sample(shown: Shown, row: int) -> str:
    if shown.texts is not None:
        return f"<blockquote>{_text(shown.texts[row], _LETTERS)}</blockquote>"
    if shown.picture is None:
        return ""
    try:
        pixels = shown.picture(row)
    except (ZslearnError, OSError):  # it was moved since it was encoded
        return ""
    factor = min(1.0, _THUMBNAIL / min(pixels.shape[:2]))
    height, width = (max(1, round(side * factor)) for side in pixels.shape[:2])
    content = base64.b64encode(encode_picture(scaled(pixels, (height, width)), 70)).decode()
    return f'<img alt="" src="data:image/jpeg;base64,{content}">'


def _reliability(held_out: Answers) -> str:
    """Compare probabilities with how often answers are right."""
    curve = held_out.reliability()
    if curve is None:
        return ""
    lines = "".join(
        f'<tr><td class="number">{_percent(sure)}</td><td>{_bar(Share(right, 0.0, right))}</td>'
        f'<td class="number">{_percent(right)}</td><td class="number">{_percent(share)}</td></tr>'
        for sure, right, share in zip(
            curve.confidence.tolist(), curve.accuracy.tolist(), curve.share.tolist(), strict=True
        )
        if share >= 0.005
    )
    return (
        "<section><h2>Whether its probabilities can be believed</h2>"
        '<p class="note">Answers of like probability together, samples of held-out and of other '
        f"classes: on average the two differ by {_percent(curve.error)}.</p><div class='wide'>"
        '<table class="list bars"><thead><tr><th class="number">it says</th><th></th>'
        '<th class="number">it is right</th><th class="number">of all answers</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div></section>"
    )


def _use(model: ZeroShotClassifier, file: str) -> str:
    """Show the commands, the program and the requests that use the model."""
    encoder = encoder_of_model(model)
    kind = "features" if encoder is None else encoder.kind
    path = shlex.quote(file)
    given = {"image": "new.jpg", "text": '"What to name"', "features": "new.csv"}[kind]
    labeled = {
        "image": "labeled/",
        "text": "labeled.csv --text text --labels class",
        "features": "labeled.csv --labels class",
    }[kind]
    shell = (
        f"zslearn predict {path} {given} --top 3\n"
        f"zslearn predict {path} {given} --unseen-only\n"
        f"zslearn evaluate {path} {labeled}"
    )
    samples = {
        "image": 'X = encoder_of(encoder_of_model(model)).transform(["new.jpg"])',
        "text": 'X = encoder_of(encoder_of_model(model)).transform(["What to name"])',
        "features": f"X = ...  # an array of shape (n_samples, {model.n_features_in_})",
    }[kind]
    imported = (
        "" if encoder is None else "from zslearn.encoders import encoder_of, encoder_of_model\n"
    )
    python = (
        f"from zslearn import load\n{imported}\nmodel = load({file!r})\n{samples}\n"
        "model.predict(X)  # the best class of each sample\n"
        "model.predict_proba(X)  # a column for each of model.classes_\n"
        'model.predict(X, candidates="unseen")'
    )
    data = {
        "image": "-F image=@new.jpg -F top_k=3",
        "text": """-d '{"texts": ["What to name"], "top_k": 3}'""",
        "features": '-d \'{"rows": [[0.1, 0.2, ...]], "top_k": 3}\'',
    }[kind]
    curl = f"zslearn serve {path}\ncurl localhost:8080/predict {data}"
    blocks = (("On the command line", shell), ("In Python", python), ("Over HTTP", curl))
    body = "".join(
        f"<h3>{name}</h3><pre><code>{escape(_visible(code))}</code></pre>" for name, code in blocks
    )
    return f"<section><h2>How to use it</h2>{body}</section>"


def _percent(share: float) -> str:
    """Return a share as text that is not broken."""
    return percent(share).replace(" ", "\u00a0")


def _text(value: Any, most: int = _NAME) -> str:
    """Return a name as HTML that stays where it stands, whatever letters it has."""
    shown = _visible(str(value))
    return f"<bdi>{escape(shown[:most])}{'…' * (len(shown) > most)}</bdi>"


def _plain(value: Any) -> str:
    """Return a name for a place that holds no elements: a title or an attribute."""
    return escape(_visible(str(value)))


def _visible(text: str) -> str:
    """Drop control letters and those that turn the order of others around; lines stay."""
    return "".join(" " if letter in _BIDI or _is_control(letter) else letter for letter in text)


def _is_control(letter: str) -> bool:
    return letter != "\n" and unicodedata.category(letter) == "Cc"
