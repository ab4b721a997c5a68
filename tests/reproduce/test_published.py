"""The published values of the package against the LaTeX source of the paper."""

import re
from collections import Counter

import pytest

from zslearn.cluster import MAPPINGS
from zslearn.reproduce import published_values
from zslearn.zero_shot import METHODS
from zslearn.zero_shot.registry import DEEP


@pytest.fixture(scope="module")
def paper(data_dir):
    """Rows of numbers of each table of the paper, by label."""
    files = sorted((data_dir.parent / "paper").glob("*.txt"))
    if not files:
        pytest.skip("the LaTeX source of the paper is not beside the data")
    text = files[0].read_text(errors="replace")
    tables = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text, re.S)
    return {re.search(r"\\label\{(.*?)\}", table)[1]: table for table in tables[1:]}


def numbers(text: str) -> Counter:
    """Numbers of a table's body, without citations."""
    body = re.sub(r"\\cite\{.*?\}|\\label\{.*?\}|\\caption\{.*", "", text, flags=re.S)
    body = re.sub(r"(\d),(\d{3})\b", r"\1\2", re.sub(r"\\cite\{[^}]*\}", "", text))
    return Counter(re.findall(r"\d+\.\d+|\d+", body))


def ours(table: str) -> list[str]:
    return [v.text for v in published_values() if v.source.endswith(table)]


@pytest.mark.data
@pytest.mark.parametrize(
    ("label", "table", "least"),
    [
        ("main_zsl_result", "Table 2", 60),
        ("different_embedding_table", "Table 3", 4),
        ("gzsl_result", "Table 4", 12),
        ("my-label", "Table 5", 8),
        ("sc_same_size", "Table 6", 15),
        ("sc_diff_size", "Table 7", 15),
        ("flower", "Table 8", 12),
    ],
)
def test_every_value_stands_in_the_paper(paper, label, table, least):
    printed = numbers(paper[label])
    printed = Counter({float(text): n for text, n in printed.items()})
    # Times of Table 8 are printed in days, hours and minutes.
    units = {432000: 5, 86400: 1, 7200: 2, 660: 11} if label == "flower" else {}
    stored = Counter(units.get(float(text), float(text)) for text in ours(table))
    assert sum(stored.values()) >= least
    assert not stored - printed


@pytest.mark.data
@pytest.mark.parametrize(
    ("label", "metric", "method", "row", "datasets"),
    [
        ("gzsl_result", "AUSUC", "sae-encode", "SAE", ("AWA1", "CUB")),
        ("gzsl_result", "AUSUC", "sync-struct", "SynC", ("AWA1", "CUB")),
        ("gzsl_result", "AUSUC", "eszsl", "ESZSL", ("AWA1", "CUB")),
        ("different_embedding_table", "accuracy", "ridge-fs", "F $", ("AWA1", "CUB", "APY")),
        (
            "main_zsl_result",
            "accuracy",
            "sae-encode",
            r"SAE ($\mathbf{W}$)",
            ("AWA1", "CUB", "APY"),
        ),
        ("main_zsl_result", "accuracy", "eszsl", "ESZSL", ("AWA1", "CUB", "APY")),
    ],
)
def test_values_stand_in_the_row_of_their_method(paper, label, metric, method, row, datasets):
    line = next(part for part in paper[label].splitlines() if part.strip().startswith(row))
    clean = re.sub(r"\\cite\{.*?\}", "", line)
    printed = [float(text) for text in re.findall(r"\d+\.\d+", clean)][: len(datasets)]
    stored = {
        v.dataset: v.value
        for v in published_values()
        if (v.method, v.metric) == (method, metric) and v.source.startswith("Kodirov")
    }
    assert [stored[name] for name in datasets] == printed


def test_methods_are_ours_or_none():
    known = {*METHODS, *DEEP, *MAPPINGS, ""}
    assert {value.method for value in published_values()} <= known


def test_flowers_and_sizes_as_printed():
    found = {(v.method, v.metric): v.value for v in published_values() if v.dataset == "flowers17"}
    assert found["sae", "clustering loss"] == 1.19
    assert found["mlca", "clustering loss"] == 1.29
    assert found["sae", "fit seconds"] == 93
    sizes = {(v.dataset, v.metric): v.value for v in published_values() if "Table 1" in v.source}
    assert sizes["AWA1", "instances"] == 30475
    assert sizes["CUB", "dimensions"] == 312
    assert sizes["ImNet-2", "unseen classes"] == 360


def test_the_survey_names_its_source():
    survey = [v for v in published_values() if v.source.startswith("Xian")]
    found = {(v.dataset, v.metric): v.value for v in survey if v.title == "SAE"}
    assert found["CUB", "T1"] == 33.3
    assert found["AWA1", "H"] == 3.5
    assert all("README" in v.source for v in survey)
