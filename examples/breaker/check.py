#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A fault in a network: the protection opens a breaker, and the time is located by rollback."""
import pathlib
import sys

import numpy as np
from scipy.linalg import expm

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery, short  # noqa: E402

GALLERY = Gallery(
    topic="events", case=22, stand_in=True, source="Galtier, Table 1",
    shows="a protection opens a breaker: a Boolean output as an event",
    caption="Currents of both feeders: the fault is at 1 s, and the breaker opens at 1.0827 s, where the steps are shortest.",
    commands=r"""
tutti run build/examples/breaker/breaker.ssp --rtol 1e-4 --step-log steps.csv --quiet -o breaker.mat
tutti plot breaker.mat -v faulty.i,healthy.i --steps steps.csv --start 0.98 --stop 1.1 \
    --title "A fault, and a breaker that opens" -o breaker.svg
""")
E, R, L, C, T = 20, 1, 0.02, 0.005, 0.02
HEALTHY, FAULTY = (60, 0.3), (40, 0.2)  # R, L of the feeders
R_FAULT, PICKUP = 4, 3.042912331847515
LOOSE = ("--rtol", 1e-4)
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


def distance(run):
    """The largest error of currents and voltage, but for the time between the exact opening and that of the run, when
    one of both has cut the current already."""
    ends = sorted((opening(run), OPENING))
    rows = (run.time < ends[0] - 1e-9) | (run.time > ends[1] + 1e-9)
    return np.max(np.abs(np.column_stack([run[name][rows] for name in NAMES]) - exact(run.time[rows])))


def check(example, what, options, late, far, variant=None, published=""):
    run = example.run_system(*options, variant=variant)
    steps = sum(unit["do_steps"] for unit in run.stats["units"])
    example.figure(f"{what}: the breaker opens at", f"t = {opening(run):.7f} s ({steps} do-steps)",
                   abs(opening(run) - OPENING) <= late, f"{OPENING} +- {short(late)}", published)
    error = distance(run)
    example.figure(f"{what}: largest error of currents and voltage, kA and kV", f"{error:.1e}", error <= far,
                   f"<= {short(far)}")


def main():
    example = Example(__doc__, GALLERY)
    constant = ("--control", "fixed", "--step", 5e-4, "--events", "none")
    check(example, "jacobi, constant step 0.5 ms, events none", ("--coupling", "jacobi", *constant), 1e-3, 0.8,
          published="1.0830 s, constant step")
    check(example, "auto, tolerance 1e-4", LOOSE, 5e-5, 5e-2, published="1.0835 s, variable step; 1.08273 s in Dymola")
    check(example, "auto, tolerance 1e-6", ("--rtol", 1e-6), 1e-6, 1e-3)
    check(example, "relax, tolerance 1e-4", ("--coupling", "relax", *LOOSE), 5e-5, 5e-2)
    check(example, "protection of FMI 3.0 that returns early, tolerance 1e-4", LOOSE, 5e-5, 5e-2, "EarlyReturn.ssd")
    check(example, "... with events early", ("--events", "early", *LOOSE), 5e-5, 5e-2, "EarlyReturn.ssd")
    blind = opening(example.run_system("--events", "none", "--control", "embedded", *LOOSE))
    example.figure("auto, tolerance 1e-4, events none: error of the time", f"{abs(blind - OPENING):.1e}",
                   abs(blind - OPENING) >= 2e-5, "larger than where it is located: >= 2e-5")
    example.end()


if __name__ == "__main__":
    main()
