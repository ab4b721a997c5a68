"""The deep semantic autoencoder: it starts as SAE, its gradients are right, it learns curves."""

import numpy as np
import pytest
from sklearn.base import clone

from zslearn.core.moments import Moments
from zslearn.core.nearest import scores
from zslearn.core.whitening import WithinClassCovariance
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.evaluation import evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier
from zslearn.zero_shot.search import Fold

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep import DeepSemanticAutoencoder  # noqa: E402
from zslearn.zero_shot.deep import autoencoder_training as training  # noqa: E402
from zslearn.zero_shot.deep.autoencoder import FeatureSpace, StartSearch, gelu  # noqa: E402
from zslearn.zero_shot.deep.training import Course  # noqa: E402

PLAIN = {"start__power": 1.0, "start__shrinkage": None, "start__metric": "cosine"}


def autoencoder(signatures=None, **given):
    return DeepSemanticAutoencoder(signatures).set_params(**given)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        12, 4, n_per_class=12, n_features=15, n_dimensions=7, noise=1.0, random_state=0
    )


def parts_of(data):
    split = data.split("standard")
    return data.rows(split.seen), data.rows(split.unseen)


def unseen_accuracy(clf, data):
    seen, unseen = parts_of(data)
    clf.fit(data.X[seen], data.y[seen])
    return clf.score(data.X[unseen], data.y[unseen], candidates="unseen")


@pytest.mark.parametrize("direction", ["decode", "encode", "both"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_without_a_step_it_is_the_semantic_autoencoder(data, direction, metric):
    seen, unseen = parts_of(data)
    X, y = data.X[seen], data.y[seen]
    deep = autoencoder(data.signatures, training__n_steps=0, random_state=3, **PLAIN)
    deep.set_params(start__direction=direction, start__metric=metric)
    sae = SAEClassifier(data.signatures, direction=direction, metric=metric, random_state=3)
    found, wanted = (clf.fit(X, y).decision_function(data.X[unseen], "all") for clf in (deep, sae))
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert deep.lam_ == sae.lam_


def test_tied_without_a_step_it_is_the_semantic_autoencoder_of_one_lambda(data):
    seen, unseen = parts_of(data)
    found, wanted = (
        clf.fit(data.X[seen], data.y[seen]).decision_function(data.X[unseen])
        for clf in (
            autoencoder(
                data.signatures,
                training__tied=True,
                training__n_steps=0,
                start__lam=0.3,
                start__direction="both",
                **PLAIN,
            ),
            SAEClassifier(data.signatures, lam=0.3, direction="both"),
        )
    )
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_the_whitened_space_is_the_textbook_one(data):
    seen, _ = parts_of(data)
    X, y = data.X[seen], np.unique(data.y[seen], return_inverse=True)[1]
    S = np.arange(24.0).reshape(12, 2)
    space = FeatureSpace.of(X, y, S, power=1.0, shrinkage=0.4, unit=False)
    Z = space.features(X)
    covariance = WithinClassCovariance.of(Moments.of(X, y))
    means = np.array([Z[y == c].mean(axis=0) for c in range(12)])
    np.testing.assert_allclose(means.mean(axis=0), 0.0, atol=1e-10)
    shrunk = 0.6 * covariance.matrix + 0.4 * covariance.target * np.eye(X.shape[1])
    # The span of 12 centered means has 11 directions, in which their products with all rows are.
    assert Z.shape[1] == 11
    whole = np.array([X[y == c].mean(axis=0) for c in range(12)])
    wanted = space_products(X, y, shrunk, whole)
    np.testing.assert_allclose(Z @ means.T, wanted, atol=1e-8)
    np.testing.assert_allclose(space.signatures(S).mean(axis=0), 0.0, atol=1e-12)


def space_products(X, y, covariance, means):
    return (X - means.mean(axis=0)) @ np.linalg.inv(covariance) @ (means - means.mean(axis=0)).T


def test_space_and_lambda_are_chosen_in_spaces_that_never_saw_the_held_out_classes(data):
    seen, _ = parts_of(data)
    X, y = data.X[seen], np.unique(data.y[seen], return_inverse=True)[1]
    S = np.random.RandomState(0).standard_normal((12, 4))
    train, held_out = np.flatnonzero(y < 8), np.flatnonzero(y >= 8)
    point = {"power": 1.0, "shrinkage": 0.5, "metric": "euclidean"}
    found = []
    for other in (X, np.where((y < 8)[:, None], X, -3 * X)):
        search = StartSearch(other, y, S, [Fold.of(y, train, held_out)], 0.1, unit=False)
        found.append(search.space(point, 0))
    np.testing.assert_array_equal(found[0].whitening, found[1].whitening)
    # The accuracy of the search is that of the closed form of the known classes.
    search = StartSearch(X, y, S, [Fold.of(y, train, held_out)], 0.1, unit=False)
    lams, curves = search._curves(point, ["euclidean"])
    known, new = found[0].signatures(S[:8]), found[0].signatures(S[8:])
    names = np.array(list("abcdefghijkl"))
    sae = SAEClassifier(
        Signatures(names, np.vstack([known, new])),
        lam=0.1,
        metric="euclidean",
        direction="decode",
        feature_norm=None,
        signature_norm=None,
    ).fit(found[0].features(X[train]), names[y[train]])
    wanted = sae.score(found[0].features(X[held_out]), names[y[held_out]], candidates="unseen")
    assert lams["decode"] == [0.1]
    assert curves[0, 1, 0] == pytest.approx(wanted)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
def test_gradients_are_those_of_finite_differences(tied, metric):
    rng = np.random.RandomState(0)
    problem = training.Problem(
        rng.standard_normal((9, 5)),
        np.arange(9) % 3,
        rng.standard_normal((3, 4)),
        rng.standard_normal((4, 5)),
        rng.standard_normal((4, 5)),
    )
    recipe = training.Recipe(
        ways=("encode", "decode"),
        metric=metric,
        hidden=3,
        tied=tied,
        decode=0.7,
        encode=0.4,
        classify=1.3,
        reconstruct=0.6,
        softness=1.0,
        learning_rate=1e-3,
        weight_decay=0.0,
        course=Course(1),
    )
    arrays = training.start(problem, recipe, rng)
    arrays = {name: one + 0.3 * rng.standard_normal(one.shape) for name, one in arrays.items()}

    def value(changed):
        tensors = {name: torch.tensor(one, requires_grad=True) for name, one in changed.items()}
        batch = torch.tensor(problem.Z), torch.tensor(problem.y)
        loss = training.batch_loss(tensors, batch, torch.tensor(problem.S), recipe, 0.8)
        return loss, tensors

    loss, tensors = value(arrays)
    loss.backward()
    for name, one in arrays.items():
        numeric = np.zeros_like(one)
        for place in np.ndindex(one.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = {**arrays, name: one.copy()}
                moved[name][place] += step
                sides.append(value(moved)[0].item())
            numeric[place] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(tensors[name].grad.numpy(), numeric, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("tied", [False, True])
def test_without_an_encoder_that_changes_no_score_the_decoder_is_the_same(data, tied):
    clf = autoencoder(data.signatures, n_hidden=9, training__tied=tied)
    clf.metric_ = "euclidean"
    recipe = clf._recipe(12, ())
    rng = np.random.RandomState(0)
    W = rng.standard_normal((7, 15))
    S = rng.standard_normal((12, 7))
    problem = training.Problem(data.X[:90], np.arange(90) % 12, S, W, W)
    whole, scores_only = (
        training.train_autoencoder(problem, one, torch.device("cpu"), 0)[0]
        for one in (recipe, recipe.for_scores())
    )
    assert recipe.for_scores().encodes == tied
    for name, one in whole.items():
        if tied or name.startswith("decoder"):
            np.testing.assert_array_equal(scores_only[name], one)


def test_numpy_and_torch_score_alike(data):
    seen, unseen = parts_of(data)
    clf = autoencoder(
        data.signatures, n_hidden=9, training__n_steps=15, start__direction="both", **PLAIN
    )
    clf.fit(data.X[seen], data.y[seen])
    weights = {name: torch.tensor(one).double() for name, one in clf.parameters_.items()}
    assert all(one.abs().max() > 0 for one in weights.values())
    X, S = (
        M / np.linalg.norm(M, axis=1)[:, None] for M in (data.X[unseen], data.signatures.vectors)
    )
    Z, S = torch.tensor(X), torch.tensor(S)
    recipe = clf._recipe(1, ())
    wanted = training.class_scores(weights, training.encode(weights, Z), Z, S, recipe)
    found = clf.decision_function(data.X[unseen], list(data.signatures.names))
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-6)
    np.testing.assert_allclose(clf.encode(data.X[unseen]), training.encode(weights, Z), atol=1e-6)
    np.testing.assert_allclose(
        clf.decode(data.signatures.vectors), training.decode(weights, S), atol=1e-6
    )


def test_gelu_is_that_of_torch():
    values = np.linspace(-5, 5, 41)
    wanted = torch.nn.functional.gelu(torch.tensor(values)).numpy()
    np.testing.assert_allclose(gelu(values), wanted, atol=1e-12)


def curved(random_state=0, n_seen=40, n_unseen=12):
    """Features that depend on signatures by products of their entries: no linear map knows them."""
    rng = np.random.RandomState(random_state)
    S = rng.choice([-1.0, 1.0], (n_seen + n_unseen, 6)) + 0.1 * rng.standard_normal((52, 6))
    pairs = np.triu_indices(6, 1)
    P = rng.standard_normal((15, 30))
    means = (S[:, pairs[0]] * S[:, pairs[1]]) @ P
    y = np.repeat(np.arange(len(S)), 15)
    X = means[y] + 2.0 * rng.standard_normal((len(y), 30))
    names = np.array([f"c{i:02d}" for i in range(len(S))])
    return X, names[y], Signatures(names, S), names[:n_seen], names[n_seen:]


@pytest.mark.parametrize("seed", [0, 1])
def test_on_data_of_a_curved_map_it_beats_the_linear_one_by_a_wide_margin(seed):
    X, y, signatures, seen, unseen = curved(seed)
    train, test = np.isin(y, seen), np.isin(y, unseen)
    given = {"feature_norm": None, "signature_norm": None}
    linear = SAEClassifier(signatures, **given).fit(X[train], y[train])
    deep = autoencoder(
        signatures,
        search__max_steps=960,
        training__learning_rate=1e-2,
        n_hidden=256,
        search__cv=3,
        **{f"start__{name}": value for name, value in given.items()},
    ).fit(X[train], y[train])
    reached = [clf.score(X[test], y[test], candidates="unseen") for clf in (linear, deep)]
    assert deep.n_steps_ > 40
    assert reached[0] < 0.4
    assert reached[1] > reached[0] + 0.3


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_on_linear_data_it_does_not_lose(seed):
    data = make_zero_shot(
        20, 8, n_per_class=15, n_features=25, n_dimensions=10, noise=2.0, random_state=seed
    )
    linear = unseen_accuracy(SAEClassifier(data.signatures), data)
    deep = unseen_accuracy(autoencoder(data.signatures, n_hidden=64, search__cv=3), data)
    assert 0.5 < linear < 1.0
    assert deep > linear - 0.03


def test_the_number_of_steps_is_where_held_out_classes_are_recognized_best(data):
    seen, _ = parts_of(data)
    clf = autoencoder(
        data.signatures, n_hidden=16, search__max_steps=20, search__cv=3, start__lam=0.1, **PLAIN
    )
    clf.fit(data.X[seen], data.y[seen])
    tried = [point["training__n_steps"] for point in clf.cv_results_["params"]]
    assert tried == [0, 5, 10, 20]
    best = int(np.argmax(clf.cv_results_["mean_test_score"]))
    assert clf.n_steps_ == clf.best_params_["training__n_steps"] == tried[best]
    assert len(clf.loss_curve_) == clf.n_steps_


def test_a_seed_fixes_the_model_and_the_callers_generator_is_not_touched(data):
    seen, unseen = parts_of(data)
    clf = autoencoder(data.signatures, n_hidden=8, training__n_steps=10, start__lam=0.1, **PLAIN)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = clone(clf).fit(data.X[seen], data.y[seen]).decision_function(data.X[unseen])
    assert torch.equal(torch.get_rng_state(), state)
    again = clone(clf).fit(data.X[seen], data.y[seen]).decision_function(data.X[unseen])
    np.testing.assert_array_equal(first, again)
    other = clone(clf).set_params(random_state=1).fit(data.X[seen], data.y[seen])
    assert np.abs(other.decision_function(data.X[unseen]) - first).max() > 1e-6


@pytest.mark.parametrize("shrinkage", [None, 0.5])
def test_a_saved_model_answers_the_same(data, shrinkage, tmp_path):
    seen, unseen = parts_of(data)
    clf = autoencoder(
        data.signatures,
        n_hidden=8,
        training__n_steps=5,
        start__lam=0.1,
        start__power=0.5,
        start__shrinkage=shrinkage,
    ).fit(data.X[seen], data.y[seen])
    save(clf, tmp_path / "deep.zsl")
    loaded = load(tmp_path / "deep.zsl")
    np.testing.assert_array_equal(
        loaded.decision_function(data.X[unseen]), clf.decision_function(data.X[unseen])
    )
    assert b"pickle" not in (tmp_path / "deep.zsl").read_bytes()


def test_an_interrupted_fit_leaves_the_model_as_it_was(data, monkeypatch):
    seen, _ = parts_of(data)
    clf = autoencoder(data.signatures, n_hidden=8, training__n_steps=5, start__lam=0.1, **PLAIN)
    clf.fit(data.X[seen], data.y[seen])
    before = dict(vars(clf))

    def interrupt(*_):
        raise KeyboardInterrupt("now")

    monkeypatch.setattr(training, "batch_loss", interrupt)
    with pytest.raises(KeyboardInterrupt, match="now"):
        clf.fit(data.X[seen, :9], data.y[seen])
    assert vars(clf) == before


def test_a_bar_shows_the_progress(data, capsys):
    seen, _ = parts_of(data)
    clf = autoencoder(
        data.signatures, n_hidden=8, training__n_steps=5, start__lam=0.1, verbose=2, **PLAIN
    )
    clf.fit(data.X[seen], data.y[seen])
    assert "DeepSemanticAutoencoder, 5 steps" in capsys.readouterr().err


def test_a_step_that_is_too_long_is_one_line(data):
    seen, _ = parts_of(data)
    clf = autoencoder(
        data.signatures,
        n_hidden=8,
        training__n_steps=50,
        training__learning_rate=1e25,
        start__lam=0.1,
        **PLAIN,
    )
    with pytest.raises(InvalidInputError, match=r"training diverged.*smaller learning_rate"):
        clf.fit(data.X[seen], data.y[seen])


@pytest.mark.parametrize("tied", [False, True])
def test_it_passes_the_checks_of_every_zero_shot_classifier(tied):
    check_zero_shot_classifier(
        autoencoder(
            n_hidden=8,
            search__max_steps=10,
            search__cv=3,
            training__tied=tied,
            start__lam=0.1,
            **PLAIN,
        )
    )


def test_by_its_name_it_can_be_evaluated(data):
    result = evaluate(data, "deep-sae")
    assert result.method == "deep-sae"
    assert result.metrics["per_class_accuracy"] > 0.5


def test_scores_of_the_whitened_model_are_distances_to_decoded_signatures(data):
    seen, unseen = parts_of(data)
    clf = autoencoder(
        data.signatures,
        n_hidden=8,
        training__n_steps=5,
        start__lam=0.1,
        start__power=1.0,
        start__shrinkage=0.5,
        start__metric="euclidean",
    ).fit(data.X[seen], data.y[seen])
    rows = data.X[unseen] / np.linalg.norm(data.X[unseen], axis=1)[:, None]
    Z = (rows - clf.feature_mean_) @ clf.whitening_
    names = list(data.signatures.names)
    wanted = scores(Z, clf.decode(data.signatures.vectors), "euclidean")
    np.testing.assert_allclose(clf.decision_function(data.X[unseen], names), wanted, atol=1e-8)
