"""Write the table of docs/benchmarks.md: what the benchmarks of scale measured, and the targets.

    python scripts/scale_table.py [--check]

Reads the JSON files that the scripts named in PARTS left in benchmarks/results/.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pages

Row = tuple[str, str, str]
RESULTS = pages.ROOT / "benchmarks" / "results"


def gram(rows: Any) -> list[Row]:
    return [
        (
            f"pass over {row['features']:,} {row['dtype']} features: share of the arithmetic "
            "limit in memory; from disk, to the larger of arithmetic and reading",
            "≥ .80; ≤ 1.25",
            f"{row['share_of_roof']:.2f}; {row['of_the_larger']:.2f}",
        )
        for row in rows
    ]


def stream(rows: Any) -> list[Row]:
    costs = ", ".join(f"{r['us_per_row']:.2f} ({r['rows']:,})" for r in rows["from_disk"])
    return [
        ("pass from disk to pass from memory", "≤ 1.25", f"{rows['disk_to_memory']:.2f}"),
        (
            "growth of the process, from disk",
            "< 1 GB",
            f"{max(r['grown_gb'] for r in rows['from_disk']):.2f} GB; with λ chosen "
            f"{rows['disk_with_lam_cv']['grown_gb']:.2f} GB",
        ),
        ("µs per sample (number of samples)", "flat", costs),
    ]


def topk(row: Any) -> list[Row]:
    seconds = {k: v for k, v in row["seconds"].items() if v is not None}
    peers = ", ".join(
        f"{name} {seconds[name] / seconds['bare product']:.2f}"
        for name in ("faiss IndexFlatIP", "argsort, scaled up")
        if name in seconds
    )
    what = (
        f"top 5 of {row['samples']:,} × {row['classes']:,} × {row['dimensions']:,}, to the product"
    )
    return [(what, "≤ 1.50", f"{row['ratio']:.2f} ({peers})")]


def memory(row: Any) -> str:
    return "memory not measured" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB"


def peers(result: Any) -> list[Row]:
    rows = result["rows"]
    ours = rows["SAE, λ chosen by class-wise CV"]["seconds"]
    table = [
        (
            f"CUB: {name}; seconds to ours ({ours:.2f} s), peak memory, accuracy",
            "",
            f"{row['seconds'] / ours:.2f}; {memory(row)}; accuracy {row['accuracy']:.3f}",
        )
        for name, row in rows.items()
    ]
    if result["octave"]:
        solved = result["octave"]
        ratio = solved["octave_seconds"] / solved["our_seconds"]
        table.append(("one solve by Octave's sylvester, to ours", "", f"{ratio:.1f}"))
    return table


def dask_scaling(row: Any) -> list[Row]:
    plain, dask = row["plain_seconds"], row["dask"]
    table = [
        (f"Dask, {n} worker(s), to plain streaming", "", f"{dask[n]['fit'] / plain[n]:.2f}")
        for n in dask
    ]
    whole = sum(row["estimate"].values())
    return [
        *table,
        ("Dask, speed-up from 1 to 2 workers", "", f"{row['speed_up']:.2f}"),
        ("14 million × 1,024 on 16 workers, estimated", "", f"{whole:.0f} s"),
    ]


# How each script was called, and what reads its result.
PARTS: dict[str, tuple[str, Callable[[Any], list[Row]]]] = {
    "gram": ("gram.py --folder DIR", gram),
    "stream": ("stream.py --folder DIR --plot FILE", stream),
    "topk": ("topk.py", topk),
    "peers": ("peers.py --data CUB --features effnet_lite0", peers),
    "dask_scaling": ("dask_scaling.py --folder DIR", dask_scaling),
}


def table() -> str:
    lines = ["| figure | target | measured | command |", "|---|---|---|---|"]
    for name, (command, part) in PARTS.items():
        document = json.loads((RESULTS / f"{name}.json").read_text())
        lines += [
            f"| {what} | {target} | {value} | `{command}` |"
            for what, target, value in part(document["rows"])
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "benchmarks.md"
    pages.main(__doc__.splitlines()[0], {page: pages.filled(page, {"scale": table()})})
