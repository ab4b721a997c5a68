"""Files that are pictures of unusual kinds, and files that are none."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (24, 32, 3), dtype=np.uint8)


def saved(image, format, **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def png_chunk(kind, content):
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def png(width, height, body, *, depth=8, color=2):
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", body), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(kind, content) for kind, content in chunks)


def with_text(content, length):
    """A PNG with a compressed text that unpacks to `length` bytes."""
    text = png_chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(length)))
    return content[:33] + text + content[33:]


PICTURE = Image.fromarray(RGB)
JPEG, PNG = saved(PICTURE, "JPEG"), saved(PICTURE, "PNG")
GIF, BMP = saved(PICTURE, "GIF"), saved(PICTURE, "BMP")
WEBP, TIFF = saved(PICTURE, "WEBP"), saved(PICTURE, "TIFF")

# By name: the bytes. Each must be refused in one line, quickly and in little memory.
BAD = {
    "empty.jpg": b"",
    "one byte.png": b"\x89",
    "text.jpg": b"no picture at all",
    "zeros.png": bytes(5000),
    "noise.jpg": RNG.integers(0, 256, 5000, dtype=np.uint8).tobytes(),
    "html.jpg": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
    "svg.png": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    "zip.jpg": b"PK\x03\x04" + bytes(100),
    "pdf.jpg": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
    "eps.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\nshowpage\n%%EOF\n",
    "python.png": b"import os; os.system('touch ran')\n",
    "pickle.png": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",
    "icon.png": saved(PICTURE.resize((16, 16)), "ICO"),
    "pcx.jpg": saved(PICTURE, "PCX"),
    "tga.jpg": saved(PICTURE, "TGA"),
    "truncated.jpg": JPEG[: len(JPEG) // 2],
    "truncated.png": PNG[: len(PNG) // 2],
    "truncated.webp": WEBP[: len(WEBP) // 2],
    "truncated.bmp": BMP[: len(BMP) // 2],
    "truncated.tif": TIFF[: len(TIFF) // 2],
    "only a head.jpg": JPEG[:20],
    "only a head.png": PNG[:33],
    "only a head.gif": GIF[:13],
    "wrong checksum.png": PNG[:45] + b"XXXX" + PNG[49:],
    "no pixels.png": png(0, 0, zlib.compress(b"")),
    "bomb.png": png(60000, 60000, zlib.compress(bytes(10**6))),
    "large bomb.png": png(2**31 - 1, 2**31 - 1, zlib.compress(b"0")),
    "bomb.bmp": BMP[:18] + struct.pack("<ii", 40000, 40000) + BMP[26:],
    "text bomb.png": with_text(PNG, 200_000_000),
    "bad depth.png": png(4, 4, zlib.compress(bytes(100)), depth=7),
    "bad colors.png": png(4, 4, zlib.compress(bytes(100)), color=5),
    "floats.tif": saved(Image.fromarray(np.ones((4, 4), np.float32)), "TIFF"),
}
