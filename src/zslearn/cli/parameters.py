"""Parameters of an estimator given as NAME=VALUE."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from zslearn.cli.known_steps import make_inner_classifier
from zslearn.exceptions import InvalidInputError, did_you_mean


def set_parameters(
    model: Any, name: str, given: Iterable[str], *, hidden: frozenset[str] = frozenset()
) -> None:
    """Set the parameters a user gave, refusing those the model does not have.

    Parameters
    ----------
    model : estimator
        Unfitted.
    name : str
        What errors call it.
    given : iterable of str
        Texts NAME=VALUE.
    hidden : frozenset of str
        Parameters that are not the user's to set.
    """
    known = sorted(set(model.get_params(deep=False)) - hidden)
    for text in given:
        parameter, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"-P takes NAME=VALUE; got {text!r}")
        if parameter not in known:
            hint = did_you_mean(parameter, known)
            raise InvalidInputError(
                f"{name} has no parameter {parameter!r}.{hint} It has {', '.join(known) or 'none'}."
            )
        found = read_value(value)
        if parameter == "classifier" and isinstance(found, str):
            found = make_inner_classifier(found)
        model.set_params(**{parameter: found})


def read_value(text: str) -> Any:
    """Return a number, true, false, null or a list as JSON reads it; anything else is text.

    Examples
    --------
    >>> read_value("0.5"), read_value("cv"), read_value("None")
    (0.5, 'cv', None)
    """
    try:
        return json.loads(text)
    except ValueError:
        return None if text == "None" else text
