import json

import zslearn.reproduce
from zslearn.reproduce.experiments import clustering


def test_list_names_experiments_and_what_is_missing(run, monkeypatch):
    monkeypatch.delenv("ZSLEARN_DATA", raising=False)
    result = run("reproduce", "--list")
    assert result.exit_code == 0
    assert "Table 4" in result.stdout
    assert "Found animals28" in result.stderr
    assert "Without AWA1, AWA2, CUB" in result.stderr


def test_runs_write_tables_and_a_report_and_are_not_repeated(run, tmp_path):
    arguments = ("reproduce", "clustering-equal", "--quick", "--methods", "lda", "--no-plots")
    result = run(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Supervised clustering" in result.stdout
    assert (tmp_path / "out" / "tables" / "clustering.tex").is_file()
    assert "LDA" in (tmp_path / "out" / "report.md").read_text()
    again = run(*arguments, "--out", tmp_path / "out", "--json")
    assert "1 runs, 1 of them done already." in again.stderr
    assert json.loads(again.stdout)[0]["method"] == "lda"


def test_tables_do_not_depend_on_the_order_in_which_runs_finished(run, tmp_path):
    arguments = ("reproduce", "splits-hard", "--quick", "--no-plots", "--methods", "eszsl,rrzsl")
    first = run(*arguments, "--out", tmp_path)
    assert first.exit_code == 0, first.output
    file = tmp_path / "results.jsonl"
    file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))
    again = run(*arguments, "--out", tmp_path)
    assert "2 runs, 2 of them done already." in again.stderr
    assert again.stdout == first.stdout


def test_wrong_names_and_places_are_refused(refused, tmp_path, monkeypatch):
    monkeypatch.delenv("ZSLEARN_DATA", raising=False)
    assert "Did you mean 'gzsl'?" in refused("reproduce", "gzs")
    assert "There is no folder" in refused("reproduce", "zsl", "--data", tmp_path / "none")
    (tmp_path / "file").write_text("")
    assert "is a file" in refused("reproduce", "zsl", "--out", tmp_path / "file")
    out = ("--out", tmp_path / "out")
    assert "above 0 and at most 1; got nan" in refused("reproduce", "--scale", "nan", *out)
    assert "needs data, see above" in refused("reproduce", "flowers", *out)


def test_tables_are_made_once_and_plots_are_drawn_once(run, tmp_path, monkeypatch):
    calls = []

    def counted(module, name):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args: (calls.append(name), real(*args))[1])

    counted(zslearn.reproduce, "make_tables")
    counted(clustering, "plots")
    out = tmp_path / "out"
    result = run("reproduce", "figure-clusters", "--methods", "lda", "--out", out)
    assert result.exit_code == 0, result.output
    assert (out / "plots" / "paper-figure-3.png").is_file()
    assert (out / "report.md").read_text().count("](plots/") == 1
    assert sorted(calls) == ["make_tables", "plots"]
