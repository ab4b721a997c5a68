import numpy as np
import pytest
from scipy import sparse

from zslearn.autoencoder import SemanticAutoencoder
from zslearn.cluster import SupervisedKMeans, make_mapping
from zslearn.core.fitting import fit_method
from zslearn.core.magnitudes import (
    LARGEST,
    SMALLEST,
    check_finite,
    check_gram,
    check_not_vanishing,
    check_rows,
    check_signatures,
)
from zslearn.core.moments import Moments
from zslearn.core.nearest import best_columns
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier, ZeroShotMethod


def rows(seed=0, n=40, d=5):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_are_refused_from_the_bound_on(kind):
    X = rows()
    X[7, 3] = LARGEST
    check_rows(kind(X))
    X[7, 3] = np.nextafter(LARGEST, np.inf)
    with pytest.raises(InvalidInputError, match=r"row 7 of X holds numbers as large as 1\.33e\+36"):
        check_rows(kind(X))
    with pytest.raises(InvalidInputError, match=r"row 107 of the codes holds"):
        check_rows(kind(X), np.arange(100, 140), "the codes")
    X[7, 3] *= -1.0
    with pytest.raises(InvalidInputError, match=r"row 7 of X holds numbers as large as 1\.33e\+36"):
        check_rows(kind(X))
    X[30, 2] = np.nan
    with pytest.raises(InvalidInputError, match="row 30 of X holds NaN in column 2"):
        check_rows(kind(X))


def test_many_rows_that_are_allowed_one_by_one_are_allowed_together():
    check_rows(np.full((3000, 2), LARGEST))
    check_signatures(np.full((3000, 2), -LARGEST), np.arange(3000))


def test_single_precision_may_be_stored_as_double():
    with pytest.raises(InvalidInputError, match=r"overflow in float32\. .* store them as float64"):
        check_rows(np.full((2, 2), 1e20, dtype=np.float32))
    check_rows(np.full((2, 2), 1e20))


def test_vanishing_data_are_refused_but_zeros_are_not():
    check_not_vanishing([np.zeros((3, 2)), sparse.csr_array((2, 2))])
    check_not_vanishing([np.zeros((3, 2)), np.full((1, 2), SMALLEST)])
    with pytest.raises(InvalidInputError, match="largest number among the semantics is 1e-37"):
        check_not_vanishing([np.zeros((3, 2)), np.full((1, 2), 1e-37)], "semantics")
    with pytest.raises(InvalidInputError, match="largest number among the features is 1e-16"):
        check_not_vanishing([np.full((1, 2), 1e-16, dtype=np.float32)])


def test_moments_are_refused_by_their_trace():
    X, y = rows(), np.arange(40) % 2
    for scale in (LARGEST / 5, 1.0, SMALLEST, 0.0):
        check_gram(Moments.of(X * scale, y).gram, 40)
    for scale in (1e50, 1e-50):
        with pytest.raises(InvalidInputError, match="the squares of the features add up to"):
            check_gram(Moments.of(X * scale, y).gram, 40)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named_by_their_row(bad):
    scores = np.full((4, 3), 1e308)
    check_finite(scores, "scores")  # their sum overflows, and they do not
    scores[2, 1] = bad
    with pytest.raises(InvalidInputError, match="the scores of row 12 are not finite"):
        check_finite(scores, "scores", 10)


@pytest.mark.parametrize("shape", [(3, 4), (40, 900)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_nan_is_the_best_however_many_are_wanted(shape, k):
    values = np.random.default_rng(0).standard_normal(shape)
    values[1, 2] = np.nan
    columns, best = best_columns(values, k)
    assert columns[1, 0] == 2
    assert np.isnan(best[1, 0])
    others = np.delete(np.arange(len(values)), 1)
    expected = np.argsort(-values[others], axis=1, kind="stable")[:, :k]
    assert np.array_equal(columns[others], expected)


@pytest.mark.parametrize("scale", [1e120, 1e160, 1e-160])
def test_the_autoencoder_refuses_what_it_cannot_compute(scale):
    X, S = rows(0), rows(1, d=3)
    for given, pattern in [((X * scale, S), "X|features"), ((X, S * scale), "S|semantics")]:
        with pytest.raises(InvalidInputError, match=pattern):
            SemanticAutoencoder(lam=1.0).fit(*given)


def test_the_autoencoder_maps_nothing_to_infinity():
    X, S = rows(0), rows(1, d=3)
    model = SemanticAutoencoder(lam=1e60).fit(X, S * 1e30)
    with pytest.raises(InvalidInputError, match="the products with W of row 0 are not finite"):
        model.transform(X * 1e300)


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_the_autoencoder_is_right_in_any_unit_that_is_allowed(scale):
    X, S = rows(0), rows(1, d=3)
    expected = SemanticAutoencoder(lam=0.5).fit(X, S).coef_
    # A W + λ W G = (1 + λ) C: λ has the unit of S² / X², and W that of S / X.
    found = SemanticAutoencoder(lam=0.5).fit(X * scale, S * scale).coef_
    assert np.allclose(found, expected, rtol=1e-9, atol=0)


def test_mappings_refuse_what_they_cannot_compute(tmp_path):
    X, y = rows(), np.arange(40) % 4
    for name in ("rvml", "lda", "sae"):
        with pytest.raises(InvalidInputError, match=r"row \d+ of X holds numbers as large as"):
            make_mapping(name).fit(X * 1e160, y)
    with pytest.raises(InvalidInputError, match="largest number among the features"):
        SupervisedKMeans().fit(X * 1e-160, y)
    with pytest.raises(InvalidInputError, match=r"row \d+ of the codes holds"):
        SupervisedKMeans(make_mapping("lda")).fit(X, y).predict(X * 1e160)


def test_large_signatures_of_unit_length_are_saved_and_loaded(tmp_path):
    data = make_zero_shot(random_state=0)
    large = Signatures(data.signatures.names, data.signatures.vectors * 2.0**1000)
    plain = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y)
    model = SAEClassifier(large, lam=1.0).fit(data.X * 2.0**-1000, data.y)
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert np.array_equal(loaded.decision_function(data.X), plain.decision_function(data.X))


def test_signatures_left_as_they_are_are_refused_by_class():
    data = make_zero_shot(random_state=0)
    model = SAEClassifier(data.signatures, lam=1.0, signature_norm=None).fit(data.X, data.y)
    recognizer = model.recognizer()
    large = data.signatures.vectors[0] * 1e100
    model.add_classes({"huge": large})
    pattern = r"the signature of class huge holds numbers as large as \d"
    with pytest.raises(InvalidInputError, match=pattern):
        model.predict(data.X)
    with pytest.raises(InvalidInputError, match=pattern):
        recognizer.replace("huge", large)


class NotFinite(ZeroShotMethod):
    """A method whose scores of one class are NaN, as after an overflow nobody thought of."""

    def _fit(self, X, y):
        self.bad_ = 1

    def compare(self, queries, classes):
        scores = queries @ np.ones((queries.shape[1], len(classes)))
        scores[-1, self.bad_] = np.nan
        return scores


@pytest.mark.parametrize("ask", ["predict", "predict_top_k", "predict_proba", "decision_function"])
def test_no_answer_is_made_of_scores_that_are_not_finite(ask):
    data = make_zero_shot(random_state=0)
    model = NotFinite(data.signatures).fit(data.X, data.y)
    with pytest.raises(InvalidInputError, match=f"the scores of row {len(data.X) - 1} are not"):
        getattr(model, ask)(data.X)


class Learner:
    """Learns what it is told."""

    learned_ = None

    @fit_method
    def fit(self, X):
        self.learned_ = {"part": np.asarray(X)} if isinstance(X, list) else np.linalg.inv(X)
        return self


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e76, -1e76])
def test_a_fit_that_learns_nothing_finite_fails_in_one_line(bad):
    learner = Learner().fit([1.0])
    before = learner.learned_
    with pytest.raises(InvalidInputError, match=r"Learner learned .* \(learned_\)"):
        learner.fit([bad])
    with pytest.raises(InvalidInputError, match=r"Learner cannot be fitted .* \(Singular matrix\)"):
        learner.fit(np.zeros((2, 2)))
    assert learner.learned_ is before
