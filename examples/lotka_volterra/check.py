#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Predator and prey: one step behind the other they stay on their orbit, side by side they leave it."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

ALPHA, BETA, GAMMA, DELTA = 0.5, 0.7, 0.27, 0.6
START = (1.1, 5 / 7)  # ours: there x has its maximum of 1.1, as published
STOP = 100
NAMES = ("prey.x", "predator.y")


def reference(times):
    """x and y without any coupling."""
    rhs = lambda t, z: (z[0] * (ALPHA - BETA * z[1]), z[1] * (DELTA * z[0] - GAMMA))  # noqa: E731
    return solve_ivp(rhs, (0, STOP), START, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T


def orbit(z):
    """What the equations keep: constant on an orbit."""
    return DELTA * z[:, 0] - GAMMA * np.log(z[:, 0]) + BETA * z[:, 1] - ALPHA * np.log(z[:, 1])


def explicit(h, seidel):
    """The values at communication points if inputs are held and both equations solved exactly."""
    x, y = START
    rows = [(x, y)]
    for _ in range(round(STOP / h)):
        new = x * np.exp(h * (ALPHA - BETA * y))
        x, y = new, y * np.exp(h * (DELTA * (new if seidel else x) - GAMMA))
        rows.append((x, y))
    return np.array(rows)


class Result:
    """A run with step h: values at communication points, and their distances from the reference."""

    def __init__(self, example, h, *options):
        self.times = np.linspace(0, STOP, round(STOP / h) + 1)
        self.values = example.run_system("--step", h, *options).at(self.times, NAMES)
        self.exact = reference(self.times)
        self.errors = np.abs(self.values - self.exact)
        self.drift = np.abs(orbit(self.values) - orbit(self.exact))

    def median(self):
        return np.median(self.errors, axis=0)

    def thirds(self, of):
        """The median of something in the first and in the last third of the time."""
        parts = np.array_split(of, 3)
        return np.median(parts[0]), np.median(parts[-1])


def pair(values):
    return " / ".join(f"{value:.2g}" for value in values)


def check_jacobi(example):
    rough, fine = (Result(example, h, "--coupling", "jacobi") for h in (0.5, 0.1))
    example.compare("jacobi, H = 0.5: from what held inputs make", rough.values, explicit(0.5, False), 1e-5)
    first, last = rough.thirds(rough.drift)
    example.figure("jacobi, H = 0.5: median distance from the orbit, first and last third of the time",
                   f"{first:.2g}, {last:.2g}", last > 3 * first, "grows threefold", "the error grows (a plot)")
    example.figure("jacobi, H = 0.1 after 0.5: median error of x / y", f"{pair(fine.median())} after "
                   f"{pair(rough.median())}", np.all(fine.median() < rough.median() / 2), "less than half",
                   "smaller (a plot)")


def main():
    example = Example(__doc__)
    check_jacobi(example)
    example.end()


if __name__ == "__main__":
    main()
