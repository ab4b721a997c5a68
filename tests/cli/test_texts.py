"""Texts from a table to answers, each command as a user types it, with sentences made by a rule."""

import csv
import json
import re

import pytest

THINGS = {
    "card": "plastic bank card",
    "loan": "loan from the bank",
    "password": "password of the account",
    "rent": "rent of the flat",
    "flight": "flight ticket",
    "dinner": "table for dinner",
    "doctor": "appointment with the doctor",
    "parcel": "parcel in the post",
    "weather": "weather of tomorrow",
    "music": "song to listen to",
}
ASKED = (
    "Please help me with the {}",
    "Where do I find my {}?",
    "I have a question about the {}",
    "The {} is not what I wanted",
    "Can you change the {} for me",
    "Tell me more about the {}, quickly",
)
UNSEEN = ("weather", "music")


def write(path, *rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    asked = {name: [(text.format(thing), name) for text in ASKED] for name, thing in THINGS.items()}
    seen = [row for name, rows in asked.items() if name not in UNSEEN for row in rows]
    new = [row for name in UNSEEN for row in asked[name]]
    write(folder / "tickets.csv", ("text", "category"), *seen)
    write(folder / "new.csv", ("text", "category"), *new)
    described = [(name, f"The customer asks about the {thing}") for name, thing in THINGS.items()]
    write(folder / "classes.csv", ("name", "description"), *described)
    write(folder / "names.csv", *((name,) for name in THINGS))
    return folder


@pytest.fixture
def store(run, folder):
    if not (folder / "t.store").exists():
        asked = ("--text", "text", "--labels", "category", "--out", folder / "t.store")
        done = run("features", folder / "tickets.csv", *asked)
        assert done.exit_code == 0, done.output
    return folder / "t.store"


@pytest.mark.parametrize("classes", ["classes.csv", "names.csv"])
def test_three_commands_lead_to_answers(run, folder, store, classes, tmp_path):
    model = tmp_path / "m.zsl"
    done = run("fit", store, "--classes", folder / classes, "--save", model)
    assert done.exit_code == 0, done.output
    table = ("--text", "text", "--unseen-only", "--json")
    answers = json.loads(run("predict", model, folder / "new.csv", *table).stdout)
    found = [answer["class"] for answer in answers]
    truth = [name for name in UNSEEN for _ in ASKED]
    assert sum(a == b for a, b in zip(found, truth, strict=True)) >= 10
    one = run("predict", model, "Will there be rain on Monday?", "--unseen-only")
    assert one.exit_code == 0, one.output
    assert "weather" in one.stdout


def test_a_store_of_texts_is_measured_advised_on_and_checked(run, folder, store):
    source = (store, "--classes", folder / "classes.csv")
    (row,) = json.loads(run("evaluate", *source, "--cv", 2, "--json").stdout)
    assert row["method"] == "prototype-regression"
    assert row["per_class_accuracy"] > 0.7  # of four classes
    advice = run("advise", *source)
    assert advice.exit_code == 0, advice.output
    taken = r"Take (standardize > )?prototype-regression, and expect an accuracy of"
    assert re.search(taken, advice.stdout)
    checked = run("data", "check", store, folder / "classes.csv")
    assert checked.exit_code == 0, checked.output


def test_answers_and_suggestions_show_the_texts(run, folder, store, tmp_path):
    model, out = tmp_path / "m.zsl", tmp_path / "out.csv"
    assert run("fit", store, "--classes", folder / "classes.csv", "--save", model).exit_code == 0
    texts = [text.format(THINGS[name]) for name in UNSEEN for text in ASKED]
    new = (model, folder / "new.csv", "--text", "text")
    for command in ("predict", "suggest"):
        rows = json.loads(run(command, *new, "--json").stdout)
        assert {(row["sample"], row["text"]) for row in rows} == {
            (str(i), text) for i, text in enumerate(texts)
        }
        shown = run(command, *new)
        assert "I have a question about the weather of …" in shown.stdout
        assert run(command, *new, "--out", out).exit_code == 0
        with open(out, newline="", encoding="utf-8") as file:
            assert {row["text"] for row in csv.DictReader(file)} == set(texts)
    rows = json.loads(run("predict", model, store, "--json").stdout)
    assert rows[0]["text"] == ASKED[0].format(THINGS["card"])
    assert "text" not in json.loads(run("predict", model, "Rain?", "--json").stdout)[0]
    blank = run("predict", model, "Rain?", " ")
    assert (blank.exit_code, blank.stderr) == (1, "Error: the text is empty: ' '.\n")


def test_a_class_of_a_sentence_takes_the_texts_it_describes(run, folder, store, tmp_path):
    fewer = write(
        tmp_path / "fewer.csv", *((name,) for name in THINGS if name not in UNSEEN), ("music",)
    )
    more = write(
        tmp_path / "more.csv", ("name", "description"), ("climate", "rain, sun and wind tomorrow")
    )
    model = tmp_path / "m.zsl"
    assert run("fit", store, "--classes", fewer, "--save", model).exit_code == 0
    asked = ("Will there be rain on Monday?", "--add-classes", more)
    answer = run("predict", model, *asked, "--candidates", "climate,music")
    assert answer.exit_code == 0, answer.output
    assert "climate" in answer.stdout
