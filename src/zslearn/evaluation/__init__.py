"""Protocols, one call from a data set to a flat row, and reports on what can go wrong."""

from zslearn.evaluation.answers import (
    Answers,
    ClassAnswers,
    Share,
    answer_held_out,
    answer_samples,
)
from zslearn.evaluation.open_protocol import OpenAnswers, OpenProtocol
from zslearn.evaluation.protocols import (
    ConventionalProtocol,
    GeneralizedProtocol,
    Task,
    read_class_splits,
)
from zslearn.evaluation.report_page import Shown, report_page
from zslearn.evaluation.reports import (
    ClassReport,
    HubnessReport,
    LeakageReport,
    hubness_report,
    imagenet_classes,
    leakage_report,
    report_classes,
)
from zslearn.evaluation.result import Result, SplitsResult
from zslearn.evaluation.run import evaluate, evaluate_splits

__all__ = [
    "Answers",
    "ClassAnswers",
    "ClassReport",
    "ConventionalProtocol",
    "GeneralizedProtocol",
    "HubnessReport",
    "LeakageReport",
    "OpenAnswers",
    "OpenProtocol",
    "Result",
    "Share",
    "Shown",
    "SplitsResult",
    "Task",
    "answer_held_out",
    "answer_samples",
    "evaluate",
    "evaluate_splits",
    "hubness_report",
    "imagenet_classes",
    "leakage_report",
    "read_class_splits",
    "report_classes",
    "report_page",
]
