#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A fault in a network: the protection opens a breaker, and the time of it is found by going back."""
import pathlib
import sys

import numpy as np
from scipy.linalg import expm

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

E, R, L, C, T = 20, 1, 0.02, 0.005, 0.02
HEALTHY, FAULTY = (60, 0.3), (40, 0.2)  # R, L of the feeders
R_FAULT, PICKUP = 4, 3.042912331847515
FAULT, OPENING = 1, 1.08273
NAMES = ("source.i", "busbar.v", "healthy.i", "faulty.i", "protection.m")
START = np.array([0.8, 19.2, 0.32, 0.48, 0.48, 1])  # at rest; the last is the constant 1


def matrix(resistance):
    """The network with this resistance of the faulty feeder; None: its breaker is open."""
    a = np.zeros((6, 6))
    a[0, [0, 1, 5]] = -R / L, -1 / L, E / L
    a[1, [0, 2, 3]] = 1 / C, -1 / C, -1 / C
    a[2, [1, 2]] = 1 / HEALTHY[1], -HEALTHY[0] / HEALTHY[1]
    if resistance is not None:
        a[3, [1, 3]] = 1 / FAULTY[1], -resistance / FAULTY[1]
    a[4, [3, 4]] = 1 / T, -1 / T
    return a


def exact(times):
    """The values of NAMES at these times, a row each. All pieces are linear: matrix exponentials."""
    tripped = expm(matrix(R_FAULT) * (OPENING - FAULT)) @ START
    assert np.max(np.abs(matrix(FAULTY[0]) @ START)) < 1e-12, "the network is not at rest before the fault"
    assert abs(tripped[4] - PICKUP) < 1e-13, "the protection does not open the breaker when it has to"
    tripped[3] = 0
    rows = []
    for t in times:
        if t <= FAULT:
            rows.append(START)
        elif t < OPENING:
            rows.append(expm(matrix(R_FAULT) * (t - FAULT)) @ START)
        else:
            rows.append(expm(matrix(None) * (t - OPENING)) @ tripped)
    return np.array(rows)[:, :5]


def opening(run):
    """When the run opened the breaker."""
    return run.time[np.flatnonzero(run["protection.closed"] == 0)[0]]


def main():
    example = Example(__doc__)
    for variant in (None, "EarlyReturn.ssd"):
        run = example.run_system("--coupling", "jacobi", "--step", 1e-4, variant=variant)
        error = abs(opening(run) - OPENING)
        example.figure(f"{variant or 'FMI 2.0'}: jacobi, constant step 1e-4 s: error of the time of opening",
                       f"{error:.1e}", error <= 2e-4, "<= 2e-4")
        rows = slice(None, None, 100)
        example.compare("... currents and voltage at all times",
                        np.column_stack([run[name][rows] for name in NAMES]), exact(run.time[rows]), 0.2)
    example.end()


if __name__ == "__main__":
    main()
