import numpy as np
import pandas as pd
import pytest
import sklearn

from zslearn.cluster import MAPPINGS, SupervisedKMeans, make_mapping
from zslearn.datasets import make_zero_shot

DATA = make_zero_shot(4, 2, n_per_class=8, n_features=10, random_state=0)
X = pd.DataFrame(DATA.X, columns=[f"f{i}" for i in range(10)])
X.index = [f"s{i}" for i in range(len(X))]


@pytest.mark.filterwarnings("ignore")  # iterative methods on few samples may stop early
@pytest.mark.parametrize("name", MAPPINGS)
def test_codes_as_data_frames(name):
    fewer = {"n_pairs": 20} if name == "itml" else {}
    mapping = make_mapping(name, **fewer).fit(X, DATA.y)
    expected = mapping.transform(X)
    codes = mapping.set_output(transform="pandas").transform(X)
    np.testing.assert_array_equal(codes, expected)
    assert list(codes.index) == list(X.index)
    assert codes.columns[0] == f"{type(mapping).__name__.lower()}0"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["sae", "mlca"])
def test_clusters_do_not_depend_on_the_kind_of_output(name):
    model = SupervisedKMeans(make_mapping(name), n_clusters=3, random_state=0)
    labels = model.fit(X, DATA.y).predict(X)
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(model.fit(X, DATA.y).predict(X), labels)
