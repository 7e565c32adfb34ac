#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A double pendulum, cut at its joint: explicit coupling is not stable, the linear correction makes it so."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

M1, M2, L1, L2, DAMPER, G = 1, 1.5, 1, 1, 0.5, 9.81  # Table 6.2
START = (-1, 0, 0.3, 0)
STOP = 5
NAMES = ("upper.alpha", "upper.omega", "lower.alpha", "lower.omega")


def pendulum(_, x):
    """The whole pendulum, by Lagrange: not by the equations of its halves."""
    a1, w1, a2, w2 = x
    c, s = np.cos(a1 - a2), np.sin(a1 - a2)
    mass = [[(M1 + M2) * L1, M2 * L2 * c], [M2 * L1 * c, M2 * L2]]
    force = [-M2 * L2 * w2**2 * s - (M1 + M2) * G * np.sin(a1) - DAMPER * w1 / L1,
             M2 * L1 * w1**2 * s - M2 * G * np.sin(a2)]
    acceleration = np.linalg.solve(mass, force)
    return w1, acceleration[0], w2, acceleration[1]


def exact(times):
    return solve_ivp(pendulum, (0, STOP), START, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12).y.T


def main():
    example = Example(__doc__)
    expected = np.sqrt(M2 / M1) * abs(np.sin(START[2] - START[0]))
    for variant in (None, "Plain.ssd"):
        found = example.analyze(variant=variant)["rho"]
        example.compare(f"{variant}: rho(DL) at the start", found, expected, 1e-6)
    run = example.run_system("--coupling", "jacobi", "--step", 0.01)
    error = np.max(np.abs(run.at(run.time, NAMES) - exact(run.time)))
    example.figure("H = 0.01: largest error of the states", f"{error:.1e}", error > 0.1, "> 0.1", "unstable")
    example.end()


if __name__ == "__main__":
    main()
