#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A double pendulum, cut at its joint: explicit coupling is unstable, the linear correction stabilises it."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=13, source="Andersson, examples 6.2.1 and 6.2.2",
    shows="feed-through in both directions: unstable, and stable with the linear correction",
    caption="Cut at its joint: force and acceleration depend directly on each other. H = 0.01, linear "
            "extrapolation, with `--correct` and without.",
    commands=r"""
tutti run build/examples/double_pendulum/double_pendulum.ssp --coupling jacobi --step 0.01 --extrapolate 1 \
    --correct --quiet -o corrected.mat
tutti run build/examples/double_pendulum/double_pendulum.ssp --coupling jacobi --step 0.01 --extrapolate 1 \
    --stop 1.3 --quiet -o explicit.mat
tutti plot corrected.mat explicit.mat -v upper.alpha,lower.alpha -v lower.fy --stop 1.3 \
    --title "A double pendulum, cut at its joint" -o double_pendulum.svg
""")
M1, M2, L1, L2, DAMPER, G = 1, 1.5, 1, 1, 0.5, 9.81  # Table 6.2
START = (-1, 0, 0.3, 0)
STEPS, SHORTER = (0.01, 0.005, 0.0025), (0.01, 0.0025, 0.00125)
KINDS = ("constant", "linear")
NAMES = ("upper.alpha", "upper.omega", "lower.alpha", "lower.omega")
VARIANTS = {None: "directional derivatives", "Plain.ssd": "differences"}  # how D is found


def pendulum(_, x):
    """The whole pendulum, by Lagrange: not by the equations of its halves."""
    a1, w1, a2, w2 = x
    c, s = np.cos(a1 - a2), np.sin(a1 - a2)
    mass = [[(M1 + M2) * L1, M2 * L2 * c], [M2 * L1 * c, M2 * L2]]
    force = [-M2 * L2 * w2**2 * s - (M1 + M2) * G * np.sin(a1) - DAMPER * w1 / L1,
             M2 * L1 * w1**2 * s - M2 * G * np.sin(a2)]
    acceleration = np.linalg.solve(mass, force)
    return w1, acceleration[0], w2, acceleration[1]


def error(run):
    """The largest one of the angles."""
    stop = run.time[-1]
    exact = solve_ivp(pendulum, (0, stop), START, t_eval=run.time, method="DOP853", rtol=1e-12, atol=1e-12).y.T
    return np.max(np.abs(run.at(run.time, NAMES) - exact)[:, ::2])


def method(extrapolation, step):
    return ("--coupling", "jacobi", "--control", "fixed", "--extrapolate", extrapolation, "--step", step)


def couple(example, extrapolation, step, *options, variant=None):
    return example.run_system(*method(extrapolation, step), *options, variant=variant)


def largest_acceleration(example, extrapolation, step, stop):
    """A run whose signals leave the range of numbers ends, and says so."""
    options = (*method(extrapolation, step), "--stop", stop)
    if "is not finite" in (example.complaint(*options) or ""):
        return np.inf
    return np.max(np.abs(example.run_system(*options)["upper.ax"]))


def check_unstable(example, extrapolation):
    """What grows is the coupling, by a factor per step: shorter steps make it worse. Only while rho(DL) > 1, as in the
    first 0.2 s."""
    what = f"{KINDS[extrapolation]} extrapolation"
    sizes = [largest_acceleration(example, extrapolation, step, 0.2) for step in SHORTER]
    example.figure(f"{what}, H = {', '.join(map(str, SHORTER))}: largest acceleration in 0.2 s",
                   ", ".join(f"{size:.3g}" for size in sizes), sizes[0] < sizes[1] / 5 and sizes[2] > 1e4,
                   "grows, > 1e4", "unstable")
    if extrapolation == 1:
        size = largest_acceleration(example, extrapolation, 0.01, 5)
        example.figure(f"{what}, H = 0.01: largest acceleration", f"{size:.1e}", size > 1e4, "> 1e4", "unstable")


def check_corrected(example, extrapolation, variant, limit):
    found = [error(couple(example, extrapolation, step, "--correct", variant=variant)) for step in STEPS]
    orders = np.log2(np.array(found[:-1]) / found[1:])
    what = f"{KINDS[extrapolation]} extrapolation, corrected, D by {VARIANTS[variant]}"
    example.figure(f"{what}, H = 0.01: error of the angles",
                   f"{found[0]:.1e}", found[0] <= limit, f"<= {limit:.0e}", "stable")
    example.figure(f"{what}: order of the error",
                   ", ".join(f"{order:.2f}" for order in orders), min(orders) > 0.85 * (extrapolation + 1),
                   f"about {extrapolation + 1}", "falls with H")


def check_solved(example, extrapolation, limit):
    """Alg. 4: what both halves answer is linear in what they are told, so that Newton's method takes one iteration a step."""
    runs = [couple(example, extrapolation, step, "--correct", "solve", "--interface", "me", "--rtol", 1e-8) for step in STEPS]
    found = [error(run) for run in runs]
    orders = np.log2(np.array(found[:-1]) / found[1:])
    iterations = max(run.stats["solve_iterations"] / run.stats["steps"] for run in runs)
    what = f"{KINDS[extrapolation]} extrapolation, outputs solved for"
    example.figure(f"{what}, H = 0.01: error of the angles",
                   f"{found[0]:.1e}", found[0] <= limit, f"<= {limit:.0e}", "stable")
    example.figure(f"{what}: order of the error; Newton iterations per step",
                   ", ".join(f"{order:.2f}" for order in orders) + f"; {iterations:.1f}",
                   min(orders) > 0.85 * (extrapolation + 1) and 0.5 < iterations < 1.5,
                   f"about {extrapolation + 1}; about 1", "falls with H")


def check_newton(example):
    """The equations between both halves at the end of a step, solved as one with the step: inputs are lines between both ends of
    it. (That explicit coupling is not stable is no matter.)"""
    runs = [example.run_system("--coupling", "newton", "--control", "fixed", "--rtol", 1e-8, "--step", step) for step in STEPS]
    found = [error(run) for run in runs]
    orders = np.log2(np.array(found[:-1]) / found[1:])
    iterations = max(run.stats["newton_iterations"] / run.stats["steps"] for run in runs)
    example.figure("newton, H = 0.01: error of the angles; iterations per step", f"{found[0]:.1e}; {iterations:.1f}",
                   found[0] <= 0.05 and 0.5 < iterations < 6, "<= 5e-02; < 6", "stable with a correction")
    example.figure("newton: order of the error", ", ".join(f"{order:.2f}" for order in orders), min(orders) > 1.7, "about 2",
                   "falls with H with a correction")


def main():
    example = Example(__doc__, GALLERY)
    expected = np.sqrt(M2 / M1) * abs(np.sin(START[2] - START[0]))
    for variant, how in VARIANTS.items():
        found = example.analyze(variant=variant)["rho"]
        example.compare(f"rho(DL) at the start, D by {how}: {found:.3f}, error", found, expected, 1e-6)
    for extrapolation in (0, 1):
        check_unstable(example, extrapolation)
        for variant in VARIANTS:
            check_corrected(example, extrapolation, variant, (0.5, 0.05)[extrapolation])
        check_solved(example, extrapolation, (0.5, 0.05)[extrapolation])
    check_newton(example)
    example.end()


if __name__ == "__main__":
    main()
