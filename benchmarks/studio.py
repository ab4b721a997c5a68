"""How long a slider of the studio takes to show on the screen, in headless chromium.

    python benchmarks/studio.py [--small] [--data animals 10000 50000] [--moves 40] [--pictures]

The bundled animals as the studio opens them, then synthetic samples with 1,280 features and 201
classes of 85 attributes, behind the real server in a process of its own. The page is opened, a
class is chosen, and a slider is moved again and again: the time runs from the slider's event in
the browser until the frame in which the answers of all samples were drawn is handed to the
screen; the time until the frame after it begins, up to 17 ms later, is reported beside it. First
paint, the time until the map is painted with its answers, the bytes of a visit and of one move,
and the server's memory are reported too. `--pictures` gives every synthetic sample a thumbnail,
scrolls through the grid of them, and reports how many tiles ever existed at once.
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
from string import ascii_lowercase
from typing import Any

import machine
import numpy as np

FEATURES, SEEN, UNSEEN, DIMENSIONS = 1280, 150, 51, 85
TRAINED = 1500
METHOD = "SAE (decoder)"

ANIMALS = "animals"

# Painted answers, by the clock of the page: an event that the map sends to itself.
FIRST = """addEventListener("painted", () => { window.usable ??= performance.now(); }, true);"""
MOVE = """async (value) => {
    const slider = document.querySelector(".detail.class input[type=range]");
    const view = document.querySelector("#view-map");
    const before = document.querySelector("canvas.map").dataset.painted;
    const start = performance.now();
    const since = () => performance.now() - start;
    await new Promise((painted) => {
        const listen = ({ detail }) => {
            if (String(detail) === before) return;
            view.removeEventListener("painted", listen);
            painted();
        };
        view.addEventListener("painted", listen);
        slider.value = String(value);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    // A message is read when the frame is through; the next frame comes with the next tick.
    const { port1, port2 } = new MessageChannel();
    const shown = new Promise((done) => { port1.onmessage = () => done(since()); });
    port2.postMessage(0);
    const next = new Promise((done) => requestAnimationFrame(() => done(since())));
    return Promise.all([shown, next]);
}"""


def synthetic(n: int, pictures: bool) -> Any:
    """Return n samples of 201 classes whose features follow their attributes."""
    from zslearn.serve.studio.collection import Collection
    from zslearn.signatures import Signatures

    rng = np.random.default_rng(0)
    names = [f"class {i:03}" for i in range(SEEN + UNSEEN)]
    # Names that no encoder gives: numbered dimensions have no sliders.
    letters = ascii_lowercase[: DIMENSIONS // 10 + 1]
    traits = [f"trait {one}{other}" for one in letters for other in ascii_lowercase[:10]]
    table = Signatures(names, rng.random((len(names), DIMENSIONS)), traits[:DIMENSIONS])
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


def serve(data: str, project: Path, pictures: bool) -> None:
    """Serve a studio until the end of this process."""
    from zslearn.serve import run_server
    from zslearn.serve.studio import Studio, StudioSettings, make_app
    from zslearn.serve.studio.collection import open_animals
    from zslearn.serve.studio.opening import Gathered, open_project, show

    studio = Studio(project.with_name(f"{project.name}.key"))
    collection = open_animals() if data == ANIMALS else synthetic(int(data), pictures)
    show(studio, Gathered(collection, open_project(project, collection.identity()), None))

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


def visit(page: Any, address: str, moves: int, method: str | None) -> dict[str, Any]:
    """Open the page and move a slider; return times and bytes."""
    received = {"bytes": 0}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on(
        "Network.dataReceived",
        lambda event: received.update(bytes=received["bytes"] + event["dataLength"]),
    )
    page.add_init_script(FIRST)
    page.goto(address)
    page.wait_for_selector("canvas.map[data-painted]", timeout=120_000)
    ready = page.evaluate("window.usable")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    first_bytes = received["bytes"]
    facts = page.evaluate("fetch('api/state').then((reply) => reply.json())")
    if method is not None:
        page.get_by_role("tab", name="Method", exact=True).click()
        page.get_by_label(method, exact=True).check()
        page.get_by_text(f"· {method}").wait_for(timeout=120_000)
        page.get_by_role("tab", name="Map", exact=True).click()
    # Not counted: the balance of trained and new classes, which is learned once for a method.
    page.wait_for_function(
        "() => fetch('api/state').then((reply) => reply.json())"
        ".then((state) => state.balance.chosen !== null)",
        polling=500,
        timeout=120_000,
    )
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
    (median, after), (most, _) = np.median(times, axis=0), np.percentile(times, 95, axis=0)
    return {
        "samples": facts["data"]["n"],
        "classes": len(facts["classes"]),
        "method": method or next(m["name"] for m in facts["methods"] if m["id"] == facts["method"]),
        "moves": moves,
        "median_ms": round(float(median), 1),
        "p95_ms": round(float(most), 1),
        "next_frame_ms": round(float(after), 1),
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


def measure(data: str, moves: int, pictures: bool) -> dict[str, Any]:
    """Start a server, visit it, end it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--serve", data, "--project", f"{folder}/p"]
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
                row = {"data": "animals" if data == ANIMALS else "synthetic", "features": FEATURES}
                row |= visit(page, address, moves, None if data == ANIMALS else METHOD)
                row |= scroll(page) if pictures else {}
                row["server_mb"] = memory(server.pid)
                chromium.close()
        finally:
            server.terminate()
            server.wait()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial of the first data")
    parser.add_argument("--data", nargs="+", default=[ANIMALS, "10000", "50000"])
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--pictures", action="store_true", help="with a thumbnail per sample")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.project, options.pictures)
        os._exit(0)
    facts, rows = machine.facts(), []
    for data in options.data[:1] if options.small else options.data:
        row = measure(data, options.moves, options.pictures)
        rows.append(row)
        print(
            "{data}, {samples:,} samples, {classes} classes, {method}: {median_ms} ms per move, "
            "95 % {p95_ms} ms, next frame {next_frame_ms} ms; first paint {first_paint_ms} ms, "
            "usable {usable_ms} ms; {server_mb} MB".format(**row),
            flush=True,
        )
    name = "studio-pictures" if options.pictures else "studio"
    machine.write(name, facts, rows, small=options.small)


if __name__ == "__main__":
    main()
