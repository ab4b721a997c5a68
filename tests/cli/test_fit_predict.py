import csv
import json
import os
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from zslearn.cli.methods import default_method
from zslearn.datasets import load_features, load_imagenet, make_imagenet_like, make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import AutoZeroShotClassifier, CalibratedStacking, SAEClassifier
from zslearn.zero_shot.expectation import ExpectedRejection


def test_two_commands_of_the_program_go_from_own_files_to_predictions(program, own):
    """What a new user does, with the program as it is installed."""
    fit = [*program, "fit", "--features", own / "X.csv", "--labels", own / "y.csv"]
    fit += ["--signatures", own / "classes.csv", "--save", own / "model.zsl"]
    predict = [*program, "predict", own / "model.zsl", own / "new.csv", "--unseen-only", "--json"]
    first = subprocess.run(fit, capture_output=True, text=True, timeout=120)
    assert first.returncode == 0, first.stderr
    second = subprocess.run(predict, capture_output=True, text=True, timeout=120)
    assert second.returncode == 0, second.stderr
    rows = json.loads(second.stdout)
    assert len(rows) == 18
    assert np.mean([row["sample"].startswith(row["class"] + "_") for row in rows]) > 0.9


def test_fit_reports_what_it_learned_from(run, own, own_arguments):
    method = ["--method", "prototype-regression"]
    facts = json.loads(
        run("fit", *own_arguments, *method, "--save", own / "m.zsl", "--json").stdout
    )
    assert (facts["samples"], facts["features"]) == (48, 10)
    assert (facts["seen_classes"], facts["unseen_classes"]) == (8, 3)
    assert facts["method"] == "prototype-regression"
    assert min(facts["chosen"]["bandwidth"]) > 0
    assert facts["bytes"] == os.path.getsize(own / "m.zsl")
    result = run("fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl")
    assert "Fitting sae on 48 samples" in result.stderr


def test_features_of_nobody_knows_what_are_judged_by_default(run, own, own_arguments):
    result = run("fit", *own_arguments, "--save", own / "m.zsl")
    assert result.exit_code == 0, result.output
    assert "Fitting auto (which chooses one on held-out classes; --method takes" in result.stderr
    assert "on unseen classes" in result.stdout
    model = load(own / "m.zsl")
    assert isinstance(model, AutoZeroShotClassifier)
    answers = model.predict(load_features(own / "new.csv"))
    assert np.mean([str(name).startswith("unseen") for name in answers]) > 0.9


def test_the_method_by_default_goes_by_who_made_the_features(tmp_path):
    data = make_zero_shot(4, 2, n_per_class=3, n_features=5, n_dimensions=3, random_state=0)
    np.save(tmp_path / "X.npy", data.X)
    on_disk = replace(data, X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    encoded = replace(data, extra={"encoder": {"model": "minilm"}})
    assert default_method(data) == "auto"
    assert default_method(data, in_memory=False) == "prototype-regression"
    assert default_method(on_disk) == default_method(encoded) == "prototype-regression"


def test_columns_that_are_no_features_are_left_out(run, refused, own, own_arguments):
    frame = pd.read_csv(own / "X.csv")
    frame.assign(weight=1.0, day=2.0).to_csv(own / "X.csv", index=False)
    ignore = ["--ignore", "weight", "--ignore", "day"]
    facts = json.loads(
        run("fit", *own_arguments, *ignore, "--save", own / "m.zsl", "--json").stdout
    )
    assert facts["features"] == 10
    assert "weigth" in refused("fit", *own_arguments, "--ignore", "weigth", "--save", own / "n.zsl")
    assert not (own / "n.zsl").exists()
    wrong = run("fit", "animals", "--ignore", "x", "--save", own / "n.zsl")
    assert wrong.exit_code == 2
    assert "--ignore is for a table of your own" in wrong.stderr


def test_messages_name_the_options_of_the_command_line(refused, own, model):
    line = refused("predict", model, own / "new.csv", "--candidates", "unseen0,okapi")
    assert "'okapi' has no signature" in line
    assert "--add-classes" in line


def test_fit_takes_methods_and_parameters(run, own, own_arguments):
    options = ["--method", "sae", "-P", "lam=2.5", "-P", "direction=encode", "-P", "lams=null"]
    assert run("fit", *own_arguments, "--save", own / "m.zsl", *options).exit_code == 0
    model = load(own / "m.zsl")
    assert isinstance(model, CalibratedStacking)
    inner = model.estimator_
    assert (inner.lam, inner.direction, inner.lams) == (2.5, "encode", None)


def test_a_calibrated_model_answers_more_unseen_classes(run, own, own_arguments):
    method = ["--method", "prototype-regression"]
    for name, options in {"plain": ["--no-calibrate"], "calibrated": []}.items():
        assert run("fit", *own_arguments, *method, "--save", own / name, *options).exit_code == 0
    calibrated = load(own / "calibrated")
    assert calibrated.gamma_ > 0
    X = load_features(own / "new.csv")
    unseen = [str(name).startswith("unseen") for name in calibrated.predict(X)]
    plain = [str(name).startswith("unseen") for name in load(own / "plain").predict(X)]
    assert sum(unseen) >= sum(plain)


def test_calibration_is_the_default_and_its_flag_has_two_halves(run, own, own_arguments):
    method, files = ["--method", "sae"], {}
    for name, options in {"a": [], "b": ["--calibrate"], "c": ["--no-calibrate"]}.items():
        result = run("fit", *own_arguments, *method, *options, "--save", own / name, "--json")
        facts = json.loads(result.stdout)
        assert facts["calibrated"] == ("expected_accuracy" in facts) == (name != "c")
        assert "lam" in facts["chosen"]
        assert ("gamma" in facts["chosen"]) == (name != "c")
        files[name] = (own / name).read_bytes()
    assert files["a"] == files["b"] != files["c"]
    assert isinstance(load(own / "c"), SAEClassifier)


def test_what_cannot_be_calibrated_is_fitted_plainly_and_says_what_follows(
    run, own, own_arguments, monkeypatch
):
    few = pd.read_csv(own / "y.csv")["label"].isin(["seen0", "seen1", "seen2"])
    pd.read_csv(own / "X.csv")[few].to_csv(own / "few.csv", index=False)
    pd.read_csv(own / "y.csv")[few].to_csv(own / "few_y.csv", index=False)
    arguments = ["--features", own / "few.csv", "--labels", own / "few_y.csv"]
    arguments += ["--signatures", own / "classes.csv", "--method", "sae", "-P", "lam=1"]
    result = run("fit", *arguments, "--save", own / "m.zsl")
    assert result.exit_code == 0, result.output
    assert "not calibrated (3 seen classes are too few to hold some out)" in result.output
    assert "zslearn predict --unseen-only is sound" in result.output
    assert isinstance(load(own / "m.zsl"), SAEClassifier)

    def refuse(self, X, y):
        raise InvalidInputError("it needs more.")

    monkeypatch.setattr(CalibratedStacking, "fit", refuse)
    result = run("fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl")
    assert result.exit_code == 0, result.output
    assert "not calibrated (SAEClassifier cannot be, it needs more)" in result.output
    explicit = run("fit", *own_arguments, "--method", "sae", "--calibrate", "--save", own / "n.zsl")
    assert (explicit.exit_code, (own / "n.zsl").exists()) == (1, False)


def test_what_is_printed_is_short_and_says_what_to_expect(run, own, own_arguments):
    result = run("fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl")
    lines = result.stdout.splitlines()
    assert [line[:8].strip() for line in lines if not line.startswith("note")] == [
        *("read", "fitted", "expect", "reject", "saved", "next"),
    ]
    model = load(own / "m.zsl")
    alone, among = model.expected_accuracy_, model.expected_accuracy(3, among="all")
    spoken = [
        f"{100 * one.accuracy:.0f} % {where} ({100 * one.low:.0f} to {100 * one.high:.0f} %)"
        for one, where in ((among, "right among all 11"), (alone, "among these 3 alone"))
    ]
    assert lines[2] == f"expect  on unseen classes {', '.join(spoken)}"
    assert lines[1] == "fitted  sae on 8 seen classes; 3 unseen (unseen0, unseen1, unseen2)"
    assert lines[0] == f"read    48 samples of 10 features in {own / 'X.csv'}"
    assert "gamma" not in result.stdout
    facts = run("fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl", "--json")
    facts = json.loads(facts.stdout)
    assert facts["expected_accuracy"]["accuracy"] == alone.accuracy
    assert facts["expected_among_all"]["accuracy"] == among.accuracy
    assert facts["expected_rejection"]["auroc"] == model.expected_rejection_["all"].auroc


def test_rejection_is_offered_only_where_it_tells_classes_apart(
    run, own, own_arguments, monkeypatch
):
    arguments = ["fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl"]
    said = []
    for auroc in (0.55, 0.6):
        found = ExpectedRejection(0.01, 0.04, 0.31, auroc)
        monkeypatch.setattr("zslearn.cli.fit.rejection_of", lambda model, found=found: found)
        said += [line for line in run(*arguments).stdout.splitlines() if line.startswith("reject")]
    useless, offered = said
    assert "of little use" in useless
    assert "AUROC 0.55" in useless
    assert "--reject" not in useless
    assert "--reject LABEL refuses 31 % of samples of classes outside the table, 4 % of" in offered


def test_what_is_wrong_with_the_table_is_said_before_it_is_used(run, own, own_arguments, refused):
    frame = pd.read_csv(own / "classes.csv").set_index("class")
    frame.loc["seen0", "d0"] = 1000 * frame["d0"].abs().max()
    frame["d1"] = [1.0 if name.startswith("seen") else 2.0 for name in frame.index]
    frame.loc["unseen0", "d2"] = 10 * frame["d2"].abs().max()
    frame.loc["unseen1"] = frame.loc["seen1"]
    frame.loc["Seen-2"] = frame.loc["unseen2"] + 0.5
    frame.to_csv(own / "classes.csv")
    arguments = ["fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) == 8
    notes = [line.removeprefix("note    ") for line in lines if line.startswith("note")]
    assert notes[0].startswith("'Seen-2' has no samples and 'seen2' has")
    assert notes[1].startswith("'seen1' and 'unseen1' have the same row")
    assert f"(and 3 more: zslearn data check {own / 'X.csv'} {own / 'classes.csv'}" in notes[1]
    found = json.loads(run(*arguments, "--json").stdout)["warnings"]
    assert len(found) == 5
    assert [line.partition(" has")[0] for line in found[2:4]] == ["'seen0'", "'unseen0'"]
    assert found[4].startswith("'d1' is the same for every class with samples")
    checked = run(*("data", "check", own / "X.csv", own / "classes.csv", "--labels", own / "y.csv"))
    assert [line for line in checked.stdout.splitlines() if line.startswith("Warning: ")] == [
        f"Warning: {line}." for line in found
    ]
    kept = [name for name in frame.index if name.startswith("seen")] + ["unseen1"]
    frame.loc[kept].to_csv(own / "classes.csv")
    line = refused("fit", *own_arguments, "--save", own / "n.zsl")
    assert "'seen1' and 'unseen1' have the same row" in line
    assert not (own / "n.zsl").exists()


def test_probabilities_are_shown_and_scores_on_demand(run, own, own_arguments):
    method = ["--method", "prototype-regression"]
    for name, options in {"plain": ["--no-calibrate"], "calibrated": []}.items():
        assert run("fit", *own_arguments, *method, *options, "--save", own / name).exit_code == 0
    X = load_features(own / "new.csv")
    sure = load(own / "calibrated").recognizer().probabilities(X)
    rows = json.loads(run("predict", own / "calibrated", own / "new.csv", "--json").stdout)
    np.testing.assert_allclose([row["probability"] for row in rows], sure.max(axis=1))
    shown = run("predict", own / "calibrated", own / "new.csv", "--top", 2).stdout.splitlines()
    for line, row, p in zip(shown[2:], rows, np.sort(sure, axis=1)[:, ::-1], strict=True):
        first, second = (f"{100 * share:.0f} %" for share in p[:2])
        first = "> 99 %" if p[0] >= 0.995 else first
        second = "< 1 %" if p[1] < 0.005 else second
        assert line.split(None, 1)[1].startswith(f"{row['class']} {first}")
        assert line.endswith(second)
    assert "score" not in shown[0]
    scored = run("predict", own / "plain", own / "new.csv", "--top", 2, "--scores")
    assert "score 1" in scored.stdout
    plain = run("predict", own / "plain", own / "new.csv").stdout
    assert "%" not in plain
    assert "score" not in plain
    rejected = run("predict", own / "calibrated", own / "new.csv", "--reject", "nothing").stdout
    assert "nothing " not in rejected.replace("nothing\n", "\n")
    rows = json.loads(run("predict", own / "plain", own / "new.csv", "--json").stdout)
    assert set(rows[0]) == {"sample", "class", "score"}


def test_without_unseen_classes_there_is_nothing_to_calibrate(run, own, own_arguments):
    frame = pd.read_csv(own / "classes.csv")
    frame[~frame["class"].str.startswith("unseen")].to_csv(own / "classes.csv", index=False)
    result = run("fit", *own_arguments, "--method", "sae", "--save", own / "m.zsl")
    assert "not calibrated" not in result.output
    assert "note    every class of the table has samples, so none is recognized" in result.stdout
    assert isinstance(load(own / "m.zsl"), SAEClassifier)


def test_samples_of_no_class_get_the_label_of_the_user(run, refused, own, own_arguments):
    method = ["--method", "prototype-regression"]
    for name, options in {"plain": ["--no-calibrate"], "calibrated": []}.items():
        assert run("fit", *own_arguments, *method, "--save", own / name, *options).exit_code == 0
    asked = ["predict", own / "calibrated", own / "new.csv", "--json"]
    plain, found = (
        json.loads(run(*asked, *more).stdout) for more in ([], ["--reject", "nothing known"])
    )
    rejected = load(own / "calibrated").recognizer().rejected(load_features(own / "new.csv"))
    for row, old, expected in zip(found, plain, rejected, strict=True):
        assert row["class"] == ("nothing known" if expected else old["class"])
        assert row["score"] == old["score"]
    line = refused("predict", own / "plain", own / "new.csv", "--reject", "?")
    assert "fit CalibratedStacking(PrototypeRegression(...))" in line
    assert run(*asked, "--reject", "?", "--top", "2").exit_code == 2


def test_a_data_set_is_fitted_on_the_training_rows_of_its_split(run, tmp_path):
    options = ["--method", "sae", "--split", "standard", "-P", "lam=1", "--json"]
    options += ["--save", tmp_path / "m.zsl"]
    facts = json.loads(run("fit", "animals", *options).stdout)
    assert (facts["samples"], facts["seen_classes"], facts["unseen_classes"]) == (1200, 20, 8)


def test_predictions_are_those_of_the_library(run, own, model):
    result = run("predict", model, own / "new.csv", "--top", 4, "--out", own / "out.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    rows = list(csv.DictReader((own / "out.csv").read_text().splitlines()))
    X = load_features(own / "new.csv")
    expected = load(model).predict_top_k(X, 4)
    assert [[row[f"class_{i}"] for i in (1, 2, 3, 4)] for row in rows] == expected.tolist()
    scores = np.sort(load(model).decision_function(X), axis=1)[:, ::-1]
    found = np.array([[float(row[f"score_{i}"]) for i in (1, 2, 3, 4)] for row in rows])
    np.testing.assert_array_equal(found, scores[:, :4])


def test_candidates_by_option_and_by_file(run, own, model):
    (own / "names.txt").write_text("unseen1\nseen0\n\n")
    for option in (["--candidates", "unseen1, seen0"], ["--candidates-file", own / "names.txt"]):
        rows = json.loads(run("predict", model, own / "new.csv", "--json", *option).stdout)
        assert {row["class"] for row in rows} <= {"unseen1", "seen0"}


def test_added_classes_are_answered(run, own, model):
    known = load(model).signatures_
    Signatures(["copy"], [known["unseen2"]], known.dimensions).to_csv(own / "more.csv")
    options = ["--add-classes", own / "more.csv", "--candidates", "copy,unseen0", "--json"]
    rows = json.loads(run("predict", model, own / "new.csv", *options).stdout)
    assert all(row["class"] == "copy" for row in rows if row["sample"].startswith("unseen2"))


def test_added_classes_in_words_of_the_table(run, own):
    data = make_zero_shot(6, 2, n_per_class=4, n_features=5, n_dimensions=3, random_state=0)
    table = Signatures(data.signatures.names, data.signatures.vectors, ["fur", "tail", "wings"])
    from zslearn.zero_shot import SAEClassifier

    seen = data.rows(data.split("standard").seen)
    clf = SAEClassifier(table, lam=1.0).fit(data.X[seen], data.y[seen])
    save(clf, own / "m.zsl")
    np.save(own / "few.npy", data.X)
    text = 'name,description\ncopy,"like seen2, with wings, no tail, horns"\n'
    (own / "words.csv").write_text(text)
    asked = ("predict", own / "m.zsl", own / "few.npy", "--add-classes", own / "words.csv")
    result = run(*asked, "--json")
    assert "copy: like seen2, wings, not tail. Not understood: horns." in result.stderr
    known = table.rows(clf.seen_classes_)
    row = table["seen2"].copy()
    row[1:] = known[:, 1].min(), known[:, 2].max()
    wanted = clf.add_classes({"copy": row}).predict(data.X)
    assert [one["class"] for one in json.loads(result.stdout)] == wanted.tolist()
    (own / "words.csv").write_text("name,description\ncopy,with horns and a tial\n")
    result = run(*asked)
    assert result.exit_code == 1
    assert "class 'copy': Not understood: horns, tial (is that 'tail'?)." in result.stderr


def test_samples_without_names_are_counted(run, own, model):
    np.save(own / "new.npy", load_features(own / "new.csv")[:2])
    rows = json.loads(run("predict", model, own / "new.npy", "--json").stdout)
    assert [row["sample"] for row in rows] == [0, 1]


def test_classes_that_are_whole_numbers(run, own):
    data = make_zero_shot(6, 2, n_per_class=4, n_features=5, n_dimensions=3, random_state=0)
    table = Signatures(range(8), data.signatures.vectors)
    from zslearn.zero_shot import SAEClassifier

    classifier = SAEClassifier(table, lam=1.0).fit(data.X, data.signatures.index_of(data.y))
    save(classifier, own / "m.zsl")
    np.save(own / "few.npy", data.X[:3])
    result = run("predict", own / "m.zsl", own / "few.npy", "--candidates", "6,7", "--json")
    assert {row["class"] for row in json.loads(result.stdout)} <= {6, 7}


# Wrong input.


def test_fit_refuses_unknown_methods_and_parameters(refused, own, own_arguments):
    end = ["--save", own / "m.zsl"]
    line = refused("fit", *own_arguments, "--method", "essl", *end)
    assert "there is no method 'essl'. Did you mean 'eszsl'?" in line
    end = ["--method", "sae", *end]
    line = refused("fit", *own_arguments, "-P", "lamda=1", *end)
    assert "sae has no parameter 'lamda'. Did you mean 'lam'?" in line
    line = refused("fit", *own_arguments, "-P", "lam=-1", *end)
    assert "lam must be" in line
    assert not (own / "m.zsl").exists()


def test_fit_refuses_what_cannot_be_saved_before_it_fits(refused, own, own_arguments, monkeypatch):
    from zslearn.zero_shot import DAPClassifier

    def fit(self, X, y):
        raise AssertionError("fitted")

    monkeypatch.setattr(DAPClassifier, "fit", fit)
    parameter = ["-P", "classifier=random-forest"]
    line = refused("fit", *own_arguments, "--method", "dap", *parameter, "--save", own / "m.zsl")
    assert "DAPClassifier.classifier holds a sklearn.ensemble" in line
    assert "cannot be saved" in line


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("X.csv", "f0,f1\n1,2\n", "X has 1 rows and y has"),
        ("X.csv", "f0,f1\n1,zebra\n", "X.csv"),
        ("X.csv", "", "X.csv: the file is empty"),
        ("y.csv", "", "y.csv: the file is empty"),
        ("classes.csv", "class\nzebra\n", "at least one dimension"),
        ("classes.csv", "class,a\nzebra,nan\n", "Line 2, column 'a': 'nan'"),
        ("classes.csv", "class,a\nzebra,1\n", "has no signature"),
    ],
)
def test_fit_refuses_unusable_files(refused, own, own_arguments, file, content, message):
    (own / file).write_text(content)
    assert message in refused("fit", *own_arguments, "--save", own / "m.zsl")


def test_fit_refuses_nan_and_binary_garbage(refused, own, own_arguments):
    frame = pd.read_csv(own / "X.csv")
    frame.iloc[3, 2] = np.nan
    frame.to_csv(own / "X.csv", index=False, na_rep="nan")
    assert "X" in refused("fit", *own_arguments, "--save", own / "m.zsl")
    (own / "X.csv").write_bytes(b"\xff\x00garbage\x81")
    assert "not UTF-8 text" in refused("fit", *own_arguments, "--save", own / "m.zsl")


def test_fit_refuses_targets_that_cannot_be_written(refused, own, own_arguments, monkeypatch):
    assert "is a folder" in refused("fit", *own_arguments, "--save", own)
    assert "There is no folder" in refused("fit", *own_arguments, "--save", own / "no" / "m.zsl")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "is not writable" in refused("fit", *own_arguments, "--save", own / "m.zsl")


@pytest.mark.parametrize("missing", ["X.csv", "y.csv", "classes.csv"])
def test_fit_names_the_file_that_is_missing(refused, own, own_arguments, missing):
    (own / missing).unlink()
    assert missing in refused("fit", *own_arguments, "--save", own / "m.zsl")


def test_fit_names_a_path_that_is_no_data_set(refused, own):
    end = ["--save", own / "m.zsl"]
    assert "There is no data set at" in refused("fit", own / "nowhere", *end)
    assert "no split 'best'" in refused("fit", "animals", "--split", "best", *end)
    line = refused("fit", "animals", "--semantics", "atributes", *end)
    assert "Did you mean 'attributes'?" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["--save", "m.zsl"],
        ["--features", "X.csv", "--save", "m.zsl"],
        ["animals"],
        ["animals", "--labels", "y.csv", "--save", "m.zsl"],
        ["animals", "-P", "lam", "--save", "m.zsl"],
    ],
)
def test_wrong_usage_of_fit_exits_with_2(run, arguments):
    result = run("fit", *arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_predict_refuses_unusable_models(refused, own, model):
    new = own / "new.csv"
    assert "There is no file" in refused("predict", own / "none.zsl", new)
    assert "it is a folder" in refused("predict", own, new)
    assert "not a safetensors file" in refused("predict", new, new)
    model.write_bytes(model.read_bytes()[:-9])
    assert "cut off or damaged" in refused("predict", model, new)


def test_predict_refuses_a_model_that_names_no_classes(refused, own):
    from zslearn.autoencoder import SemanticAutoencoder

    rng = np.random.default_rng(0)
    save(SemanticAutoencoder().fit(rng.random((9, 4)), rng.random((9, 2))), own / "m.zsl")
    assert "which names no classes" in refused("predict", own / "m.zsl", own / "new.csv")


def test_predict_refuses_unusable_samples(refused, own, model):
    assert "There is no file" in refused("predict", model, own / "none.csv")
    assert "is a folder; give a file" in refused("predict", model, own)
    np.save(own / "wide.npy", np.ones((2, 11)))
    assert "11 features" in refused("predict", model, own / "wide.npy")
    np.save(own / "nan.npy", np.full((2, 10), np.nan))
    assert "row 0, column 0: nan is not a finite number" in refused(
        "predict", model, own / "nan.npy"
    )
    np.save(own / "none.npy", np.ones((0, 10)))
    assert "has no samples" in refused("predict", model, own / "none.npy")


def test_predict_refuses_unknown_candidates_and_too_many_answers(refused, own, model):
    new = own / "new.csv"
    line = refused("predict", model, new, "--candidates", "unseen0,unsen1")
    assert "Class 'unsen1' has no signature" in line
    assert "the closest is 'unseen1'" in line
    assert "twice" in refused("predict", model, new, "--candidates", "seen0,seen0")
    line = refused("predict", model, new, "--candidates", "seen0,seen1", "--top", 3)
    assert "more answers than there are candidates, 2" in line
    (own / "empty.txt").write_text("\n")
    assert "is empty" in refused("predict", model, new, "--candidates-file", own / "empty.txt")
    assert "no file" in refused("predict", model, new, "--candidates-file", own / "none.txt")


def test_predict_refuses_added_classes_of_other_dimensions(refused, own, model):
    Signatures(["okapi"], [[1.0, 2.0]]).to_csv(own / "more.csv")
    line = refused("predict", model, own / "new.csv", "--add-classes", own / "more.csv")
    assert "dimension" in line


def test_only_one_way_to_give_candidates(run, own, model):
    options = ["--candidates", "seen0", "--unseen-only"]
    assert run("predict", model, own / "new.csv", *options).exit_code == 2


@pytest.fixture
def large(tmp_path):
    """A folder whose features stay on disk."""
    return make_imagenet_like(
        tmp_path / "large", n_seen=12, n_unseen=4, n_samples=900, n_features=8, n_dimensions=6
    )


def test_features_that_stay_on_disk_are_streamed(run, large, tmp_path):
    options = ["--method", "sae", "-P", "lam=1", "--save", tmp_path / "m.zsl"]
    options += ["--checkpoint", tmp_path / "c"]
    result = run("fit", large, *options, "--json")
    assert result.exit_code == 0, result.stderr
    assert "moments: 100%" in result.stderr
    assert not (tmp_path / "c").exists()
    data = load_imagenet(large)
    rows = data.rows(data.split("standard").seen)
    expected = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    np.testing.assert_allclose(load(tmp_path / "m.zsl").coef_, expected.coef_, rtol=1e-5, atol=1e-6)
    assert json.loads(result.stdout)["samples"] == len(rows)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_fits_from_the_command_line(run, refused, large, own_arguments, tmp_path):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    end = ["--method", "sae", "-P", "lam=1", "--save", tmp_path / "m.zsl"]
    assert run("fit", large, *end).exit_code == 0
    alone = load(tmp_path / "m.zsl")
    result = run("fit", large, *end, "--dask", "local")
    assert result.exit_code == 0, result.stderr
    np.testing.assert_allclose(load(tmp_path / "m.zsl").coef_, alone.coef_, rtol=1e-5, atol=1e-6)
    line = refused("fit", *own_arguments, *end, "--dask", "nowhere")
    assert "nowhere cannot be reached or was lost" in line


def test_a_checkpoint_needs_features_on_disk(run, own_arguments, tmp_path):
    end = ["--save", tmp_path / "m.zsl", "--checkpoint", tmp_path / "c"]
    result = run("fit", *own_arguments, *end)
    assert result.exit_code == 2
    assert "features stay on disk" in result.stderr


def test_predict_refuses_an_empty_list_of_candidates(run, own, model):
    result = run("predict", model, own / "new.csv", "--candidates", " ,")
    assert result.exit_code == 2
    assert "--candidates names no class" in result.stderr


def test_a_class_table_without_header_keeps_its_first_class(run, own, own_arguments):
    lines = (own / "classes.csv").read_text().splitlines()[1:]
    (own / "classes.csv").write_text("\n".join(lines))
    result = run("fit", *own_arguments, "--save", own / "m.zsl")
    assert "classes.csv: it has no header, so the dimensions are called d0" in result.stderr
    assert len(load(own / "m.zsl").signatures_) == len(lines)


def test_the_bundled_animals_take_no_feature_file(refused, tmp_path):
    line = refused("fit", "animals", "--features", "res101", "--save", tmp_path / "m.zsl")
    assert "one set of features; leave out features='res101'" in line


def test_columns_in_another_order_are_told_apart_by_name(run, own, model):
    """The answers are those of the order of training, and the program says what it did."""
    right = run("predict", model, own / "new.csv", "--json")
    frame = pd.read_csv(own / "new.csv")
    frame[["photo", *frame.columns[:0:-1]]].to_csv(own / "turned.csv", index=False)
    turned = run("predict", model, own / "turned.csv", "--json")
    assert "brought into the order of training" in turned.stderr
    assert json.loads(turned.stdout) == json.loads(right.stdout)


def test_other_columns_than_those_of_training_are_named(refused, own, model):
    frame = pd.read_csv(own / "new.csv")
    frame.rename(columns={"f3": "f33"}).to_csv(own / "x.csv", index=False)
    line = refused("predict", model, own / "x.csv", "--out", own / "out.csv")
    assert "has no column 'f3', which the model learned from" in line
    assert "Did you mean 'f33'?" in line
    frame.assign(f99=1.0).to_csv(own / "x.csv", index=False)
    line = refused("predict", model, own / "x.csv", "--out", own / "out.csv")
    assert "'f99', which the model did not learn from. Leave it out by --ignore." in line
    assert not (own / "out.csv").exists()


def test_a_european_table_is_read_and_that_is_said(run, own, model, tmp_path):
    right = run("predict", model, own / "new.csv", "--json")
    frame = pd.read_csv(own / "new.csv")
    frame.to_csv(tmp_path / "europe.csv", sep=";", decimal=",", index=False)
    result = run("predict", model, tmp_path / "europe.csv", "--json")
    assert "read with semicolons between cells and decimal commas" in result.stderr
    assert json.loads(result.stdout) == json.loads(right.stdout)


def test_capitals_do_not_hide_the_closest_class(refused, own, model):
    known = pd.read_csv(own / "classes.csv")["class"][0]
    told = refused("predict", model, own / "new.csv", "--candidates", known.upper())
    assert f"the closest is {known!r}" in told


def test_what_a_spreadsheet_holds_is_read_and_said(run, own):
    """An id, yes and no, and a class table with crosses, as people keep them."""
    table = pd.read_csv(own / "X.csv")
    table.insert(0, "id", range(101, 101 + len(table)))
    table.to_csv(own / "X.csv", index=False)
    classes = pd.read_csv(own / "classes.csv")
    classes["swims"] = ["yes" if i % 2 else "no" for i in range(len(classes))]
    classes["stripes"] = ["x" if i % 3 else "" for i in range(len(classes))]
    classes.to_csv(own / "classes.csv", index=False)
    files = ["--labels", own / "y.csv", "--signatures", own / "classes.csv"]
    result = run("fit", "--features", own / "X.csv", *files, "--json", "--save", own / "m.zsl")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["features"] == 10
    assert "X.csv: the column 'id' numbers the samples" in result.stderr
    assert "classes.csv: yes and no in column 'swims' are read as 1 and 0." in result.stderr
    assert "x and empty cells in column 'stripes'" in result.stderr
    # The same column is left out of new samples, however few.
    new = pd.read_csv(own / "new.csv").drop(columns="photo")
    new.insert(0, "id", range(len(new)))
    new.iloc[:1].to_csv(own / "one.csv", index=False)
    result = run("predict", own / "m.zsl", own / "one.csv")
    assert result.exit_code == 0, result.output


def test_a_column_that_a_model_learned_from_stays_a_feature(run, own, own_arguments):
    """In one sample every whole number counts up; what was learned from is not left out."""
    table = pd.read_csv(own / "X.csv").rename(columns={"f0": "key"})
    table.to_csv(own / "X.csv", index=False)
    assert run("fit", *own_arguments, "--save", own / "m.zsl").exit_code == 0
    table.iloc[:1].assign(key=3).to_csv(own / "one.csv", index=False)
    result = run("predict", own / "m.zsl", own / "one.csv")
    assert result.exit_code == 0, result.output
    assert "key" not in result.stderr


def test_new_classes_are_matched_by_the_names_of_their_columns(run, model, own, refused):
    classes = pd.read_csv(own / "classes.csv")
    unseen = classes[classes["class"] == "unseen0"]  # seen ones have a bias of their own
    more = unseen.assign(**{"class": "okapi"})
    more[["class", *reversed(more.columns[1:])]].to_csv(own / "more.csv", index=False)
    arguments = ["predict", model, own / "new.csv", "--candidates", "okapi", "--json"]
    result = run(*arguments, "--add-classes", own / "more.csv")
    scores = [row["score"] for row in json.loads(result.stdout)]
    arguments[4] = "unseen0"
    assert scores == [row["score"] for row in json.loads(run(*arguments).stdout)]
    first = more.columns[1]
    more.drop(columns=first).to_csv(own / "more.csv", index=False)
    message = refused(*arguments, "--add-classes", own / "more.csv")
    assert f"lack the dimension {first!r}" in message
    more.rename(columns={first: first.upper()}).to_csv(own / "more.csv", index=False)
    message = refused(*arguments, "--add-classes", own / "more.csv")
    assert f"lack the dimension {first!r}; the closest of theirs is {first.upper()!r}" in message
    yes = more.copy()
    yes[yes.columns[1:]] = "yes"
    yes.to_csv(own / "more.csv", index=False)
    result = run("predict", model, own / "new.csv", "--add-classes", own / "more.csv")
    assert result.exit_code == 0, result.output
    assert "more.csv: yes and no in columns" in result.stderr
