"""Pictures of all kinds become upright RGB, or one line says why not."""

import os
import signal
import struct
import subprocess
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageOps

from tests.encoders.picture_files import BAD
from zslearn.encoders import pictures
from zslearn.encoders.pictures import as_rgb, decode_rgb, picture_size, read_rgb, write_png
from zslearn.exceptions import InvalidInputError, MissingFileError

RNG_PIXELS = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_undone_as_pillow_does(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(RNG_PIXELS).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as file:
        expected = np.asarray(ImageOps.exif_transpose(file))
    assert np.array_equal(read_rgb(tmp_path / "a.png"), expected)
    assert picture_size(tmp_path / "a.png") == expected.shape[1::-1]


def test_an_orientation_that_is_text_is_left_out(tmp_path):
    entry = struct.pack("<HHI4s", 0x0112, 2, 2, b"6")  # type 2 is ASCII
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)
    Image.fromarray(RNG_PIXELS).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as file:
        assert file.getexif()[0x0112] == "6"
    assert np.array_equal(read_rgb(tmp_path / "a.png"), RNG_PIXELS)
    assert picture_size(tmp_path / "a.png") == (6, 4)


def test_a_photograph_may_be_decoded_small_but_not_too_small(tmp_path):
    across, down = np.linspace(0, 255, 640), np.linspace(0, 255, 480)
    pixels = np.stack(np.broadcast_arrays(across[None], down[:, None], 90), axis=2).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    Image.fromarray(pixels).save(tmp_path / "p.jpg", quality=95, exif=exif)
    Image.fromarray(pixels).convert("CMYK").save(tmp_path / "p.cmyk.jpg", quality=95)
    write_png(tmp_path / "p.png", pixels)
    whole, small = read_rgb(tmp_path / "p.jpg"), read_rgb(tmp_path / "p.jpg", at_least=96)
    assert (whole.shape, small.shape) == ((640, 480, 3), (160, 120, 3))
    assert np.abs(small.astype(int) - whole[2::4, 2::4]).max() < 8
    assert read_rgb(tmp_path / "p.cmyk.jpg", at_least=96).shape == (120, 160, 3)
    assert read_rgb(tmp_path / "p.jpg", at_least=400).shape == whole.shape
    assert read_rgb(tmp_path / "p.png", at_least=96).shape == pixels.shape


def test_sixteen_bits_are_scaled(tmp_path):
    levels = np.array([[0, 255, 256], [32768, 65280, 65535]], dtype=np.uint16)
    Image.fromarray(levels).save(tmp_path / "a.png")
    assert read_rgb(tmp_path / "a.png")[:, :, 1].tolist() == [[0, 0, 1], [128, 255, 255]]


def test_pixels_of_floating_numbers_are_refused(tmp_path):
    Image.fromarray(np.ones((2, 2), np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(InvalidInputError, match="its pixels are numbers of kind F"):
        read_rgb(tmp_path / "a.tif")


def test_no_other_program_is_started_for_a_picture(tmp_path, monkeypatch):
    def started(*args, **kwargs):
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", started)
    (tmp_path / "a.png").write_text(
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"
    )
    with pytest.raises(InvalidInputError, match=r"a\.png cannot be read as a picture"):
        read_rgb(tmp_path / "a.png")


@pytest.mark.parametrize("size", [(60_000, 1), (50_000, 20)])
def test_a_ribbon_is_refused_before_it_fills_the_memory(tmp_path, size):
    Image.new("L", size).save(tmp_path / "a.png")
    with pytest.raises(InvalidInputError, match=r"a\.png: a picture of .* pixels wide at"):
        read_rgb(tmp_path / "a.png", height=100)


def test_a_decompression_bomb_is_refused(tmp_path):
    Image.new("1", (10_000, 10_000)).save(tmp_path / "a.png")
    with pytest.raises(InvalidInputError, match=r"it has 10000 × 10000 pixels, more than"):
        read_rgb(tmp_path / "a.png")


def test_writing_replaces_whole(tmp_path):
    write_png(tmp_path / "a.png", RNG_PIXELS)
    assert np.array_equal(read_rgb(tmp_path / "a.png"), RNG_PIXELS)
    with pytest.raises(MissingFileError, match="There is no folder"):
        write_png(tmp_path / "none" / "a.png", RNG_PIXELS)


def test_missing_picture(tmp_path):
    with pytest.raises(MissingFileError, match="there is no picture"):
        read_rgb(tmp_path / "a.png")


def as_mode(mode):
    """The same picture in another mode, and what Pillow makes of that."""
    picture = Image.fromarray(RNG_PIXELS).convert(mode)
    return picture, np.asarray(picture.convert("RGB"))


@pytest.mark.parametrize(
    ("mode", "format"),
    [
        ("RGB", "PNG"),
        ("RGB", "BMP"),
        ("RGB", "PPM"),
        ("RGB", "TIFF"),
        ("RGB", "WEBP"),
        ("L", "PNG"),
        ("1", "PNG"),
        ("P", "PNG"),
        ("P", "GIF"),
        ("CMYK", "TIFF"),
        ("L", "TIFF"),
    ],
)
def test_modes_and_formats(tmp_path, mode, format):
    picture, expected = as_mode(mode)
    options = {"lossless": True} if format == "WEBP" else {}
    picture.save(tmp_path / "a.xyz", format, **options)
    assert np.array_equal(read_rgb(tmp_path / "a.xyz"), expected)
    assert np.array_equal(decode_rgb((tmp_path / "a.xyz").read_bytes(), "a"), expected)
    assert np.array_equal(as_rgb(picture), expected)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg_of_every_mode(tmp_path, mode):
    flat = Image.new("RGB", (16, 16), (200, 100, 50)).convert(mode)
    flat.save(tmp_path / "a.jpg", quality=95)
    expected = np.asarray(flat.convert("RGB")).astype(int)
    assert np.abs(read_rgb(tmp_path / "a.jpg").astype(int) - expected).max() <= 4


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_parts_are_white(tmp_path, mode):
    pixels = np.zeros((2, 3, 4), np.uint8)
    pixels[..., 3] = [[255, 0, 0], [255, 255, 0]]
    Image.fromarray(pixels).convert(mode).save(tmp_path / "a.png")
    assert read_rgb(tmp_path / "a.png")[..., 0].tolist() == [[0, 255, 255], [0, 0, 255]]
    half = np.full((1, 1, 4), 0, np.uint8)
    half[..., 3] = 128
    assert as_rgb(half).tolist() == [[[127, 127, 127]]]


@pytest.mark.parametrize("format", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_several_frames_the_first_is_taken(tmp_path, format):
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "green", "blue")]
    frames[0].save(tmp_path / "a", format, save_all=True, append_images=frames[1:])
    first = read_rgb(tmp_path / "a")[0, 0].astype(int)
    assert np.abs(first - [255, 0, 0]).max() <= 4


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(name):
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError, match="cannot be read as a picture") as told:
            decode_rgb(BAD[name], name)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert str(told.value).startswith(name)
    assert "\n" not in str(told.value)
    assert " at 0x" not in str(told.value)


def test_filters_of_warnings_survive_many_threads():
    before = list(warnings.filters)
    names = [name for name in BAD if "bomb" not in name] * 3

    def read(name):
        with pytest.raises(InvalidInputError, match="cannot be read"):
            decode_rgb(BAD[name], name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, names))
    assert warnings.filters == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_a_picture_is_read_does_not_hang_the_child():
    with pictures._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            with pictures.quiet_pillow():
                os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
