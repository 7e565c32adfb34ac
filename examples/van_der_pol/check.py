#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Van der Pol's oscillator in two halves: every coupling stays near its limit cycle."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

MU = 1.53
START = (2, 0)  # ours
STOP = 90
NAMES = ("fast.x", "slow.y")


def reference(times):
    """x and y without any coupling."""
    rhs = lambda t, z: (MU * (z[0] - z[0] ** 3 / 3 - z[1]), z[0] / MU)  # noqa: E731
    return solve_ivp(rhs, (0, STOP), START, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T


class Result:
    """A run with step h: values at communication points, and what the reference has there."""

    def __init__(self, example, h, *options):
        self.times = np.linspace(0, STOP, round(STOP / h) + 1)
        self.values = example.run_system("--stop", STOP, "--step", h, *options).at(self.times, NAMES)
        self.exact = reference(self.times)

    def amplitudes(self):
        """The largest |x| and |y| of the second and the last third, relative to the reference."""
        largest = [np.max(np.abs(part), axis=0) for part in np.array_split(self.values, 3)[1:]]
        return np.array(largest) / np.max(np.abs(reference(np.linspace(0, STOP, 9001))), axis=0)


def check_explicit(example, coupling, near):
    """The amplitudes of x and y have to stand, within `near` of those of the reference."""
    second, last = Result(example, 0.3, "--coupling", coupling).amplitudes()
    ok = np.all(np.abs(last - 1) <= near) and np.all(np.abs(last - second) <= 0.03)
    example.figure(f"{coupling}, H = 0.3: amplitudes of x and y in the last third, relative to the reference",
                   f"{last[0]:.3f}, {last[1]:.3f}", ok, f"1 within {near:g}, and as in the second third",
                   "does not deviate much, does not grow (a plot)")


def main():
    example = Example(__doc__)
    check_explicit(example, "jacobi", 0.25)
    example.end()


if __name__ == "__main__":
    main()
