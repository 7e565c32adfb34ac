#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two masses: correcting the predictor of a multistep method saves its steps; smooth inputs may cost stability."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402
from coupled import C1, C2, C3, K1, K2, K3, check_coupled  # noqa: E402
from segments import TIGHT, check_jumps, extrapolated, predictor_table, solve_segments  # noqa: E402

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
    example = Example(__doc__)
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
