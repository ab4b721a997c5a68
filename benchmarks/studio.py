"""How long a slider of the studio takes to show on the screen, in headless chromium.

    python benchmarks/studio.py [--small] [--sizes 1680 10000 50000] [--moves 40] [--pictures]

Synthetic samples with 1,280 features and 201 classes of 85 attributes behind the real server in a
process of its own. The page is opened, a class is chosen, and a slider is moved again and again:
the time runs from the slider's event in the browser to the frame after the answers of all samples
were drawn on the map. First paint, the time until the page can be used, the bytes of a visit and
of one move, and the server's memory are reported too. `--pictures` gives every sample a
thumbnail, scrolls through the grid of them, and reports how many tiles ever existed at once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine
import numpy as np

FEATURES, SEEN, UNSEEN, DIMENSIONS = 1280, 150, 51, 85
TRAINED = 1500
METHOD = "SAE (decoder)"

MOVE = """async (value) => {
    const slider = document.querySelector(".detail.class input[type=range]");
    const view = document.querySelector("#view-map");
    const before = document.querySelector("canvas.map").dataset.painted;
    const start = performance.now();
    return new Promise((resolve) => {
        const listen = ({ detail }) => {
            if (String(detail) === before) return;
            view.removeEventListener("painted", listen);
            requestAnimationFrame(() => resolve(performance.now() - start));
        };
        view.addEventListener("painted", listen);
        slider.value = String(value);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
}"""


def synthetic(n: int, pictures: bool) -> Any:
    """Return n samples of 201 classes whose features follow their attributes."""
    from zslearn.serve.studio.collection import Collection
    from zslearn.signatures import Signatures

    rng = np.random.default_rng(0)
    names = [f"class {i:03}" for i in range(SEEN + UNSEEN)]
    table = Signatures(
        names, rng.random((len(names), DIMENSIONS)), [f"attribute {k}" for k in range(DIMENSIONS)]
    )
    train = np.zeros(n, bool)
    train[: min(TRAINED, n // 2)] = True
    y = np.where(train, np.arange(n) % SEEN, np.arange(n) % len(names))
    mixing = rng.standard_normal((DIMENSIONS, FEATURES)).astype(np.float32)
    X = table.vectors[y].astype(np.float32) @ mixing
    X += 3 * rng.standard_normal(X.shape, dtype=np.float32)

    def picture(row: int, side: int) -> np.ndarray:
        color = np.random.default_rng(row).integers(0, 256, 3)
        return np.broadcast_to(color, (side, side, 3)).astype(np.uint8)

    shown = picture if pictures else None
    labels = np.array(names)[y]
    return Collection("synthetic", X, labels, table, tuple(names[:SEEN]), train, picture=shown)


def serve(n: int, project: Path, pictures: bool) -> None:
    """Serve a studio of n samples until the end of this process."""
    from zslearn.serve import run_server
    from zslearn.serve.studio import Studio, StudioSettings, make_app
    from zslearn.serve.studio.project import Project
    from zslearn.serve.studio.session import Session

    studio = Studio(project.with_name(f"{project.name}.key"))
    collection = synthetic(n, pictures)
    kept = Project(project, collection.identity())
    studio.open(Session(collection, kept, studio.events, folder=project.with_name("models")))

    def started(app: Any, port: int) -> None:
        token = studio.entrance.token
        print(f"http://127.0.0.1:{port}/studio/enter?token={token}", flush=True)

    run_server(
        StudioSettings({}, port=0),
        log="errors",
        started=started,
        make_app=lambda settings: make_app(settings, studio),
    )


def memory(pid: int) -> int:
    """Megabytes that a process has in memory now."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) // 1024 if found else 0


def visit(page: Any, address: str, moves: int) -> dict[str, Any]:
    """Open the page and move a slider; return times and bytes."""
    received = {"bytes": 0}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on(
        "Network.dataReceived",
        lambda event: received.update(bytes=received["bytes"] + event["dataLength"]),
    )
    page.goto(address)
    page.wait_for_selector("canvas.map[data-painted]", timeout=120_000)
    ready = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    first_bytes = received["bytes"]
    page.get_by_role("tab", name="Method", exact=True).click()
    page.get_by_label(METHOD, exact=True).check()
    page.get_by_text(f"· {METHOD}").wait_for(timeout=120_000)
    page.get_by_role("tab", name="Map", exact=True).click()
    page.locator(".class-item[data-class]").first.click()
    page.locator(".detail.class input[type=range]").first.wait_for()
    low, high = page.evaluate(
        "() => { const s = document.querySelector('.detail.class input[type=range]');"
        " return [Number(s.min), Number(s.max)]; }"
    )
    values = np.random.default_rng(1).uniform(low, high, moves + 3)
    for value in values[:3]:  # not counted: what is made once
        page.evaluate(MOVE, float(value))
    before = received["bytes"]
    times = [page.evaluate(MOVE, float(value)) for value in values[3:]]
    return {
        "moves": moves,
        "median_ms": round(float(np.median(times)), 1),
        "p95_ms": round(float(np.percentile(times, 95)), 1),
        "first_paint_ms": round(paint),
        "usable_ms": round(ready),
        "visit_bytes": first_bytes,
        "bytes_per_move": (received["bytes"] - before) // moves,
    }


def scroll(page: Any) -> dict[str, Any]:
    """Scroll through the grid of all pictures; return the largest number of tiles at once."""
    page.get_by_role("button", name="Close the details").click()
    page.get_by_role("tab", name="Pictures", exact=True).click()
    page.get_by_label("Show", exact=True).select_option("all")
    page.locator("#view-pictures .tile").first.wait_for()
    most = page.evaluate(
        """async () => {
            const grid = document.querySelector(".grid");
            let most = 0;
            for (let step = 0; step <= 60; step++) {
                grid.scrollTop = (step / 60) * grid.scrollHeight;
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
                most = Math.max(most, document.querySelectorAll("#view-pictures .tile").length);
            }
            return most;
        }"""
    )
    page.wait_for_function(
        "() => [...document.querySelectorAll('#view-pictures .thumb')]"
        ".every((c) => c.dataset.drawn)"
    )
    return {"tiles_at_once": most}


def measure(n: int, moves: int, pictures: bool) -> dict[str, Any]:
    """Start a server of n samples, visit it, end it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--serve", str(n), "--project", f"{folder}/p"]
        command += ["--pictures"] * pictures
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            with sync_playwright() as started:
                chromium = started.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = chromium.new_page(viewport={"width": 1360, "height": 850})
                page.set_default_timeout(60_000)
                row = {"samples": n, "features": FEATURES, "classes": SEEN + UNSEEN}
                row |= visit(page, address, moves)
                row |= scroll(page) if pictures else {}
                row["server_mb"] = memory(server.pid)
                chromium.close()
        finally:
            server.terminate()
            server.wait()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial of the smallest size")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_680, 10_000, 50_000])
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--pictures", action="store_true", help="with a thumbnail per sample")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.project, options.pictures)
        os._exit(0)
    sizes = options.sizes[:1] if options.small else options.sizes
    facts, rows = machine.facts(), []
    for n in sizes:
        row = measure(n, options.moves, options.pictures)
        rows.append(row)
        print(
            "{samples:7,} samples: {median_ms} ms a move, p95 {p95_ms} ms; first paint "
            "{first_paint_ms} ms, usable {usable_ms} ms; {server_mb} MB".format(**row),
            flush=True,
        )
    name = "studio-pictures" if options.pictures else "studio"
    machine.write(name, facts, rows, small=options.small)


if __name__ == "__main__":
    main()
