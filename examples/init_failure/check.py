#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A start in the order of the dependencies, where Newton's method from zero divides by zero."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="start", case=9, source="Andersson, examples 5.0.1 and 5.1.2",
    shows="a start in the order of the dependencies, where Newton's method divides by zero",
    caption="The output of `first` depends on no input, so there is no loop: `first` is evaluated, then `second`.",
    commands=r"""
tutti graph build/examples/init_failure/init_failure.ssp -o init_failure.svg
""")
X1, X2 = 1, -1
EXACT = (X1, X2 / X1)  # y1 = x1, u2 = y1, y2 = x2 / u2
OUTPUTS = ("first.y", "second.y")
VARIABLES = {"first.u", "first.y", "second.u", "second.y"}
VARIANT = "NoStructure.ssd"


def start(run):
    return [run[name][0] for name in OUTPUTS]


def evaluations(run):
    return " / ".join(str(run.units[name]["init_evaluations"]) for name in ("first", "second"))


def check_structure(example):
    """Example 5.1.2: get y1, set u2, get y2, set u1."""
    run = example.run_system()
    values = start(run)
    example.figure("start values y1, y2", f"{values[0]:g}, {values[1]:g}", values == list(EXACT), "1, -1", "1, -1")
    example.figure("algebraic loops", run.stats["init_loops"], run.stats["init_loops"] == 0, "0", "0")
    example.figure("evaluations of each model at the start", evaluations(run), evaluations(run) == "1 / 1", "1 / 1",
                   "1 / 1")
    # x1' = x1 + y2 = 0, x2' = x2 + y1 = 0: what starts there stays there
    rest = max(np.max(np.abs(run[name] - value)) for name, value in zip(OUTPUTS, EXACT))
    example.figure("distance from the start in 1 s", f"{rest:.0e}", rest == 0, "0")
    run = example.run_system("--set", "second.careful=true")
    example.figure("second.careful: evaluations of each model at the start", evaluations(run),
                   evaluations(run) == "1 / 1" and start(run) == list(EXACT), "1 / 1, and the same values")


def check_no_structure(example):
    """The same models, but they do not tell what their outputs depend on."""
    analysis = example.analyze(variant=VARIANT)
    loops = [loop["variables"] for loop in analysis["loops"]]
    example.figure("no structure: variables in loops", "; ".join(", ".join(loop) for loop in loops),
                   len(loops) == 1 and set(loops[0]) == VARIABLES, "all four in one", "an all-to-all dependency")
    example.figure("no structure: assumed for", ", ".join(analysis["assumed"]),
                   analysis["assumed"] == ["first", "second"], "first, second")
    alone = example.run_file(example.fmu("SecondOpaque_fmi3.fmu"), "--stop", 0.1)["y"][0]
    example.figure("Second alone at u = 0, its start value: y", f"{alone:g}", alone == -np.inf, "-inf",
                   "a division by zero")
    for what, options in (("from u = 0", ()), ("from u = 0.5", ("--set", "second.u=0.5")),
                          ("second.careful, from u = 0.5", ("--set", "second.u=0.5", "--set", "second.careful=true"))):
        run = example.run_system(*options, variant=VARIANT)
        loops = run.stats["init_loops"]
        example.figure(f"no structure, {what}: loops; evaluations of each model", f"{loops}; {evaluations(run)}",
                       loops == 1, "1 loop")
        example.compare(f"no structure, {what}: error of y1, y2", start(run), EXACT, 1e-9)
    said = example.complaint("--set", "second.careful=true", variant=VARIANT)
    example.figure("no structure, second.careful, from u = 0", said or "no complaint",
                   said and "second" in said and "no value at u = 0" in said, "fails with what the model says")


def main():
    example = Example(__doc__, GALLERY)
    check_structure(example)
    check_no_structure(example)
    example.end()


if __name__ == "__main__":
    main()
