#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two masses: correcting the predictor of a multistep method saves its steps; smooth inputs may cost stability."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402
from coupled import C1, C2, C3, K1, K2, K3, check_coupled  # noqa: E402
from segments import TIGHT, check_jumps, extrapolated, predictor_table, solve_segments  # noqa: E402

GALLERY = Gallery(
    topic="solvers", case=15, source="Andersson, 6.4.1 and 7.4.1",
    shows="a multistep method that tolerates new inputs (linear pieces); smooth inputs and stability",
    caption="Both masses, coupled every 0.085 s with slopes by differences: smoothing alone is not stable, "
            "corrected it is.",
    commands=r"""
system="build/examples/mass_spring_damper/mass_spring_damper.ssp#History.ssd"
tutti run $system --coupling jacobi --extrapolate 1 --step 0.085 --stop 15 --smooth --correct --quiet \
    -o corrected.mat
tutti run $system --coupling jacobi --extrapolate 1 --step 0.085 --stop 15 --smooth --quiet -o smooth.mat
tutti plot corrected.mat smooth.mat -v left.x1 -v right.x2 --title "Two masses, coupled every 0.085 s" \
    -o mass_spring_damper.svg
""")
START = (2, 0, 2, 0)  # x1, v1, x2, v2; the thesis gives none
STOP, SEGMENTS = 2, 20
PUBLISHED = {  # Table 7.2: steps, right-hand sides, Jacobians, failed error tests
    "restart": (598, 847, 19, 22),
    "proceed": (876, 1257, 17, 87),
    "correct-1": (584, 833, 11, 47),
    "correct-2": (343, 466, 19, 18),
}


def coupled(_, x):
    """Both masses, eq. 7.16."""
    x1, v1, x2, v2 = x
    return (v1, -(K1 + K2) * x1 - (C1 + C2) * v1 + K2 * x2 + C2 * v2,
            v2, -(K3 + K2) * x2 - (C3 + C2) * v2 + K2 * x1 + C2 * v1)


def right(x, u):
    """The right mass alone, eq. 7.17."""
    return x[1], -(K3 + K2) * x[0] - (C3 + C2) * x[1] + K2 * u[0] + C2 * u[1]


def main():
    example = Example(__doc__, GALLERY)
    starts = np.linspace(0, STOP, SEGMENTS + 1)
    states = solve_ivp(coupled, (0, STOP), START, t_eval=starts, **TIGHT).y.T[:-1]
    slopes = np.array([coupled(0, x) for x in states])
    values, slopes = states[:, :2], slopes[:, :2]
    inputs = example.input("inputs.csv", extrapolated(starts, values, slopes, ["u21", "u22"]))
    check_jumps(example, starts, values, slopes, ["u21", "u22"])
    exact = solve_segments(right, START[2:], starts, values, slopes)
    predictor_table(example, "RightMass_fmi3.fmu", inputs, starts, ["x2", "v2"], exact, PUBLISHED, 0.62)
    check_coupled(example, coupled, START)
    example.end()


if __name__ == "__main__":
    main()
