#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes inputs.csv and measured.csv: what the tanks of Andersson 2016, A.3, show with known areas, and noise.

usage: synthesise.py FOLDER

The areas are those that the thesis estimated from its measurements (Table 9.6), so that they are as hard to tell apart as there. The noise has a
standard deviation of 0.2 mm, from a generator with a fixed seed: the files are always the same."""
import pathlib
import random
import sys

import numpy as np
from scipy.integrate import solve_ivp

AREAS = np.array([2.660115e-6, 2.70179e-6, 3.008687e-6, 2.929907e-6])
NOISE = 2e-4
TIMES = np.arange(61.0)
START = np.array([0.0627, 0.06044, 0.024, 0.023])
TANK, GRAVITY, PUMP, SHARE = 4.9e-4, 9.81, 0.56e-6, 0.30


def voltages(t):
    """Both pumps, in steps that do not fall together; held from row to row."""
    return np.array([5.0 + (int(t) // 15) % 2, 6.0 - (int(t) // 20) % 2])


def derivatives(x, u, areas):
    flow = areas * np.sqrt(2 * GRAVITY * x) / TANK
    pumped = PUMP / TANK * u
    return np.array([-flow[0] + flow[2] + SHARE * pumped[0], -flow[1] + flow[3] + SHARE * pumped[1],
                     -flow[2] + (1 - SHARE) * pumped[1], -flow[3] + (1 - SHARE) * pumped[0]])


def levels(areas):
    """At all TIMES. Inputs are lines between rows, as in --input."""
    def rhs(t, x):
        low = min(int(t), 59)
        u = voltages(low) + (t - low) * (voltages(low + 1) - voltages(low))
        return derivatives(x, u, areas)
    x = [START]
    for low in TIMES[:-1]:
        x.append(solve_ivp(rhs, (low, low + 1), x[-1], method="DOP853", rtol=1e-11, atol=1e-14).y[:, -1])
    return np.array(x)


def write(path, names, columns):
    rows = "".join(f"{int(t)}," + ",".join(f"{value:.6g}" for value in row) + "\n" for t, row in zip(TIMES, columns))
    path.write_text(f"time,{names}\n{rows}", encoding="utf-8")


def main(folder):
    chance = random.Random(19)
    noisy = [[value + chance.gauss(0, NOISE) for value in row] for row in levels(AREAS)]
    write(folder / "inputs.csv", "u1,u2", [voltages(t) for t in TIMES])
    write(folder / "measured.csv", "x1,x2,x3,x4", noisy)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
