"""Published values, each with its source; shown next to ours where the protocol is the same."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

# The authors' demo files are the data sets of the paper, features included.
SAME_DATA = {"awa_demo": "AWA1", "cub_demo": "CUB", "ImNet_2_demo": "ImNet-2"}
PAPER = "Kodirov"
SURVEY = "Xian"
GENERATIVE = "uqzhichen"


@dataclass(frozen=True)
class Published:
    """One published value.

    Attributes
    ----------
    method : str
        Name of our method that it belongs to; empty if we do not have it.
    title : str
        What its source calls the method.
    dataset, split, metric : str
        What was measured on what.
    value : float
        As printed: percent for accuracies.
    features, semantics, source : str
        Features and semantic space it was measured with, and where it was published.
    text : str
        The value as it was printed.
    """

    method: str
    title: str
    dataset: str
    split: str
    metric: str
    value: float
    features: str
    semantics: str
    source: str
    text: str


@lru_cache(maxsize=1)
def published_values() -> Sequence[Published]:
    """Return every published value of the package.

    Returns
    -------
    tuple of Published

    Examples
    --------
    >>> from zslearn.reproduce import published_values
    >>> [v.value for v in published_values() if v.dataset == "CUB" and v.method == "sae-encode"
    ...  and v.metric == "accuracy"]
    [61.4]
    """
    place = files("zslearn.reproduce").joinpath("data/published.csv")
    entries = csv.DictReader(place.read_text("utf-8").splitlines())
    return tuple(Published(**entry | _numbers(entry)) for entry in entries)  # type: ignore[arg-type]


def _numbers(entry: dict[str, str]) -> dict[str, float | str]:
    return {"value": float(entry["value"]), "text": entry["value"]}


def find_published(
    dataset: str, split: str, metric: str, *, semantics: str = "", source: str = PAPER
) -> list[Published]:
    """Return the values measured by the same protocol on the same data set.

    Parameters
    ----------
    dataset, split, metric : str
        What must agree.
    semantics : str, optional
        Semantic space that must agree; empty for any.
    source : str, default="Kodirov"
        How the name of the source starts.

    Returns
    -------
    list of Published
    """
    wanted = SAME_DATA.get(dataset, dataset)
    space = "attributes" if semantics == "signatures" and "ImNet" not in wanted else semantics
    return [
        value
        for value in published_values()
        if (value.dataset, value.split, value.metric) == (wanted, split, metric)
        and value.source.startswith(source)
        and (not space or value.semantics in (space, "") or space == "signatures")
    ]
