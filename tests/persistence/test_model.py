import gc
import os
import time
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from zslearn.autoencoder import SemanticAutoencoder
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingFileError,
    ModelFileError,
)
from zslearn.persistence import load, register, save, trusted
from zslearn.signatures import Signatures
from zslearn.zero_shot import METHODS, CalibratedStacking, SAEClassifier, make_classifier


def seen_rows(data):
    return data.rows(data.split("standard").seen)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_scores_the_same_after_save_and_load(name, data, tmp_path):
    rows = seen_rows(data)
    model = make_classifier(name, data.signatures).fit(data.X[rows], data.y[rows])
    save(model, tmp_path / "model.zsl")
    loaded = load(tmp_path / "model.zsl")
    assert type(loaded) is type(model)
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    np.testing.assert_array_equal(loaded.decision_function(data.X), model.decision_function(data.X))
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))


def test_a_calibrated_classifier_keeps_its_bias_its_curves_and_what_it_wraps(data, tmp_path):
    rows = seen_rows(data)
    model = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0), cv=2)
    model.fit(data.X[rows], data.y[rows])
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.gamma_ == model.gamma_
    assert loaded.estimator.lam == 1.0
    np.testing.assert_array_equal(loaded.curves_[0].seen, model.curves_[0].seen)
    np.testing.assert_array_equal(loaded.decision_function(data.X), model.decision_function(data.X))


def test_labels_of_whole_numbers_stay_whole_numbers(data, tmp_path):
    table = Signatures(range(len(data.classes)), data.signatures.vectors)
    y = data.signatures.index_of(data.y)
    save(SAEClassifier(table, lam=1.0).fit(data.X, y), tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.signatures_ == table
    assert loaded.predict(data.X).dtype.kind == "i"


def test_signatures_keep_names_dimensions_and_blocks(data, tmp_path):
    words = Signatures(data.classes, data.signatures.vectors[:, :4] ** 2)
    both = data.signatures.join(words)
    save(SAEClassifier(both, lam=1.0).fit(data.X, data.y), tmp_path / "m.zsl")
    assert load(tmp_path / "m.zsl").signatures_ == both


def test_a_classifier_without_signatures_and_object_labels(data, tmp_path):
    labels = data.y.astype(object)
    model = SAEClassifier(lam=1.0).fit(data.X, labels)
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.classes_.dtype == object
    np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))


def test_a_data_frame_of_signatures_is_saved_as_a_table(data, tmp_path):
    frame = pd.DataFrame(data.signatures.vectors, index=data.classes)
    X = pd.DataFrame(data.X).add_prefix("f")
    save(SAEClassifier(frame, lam=1.0).fit(X, data.y), tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert isinstance(loaded.signatures, Signatures)
    assert loaded.feature_names_in_[:2].tolist() == ["f0", "f1"]


def test_learning_goes_on_after_loading(data, tmp_path):
    half = len(data.y) // 2
    order = np.random.default_rng(0).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    whole = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    part = SAEClassifier(data.signatures, lam=1.0).partial_fit(X[:half], y[:half])
    save(part, tmp_path / "m.zsl")
    resumed = load(tmp_path / "m.zsl").partial_fit(X[half:], y[half:])
    np.testing.assert_allclose(resumed.coef_decode_, whole.coef_decode_, atol=1e-10)


def test_added_classes_are_kept_and_more_can_be_added(data, model, tmp_path):
    model.add_classes({"new": np.ones(16)})
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert "new" in loaded.signatures_
    loaded.add_classes({"newer": -np.ones(16)})
    assert loaded.decision_function(data.X).shape[1] == len(data.classes) + 2


def test_the_autoencoder_itself_can_be_saved(data, tmp_path):
    S = data.signatures.rows(data.y)
    model = SemanticAutoencoder(0.5).fit(data.X, S)
    save(model, tmp_path / "m.zsl")
    np.testing.assert_array_equal(
        load(tmp_path / "m.zsl").transform(data.X), model.transform(data.X)
    )


def test_what_cannot_be_saved_is_named(model, tmp_path):
    model.thing_ = {"inner": [1, object()]}
    with pytest.raises(InvalidTypeError, match=r"SAEClassifier\.thing_\['inner'\]\[1\] holds"):
        save(model, tmp_path / "m.zsl")
    assert os.listdir(tmp_path) == []


def test_a_function_is_not_saved(model, tmp_path):
    model.random_state = print
    with pytest.raises(InvalidTypeError, match=r"SAEClassifier\.random_state holds"):
        save(model, tmp_path / "m.zsl")


def test_foreign_objects_and_unfitted_models_are_refused(data, tmp_path):
    with pytest.raises(InvalidTypeError, match="or a pipeline that ends in one; got a dict"):
        save({}, tmp_path / "m.zsl")
    with pytest.raises(Exception, match="not fitted yet"):
        save(SAEClassifier(data.signatures), tmp_path / "m.zsl")


def test_state_of_every_allowed_kind_comes_back(model, tmp_path):
    state = {
        "a_": [None, True, -3, 2**70, 1.5, float("inf"), "é", (1, (2,))],
        "b_": {1: "x", "y": {}, (1, 2): slice(1, None)},
        "c_": [np.float32(0.1), np.int8(3), np.bool_(True), np.str_("s"), np.float64("nan")],
        "d_": np.array([], dtype=np.float32).reshape(0, 3),
        "e_": np.array(["ä", "bc"]),
        "f_": np.array(2.5),
        "g_": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    }
    vars(model).update(state)
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.a_ == state["a_"]
    assert loaded.b_ == state["b_"]
    assert repr(loaded.c_) == repr(state["c_"])
    for name in "defg":
        mine, theirs = state[f"{name}_"], getattr(loaded, f"{name}_")
        np.testing.assert_array_equal(theirs, mine)
        assert theirs.dtype == mine.dtype
        assert theirs.flags.writeable
    assert loaded.g_.flags.f_contiguous


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_state_comes_back(model, tmp_path, kind):
    model.graph_ = kind(np.eye(4)[:, :3])
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl").graph_
    assert type(loaded) is kind
    np.testing.assert_array_equal(loaded.toarray(), np.eye(4)[:, :3])


def test_a_table_held_twice_stays_one(model, tmp_path):
    assert model.signatures_ is model.signatures
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.signatures_ is loaded.signatures
    loaded.add_classes({"new": np.ones(16)})
    assert "new" not in loaded.signatures


def test_an_array_held_twice_is_stored_once_and_stays_one(model, tmp_path):
    assert model.coef_decode_ is model.coef_encode_
    save(model, tmp_path / "m.zsl")
    loaded = load(tmp_path / "m.zsl")
    assert loaded.coef_decode_ is loaded.coef_encode_


def test_a_class_of_ones_own_needs_to_be_registered(data, tmp_path, monkeypatch):
    monkeypatch.setattr(trusted, "_registered", {})

    class Mine(SAEClassifier):
        pass

    model = Mine(data.signatures, lam=1.0).fit(data.X, data.y)
    with pytest.raises(InvalidTypeError, match=r"got a .*Mine"):
        save(model, tmp_path / "m.zsl")
    register(Mine)
    save(model, tmp_path / "m.zsl")
    assert type(load(tmp_path / "m.zsl")) is Mine
    monkeypatch.setattr(trusted, "_registered", {})
    with pytest.raises(ModelFileError, match="needs the class 'Mine', which is unknown here"):
        load(tmp_path / "m.zsl")


def test_register_takes_estimator_classes_with_names_of_their_own():
    with pytest.raises(InvalidTypeError, match="takes an estimator class; got 3"):
        register(3)
    with pytest.raises(InvalidInputError, match="is the name of a class of zslearn"):
        register(type("SAEClassifier", (SAEClassifier,), {}))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"There is no file '.*none\.zsl'"):
        load(tmp_path / "none.zsl")
    with pytest.raises(ModelFileError, match="it is a folder"):
        load(tmp_path)


def test_saving_replaces_whole_files_only(model, tmp_path, monkeypatch):
    path = tmp_path / "m.zsl"
    save(model, path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save(model, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.zsl"]


def test_saving_to_a_folder_that_is_not_there(model, tmp_path):
    with pytest.raises(MissingFileError, match="There is no folder"):
        save(model, tmp_path / "no" / "m.zsl")


def test_equal_models_give_equal_bytes(data, tmp_path):
    rows = seen_rows(data)
    contents = set()
    for i in range(4):
        model = SAEClassifier(data.signatures, lam=0.3)
        if i == 1:
            model.partial_fit(data.X[rows][:40], data.y[rows][:40])  # attributes in another order
        model.fit(data.X[rows], data.y[rows])
        save(model if i != 2 else load(tmp_path / "1"), tmp_path / str(i))
        contents.add((tmp_path / str(i)).read_bytes())
    assert len(contents) == 1


def test_two_hundred_thousand_classes_take_seconds(tmp_path):
    names = np.array([f"class number {i}" for i in range(200_000)])
    rng = np.random.default_rng(0)
    table = Signatures(names, rng.standard_normal((len(names), 3)))
    model = SAEClassifier(table, lam=1.0).fit(rng.standard_normal((500, 3)), names[:500])
    start = time.process_time()
    save(model, tmp_path / "m.zsl")
    assert load(tmp_path / "m.zsl").signatures_ == table
    assert time.process_time() - start < 10


def test_a_loaded_model_is_freed_with_its_last_name(model, tmp_path):
    save(model, tmp_path / "model.zsl")
    loaded = load(tmp_path / "model.zsl")
    coef = weakref.ref(loaded.coef_)
    gc.disable()  # a circle of references would keep the arrays until garbage is collected
    try:
        del loaded
        assert coef() is None
    finally:
        gc.enable()
