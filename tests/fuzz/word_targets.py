"""Files that signatures are made from: word vectors, WordNet and descriptions."""

WORDS = {"cat": [1.0, 2.5, -1.0], "dog": [0.5, 1.0, 3.0], "polar_bear": [2.0, 0.0, 1.0]}


def write_vectors(folder):
    from tests.encoders.vector_file_writers import FORMATS

    for name in ("glove.txt", "fasttext.vec", "word2vec.bin", "glove.txt.gz"):
        (folder / name).write_bytes(FORMATS[name](WORDS))


def read_vectors(folder):
    from zslearn.encoders import match_word_vectors

    names = ["cat", "polar bear"]
    return [match_word_vectors(names, path).signatures for path in sorted(folder.iterdir())]


def write_nouns(folder):
    from tests.encoders.wordnet_writer import write_wordnet

    write_wordnet(folder)


def read_nouns(folder):
    from zslearn.encoders import match_wordnet

    match_wordnet(["zebra", "goldfish"], folder=folder, kind="distances")
    return match_wordnet(["zebra", "horse"], folder=folder).signatures


def write_texts(folder):
    lines = ["class,text,more", "zebra,a striped horse,", 'polar+bear,"white, large",a bear']
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    (folder / "names.txt").write_text("1\tzebra\n2\tpolar+bear\n")


def read_texts(folder):
    from zslearn.encoders import read_descriptions

    return [read_descriptions(path) for path in sorted(folder.iterdir())]
