"""Gradient boosting of scikit-learn inside DAP: what a file holds of it, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from zslearn import zero_shot
from zslearn.datasets import make_family
from zslearn.exceptions import InvalidTypeError, ModelFileError
from zslearn.persistence import boosting, container, load, save, trusted
from zslearn.zero_shot import DAPClassifier, IAPClassifier


def trees(**parameters):
    return HistGradientBoostingClassifier(
        **{"max_iter": 5, "max_depth": 3, "early_stopping": False, "random_state": 0} | parameters
    )


@pytest.fixture(scope="module")
def data():
    return make_family("product", random_state=0)


@pytest.fixture(scope="module")
def parts(data):
    split = data.split("standard")
    seen, unseen = data.train_rows(split), data.test_rows(split)
    return data.X[seen], data.y[seen], data.X[unseen], data.y[unseen]


def test_dap_with_boosting_sees_products(data, parts):
    X, y, new, truth = parts
    clf = DAPClassifier(data.signatures, feature_norm=None, classifier=trees(max_iter=60))
    assert clf.fit(X, y).score(new, truth, candidates="unseen") > 0.9
    linear = DAPClassifier(data.signatures, feature_norm=None)
    assert linear.fit(X, y).score(new, truth, candidates="unseen") < 0.4


@pytest.mark.parametrize("method", [DAPClassifier, IAPClassifier])
def test_a_loaded_model_answers_exactly_as_the_saved_one(method, data, parts, tmp_path):
    X, y, new, _ = parts
    clf = method(data.signatures, feature_norm=None, classifier=trees()).fit(X, y)
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(again.decision_function(new), clf.decision_function(new))
    save(again, tmp_path / "again.zsl")
    assert (tmp_path / "again.zsl").read_bytes() == (tmp_path / "m.zsl").read_bytes()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_depth": None, "max_leaf_nodes": 8, "l2_regularization": 1.0},
        {"class_weight": "balanced", "learning_rate": 0.5},
        {"early_stopping": True, "max_iter": 30},
        {"max_bins": 4, "min_samples_leaf": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_restored_classifier_is_the_same_also_for_missing_values(parameters, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.array(["no", "yes", "perhaps"])[rng.integers(0, n_classes, 300)]
    model = trees(**parameters).fit(X, y)
    again = trees(**parameters)
    boosting.restore(again, boosting.state_of(model), {})
    assert again.n_iter_ == model.n_iter_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_categories_are_refused_when_saving(data, parts, tmp_path):
    X, y, *_ = parts
    X = np.hstack([X, (np.arange(len(X)) % 3)[:, None]])
    inner = trees(categorical_features=[X.shape[1] - 1])
    clf = DAPClassifier(data.signatures, feature_norm=None, classifier=inner).fit(X, y)
    with pytest.raises(InvalidTypeError, match="fitted on categorical features, whose splits can"):
        save(clf, tmp_path / "m.zsl")


def with_root(a, value):
    changed = a.copy()
    changed[0] = value
    return changed


@pytest.mark.parametrize(
    ("tensor", "change"),
    [
        ("feature_idx", lambda a: with_root(a, 12)),
        ("feature_idx", lambda a: with_root(a, -1)),
        ("feature_idx", lambda a: a.astype(float)),
        ("left", lambda a: with_root(a, len(a) + 1)),  # into the next tree
        ("right", lambda a: with_root(a, 0)),  # round and round
        ("right", lambda a: with_root(a, 2**32 - 1)),
        ("left", lambda a: np.roll(a, 1)),
        ("left", lambda a: a.astype(np.int64)),
        ("num_threshold", lambda a: a * np.nan),
        ("num_threshold", lambda a: a[1:]),
        ("value", lambda a: a + np.inf),
        ("value", lambda a: a[:-1]),
        ("missing_go_to_left", lambda a: a[None]),
        ("sizes", lambda a: a + 1),
        ("sizes", lambda a: -a),
        ("sizes", lambda a: a[:0]),
        ("sizes", lambda a: np.hstack([a, a])),
        ("sizes", lambda a: a + np.array([[2**62], [2**62], [2**62], [2**62], [0]])),  # 2**64 is 0
        ("baseline", lambda a: a * np.nan),
        ("baseline", lambda a: np.repeat(a, 2)),
        ("classes_", lambda a: a[::-1].copy()),
        ("classes_", lambda a: a[:1]),
        ("classes_", lambda a: np.arange(3)),
    ],
)
def test_trees_that_no_fit_grows_are_refused(data, parts, tmp_path, tensor, change):
    X, y, *_ = parts
    clf = DAPClassifier(data.signatures, classifier=trees()).fit(X, y)
    save(clf, tmp_path / "m.zsl")
    document, tensors = container.read(tmp_path / "m.zsl")
    name = next(name for name in tensors if name.endswith(f"classifiers_[0].{tensor}"))
    tensors[name] = np.ascontiguousarray(change(tensors[name]))
    container.write(tmp_path / "m.zsl", document, tensors)
    with pytest.raises(ModelFileError, match="fits no tree that a fit grows") as refused:
        load(tmp_path / "m.zsl")
    assert "\n" not in str(refused.value)


def test_a_file_cannot_ask_for_more_memory_than_there_is(data, parts, tmp_path):
    X, y, *_ = parts
    clf = DAPClassifier(data.signatures, classifier=trees()).fit(X, y)
    save(clf, tmp_path / "m.zsl")
    document, tensors = container.read(tmp_path / "m.zsl")
    for node in document["state"]["classifiers_"]["items"]:
        node["state"]["n_features_in_"] = 2**40
    container.write(tmp_path / "m.zsl", document, tensors)
    with pytest.raises(ModelFileError, match="n_features_in_ of the boosted trees fits no tree"):
        load(tmp_path / "m.zsl")


def test_a_class_that_is_no_more_is_named_with_what_took_its_place(
    data, parts, tmp_path, monkeypatch
):
    X, y, *_ = parts
    save(DAPClassifier(data.signatures, classifier=trees()).fit(X, y), tmp_path / "m.zsl")
    document, tensors = container.read(tmp_path / "m.zsl")
    for node in [document["parameters"]["classifier"], *document["state"]["classifiers_"]["items"]]:
        node["class"] = "BoostedTreesClassifier"
    container.write(tmp_path / "m.zsl", document, tensors)
    says = (
        "BoostedTreesClassifier is no longer a class of zslearn; fit with scikit-learn's "
        "HistGradientBoostingClassifier"
    )
    with pytest.raises(ModelFileError, match=says) as refused:
        load(tmp_path / "m.zsl")
    assert "\n" not in str(refused.value)
    # A class of the user's own may have the name.
    kind = type("BoostedTreesClassifier", (HistGradientBoostingClassifier,), {})
    monkeypatch.setitem(trusted._registered, "BoostedTreesClassifier", kind)
    assert trusted.estimator_class("BoostedTreesClassifier") is kind


def test_the_old_name_gives_what_took_its_place():
    new = r"sklearn\.ensemble\.HistGradientBoostingClassifier now"
    with pytest.warns(FutureWarning, match=rf"zero_shot\.BoostedTreesClassifier is called {new}"):
        assert zero_shot.BoostedTreesClassifier is HistGradientBoostingClassifier


def test_no_boosted_model_file_holds_a_pickle(data, parts, tmp_path, monkeypatch):
    X, y, new, _ = parts
    clf = DAPClassifier(data.signatures, feature_norm=None, classifier=trees()).fit(X, y)

    def refuse(*_, **__):
        raise AssertionError("pickle was asked")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    save(clf, tmp_path / "m.zsl")
    again = load(tmp_path / "m.zsl")
    np.testing.assert_array_equal(again.predict_proba(new), clf.predict_proba(new))
