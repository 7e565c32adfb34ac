#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Van der Pol's oscillator with mu = 2000: every stiff solver passes its jumps."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery, short  # noqa: E402

GALLERY = Gallery(
    topic="solvers", source="Andersson, 8.6.1",
    shows="a stiff oscillator with every implicit solver",
    caption="mu = 2000: slow phases, and jumps that take a thousandth of them.",
    commands=r"""
tutti run build/examples/van_der_pol_stiff/StiffVanDerPol_fmi3.fmu --solver radau5 --rtol 1e-8 --atol 1e-8 \
    --step 2 --output-step 0.001 --quiet -o oscillator.mat
tutti plot oscillator.mat -v x1 -v x2 --title "Van der Pol's oscillator, mu = 2000" -o van_der_pol_stiff.svg
""")
MU = 2000
SOLVERS = ("cvode", "radau5", "dirk", "bdf")
WORK = {"cvode": (1, 2), "bdf": (1, 2), "radau5": (5, 10), "dirk": (10, 15)}  # right-hand sides per step, at least and at most
STOP, STEP = 2, 0.002
RTOL = 1e-8


def reference(times):
    """x1 and x2 by an explicit method of order 8, whose steps stability keeps as short as the jumps need them."""
    solution = solve_ivp(lambda t, x: (x[1], MU * ((1 - x[0] ** 2) * x[1] - x[0])), (0, STOP), (2, -0.6),
                         method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times)
    return solution.y.T


def main():
    example = Example(__doc__, GALLERY)
    times = np.linspace(0, STOP, round(STOP / STEP) + 1)
    exact = reference(times)
    slow = np.abs(exact[:, 1]) < 10  # between the jumps; in them, an error of the time counts mu-fold
    jumps = int(np.sum(np.diff(np.sign(exact[:, 0])) != 0))
    for version in ("1me", "2", "3"):
        for solver in SOLVERS if version == "3" else SOLVERS[:1]:
            run = example.run(f"StiffVanDerPol_fmi{version}.fmu", "--solver", solver, "--rtol", RTOL, "--atol", RTOL,
                              "--stop", STOP, "--step", STOP, "--output-step", STEP)
            x = run.at(times, ["x1", "x2"])
            what = f"FMI {version}, {solver}"
            found = int(np.sum(np.diff(np.sign(x[:, 0])) != 0))
            example.figure(f"jumps, {what}", found, found == jumps, f"{jumps}")
            example.compare(f"error of x1 between the jumps, {what}, tolerance {short(RTOL)}", x[slow, 0],
                            exact[slow, 0], 1000 * RTOL, "a plot" if version == "3" else "")
            low, high = WORK[solver]
            each = run.unit["rhs_evaluations"] / run.unit["solver_steps"]
            example.figure(f"work, {what}",
                           f"{run.unit['solver_steps']} steps, {run.unit['rhs_evaluations']} right-hand sides, {each:.1f} per step",
                           low <= each <= high, f"{low} to {high} per step")
    example.end()


if __name__ == "__main__":
    main()
