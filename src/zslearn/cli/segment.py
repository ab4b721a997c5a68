"""`zslearn segment`: learn from pictures with masks to find the foreground of new ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zslearn.cli.output import check_target, echo_json, format_table
from zslearn.exceptions import InvalidInputError, MissingFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zslearn.cluster import ImageSegmenter
    from zslearn.datasets import SegmentationDataset

EPILOG = """\b
Examples:
  zslearn segment fit flowers17 --first 230 --save flowers.zsl
  zslearn segment apply flowers.zsl photo.jpg --out segmented --overlay
  zslearn segment evaluate flowers.zsl flowers17 --skip 230
"""
FIT_EPILOG = """\b
Examples:
  zslearn segment fit flowers17 --save flowers.zsl
  zslearn segment fit flowers17 --first 200 --mapping mlca --save mlca.zsl
"""
APPLY_EPILOG = """\b
Examples:
  zslearn segment apply flowers.zsl photo.jpg --out segmented
  zslearn segment apply flowers.zsl photos/ --out segmented --overlay
"""
EVALUATE_EPILOG = """\b
Examples:
  zslearn segment evaluate flowers.zsl flowers17 --skip 230
  zslearn segment evaluate flowers.zsl flowers17 --skip 230 --json
"""
MAPPINGS = ("sae", "mlca", "lda", "kissme", "rca", "rvml", "euclidean")
COLUMNS = {
    "picture": "picture",
    "loss": "clustering loss",
    "overlap": "overlap (IoU)",
    "accuracy": "pixels right",
}
_CODING = click.option(
    "--coding",
    type=click.Choice(["auto", "binary", "flowers17"]),
    default="auto",
    show_default=True,
    help="Colors of the masks: white on black, or those of Flowers-17.",
)
_UNDEFINED = click.option(
    "--undefined",
    type=click.Choice(["background", "drop"]),
    default="background",
    show_default=True,
    help="What pixels are that a mask leaves undefined.",
)
_SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Order of the pictures, the same for --first and --skip.",
)
_SHUFFLE = click.option(
    "--shuffle/--no-shuffle",
    default=True,
    show_default=True,
    help="Put the pictures in random order first, or keep that of their names.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


@click.group(epilog=EPILOG)
def segment() -> None:
    """Find the foreground of pictures, as learned from pictures with masks.

    Pixels are described by SIFT and color; a linear map learned from the masks makes their
    distances matter for foreground against background; each new picture is split by 2-means.
    """


@segment.command(epilog=FIT_EPILOG)
@click.argument("folder")
@click.option("--save", "target", required=True, metavar="FILE", help="Where to write the model.")
@click.option("--mapping", type=click.Choice(MAPPINGS), default="sae", show_default=True)
@click.option("--lam", type=float, help="λ of sae (default 100) and of rvml (default 0.1).")
@click.option(
    "--height",
    type=click.IntRange(min=8),
    default=100,
    show_default=True,
    help="Rows pictures are scaled to.",
)
@click.option(
    "--first",
    type=click.IntRange(min=1),
    help="Learn from the first N pictures alone, in an order drawn by --seed.",
)
@_SEED
@_SHUFFLE
@_UNDEFINED
@_CODING
@_JSON
def fit(folder: str, target: str, as_json: bool, **options: Any) -> None:
    """Learn from the pictures of FOLDER/images with masks of the same names in FOLDER/masks.

    Masks may also be in FOLDER/labels; pictures without a mask are left out.
    """
    check_target(target)
    from zslearn.cluster import ImageSegmenter
    from zslearn.datasets import load_segmentation
    from zslearn.persistence import save

    data = load_segmentation(folder, coding=options["coding"])
    chosen, order = _chosen(len(data), slice(0, options["first"]), options)
    model = ImageSegmenter(_mapping(options["mapping"], options["lam"]), height=options["height"])
    images = (data.image(chosen[i]) for i in _counted(len(chosen), "pictures learned from"))
    model.fit(images, (data.mask(i, undefined=options["undefined"]) for i in chosen))
    save(model, target)
    facts = {"pictures": model.n_images_, "pixels": model.n_pixels_, "file": target}
    if as_json:
        echo_json(facts | {key: options[key] for key in ("mapping", "height", "undefined")} | order)
    else:
        which = f" of {len(data)}, {_words(order)}" if len(chosen) < len(data) else ""
        pictures = f"{model.n_images_} pictures{which}"
        click.echo(f"Learned from {model.n_pixels_} pixels of {pictures}: {target}")


@segment.command(epilog=APPLY_EPILOG)
@click.argument("model_file", metavar="MODEL")
@click.argument("pictures", nargs=-1, required=True)
@click.option("--out", "out", required=True, metavar="FOLDER", help="Where to write the masks.")
@click.option("--overlay", is_flag=True, help="Write each picture with its outline as well.")
def apply(model_file: str, pictures: tuple[str, ...], out: str, overlay: bool) -> None:
    """Segment PICTURES (files or folders): a mask NAME.png each, white on black.

    A picture that cannot be read is reported and skipped, and the exit code is then 1.
    """
    from zslearn.encoders.pictures import read_rgb, write_png

    model, files = _model(model_file), _files(pictures)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for i in _counted(len(files), "pictures segmented"):
        try:
            picture = read_rgb(files[i])
            mask = model.predict(picture)
        except InvalidInputError as error:
            click.echo(f"Skipped: {error}", err=True)
            failed += 1
            continue
        write_png(folder / f"{files[i].stem}.png", mask.astype("uint8") * 255)
        if overlay:
            write_png(folder / f"{files[i].stem}_overlay.png", outlined(picture, mask))
    click.echo(f"{len(files) - failed} masks written to {out}")
    if failed:
        raise click.ClickException(f"{failed} of {len(files)} pictures could not be segmented.")


@segment.command(epilog=EVALUATE_EPILOG)
@click.argument("model_file", metavar="MODEL")
@click.argument("folder")
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Leave out the first N pictures, those learned from by --first N and the same --seed.",
)
@_SEED
@_SHUFFLE
@_UNDEFINED
@_CODING
@_JSON
def evaluate(model_file: str, folder: str, skip: int, as_json: bool, **options: Any) -> None:
    """Compare segmentations with the masks of FOLDER.

    The clustering loss is 0 for the same partition and 2 for an unrelated one, whichever part is
    called foreground; overlap and share of right pixels do depend on that.
    """
    from zslearn.datasets import load_segmentation

    model, data = _model(model_file), load_segmentation(folder, coding=options["coding"])
    undefined = options["undefined"]
    if skip >= len(data):
        raise InvalidInputError(f"--skip {skip} leaves none of {len(data)} pictures.")
    chosen, order = _chosen(len(data), slice(skip, None), options)
    numbers = _counted(len(chosen), "pictures compared")
    rows = [_compared(model, data, chosen[i], undefined) for i in numbers]
    mean = {key: sum(row[key] for row in rows) / len(rows) for key in list(COLUMNS)[1:]}
    if as_json:
        echo_json({"mean": mean, "pictures": rows, "undefined": undefined} | order)
    else:
        if skip:
            click.echo(f"Left out the first {skip} pictures, {_words(order)}.", err=True)
        click.echo(format_table([{"picture": f"mean of {len(rows)}"} | mean], COLUMNS))


def outlined(picture: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    """Return the picture with its background darkened and a red line around the foreground."""
    import numpy as np
    from scipy import ndimage

    shown = np.where(mask[..., None], picture, picture // 3)
    width = max(1, min(mask.shape) // 150)
    edge = ndimage.binary_dilation(mask, iterations=width) & ~mask
    shown[edge] = (255, 40, 40)
    return shown.astype(np.uint8)


def _compared(
    model: ImageSegmenter, data: SegmentationDataset, i: int, undefined: str
) -> dict[str, Any]:
    """Scores of one picture, at the size the model works at."""
    from zslearn.metrics import clustering_loss

    found = model.predict(data.image(i, height=model.height)).ravel()
    mask = data.mask(i, height=model.height, undefined=undefined).ravel()
    found, true = found[mask >= 0], mask[mask >= 0] == 1
    if not len(true):
        raise InvalidInputError(f"the mask {data.mask_files[i]} leaves every pixel undefined.")
    either = int((found | true).sum())
    return {
        "picture": data.image_files[i].name,
        "loss": clustering_loss(true, found),
        "overlap": float((found & true).sum() / either) if either else 1.0,
        "accuracy": float((found == true).mean()),
    }


def _chosen(n: int, part: slice, options: dict[str, Any]) -> tuple[list[int], dict[str, Any]]:
    """Pictures of a part of the order that was asked for, by name, and facts about that order."""
    import numpy as np

    shuffle, seed = options["shuffle"], options["seed"]
    order = np.random.default_rng(seed).permutation(n) if shuffle else np.arange(n)
    return sorted(order[part].tolist()), {"shuffle": shuffle, "seed": seed if shuffle else None}


def _words(order: dict[str, Any]) -> str:
    return f"in random order (seed {order['seed']})" if order["shuffle"] else "in order of names"


def _mapping(name: str, lam: float | None) -> Any:
    from zslearn.cluster import make_mapping

    if lam is not None and name not in ("sae", "rvml"):
        raise InvalidInputError(f"--lam is for sae and rvml; {name} has no λ.")
    if lam is None:
        lam = {"sae": 100.0, "rvml": 0.1}.get(name)
    return make_mapping(name, **({} if lam is None else {"lam": lam}))


def _model(path: str) -> ImageSegmenter:
    from zslearn.cluster import ImageSegmenter
    from zslearn.persistence import load

    model = load(path)
    if not isinstance(model, ImageSegmenter):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}; segmentation needs a model of "
            "zslearn segment fit."
        )
    return model


def _files(pictures: tuple[str, ...]) -> list[Path]:
    """Picture files named, those of named folders included."""
    from zslearn.encoders.pictures import picture_files

    files: list[Path] = []
    for name in pictures:
        if not Path(name).exists():
            raise MissingFileError(f"There is no file or folder {name!r}.")
        files += picture_files(name) if Path(name).is_dir() else [Path(name)]
    stems = [file.stem for file in files]
    if len(set(stems)) < len(stems):
        twice = next(stem for stem in stems if stems.count(stem) > 1)
        raise InvalidInputError(
            f"two pictures are called {twice!r}; their masks would be one file."
        )
    if not files:
        raise InvalidInputError(f"there are no pictures in {', '.join(pictures)}.")
    return files


def _counted(n: int, what: str) -> Any:
    """Count to n, telling how far on standard error where someone is watching."""
    from zslearn._optional import require

    tqdm = require("tqdm", extra="images", purpose="The progress bar of zslearn segment")
    return tqdm.tqdm(range(n), desc=what, unit="picture", disable=None)
