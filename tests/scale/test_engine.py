"""An engine is a class with two methods."""

import numpy as np

from zslearn.features import write_store
from zslearn.scale import Engine
from zslearn.scale.engine import fit_pieces
from zslearn.scale.pieces import pieces_of_array, pieces_of_files
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
    monkeypatch.setattr("zslearn.scale.pieces._PIECE_BYTES", 1)
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


def test_single_precision_agrees_to_what_the_docs_say(data, seen, monkeypatch):
    monkeypatch.setattr("zslearn.scale.pieces._PIECE_BYTES", 1)
    X, y = np.tile(seen[0].astype(np.float32), (5, 1)), np.tile(seen[1], 5)
    expected = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    cut = pieces_of_array(ArraySource(X, y))
    got = fit_pieces(SAEClassifier(data.signatures, lam=1.0), cut, HereAndNow())
    assert len(cut[1]) > 1
    largest = np.abs(expected.coef_).max()
    np.testing.assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-6 * largest)
