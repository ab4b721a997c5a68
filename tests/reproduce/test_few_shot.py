"""Experiments on samples after the fit: shots, texts, batches without labels, unknown classes."""

from dataclasses import replace

import numpy as np
import pytest

from zslearn.reproduce import find_data, make_tables
from zslearn.reproduce import sources as data_sources
from zslearn.reproduce.experiments.few_shot import SCENARIOS, SHOTS, measure
from zslearn.reproduce.plots import make_plots
from zslearn.reproduce.specification import Run, load_experiments


def row(kind, source, **more):
    semantics = source.semantics[0] if source.group == "texts" else "attributes"
    run = Run(kind, "prototype-regression", source, split="random 3", semantics=semantics, **more)
    return run.configuration() | measure(run) | {"status": "ok"}


@pytest.fixture(scope="module")
def animals():
    return next(one for one in find_data()[0] if one.dataset == "animals28")


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Two words for each of 24 intents, encoded as vectors of their own, and texts of none."""
    rng = np.random.default_rng(0)
    vectors = dict[str, np.ndarray]()

    class Words:
        def transform(self, texts):
            for text in texts:
                for word in text.split():
                    vectors.setdefault(word, rng.normal(size=40))
            return np.array([sum(vectors[word] for word in text.split()) for text in texts])

    monkeypatch.setattr("zslearn.encoders.TextEncoder", Words)
    folder = tmp_path / "intents"
    folder.mkdir()
    lines = [f"w{i} filler{j},w{i}_{'abc'[i % 3]}" for i in range(24) for j in range(6)]
    lines += ["nothing at all,oos"] * 2
    (folder / "tiny.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    told = [f"w{i}_{'abc'[i % 3]},about w{i}" for i in range(24)]
    (folder / "tiny_classes.csv").write_text("class,description\n" + "\n".join(told) + "\n")
    (folder / "tiny_out_of_scope.csv").write_text("text\n" + "quite else\nother things\n" * 4)
    data_sources.encoded_texts.cache_clear()
    yield next(one for one in find_data(tmp_path)[0] if one.group == "texts")
    data_sources.encoded_texts.cache_clear()


def test_samples_help_and_descriptions_are_kept(animals):
    got = row("shots", animals, parameters={"draws": 1})
    for n in SHOTS:
        assert got[f"both_{n}"] > max(got["zero"], got[f"alone_{n}"]) - 0.03
    assert got["both_16"] > got["both_1"] > got["zero"]
    (table,) = make_tables([got], ["shots"])["shots"]
    assert [line[1] for line in table.rows][:2] == ["samples alone", "description and samples"]
    assert "random 3" in " ".join(table.notes)
    assert "Below zero" not in " ".join(table.notes)
    better = max(got["zero"], got["alone_4"])
    other = got | {"split": "random 4", "both_4": better - 0.006}
    (table,) = make_tables([got, other], ["shots"])["shots"]
    gain, lead = (line[5] for line in table.rows[-2:])
    gains = [100 * (one["both_4"] - one["zero"]) for one in (got, other)]
    assert gain == f"{np.mean(gains):.1f} ± {np.std(gains, ddof=1):.1f}"
    assert lead == "-0.6"
    assert "Below zero: animals28, attributes, on random 4." in " ".join(table.notes)
    (plot,) = make_plots([got, got | {"split": "proposed", "both_1": 0.0}])
    assert plot.name == "few_samples"
    (axes,) = plot.draw().axes
    alone, samples, both = axes.lines
    assert set(alone.get_ydata()) == {got["zero"]}
    assert samples.get_ydata().tolist() == [got[f"alone_{n}"] for n in SHOTS]
    assert both.get_ydata().tolist() == [got["zero"], *(got[f"both_{n}"] for n in SHOTS)]


def test_batches_and_unknown_classes_are_measured_on_the_same_splits(animals):
    adapted, unknown = row("adapt", animals, parameters={"share": 0.05}), row("novelty", animals)
    assert {f"adapted {name}" for name in SCENARIOS} < adapted.keys()
    assert all(0.4 < unknown[f"confidence {setting}"] <= 1 for setting in ("unseen", "all"))
    tables = make_tables([adapted, unknown])
    lines = {line[1]: line[2] for line in tables["adapt"][0].rows}
    assert list(lines) == ["inductive", "adapted", "PST", "worst", "gain"]
    gain = 100 * (adapted["adapted all"] - adapted["inductive all"])
    assert lines["gain"] == f"{gain:.1f}"
    for setting in ("unseen", "all"):  # rejected at all, and strangers oftener than others
        assert 0 < unknown[f"rejected {setting}"] < unknown[f"caught {setting}"] < 1
    assert len(tables["novelty"][0].rows[0]) == 11


def test_texts_are_compared_with_their_names(texts):
    data = texts.load()
    assert len(data.X) == 144  # texts of no class are no samples
    assert data.extra["out_of_scope"].shape == (8, 40)
    assert list(data.semantics) == ["names", "names and descriptions"]
    got = row("texts", texts)
    assert got["with_prior"] > got["without_prior"] + 0.1
    assert got["with_prior"] > got["cosine"] - 0.05
    for key in ("caught", "learned_caught", "learned_rejected"):
        assert 0 <= got[f"with_scope_{key}"] <= 1
    other = got | {"split": "random 4", "with_prior": got["cosine"] - 0.021}
    (table,) = make_tables([got, other], ["texts"])["texts"]
    assert table.columns == ("", "tiny, names")
    (worst,) = [line[1] for line in table.rows if "worst split" in line[0]]
    assert worst == "-2.1"
    leads = [100 * (one["with_prior"] - one["cosine"]) for one in (got, other)]
    lead = dict(line[:2] for line in table.rows)["its lead over the cosine in points"]
    assert lead == f"{np.mean(leads):.1f} ± {np.std(leads, ddof=1):.1f}"


def test_sentences_are_compared_with_names_on_the_same_splits(texts):
    spaces = texts.load().semantics
    rows = [row("texts", texts) | {"semantics": space, "with_prior": 0.5} for space in spaces]
    other = rows[0] | {"split": "random 4", "with_prior": 0.25}
    names, described = make_tables([other, *rows], ["texts"])["texts"]
    assert names.columns == ("", "tiny, names")
    assert described.columns == ("", "tiny, names", "tiny, names and descriptions")
    assert dict(line[:2] for line in names.rows)["prototype regression"] == "25.0"
    assert dict(line[:2] for line in described.rows)["prototype regression"] == "50.0"
    assert ("random 4" in " ".join(names.notes), "random 4" in " ".join(described.notes)) == (
        True,
        False,
    )


def test_the_experiments_are_declared_on_fresh_splits():
    for name in ("shots", "texts", "texts-described", "adapt", "novelty"):
        found = load_experiments()[name]
        assert found.kind == name.partition("-")[0]
        assert sum(split.startswith("random") for split in found.splits) >= 5


def test_sentences_are_measured_where_there_are_some(texts):
    source = replace(texts, dataset="banking77")
    runs = list(load_experiments()["texts-described"].runs([source]))
    assert {run.semantics for run in runs} == {"names", "names and descriptions"}
