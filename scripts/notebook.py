"""Run a notebook and write what its cells show into it: python scripts/notebook.py FILE.

The cells run in one process, without a kernel or a server: the value of a last expression and every
figure become outputs, as in Jupyter. The test of the notebooks runs them by the same function.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Output = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: dict[str, Any]) -> Iterator[list[Output]]:
    """Run the code cells one after the other; yield the outputs of each."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        yield _outputs("".join(cell["source"]), names, number)


def _outputs(source: str, names: dict[str, Any], number: int) -> list[Output]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _value(ast.parse(source), names, f"cell {number}")
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    figures = list(_figures())
    if value is not None and not source.rstrip().endswith(";"):
        facts = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
        outputs.append(facts | {"data": _shown(value)})
    return outputs + figures


def _value(tree: ast.Module, names: dict[str, Any], where: str) -> Any:
    """Run the statements of a cell; return the value of the last one if it is an expression."""
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), where, "eval"), names)


def _shown(value: Any) -> dict[str, str]:
    data = {"text/plain": repr(value)}
    html = getattr(value, "_repr_html_", lambda: None)()
    return data | ({"text/html": html} if html else {})


def _figures() -> Iterator[Output]:
    """Yield the open figures as pictures, and close them."""
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        buffer = io.BytesIO()
        pyplot.figure(number).savefig(buffer, format="png", dpi=80, metadata={"Software": None})
        picture = base64.b64encode(buffer.getvalue()).decode()
        yield {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}
    pyplot.close("all")


def main(path: Path) -> None:
    notebook = read(path)
    for number, (cell, outputs) in enumerate(
        zip(code_cells(notebook), run(notebook), strict=True), 1
    ):
        cell["outputs"], cell["execution_count"] = outputs, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
