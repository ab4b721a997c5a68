"""A trunk that is given to the semantic autoencoder on pictures."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

from zslearn.datasets import make_shapes
from zslearn.encoders.hub_models import hash_weights
from zslearn.exceptions import InvalidInputError, ModelFileError
from zslearn.persistence import load, save

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep import ConvSemanticAutoencoder, efficientnet_trunk  # noqa: E402
from zslearn.zero_shot.deep.convolutional_training import identity_of, maps_of  # noqa: E402


def autoencoder(signatures=None, **given):
    return ConvSemanticAutoencoder(signatures).set_params(**given)


def small_trunk(seed=0):
    """Layers that behave differently when a network learns."""
    nn = torch.nn
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout(0.5)
    )


@pytest.fixture(scope="module")
def tiny():
    return make_shapes(10, 3, n_per_class=4, side=18, random_state=0)


@pytest.fixture(scope="module")
def trunk():
    return small_trunk()


@pytest.fixture(scope="module")
def fitted(tiny, trunk):
    seen = np.isin(tiny.y, tiny.split.seen)
    clf = autoencoder(
        tiny.signatures,
        trunk=trunk,
        channels=(8, 16),
        training__n_free=4,
        training__n_epochs=2,
        device="cpu",
    )
    return clf.fit(tiny.pictures[seen], tiny.y[seen])


def test_maps_are_those_of_the_network_in_evaluation_and_it_is_left_as_it_was(tiny, trunk):
    before, trained = hash_weights(trunk), copy.deepcopy(trunk).eval()
    pictures = tiny.pictures[:5].astype(np.float32) / 255
    with torch.no_grad():
        wanted = trained(torch.tensor(np.moveaxis(pictures, 3, 1))).numpy()
    np.testing.assert_allclose(np.moveaxis(maps_of(trunk, pictures), 3, 1), wanted, atol=1e-6)
    assert all(one.training for one in trunk.modules())
    assert hash_weights(trunk) == before


def test_a_fit_leaves_the_trunk_as_it_was_and_keeps_none_of_its_weights(fitted, trunk):
    assert hash_weights(trunk) == hash_weights(small_trunk()) == fitted.trunk_sha256_
    assert all(one.grad is None for one in trunk.parameters())
    kept = {name for name in fitted.parameters_ if name.startswith("encoder")}
    assert kept == {"encoder_out", "encoder_shift"}
    assert fitted.parameters_["encoder_out"].shape == (12, 24)


def test_the_code_is_a_linear_map_of_means_and_maxima_of_the_map(tiny, trunk, fitted):
    maps = maps_of(trunk, tiny.pictures.astype(np.float32) / 255).astype(np.float64)
    weights = fitted.parameters_
    maps = (maps - weights["trunk_mean"]) * weights["trunk_scale"]
    pooled = np.hstack([maps.mean(axis=(1, 2)), maps.max(axis=(1, 2))])
    wanted = pooled @ weights["encoder_out"] + weights["encoder_shift"]
    np.testing.assert_allclose(fitted.encode(tiny.pictures), wanted, atol=1e-4)


def test_the_decoder_makes_maps_of_the_trunk(tiny, fitted):
    assert fitted.map_shape_ == (9, 9, 6)
    assert fitted.decode(tiny.signatures.vectors).shape == (13, 9, 9, 6)
    assert fitted.reconstruct(tiny.pictures[:3]).shape == (3, 9, 9, 6)


def test_reconstructed_maps_of_new_pictures_are_nearer_than_the_mean_map():
    # Means over large fields: where in a picture its object is, a code does not say.
    trunk = torch.nn.Sequential(small_trunk(), torch.nn.AvgPool2d(3))
    shapes = make_shapes(20, 2, n_per_class=30, side=18, random_state=0)
    seen = np.flatnonzero(np.isin(shapes.y, shapes.split.seen))
    known, new = seen[seen % 5 > 0], seen[seen % 5 == 0]
    maps = maps_of(trunk, shapes.pictures.astype(np.float32) / 255)
    clf = autoencoder(
        shapes.signatures, trunk=trunk, channels=(32,), training__n_epochs=40, device="cpu"
    )
    made = clf.fit(shapes.pictures[known], shapes.y[known]).reconstruct(shapes.pictures[new])
    missed, spread = (
        ((maps[new] - guess) ** 2).mean() for guess in (made, maps[known].mean(axis=0))
    )
    assert missed < 0.7 * spread


def test_a_trunk_in_other_units_changes_nothing_but_the_units(tiny):
    seen = np.isin(tiny.y, tiny.split.seen)
    made = []
    for unit in (1.0, 1e-3):
        torch.manual_seed(0)
        trunk = torch.nn.Conv2d(3, 5, 3, stride=2, bias=False)
        trunk.weight.data.mul_(unit)[0] = 0.0  # a channel that never varies
        clf = autoencoder(
            tiny.signatures, trunk=trunk, channels=(8,), training__n_epochs=2, device="cpu"
        )
        clf.fit(tiny.pictures[seen], tiny.y[seen])
        made.append(clf.reconstruct(tiny.pictures) / unit)
    np.testing.assert_allclose(*made, atol=0.02 * np.ptp(made[0]))


def test_scores_of_maps_are_those_of_their_pictures(tiny, trunk, fitted):
    maps = maps_of(trunk, tiny.pictures.astype(np.float32) / 255)
    np.testing.assert_array_equal(
        fitted.score_maps(maps, "unseen"), fitted.decision_function(tiny.pictures, "unseen")
    )


def test_a_file_holds_the_identity_and_the_same_trunk_is_given_again(tiny, fitted, tmp_path):
    save(fitted, tmp_path / "conv.zsl")
    loaded = load(tmp_path / "conv.zsl")
    assert loaded.trunk is None
    with pytest.raises(InvalidInputError, match=r"set_params\(trunk=.*" + fitted.trunk_sha256_):
        loaded.predict(tiny.pictures)
    loaded.set_params(trunk=small_trunk())
    np.testing.assert_array_equal(
        loaded.decision_function(tiny.pictures), fitted.decision_function(tiny.pictures)
    )
    save(loaded, tmp_path / "again.zsl")
    assert (tmp_path / "again.zsl").read_bytes() == (tmp_path / "conv.zsl").read_bytes()


def test_another_trunk_is_refused_in_one_line(tiny, fitted):
    other = clone(fitted).set_params(trunk=small_trunk(1))
    vars(other).update({k: v for k, v in vars(fitted).items() if k.endswith("_")})
    with pytest.raises(InvalidInputError, match="trained with another trunk") as caught:
        other.predict(tiny.pictures)
    assert "\n" not in str(caught.value)
    assert hash_weights(other.trunk) in str(caught.value)


def test_a_trunk_that_changed_after_the_fit_is_another(tiny):
    seen = np.isin(tiny.y, tiny.split.seen)
    trunk = small_trunk()
    clf = autoencoder(
        tiny.signatures, trunk=trunk, channels=(4,), training__n_epochs=1, device="cpu"
    )
    clf.fit(tiny.pictures[seen], tiny.y[seen]).predict(tiny.pictures)
    with torch.no_grad():
        trunk[0].weight += 1e-3
    with pytest.raises(InvalidInputError, match="trained with another trunk"):
        clf.predict(tiny.pictures)


def test_identity_follows_weights_that_are_replaced():
    trunk = small_trunk()
    before = identity_of(trunk)
    trunk.load_state_dict(small_trunk(1).state_dict())
    assert identity_of(trunk) == hash_weights(trunk) != before
    trunk[0].weight = torch.nn.Parameter(torch.zeros_like(trunk[0].weight))
    assert identity_of(trunk) == hash_weights(trunk)


@pytest.mark.parametrize(
    ("trunk", "says"),
    [
        ("resnet", r"trunk must be None or a torch\.nn\.Module; got 'resnet'"),
        (torch.nn.Flatten(), r"into one tensor of shape .*; got shape \(24, 972\)"),
        (torch.nn.MaxPool2d(2, return_indices=True), "got <class 'tuple'>"),
    ],
)
def test_what_is_no_trunk_is_refused(tiny, trunk, says):
    rows = np.isin(tiny.y, tiny.split.seen[:6])
    clf = autoencoder(tiny.signatures, trunk=trunk, training__n_epochs=1)
    with pytest.raises(InvalidInputError, match=says):
        clf.fit(tiny.pictures[rows], tiny.y[rows])
    assert not hasattr(clf, "trunk_sha256_")


def test_a_trunk_without_weights_that_makes_other_maps_is_refused(tiny):
    rows = np.isin(tiny.y, tiny.split.seen)
    clf = autoencoder(
        tiny.signatures, trunk=torch.nn.AvgPool2d(2), channels=(4,), training__n_epochs=1
    )
    clf.fit(tiny.pictures[rows], tiny.y[rows]).set_params(trunk=torch.nn.AvgPool2d(3))
    with pytest.raises(InvalidInputError, match=r"shape \(6, 6, 3\); .* the shape \(9, 9, 3\)"):
        clf.predict(tiny.pictures)


def test_a_file_whose_maps_do_not_fit_is_refused(fitted, tmp_path):
    broken = copy.copy(fitted)
    broken.map_shape_ = (9, 9, 7)
    save(broken, tmp_path / "broken.zsl")
    with pytest.raises(ModelFileError, match="cannot predict"):
        load(tmp_path / "broken.zsl")
    broken.map_shape_, broken.picture_shape_ = fitted.map_shape_, (18, 20, 3)
    save(broken, tmp_path / "broken.zsl")
    with pytest.raises(ModelFileError, match="another number of pixels"):
        load(tmp_path / "broken.zsl")


def test_a_fit_without_a_trunk_forgets_the_one_before(tiny):
    rows = np.isin(tiny.y, tiny.split.seen)
    clf = autoencoder(
        tiny.signatures, trunk=small_trunk(), channels=(4,), training__n_epochs=1, device="cpu"
    )
    clf.fit(tiny.pictures[rows], tiny.y[rows]).set_params(trunk=None)
    clf.fit(tiny.pictures[rows], tiny.y[rows])
    assert clf.trunk_sha256_ is None
    assert clf.decode(tiny.signatures.vectors).shape == (13, 18, 18, 3)


def test_efficientnet_as_a_trunk_gives_the_vectors_of_the_encoder():
    features = pytest.importorskip("zslearn.encoders")
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    plain = features.Preprocessing(64, 1.0, (127,) * 3, (128,) * 3)
    for name in ("efficientnet-lite0", "efficientnet-lite2"):
        trunk = efficientnet_trunk(name)
        maps = maps_of(trunk, pixels[None].astype(np.float32) / 255)
        wanted = features.ImageEncoder(name, preprocessing=plain).transform([pixels])
        np.testing.assert_allclose(maps.mean(axis=(1, 2)), wanted, atol=1e-4)
    with pytest.raises(InvalidInputError, match="name must be 'efficientnet-lite0'"):
        efficientnet_trunk("resnet18")
