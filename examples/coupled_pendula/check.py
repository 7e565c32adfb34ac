#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A pendulum with inputs in steps: correcting the predictor of a multistep method saves its steps."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402
from segments import TIGHT, extrapolated, predictor_table, solve_segments  # noqa: E402

G = 9.81
DISTANCE, STIFFNESS = 1, 10  # of the pivots, of the spring between the two masses; these and the next are our choice
EXCITATION, FREQUENCY = 1, 2 * np.pi  # of the left pivot: u1 = EXCITATION sin(FREQUENCY t)
START = (0.5, 0, 0, 0)  # angle and its speed, left and right
STOP, SEGMENTS = 2, 40
PUBLISHED = {  # Table 7.3: steps, right-hand sides, Jacobians, failed error tests
    "restart": (1377, 1989, 55, 69),
    "proceed": (1962, 2858, 38, 210),
    "correct-1": (1275, 1792, 24, 102),
    "correct-2": (850, 1144, 39, 42),
}


def pendulum(x, u):
    """Eq. 7.18."""
    return x[1], (-G + u[2]) * np.sin(x[0]) + (u[0] + u[1]) * np.cos(x[0])


def spring(left, right):
    """The force on the left mass (horizontal, upwards): the spring has no force at the distance of the pivots."""
    reach = np.array([DISTANCE + np.sin(right) - np.sin(left), np.cos(left) - np.cos(right)])
    length = np.hypot(*reach)
    return STIFFNESS * (length - DISTANCE) / length * reach


def inputs_left(t, x):
    return np.array([EXCITATION * np.sin(FREQUENCY * t), *spring(x[0], x[2])])


def coupled(t, x):
    """Both pendula, with the spring between them."""
    force = spring(x[0], x[2])
    return (*pendulum(x[:2], inputs_left(t, x)), *pendulum(x[2:], (0, -force[0], -force[1])))


def main():
    example = Example(__doc__)
    starts = np.linspace(0, STOP, SEGMENTS + 1)
    states = solve_ivp(coupled, (0, STOP), START, t_eval=starts, **TIGHT).y.T[:-1]
    values = np.array([inputs_left(t, x) for t, x in zip(starts, states)])
    inputs = example.input("inputs.csv", extrapolated(starts, values, 0 * values, ["u1", "u2", "u3"]))
    exact = solve_segments(pendulum, START[:2], starts, values, 0 * values)
    predictor_table(example, "Pendulum_fmi3.fmu", inputs, starts, ["x1", "x2"], exact, PUBLISHED, 0.62)
    example.end()


if __name__ == "__main__":
    main()
