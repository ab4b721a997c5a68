"""The code runs on Python 3.11, and uses nothing that 3.12 to 3.14 warn of or have dropped."""

import ast
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "src").rglob("*.py"))
#: What is deprecated or gone in 3.12, 3.13 or 3.14, as it would be written.
GONE = re.compile(
    r"\b(?:datetime\.utcnow|utcfromtimestamp|pkgutil\.(?:find_loader|get_loader|ImpImporter)"
    r"|asyncio\.(?:get_event_loop_policy|set_event_loop_policy|iscoroutinefunction)"
    r"|importlib\.abc\.(?:Resource|Traversable)|importlib\.resources\.(?:open_|read_|path|contents)"
    r"|locale\.getdefaultlocale|typing\.(?:ByteString|Text)|codecs\.open|shutil\.rmtree\([^)]*onerror"
    r"|ast\.(?:Num|Str|Bytes|NameConstant|Ellipsis)\b|sys\.last_(?:type|value)|sqlite3\.version"
    r"|calendar\.(?:January|February)|pathlib\.PurePath\.is_reserved|os\.popen|tempfile\.mktemp"
    r"|multiprocessing\.(?:Pool|Process|Queue|Pipe)\()"
)
MODULES = {
    *("aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils"),
    *("imghdr", "imp", "lib2to3", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "pipes"),
    *("pkg_resources", "smtpd", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
}


def problems(text):
    """Yield what a newer Python would complain of, or 3.11 not understand."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # escapes that are none
        tree = ast.parse(text, feature_version=(3, 11))
    yield from (found.group() for found in GONE.finditer(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
            yield from (name for name in names if name.split(".")[0] in MODULES)
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if re.fullmatch(r".*tar.*\.extract(all)?", name):
            if "filter" not in {keyword.arg for keyword in node.keywords}:
                yield f"{name} without filter="
        if isinstance(node, ast.Try | ast.TryStar):
            inside = [inner for part in node.finalbody for inner in ast.walk(part)]
            yield from ("return in finally" for inner in inside if isinstance(inner, ast.Return))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            if isinstance(node.operand, ast.Constant):
                yield f"{ast.unparse(node)}: ~ of a bool"


def test_no_file_uses_what_newer_pythons_drop():
    found = {
        str(path.relative_to(ROOT)): list(problems(path.read_text(encoding="utf-8")))
        for path in FILES
    }
    assert len(found) > 200
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import distutils.core",
        "from pkg_resources import parse_version",
        "now = datetime.utcnow()",
        "tar.extractall(folder)",
        "try:\n    pass\nfinally:\n    x = 1\n    def f():\n        return x\n",
        "multiprocessing.Process(target=f)",
        "codecs.open('x')",
        "~True",
    ],
)
def test_each_of_these_is_found(text):
    assert list(problems(text))


@pytest.mark.parametrize("text", ["x = '\\d'", "type X = int", "def f[T](x: T): ..."])
def test_what_is_no_python_of_3_11_is_found(text):
    with pytest.raises(SyntaxError, match=r"(?i)escape|invalid syntax|expected"):
        list(problems(text))
