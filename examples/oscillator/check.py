#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two integrators in a ring: side by side they spiral out, one behind the other they do not."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example  # noqa: E402

STOP = 50
NAMES = ("first.y", "second.y")


class Result:
    """A run with step h: values at communication points, and the errors against cos and sin."""

    def __init__(self, example, h, *options):
        self.times = np.linspace(0, STOP, round(STOP / h) + 1)
        self.values = example.run_system("--step", h, *options).at(self.times, NAMES)
        self.errors = np.abs(self.values - np.column_stack([np.cos(self.times), np.sin(self.times)]))
        self.radius = np.hypot(*self.values.T)


def check_jacobi(example):
    """x' = x - H y, y' = y + H x: the radius grows by the root of 1 + H^2 with each step."""
    for h in (0.5, 0.1):
        result = Result(example, h, "--coupling", "jacobi")
        grown = np.sqrt(1 + h * h) ** np.arange(len(result.times))
        example.figure(f"jacobi, H = {h}: radius at the end", f"{result.radius[-1]:.4g}",
                       np.max(np.abs(result.radius / grown - 1)) < 1e-9, f"{grown[-1]:.4g}",
                       "unstable (a plot)" if h == 0.5 else "smaller (a plot)")


def main():
    example = Example(__doc__)
    check_jacobi(example)
    example.end()


if __name__ == "__main__":
    main()
