"""The paper's experiments: specification, runs, rows, tables, plots, report."""

from zslearn.reproduce.published import Published, published_values
from zslearn.reproduce.results import ResultsFile
from zslearn.reproduce.runner import plan, run_experiments
from zslearn.reproduce.sources import DataSource, Missing, find_data
from zslearn.reproduce.specification import Experiment, Run, choose_experiments, load_experiments
from zslearn.reproduce.tables import Table, make_tables

__all__ = [
    "DataSource",
    "Experiment",
    "Missing",
    "Published",
    "ResultsFile",
    "Run",
    "Table",
    "choose_experiments",
    "find_data",
    "load_experiments",
    "make_tables",
    "plan",
    "published_values",
    "run_experiments",
]
