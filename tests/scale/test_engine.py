"""An engine is a class with two methods."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from zslearn.core.learner import gather_rows
from zslearn.encoders import write_store
from zslearn.scale import Engine
from zslearn.scale.dask import fit_pieces, gather_piece, pieces_of_array, pieces_of_files
from zslearn.scale.source import ArraySource
from zslearn.zero_shot import SAEClassifier


class HereAndNow(Engine):
    """Calls at once, and counts."""

    n_calls = 0

    def call(self, function, *arguments):
        self.n_calls += 1
        return function(*arguments)

    def result(self, task):
        return task


def test_any_engine_gives_the_model_of_fit(data, seen, monkeypatch, tmp_path):
    X, y = seen
    monkeypatch.setattr("zslearn.scale.dask._PIECE_BYTES", 1)
    times = 1024 * 6 // len(y) + 1
    many = np.tile(X, (times, 1)), np.tile(y, times)
    expected = SAEClassifier(data.signatures).fit(*many)
    engine = HereAndNow()
    outline, pieces = pieces_of_array(ArraySource(*many))
    assert len(pieces) > 4
    got = fit_pieces(
        SAEClassifier(data.signatures), (outline, pieces), engine, validation_rows=10**6
    )
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10)
    # One call for each piece, and one for every four partial results until there is one.
    assert engine.n_calls == len(pieces) + -(-len(pieces) // 4) + 1
    files = [
        write_store(tmp_path / str(i), [(X[i::3], y[i::3])], dtype="float64") for i in range(3)
    ]
    model = SAEClassifier(data.signatures, lam=1.0)
    got = fit_pieces(model, pieces_of_files(files), engine)
    expected = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10)


@pytest.fixture
def single(seen, monkeypatch):
    """Rows of single precision that are cut into several pieces."""
    monkeypatch.setattr("zslearn.scale.dask._PIECE_BYTES", 1)
    return np.tile(seen[0].astype(np.float32), (5, 1)), np.tile(seen[1], 5)


@pytest.mark.parametrize("shift", [0, 5])
def test_sums_of_single_precision_agree_to_what_the_docs_say(data, single, shift):
    X, y = single[0] + np.float32(shift), single[1]
    model = SAEClassifier(data.signatures, lam=1.0)
    _, pieces = pieces_of_array(ArraySource(X, y))
    assert len(pieces) > 1
    got = reduce(add, [gather_piece(piece, model.moment_plan()) for piece in pieces]).total
    rows = normalize(X)
    in_memory = gather_rows(rows, y).total
    for expected in (in_memory.gram, rows.T.astype(np.float64) @ rows.astype(np.float64)):
        largest = np.abs(expected).max()
        np.testing.assert_allclose(got.gram, expected, rtol=0, atol=1e-6 * largest)


def test_single_precision_agrees_to_what_the_docs_say(data, single):
    X, y = single
    expected = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    cut = pieces_of_array(ArraySource(X, y))
    got = fit_pieces(SAEClassifier(data.signatures, lam=1.0), cut, HereAndNow())
    assert len(cut[1]) > 1
    largest = np.abs(expected.coef_).max()
    np.testing.assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-6 * largest)
