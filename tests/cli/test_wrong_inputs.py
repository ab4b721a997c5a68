"""What users give by mistake: the program answers with one clear line and leaves nothing behind."""

from __future__ import annotations

import shutil
import subprocess
from typing import NamedTuple

import pandas as pd
import pytest
from PIL import Image

from tests.streams import SeparateRunner
from zslearn.cli import cli
from zslearn.datasets import make_zero_shot
from zslearn.encoders import (
    Store,
    TextEncoder,
    build_store,
    read_descriptions,
    read_texts,
    remember_encoder,
)
from zslearn.persistence import save
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


class Case(NamedTuple):
    """Arguments, with {} for the folder of the files, and the file that is made first."""

    arguments: str
    words: str
    name: str = ""
    content: str | bytes = ""


SEEN = ("seen0", "seen1")
FILES = "--features {}/X.csv --labels {}/y.csv --signatures {}/classes.csv"
ROW = ",".join(["0.5"] * 10)
# As many rows as there are labels, but for the last.
ROWS = f"{ROW}\n" * 47
HEADER = ",".join(f"f{i}" for i in range(10))

# Contents of a table of features, wrong for training and for prediction alike.
TABLES = {
    "empty": ("", "is empty"),
    "blank lines": ("\n\n\n", "X|empty"),
    "header alone": (f"{HEADER}\n", "header but no line below"),
    "text in a cell": (f"{HEADER}\n{ROWS}{ROW[:-3]}red\n", "red"),
    "a missing cell": (f"{HEADER}\n{ROWS}{ROW[:-3]}\n", "number|empty|missing"),
    "NaN": (f"{HEADER}\n{ROWS}{ROW[:-3]}nan\n", "(?i)nan"),
    "infinity": (f"{HEADER}\n{ROWS}{ROW[:-3]}inf\n", "(?i)inf"),
    "a long row": (f"{HEADER}\n{ROWS}{ROW},1\n", "11|cells"),
    "a short row": (f"{HEADER}\n{ROWS}0.5,0.5\n", "2|cells"),
    "a column twice": (f"{HEADER[:-2]}f0\n{ROWS}{ROW}\n", "f0"),
    "binary": (b"\xff\x00\x81\x00garbage", "UTF-8"),
    "binary with a byte-order mark": (b"\xff\xfe\x00\xd8\x00garbage", "UTF-16"),
    "an empty row": (f"{HEADER}\n{ROW}\n\n{ROWS}", "Line 3 is empty"),
    "gaps first": (f"{HEADER}\nn/a{ROW[3:]}\nn/a{ROW[3:]}\n{ROWS}", "Line 2.*'n/a'"),
    "an archive": (b"PK\x03\x04\x00\x00garbage", "this is a zip archive or a workbook"),
    "a page": ("<html><body>404 Not Found</body></html>\n", "this is a web page; download"),
    "decimal text": (f"{HEADER}\n{ROWS}{ROW[:-3]}1_5\n", "1_5"),
    "null bytes": (b"f0,f1\n1,\x002\n", "Line 2.*x002' is not a number"),
}
ARRAYS = {
    "X.npy": (b"\x93NUMPY garbage", "X.npy"),
    "X.npz": (b"not a zip", "X.npz"),
    "X.parquet": (b"PAR1 garbage", "X.parquet"),
    "X.xlsx": (b"not a workbook", "X.xlsx"),
    "X.txt": (b"\x00\x01", "X.txt"),
    "X.jpg": (b"\xff\xd8\xff\xe0", "X.jpg"),
    "X.mat": (b"MATLAB 5.0", "X.mat"),
}
LABELS = {
    "empty": ("", "empty"),
    "too few": ("seen0\nseen1\n", "2|rows|labels"),
    "too many": ("seen0\n" * 60, "60|rows|labels"),
    "unknown class": ("label\n" + "seen0\n" * 47 + "sen1\n", "'sen1'"),
    "one class": ("label\n" + "seen0\n" * 48, "two classes"),
    "an empty line": ("label\nseen0\n\n" + "seen1\n" * 46, "line 3 is empty"),
    "numbers": ("label\n" + "0\n1\n" * 24, "signature"),
    "binary": (b"\xff\x00", "UTF-8"),
    "other capitals": ("label\n" + "seen0\nSeen1\n" * 24, "'Seen1'.*closest is 'seen1'"),
    "several columns": ("a,b\n" + "seen0,seen1\n" * 48, "which of the columns a, b"),
    "other case": ("label\n" + "Seen0\nSeen1\n" * 24, "seen"),
    "spaces inside": ("label\n" + "seen 0\nseen 1\n" * 24, "seen"),
}
CLASSES = {
    "empty": ("", "empty"),
    "header alone": ("class,a,b\n", "class|row|empty"),
    "a class twice": ("class,a\nseen0,1\nseen0,2\n", "seen0"),
    "a dimension twice": ("class,a,a\nseen0,1,2\n", "a"),
    "text": ("class,a\nseen0,red\n", "red"),
    "a missing cell": ("class,a,b\nseen0,1,\n", "Line 2"),
    "a short row": ("class,a,b\nseen0,1\n", "line 2|cells"),
    "a long row": ("class,a\nseen0,1\nseen1,1,2\n", "(?i)line 3|cells"),
    "NaN": ("class,a\nseen0,nan\n", "(?i)nan|finite"),
    "infinity": ("class,a\nseen0,inf\n", "(?i)inf|finite"),
    "names alone": ("class\nseen0\nseen1\n", "at least one dimension"),
    "a nameless class": ("class,a\n,1\n", "Line 2 has no class name"),
    "other classes": ("class,a,b\ncat,1,2\ndog,2,1\n", "signature"),
    "binary": (b"\xff\x00\x81", "UTF-8"),
    "other capitals": ("class,a\nseen0,1\nSeen0,2\n", "'Seen0' differs from 'seen0'"),
    "no header that counts": ("seen0,0,1\nseen1,1,0\n", "may count the columns or be a sample"),
    "zeros": ("class,a\n" + "".join(f"seen{i},0\n" for i in range(8)), "zeros"),
}
MODELS = {
    "empty": (b"", "model"),
    "text": ("hello", "model"),
    "a pickle": (b"\x80\x04\x95\x00.", "model"),
    "a safetensors header": (b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ", "model"),
    "a huge header": (b"\xff" * 8 + b"{}", "model"),
}
FIT_OPTIONS = {
    "--method saee": "Did you mean 'sae'",
    "--method ,": "method",
    "--method sae -P lam": "NAME=VALUE",
    "--method sae -P lam=-1": "lam must be",
    "--method sae -P lam=red": "lam must be",
    "--method sae -P lam=[1,2]": "lam must be",
    "--method sae -P lamda=1": "Did you mean 'lam'",
    "--method sae -P direction=up": "direction must be",
    "--method sae -P metric=l1": "metric must be",
    "--method sae -P cv=1": "cv must be",
    "--method sae -P random_state=-1": "random_state must be",
    "--method sae -P signatures=x": "no parameter 'signatures'",
    "--method dap -P classifier=svm": "no classifier 'svm'",
    "--method dap -P classifier=3": "classifier must be",
    "--ignore f99": "f99",
    "--labels f99": "f99",
    "--unseen seen99": "seen99",
    "--unseen seen0,seen1,seen2,seen3,seen4,seen5,seen6,seen7": "nothing to train on",
    "--unseen seen0,seen1,seen2,seen3,seen4,seen5,seen6": "one class, seen7",
    "--split proposed": "--split",
    "--semantics attributes": "--semantics",
    "--checkpoint {}/c": "--checkpoint",
    "--colour red": "--colour",
    "animals": "--labels",
    "--features {}": "X|folder|holds .* pictures, not features",
    "--features {}/nothing.csv": "nothing.csv",
    "--labels {}/nothing.csv": "nothing.csv",
    "--signatures {}/nothing.csv": "nothing.csv",
    "--signatures {}": "folder|directory",
    "--signatures {}/X.csv": "'seen0' .* has no signature",
    "--features {}/y.csv --labels {}/X.csv": "--features and --labels seem to be swapped",
    "--features {}/classes.csv --signatures {}/X.csv": "--features and --signatures .*swapped",
    "--labels {}/classes.csv --signatures {}/y.csv": "--labels and --signatures .*swapped",
}
SAVE_OPTIONS = {
    "": "--save",
    "--save {}": "is a folder",
    "--save {}/no/m.zsl": "There is no folder",
    "--save": "--save",
    "--save {}/X.csv": "X.csv is --features and --save at once, and would be replaced",
    "--save {}/classes.csv": "--signatures and --save at once",
    "--save {}/m.zsl --report {}/y.csv": "--labels and --report at once",
}
PREDICT = {
    "{}/nothing.zsl {}/new.csv": "nothing.zsl",
    "{} {}/new.csv": "folder|directory|is no",
    "{}/X.csv {}/new.csv": "model",
    "{}/model.zsl {}/nothing.csv": "nothing.csv",
    "{}/model.zsl {}/new.csv --out {}/new.csv": "new.csv is SAMPLES.* and --out at once",
    "{}/model.zsl {}/new.csv --out {}/../files/model.zsl": "MODEL and --out at once",
    "{}/model.zsl {}/y.csv": "no column of features",
    "{}/model.zsl {}/classes.csv": "no column 'f0'",
    "{}/model.zsl": "SAMPLES",
    "{}/new.csv {}/model.zsl": "predict .*model.zsl .*new.csv",
    "{}/model.zsl {}/nothing.store": "no such path|There is no file",
    "{}/model.zsl {}/new.csv --top 0": "--top",
    "{}/model.zsl {}/new.csv --top 99": "--top 99",
    "{}/model.zsl {}/new.csv --top two": "two",
    "{}/model.zsl {}/new.csv --candidates fox": "'fox' has no signature",
    "{}/model.zsl {}/new.csv --candidates Seen0": "closest is 'seen0'",
    "{}/model.zsl {}/new.csv --candidates seen0,seen0": "twice",
    "{}/model.zsl {}/new.csv --candidates ,": "names no class",
    "{}/model.zsl {}/new.csv --candidates-file {}/nothing.txt": "nothing.txt",
    "{}/model.zsl {}/new.csv --candidates seen0 --unseen-only": "give one of",
    "{}/model.zsl {}/new.csv --ignore f99": "f99",
    "{}/model.zsl {}/new.csv --ignore f3": "f3",
    "{}/model.zsl {}/new.csv --add-classes {}/nothing.csv": "nothing.csv",
    "{}/model.zsl {}/new.csv --add-classes {}/classes.csv": "already",
    "{}/model.zsl {}/new.csv --add-classes {}/X.csv": "lack the dimension 'd0'",
    "{}/model.zsl {}/new.csv --out {}": "is a folder",
    "{}/model.zsl {}/new.csv --out {}/no/p.csv": "There is no folder",
}
OTHERS = {
    "preditc {}/model.zsl": "Did you mean 'predict'",
    "xyzzy": "No such command 'xyzzy'",
    "data chek": "Did you mean 'check'",
    "data check {}/nothing.csv {}/classes.csv": "nothing.csv",
    "data check {}/classes.csv animals": "swapped.*data check animals",
    "data check {}/classes.csv {}/X.csv --labels {}/y.csv": "swapped.*data check",
    "fit {}/nothing.store --signatures {}/classes.csv --save {}/n.zsl": "No such path.*nothing.sto",
    "evaluate {}/nothing.store --signatures {}/classes.csv": "No such path.*nothing.store",
    "advise {}/nothing.store --signatures {}/classes.csv": "No such path.*nothing.store",
    "describe {}/classes.csv --out {}/d.csv": "holds numbers, not texts",
    "describe {}/X.csv --out {}/d.csv": "holds numbers",
}
EVALUATE = {
    "": "PATH|--features",
    "animals --split best": "no split 'best'",
    "animals --method esszl": "Did you mean 'eszsl'",
    "animals --protocol fair": "fair",
    "animals --plot {}/f.gif": ".png",
    "animals --plot {}/no/f.png": "There is no folder",
    "{}/model.zsl {}/X.csv --labels {}/y.csv --csv {}/X.csv": "SAMPLES.* and --csv at once",
    "animals --csv {}": "is a folder",
    "animals --cv 1": "cv",
    "animals --cv five": "five",
    "animals --cv 99": "cannot make 99 folds",
    "animals --cv 2 --plot {}/f.png": "--cv",
    "animals --preprocess standardise": "Did you mean 'standardize'",
    "animals --semantics sounds": "sounds",
    "animals --features resnet": "resnet|features",
    "animals --ignore f0": "--ignore",
    "{}/nowhere": "There is no data set",
    "{}/model.zsl {}/nowhere": "There is no file '.*nowhere'",
    "{}/X.csv": "is a file; to measure a saved model",
    f"{FILES}": "--cv 5",
    f"{FILES} --unseen fox": "fox",
}
# Tables of texts that zslearn features cannot take, by the ending of the file.
REQUESTS = [f"Where is card number {i}?,card\n" for i in range(6)]
REQUESTS += [f"Give back {i} coins please,refund\n" for i in range(6)]
TICKETS = "text,category\n" + "".join(REQUESTS)
TEXTS = {
    "empty": ("csv", "", "is empty"),
    "header alone": ("csv", "text,category\n", "header but no line below"),
    "no column of that name": ("csv", "body,category\nHello,card\n", "no column 'text'"),
    "no column of labels": ("csv", "text,kind\nHello,card\n", "no column 'category'"),
    "every text empty": ("csv", "text,category\n ,card\n,refund\n", "no text in its 2 rows"),
    "mostly numbers": (
        "csv",
        "text,category\n12,a\n7.5,b\nHello,a\n",
        "no word in 2 of 3 rows.*'12'",
    ),
    "dates": ("csv", "text,category\n2026-01-02,a\n2026-01-03,b\n", "no word in 2 of 2 rows"),
    "a cell of a megabyte": (
        "csv",
        f"{TICKETS}{'word ' * 200_000},card\n",
        "Line 14 has a cell of more than 131,072 letters",
    ),
    "a label per row": (
        "csv",
        "text,category\n" + "".join(f"Hello {i},id{i}\n" for i in range(150)),
        "150 different values in 150 rows.*labels come again",
    ),
    "labels in other capitals": ("csv", TICKETS + "Hello,Card\n", "'Card' differs from 'card'"),
    "no label": ("csv", TICKETS + "Hello,\n", "Line 14 has no value in column 'category'"),
    "a long row": ("csv", TICKETS + "Hello,card,7\n", "(?i)line 14|cells"),
    "binary": ("csv", b"\xff\x00\x81garbage", "UTF-8"),
    "a column twice": ("csv", "text,text,category\nA,B,c\n", "text"),
    "text that is a number": (
        "jsonl",
        '{"text": "Hi", "category": "a"}\n{"text": 7}\n',
        "(?i)line 2",
    ),
    "text that is a list": (
        "jsonl",
        '{"text": "Hi", "category": "a"}\n{"text": ["x"], "category": "a"}\n',
        "(?i)line 2.*list",
    ),
    "no JSON": ("jsonl", '{"text": "Hi", "category": "a"}\n{"text": "Ho"\n', "(?i)line 2"),
    "no object": ("jsonl", '["Hi", "a"]\n', "(?i)line 1|object"),
    "no workbook": ("xlsx", b"not a workbook", "tickets.xlsx"),
    "no Parquet": ("parquet", b"PAR1 garbage", "tickets.parquet"),
    "no tabs": ("tsv", "text;category\nHello;card\n", "no column 'text'"),
}
TEXT_OPTIONS = {
    "{}/tickets.csv --text text --labels kind": "no column 'kind'",
    "{}/tickets.csv --labels category --text body": "no column 'body'",
    "{}/tickets.csv --labels category --name category": "names 6 rows",
    "{}/tickets.csv": "several columns hold text: .*--text",
    "{}/X.csv": "no column holds texts",
    "{}/tickets.csv --labels category --views flip": "--views is for pictures",
    "{}/tickets.csv --labels category --encoder minilmm": "Did you mean 'minilm'",
    "{}/tickets.csv --labels category --encoder efficientnet-lite2": "no text encoder",
    "{}/no.csv --labels category": "There is no",
    "{} --text text": "--text is for a table",
    "{}/model.zsl --text text": "--text is for a table",
}
# Files of classes in words that zslearn fit cannot take for a store of texts.
WORDS = {
    "empty": ("", "is empty"),
    "header alone": ("class,description\n", "header but no line below"),
    "no header": ("card,Where the card is now\nrefund,Money back\n", "put a line above it"),
    "numbers": ("class,a\ncard,1\nrefund,2\n", "holds numbers, not texts.*--signatures"),
    "other capitals": ("class,description\nCard,It is late\nrefund,Money\n", "'card'.*'Card'"),
    "twice in other capitals": ("class,text\ncard,a b\nCard,c d\n", "'Card' differs from 'card'"),
    "a class is missing": ("class,description\ncard,It is late\ntop,More money\n", "'refund'"),
    "no name": ("class,description\n,It is late\n", "Line 2 has no class name"),
    "a list of samples": (TICKETS, "each of the 12 rows would be a class"),
    "binary": (b"\xff\x00\x81garbage", "UTF-8"),
}
OF_TEXTS = {
    "fit {}/tickets.store --save {}/n.zsl": "needs --signatures or --classes",
    "fit {}/tickets.store --classes {}/no.csv --save {}/n.zsl": "no.csv",
    "fit {}/tickets.store --classes {}/kinds.csv --signatures {}/y.csv --save {}/n.zsl": "both",
    "fit {}/tickets.store --signatures {}/kinds.csv --save {}/n.zsl": "words; give it by --cl",
    "fit {}/bare.store --classes {}/kinds.csv --save {}/n.zsl": "with --labels COLUMN",
    "fit {}/tickets.csv --classes {}/kinds.csv --save {}/n.zsl": "several columns hold text",
    "evaluate {}/tickets.store": "needs --signatures or --classes",
    "evaluate {}/tickets.store --classes {}/kinds.csv --unseen fox": "fox",
    "evaluate {}/tickets.store --classes {}/kinds.csv": "--cv 5",
    "advise {}/tickets.store --classes {}/no.csv": "no.csv",
    "data check {}/tickets.store {}/no.csv": "no.csv",
    "predict {}/texts.zsl {}/no.csv": "no.csv",
    "predict {}/texts.zsl Hello --add-classes {}/three.csv": "each of the 3 rows would be a class",
    "predict {}/texts.zsl {}/tickets.csv": "several columns hold text",
    "predict {}/texts.zsl {}/tickets.csv --text body": "no column 'body'",
    "predict {}/texts.zsl Hello --text text": "--text names a column",
    "predict {}/texts.zsl Hello {}/tickets.csv": "give texts, or one table",
    "predict {}/texts.zsl {}/model.zsl": "UTF-8|model.zsl",
    "predict {}/texts.zsl Hello --candidates fox": "'fox' has no signature",
    "predict {}/texts.zsl Hello --add-classes {}/kinds.csv": "already",
    "predict {}/texts.zsl Hello --add-classes {}/no.csv": "no.csv",
    "predict {}/texts.zsl Hello --add-classes {}/classes.csv": "dimensions|classes.csv",
    "predict {}/model.zsl {}/new.csv --text f0": "--text is for a model of texts",
    "predict {}/model.zsl {}/new.csv --add-classes {}/kinds.csv": "kinds.csv",
    "describe {}/kinds.csv --out {}/kinds.csv": "CLASSES and --out at once",
    "describe {}/tickets.csv --out {}/d.csv": "each of the 12 rows would be a class",
    "describe {}/three.csv --out {}/d.csv": "each of the 3 rows would be a class.*'category'",
}
# Folders of pictures that zslearn fit cannot take; made by `add_pictures`.
WITH = "--signatures {}/classes.csv --save {}/n.zsl"
PICTURES = {
    "fit {}/nowhere WITH": "No such path.*nowhere",
    "fit {}/nothing WITH": "nothing holds no files",
    "fit {}/photos --save {}/n.zsl": "say what the classes .* are",
    "fit {}/photos --signatures {}/nothing.csv --save {}/n.zsl": "nothing.csv",
    "fit {}/photos --signatures {}/photos --save {}/n.zsl": "is a folder; give a file",
    "fit {}/photos --signatures {}/kinds.csv --save {}/n.zsl": "words; give it by --classes",
    "fit {}/photos --classes {}/classes.csv --save {}/n.zsl": "holds numbers, not texts",
    "fit {}/photos --classes {}/kinds.csv WITH": "not by both",
    "fit {}/photos/seen0/0.png WITH": "is not a data set|--labels, --signatures",
    "fit {}/deep WITH": "holds one folder, 'photos'.*Then give .*deep/photos",
    "fit {}/groups WITH": "one level too deep, such as (?:ground/seen0|sky/seen1)",
    "fit {}/strange WITH": "Class '(?:bar|foo)' .and 1 more. has no sig.*strange and in .*clas",
    "fit {}/loose WITH": "lie in no folders of classes",
    "fit {}/broken WITH": "none of the 2 files could be read as a picture",
    "fit {}/photos WITH --report {}/no/r.html": "There is no folder",
    "fit {}/photos WITH --report {}/photos": "is a folder",
    "fit {}/photos WITH --report {}/n.zsl": "--report and --save name the same file",
    "fit {}/photos WITH --report {}/photos/r.html": "r.html would lie among the pictures",
    "fit {}/photos --signatures {}/classes.csv --save {}/photos/n.zsl": "n.zsl would lie among",
    "fit {}/photos WITH --encoder minilm": "no image encoder 'minilm'",
    "fit {}/photos WITH --views up": "(?i)views",
    "fit {}/photos WITH --text text": "--text is for a table of texts",
    "fit {}/photos WITH --split x": "--split and --ignore do not go with pictures",
    "fit {}/photos WITH --unseen fox": "fox",
    "fit {}/photos/seen0 WITH --labels {}/nothing.csv": "nothing.csv",
    "predict {}/texts.zsl {}/photos/seen0/0.png": "is a picture, the model takes texts",
    "studio {}/nothing --project {}/p": "nothing holds no files",
    "studio {}/links --project {}/p": "links holds no files, only links to folders",
    "fit {}/model.zsl WITH": "model.zsl|--labels, --signatures",
    "fit {}/X.csv WITH": "no column holds texts.*give it by --features .*X.csv",
    "fit {}/tickets.store WITH --encoder minilm": "--encoder is for a folder",
}


def cases():
    """Every case of the tables above, named."""
    fit = f"fit {FILES} --method sae -P lam=1 --save {{}}/new.zsl"
    for what, (content, words) in TABLES.items():
        yield f"fit, features: {what}", Case(fit, words, "X.csv", content)
        words = words.replace("X|", "")
        predict = "predict {}/model.zsl {}/new.csv --out {}/answers.csv"
        yield (
            f"predict, samples: {what}",
            Case(predict, words, "new.csv", content),
        )
    for name, (content, words) in ARRAYS.items():
        other = f"fit --features {{}}/{name} --labels {{}}/y.csv --signatures {{}}/classes.csv"
        yield f"fit, {name}", Case(f"{other} --save {{}}/new.zsl", words, name, content)
    for what, (content, words) in LABELS.items():
        yield f"fit, labels: {what}", Case(fit, words, "y.csv", content)
    for what, (content, words) in CLASSES.items():
        yield f"fit, classes: {what}", Case(fit, words, "classes.csv", content)
    for what, (content, words) in MODELS.items():
        predict = "predict {}/bad.zsl {}/new.csv"
        yield f"predict, model: {what}", Case(predict, words, "bad.zsl", content)
    for options, words in FIT_OPTIONS.items():
        yield f"fit {options}", Case(f"fit {FILES} {options} --save {{}}/new.zsl", words)
    for options, words in SAVE_OPTIONS.items():
        yield f"fit, save: {options}", Case(f"fit {FILES} {options}", words)
    for command, table in {"predict ": PREDICT, "evaluate ": EVALUATE, "": OTHERS}.items():
        for options, words in table.items():
            yield command + options, Case(command + options, words)


def text_cases():
    """The cases of texts."""
    for what, (ending, content, words) in TEXTS.items():
        name = f"tickets.{ending}"
        features = f"features {{}}/{name} --text text --labels category --out {{}}/new.store"
        yield f"features, texts: {what}", Case(features, words, name, content)
    for options, words in TEXT_OPTIONS.items():
        yield f"features {options}", Case(f"features {options} --out {{}}/new.store", words)
    for what, (content, words) in WORDS.items():
        fit = "fit {}/tickets.store --classes {}/kinds.csv --save {}/new.zsl"
        yield f"fit, classes in words: {what}", Case(fit, words, "kinds.csv", content)
    for options, words in OF_TEXTS.items():
        yield options, Case(options, words)


def picture_cases():
    """The cases of pictures."""
    for options, words in PICTURES.items():
        yield options, Case(options.replace("WITH", WITH), words)


CASES = dict(cases()) | dict(text_cases()) | dict(picture_cases())


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with files that are all right."""
    folder = tmp_path_factory.mktemp("sound")
    data = make_zero_shot(
        8, 3, n_per_class=6, n_features=10, n_dimensions=5, noise=0.1, random_state=0
    )
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    frame = pd.DataFrame(data.X, columns=HEADER.split(","))
    frame.iloc[seen].to_csv(folder / "X.csv", index=False)
    frame.iloc[unseen].to_csv(folder / "new.csv", index=False)
    pd.Series(data.y[seen], name="label").to_csv(folder / "y.csv", index=False)
    data.signatures.to_csv(folder / "classes.csv")
    fit = f"fit {FILES} --method sae -P lam=1 --save {{}}/model.zsl".replace("{}", str(folder))
    assert SeparateRunner().invoke(cli, fit.split()).exit_code == 0
    add_texts(folder)
    add_pictures(folder)
    return folder


def add_pictures(folder):
    """Write folders of pictures: a sound one, its store, and others with a mistake each."""
    places = ("photos", "deep/photos", "strange", "loose", "broken")
    kinds = {"strange": ("foo", "bar"), "loose": (".", ".")}
    found = [folder / place / kind for place in places for kind in kinds.get(place, SEEN)]
    found += [folder / "groups" / "ground" / "seen0", folder / "groups" / "sky" / "seen1"]
    for i, place in enumerate(found):
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (10 * i, 0, 0)).save(place / f"{i}.png")
    for file in (folder / "broken").rglob("*.png"):
        file.write_bytes(b"no picture")
    for empty in ("nothing", "links"):
        (folder / empty).mkdir()
    (folder / "links" / "seen0").symlink_to(folder / "photos" / "seen0")


def add_texts(folder):
    """Write a table of texts, its store with and without labels, its classes and a model."""
    (folder / "tickets.csv").write_text(TICKETS)
    three = "text,category\nWhere is my card?,card\nMoney back,refund\nIt fails,login\n"
    (folder / "three.csv").write_text(three)
    kinds = "class,description\ncard,The card is late\nrefund,Money back\ntop_up,More money\n"
    (folder / "kinds.csv").write_text(kinds)
    samples = read_texts(folder / "tickets.csv", text="text", labels="category")
    build_store(samples, folder / "tickets.store", TextEncoder())
    bare = [sample._replace(label=None) for sample in samples]
    build_store(bare, folder / "bare.store", TextEncoder())
    store = Store.open(folder / "tickets.store")
    table = Signatures.from_texts(read_descriptions(folder / "kinds.csv"), TextEncoder())
    fitted = SAEClassifier(table, lam=1.0).fit(store.X, store.y)
    remember_encoder(fitted, store.encoder)
    save(fitted, folder / "texts.zsl")


@pytest.fixture
def files(sound, tmp_path):
    """A copy of the sound files, to be spoiled."""
    return shutil.copytree(sound, tmp_path / "files", symlinks=True)


def spoil(case, folder):
    """Write the wrong file of a case; return its arguments and what the folder holds."""
    if case.name:
        content = case.content
        (folder / case.name).write_bytes(content.encode() if isinstance(content, str) else content)
    arguments = case.arguments.replace("{}", str(folder)).split()
    return arguments, contents_of(folder)


def contents_of(folder):
    """Everything in a folder, with the bytes of each file."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_refusal(case, code, out, err):
    """One line with the right words, an exit code that says so, no answer."""
    assert code in (1, 2), (code, out, err)
    lines = [line for line in err.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, err
    assert pd.Series(lines).str.contains(case.words)[0], lines[0]
    assert err.rstrip().endswith(lines[0]), "the error must be the last thing said"
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(name, files):
    arguments, before = spoil(CASES[name], files)
    done = SeparateRunner().invoke(cli, arguments)
    check_refusal(CASES[name], done.exit_code, done.stdout, done.stderr)
    assert contents_of(files) == before


# One of every table above by the installed program: streams, exit codes and imports are its own.
INSTALLED = [*list(CASES)[::25], "fit --method saee", "evaluate animals --split best"]


@pytest.mark.parametrize("name", INSTALLED)
def test_the_installed_program_says_the_same(name, files, program):
    arguments, before = spoil(CASES[name], files)
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=60)
    check_refusal(CASES[name], done.returncode, done.stdout, done.stderr)
    assert contents_of(files) == before


def test_there_are_enough_cases():
    assert len(CASES) >= 120


def test_the_sound_files_are_sound(files):
    predict = ["predict", str(files / "model.zsl"), str(files / "new.csv")]
    assert SeparateRunner().invoke(cli, predict).exit_code == 0
