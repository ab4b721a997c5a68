"""Declared parameters: a constructor as scikit-learn wants it, facts and texts are inherited."""

from __future__ import annotations

import inspect
import pickle
from typing import Any, ClassVar

import pytest
from sklearn.base import BaseEstimator, clone

from zslearn._declared import Declared, fallbacks, fitted, parameter, search_space
from zslearn._parameters import Either, Number, Seed, Whole, check_parameters, facts_of
from zslearn.exceptions import InvalidInputError, InvalidTypeError


class Base(Declared, BaseEstimator):
    """What all of them take.

    Parameters
    ----------
    table : dict, optional
        What is known.
    left_norm, right_norm : {"l2", None}, default="l2"
        Scale the two sides to unit length.
    cv : int, default=5
        Number of folds.
    seed : int, optional
        How folds are dealt.

    Attributes
    ----------
    names_ : ndarray of shape (n_classes,)
        Classes.
    coef_ : ndarray of shape (n_dimensions, n_features)
        The map.
    """

    table: Any = parameter(default=None, kw_only=False)
    left_norm: str | None = parameter(default="l2", allowed=Either("l2", None))
    right_norm: str | None = parameter(default="l2", allowed=Either("l2", None))
    cv: int = parameter(default=5, allowed=Whole(2))
    seed: int | None = parameter(default=None, allowed=Seed())
    names_: Any = fitted("names c")
    coef_: Any = fitted("k d")


class Method(Base):
    """One of them.

    With a few words.

    Parameters
    ----------
    gamma, lam : "cv" or float, default="cv"
        Penalties.
    right_norm : {"l2", None}, optional
        As in the paper, nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (k, d)
        Vᵀ.

    Examples
    --------
    >>> 1 + 1
    2
    """

    tags: ClassVar = "closed form"
    gamma: float | str = parameter(default="cv", allowed=Number(above=0), tried=(0.1, 1.0, 10.0))
    lam: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(0.1, 1.0), fallback=1.0
    )
    right_norm: str | None = parameter(default=None)
    cv: int = parameter(default=3)
    dual_: Any = fitted()


class Written(Method):
    """A constructor that somebody wrote."""

    extra: int = parameter(default=1, allowed=Whole(0))

    def __init__(self, table: Any = None, *, gamma: float | str = "cv", extra: int = 2) -> None:
        super().__init__(table, gamma=gamma)
        self.extra = extra


def test_the_constructor_takes_what_is_declared_own_parameters_first():
    signature = inspect.signature(Method)
    assert list(signature.parameters) == [
        "table", "gamma", "lam", "right_norm", "cv", "left_norm", "seed",
    ]  # fmt: skip
    kinds = {name: one.kind for name, one in signature.parameters.items()}
    assert kinds.pop("table") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}
    assert signature.parameters["cv"].default == 3
    assert inspect.signature(Base).parameters["cv"].default == 5
    with pytest.raises(TypeError, match="unexpected keyword argument 'gama'"):
        Method(gama=1.0)
    with pytest.raises(TypeError, match="positional argument"):
        Method(None, 1.0)


def test_it_is_an_estimator_of_scikit_learn():
    table = {"a": [1.0]}
    method = Method(table, gamma=2.0)
    assert method.table is table
    assert vars(method).keys() == set(inspect.signature(Method).parameters)
    twin = clone(method.set_params(lam=0.5))
    assert twin.get_params() == method.get_params() | {"table": table}
    assert (twin.gamma, twin.lam, twin.cv) == (2.0, 0.5, 3)
    assert repr(Method(gamma=2.0)) == "Method(gamma=2.0)"
    assert not hasattr(method, "coef_")
    assert not hasattr(method, "dual_")
    assert pickle.loads(pickle.dumps(method)).get_params() == method.get_params()
    assert method != Method(table, gamma=2.0)
    assert hash(method)


def test_facts_are_inherited_and_a_second_line_changes_what_it_names():
    allowed = {name: one.words for name, one in facts_of(Method, "allowed").items()}
    assert allowed == {
        "left_norm": "'l2' or None",
        "right_norm": "'l2' or None",
        "cv": "a whole number of at least 2",
        "seed": "None or a whole number from 0 to 4294967295",
        "gamma": "'cv' or a positive number",
        "lam": "'cv' or a positive number",
    }
    assert search_space(Method()) == {"gamma": (0.1, 1.0, 10.0), "lam": (0.1, 1.0)}
    assert fallbacks(Method()) == {"gamma": 0.1, "lam": 1.0}
    assert facts_of(Method, "shape") == {"names_": "names c", "coef_": "k d", "dual_": None}
    with pytest.raises(
        InvalidInputError, match=r"^gamma must be 'cv' or a positive number; got -1"
    ):
        check_parameters(Method(gamma=-1))
    with pytest.raises(InvalidInputError, match=r"^cv must be a whole number of at least 2; got 1"):
        check_parameters(Method(cv=1))


def test_what_would_not_reach_the_constructor_is_refused():
    class Left(Base):
        pass

    class Right(Base):
        cv: int = parameter(default=7, allowed=Whole(3))

    says = r"\.cv differs from the parameter that a base declares; declare it in {} too, cv: "
    with pytest.raises(InvalidTypeError, match=says.format("Both")):

        class Both(Left, Right):
            pass

    with pytest.raises(InvalidTypeError, match=says.format("Plain")):

        class Plain(Base):
            cv = 7

    with pytest.raises(InvalidTypeError, match=says.format("Computed")):

        class Computed(Base):
            @property
            def cv(self) -> int:
                return 7

    class Settled(Left, Right):
        cv: int = parameter(default=7)

    assert facts_of(Settled, "allowed")["cv"].words == "a whole number of at least 3"
    assert inspect.signature(Settled).parameters["cv"].default == Settled().cv == 7


def test_what_is_allowed_reads_as_one_list():
    nested = parameter(default="cv", allowed=Either(None, Number(above=0)), tried=(1.0,))
    assert nested.metadata["allowed"].words == "'cv', None or a positive number"


def test_a_constructor_written_by_hand_is_kept_also_by_those_derived_from_it():
    class Derived(Written):
        pass

    for kind in (Written, Derived):
        made = kind(gamma=2.0)
        assert list(inspect.signature(kind).parameters) == ["table", "gamma", "extra"]
        assert (made.gamma, made.extra, made.cv) == (2.0, 2, 3)
        assert clone(made.set_params(extra=5)).extra == 5
        assert facts_of(kind, "allowed")["extra"].words == "a whole number of at least 0"
    with pytest.raises(InvalidInputError, match=r"^extra must be a whole number"):
        check_parameters(Derived(extra=-1))


def test_a_parameter_that_a_written_constructor_would_not_take_is_refused():
    with pytest.raises(
        InvalidTypeError, match=r"Late declares the parameter more, but Written .*; write one in La"
    ):

        class Late(Written):
            more: int = parameter(default=1)


@pytest.mark.parametrize("name", ["coef_", "_moments", "gamma"])
def test_an_annotation_alone_is_refused(name):
    with pytest.raises(InvalidTypeError, match=rf"Bare\.{name} is annotated and has no value;"):
        type("Bare", (Base,), {"__annotations__": {name: "float"}, "__module__": __name__})


def test_annotations_of_a_base_that_declares_nothing_are_no_matter():
    class Mixin:
        cv: int
        other: str

    class Mixed(Mixin, Base):
        own: int = parameter(default=1)

    assert list(inspect.signature(Mixed).parameters)[:2] == ["table", "own"]
    assert Mixed(cv=4).cv == 4


def test_a_constant_may_become_a_parameter():
    class Fixed(Base):
        power: float = parameter(default=0.5, allowed=Number(above=0), init=False)

    class Free(Fixed):
        power: float = parameter(default=0.5)

    assert Fixed().power == 0.5
    assert "power" not in inspect.signature(Fixed).parameters
    assert Free(power=2.0).power == 2.0
    with pytest.raises(InvalidInputError, match=r"^power must be a positive number; got 0"):
        check_parameters(Free(power=0))


def test_a_parameter_may_have_to_be_given():
    class Wrapper(Declared, BaseEstimator):
        estimator: Any = parameter(kw_only=False)
        cv: int = parameter(default=5, allowed=Whole(2))

    assert Wrapper(Method()).cv == 5
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'estimator'"):
        Wrapper()


def test_inherited_entries_are_documented_in_the_order_of_the_constructor():
    assert (
        Method.__doc__
        == """One of them.

With a few words.

Parameters
----------
table : dict, optional
    What is known.
gamma, lam : "cv" or float, default="cv"
    Penalties.
right_norm : {"l2", None}, optional
    As in the paper, nothing.
cv : int, default=3
    Number of folds.
left_norm : {"l2", None}, default="l2"
    Scale the two sides to unit length.
seed : int, optional
    How folds are dealt.

Attributes
----------
coef_ : ndarray of shape (k, d)
    Vᵀ.
names_ : ndarray of shape (n_classes,)
    Classes.

Examples
--------
>>> 1 + 1
2"""
    )


def test_a_written_constructor_is_documented_by_what_it_takes():
    parameters, attributes = Written.__doc__.partition("Attributes")[::2]
    assert "extra" not in Written.__doc__
    assert "table : dict, optional\n" in parameters
    assert 'gamma : "cv" or float, default="cv"\n    Penalties.' in parameters
    assert "cv : int" not in parameters
    assert attributes.count("coef_ : ") == 1


def test_a_class_without_a_docstring_shows_that_of_its_base():
    class Silent(Method):
        pass

    assert Silent.__doc__ is None
    assert inspect.getdoc(Silent) == inspect.getdoc(Method)
