#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Van der Pol's oscillator in two halves: every coupling stays near its limit cycle."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial import cKDTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=3, source="Awais, 6.3",
    shows="the same, where errors do not accumulate",
    caption="The limit cycle attracts: the cycle of `jacobi` is somewhat larger, that of `seidel` is not. H = "
            "0.3.",
    commands=r"""
for coupling in seidel jacobi; do
    tutti run build/examples/van_der_pol/van_der_pol.ssp --coupling $coupling --extrapolate 0 --step 0.3 \
        --quiet -o $coupling.mat
done
tutti plot seidel.mat jacobi.mat --xy fast.x,slow.y -v fast.x --title "Van der Pol's oscillator, H = 0.3" \
    -o van_der_pol.svg
""")
MU = 1.53
START, STOP = (2, 0), 90  # ours
NAMES = ("fast.x", "slow.y")
TIGHT = ("--rtol", 1e-10, "--atol", 1e-12, "--max-iterations", 50)  # what is left of an iteration must not count


def period(times, x):
    """The mean time between upward crossings of zero after t = 20."""
    up = np.nonzero((x[:-1] < 0) & (x[1:] >= 0) & (times[:-1] > 20))[0]
    crossings = times[up] - x[up] * (times[up + 1] - times[up]) / (x[up + 1] - x[up])
    return (crossings[-1] - crossings[0]) / (len(crossings) - 1)


class Reference:
    """The oscillator without any coupling: its limit cycle, amplitudes of x and y, and period."""

    def __init__(self):
        rhs = lambda t, z: (MU * (z[0] - z[0] ** 3 / 3 - z[1]), z[0] / MU)  # noqa: E731
        times = np.linspace(0, STOP, 90001)
        values = solve_ivp(rhs, (0, STOP), START, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T
        cycle = values[times > 60]
        self.cycle = cKDTree(cycle)
        self.amplitudes = np.max(np.abs(cycle), axis=0)
        self.period = period(times, values[:, 0])


class Result:
    """A run with step h, relative to the reference: amplitudes of x and y in the second and in the last third of the
    time, distances from the limit cycle there, period."""

    def __init__(self, example, reference, h, *options):
        times = np.linspace(0, STOP, round(STOP / h) + 1)
        values = example.run_system("--stop", STOP, "--step", h, *options).at(times, NAMES)
        parts = np.array_split(values, 3)[1:]
        self.second, self.last = (np.max(np.abs(part), axis=0) / reference.amplitudes for part in parts)
        self.distances = reference.cycle.query(np.concatenate(parts))[0]
        self.period = period(times, values[:, 0]) / reference.period


def check_explicit(example, reference, coupling, near, far):
    """Amplitudes have to stand, within `near` of those of the reference, and points to keep nearer than `far`."""
    result = Result(example, reference, 0.3, "--coupling", coupling, "--extrapolate", 0)
    steady = np.all(np.abs(result.last - result.second) <= 0.02)
    example.figure(f"{coupling}, H = 0.3: amplitudes of x / y in the last third of the time, relative to the reference",
                   f"{result.last[0]:.3f} / {result.last[1]:.3f}", steady and np.all(np.abs(result.last - 1) <= near),
                   f"1 within {near:g}, as in the second third", "bounded (a plot)")
    distance = np.median(result.distances)
    example.figure(f"{coupling}, H = 0.3: median distance from the limit cycle", f"{distance:.3f}", distance <= far,
                   f"<= {far:g}", "does not deviate much (a plot)")
    example.figure(f"{coupling}, H = 0.3: period, relative to the reference", f"{result.period:.3f}")


def check_relax(example, reference):
    """Order 2, seen at the period, and close at H = 0.5, also with the acceleration that is a quasi-Newton method."""
    errors = []
    for h in (0.5, 0.25, 0.125):
        result = Result(example, reference, h, "--coupling", "relax", *TIGHT)
        errors.append(abs(result.period - 1))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    example.figure("relax, H = 0.5, 0.25, 0.125: order, by the period", f"{orders[0]:.2f}, {orders[1]:.2f}",
                   np.all(np.abs(orders - 2) < 0.15), "2 within 0.15")
    for accelerate in ("none", "anderson"):
        result = Result(example, reference, 0.5, "--coupling", "relax", "--accelerate", accelerate)
        distance = np.max(result.distances)
        example.figure(f"relax, accelerate {accelerate}, H = 0.5: largest distance from the limit cycle",
                       f"{distance:.3f}", distance <= 0.05, "<= 0.05", "close (a plot)")
        example.figure(f"relax, accelerate {accelerate}, H = 0.5: period, relative to the reference",
                       f"{result.period:.3f}", abs(result.period - 1) <= 0.02, "1 within 0.02")


def check_newton(example, reference):
    """The semi-implicit method at H = 0.5: with all of the step, and GMRES as published."""
    for way in ("kept", "krylov"):
        result = Result(example, reference, 0.5, "--coupling", "newton", "--newton", way)
        distance = np.max(result.distances)
        example.figure(f"newton, {way}, H = 0.5: largest distance from the limit cycle", f"{distance:.3f}", distance <= 0.05,
                       "<= 0.05", "close (a plot)")
        example.figure(f"newton, {way}, H = 0.5: period, relative to the reference", f"{result.period:.3f}",
                       abs(result.period - 1) <= 0.02, "1 within 0.02")


def main():
    example = Example(__doc__, GALLERY)
    reference = Reference()
    check_explicit(example, reference, "jacobi", 0.2, 0.2)
    check_explicit(example, reference, "seidel", 0.02, 0.1)
    check_relax(example, reference)
    check_newton(example, reference)
    example.end()


if __name__ == "__main__":
    main()
