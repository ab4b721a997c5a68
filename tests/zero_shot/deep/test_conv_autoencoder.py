"""The semantic autoencoder on pictures."""

import numpy as np
import pytest

from zslearn.datasets import make_shapes
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.zero_shot import SAEClassifier

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep import ConvSemanticAutoencoder  # noqa: E402
from zslearn.zero_shot.deep import convolutional_training as training  # noqa: E402
from zslearn.zero_shot.deep.convolutional import decoded_pictures, encoded_pictures  # noqa: E402
from zslearn.zero_shot.deep.convolutional_training import ConvDecoder, ConvEncoder, folded  # noqa: E402

SMALL = {"channels": (8, 16), "training__n_free": 4, "device": "cpu"}


def autoencoder(signatures=None, **given):
    return ConvSemanticAutoencoder(signatures).set_params(**given)


@pytest.fixture(scope="module")
def tiny():
    return make_shapes(10, 3, n_per_class=4, side=16, random_state=0)


def seen_of(shapes):
    return np.isin(shapes.y, shapes.split.seen)


@pytest.fixture(scope="module")
def fitted(tiny):
    seen = seen_of(tiny)
    clf = autoencoder(tiny.signatures, training__n_epochs=2, **SMALL)
    return clf.fit(tiny.pictures[seen], tiny.y[seen])


@pytest.mark.parametrize("sides", [(16, 16), (17, 10)])
def test_numpy_computes_what_torch_trained(sides):
    torch.manual_seed(0)
    encoder, decoder = ConvEncoder(3, (6, 9), 7), ConvDecoder(7, (6, 9), (3, *sides))
    pictures = torch.rand(12, 3, *sides)
    for _ in range(3):  # so that the normalization has something to fold
        decoder(encoder(pictures - 0.5))
    weights = folded(encoder.eval(), decoder.eval())
    codes = encoded_pictures(weights, np.moveaxis(pictures.numpy(), 1, 3))
    np.testing.assert_allclose(codes, encoder(pictures - 0.5).detach().numpy(), atol=1e-5)
    made = decoded_pictures(weights, codes, sides)
    wanted = torch.sigmoid(decoder(torch.tensor(codes))).detach().numpy()
    assert made.shape == (12, *sides, 3)
    np.testing.assert_allclose(np.moveaxis(made, 3, 1), wanted, atol=1e-5)


@pytest.mark.parametrize("trunk", [False, True])
def test_gradients_are_those_of_finite_differences(trunk):
    torch.manual_seed(0)
    encoder = ConvEncoder(3, () if trunk else (3, 4), 5).double()
    decoder = ConvDecoder(5, (3, 4), (3, 8, 8)).double()
    recipe = training.ConvRecipe((3, 4), trunk, 2, 0.7, 1.3, 1e-3, 0.0, training.Course(1))
    batch = torch.rand(5, 3, 8, 8, dtype=torch.float64), torch.tensor([0, 1, 0, 1, 1])
    S = torch.randn(2, 3, dtype=torch.float64)

    def loss():
        torch.manual_seed(1)  # the same noise
        return training.picture_loss(encoder, decoder, batch, S, recipe)

    loss().backward()
    rng = np.random.RandomState(0)
    for name, one in [*encoder.named_parameters(), *decoder.named_parameters()]:
        flat, gradient = one.data.view(-1), one.grad.view(-1)
        for place in rng.choice(len(flat), min(4, len(flat)), replace=False):
            before = flat[place].item()
            sides = []
            for step in (1e-6, -1e-6):
                flat[place] = before + step
                sides.append(loss().item())
            flat[place] = before
            numeric = (sides[0] - sides[1]) / 2e-6
            assert gradient[place].item() == pytest.approx(numeric, rel=1e-3, abs=1e-6), name


def test_unseen_combinations_are_recognized_well_above_a_linear_model_on_pixels():
    shapes = make_shapes(60, 30, n_per_class=15, side=32, random_state=0)
    seen = seen_of(shapes)
    pixels = shapes.pictures.reshape(len(seen), -1) / 255.0
    linear = SAEClassifier(shapes.signatures).fit(pixels[seen], shapes.y[seen])
    deep = autoencoder(
        shapes.signatures, channels=(16, 32, 64), training__n_epochs=20, device="cpu"
    ).fit(shapes.pictures[seen], shapes.y[seen])
    y = shapes.y[~seen]
    below = linear.score(pixels[~seen], y, candidates="unseen")
    above = deep.score(shapes.pictures[~seen], y, candidates="unseen")
    assert above > below + 0.1


def test_bytes_and_shares_of_one_are_the_same_pictures(tiny, fitted):
    np.testing.assert_allclose(
        fitted.decision_function(tiny.pictures),
        fitted.decision_function(tiny.pictures / 255.0),
        atol=1e-4,
    )


def test_scores_are_distances_of_codes_to_signatures(tiny, fitted):
    names = list(tiny.signatures.names)
    S = tiny.signatures.vectors / np.linalg.norm(tiny.signatures.vectors, axis=1)[:, None]
    scaled = (S - fitted.signature_mean_) * fitted.signature_scale_
    codes = fitted.encode(tiny.pictures)[:, : S.shape[1]]
    wanted = -((codes[:, None] - scaled) ** 2).sum(axis=2)
    np.testing.assert_allclose(fitted.decision_function(tiny.pictures, names), wanted, atol=1e-3)


def test_decoded_and_reconstructed_are_pictures(tiny, fitted):
    made = fitted.decode(tiny.signatures.vectors)
    assert made.shape == (13, 16, 16, 3)
    assert 0.0 <= made.min() < made.max() <= 1.0
    codes = fitted.encode(tiny.pictures[:3])
    assert codes.shape == (3, 24)
    again = fitted.reconstruct(tiny.pictures[:3])
    np.testing.assert_allclose(again, decoded_pictures(fitted.parameters_, codes, (16, 16)))


def test_a_saved_model_answers_and_draws_the_same(tiny, fitted, tmp_path):
    save(fitted, tmp_path / "conv.zsl")
    loaded = load(tmp_path / "conv.zsl")
    np.testing.assert_array_equal(
        loaded.decision_function(tiny.pictures), fitted.decision_function(tiny.pictures)
    )
    vectors = tiny.signatures.vectors
    np.testing.assert_array_equal(loaded.decode(vectors), fitted.decode(vectors))


def test_a_seed_fixes_the_model(tiny, fitted):
    seen = seen_of(tiny)
    again = autoencoder(tiny.signatures, training__n_epochs=2, **SMALL)
    again.fit(tiny.pictures[seen], tiny.y[seen])
    for name, one in fitted.parameters_.items():
        np.testing.assert_array_equal(again.parameters_[name], one)


def test_epochs_are_chosen_on_held_out_classes(tiny, monkeypatch):
    monkeypatch.setattr("zslearn.zero_shot.deep.convolutional.EPOCHS", (1, 2))
    seen = seen_of(tiny)
    clf = autoencoder(tiny.signatures, training__n_epochs="cv", **SMALL)
    clf.fit(tiny.pictures[seen], tiny.y[seen])
    assert [point["training__n_epochs"] for point in clf.cv_results_["params"]] == [1, 2]
    assert clf.n_epochs_ == clf.best_params_["training__n_epochs"]


def test_an_interrupted_fit_leaves_the_model_as_it_was(tiny, monkeypatch):
    seen = seen_of(tiny)
    clf = autoencoder(tiny.signatures, training__n_epochs=1, **SMALL)
    clf.fit(tiny.pictures[seen], tiny.y[seen])
    before = dict(vars(clf))

    def interrupt(*_):
        raise KeyboardInterrupt("now")

    monkeypatch.setattr(training, "picture_loss", interrupt)
    with pytest.raises(KeyboardInterrupt, match="now"):
        clf.fit(tiny.pictures[seen][:, :8], tiny.y[seen])
    assert vars(clf) == before


@pytest.mark.parametrize(
    ("pictures", "says"),
    [
        (np.zeros((4, 12)), r"shape \(n, height, width, 3\); got shape \(4, 12\)"),
        (np.zeros((4, 16, 16, 1)), r"got shape \(4, 16, 16, 1\)"),
        (np.full((4, 16, 16, 3), 200.0), "numbers between 0 and 1; got values from 200 to 200"),
        (np.zeros((4, 0, 16, 3)), r"got shape \(4, 0, 16, 3\)"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_line(pictures, says):
    with pytest.raises(InvalidInputError, match=says) as caught:
        autoencoder(**SMALL).fit(pictures, [0, 0, 1, 1])
    assert "\n" not in str(caught.value)


def test_pictures_of_another_size_are_refused(fitted):
    with pytest.raises(InvalidInputError, match=r"the shape \(16, 16, 3\).*Resize"):
        fitted.predict(np.zeros((2, 32, 32, 3)))
