"""Without PyTorch everything but the fit of a deep method works, and that says what is missing."""

import subprocess
import sys

# Makes `import torch` fail as if it were not installed.
WITHOUT_TORCH = """
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Nowhere())
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_looking_at_the_deep_methods_imports_no_torch():
    done = run(
        "import sys, zslearn.zero_shot.deep as deep\n"
        "from zslearn.zero_shot.registry import DEEP\n"
        "kinds = [getattr(deep, name) for name in deep.__all__]\n"
        "for kind in kinds: isinstance(kind, type) and kind()\n"
        "for method in DEEP.values(): method.estimator()\n"
        "print('torch' in sys.modules)"
    )
    assert done.stdout == "False\n", done.stderr


def test_fitting_without_torch_is_one_line_that_names_the_extra():
    done = run(
        WITHOUT_TORCH + "import numpy as np\n"
        "from zslearn.exceptions import MissingExtraError\n"
        "from zslearn.zero_shot.deep.base import DeepClassifier\n"
        "class Deep(DeepClassifier):\n"
        "    def __init__(self, signatures=None, device='cpu'):\n"
        "        self.signatures, self.device = signatures, device\n"
        "clf = Deep()\n"
        "try: clf.fit(np.eye(4), [0, 0, 1, 1])\n"
        "except MissingExtraError as error: print(error, vars(clf).keys())\n"
    )
    assert done.stdout == (
        "Fitting Deep needs the package 'torch', which is not installed. Install it with: "
        "pip install 'zslearn[deep]' dict_keys(['signatures', 'device'])\n"
    ), done.stderr
