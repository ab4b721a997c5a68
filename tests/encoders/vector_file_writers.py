"""Word-vector files in every format, written independently of the readers."""

import gzip
import struct


def as_text(vectors, header=False, tail=""):
    """GloVe without a header, word2vec's text format and fastText's .vec with one."""
    width = len(next(iter(vectors.values())))
    head = f"{len(vectors)} {width}\n" if header else ""
    rows = (f"{word} {' '.join(map(str, row))}{tail}\n" for word, row in vectors.items())
    return (head + "".join(rows)).encode()


def as_binary(vectors, break_lines=True):
    """word2vec's binary format; gensim and the original differ in line breaks."""
    width = len(next(iter(vectors.values())))
    end = b"\n" if break_lines else b""
    records = (
        word.encode() + b" " + struct.pack(f"<{width}f", *row) + end
        for word, row in vectors.items()
    )
    return f"{len(vectors)} {width}\n".encode() + b"".join(records)


FORMATS = {
    "glove.txt": as_text,
    "word2vec.txt": lambda vectors: as_text(vectors, header=True),
    "fasttext.vec": lambda vectors: as_text(vectors, header=True, tail=" "),
    "tabs.txt": lambda vectors: as_text(vectors).replace(b" ", b"\t"),
    "windows.txt": lambda vectors: as_text(vectors, header=True).replace(b"\n", b"\r\n"),
    "bom.txt": lambda vectors: b"\xef\xbb\xbf" + as_text(vectors, header=True),
    "word2vec.bin": as_binary,
    "gensim.bin": lambda vectors: as_binary(vectors, break_lines=False),
    "glove.txt.gz": lambda vectors: gzip.compress(as_text(vectors)),
    "word2vec.bin.gz": lambda vectors: gzip.compress(as_binary(vectors)),
}
