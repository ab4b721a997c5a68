"""The commands of the first pages: typed for real on small texts, laid out for pictures."""

import csv

import pytest

from zslearn.datasets import load_animals
from zslearn.exceptions import ZslearnError
from zslearn.reproduce import DataSource, Run, make_tables
from zslearn.reproduce.experiments import commands

THINGS = (
    "apple bicycle candle dolphin elephant football guitar hammer iceberg jacket kitchen lemon "
    "mountain newspaper orange piano queen rabbit salmon telephone umbrella violin window zebra"
).split()
SAID = ("I saw the {}", "where is my {}?", "a very old {}", "the {} is new", "one {} please")


@pytest.fixture
def intents(tmp_path):
    """A table of texts about 24 things, and a sentence for each."""
    path = tmp_path / "things.csv"
    with path.open("w", newline="") as file:
        lines = [(said.format(one), one) for said in SAID for one in THINGS]
        csv.writer(file).writerows([("text", "label"), *lines])
    with path.with_name("things_classes.csv").open("w", newline="") as file:
        told = [(one, f"Somebody speaks of the {one}.") for one in THINGS]
        csv.writer(file).writerows([("class", "description"), *told])
    return DataSource("things", "minilm", str(path), "texts")


def test_what_the_program_prints_is_kept_with_how_often_it_is_right(intents):
    run = Run("commands", source=intents, parameters={"story": "texts"})
    row = run.configuration() | {"status": "ok"} | commands.measure(run)
    text = commands.transcripts([row])["texts"]
    fit, predict = (line for line in text.splitlines() if line.startswith("$ "))
    assert fit.startswith("$ zslearn fit tickets.csv --text text --labels category --classes ")
    assert predict == (
        '$ zslearn predict model.zsl "Where can I buy a horse?" --reject "none of these"'
    )
    assert "read    75 texts in tickets.csv" in text
    assert "on 15 seen classes; 5 unseen" in text
    assert 0.5 < row["calibrated_accuracy"] <= 1
    assert row["plain_accuracy"] <= row["calibrated_accuracy"]
    (table,) = make_tables([row], ["commands"])["commands"]
    assert table.cell("texts", "calibrated") == f"{100 * row['calibrated_accuracy']:.0f}"


def test_pictures_of_unseen_classes_are_not_among_those_of_the_fit(tmp_path):
    for name in load_animals().signatures:
        folder = tmp_path / "source" / "images" / str(name)
        folder.mkdir(parents=True)
        for i in range(2):
            (folder / f"{i}.jpg").write_text(f"{name} {i}")
    (place := tmp_path / "story").mkdir()
    commands.pictures(place, tmp_path / "source")
    photos, more = (
        {folder.name for folder in (place / name).iterdir()} for name in ("photos", "more")
    )
    assert (len(photos), len(more), len(photos & more)) == (20, 8, 0)
    assert (place / "new.jpg").read_text() == "leopard 0"
    assert "leopard" in more


def test_a_command_that_fails_is_told_with_its_reason(tmp_path):
    with pytest.raises(ZslearnError, match=r"zslearn predict nothing\.zsl x: .*'nothing\.zsl'"):
        commands._typed(tmp_path, ["predict", "nothing.zsl", "x"])
