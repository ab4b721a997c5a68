"""Files with a right checksum and content that no fitted model has."""

import re
import resource

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from zslearn import __version__
from zslearn.exceptions import InvalidInputError, ModelFileError
from zslearn.persistence import container, load, save
from zslearn.persistence.checks import check_state
from zslearn.zero_shot import MLZSCClassifier


@pytest.fixture
def parts(model, tmp_path):
    """A path, and the document and the tensors of a model to change."""
    path = tmp_path / "m.zsl"
    save(model, path)
    return path, *container.read(path)


def refused(parts, match):
    path, document, tensors = parts
    container.write(path, document, tensors)
    with pytest.raises(ModelFileError, match=match):
        load(path)


def tensor(parts, attribute):
    return next(name for name in parts[2] if name.endswith(attribute))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda W: W[:-1], r"coef_(de|en)code_ has shape \(15, 64\), which does not fit the rest"),
        (lambda W: W.ravel(), r"coef_(de|en)code_ must have 2 axes; got shape \(1024,\)"),
        (lambda W: W.astype(int), "code_ must hold floating-point numbers"),
        (
            lambda W: np.where(W == W.max(), np.nan, W),
            "code_ holds numbers that are not finite",
        ),
        (lambda W: np.where(W == W.max(), 1e200, W), "code_ holds numbers .* too large"),
    ],
)
def test_arrays_are_what_the_class_declares(parts, change, match):
    name = tensor(parts, "coef_decode_")  # held twice, stored once
    parts[2][name] = np.ascontiguousarray(change(parts[2][name]))
    refused(parts, match)


def test_missing_state_and_missing_parameters_are_named(parts):
    del parts[1]["state"]["seen_classes_"]
    refused(parts, "seen_classes_ is missing")
    del parts[1]["parameters"]["metric"]
    refused(parts, "parameters of SAEClassifier are missing")


def test_parameters_and_what_was_chosen_for_them_are_allowed_values(parts):
    parts[1]["state"]["lam_"] = {"kind": "dict", "items": [["encode", -1.0], ["decode", 1.0]]}
    refused(parts, r"lam_ must be 'cv', a positive number .*; got -1\.0\.$")
    parts[1]["parameters"]["metric"] = "manhattan"
    refused(parts, "metric must be 'cosine'")


def test_a_number_of_features_that_nothing_has(parts):
    parts[1]["state"]["n_features_in_"] = 10**12
    refused(parts, "coef_encode_ has shape .* which does not fit the rest")


def test_training_classes_need_signatures_and_order(parts):
    items = parts[1]["state"]["seen_classes_"]["items"]
    items[0], items[1] = items[1], items[0]
    refused(parts, "seen_classes_ must be one or more, in order")
    items[:2] = ["  ", "  a"]
    refused(parts, "a class of seen_classes_ has no signature")


def test_signatures_of_another_type_are_not_converted(parts):
    name = tensor(parts, "signatures.vectors")
    parts[2][name] = parts[2][name].astype(np.float32)
    refused(parts, "stored in another type than save writes")


def test_one_long_text_among_many_takes_no_memory(parts):
    items = ["x" * 100_000, *["y"] * 20_000]
    parts[1]["state"]["notes_"] = {"kind": "texts", "shape": [len(items)], "items": items}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(parts, r"one text of 100000 letters among 20001 would take 80\d+ bytes")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_model_that_could_not_predict_is_refused(data, tmp_path):
    path = tmp_path / "m.zsl"
    save(MLZSCClassifier(data.signatures, epochs=1, learning_rate=0.1).fit(data.X, data.y), path)
    document, tensors = container.read(path)
    del document["state"]["parameters_"]["items"][0]
    refused((path, document, tensors), "it cannot predict")


def test_what_another_version_wrote_is_refused_with_both_versions(parts, monkeypatch):
    del parts[1]["parameters"]["metric"]
    refused(parts, "parameters of SAEClassifier are missing.$")
    monkeypatch.setattr(container, "__version__", "0.0.1")
    path, document, tensors = parts
    container.write(path, document, tensors)
    monkeypatch.undo()
    words = rf"missing; zslearn 0\.0\.1 wrote it and this is zslearn {re.escape(__version__)}, so "
    with pytest.raises(ModelFileError, match=words):
        load(path)


def test_bins_whose_edges_go_back_are_refused():
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    bins.fit(np.arange(12.0).reshape(6, 2))
    check_state(bins)
    bins.bin_edges_[1] = bins.bin_edges_[1][::-1]
    with pytest.raises(InvalidInputError, match="the bins do not fit together"):
        check_state(bins)
