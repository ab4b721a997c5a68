import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from PIL import Image

from tests.encoders.tiny_onnx import write_onnx
from tests.streams import SeparateRunner
from zslearn.cli import cli
from zslearn.datasets import make_shapes, make_zero_shot


@pytest.fixture
def run():
    """Run the command line in this process; standard output and error are kept apart."""

    def invoke(*arguments: object) -> Result:
        return SeparateRunner().invoke(cli, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The installed program, or the module where the package is only on the path."""
    installed = Path(sys.executable).with_name("zslearn")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "zslearn"]


@pytest.fixture
def own(tmp_path):
    """A user's own files: features, labels, class table and new samples of unseen classes."""
    data = make_zero_shot(
        8, 3, n_per_class=6, n_features=10, n_dimensions=5, noise=0.1, random_state=0
    )
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    titles = [f"f{i}" for i in range(10)]
    frame = pd.DataFrame(data.X, columns=titles)
    frame.iloc[seen].to_csv(tmp_path / "X.csv", index=False)
    pd.Series(data.y[seen], name="label").to_csv(tmp_path / "y.csv", index=False)
    data.signatures.to_csv(tmp_path / "classes.csv")
    new = frame.iloc[unseen]
    new.insert(0, "photo", [f"{name}_{i}.jpg" for i, name in enumerate(data.y[unseen])])
    new.to_csv(tmp_path / "new.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    pd.Series(data.y).to_csv(tmp_path / "all_y.csv", index=False, header=False)
    return tmp_path


@pytest.fixture
def own_arguments(own):
    """The options that name the training files."""
    return [
        "--features",
        own / "X.csv",
        "--labels",
        own / "y.csv",
        "--signatures",
        own / "classes.csv",
    ]


@pytest.fixture
def model(run, own, own_arguments):
    """A model fitted on one's own files by the program."""
    method = ["--method", "prototype-regression"]
    result = run("fit", *own_arguments, *method, "--save", own / "model.zsl")
    assert result.exit_code == 0, result.output
    return own / "model.zsl"


@pytest.fixture
def refused(run):
    """Run a command that must fail with one clear line and exit code 1."""

    def invoke(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, result.stderr
        assert "Traceback" not in result.output
        assert result.stdout == ""
        return lines[0]

    return invoke


@pytest.fixture(scope="session")
def shapes():
    return make_shapes(12, 3, n_per_class=4, random_state=0)


@pytest.fixture
def photos(tmp_path, shapes):
    """A folder per class of seen classes, another with pictures of unseen ones, the class table."""
    for i, (label, pixels) in enumerate(zip(shapes.y, shapes.pictures, strict=True)):
        side = "seen" if label in shapes.split.seen else "new"
        file = tmp_path / side / label / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(file)
    shapes.signatures.to_csv(tmp_path / "classes.csv")
    write_onnx(tmp_path / "net.onnx")
    return tmp_path
