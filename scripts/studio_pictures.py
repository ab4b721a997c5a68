"""Take the pictures of the studio that docs/studio.md shows: drawn shapes, in Debian's chromium.

    python scripts/studio_pictures.py [--dark] [--phone] [--out docs/images]

Needs the extra `test`. The names are docs/images/studio-*.png.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from zslearn.encoders.pictures import encode_picture
from zslearn.serve.studio.collection import draw_shape

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).with_name("zslearn")


class Camera:
    """Takes pictures of a page, small enough for the repository."""

    def __init__(self, page: Page, folder: Path, suffix: str) -> None:
        self.page, self.folder, self.suffix = page, folder, suffix

    def take(self, name: str) -> None:
        """Write a picture with at most 256 colors, once the thumbnails are there."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('canvas.thumb')]"
            ".every((c) => !c.checkVisibility() || c.dataset.drawn)"
        )
        self.page.wait_for_timeout(400)
        picture = Image.open(io.BytesIO(self.page.screenshot()))
        path = self.folder / f"studio-{name}{self.suffix}.png"
        picture.convert("RGB").quantize(256, kmeans=1).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def teach(page: Page, camera: Camera) -> None:
    """Bring a photograph, and look at what to label next."""
    tab(page, "Method")
    page.get_by_label("Prototype regression (ours)", exact=True).check()
    page.get_by_text("This method has no λ").wait_for()
    tab(page, "Map")
    photo = {
        "name": "my ring.jpg",
        "mimeType": "image/jpeg",
        "buffer": encode_picture(draw_shape("small dotted orange ring", 90_001, 220)),
    }
    page.locator("input[type=file]").set_input_files([photo])
    page.locator(".detail.card .sample-name").wait_for()
    camera.take("drop")
    page.get_by_role("button", name="Close the details").click()
    page.get_by_role("button", name="Label these next").click()
    page.locator(".asked li").first.wait_for()
    camera.take("label")
    page.get_by_role("button", name="Close the details").click()
    tab(page, "Method")
    page.get_by_label("SAE (decoder)", exact=True).check()
    page.wait_for_selector("#view-choose .curve .line")


def walk(page: Page, camera: Camera) -> None:
    """Do the activities and take a picture of each."""
    tab(page, "Method")
    page.get_by_label("SAE (decoder)", exact=True).check()
    page.wait_for_selector("#view-choose .curve .line")
    tab(page, "Map")
    camera.take("see")
    page.get_by_role("button", name="Describe a new class").click()
    page.wait_for_selector(".feedback .good")
    camera.take("new")
    page.get_by_role("button", name="Add and watch").click()
    page.wait_for_selector(".strip .tile")
    camera.take("describe")
    page.get_by_role("button", name="Close the details").click()
    teach(page, camera)
    tab(page, "Pictures")
    page.get_by_label("Order").select_option("wrong")
    page.locator("#view-pictures .tile.is-wrong").first.click()
    page.locator(".bars").wait_for()
    page.locator(".large-picture").evaluate("e => e.decode()")  # it moves what is below it
    page.locator(".reasons").evaluate("e => e.scrollIntoView({ block: 'center' })")
    camera.take("understand")
    page.get_by_role("button", name="Close the details").click()
    tab(page, "Mistakes")
    page.wait_for_selector(".mistakes li")
    camera.take("mistakes")
    tab(page, "Balance")
    page.wait_for_selector("#view-balance .curve .line")
    camera.take("balance")
    tab(page, "Method")
    page.get_by_label("Compare with").select_option("ESZSL")
    page.locator(".versus").wait_for()
    page.wait_for_timeout(6000)  # the bias is learned, and the table made again
    page.locator(".versus").evaluate("e => e.scrollIntoView({ block: 'end' })")
    camera.take("choose")
    page.get_by_role("button", name="Save & share").click()
    camera.take("keep")


def main() -> None:
    """Start the studio on a new project, visit it, and end it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dark", action="store_true", help="take them in the dark")
    parser.add_argument("--phone", action="store_true", help="take them at a phone's width")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    options = parser.parse_args()
    size = {"width": 360, "height": 780} if options.phone else {"width": 1280, "height": 800}
    suffix = "-phone" * options.phone + "-dark" * options.dark
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "studio", "--no-browser", "--project", "shapes.project"]
        server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            found: Any = None
            while found is None:
                found = re.search(r"http://\S+", server.stderr.readline())
            with sync_playwright() as started:
                chromium = started.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                scheme = "dark" if options.dark else "light"
                page = chromium.new_page(viewport=size, color_scheme=scheme)
                page.goto(found[0])
                page.wait_for_selector("canvas.map[data-painted]")
                walk(page, Camera(page, options.out, suffix))
                chromium.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
