"""Every family is what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from zslearn.datasets import FAMILIES, make_family
from zslearn.exceptions import InvalidInputError


@pytest.mark.parametrize("name", FAMILIES)
def test_sizes_classes_and_seed(name):
    family, data = FAMILIES[name], make_family(name, random_state=1)
    split = data.split("standard")
    assert (len(split.seen), len(split.unseen)) == (family.n_seen, family.n_unseen)
    assert len(data.y) == family.n_per_class * len(data.classes)
    assert len(np.unique(data.signatures.vectors, axis=0)) == len(data.classes)
    assert data.signatures.vectors.any(axis=1).all()
    np.testing.assert_array_equal(make_family(name, random_state=1).X, data.X)
    assert not np.array_equal(make_family(name, random_state=2).X, data.X)


def test_attributes_of_the_spread_are_in_the_variance_alone():
    data = make_family("spread", random_state=0)
    has = data.signatures.rows(data.y)[:, 0] > 0
    yes, no = data.X[has, 0], data.X[~has, 0]
    assert abs(yes.mean() - no.mean()) < 3 * yes.std() / np.sqrt(len(yes))
    assert yes.std() > 3 * no.std()


def test_attributes_of_sensors_are_in_the_variance_inside_classes():
    data = make_family("sensors", random_state=0)
    y, X = data.y, data.X / data.X.std(axis=0)
    inside = np.stack([X[y == name].std(axis=0) for name in data.classes])
    has = np.repeat(data.signatures.rows(data.classes), 3, axis=1) > 0
    assert inside[has].mean() > 1.3 * inside[~has].mean()
    assert np.ptp(np.log10(data.X.std(axis=0))) > 2  # units of their own


def test_attributes_of_the_product_are_in_no_feature_alone():
    data = make_family("product", random_state=0)
    has = 2 * data.signatures.rows(data.y)[:, 0] - 1
    n = data.signatures.n_dimensions
    assert abs(np.corrcoef(data.X[:, 0], has)[0, 1]) < 0.1
    assert np.corrcoef(data.X[:, 0] * data.X[:, n], has)[0, 1] > 0.8


def test_a_linear_map_explains_linear_features_and_no_uninformative_ones():
    explained = {}
    for name in ("linear", "uninformative"):
        data = make_family(name, random_state=0)
        S = np.column_stack([data.signatures.rows(data.y), np.ones(len(data.y))])
        rest = data.X - S @ np.linalg.lstsq(S, data.X, rcond=None)[0]
        explained[name] = 1 - rest.var() / data.X.var()
    assert explained["linear"] > 0.8
    assert explained["uninformative"] < 0.5


def test_correlated_attributes_are_nearly_copies():
    S = make_family("correlated attributes", random_state=0).signatures.vectors
    n = FAMILIES["correlated attributes"].n_factors
    assert 0.8 < (S[:, :n] == S[:, n : 2 * n]).mean() < 0.98
    assert 0.3 < (S[:, : n - 1] == S[:, 1:n]).mean() < 0.7


def test_an_unknown_family_is_told_its_neighbor():
    with pytest.raises(InvalidInputError, match=r"no family 'spred'\. Did you mean 'spread'"):
        make_family("spred")
