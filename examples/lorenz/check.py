#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The attractor of Lorenz in three FMUs: iterated couplings follow it at a step that explicit ones cannot take."""
import csv
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import equal_error  # noqa: E402
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=5, source="Awais, 5.2.5, 5.3.4 and 6.3",
    shows="a chaotic system; Newton's method between components",
    caption="Two wings, by `newton` with one communication step of 0.05; `jacobi` with steps of 0.01 leaves the attractor.",
    commands=r"""
tutti run build/examples/lorenz/lorenz.ssp --coupling newton --step 0.05 --output-step 0.05 --stop 15 --quiet -o newton.mat
tutti run build/examples/lorenz/lorenz.ssp --coupling jacobi --extrapolate 0 --step 0.01 --output-step 0.05 --stop 15 \
    --quiet -o jacobi.mat
tutti plot newton.mat jacobi.mat --xy x.x,z.z -v x.x --title "The attractor of Lorenz" -o lorenz.svg
""")
SIGMA, RHO, BETA = 10, 28, 8 / 3
START = (1, 1, 1)  # ours
NAMES = ("x.x", "y.y", "z.z")
H, STOP = 0.05, 2  # where chaos has not parted solutions yet
WAYS = ("kept", "full", "broyden", "krylov")


def reference(times):
    """x, y and z without any coupling."""
    rhs = lambda t, u: (SIGMA * (u[1] - u[0]), u[0] * (RHO - u[2]) - u[1], u[0] * u[1] - BETA * u[2])  # noqa: E731
    return solve_ivp(rhs, (0, times[-1]), START, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T


class Result:
    """A run with step h: values at communication points, how often each step was repeated."""

    def __init__(self, example, h, *options, stop=STOP):
        self.times = np.linspace(0, stop, round(stop / h) + 1)
        log = example.file("steps.csv")
        self.run = example.run_system("--step", h, "--stop", stop, *options, "--step-log", log)
        self.values = self.run.at(self.times, NAMES)
        with open(log, newline="", encoding="utf-8") as file:
            self.sweeps = [int(row["iterations"]) for row in csv.DictReader(file)]
        self.do_steps = sum(unit["do_steps"] for unit in self.run.units.values())

    def error(self):
        return np.max(np.abs(self.values - reference(self.times)))

    def histogram(self, published):
        """All of it for people; what is compared with a page must not depend on last digits."""
        if published:
            return f"median {np.median(self.sweeps):.0f}, at most {max(self.sweeps)}"
        return ", ".join(f"{np.sum(np.array(self.sweeps) == n)} with {n}" for n in sorted(set(self.sweeps)))


def check_explicit(example):
    for coupling, least in (("jacobi", 10), ("seidel", 1)):
        error = Result(example, 0.01, "--coupling", coupling, "--extrapolate", 0).error()
        example.figure(f"{coupling}, H = 0.01: largest error on [0, 2]", f"{error:.1f}", error > least, f"> {least}",
                       "not comparable" if coupling == "jacobi" else "")


def check_agreement(example):
    """The same equations, whatever solves them."""
    tight = ("--rtol", 1e-9, "--atol", 1e-11, "--max-iterations", 100)
    first = Result(example, H, "--coupling", "relax", *tight)
    for way in WAYS:
        result = Result(example, H, "--coupling", "newton", "--newton", way, *tight)
        example.compare(f"newton, {way}, H = 0.05: from relax, both to 1e-9", result.values, first.values, 1e-5,
                        {"krylov": "works (a plot)", "broyden": "does not solve after few steps"}.get(way, "comparable (a plot)"))
    errors = [Result(example, h, "--coupling", "newton", *tight).error() for h in (H / 4, H / 8, H / 16)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    example.figure("newton: order in H, and largest errors", f"{orders[0]:.2f}, {orders[1]:.2f}; "
                   + " / ".join(f"{error:.2g}" for error in errors), np.all(np.abs(orders - 2) < 0.2), "2 within 0.2")


def check_iterations(example):
    relax = Result(example, H, "--coupling", "relax", "--rtol", 1e-6, "--max-iterations", 50, stop=20)
    example.figure("relax, H = 0.05, to 1e-6: sweeps per step", relax.histogram(True), True, "", "a histogram, 6.10 (a)")
    example.figure("relax, H = 0.05, to 1e-6: steps by sweeps", relax.histogram(False))
    for way in WAYS:
        result = Result(example, H, "--coupling", "newton", "--newton", way, "--rtol", 1e-6, stop=20)
        stats = result.run.stats
        good = stats["rejected"] == 0 and stats["not_converged"] == 0
        if way == "full":
            good = good and stats["newton_iterations"] <= 3 * stats["steps"]
        example.figure(f"newton, {way}, H = 0.05, to 1e-6: sweeps per step", result.histogram(True), good, "all steps are solved")
        example.figure(f"newton, {way}, H = 0.05, to 1e-6: steps by sweeps", f"{result.histogram(False)}; "
                       f"{stats['newton_iterations']} iterations, {stats['step_jacobians']} Jacobians, {result.do_steps} do-steps")


def check_last(example):
    """The semi-implicit method: iterations repeat the last step of each solver only."""
    run = ("--coupling", "newton", "--interface", "me", "--rtol", 1e-6)
    for way in ("full", "krylov"):
        both = [Result(example, H, *run, "--newton", way, "--reevaluate", what, stop=20) for what in ("full", "last")]
        evaluations = [sum(unit["rhs_evaluations"] for unit in result.run.units.values()) for result in both]
        stats = both[1].run.stats
        example.figure(f"newton, {way}, --reevaluate last, H = 0.05, to 1e-6: sweeps per step", both[1].histogram(True),
                       stats["rejected"] == 0 and stats["not_converged"] == 0, "all steps are solved",
                       "a histogram, 6.10 (b)" if way == "krylov" else "")
        example.figure(f"newton, {way}: evaluations with --reevaluate last, as a part of those with full", f"{evaluations[1] / evaluations[0]:.1f}",
                       evaluations[1] < 0.8 * evaluations[0], "< 0.8", "may be less" if way == "krylov" else "")


def check_cubics(example):
    run = ("--coupling", "newton", "--interface", "me", "--extrapolate", 3, "--rtol", 1e-10, "--atol", 1e-12, "--max-iterations", 100)
    errors = [Result(example, h, *run).error() for h in (H / 2, H / 4, H / 8)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    example.figure("newton, inputs on cubics: order in H, and largest errors", f"{orders[0]:.2f}, {orders[1]:.2f}; "
                   + " / ".join(f"{error:.1g}" for error in errors), np.all(np.abs(orders - 4) < 0.4), "4 within 0.4")


def check_strong(example):
    """One solver for all three: no error of the coupling, at any step."""
    last = None
    for solver in ("bdf", "ida", "radau5"):
        result = Result(example, H, "--coupling", "strong", "--interface", "me", "--solver", solver, "--rtol", 1e-8)
        error = result.error()
        evaluations = sum(unit["rhs_evaluations"] for unit in result.run.units.values())
        example.figure(f"strong, {solver}, tolerance 1e-8, H = 0.05: largest error on [0, 2]", f"{error:.1e}", error <= 1e-3,
                       "<= 1e-3", "comparable (a plot)" if solver == "bdf" else "")
        example.figure(f"strong, {solver}: do-steps and evaluations", f"{result.do_steps} do-steps, {evaluations} evaluations")
        last = last or result
    finer = Result(example, H / 5, "--coupling", "strong", "--interface", "me", "--solver", "bdf", "--rtol", 1e-8)
    example.compare("strong, bdf, H = 0.01: from H = 0.05", finer.values[::5], last.values, 1e-11)


def check_attractor(example):
    """After chaos has parted them, mean and spread of z are what is left to compare."""
    times = np.linspace(0, 200, 4001)
    exact = reference(times)[times > 20, 2]
    for coupling in ("relax", "newton", "strong"):
        z = Result(example, H, "--coupling", coupling, *(("--interface", "me") if coupling == "strong" else ()), stop=200).values[times > 20, 2]
        example.figure(f"{coupling}, H = 0.05: mean and spread of z on [20, 200], relative to the reference",
                       f"{np.mean(z) / np.mean(exact):.2f}, {np.std(z) / np.std(exact):.2f}",
                       abs(np.mean(z) / np.mean(exact) - 1) < 0.06 and abs(np.std(z) / np.std(exact) - 1) < 0.12,
                       "1 within 0.06, 0.12")


def main():
    example = Example(__doc__, GALLERY)
    check_explicit(example)
    check_agreement(example)
    check_iterations(example)
    check_last(example)
    check_cubics(example)
    check_strong(example)
    check_attractor(example)
    equal_error.compare(example, "one step size, [0, 2]", (example.ssp(),), reference, NAMES, STOP, 0.1, first=32)
    example.end()


if __name__ == "__main__":
    main()
