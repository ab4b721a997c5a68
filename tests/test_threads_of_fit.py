import numpy as np
import pytest
from scipy import linalg
from threadpoolctl import threadpool_info, threadpool_limits

from zslearn.autoencoder import SemanticAutoencoder, SemanticAutoencoderCV
from zslearn.cluster import LDAProjection, SupervisedKMeans
from zslearn.core.moments import Moments
from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.fixture
def threads_in_use(monkeypatch):
    """Numbers of BLAS threads in force whenever numpy decomposes or scipy reduces a matrix."""
    found = []

    def watched(function):
        def call(*args, **kwargs):
            found.append(blas_threads())
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(np.linalg, "eigh", watched(np.linalg.eigh))
    monkeypatch.setattr(linalg, "eigh", watched(linalg.eigh))
    monkeypatch.setattr(linalg, "svd", watched(linalg.svd))
    with threadpool_limits(2, user_api="blas"):
        yield found
        assert blas_threads() == {2}


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(random_state=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda table: SAEClassifier(table),
        lambda table: PrototypeRegression(table, n_repeats=1),
        lambda table: CalibratedStacking(SAEClassifier(table, lam=1.0)),
    ],
)
def test_small_fits_use_one_blas_thread(make, data, threads_in_use):
    make(data.signatures).fit(data.X, data.y)
    assert threads_in_use
    assert all(found == {1} for found in threads_in_use)


def test_learning_from_moments_uses_one_blas_thread(data, threads_in_use):
    X = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    SAEClassifier(data.signatures, lam=1.0).learn(Moments.of(X, data.y))
    assert threads_in_use
    assert all(found == {1} for found in threads_in_use)


@pytest.mark.parametrize("model", [SemanticAutoencoder(), SemanticAutoencoderCV()])
def test_autoencoders_use_one_blas_thread(model, data, threads_in_use):
    model.fit(data.X, data.signatures.rows(data.y))
    assert threads_in_use
    assert all(found == {1} for found in threads_in_use)


@pytest.mark.parametrize(
    "model", [LDAProjection(), SupervisedKMeans(LDAProjection(), n_clusters=2)]
)
def test_mappings_use_one_blas_thread(model, data, threads_in_use):
    model.fit(data.X, data.y)
    assert threads_in_use
    assert all(found == {1} for found in threads_in_use)
