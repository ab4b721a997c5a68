"""The paper's experiments: specification, runs, rows, tables, plots, report."""

from zslearn.benchmark.results import ResultsFile
from zslearn.benchmark.runner import plan, run_experiments
from zslearn.benchmark.sources import Missing, Source, find_data
from zslearn.benchmark.specification import Experiment, Run, choose_experiments, load_experiments

__all__ = [
    "Experiment",
    "Missing",
    "ResultsFile",
    "Run",
    "Source",
    "choose_experiments",
    "find_data",
    "load_experiments",
    "plan",
    "run_experiments",
]
