#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Van der Pol's oscillator under 100 sin(30 t): with a function as input the steps are those of a smooth problem, with a table they are not."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="solvers", case=30, source="Andersson, example 9.1.4",
    shows="an input as an expression, evaluated at all times",
    caption="The oscillator of Andersson's eq. 9.1 (mu = 20) under 100 sin(30 t): x2 and the input.",
    commands=r"""
tutti run build/examples/driven_oscillator/DrivenVanDerPol_fmi3.fmu --solver cvode --rtol 1e-6 --signal 'u=100*sin(30*time)' \
    --record x2 --record u --stop 2 --output-step 0.002 --quiet -o driven.csv
tutti plot driven.csv -v x2 -v u --title "Van der Pol's oscillator under 100 sin(30 t)" -o driven_oscillator.svg
""")
MU, STOP = 20, 2
ROWS = 2000


def reference(times):
    solution = solve_ivp(lambda t, x: (MU * ((1 - x[1] ** 2) * x[0] - x[1]) + 100 * np.sin(30 * t), x[0]), (0, STOP), (-0.6, 2),
                         method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return solution.y.T


def main():
    example = Example(__doc__, GALLERY)
    times = np.linspace(0, STOP, 201)
    exact = reference(times)
    table = example.folder / "u.csv"
    moments = np.linspace(0, STOP, ROWS + 1)
    table.write_text("time,u\n" + "".join(f"{t!r},{100 * np.sin(30 * t)!r}\n" for t in moments.tolist()), encoding="utf-8")
    steps = {}
    for what, options in (("expression", ("--signal", "u=100*sin(30*time)")),
                          ("spline through the table", ("--input", table, "--interpolate", "cubic")),
                          ("lines through the table", ("--input", table))):
        for solver in ("cvode", "bdf"):
            run = example.run("DrivenVanDerPol_fmi3.fmu", "--solver", solver, "--rtol", 1e-6, *options, "--stop", STOP, "--step", 0.01)
            steps[what, solver] = run.unit["solver_steps"]
            example.compare(f"error of x2, {what}, {solver}", run.at(times, ["x2"])[:, 0], exact[:, 1], 2e-3, "a plot" if what == "expression" else "")
    for solver in ("cvode", "bdf"):
        smooth, lines, spline = (steps[what, solver] for what in ("expression", "lines through the table", "spline through the table"))
        example.figure(f"steps, {solver}: expression, spline and lines through {ROWS} rows", f"{smooth}, {spline}, {lines}",
                       smooth < 900 and spline < 1.5 * smooth and lines > 2 * smooth, "expression below 900; spline within 1.5 times; lines above twice",
                       "a function is better than a table")
    example.end()


if __name__ == "__main__":
    main()
