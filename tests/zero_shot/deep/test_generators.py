"""The generative classifiers: the public checks, and what is special about them."""

import numpy as np
import pytest
from sklearn.base import clone

from zslearn.core.descent import forward
from zslearn.core.threads import threads
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep import (  # noqa: E402
    CADAVAEClassifier,
    CADAVAETraining,
    FCLSWGANClassifier,
    FCLSWGANTraining,
    FVAEGANClassifier,
    FVAEGANTraining,
    GeneratorSearch,
    TFVAEGANClassifier,
    TFVAEGANTraining,
)

SHORT = {
    "learning_rate": 3e-3,
    "n_steps": 300,
    "n_synthetic": 20,
    "softmax_epochs": 25,
    "batch_size": 96,
}
QUICK = {
    "f-clswgan": FCLSWGANClassifier(
        n_hidden=64, training=FCLSWGANTraining(classification=1.0, **SHORT), device="cpu"
    ),
    "f-vaegan": FVAEGANClassifier(
        n_hidden=64, training=FVAEGANTraining(adversarial=1.0, **SHORT), device="cpu"
    ),
    "tf-vaegan": TFVAEGANClassifier(
        n_hidden=64, training=TFVAEGANTraining(adversarial=1.0, **SHORT), device="cpu"
    ),
    "cada-vae": CADAVAEClassifier(
        training=CADAVAETraining(
            epochs=40, learning_rate=5e-3, width=0.03, n_real=100, batch_size=24
        )
    ),
}
every_method = pytest.mark.parametrize("name", QUICK)


@pytest.fixture(autouse=True)
def _one_thread():
    with threads(1):
        yield


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(12, 4, n_per_class=10, n_features=16, n_dimensions=8, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    rows = data.rows(data.split("standard").seen)
    with threads(1):
        return {
            name: clone(clf).set_params(signatures=data.signatures).fit(data.X[rows], data.y[rows])
            for name, clf in QUICK.items()
        }


@every_method
def test_public_checks(name):
    check_zero_shot_classifier(QUICK[name])


@every_method
def test_a_saved_model_answers_the_same(name, fitted, data, tmp_path):
    save(fitted[name], tmp_path / "model.zsl")
    again = load(tmp_path / "model.zsl")
    for candidates in ("unseen", "all"):
        wanted = fitted[name].decision_function(data.X[:20], candidates)
        np.testing.assert_array_equal(again.decision_function(data.X[:20], candidates), wanted)


@every_method
def test_seen_candidates_are_real_samples_and_described_anew_they_are_not(name, fitted, data):
    clf, (first, second) = fitted[name], data.split("standard").seen[:2]
    prepared = clf.recognizer([first, second])
    other = prepared.replace(first, data.signatures[first])
    X = data.X[data.rows([first, second])]
    np.testing.assert_array_equal(prepared.scores(X), other.scores(X))
    anew = prepared.replace(first, data.signatures[first] + 1e-3)
    assert not np.allclose(anew.scores(X), prepared.scores(X))


@pytest.mark.parametrize("kind", ["WassersteinGame", "VariationalGame"])
def test_numpy_synthesizes_what_torch_does(kind):
    from zslearn.zero_shot.deep import generator_training as adversarial
    from zslearn.zero_shot.deep.generator_methods import decoded, generated

    rng = np.random.default_rng(0)
    X, S = rng.random((6, 5), dtype=np.float32), rng.random((3, 4), dtype=np.float32)
    rules = adversarial.Rules(7, 1e-3)
    play = getattr(adversarial, kind)
    game = play(X, np.arange(6) % 3, S, rules, None, torch.device("cpu"))
    game.generator["generator_W1"].data.mul_(50)  # away from zero
    Z = rng.standard_normal((6, 4)).astype(np.float32)
    with torch.no_grad():
        wanted = game.generated(torch.tensor(Z), torch.tensor(S[:1]).repeat(6, 1)).numpy()
    synthesize = generated if kind == "WassersteinGame" else decoded
    got = synthesize(game.arrays(), Z, S[0])
    assert np.ptp(got) > 0
    np.testing.assert_allclose(got, wanted, atol=1e-6)


def fed_back():
    """A game of which every part is away from its start, and noise with a class."""
    from zslearn.zero_shot.deep.generator_training import FeedbackGame, Rules

    rng = np.random.default_rng(0)
    X, S = rng.random((6, 5), dtype=np.float32), rng.random((3, 4), dtype=np.float32)
    rules = Rules(7, 1e-3, decoding=0.01, feedback=0.5)
    game = FeedbackGame(X, np.arange(6) % 3, S, rules, None, torch.device("cpu"))
    for network in (game.generator, game.decoder, game.feedback):
        for tensor in network.values():
            tensor.data.mul_(50)
    return game, rng.standard_normal((6, 4)).astype(np.float32)


def test_numpy_synthesizes_with_feedback_what_torch_does():
    from zslearn.zero_shot.deep.generator_methods import decoded, synthesized_twice

    game, Z = fed_back()
    s = game.S[0].numpy()
    with torch.no_grad():
        once, twice = (
            game.generated(torch.tensor(Z), game.S[:1].repeat(6, 1)).numpy()
            for game.with_feedback in (False, True)
        )
    assert np.abs(once - twice).max() > 0.01
    weights = game.arrays()
    np.testing.assert_allclose(synthesized_twice(weights, Z, s, 0.5), twice, atol=1e-6)
    np.testing.assert_allclose(synthesized_twice(weights, Z, s, 0.0), once, atol=1e-6)
    np.testing.assert_allclose(decoded(weights, Z, s), once, atol=1e-6)


def test_the_softmax_sees_features_hidden_layer_and_decoded_signature():
    game, _ = fed_back()
    X = game.X.numpy()
    got = TFVAEGANClassifier()._represented(game.arrays(), X)
    with torch.no_grad():
        H = game.noticed(game.X)
        found = H @ game.decoder["decoder_W1"] + game.decoder["decoder_b1"]
    wanted = [X, H.numpy(), (found / found.norm(dim=1, keepdim=True)).numpy()]
    np.testing.assert_allclose(got, np.hstack(wanted), atol=1e-6)


def test_feedback_is_trained_in_every_second_step():
    game, _ = fed_back()
    moved, rows = [], torch.arange(6)
    for _ in range(3):
        before = game.feedback["feedback_W1"].detach().clone()
        game.step(rows)
        moved.append((game.feedback["feedback_W1"].detach() - before).abs().max().item())
    # The first step of Adam is as long as its learning rate: a tenth of the others'.
    assert moved == [0.0, pytest.approx(1e-4, rel=0.01), 0.0]


def test_numpy_encodes_what_torch_does():
    from zslearn.zero_shot.deep.generator_training import AlignedGame

    X, S = np.random.default_rng(0).random((2, 6, 5), dtype=np.float32)
    options = {"n_epochs": 1, "batch_size": 6, "learning_rate": 1e-3, "textbook_noise": True}
    game = AlignedGame(X, np.arange(6), S, **options, width=0.01, device=None)
    with torch.no_grad():
        wanted = np.hstack([part.numpy() for part in game.encoded("feature", game.X)])
    got = forward(game.arrays(), "feature_encoder", X)[-1]
    np.testing.assert_allclose(got, wanted, atol=1e-6)


def test_length_and_number_come_from_classes_that_play_unseen_ones(data):
    rows = data.rows(data.split("standard").seen)
    clf = FCLSWGANClassifier(
        data.signatures,
        n_hidden=32,
        training=FCLSWGANTraining(learning_rate=3e-3),
        search=GeneratorSearch(max_steps=40, n_checkpoints=2),
    )
    clf.fit(data.X[rows], data.y[rows])
    assert clf.cv_results_["params"] == [
        {
            "training__n_steps": steps,
            "training__n_synthetic": number,
            "training__softmax_epochs": epochs,
        }
        for steps in (20, 40)
        for number in (20, 60)
        for epochs in (5, 25)
    ]
    best = int(np.argmax(clf.cv_results_["mean_test_score"]))
    assert clf.best_params_ == clf.cv_results_["params"][best]
    # What was chosen is used, and a fit with it given is the same model.
    again = clf.frozen().fit(data.X[rows], data.y[rows])
    for key, value in clf.parameters_.items():
        np.testing.assert_array_equal(again.parameters_[key], value)


@every_method
def test_stages_are_the_model_as_it_was(name, fitted, data):
    rows = data.rows(data.split("standard").seen)
    clf = fitted[name]
    staged = clf.frozen().set_params(search__keep_stages=True)
    if name != "cada-vae":
        staged.set_params(search__max_steps=300, search__n_checkpoints=3)
    staged.fit(data.X[rows], data.y[rows])
    assert len(staged.stages_) > 1
    wanted = clf.decision_function(data.X[:20], "unseen")
    np.testing.assert_array_equal(staged.decision_function(data.X[:20], "unseen"), wanted)
    chosen = staged.at_step(clf.n_steps_)
    np.testing.assert_array_equal(chosen.decision_function(data.X[:20], "unseen"), wanted)
    early = staged.at_step(min(staged.stages_))
    assert not np.allclose(early.decision_function(data.X[:20], "unseen"), wanted)
    with pytest.raises(InvalidInputError, match="no weights of step 7 were kept; kept: "):
        staged.at_step(7)


@every_method
def test_one_hot_signatures_make_an_ordinary_classifier(name, data):
    clf = QUICK[name].__class__().fit(data.X, data.y)
    assert clf.score(data.X, data.y, "seen") > 0.95
    assert clf.parameters_ == {}
