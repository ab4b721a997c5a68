"""From a data set and a method to a flat row."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from zslearn.datasets import ClassSplit, load_animals, make_zero_shot
from zslearn.evaluation import (
    ConventionalProtocol,
    GeneralizedProtocol,
    evaluate,
    evaluate_splits,
)
from zslearn.evaluation.run import prepared_estimator
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnWarning
from zslearn.metrics import per_class_accuracy, seen_unseen_curve
from zslearn.signatures import Signatures
from zslearn.zero_shot import (
    CalibratedStacking,
    MLZSCClassifier,
    SAEClassifier,
    ZeroShotMethod,
    ZeroShotTags,
)


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(10, 4, n_per_class=10, noise=1.5, random_state=0)


class Watched(ZeroShotMethod):
    """Remembers what it is given, and answers by fixed preference."""

    def __init__(self, signatures=None, *, preference=None):
        self.signatures = signatures
        self.preference = preference

    def fit(self, X, y):
        Watched.fitted = (np.array(X), np.array(y))
        return super().fit(X, y)

    def decision_function(self, X, candidates=None):
        Watched.asked = (np.array(X), np.array(candidates))
        return super().decision_function(X, candidates)

    def _fit(self, X, y):
        self.d = X.shape[1]

    def prepare(self, names, vectors):
        S = self._unit_signatures(names, vectors)
        return S[:, 0] if self.preference is None else np.full(len(S), self.preference)

    def compare(self, queries, classes):
        return np.broadcast_to(classes, (len(queries), len(classes)))


@pytest.mark.filterwarnings("ignore::zslearn.exceptions.ZslearnWarning")
@pytest.mark.parametrize("protocol", [ConventionalProtocol(), GeneralizedProtocol(calibrate=False)])
def test_the_estimator_gets_training_rows_then_test_features_and_never_a_test_label(data, protocol):
    task = protocol.task(data)
    evaluate(data, Watched(), protocol)
    X, y = Watched.fitted
    np.testing.assert_array_equal(X, data.X[task.train])
    np.testing.assert_array_equal(y, data.y[task.train])
    X, candidates = Watched.asked
    np.testing.assert_array_equal(X, data.X[task.test])
    np.testing.assert_array_equal(candidates, task.candidates)
    assert not np.isin(y, task.unseen).any()


def test_conventional_is_what_fit_and_predict_by_hand_give(data):
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    clf = SAEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    predicted = clf.predict(data.X[unseen], split.unseen)
    result = evaluate(data, "sae")
    expected = per_class_accuracy(data.y[unseen], predicted)
    assert result.metrics["per_class_accuracy"] == expected
    assert result.chosen == {"lam": clf.lam_["decode"]}
    both = evaluate(data, SAEClassifier(direction="both")).as_dict()
    assert both["chosen_lam_decode"] == clf.lam_["decode"]
    assert both["chosen_lam_encode"] == clf.lam_["encode"]
    assert (result.split, result.semantics, result.n_candidates) == ("standard", "attributes", 4)
    assert result.chance == pytest.approx(1 / 4)


def test_the_row_shows_what_a_trained_method_chose(data):
    result = evaluate(data, MLZSCClassifier(max_epochs=8))
    assert set(result.chosen) == {"learning_rate", "epochs"}
    assert result.chosen["epochs"] in range(1, 9)
    assert result.as_dict()["chosen_learning_rate"] in (1e-3, 1e-4)


def test_row_is_flat_and_plain(data):
    row = evaluate(data, SAEClassifier(lam=2.0), GeneralizedProtocol()).as_dict()
    json.dumps(row)
    assert row["features"] == data.features
    assert not any(isinstance(value, dict) for value in row.values())
    assert row["settings"] == "lam=2.0"
    assert not any(name.startswith("chosen_") for name in row)
    assert row["holdout_seed"] == row["estimator_seed"] == 0
    assert row["uses_test_batch"] is False
    named = {"seen_accuracy", "unseen_accuracy_per_sample", "ausuc", "ausuc_per_sample"}
    assert named | {"calibrated_harmonic_mean", "oracle_harmonic_mean", "gamma"} <= set(row)
    assert min(row["fit_seconds"], row["predict_seconds"], row["calibration_seconds"]) > 0
    assert "hit_at_5" not in evaluate(data, "sae").as_dict()


def test_calibrated_values_are_those_of_calibrated_stacking(data):
    protocol = GeneralizedProtocol()
    task = protocol.task(data)
    base = SAEClassifier(data.signatures, lam=1.0)
    clf = CalibratedStacking(base).fit(data.X[task.train], data.y[task.train])
    predicted = clf.predict(data.X[task.test], task.candidates)
    y = data.y[task.test]
    side = np.isin(y, task.unseen)
    expected = per_class_accuracy(y[side], predicted[side])
    plain, stacked = (
        evaluate(data, base, protocol),
        evaluate(data, CalibratedStacking(base), protocol),
    )
    for result in (plain, stacked):
        assert result.metrics["gamma"] == clf.gamma_
        assert result.metrics["calibrated_unseen_accuracy"] == expected
    assert plain.metrics == stacked.metrics
    assert stacked.method == "CalibratedStacking"
    assert stacked.settings["estimator__lam"] == 1.0
    assert plain.curve.area == plain.metrics["ausuc"]


def test_settings_of_calibrated_stacking_count(data):
    model = CalibratedStacking(SAEClassifier(lam=1.0), gamma=0.125)
    assert evaluate(data, model, GeneralizedProtocol()).metrics["gamma"] == 0.125
    by_folds = [
        evaluate(data, CalibratedStacking(SAEClassifier(lam=1.0), cv=cv), GeneralizedProtocol())
        for cv in (2, 5)
    ]
    assert by_folds[0].metrics["gamma"] != by_folds[1].metrics["gamma"]


def test_a_pipeline_inside_calibrated_stacking(data):
    protocol = GeneralizedProtocol()
    model = CalibratedStacking(make_pipeline(StandardScaler(), SAEClassifier(lam=1.0)), cv=2)
    result = evaluate(data, model, protocol)
    assert result.settings["estimator__steps"] == "StandardScaler"
    task = protocol.task(data)
    model.estimator[-1].set_params(signatures=data.signatures)
    fitted = model.fit(data.X[task.train], data.y[task.train])
    assert result.metrics["gamma"] == pytest.approx(fitted.gamma_)


def test_calibration_can_be_left_out(data):
    result = evaluate(data, "sae", GeneralizedProtocol(calibrate=False))
    assert result.calibration_seconds is None
    assert "gamma" not in result.metrics


@pytest.mark.parametrize("protocol", [ConventionalProtocol(), GeneralizedProtocol()])
@pytest.mark.parametrize("stacked", [False, True])
def test_pipelines_are_evaluated(data, protocol, stacked):
    last = SAEClassifier(lam=1.0)
    pipeline = make_pipeline(StandardScaler(), CalibratedStacking(last) if stacked else last)
    result = evaluate(data, pipeline, protocol)
    assert result.settings["steps"] == "StandardScaler"
    task = protocol.task(data)
    scaler = StandardScaler().fit(data.X[task.train])
    by_hand = SAEClassifier(data.signatures, lam=1.0)
    by_hand.fit(scaler.transform(data.X[task.train]), data.y[task.train])
    scores = by_hand.decision_function(scaler.transform(data.X[task.test]), task.candidates)
    expected = protocol.measure(task, data.y[task.test], scores)
    assert {name: result.metrics[name] for name in expected} == pytest.approx(expected)


def test_each_seen_unseen_curve_is_computed_once(data, monkeypatch):
    averages = []

    def counted(*args, average="class", **options):
        averages.append(average)
        return seen_unseen_curve(*args, average=average, **options)

    monkeypatch.setattr("zslearn.evaluation.protocols.seen_unseen_curve", counted)
    result = evaluate(data, SAEClassifier(lam=1.0), GeneralizedProtocol(calibrate=False))
    assert sorted(averages) == ["class", "sample"]
    assert result.curve.area == result.metrics["ausuc"]


def test_semantics_by_name_joined_or_given():
    animals = load_animals()
    spaces = ["attributes", "binary attributes"]
    method = SAEClassifier(lam=0.1)
    assert evaluate(animals, method, semantics=spaces[1]).semantics == "binary attributes"
    assert evaluate(animals, method, semantics=spaces).semantics == " + ".join(spaces)
    own = SAEClassifier(animals.semantics["binary attributes"], lam=0.1)
    assert evaluate(animals, own).semantics == "binary attributes"
    table = Signatures(animals.classes, animals.signatures.vectors[:, :40])
    assert evaluate(animals, method, semantics=table).semantics == "own table"
    with pytest.raises(InvalidInputError, match=r"no semantic space 'atributes'.*'attributes'"):
        evaluate(animals, method, semantics="atributes")


def test_warns_when_one_class_takes_the_predictions(data):
    with pytest.warns(ZslearnWarning, match=r"answers 'unseen\d' for 100% of the samples"):
        result = evaluate(data, Watched())
    assert result.metrics["per_class_accuracy"] == result.chance == 0.25
    assert result.largest_hub_share == 1.0


def test_no_warning_where_the_samples_are_of_one_class(data):
    split = ClassSplit(data.split("standard").seen, ["unseen0"])
    assert evaluate(data, Watched(), ConventionalProtocol(split)).largest_hub_share == 1.0


def test_scores_that_are_no_numbers_are_refused(data):
    with pytest.raises(InvalidInputError, match="the scores of row 0 are not finite"):
        evaluate(data, Watched(preference=np.nan))


def test_transductive_methods_say_so(data):
    class Batch(SAEClassifier):
        zero_shot_tags = ZeroShotTags(transductive=True)

    assert evaluate(data, Batch(lam=1.0)).uses_test_batch
    assert evaluate(data, Batch(lam=1.0), GeneralizedProtocol()).uses_test_batch


def test_refuses_what_is_no_zero_shot_classifier(data):
    with pytest.raises(InvalidTypeError, match=r"zero-shot classifier.*got SVC"):
        evaluate(data, SVC())


def test_splits_are_averaged_with_sample_deviation(data):
    classes = data.classes
    splits = {f"s{i}": ClassSplit(np.roll(classes, i)[4:], np.roll(classes, i)[:4]) for i in (0, 5)}
    method = SAEClassifier(lam=1.0)
    both = evaluate_splits(data, method, splits)
    values = [
        evaluate(data, method, ConventionalProtocol(split)).metrics["per_class_accuracy"]
        for split in splits.values()
    ]
    row = both.as_dict()
    assert row["per_class_accuracy"] == pytest.approx(np.mean(values))
    assert row["per_class_accuracy_std"] == pytest.approx(np.std(values, ddof=1))
    assert (row["split"], row["n_splits"]) == ("s0, s5", 2)
    assert np.isnan(evaluate_splits(data, method, ["standard"]).std["per_class_accuracy"])
    with pytest.raises(InvalidInputError, match="splits is empty"):
        evaluate_splits(data, method, [])


def test_methods_made_for_raw_attributes_get_them(data):
    raw = Signatures(data.classes, 100 * data.signatures.vectors, data.signatures.dimensions)
    unit = data.signatures.vectors / np.linalg.norm(data.signatures.vectors, axis=1, keepdims=True)
    table = Signatures(data.classes, unit, data.signatures.dimensions)
    both = replace(data, semantics={"attributes": table}, raw={"attributes": raw})
    given = {name: prepared_estimator(both, name, None) for name in ("dap", "sae")}
    assert given["dap"][0].signatures == raw
    assert given["sae"][0].signatures == table
    assert prepared_estimator(both, "dap", Signatures(data.classes, unit))[0].signatures != raw


def test_raw_attributes_must_be_of_the_same_classes(data):
    few = data.signatures.subset(data.classes[:3])
    with pytest.raises(InvalidInputError, match=r"raw\['attributes'\] must have the classes of"):
        replace(data, raw={"attributes": few})
