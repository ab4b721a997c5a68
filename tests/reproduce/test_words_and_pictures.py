"""Other signatures and other features of the animals: rows, tables, and what they are made of."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import zslearn.reproduce
from zslearn.datasets import load_animals
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce import DataSource, Run, load_experiments, make_tables
from zslearn.reproduce.experiments import auto, deep, pictures, words
from zslearn.reproduce.sources import vectors_kept

ROOT = Path(__file__).parents[2]


def test_the_descriptions_of_the_package_are_those_of_the_examples():
    inside = Path(zslearn.reproduce.__file__).parent / "data" / "animal_descriptions.csv"
    beside = ROOT / "examples" / "animal_descriptions.csv"
    assert inside.read_bytes() == beside.read_bytes()


@pytest.fixture
def folder(tmp_path):
    """The file beside the photographs, with noisy attributes in the place of word vectors."""
    animals = load_animals()
    names = np.array(list(animals.signatures))
    vectors = animals.signatures.vectors
    vectors = vectors + np.random.default_rng(0).normal(0, 1.5 * vectors.std(), vectors.shape)
    counts = {name: 0 for name in names}
    files = []
    for label in animals.y:
        files.append(f"{label}/{counts[label]}.jpg")
        counts[label] += 1
    np.savez(
        tmp_path / "animals28_effnet_lite2.npz",
        class_names=names,
        S_wordvec1000=vectors,
        image_files=np.array(files),
    )
    return tmp_path


def test_words_are_measured_beside_attributes_over_random_splits(folder):
    source = DataSource("photographs", "", str(folder), "photographs")
    rows = []
    for split in ("proposed", "random 0", "random 1", "random 2"):
        for semantics in ("attributes", "word vectors"):
            run = Run("words", "rrzsl", source, split, semantics)
            rows.append(run.configuration() | {"status": "ok"} | words.measure(run))
            assert rows[-1]["split"] == split
    proposed, standard, dealt = make_tables(rows, ["words"])["words"]
    assert [line[0] for line in proposed.rows] == ["attributes", "word vectors"]
    assert standard.rows == ()
    reached, interval = dealt.cell("word vectors", "Ridge S→F (RRZSL)").split(" (")
    assert float(reached) < float(dealt.cell("attributes", "Ridge S→F (RRZSL)"))
    assert "…" in interval


def test_shipped_features_of_the_first_photographs_are_rows_of_the_data(folder, monkeypatch):
    found = [
        pictures.Sample(f"{label}/{i}.jpg", folder, str(label))
        for label in load_animals().signatures
        for i in range(60)
    ]
    monkeypatch.setattr(pictures, "find_pictures", lambda _: found)
    source = DataSource("photographs", "", str(folder), "photographs")
    options = {"views": "shipped", "per_class": 15}
    run = Run("pictures", "rrzsl", source, "random 0", parameters=options)
    row = pictures.measure(run)
    assert row["n_train"] + row["n_test"] == 28 * 15


def test_views_are_compared_where_all_splits_are_measured():
    def row(views, split, accuracy):
        more = {"parameter_views": views, "parameter_per_class": 60, "per_class_accuracy": accuracy}
        place = {"kind": "pictures", "method": "sae", "split": split, "status": "ok"}
        return place | more

    splits = ["standard", *(f"random {i}" for i in range(4))]
    rows = [row("shipped", split, 0.5) for split in splits]
    rows += [row("center", split, 0.5 + 0.01 * i) for i, split in enumerate(splits)]
    rows += [row("flip", split, 0.6) for split in splits[:3]]
    own, views = make_tables(rows, ["pictures"])["pictures"]
    assert own.rows[0][1:5] == (".500", ".500", ".500", ".525")
    assert views.rows == ()


def test_an_unknown_problem_and_an_unknown_network_are_refused():
    with pytest.raises(InvalidInputError, match="no problem 'nothing'"):
        auto.measure(Run("auto", "auto", parameters={"problem": "nothing"}))
    with pytest.raises(InvalidInputError, match="no 'forest' for pictures: sae, conv-sae"):
        deep.measure(Run("deep-pictures", "forest"))


def test_the_automatic_choice_is_measured_beside_every_member():
    (run,) = load_experiments(quick=True)["auto"].runs([])
    row = run.configuration() | {"status": "ok"} | auto.measure(run)
    assert row["taken"] in row["series"]["alone"]
    assert row["reached_unseen"] == pytest.approx(row["series"]["alone"][row["taken"]], abs=0.02)
    table, among = make_tables([row], ["auto"])["auto"]
    assert table.cell("all", "warned") == "0"
    told = row | {"warnings": ["guessing .33: the signatures say nothing that these features show"]}
    assert make_tables([told], ["auto"])["auto"][0].cell("all", "warned") == "1"
    assert table.rows[0][0] == "few classes"
    assert table.rows[-1][0] == "all"
    assert among.rows[0][0] == "1"
    best = float(table.cell("few classes", "best member"))
    assert best >= float(table.cell("few classes", "reached"))


def test_rules_are_compared_on_draws_of_their_own():
    held_out = {"prototype-regression": [0.5, 0.5, 0.5], "gfzsl": [0.9, 0.9, 0.9]}
    row = {
        "kind": "auto",
        "status": "ok",
        "parameter_part": "choice",
        "parameter_group": "animals",
        "averaged": 0.3,
        "series": {
            "held_out": held_out,
            "alone": {"prototype-regression": 0.4, "gfzsl": 0.2},
        },
    }
    (table,) = make_tables([row], ["auto-choice"])["auto-choice"]
    assert table.cell("plain leader", "animals") == ".200"
    assert table.cell("prototype regression", "animals") == ".400"
    assert table.cell("plain leader", "worst on the animals") == "-20.0"
    assert table.cell("best member, which nobody knows", "animals") == ".400"


def test_vectors_are_made_once_for_all_processes_and_starts(tmp_path):
    """Six processes ask for the same vectors; the folder says how often they were made."""
    code = f"""
import time, numpy as np
from pathlib import Path
from types import SimpleNamespace
from zslearn.reproduce.sources import vectors_kept
def make():
    with open({str(tmp_path / "made")!r}, "a") as file:
        file.write("once ")
    time.sleep(0.5)
    return np.arange(6, dtype=np.float32).reshape(2, 3)
encoder = SimpleNamespace(identity="encoder")
got = vectors_kept({str(tmp_path / "kept")!r}, encoder, ["a", "b"], make)
assert got.dtype == np.float32 and got.tolist() == [[0, 1, 2], [3, 4, 5]], got
"""
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(6)]
    assert [one.wait() for one in started] == [0] * 6
    assert (tmp_path / "made").read_text() == "once "


def test_vectors_of_another_encoder_or_of_other_texts_are_others(tmp_path):
    made = []

    def kept(identity, told):
        encoder = SimpleNamespace(identity=identity)
        return vectors_kept(str(tmp_path / "kept"), encoder, told, lambda: [len(made)])

    for identity, told in (("one", ["a"]), ("two", ["a"]), ("one", ["b"]), ("one", ["a"])):
        made.append(kept(identity, told).tolist())
    assert made == [[0], [1], [2], [0]]
    assert vectors_kept("", None, ["a"], lambda: [9]).tolist() == [9]
