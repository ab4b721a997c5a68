"""The tables of docs/performance.md and docs/reliability.md: what the benchmarks measured.

`scripts/fill_pages.py` writes them from the files that the scripts left in results/.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zslearn.reproduce import Table

Row = tuple[str, str, str]
RESULTS = Path(__file__).parent / "results"


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


def scale() -> Table:
    """Return one line per figure, with its target and the command that measures it."""
    body = []
    for name, (command, part) in PARTS.items():
        body += [(what, target, value, f"`{command}`") for what, target, value in part(rows(name))]
    columns = ("figure", "target", "measured", "command")
    return Table("scale", "Benchmarks of scale", columns, tuple(body))


def rows(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["rows"]


def fit() -> Table:
    body = []
    for row in rows("fit"):
        seconds = list(row["seconds"].items())
        peer, solve, path, cv, peer_cv = (
            next(value for name, value in seconds if name.startswith(start))
            for start in ("peer solve", "our solve", "our path", "our class-wise", "peer's CV")
        )
        star = "" if row["peer"] == "run" else "*"
        body.append(
            (
                "{n:,}, {d:,}, {k:,}, {classes}".format(**row["shape"]),
                f"{peer:.3g} s{star}",
                f"{solve:.2g} s",
                f"{row['ratios']['solve']:.0f}",
                f"{path:.2g} s",
                f"{cv:.2g} s",
                f"{peer_cv:,.0f} s{star}",
                f"{row['ratios']['class-wise CV']:.0f}",
            )
        )
    columns = ("N, d, k, classes", "peer", "our solve", "ratio", "30 λ, decoded")
    columns += ("class-wise CV", "peer's CV", "CV ratio")
    return Table("fit", "One solve, a path and class-wise cross-validation", columns, tuple(body))


def small() -> Table:
    body = tuple((row["method"], f"{row['cpu_seconds']:.2f}") for row in rows("small"))
    return Table("small", "CPU seconds of a fit on the animals", ("method", "CPU s"), body)


def busy() -> Table:
    body = [
        (
            f"{row['data']}, {row['method']}",
            f"{row['alone']:.1f}",
            f"{row['busy']:.1f}",
            f"{row['ratio']:.1f}",
        )
        for row in rows("busy")
    ]
    return Table("busy", "Busy machines", ("fit", "alone s", "busy s", "ratio"), tuple(body))


def serve() -> Table:
    """Return requests per second at 1 and at 8 connections, and CPU time of a request."""
    found = [row for row in rows("serve") if "requests_per_second" in row]
    body = []
    for server in dict.fromkeys(row["server"] for row in found):
        cells = []
        for n in (1, 256):
            for binary in (False, True):
                mine = [
                    row
                    for row in found
                    if (row["server"], row["rows"], row["binary"]) == (server, n, binary)
                ]
                speeds = [row["requests_per_second"] for row in mine]
                cells.append(", ".join(f"{one:,.0f}" for one in speeds))
                if not binary:
                    costs = (row["cpu_ms_per_request"] for row in mine)
                    cells.append(", ".join(f"{one:.2f}" for one in costs))
        body.append((server, *cells))
    columns = ("server", "1 row, JSON", "CPU ms", "1 row, binary")
    columns += ("256 rows, JSON", "256 rows, CPU ms", "256 rows, binary")
    return Table("serve", "Requests per second", columns, tuple(body))


def serve_ratios() -> Table:
    """Return how many times the requests of each peer the server answers."""
    found = [row for row in rows("serve") if "requests_per_second" in row and not row["binary"]]
    speeds = {
        (row["server"], row["rows"], row["connections"]): row["requests_per_second"]
        for row in found
    }
    kinds = list(dict.fromkeys((row["rows"], row["connections"]) for row in found))
    ours = "zslearn serve"
    body = [
        (peer, *(f"{speeds[(ours, *kind)] / speeds[(peer, *kind)]:.1f}" for kind in kinds))
        for peer in dict.fromkeys(row["server"] for row in found)
        if peer != ours
    ]
    columns = (f"{n} row{'s' * (n > 1)}, {c} connection{'s' * (c > 1)}" for n, c in kinds)
    return Table("serve-ratios", "Requests, times those of a peer", ("peer", *columns), tuple(body))


def encoding() -> Table:
    """Return how long texts take from their letters to answers."""
    body = []
    for name in ("texts", "texts-22000-140"):
        for row in rows(name):
            whole = row["seconds"]["ours"] + row["seconds"]["fit and predict"]
            whole += row["seconds"]["opening"]
            body.append((f"{row['texts']:,}", f"{whole:.1f}", f"{row['share']:.2f}"))
    columns = ("texts", "seconds", "share of the bare session")
    return Table("encoding", "Texts, encoded, learned and answered", columns, tuple(body))


def studio() -> Table:
    body = [
        (
            f"{row['samples']:,}" + (", the animals" if row["data"] == "animals" else ""),
            f"{row['median_ms']:.0f} ms, {row['p95_ms']:.0f} ms",
            f"{row['first_paint_ms'] / 1000:.2f} s",
            f"{row['usable_ms'] / 1000:.2f} s",
            f"{row['bytes_per_move'] / 1000:.0f}",
            f"{row['server_mb']:,}",
        )
        for row in rows("studio")
    ]
    columns = ("samples", "median, 95 %", "first paint", "usable", "kB per move", "server, MB")
    return Table("studio", "The studio", columns, tuple(body))


MODELS = {
    "animals": "animals, 1,280 features",
    "wide": "250 classes, 4,096 features",
    "many classes": "20,050 classes, 64 features",
}
JOBS = {
    "save": "save",
    "load": "load",
    "predict": "predict",
    "prepared": "predict by a recognizer",
    "one by one": "one sample at a time, by a recognizer",
}


def trust() -> Table:
    ratios = {(row["model"], row["job"]): row["ratio"] for row in rows("trust")}
    body = tuple(
        (words, *(f"{ratios[model, job]:.2f}" for model in MODELS)) for job, words in JOBS.items()
    )
    return Table("trust", "What the checks cost", ("job", *MODELS.values()), body)


def tables() -> list[Table]:
    """Return every table."""
    return [
        *(fit(), small(), busy(), serve(), serve_ratios(), encoding()),
        *(studio(), trust(), scale()),
    ]
