"""The base of the methods that need PyTorch to fit; importing it does not need PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._optional import require, warn_renamed
from zslearn._parameters import Either, Flag, Group, Seed, Whole, constraints_of
from zslearn.exceptions import InvalidInputError, did_you_mean
from zslearn.zero_shot.base import Features, ZeroShotMethod, dense

DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """Base of settings that belong together and are one parameter of an estimator.

    They never change; `dataclasses.replace` makes others, and so does ``set_params`` of the
    estimator: ``clf.set_params(training__n_steps=200)``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all settings by name, as scikit-learn asks parameters for theirs."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __repr__(self) -> str:
        given = [one for one in fields(self) if getattr(self, one.name) != one.default]
        told = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in given)
        return f"{type(self).__name__}({told})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Checkpoints(Settings):
    """At which lengths a training is looked at.

    Parameters
    ----------
    n_checkpoints : int, default=5
        How many lengths, evenly up to the longest.
    keep_stages : bool, default=False
        Whether to train up to the longest and keep the model at every checkpoint, in `stages_`.
    """

    n_checkpoints: int = parameter(default=5, allowed=Whole(1))
    keep_stages: bool = parameter(default=False, allowed=Flag())


@dataclass(frozen=True, kw_only=True, repr=False)
class Search(Settings):
    """How what is left to "cv" is chosen on held-out classes.

    Parameters
    ----------
    cv : int, default=5
        The seen classes are dealt into so many folds.
    """

    cv: int = parameter(default=5, allowed=Whole(2))


def setting(place: str) -> Any:
    """Show a setting where every method has it: ``cv = setting("search.cv")``."""
    owner, _, name = place.partition(".")
    # None where the settings are something else, which the check of parameters refuses.
    return property(lambda self: getattr(getattr(self, owner), name, None))


class DeepClassifier(ZeroShotMethod):
    """Base of classifiers that are trained by PyTorch and predict by numpy.

    A method provides ``_train(X, y, device)``, which sets the learned state as numpy arrays, and
    ``prepare`` and ``compare`` as every `ZeroShotMethod`. Around ``_train`` the generators of
    PyTorch are seeded by `random_state`, and put back afterwards. What it keeps in
    `parameters_`, declared as "arrays", goes to model files as it is.

    Parameters that belong together are one, of a class derived from `Settings`. In one release
    more each of them is also taken by the name it had before, with a warning.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes CUDA where there is one.
    """

    device: str = parameter(default="auto", allowed=Either(*DEVICES))
    random_state: int | None = parameter(default=0, allowed=Seed())
    verbose: int = parameter(default=0, allowed=Whole(0))
    # Old names of parameters that are no settings.
    renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(vars(cls).get("__dataclass_params__"), "init", False):
            cls.__init__ = _with_older_names(vars(cls)["__init__"])  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        older = type(self).older_names()
        if name not in older:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warn_renamed(f"{type(self).__name__}.{name}", older[name].replace("__", "."))
        return attrgetter(older[name].replace("__", "."))(self)

    @classmethod
    def older_names(cls) -> dict[str, str]:
        """Return names that parameters had in the release before, and what they are called now."""
        groups = {
            name: constraint.kind
            for name, constraint in constraints_of(cls).items()
            if isinstance(constraint, Group)
        }
        settled = {f.name: f"{name}__{f.name}" for name, one in groups.items() for f in fields(one)}
        return settled | dict(cls.renamed)

    @classmethod
    def newest_parameters(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of an older model file as the constructor takes them now."""
        now = {cls.older_names().get(name, name): value for name, value in parameters.items()}
        return cls()._settled(now)

    def set_params(self, **given: Any) -> Self:
        """Set parameters, those of settings by two underscores: ``training__n_steps=200``.

        Parameters
        ----------
        **given
            Values by name.

        Returns
        -------
        DeepClassifier
            The same object.
        """
        super().set_params(**self._settled(self._renamed(given)))
        return self

    def _renamed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters by the names they have now, and warn of others."""
        older = self.older_names()
        for name in older.keys() & given.keys():
            warn_renamed(f"{type(self).__name__}'s {name}", older[name], stacklevel=4)
        return {older.get(name, name): value for name, value in given.items()}

    def _settled(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters in which settings that were given one by one are put together."""
        whole = {name: value for name, value in given.items() if "__" not in name}
        for name in [name for name in given if "__" in name]:
            owner, _, part = name.partition("__")
            settings: Any = whole.get(owner, getattr(self, owner, None))
            known = settings.get_params() if isinstance(settings, Settings) else {}
            if part not in known:
                hint = did_you_mean(name, [f"{owner}__{one}" for one in known])
                raise InvalidInputError(f"{type(self).__name__} has no parameter {name!r}.{hint}")
            whole[owner] = replace(settings, **{part: given[name]})
        return whole

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        require("torch", extra="deep", purpose=f"Fitting {type(self).__name__}")
        from zslearn.zero_shot.deep.training import torch_session

        with torch_session(self.device, self.random_state, self._work(X)) as device:
            self._train(dense(X), y, device)

    def _work(self, X: Features) -> float:
        """Multiplications in one step; large steps use several threads."""
        return 0.0

    def _train(self, X: NDArray, y: NDArray[np.intp], device: Any) -> None:
        """Learn from normalized dense features and class indices, and keep numpy arrays.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features, normalized.
        y : ndarray of shape (n_samples,)
            Positions in `seen_classes_` and `seen_signatures_`.
        device : torch.device
            Where to train.
        """
        raise NotImplementedError(f"{type(self).__name__} must provide _train")


def _with_older_names(made: Callable[..., None]) -> Callable[..., None]:
    """Make a constructor take parameters by the names they had in the release before."""

    @wraps(made)
    def init(self: DeepClassifier, *given: Any, **named: Any) -> None:
        older = {name: named.pop(name) for name in self.older_names() if name in named}
        made(self, *given, **named)
        if older:
            for name, value in self._settled(self._renamed(older)).items():
                setattr(self, name, value)

    return init
