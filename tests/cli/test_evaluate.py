import csv
import json

import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn._registry import Method
from zslearn.cli.methods import (
    CLASSIFIERS,
    TRANSFORMERS,
    make_inner_classifier,
    make_transformer,
)
from zslearn.datasets import ClassSplit, load_table
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol
from zslearn.evaluation import evaluate as measure
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import METHODS, DAPClassifier, SAEClassifier

UNSEEN = "unseen0,unseen1,unseen2"


def own_arguments(own):
    return [
        "--features",
        own / "all.csv",
        "--labels",
        own / "all_y.csv",
        "--signatures",
        own / "classes.csv",
        "--unseen",
        "unseen0,unseen1,unseen2",
    ]


def test_rows_are_those_of_the_library(run, own):
    result = run("evaluate", *own_arguments(own), "--method", "ridge-fs,sae", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert [row["method"] for row in rows] == ["ridge-fs", "sae"]
    files = [own / name for name in ("all.csv", "all_y.csv", "classes.csv")]
    data = load_table(*files, unseen=UNSEEN.split(","))
    expected = measure(data, "sae", ConventionalProtocol("own")).metrics
    assert {key: rows[1][key] for key in expected} == pytest.approx(expected)
    assert rows[1]["status"] == "ok"


def test_the_proposed_split_is_taken_where_there_is_one(run):
    (row,) = json.loads(run("evaluate", "animals", "--method", "rrzsl", "--json").stdout)
    assert (row["split"], row["n_candidates"]) == ("proposed", 6)


def test_the_table_tells_data_chance_and_figures(run, own):
    result = run("evaluate", *own_arguments(own), "--method", "sae,sae-encode")
    assert "48 training and 18 test samples, 3 candidates, chance 0.3333" in result.stdout
    header = result.stdout.splitlines()[2].split()
    assert header[:4] == ["method", "per", "class", "per"]
    assert result.stdout.splitlines()[4].split()[0] == "sae"
    assert "[2/2] SAE (encoder)" in result.stderr


def test_generalized_figures_with_and_without_calibration(run, own):
    options = ["--protocol", "gzsl", "--csv", own / "rows.csv", "--plot", own / "curve.svg"]
    result = run("evaluate", *own_arguments(own), *options)
    assert result.exit_code == 0, result.stderr
    for title in ("seen", "unseen", "H", "seen (cal.)", "unseen (cal.)", "H (cal.)", "AUSUC"):
        assert f" {title} " in result.stdout
    (row,) = csv.DictReader((own / "rows.csv").read_text().splitlines())
    assert 0 < float(row["ausuc"]) <= 1
    assert float(row["calibrated_harmonic_mean"]) >= 0
    assert "AUSUC" in (own / "curve.svg").read_text()


@pytest.mark.parametrize("ending", [".png", ".pdf"])
def test_bars_of_the_conventional_setting(run, own, ending):
    target = own / f"bars{ending}"
    assert run("evaluate", *own_arguments(own), "--plot", target).exit_code == 0
    assert target.read_bytes()[:4] in (b"\x89PNG", b"%PDF")


def test_several_semantic_spaces_are_joined(run):
    options = ["--semantics", "attributes,binary attributes", "--method", "rrzsl", "--json"]
    (row,) = json.loads(run("evaluate", "animals", *options).stdout)
    assert row["semantics"] == "attributes + binary attributes"
    assert row["per_class_accuracy"] > 2 / 6


class Failing(SAEClassifier):
    """A method that never works."""

    def _fit(self, X, y):
        raise ValueError("the matrix\nis odd")


def test_a_method_that_fails_is_a_row_with_its_reason(run, own, monkeypatch):
    broken = Method("zero_shot.linear.sae:SAEClassifier", "Broken")
    monkeypatch.setitem(METHODS, "broken", broken)
    monkeypatch.setattr(Method, "estimator", property(lambda self: _class_of(self)))
    result = run("evaluate", *own_arguments(own), "--method", "broken,sae", "--json")
    assert result.exit_code == 1
    failed, fine = json.loads(result.stdout)
    assert failed == {"method": "broken", "status": "failed", "error": "the matrix is odd"}
    assert fine["status"] == "ok"
    table = run("evaluate", *own_arguments(own), "--method", "broken,sae")
    assert table.exit_code == 1
    assert "failed: the matrix is odd" in table.stdout


def _class_of(method):
    return Failing if method.title == "Broken" else SAEClassifier


def test_data_that_no_method_can_be_measured_on_is_one_error(refused, own):
    options = ["--features", own / "X.csv", "--labels", own / "y.csv", "--method", "sae,eszsl"]
    line = refused("evaluate", *options, "--signatures", own / "classes.csv")
    assert "unseen class" in line
    assert "no test row" in line
    assert "--cv 5" in line


def test_own_files_without_unseen_samples_are_measured_by_folds_of_classes(run, own):
    files = ["--features", own / "X.csv", "--labels", own / "y.csv"]
    files += ["--signatures", own / "classes.csv", "--method", "sae"]
    result = run("evaluate", *files, "--cv", "4", "--json")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)
    data = load_table(own / "X.csv", own / "y.csv", own / "classes.csv")
    folds = ClassKFold(4, shuffle=True, random_state=0).class_folds(data.y)
    accuracies = [
        measure(data, "sae", ConventionalProtocol(ClassSplit(np.setdiff1d(data.y, fold), fold)))
        for fold in folds
    ]
    wanted = np.mean([found.metrics["per_class_accuracy"] for found in accuracies])
    assert row["per_class_accuracy"] == pytest.approx(wanted)
    assert (row["method"], row["n_splits"]) == ("sae", 4)
    table = run("evaluate", *files, "--cv", "4").stdout
    assert "mean ± standard deviation over 4 folds" in table
    assert "with 2 candidates each" in table
    values = [found.metrics["per_class_accuracy"] for found in accuracies]
    reach = stats.t(3).ppf(0.95) * stats.sem(values)
    low, high = wanted - reach, wanted + reach
    assert row["per_class_accuracy_low"] == pytest.approx(max(low, 0))
    assert row["per_class_accuracy_high"] == pytest.approx(min(high, 1))
    assert f"{wanted:.4f} ± {np.std(values, ddof=1):.4f}" in table
    assert run("evaluate", *files, "--cv", "4", "--protocol", "gzsl").exit_code == 0


def test_more_folds_than_classes_and_plots_of_folds_are_refused(run, refused, own):
    files = ["--features", own / "X.csv", "--labels", own / "y.csv"]
    files += ["--signatures", own / "classes.csv"]
    assert "cannot make 9 folds of 8 classes" in refused("evaluate", *files, "--cv", "9")
    assert run("evaluate", *files, "--cv", "1").exit_code == 2
    assert run("evaluate", *files, "--cv", "2", "--plot", own / "f.png").exit_code == 2


def test_steps_and_classifiers_by_name(run, refused, own):
    options = ["--method", "dap", "-P", "classifier=gaussian-nb", "-P", "threshold=attribute"]
    options += ["--preprocess", "standardize,pca"]
    (row,) = json.loads(run("evaluate", *own_arguments(own), *options, "--json").stdout)
    unseen = ["unseen0", "unseen1", "unseen2"]
    data = load_table(own / "all.csv", own / "all_y.csv", own / "classes.csv", unseen=unseen)
    last = DAPClassifier(classifier=GaussianNB(), threshold="attribute")
    by_hand = make_pipeline(StandardScaler(), PCA(0.99, random_state=0), last)
    assert row["per_class_accuracy"] == measure(data, by_hand).metrics["per_class_accuracy"]
    line = refused("evaluate", *own_arguments(own), "--preprocess", "standardise")
    assert "there is no transformer 'standardise'. Did you mean 'standardize'?" in line
    wrong = ["--method", "dap", "-P", "classifier=os.system"]
    assert "there is no classifier 'os.system'" in refused("evaluate", *own_arguments(own), *wrong)
    line = refused("evaluate", *own_arguments(own), "-P", "classifier=knn")
    assert "auto has no parameter 'classifier'" in line


def test_every_name_makes_what_it_says():
    for name in TRANSFORMERS:
        assert hasattr(make_transformer(name), "transform")
    for name in CLASSIFIERS:
        assert hasattr(make_inner_classifier(name), "predict_proba")


def test_unknown_methods_are_refused_before_any_work(refused, own):
    line = refused("evaluate", *own_arguments(own), "--method", "sae,esszl")
    assert "there is no method 'esszl'. Did you mean 'eszsl'?" in line


def test_targets_are_checked_before_any_work(refused, own):
    arguments = own_arguments(own)
    assert "pictures end in .png" in refused("evaluate", *arguments, "--plot", own / "f.gif")
    assert "There is no folder" in refused("evaluate", *arguments, "--csv", own / "no" / "f.csv")
    assert "is a folder" in refused("evaluate", *arguments, "--csv", own)


def test_wrong_usage_exits_with_2(run):
    assert run("evaluate").exit_code == 2
    assert run("evaluate", "animals", "--protocol", "other").exit_code == 2
    assert run("evaluate", "animals", "--method", ",").exit_code == 2


@pytest.mark.data
def test_cub_decoder(run, data_dir):
    options = ["--features", "effnet_lite0", "--method", "sae", "--json"]
    (row,) = json.loads(run("evaluate", data_dir / "xlsa17" / "CUB", *options).stdout)
    assert row["per_class_accuracy"] >= 0.58


@pytest.mark.data
@pytest.mark.parametrize("split", ["standard", "proposed"])
@pytest.mark.parametrize("semantics", ["attributes", "word vectors"])
def test_awa1_with_attributes_and_word_vectors(run, data_dir, split, semantics):
    options = ["--features", "hist5_pca500", "--split", split, "--semantics", semantics]
    options += ["--method", "sae", "-P", "lam=1000"]
    result = run("evaluate", data_dir / "xlsa17" / "AWA1", *options, "--json")
    (row,) = json.loads(result.stdout)
    assert (row["split"], row["semantics"]) == (split, semantics)
    assert row["per_class_accuracy"] > 0.2


def test_gzsl_is_the_generalized_protocol(run, own):
    options = ["--protocol", "gzsl", "--json"]
    (row,) = json.loads(run("evaluate", *own_arguments(own), *options).stdout)
    assert row["protocol"] == GeneralizedProtocol.name
    assert row["n_candidates"] == 11


def test_open_figures_and_curves(run, own):
    options = ["--protocol", "open", "--plot", own / "rejection.svg"]
    result = run("evaluate", "animals", "--method", "sae", *options)
    head = next(line for line in result.stdout.splitlines() if line.startswith("method"))
    for word in ("seen", "unseen", "unknown", "H", "known rej.", "AUROC", "ECE"):
        assert word in head
    assert "26 candidates" in result.stdout
    assert "share of the samples that gets an answer" in (own / "rejection.svg").read_text()


def test_the_method_measured_by_default_is_the_one_that_fit_takes(run, own):
    measured = run("evaluate", *own_arguments(own), "--json")
    fitted = run("fit", *own_arguments(own), "--save", own / "m.zsl", "--json")
    assert measured.exit_code == fitted.exit_code == 0, measured.output + fitted.output
    (row,) = json.loads(measured.stdout)
    assert row["method"] == json.loads(fitted.stdout)["method"] == "auto"
