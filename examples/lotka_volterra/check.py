#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Predator and prey: stepped one after the other they stay on their orbit, stepped at once they leave it."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import equal_error  # noqa: E402
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=2, source="Awais, 4.3.3",
    shows="couplings compared: all at once, one after the other, iterated",
    caption="With `jacobi` (all at once) every step leads outwards; with `seidel` (one after the other) they stay "
            "on the orbit. H = 0.5.",
    commands=r"""
for coupling in seidel jacobi; do
    tutti run build/examples/lotka_volterra/lotka_volterra.ssp --coupling $coupling --extrapolate 0 \
        --step 0.5 --stop 25 --quiet -o $coupling.mat
done
tutti plot seidel.mat jacobi.mat --xy prey.x,predator.y -v prey.x --title "Predator and prey, H = 0.5" \
    -o lotka_volterra.svg
""")
ALPHA, BETA, GAMMA, DELTA = 0.5, 0.7, 0.27, 0.6
START = (1.1, 5 / 7)  # ours: there x has its maximum of 1.1, as published
STOP = 100
NAMES = ("prey.x", "predator.y")
EXPLICIT = ("--extrapolate", 0, "--coupling")
TIGHT = ("--rtol", 1e-10, "--atol", 1e-12, "--max-iterations", 50)  # what is left of an iteration must not count


def reference(times):
    """x and y without any coupling."""
    rhs = lambda t, z: (z[0] * (ALPHA - BETA * z[1]), z[1] * (DELTA * z[0] - GAMMA))  # noqa: E731
    return solve_ivp(rhs, (0, times[-1]), START, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T


def orbit(z):
    """What the equations keep: constant on an orbit."""
    return DELTA * z[:, 0] - GAMMA * np.log(z[:, 0]) + BETA * z[:, 1] - ALPHA * np.log(z[:, 1])


def coupled(h, how):
    """The values at communication points, both equations solved exactly: the logarithm of x grows by the integral of
    alpha - beta y. Inputs are held (jacobi; seidel: x first), or lines between both ends of the step (relax)."""
    x, y = START
    rows = [(x, y)]
    for _ in range(round(STOP / h)):
        first, second = x, y
        for _ in range(40 if how == "relax" else 1):
            input_y = (y + second) / 2 if how == "relax" else y
            first = x * np.exp(h * (ALPHA - BETA * input_y))
            input_x = {"jacobi": x, "seidel": first, "relax": (x + first) / 2}[how]
            second = y * np.exp(h * (DELTA * input_x - GAMMA))
        x, y = first, second
        rows.append((x, y))
    return np.array(rows)


class Result:
    """A run with step h: values at communication points, and their distances from the reference."""

    def __init__(self, example, h, *options):
        self.times = np.linspace(0, STOP, round(STOP / h) + 1)
        self.run = example.run_system("--step", h, *options)
        self.values = self.run.at(self.times, NAMES)
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
    rough, fine = (Result(example, h, *EXPLICIT, "jacobi") for h in (0.5, 0.1))
    example.compare("jacobi, H = 0.5: from what held inputs make", rough.values, coupled(0.5, "jacobi"), 1e-6)
    first, last = rough.thirds(rough.drift)
    example.figure("jacobi, H = 0.5: median distance from the orbit, first and last third of the time",
                   f"{first:.2g}, {last:.2g}", last > 3 * first, "grows threefold", "the error grows (a plot)")
    example.figure("jacobi, H = 0.1 after 0.5: median error of x / y", f"{pair(fine.median())} after "
                   f"{pair(rough.median())}", np.all(fine.median() < rough.median() / 2), "less than half",
                   "smaller (a plot)")


def check_orbit(example, coupling, result):
    first, last = result.thirds(result.drift)
    example.figure(f"{coupling}, H = 0.5: median distance from the orbit, first and last third of the time",
                   f"{first:.2g}, {last:.2g}", last < 1.1 * first, "does not grow", "stays on it (a plot)")


def check_seidel(example):
    result = Result(example, 0.5, *EXPLICIT, "seidel")
    example.compare("seidel, H = 0.5: from what held inputs make", result.values, coupled(0.5, "seidel"), 1e-7)
    largest = np.max(result.exact, axis=0)
    for name, median, top, published in zip("xy", result.median(), largest, (0.015, 0.02)):
        example.figure(f"seidel, H = 0.5: median error of {name}, and in parts of the maximum",
                       f"{median:.4f}, {100 * median / top:.1f}%", median <= 0.02 * top, "<= 2%",
                       f"{published}, close to 1%")
    check_orbit(example, "seidel", result)


def check_relax(example):
    """Inputs that are lines between both ends of a step: order 2."""
    steps = (0.5, 0.25, 0.125)
    for sweeps in ("seidel", "jacobi"):
        errors = []
        for h in steps:
            result = Result(example, h, "--coupling", "relax", "--sweeps", sweeps, *TIGHT)
            example.compare(f"relax, sweeps {sweeps}, H = {h}: from what inputs as lines make", result.values,
                            coupled(h, "relax"), 1e-8)
            errors.append(np.max(result.errors))
        orders = np.log2(np.divide(errors[:-1], errors[1:]))
        example.figure(f"relax, sweeps {sweeps}: order in H, and largest errors",
                       f"{orders[0]:.2f}, {orders[1]:.2f}; {pair(errors)}",
                       np.all(np.abs(orders - 2) < 0.15), "2 within 0.15")
    for accelerate in ("none", "aitken", "anderson"):
        result = Result(example, 0.5, "--coupling", "relax", "--accelerate", accelerate)
        iterations = result.run.stats["iterations"] / (len(result.times) - 1)
        example.figure(f"relax, accelerate {accelerate}, H = 0.5: median error of x / y; iterations per step",
                       f"{pair(result.median())}; {iterations:.1f}",
                       np.all(result.median() <= 0.02 * np.max(result.exact, axis=0)), "<= 2% of the maximum",
                       "close (plots)")
    check_orbit(example, "relax", result)


def check_newton(example):
    """The equations of relax, solved otherwise: the same values; and each iteration doubles the digits."""
    for way in ("kept", "full", "broyden", "krylov"):
        result = Result(example, 0.5, "--coupling", "newton", "--newton", way, *TIGHT)
        example.compare(f"newton, {way}, H = 0.5: from what inputs as lines make", result.values, coupled(0.5, "relax"), 1e-8)
        result = Result(example, 0.5, "--coupling", "newton", "--newton", way)
        sweeps = result.run.stats["iterations"] / (len(result.times) - 1)
        example.figure(f"newton, {way}, H = 0.5: median error of x / y; sweeps per step; Jacobians",
                       f"{pair(result.median())}; {sweeps:.1f}; {result.run.stats['step_jacobians']}",
                       np.all(result.median() <= 0.02 * np.max(result.exact, axis=0)), "<= 2% of the maximum",
                       "close (plots)")
    iterations = [Result(example, 0.5, "--coupling", "newton", "--newton", "full", "--extrapolate", 0, "--rtol", rtol, "--atol",
                         rtol / 100).run.stats["newton_iterations"] / (STOP / 0.5) for rtol in (1e-3, 1e-6, 1e-12)]
    example.figure("newton, full, H = 0.5: iterations per step for residuals of 1e-3 / 1e-6 / 1e-12",
                   " / ".join(f"{number:.1f}" for number in iterations), np.all(np.diff(iterations) <= 1.3) and iterations[-1] <= 4.5,
                   "one more for twice the digits")
    for way, expected in (("full", 2), ("kept", 1)):
        errors = errors_of_iterates(example, way)
        order = np.log(errors[2] / errors[1]) / np.log(errors[1] / errors[0])
        example.figure(f"newton, {way}, a step of 1: distance from its solution after 0, 1, 2 iterations; order of the iteration",
                       f"{pair(errors)}; {order:.2f}", abs(order - 2) < 0.1 if expected == 2 else order < 1.5,
                       "2 within 0.1" if expected == 2 else "< 1.5", "not tried" if expected == 2 else "")


def errors_of_iterates(example, way):
    """One step, with larger and larger tolerances: what it ends with after 0, 1 and 2 iterations."""
    ends = {}
    for rtol in (1e-12, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5):
        run = example.run_system("--coupling", "newton", "--newton", way, "--control", "fixed", "--step", 1, "--stop", 1, "--rtol", rtol)
        ends[run.stats["newton_iterations"]] = np.array([run[name][-1] for name in NAMES])
    return [np.max(np.abs(ends[n] - ends[max(ends)])) for n in (0, 1, 2)]


def main():
    example = Example(__doc__, GALLERY)
    check_jacobi(example)
    check_seidel(example)
    check_relax(example)
    check_newton(example)
    equal_error.compare(example, "one step size, [0, 20]", (example.ssp(),), reference, NAMES, 20, 5e-3)
    example.end()


if __name__ == "__main__":
    main()
