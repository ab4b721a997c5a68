"""Say whether a change of the code changed a result.

Measures the closed forms on CUB, AWA1 and the animals, in both protocols, and the quick form of
the paper's experiments, with whatever `zslearn` is installed or on PYTHONPATH:

    python scripts/compare_results.py measure before/ --data ../shared/data

Run it before and after a change, then

    python scripts/compare_results.py compare before/ after/

prints every figure that moved by more than 1e-6 or is missing, and exits with 1 if there is one.
Figures that only the second run has are counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CLOSED_FORMS = (
    "sae,sae-encode,sae-both,prototype-regression,legacy_awa,legacy_cub,legacy_imnet2,ridge-fs,"
    "rrzsl,eszsl,eszsl-kernel,gfzsl,exem,ncm"
)
DATA = {
    "cub": ["xlsa17/CUB", "--features", "effnet_lite0"],
    "awa1": ["xlsa17/AWA1", "--features", "hist5_pca500"],
    "animals": ["animals"],
}
# Figures that a clock or the machine makes.
UNSTEADY = ("second", "time", "machine", "version", "date", "memory", "cores", "cpu", "started")
TOLERANCE = 1e-6


def measure(out: Path, data: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, (path, *options) in DATA.items():
        where = path if name == "animals" else str(data / path)
        for protocol in ("zsl", "gzsl"):
            command = ["evaluate", where, *options, "--method", CLOSED_FORMS, "--json"]
            print(f"{name} {protocol}", file=sys.stderr)
            rows = _zslearn([*command, "--protocol", protocol])
            (out / f"{name}-{protocol}.json").write_text(rows, encoding="utf-8")
    folder = out / "reproduced"
    _zslearn(["reproduce", "--quick", "--no-plots", "--out", str(folder)])


def compare(before: Path, after: Path) -> int:
    files = sorted(path.relative_to(before) for path in before.glob("*.json"))
    files += sorted(path.relative_to(before) for path in before.glob("reproduced/results.jsonl"))
    moved = compared = new = 0
    for file in files:
        old, later = (_figures(_read(folder / file)) for folder in (before, after))
        new += len(later.keys() - old.keys())
        for key in sorted(old):
            compared += 1
            if not _same(old[key], later.get(key)):
                moved += 1
                print(f"{file}: {key}: {old[key]} before, {later.get(key)} after")
    print(f"{compared} figures compared, {moved} moved by more than {TOLERANCE:g}, {new} new")
    return 1 if moved or not compared else 0


def _zslearn(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "zslearn", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else json.loads(text)
    )


def _figures(value: Any, path: str = "") -> dict[str, Any]:
    """Flatten a document to numbers; rows are matched by what they measure, not by position."""
    if isinstance(value, dict):
        parts = [(str(key), item) for key, item in value.items()]
        steady = [(k, v) for k, v in parts if not any(word in k.lower() for word in UNSTEADY)]
        return _joined(_figures(item, f"{path}/{key}") for key, item in steady)
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value):
            return _joined(_figures(row, f"{path}/{_name(row)}") for row in value)
        return _joined(_figures(item, f"{path}/{i}") for i, item in enumerate(value))
    return {path: value} if isinstance(value, float) else {}


def _joined(parts: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for part in parts:
        for key, item in part.items():
            number = 2
            unique = key
            while unique in whole:
                unique, number = f"{key}#{number}", number + 1
            whole[unique] = item
    return whole


def _name(row: dict[str, Any]) -> str:
    wanted = ("kind", "dataset", "features", "split", "semantics", "protocol", "method")
    return ",".join(str(row[key]) for key in wanted if isinstance(row.get(key), str))


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a)) or (a != a and b != b)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("out", type=Path)
    measuring.add_argument("--data", type=Path, default=Path("../shared/data"))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments.out, arguments.data)
        return 0
    return compare(arguments.before, arguments.after)


if __name__ == "__main__":
    sys.exit(main())
