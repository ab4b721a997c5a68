"""Without PyTorch everything but the fit of a deep method works, and that says what is missing."""

import subprocess
import sys

# Makes `import torch` fail as if it were not installed.
WITHOUT_TORCH = """
import sys
assert "torch" not in sys.modules
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Nowhere())
"""


def test_looking_at_the_deep_methods_imports_no_torch():
    code = (
        "import sys, zslearn.zero_shot.deep as deep\n"
        "from zslearn.zero_shot.registry import DEEP\n"
        "kinds = [getattr(deep, name) for name in deep.__all__]\n"
        "for kind in kinds: isinstance(kind, type) and kind()\n"
        "for method in DEEP.values(): method.estimator()\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_fitting_without_torch_is_one_line_that_names_the_extra(warm):
    done = warm.python(
        "-c",
        WITHOUT_TORCH + "import numpy as np\n"
        "from zslearn.exceptions import MissingExtraError\n"
        "from zslearn.zero_shot.deep.base import DeepClassifier\n"
        "class Deep(DeepClassifier):\n"
        "    def __init__(self, signatures=None, device='cpu'):\n"
        "        self.signatures, self.device = signatures, device\n"
        "clf = Deep()\n"
        "try: clf.fit(np.eye(4), [0, 0, 1, 1])\n"
        "except MissingExtraError as error: print(error, vars(clf).keys())\n",
    )
    assert done.stdout == (
        "Fitting Deep needs the package 'torch', which is not installed. Install it with: "
        "pip install 'zslearn[deep]' dict_keys(['signatures', 'device'])\n"
    ), done.stderr


def test_every_public_name_that_needs_torch_says_so_in_one_line(warm):
    done = warm.python(
        "-c",
        WITHOUT_TORCH + "import zslearn.zero_shot.deep as deep\n"
        "from zslearn.exceptions import MissingExtraError\n"
        "from zslearn.datasets import make_shapes, make_zero_shot\n"
        "shapes = make_shapes(8, 2, n_per_class=2, side=16, random_state=0)\n"
        "data = make_zero_shot(n_seen=6, n_unseen=2, n_per_class=4, random_state=0)\n"
        "from zslearn.zero_shot.deep.base import Settings\n"
        "for name in deep.__all__:\n"
        "    one = getattr(deep, name)\n"
        "    if isinstance(one, type) and issubclass(one, Settings): one(); continue\n"
        "    try:\n"
        "        if not isinstance(one, type): one()\n"
        "        elif name == 'ConvSemanticAutoencoder': one().fit(shapes.pictures, shapes.y)\n"
        "        else: one(data.signatures).fit(data.X, data.y)\n"
        "    except MissingExtraError as error: print(name, error)\n",
    )
    lines = done.stdout.splitlines()
    # Six methods and a trunk; settings need nothing.
    assert len(lines) == 7, done.stderr
    assert all(line.endswith("pip install 'zslearn[deep]'") for line in lines), lines


def test_the_program_says_it_too(tmp_path, warm):
    done = warm.python(
        "-c",
        WITHOUT_TORCH + "import zslearn.cli\n"
        f"sys.argv = 'zslearn fit animals --method deep-sae --save {tmp_path}/model.zsl'.split()\n"
        "zslearn.cli.main()\n",
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.strip().splitlines()[-1].endswith("pip install 'zslearn[deep]'"), done.stderr
