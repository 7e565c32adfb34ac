#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A chromatography column: the structure of a model makes its Jacobian cheap."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from column import GRADIENT, STOP, Column, reference  # noqa: E402
from example import Example  # noqa: E402

TIMES = np.linspace(0, STOP, 101)


def simulate(example, fmu, solver, jacobian):
    return example.run(fmu, "--solver", solver, "--jacobian", jacobian, "--rtol", 1e-8, "--atol", 1e-10,
                       "--input", GRADIENT, "--stop", STOP, "--step", STOP, "--output-step", STOP / 100,
                       "--record", "*")


def check_states(example):
    """All states of the columns, in both FMI versions and with all stiff solvers."""
    for fmu, cells in (("Chromatography", 47), ("Chromatography40", 13), ("Chromatography22", 7)):
        exact = reference(cells, TIMES)
        for version, solver in (("2", "cvode"), ("3", "cvode"), ("3", "radau5"), ("3", "dirk"), ("3", "bdf")):
            run = simulate(example, f"{fmu}_fmi{version}.fmu", solver, "auto")
            example.compare(f"error of {3 * cells + 1} states, FMI {version}, {solver}",
                            run.at(TIMES, Column(cells).names()), exact, 1e-5)


def check_directions(example):
    """How many directional derivatives a Jacobian costs: one per colour, or one per state."""
    runs = {mode: simulate(example, "Chromatography_fmi3.fmu", "cvode", mode) for mode in ("plain", "sparse")}
    per = {mode: run.unit["directional_derivatives"] / run.unit["jacobian_evaluations"] for mode, run in runs.items()}
    example.figure("directional derivatives per Jacobian, plain", f"{per['plain']:g}", per["plain"] == 142, "142")
    saved = 1 - per["sparse"] / per["plain"]
    example.figure("directional derivatives per Jacobian, coloured", f"{per['sparse']:g}, {saved:.0%} fewer",
                   saved >= 0.9, "90% fewer", "90% fewer")


def main():
    example = Example(__doc__)
    check_states(example)
    check_directions(example)
    example.end()


if __name__ == "__main__":
    main()
