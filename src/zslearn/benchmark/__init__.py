"""The paper's experiments: specification, runs, rows, tables, plots, report."""

from zslearn.benchmark.published import Published, published_values
from zslearn.benchmark.results import ResultsFile
from zslearn.benchmark.runner import plan, run_experiments
from zslearn.benchmark.sources import Missing, Source, find_data
from zslearn.benchmark.specification import Experiment, Run, choose_experiments, load_experiments
from zslearn.benchmark.tables import Table, make_tables

__all__ = [
    "Experiment",
    "Missing",
    "Published",
    "ResultsFile",
    "Run",
    "Source",
    "Table",
    "choose_experiments",
    "find_data",
    "load_experiments",
    "make_tables",
    "plan",
    "published_values",
    "run_experiments",
]
