#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two integrators in a ring: stepped at once they spiral out, stepped one after the other they do not."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import equal_error  # noqa: E402
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=4, source="Awais, 6.3",
    shows="the same, with accumulating errors: formulas for growth and invariants",
    caption="Two integrators in a ring. `jacobi` spirals out with every step, `seidel` stays on an ellipse. H "
            "= 0.5.",
    commands=r"""
for coupling in seidel jacobi; do
    tutti run build/examples/oscillator/oscillator.ssp --coupling $coupling --extrapolate 0 --step 0.5 \
        --stop 10 --quiet -o $coupling.mat
done
tutti plot seidel.mat jacobi.mat --xy first.y,second.y -v first.y \
    --title "Two integrators in a ring, H = 0.5" -o oscillator.svg
""")
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
        result = Result(example, h, "--coupling", "jacobi", "--extrapolate", 0)
        grown = np.sqrt(1 + h * h) ** np.arange(len(result.times))
        example.figure(f"jacobi, H = {h}: radius at the end", f"{result.radius[-1]:.4g}",
                       np.max(np.abs(result.radius / grown - 1)) < 1e-9, f"{grown[-1]:.4g}",
                       "unstable (a plot)" if h == 0.5 else "smaller (a plot)")


def check_seidel(example):
    """x' = x - H y, y' = y + H x' keeps x^2 + y^2 - H x y: an ellipse."""
    for h in (0.5, 0.1):
        result = Result(example, h, "--coupling", "seidel", "--extrapolate", 0)
        x, y = result.values.T
        kept = x * x + y * y - h * x * y
        axis = 1 / np.sqrt(1 - h / 2)
        example.compare(f"seidel, H = {h}: x^2 + y^2 - H x y", kept, np.ones(len(kept)), 1e-9)
        example.figure(f"seidel, H = {h}: largest radius", f"{np.max(result.radius):.3f}",
                       np.max(result.radius) <= axis + 1e-9, f"<= {axis:.3f}, the ellipse's", "stable (a plot)")


def check_relax(example):
    """Inputs as lines between both ends of a step are the trapezoidal rule, which keeps the radius."""
    result = Result(example, 0.5, "--coupling", "relax", "--rtol", 1e-12, "--atol", 1e-12, "--max-iterations", 50)
    example.compare("relax, H = 0.5: radius", result.radius, np.ones(len(result.radius)), 1e-8)


def check_analysis(example):
    """Before any run: eq. 4.7 of the thesis says that stability depends on the system and on the method."""
    step = example.analyze("--step", 0.5)["step"]
    factors = [step[name][0]["radius"] for name in ("jacobi", "seidel", "relax")]
    longest = step["seidel"][0]["largest"]
    example.figure("tutti analyze, H = 0.5: factor of a step with jacobi, seidel, relax; longest stable step of seidel",
                   ", ".join(f"{factor:.3f}" for factor in factors) + f"; {longest:.3f}",
                   np.max(np.abs(np.array(factors) - [np.sqrt(1.25), 1, 1])) < 1e-9 and abs(longest - 2) < 1e-3,
                   "1.118, 1.000, 1.000; 2.000", "unstable, stable, stable (plots)")


def main():
    example = Example(__doc__, GALLERY)
    check_analysis(example)
    check_jacobi(example)
    check_seidel(example)
    check_relax(example)
    equal_error.compare(example, "one step size", (example.ssp(),), lambda t: np.column_stack([np.cos(t), np.sin(t)]), NAMES, 10, 1e-2)
    example.end()


if __name__ == "__main__":
    main()
