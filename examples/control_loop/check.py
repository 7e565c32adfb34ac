#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A control loop with signals that jump: which couplings and step controls see it."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

# x4 is made of straight lines between these points: time events at full seconds, state events at |x4| = 2.5
CORNERS = np.array([(0, 0), (1, 0), (1 + 2.5 / 6, 2.5), (3, 2.5), (3 + 5 / 6, -2.5), (5, -2.5), (5 + 5 / 6, 2.5), (10, 2.5)])


def error(run):
    """The largest error of x4 at a recorded point."""
    return np.max(np.abs(run["integrator.x4"] - np.interp(run.time, *CORNERS.T)))


def main():
    example = Example(__doc__)
    for variant in (None, "Fmi3.ssd"):
        coarse, fine = (error(example.run_system("--coupling", "jacobi", "--step", step, variant=variant))
                        for step in (0.1, 0.001))
        example.figure(f"{variant or 'FMI 2.0'}: jacobi, constant step 0.1 s: largest error of x4", f"{coarse:.3g}",
                       0.5 <= coarse <= 2, "visibly wrong", "visibly wrong")
        example.figure(f"{variant or 'FMI 2.0'}: jacobi, constant step 0.001 s: largest error of x4", f"{fine:.3g}",
                       fine <= coarse / 50, "<= 1/50 of that")
    example.end()


if __name__ == "__main__":
    main()
