"""Experiments as data: what `experiments.toml` says, and the runs it stands for."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import product
from typing import Any

from zslearn import __version__
from zslearn._parameters import check_flags
from zslearn.cluster import MAPPINGS, find_mapping
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.reproduce.sources import DataSource
from zslearn.zero_shot import METHODS
from zslearn.zero_shot.registry import find_method

DEFAULT_SECONDS = 600.0
_COST_ORDER = ("instant", "seconds", "minutes")
_CLUSTERING = ("clustering", "clustering-tables", "cluster-picture")
# Kinds that take all of a data set, or choose a semantic space themselves.
WITHOUT_SPACES = ("description", "flowers", "pictures", "deep-pictures", "newcomer", "commands")
# A split of this name and a number deals the classes again, with the number as the seed.
RANDOM = "random "
# Between the names of semantic spaces that are taken side by side.
JOINED = " + "


@dataclass(frozen=True)
class Run:
    """One row to measure: everything its outcome depends on, except the data itself.

    Attributes
    ----------
    kind : str
        Which program of `zslearn.reproduce.experiments` runs it.
    method : str
        Method, or mapping of supervised clustering.
    source : DataSource or None
        The data, None for what is generated.
    split, semantics, protocol : str
        As in `zslearn.evaluation`; empty where there is none.
    seed : int
        Seed of held-out samples and generated data.
    parameters : mapping
        Sizes and options of generated data.
    seconds : float
        Time limit; does not change the outcome.
    exclusive : bool
        Whether it must have the machine to itself, because times are compared.
    """

    kind: str
    method: str = ""
    source: DataSource | None = None
    split: str = ""
    semantics: str = ""
    protocol: str = ""
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = DEFAULT_SECONDS
    exclusive: bool = False

    @property
    def data(self) -> DataSource:
        """The data, for a kind that needs some."""
        if self.source is None:
            raise InvalidInputError(f"a run of the kind {self.kind!r} needs a data set.")
        return self.source

    def configuration(self) -> dict[str, Any]:
        """Return the flat configuration that is written to the row."""
        named = ("kind", "method", "split", "semantics", "protocol", "seed")
        row: dict[str, Any] = {name: getattr(self, name) for name in named}
        row["dataset"] = self.source.dataset if self.source else ""
        row["features"] = self.source.features if self.source else ""
        return row | {f"parameter_{key}": value for key, value in self.parameters.items()}

    @property
    def key(self) -> str:
        """Hash of the configuration, of the data's content and of the library's version."""
        identity = self.source.identity if self.source else ""
        told = [self.configuration(), identity, __version__]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:20]

    def __str__(self) -> str:
        words = (self.kind, self.configuration()["dataset"], self.split, self.semantics)
        options = " ".join(f"{key}={value}" for key, value in self.parameters.items())
        return " ".join(word for word in (*words, self.protocol, self.method, options) if word)


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or beyond it.

    Attributes
    ----------
    name, title, paper : str
        Its name, a heading, and the table or figure of the paper it stands for.
    kind : str
        Which program runs it.
    data : tuple of str
        "zero-shot" for every data set for zero-shot learning, or names of data sets.
    splits, semantics, methods : tuple of str
        What is combined; semantics () is the first space of a data set, ("all",) every space, and
        "attributes + word vectors" both side by side.
        "random 3" is a split with the classes dealt again, for the first space that is named.
    protocol : str
        "conventional" or "generalized".
    parameters : tuple of mappings
        Settings of generated data, each combined with every method; "data" and "seeds" in one of
        them are the only data set and the seeds it is for.
    seeds : tuple of int
        Seeds, each combined with everything; a zero-shot method that draws no random numbers runs
        with the first alone.
    scale : float
        Share of the full size of generated data.
    seconds : float
        Limit of one run.
    exclusive : bool
        Whether its runs get the machine to themselves.
    """

    name: str
    title: str
    paper: str
    kind: str
    data: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    semantics: tuple[str, ...] = ()
    methods: tuple[str, ...] = ("",)
    protocol: str = "conventional"
    parameters: tuple[Mapping[str, Any], ...] = ({},)
    seeds: tuple[int, ...] = (0,)
    scale: float | None = None
    seconds: float = DEFAULT_SECONDS
    exclusive: bool = False

    def runs(self, sources: Sequence[DataSource]) -> Iterator[Run]:
        """Yield the runs of this experiment on the available data.

        Parameters
        ----------
        sources : sequence of DataSource
            The data that was found.

        Yields
        ------
        Run
        """
        places = list(self._places(sources))
        for (source, split, semantics), given in product(places, self.parameters):
            options = dict(given)
            seeds, wanted = options.pop("seeds", self.seeds), options.pop("data", None)
            if wanted is not None and (source is None or source.dataset != wanted):
                continue
            for seed, method in product(seeds, self.method_names()):
                if seed != seeds[0] and self._same_with_any_seed(method):
                    continue
                yield Run(
                    kind=self.kind,
                    method=method,
                    source=source,
                    split=split,
                    semantics=semantics,
                    protocol=self.protocol if self.kind == "zero-shot" else "",
                    seed=seed,
                    parameters=self._scaled(options),
                    seconds=self.seconds,
                    exclusive=self.exclusive,
                )

    def _same_with_any_seed(self, method: str) -> bool:
        base = method.partition("+")[0]
        return self.kind == "zero-shot" and base in METHODS and METHODS[base].tags.deterministic

    def method_names(self) -> list[str]:
        """Return the names of the methods, "all" spelled out, cheap ones first."""
        if self.methods != ("all",):
            return list(self.methods)
        every = [name for name in METHODS if not name.startswith("legacy")]
        return sorted(every, key=lambda name: _COST_ORDER.index(METHODS[name].cost))

    def wants(self, source: DataSource) -> bool:
        """Say whether the experiment uses a data set."""
        named = source.dataset in self.data and source.group != "described"
        return named or source.group in self.data

    def _places(
        self, sources: Sequence[DataSource]
    ) -> Iterator[tuple[DataSource | None, str, str]]:
        """Yield data set, split and semantic space."""
        if not self.data:
            yield None, "", ""
        for source in sources:
            if not self.wants(source):
                continue
            named = [s for s in self.splits if s in source.splits or s.startswith(RANDOM)]
            for split, space in product(named if self.splits else [""], self._spaces(source)):
                # Random splits are ten times the work: they take the first space, or all by name.
                first = space == self._spaces(source)[0]
                if first or not split.startswith(RANDOM) or self.semantics == ("all",):
                    yield source, split, space

    def _spaces(self, source: DataSource) -> Sequence[str]:
        if self.kind in WITHOUT_SPACES:
            return ("",)
        if self.semantics == ("all",):
            return source.semantics
        there = set(source.semantics)
        named = [s for s in self.semantics if s in there or set(s.split(JOINED)) <= there]
        return named or source.semantics[:1]

    def _scaled(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return dict(options) if self.scale is None else {**options, "scale": self.scale}


def load_experiments(*, quick: bool = False) -> dict[str, Experiment]:
    """Return the experiments of the package by name, in the order they run.

    Parameters
    ----------
    quick : bool, default=False
        Take the short form of each: the bundled data, few methods, small sizes.

    Returns
    -------
    dict of str to Experiment

    Examples
    --------
    >>> from zslearn.reproduce import load_experiments
    >>> load_experiments()["gzsl"].paper
    'Table 4'
    """
    check_flags(quick=quick)
    text = files("zslearn.reproduce").joinpath("data/experiments.toml").read_text("utf-8")
    found = {}
    for name, entry in tomllib.loads(text).items():
        short = entry.pop("quick", {})
        told = entry | (short if quick else {})
        lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
        found[name] = Experiment(name=name, **(told | lists))
    return found


def choose_experiments(
    names: Sequence[str], methods: Sequence[str] = (), *, quick: bool = False
) -> list[Experiment]:
    """Return experiments by name, all if none is named, with other methods if some are named.

    Parameters
    ----------
    names : sequence of str
        Names of experiments; empty for all.
    methods : sequence of str, optional
        Methods to keep or to run in place of an experiment's own. Names of zero-shot methods go
        to those experiments, names of mappings to clustering; an experiment left without any
        keeps its own.
    quick : bool, default=False
        As in :func:`load_experiments`.

    Returns
    -------
    list of Experiment

    Examples
    --------
    >>> from zslearn.reproduce import choose_experiments
    >>> [e.methods for e in choose_experiments(["gzsl"], ["sae"])]
    [('sae',)]
    """
    every = load_experiments(quick=quick)
    for name in names:
        if name not in every:
            hint = did_you_mean(name, every)
            raise InvalidInputError(
                f"there is no experiment {name!r}.{hint} Known: {', '.join(every)}."
            )
    chosen = [every[name] for name in names] or list(every.values())
    return [_with_methods(experiment, tuple(methods)) for experiment in chosen]


def _with_methods(experiment: Experiment, methods: tuple[str, ...]) -> Experiment:
    """Give an experiment other methods, of the kind it runs; some are for SAE only."""
    if not methods or experiment.methods == ("",) or experiment.kind == "large":
        return experiment
    known = []
    for name in methods:
        is_mapping = experiment.kind in _CLUSTERING
        try:
            (find_mapping if is_mapping else find_method)(base_name(name))
        except InvalidInputError:
            if not _is_known(name):
                raise
            continue
        known.append(name)
    return replace(experiment, methods=tuple(known)) if known else experiment


def _is_known(name: str) -> bool:
    """Say whether a name is one of the other kind of method."""
    base = base_name(name).removesuffix("-decode")
    return base in METHODS or base in MAPPINGS


def base_name(name: str) -> str:
    """Return a method without its steps ("sae+projection") or its λ ("sae=0.5")."""
    return name.partition("+")[0].partition("=")[0]
