import numpy as np
import pandas as pd
import pytest
import sklearn

from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.persistence import load, save

RNG = np.random.default_rng(0)
S = pd.DataFrame(RNG.standard_normal((40, 3)), columns=["stripes", "swims", "flies"])
X = pd.DataFrame(S.to_numpy() @ RNG.standard_normal((3, 6)), index=[f"s{i}" for i in range(40)])
X.columns = [f"f{i}" for i in range(6)]


@pytest.mark.parametrize("model", [SemanticAutoencoder(), SemanticAutoencoderCV()], ids=str)
def test_codes_have_the_names_of_the_semantics(model):
    codes = model.set_output(transform="pandas").fit(X, S).transform(X)
    assert list(codes.columns) == list(S.columns)
    assert list(codes.index) == list(X.index)
    np.testing.assert_array_equal(codes, model.set_output(transform="default").transform(X))


def test_names_are_saved_and_forgotten_with_the_model(tmp_path):
    model = SemanticAutoencoder().fit(X, S)
    save(model, tmp_path / "m.zsl")
    assert load(tmp_path / "m.zsl").get_feature_names_out().tolist() == list(S.columns)
    model.fit(X, S.to_numpy())
    assert model.get_feature_names_out()[0] == "semanticautoencoder0"


def test_the_error_does_not_depend_on_the_kind_of_output():
    model = SemanticAutoencoder().fit(X, S)
    error = model.reconstruction_error(X)
    with sklearn.config_context(transform_output="pandas"):
        assert model.reconstruction_error(X) == error
