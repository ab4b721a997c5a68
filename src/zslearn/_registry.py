"""Estimators by name, for tables and the command line: a class, imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zslearn._optional import warn_renamed
from zslearn.exceptions import InvalidInputError, did_you_mean


@dataclass(frozen=True)
class Method:
    """A named method: which class, with which parameters.

    Attributes
    ----------
    path : str
        ``module:Class`` inside `zslearn`.
    title : str
        What tables call it.
    cost : {"instant", "seconds", "minutes"}
        Time of a fit on CUB (7,057 samples, 1,280 features, 150 classes) on one core.
    parameters : dict
        Parameters that differ from the class's defaults.
    """

    path: str
    title: str
    cost: str = "seconds"
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of the class."""
        return f"zslearn.{self.path.partition(':')[0]}"

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.path.partition(":")[2]

    @property
    def estimator(self) -> type[Any]:
        """The class, imported on first use."""
        found: type[Any] = getattr(importlib.import_module(self.module), self.class_name)
        return found

    @property
    def mapping(self) -> type[Any]:
        """The class; the old name, for one more release."""
        warn_renamed("mapping", "estimator")
        return self.estimator

    @property
    def tags(self) -> Any:
        """What the class says about itself, `ZeroShotTags` or `MappingTags`."""
        made = self.make()
        return made.zero_shot_tags if hasattr(made, "zero_shot_tags") else made.mapping_tags

    def make(self, *first: Any, **parameters: Any) -> Any:
        """Return an unfitted estimator; parameters given go before the method's own."""
        return self.estimator(*first, **{**self.parameters, **parameters})


def find(name: str, table: Mapping[str, Method], kind: str) -> Method:
    """Return the method of that name, or say which name is closest.

    Parameters
    ----------
    name : str
        The name.
    table : mapping of str to Method
        Every name there is.
    kind : str
        What the methods of the table are called.

    Returns
    -------
    Method
    """
    if name not in table:
        raise InvalidInputError(
            f"there is no {kind} {name!r}.{did_you_mean(name, table)} Known {kind}s: "
            f"{', '.join(table)}."
        )
    return table[name]
