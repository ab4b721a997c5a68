import numpy as np
import pytest
from sklearn.base import clone

from zslearn.cluster import KISSME, MLCA, RCA, RVML, LDAProjection, SAEMapping
from zslearn.encoders import write_store
from zslearn.exceptions import InvalidInputError
from zslearn.scale import fit_batches, threads
from zslearn.zero_shot import (
    ESZSLClassifier,
    PrototypeRegression,
    RidgeClassifierFS,
    RRZSLClassifier,
    SAEClassifier,
    SJEClassifier,
)

ALL_ROWS = 10**6


def classifiers(signatures):
    return [
        SAEClassifier(signatures),
        SAEClassifier(signatures, lam=2.0, direction="both", feature_norm=None),
        RidgeClassifierFS(signatures),
        RRZSLClassifier(signatures, lam=0.3),
        ESZSLClassifier(signatures, gamma=1.0),
        PrototypeRegression(signatures, power=0.5, n_repeats=1),
    ]


def learned(model):
    for name in ("coef_decode_", "dual_coef_", "coef_"):
        if hasattr(model, name):
            return getattr(model, name)
    raise AssertionError(f"{model} has learned nothing")


@pytest.mark.parametrize("position", range(6))
def test_blocks_give_the_model_of_fit_with_the_same_choices(data, seen, position):
    model = classifiers(data.signatures)[position]
    expected = clone(model).fit(*seen)
    got = fit_batches(model, *seen, block_rows=97, validation_rows=ALL_ROWS)
    assert got is model
    difference = np.abs(learned(got) - learned(expected)).max()
    assert difference < 1e-10 * np.abs(learned(expected)).max()
    np.testing.assert_array_equal(got.predict(data.X), expected.predict(data.X))


def test_accuracies_on_held_out_classes_are_those_of_fit(data, seen):
    expected = SAEClassifier(data.signatures).fit(*seen)
    got = fit_batches(
        SAEClassifier(data.signatures), *seen, block_rows=97, validation_rows=ALL_ROWS
    )
    np.testing.assert_allclose(
        got.cv_results_["split2_test_score"], expected.cv_results_["split2_test_score"]
    )
    assert [f.tolist() for f in got.folds_] == [f.tolist() for f in expected.folds_]


def test_a_sample_of_the_rows_is_enough_to_choose(data, seen):
    unseen = data.rows(data.split("standard").unseen)
    X, y = data.X[unseen], data.y[unseen]
    few = fit_batches(SAEClassifier(data.signatures), *seen, validation_rows=100)
    assert (
        few.score(X, y, "unseen")
        > SAEClassifier(data.signatures).fit(*seen).score(X, y, "unseen") - 0.05
    )


@pytest.mark.parametrize(
    "mapping",
    [
        LDAProjection(),
        RCA(),
        KISSME(),
        RVML(),
        MLCA(),
        SAEMapping(0.5),
        SAEMapping(0.5, class_weight="balanced"),
    ],
    ids=str,
)
def test_mappings_for_clustering_learn_from_blocks(seen, mapping):
    expected = clone(mapping).fit(*seen)
    got = fit_batches(clone(mapping), *seen, block_rows=97)
    # Directions of an eigenproblem are known up to their sign.
    ours, theirs = np.abs(got.coef_), np.abs(expected.coef_)
    np.testing.assert_allclose(ours, theirs, atol=1e-9 * theirs.max())


def test_any_number_of_threads_gives_the_same_bits(data, seen):
    models = []
    for n in (1, 2, 5):
        with threads(n):
            models.append(fit_batches(SAEClassifier(data.signatures), *seen, block_rows=31))
    assert all(np.array_equal(learned(models[0]), learned(model)) for model in models)


def test_batches_of_an_iterator_need_the_classes_only_to_choose(data, seen):
    X, y = seen
    names = data.split("standard").seen

    def batches():
        return ((X[i : i + 50], y[i : i + 50]) for i in range(0, len(y), 50))

    expected = SAEClassifier(data.signatures).fit(X, y)
    got = fit_batches(
        SAEClassifier(data.signatures), batches(), classes=names, validation_rows=ALL_ROWS
    )
    np.testing.assert_allclose(learned(got), learned(expected), atol=1e-10)
    fixed = fit_batches(SAEClassifier(data.signatures, lam=1.0), batches())
    assert fixed.lam_ == {"encode": 1.0, "decode": 1.0}
    with pytest.raises(InvalidInputError, match="Pass classes=, or give the parameters as numbers"):
        fit_batches(SAEClassifier(data.signatures), batches())


def test_only_rows_of_the_classes_asked_for_are_used(data, tmp_path):
    names = data.split("standard").seen
    rows = data.rows(names)
    expected = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    store = write_store(tmp_path / "store", [(data.X, data.y)], dtype="float64")
    got = fit_batches(SAEClassifier(data.signatures, lam=1.0), store, classes=names, block_rows=64)
    np.testing.assert_allclose(learned(got), learned(expected), atol=1e-12)
    np.testing.assert_array_equal(got.classes_, expected.classes_)
    with pytest.raises(InvalidInputError, match="the data has no class dodo"):
        fit_batches(SAEClassifier(data.signatures), store, classes=["dodo"])


@pytest.mark.parametrize("exponent", [0, -3])
@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_single_and_half_precision_against_double(data, seen, kind, exponent):
    """Ill-conditioned: the features' scales spread over three decades (six in their squares)."""
    X, y = seen
    spread = X * np.logspace(0, exponent, X.shape[1])
    stored = spread.astype(kind)
    model = SAEClassifier(data.signatures, lam=1.0)
    exact = clone(model).fit(stored.astype(np.float64), y)
    got = fit_batches(clone(model), stored, y, block_rows=128)
    error = np.linalg.norm(learned(got) - learned(exact)) / np.linalg.norm(learned(exact))
    assert error < 1e-6
    # What rounding the store to half precision itself costs is a thousand times more.
    assert (got.predict(spread) == exact.predict(spread)).mean() > 0.999


def test_methods_that_need_rows_say_so_before_any_work(data, seen):
    def never():
        yield seen
        raise AssertionError("must not be read")

    with pytest.raises(InvalidInputError, match="SJEClassifier learns from the rows themselves"):
        fit_batches(SJEClassifier(data.signatures), never())
    with pytest.raises(InvalidInputError, match="one-hot signatures"):
        fit_batches(SAEClassifier(), *seen)
    with pytest.raises(InvalidInputError, match="lam='cv' needs rows"):
        fit_batches(SAEMapping("cv"), *seen)


def test_wrong_arguments_are_named(data, seen):
    model = SAEClassifier(data.signatures, lam=1.0)
    with pytest.raises(InvalidInputError, match=r"block_rows must be .* got 0"):
        fit_batches(model, *seen, block_rows=0)
    with pytest.raises(InvalidInputError, match=r"validation_rows must be .* got 0"):
        fit_batches(SAEClassifier(data.signatures), *seen, validation_rows=0)
    with pytest.raises(InvalidInputError, match="the iterator gave no batch"):
        fit_batches(model, iter([]))
    with pytest.raises(InvalidInputError, match="batch 1 must hold features of shape"):
        fit_batches(model, [(seen[0], seen[1]), (seen[0][:, :3], seen[1])])


def test_progress_is_shown_on_stderr(data, seen, capfd):
    fit_batches(SAEClassifier(data.signatures, lam=1.0), *seen, block_rows=64, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "moments: 100%" in err
    assert "rows/s" in err
