"""The package as a whole: what importing it costs, what it offers, what its rooms may use."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import zslearn
from zslearn import cluster, encoders, zero_shot
from zslearn.zero_shot import deep

SOURCES = Path(zslearn.__file__).parent
ROOT = Path(__file__).parents[1]
HEADLINES = {
    "CalibratedStacking",
    "ClassKFold",
    "PrototypeRegression",
    "SAEClassifier",
    "SemanticAutoencoder",
    "Signatures",
    "evaluate",
    "load",
    "load_animals",
    "save",
}

OLD_ROOMS = {
    "features": [
        ("ImageEncoder", "zslearn.encoders.ImageEncoder"),
        ("EncoderIdentity", "zslearn.encoders.EncoderIdentity"),
        ("find_pictures", "zslearn.encoders.find_pictures"),
        ("pixel_features", "zslearn.cluster.pixel_features"),
        ("PixelStore", "zslearn.cluster.PixelStore"),
    ],
    "semantics": [
        ("TextEncoder", "zslearn.encoders.TextEncoder"),
        ("match_wordnet", "zslearn.encoders.match_wordnet"),
    ],
}


def modules_after(code):
    """The modules a fresh interpreter holds after running some code."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import zslearn",
        "import zslearn.zero_shot; zslearn.zero_shot.METHODS['sae'].title",
        "import zslearn.cluster; zslearn.cluster.MAPPINGS['sae'].title",
    ],
)
def test_looking_around_imports_nothing_heavy(code):
    assert not modules_after(code) & {"numpy", "scipy", "sklearn", "click", "difflib"}


def test_the_package_offers_its_headline_names_and_every_room():
    rooms = {path.parent.name for path in SOURCES.glob("*/__init__.py")} | {"exceptions"}
    rooms -= {*OLD_ROOMS, "serve"}  # serve needs its extra to be imported
    assert "serve" in dir(zslearn)
    assert set(zslearn.__all__) == HEADLINES | rooms | {"__version__"}


def test_all_names_of_the_package_are_there_without_any_extra():
    """What only an extra brings cannot be imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    brought = {
        re.match(r"[\w-]+", line)[0].replace("-", "_")
        for extra, lines in project["optional-dependencies"].items()
        for line in lines
        if extra not in ("test", "docs", "lint")
    }
    missing = {"PIL", *brought} - core - {"zslearn"}
    code = f"""
import sys
class Nothing:
    def find_spec(name, path=None, target=None):
        if name in {sorted(missing)}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Nothing)
from zslearn import *"""
    assert not modules_after(code) & missing


@pytest.mark.parametrize(
    ("old", "name", "new"), [(old, name, new) for old in OLD_ROOMS for name, new in OLD_ROOMS[old]]
)
def test_a_name_of_an_old_room_warns_and_is_the_new_one(old, name, new):
    room = getattr(zslearn, old)
    assert name in dir(room)
    with pytest.warns(FutureWarning, match=rf"zslearn\.{old}\.{name} is called {new} now"):
        value = getattr(room, name)
    place, _, attribute = new.rpartition(".")
    assert value is getattr(importlib.import_module(place), attribute)


def test_an_old_room_has_no_other_names():
    with pytest.raises(AttributeError, match=r"'zslearn.features' has no attribute 'TextEncoder'"):
        zslearn.features.TextEncoder  # noqa: B018


@pytest.mark.parametrize(
    "package", [zslearn, zero_shot, deep, cluster, encoders], ids=lambda p: p.__name__
)
def test_every_public_name_is_there_and_is_the_real_one(package):
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        value = getattr(package, name)
        if isinstance(value, type):
            assert getattr(importlib.import_module(value.__module__), name) is value
    with pytest.raises(
        AttributeError, match=f"{package.__name__!r} has no attribute 'SAEClasifier'"
    ):
        package.SAEClasifier  # noqa: B018


@pytest.mark.parametrize("package", [zero_shot, deep, cluster, encoders], ids=lambda p: p.__name__)
def test_names_for_type_checkers_are_the_public_names(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith(package.__name__)
        for alias in node.names
    }
    assert imported == set(package.__all__)


def test_type_checkers_may_read_the_package():
    assert files("zslearn").joinpath("py.typed").is_file()


def test_the_version_is_written_once_and_the_citation_follows():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version = ", pyproject, flags=re.M) == []
    assert re.findall(r"^version: (.+)$", citation, flags=re.M) == [zslearn.__version__]


def private_uses(path, source):
    """Yield what a file takes from another room although its name says it is private."""
    room = path.parts[0]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("zslearn."):
            continue
        _, other, *inner = node.module.split(".")
        names = [alias.name for alias in node.names] if other != room else []
        yield from (f"{node.module}.{name}" for name in [*inner, *names] if name.startswith("_"))


@pytest.mark.parametrize(
    "path", sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.py")), ids=str
)
def test_no_room_uses_a_private_name_of_another(path):
    assert list(private_uses(path, (SOURCES / path).read_text(encoding="utf-8"))) == []


def test_a_private_name_of_another_room_is_found():
    path = Path("cli", "fit.py")
    assert list(private_uses(path, "from zslearn.core.moments import _add")) == [
        "zslearn.core.moments._add"
    ]
    assert list(private_uses(path, "from zslearn.core._sums import add"))
    assert not list(private_uses(path, "from zslearn._files import replacing"))
    assert not list(private_uses(path, "from zslearn.cli.output import _read"))


GROUND = "files optional parameters progress cells tables declared registry pipelines".split()


def test_files_carry_no_underscore_but_for_the_ground_floor():
    private = {p.name for p in SOURCES.rglob("_*.py") if not p.name.startswith("__")}
    assert private <= {f"_{name}.py" for name in GROUND}
    assert {p.parent for p in SOURCES.rglob("_*.py") if p.name in private} <= {SOURCES}


def test_the_lowest_versions_are_those_of_the_project():
    script = ROOT / "scripts" / "lowest_versions.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
