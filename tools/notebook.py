#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the cells of a notebook, without Jupyter: notebook.py FILE [--write]

Prints what differs from the texts that the notebook shows (pictures are not compared), and exits with status 1; --write puts texts and
pictures into the file. Cells run in the notebook's folder, as in Jupyter, with the module of this clone, and find FMUs where they say."""
import ast
import base64
import contextlib
import io
import json
import os
import pathlib
import re
import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as pyplot  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))


def run_cell(source, names):
    """Its outputs, as in the file."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # pylint: disable=exec-used
        if last:
            value = eval(compile(last, "cell", "eval"), names)  # pylint: disable=eval-used
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)})
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    if value is not None and not figures:
        data = {"text/plain": repr(value).splitlines(True)}
        picture = value._repr_svg_() if hasattr(value, "_repr_svg_") else None  # pylint: disable=protected-access
        if picture:
            data["image/svg+xml"] = picture.splitlines(True)
        outputs.append({"output_type": "execute_result", "metadata": {}, "execution_count": None, "data": data})
    for figure in figures:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
        outputs.append({"output_type": "display_data", "metadata": {},
                        "data": {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}})
    pyplot.close("all")
    return outputs


def texts(outputs):
    found = []
    for output in outputs:
        found += output.get("text", []) or output["data"].get("text/plain", [])
    return "".join(found)


def check(notebook, path):
    """What Jupyter refuses (the schema of nbformat 4.5): each cell needs a unique id."""
    found = [cell.get("id") for cell in notebook["cells"]]
    wrong = [name for name in found if not isinstance(name, str) or not re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", name) or found.count(name) > 1]
    if wrong:
        sys.exit(f"{path}: the ids {wrong} of cells are missing, not of letters, digits, - and _, or there twice")


def main(path, write):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    check(notebook, path)
    names, differences = {"__name__": "__main__"}, 0
    path = path.resolve()
    os.chdir(path.parent)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        outputs = run_cell("".join(cell["source"]), names)
        if not write and texts(outputs) != texts(cell["outputs"]):
            differences += 1
            print(f"{path}: the cell\n{''.join(cell['source'])}\nshows\n{texts(cell['outputs'])}\nand gives\n{texts(outputs)}")
        cell["outputs"], cell["execution_count"] = outputs, None
    if write:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv[2:]))
