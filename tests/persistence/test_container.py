import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from zslearn.exceptions import ModelFileError, ZslearnError
from zslearn.persistence import container, load, save

BOUNDED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small model, the bytes of its file, its expected scores and a path to write to."""
    from zslearn.datasets import make_zero_shot
    from zslearn.zero_shot import SAEClassifier

    data = make_zero_shot(6, 2, n_per_class=4, n_features=5, n_dimensions=3, random_state=0)
    model = SAEClassifier(data.signatures, lam=0.3).fit(data.X, data.y)
    path = tmp_path_factory.mktemp("fuzz") / "m.zsl"
    save(model, path)
    return path, path.read_bytes(), data.X, model.decision_function(data.X)


def load_or_refuse(path, content, X, scores):
    """Load altered content: the same model or a refusal, never anything else."""
    path.write_bytes(content)
    try:
        model = load(path)
    except ZslearnError:
        return
    np.testing.assert_array_equal(model.decision_function(X), scores)


@BOUNDED
@given(data=st.data())
def test_flipped_bits_never_load_as_another_model(saved, data):
    path, content, X, scores = saved
    altered = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        altered[position] ^= 1 << data.draw(st.integers(0, 7))
    load_or_refuse(path, bytes(altered), X, scores)


@BOUNDED
@given(data=st.data())
def test_bytes_set_at_random_never_load_as_another_model(saved, data):
    path, content, X, scores = saved
    start = data.draw(st.integers(0, len(content)))
    noise = data.draw(st.binary(min_size=1, max_size=40))
    skipped = data.draw(st.integers(0, 40))
    load_or_refuse(path, content[:start] + noise + content[start + skipped :], X, scores)


@BOUNDED
@given(length=st.integers(0, 10**9))
def test_cut_off_files_are_refused(saved, length):
    path, content, *_ = saved
    path.write_bytes(content[: length % len(content)])
    with pytest.raises(ModelFileError, match="cannot be loaded as a zslearn model"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04\x95pickle", b"\xff" * 64])
def test_files_of_other_kinds_are_refused(tmp_path, content):
    path = tmp_path / "m.zsl"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a safetensors file, or it is cut off"):
        load(path)


def test_safetensors_of_other_programs_are_refused(tmp_path):
    save_file({"w": np.zeros(3)}, tmp_path / "m.zsl")
    with pytest.raises(ModelFileError, match=r"not written by zslearn\.persistence\.save"):
        load(tmp_path / "m.zsl")


@pytest.mark.parametrize(
    ("version", "message"),
    [("2", "has format 2, written by zslearn 9.9; .* so upgrade"), ("x", "'x' is no number")],
)
def test_newer_formats_are_refused(tmp_path, version, message):
    metadata = {"format": container.FORMAT, "format_version": version, "library_version": "9.9"}
    save_file({}, tmp_path / "m.zsl", metadata)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.zsl")


def test_an_altered_number_is_noticed(saved):
    path, content, *_ = saved
    altered = bytearray(content)
    altered[-1] ^= 1
    path.write_bytes(bytes(altered))
    with pytest.raises(ModelFileError, match="checksum does not fit"):
        load(path)


# Documents with a right checksum but content that `save` never writes.

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
kinds = st.sampled_from(
    (
        "float scalar array texts objects list tuple dict slice signatures sparse record "
        "estimator os.system"
    ).split()
)
keys = st.sampled_from(
    "kind class items value dtype shape tensor turned parts fields state".split()
)
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=4)
        | st.builds(lambda kind, rest: {**rest, "kind": kind}, kinds, st.dictionaries(keys, inner))
    ),
    max_leaves=12,
)


def sealed(path, document, tensors):
    """Write any document with a right checksum."""
    container.write(path, document, tensors)
    return path


@settings(BOUNDED, max_examples=200)
@given(document=documents, attribute=st.sampled_from(["lam_", "coef_decode_", "predict", "x"]))
def test_made_up_documents_are_refused_or_give_data_only(saved, document, attribute):
    path = saved[0]
    whole = {"kind": "estimator", "class": "SAEClassifier", "parameters": {}, "state": {}}
    for made_up in (document, {**whole, "state": {attribute: document}}):
        try:
            load(sealed(path, made_up, {"t": np.zeros(2)}))
        except ModelFileError:
            continue


@pytest.mark.parametrize("name", ["os.system", "subprocess:Popen", "Pipeline", "builtins.eval", ""])
def test_classes_outside_the_list_are_never_made(tmp_path, name):
    document = {"kind": "estimator", "class": name, "parameters": {}, "state": {}}
    with pytest.raises(ModelFileError, match="which is unknown here"):
        load(sealed(tmp_path / "m.zsl", document, {}))


def test_methods_of_a_class_cannot_be_overwritten(tmp_path):
    for attribute in ("predict", "__class__"):
        document = {
            "kind": "estimator",
            "class": "SAEClassifier",
            "parameters": {},
            "state": {attribute: 1},
        }
        with pytest.raises(ModelFileError, match="may not be set by a file"):
            load(sealed(tmp_path / "m.zsl", document, {}))


def test_a_document_nested_without_end_is_refused(tmp_path, saved):
    text = '{"kind":"list","items":[' * 30_000 + "]}" * 30_000
    metadata = {"format": container.FORMAT, "format_version": "1", "document": text}
    metadata["sha256"] = container.checksum(metadata, {})
    save_file({}, tmp_path / "m.zsl", metadata)
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "m.zsl")


def test_other_readers_of_safetensors_open_the_file(tmp_path, saved):
    path, content, *_ = saved
    path.write_bytes(content)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        names = [name.split(" ", 1)[1] for name in file.keys()]
    assert "SAEClassifier.coef_decode_" in names
    assert json.loads(metadata["document"])["parameters"]["lam"] == 0.3
    assert len(metadata["sha256"]) == 64
