#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A quarter car: error control needs fewer steps with better extrapolation of the inputs."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

M_C, M_W, K_C, K_W, D_C, ROAD = 400, 40, 15000, 150000, 1000, 0.1
STOP = 1
NAMES = ("chassis.x", "chassis.v", "wheel.x", "wheel.v")


def car(_, x):
    """The whole car, eq. 9.11, with action = reaction."""
    xc, vc, xw, vw = x
    force = K_C * (xw - xc) + D_C * (vw - vc)
    return vc, force / M_C, vw, (K_W * (ROAD - xw) - force) / M_W


def exact(times):
    return solve_ivp(car, (0, STOP), np.zeros(4), t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12).y.T


def error(run):
    """Of the heights."""
    return np.max(np.abs(run.at(run.time, NAMES[::2]) - exact(run.time)[:, ::2]))


def main():
    example = Example(__doc__)
    errors = [error(example.run_system("--coupling", "jacobi", "--step", h)) for h in (1e-3, 5e-4)]
    example.figure("constant extrapolation, H = 1 ms: error of the heights", f"{errors[0]:.1e}", errors[0] <= 5e-4,
                   "<= 5e-4")
    example.figure("the same with H = 0.5 ms", f"{errors[1]:.1e}", errors[1] <= 0.6 * errors[0], "about half")
    example.end()


if __name__ == "__main__":
    main()
