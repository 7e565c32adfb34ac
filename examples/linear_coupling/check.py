#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two linear systems with feed-through: the spectral radius of DL decides whether explicit coupling is stable."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery, short  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=12, source="Andersson, example 6.1.1",
    shows="when an explicit coupling is stable: rho(DL), extrapolation, correction",
    caption="rho(DL) = 1.41: the error of the coupling grows with every step, although both systems are stable. "
            "With `--correct` it does not.",
    commands=r"""
set_up="--set system1.d=2 --set system2.d=-1 --coupling jacobi --step 0.01 --stop 0.12 --quiet"
tutti run build/examples/linear_coupling/linear_coupling.ssp#Derivatives.ssd $set_up --extrapolate 1 \
    --correct -o corrected.mat
tutti run build/examples/linear_coupling/linear_coupling.ssp#Derivatives.ssd $set_up --extrapolate 0 \
    -o explicit.mat
tutti plot corrected.mat explicit.mat -v system1.y -v system2.y \
    --title "Two systems with feed-through, rho(DL) = 1.41" -o linear_coupling.svg
""")
B, C = np.diag([1, 3]), np.diag([1, -5])  # A = -I
L = np.array([[0, 1], [1, 0]])
X0 = np.ones(2)
STEP, STEPS = 0.001, 200
# d1, d2; the coupled equations are stable with all of them
CASES = ((0, 0), (0.1, 0.1), (0.1, -0.1), (0.17, 0.17), (0.25, -0.25), (0.5, 0.5), (0.5, -0.5), (0.9, 0.9), (0.9, -0.9),
         (3, 0), (1.1, -1.1), (2, -1), (-2, -1))
OUTPUTS = ("system1.y", "system2.y")
# what the last inputs, the newest first, count for that at the end of a step: polynomials through 1, 2, 3 points
WEIGHTS = {0: (1,), 1: (2, -1), 2: (3, -3, 1)}


def growth(d):
    """The largest real part of the eigenvalues of the coupled equations (eq. 6.5)."""
    return np.max(np.linalg.eigvals(-np.eye(2) + B @ L @ np.linalg.inv(np.eye(2) - np.diag(d) @ L) @ C).real)


def radius(d):
    """rho(DL), from eq. 6.28."""
    return np.sqrt(abs(d[0] * d[1]))


def companion(d, weights):
    """The largest factor by which outputs grow with a step when H goes to 0, extrapolated by differences: the spectral
    radius of the matrix in eq. 6.40, and of its like for three points."""
    feed = np.diag(d) @ L
    size = 2 * len(weights)
    matrix = np.eye(size, k=-2)
    matrix[:2] = np.hstack([weight * feed for weight in weights])
    return np.max(np.abs(np.linalg.eigvals(matrix)))


class Method:
    """A way to couple. `given`: slopes come from the models, else from the inputs before. `published`: what the thesis
    says of pairs with which the method is unstable."""

    def __init__(self, name, source, order, given=False, correct=False, smooth=False, solve=False, published="unstable"):
        self.name, self.source, self.order, self.published = name, source, order, published
        self.given, self.correct, self.smooth, self.solve = given, correct, smooth, solve

    def factor(self, d):
        """The largest factor by which outputs grow with a step when H goes to 0: Table 6.1. With smoothing, eq. 6.71
        gives z^2 = 2 z lambda - lambda for it, with the eigenvalues lambda of DL: eq. 6.41, not Table 6.5."""
        if self.correct:
            return 0
        return radius(d) if self.given and not self.smooth else companion(d, WEIGHTS[self.order])

    def options(self):
        return ("--coupling", "jacobi", "--extrapolate", self.order, *(["--correct"] if self.correct else []),
                *(["solve", "--interface", "me", "--rtol", "1e-10"] if self.solve else []),
                *(["--smooth"] if self.smooth else []), "--step", STEP, "--stop", STEPS * STEP)

    def slopes(self, h, u, inputs, derivatives):
        """First and second derivatives of the inputs from u on. inputs: those before, the newest first."""
        if self.given:
            return derivatives, np.zeros(2)
        degree = min(self.order, len(inputs))
        first = (u - inputs[0]) / h if degree > 0 else np.zeros(2)
        second = (u - 2 * inputs[0] + inputs[1]) / h ** 2 if degree > 1 else np.zeros(2)
        return first + second * h / 2, second

    def outputs(self, d):
        """The outputs at communication points; both systems are solved exactly (eq. 6.14, 6.38, 6.44, 6.64, 6.77)."""
        h, feed, decay = STEP, np.diag(d), np.exp(-STEP)
        loop = np.linalg.inv(np.eye(2) - feed @ L)
        integrals = np.array([1 - decay, h - (1 - decay), h ** 2 - 2 * (h - (1 - decay))])  # of exp(s - h) s^k
        x, inputs = X0, []
        rows = [loop @ C @ X0]
        u, first, second = L @ rows[0], np.zeros(2), np.zeros(2)
        if self.solve and self.given:  # Model Exchange knows derivatives at the start
            first = L @ loop @ C @ (B @ u - X0)
        for _ in range(STEPS):
            x = decay * x + B @ (integrals[0] * u + integrals[1] * first + integrals[2] / 2 * second)
            end, slope = u + h * first + h ** 2 / 2 * second, first + h * second
            y, dy = C @ x + feed @ end, C @ (B @ end - x) + feed @ slope
            if self.solve:
                y = loop @ C @ x
                dy = loop @ C @ (B @ L @ y - x)
            elif self.correct:
                y, dy = loop @ (y - feed @ end), loop @ (dy - feed @ slope)
            rows.append(y)
            inputs.insert(0, u)
            u = L @ y
            first, second = self.slopes(h, u, inputs, L @ dy)
            if self.smooth:
                u, first = end, (u + h * first - end) / h
        return np.array(rows)


METHODS = (
    Method("constant extrapolation", "SystemStructure.ssd", 0),
    Method("linear extrapolation by differences", "Differences.ssd", 1),
    Method("linear extrapolation by derivatives", "Derivatives.ssd", 1, given=True),
    Method("quadratic extrapolation by differences", "Differences.ssd", 2, published="a plot, of eq. 6.30"),
    Method("smoothed linear extrapolation by derivatives", "Derivatives.ssd", 1, given=True, smooth=True,
           published="stable if rho(DL) <= 1 (Table 6.5, see the README)"),
    Method("corrected constant extrapolation", "SystemStructure.ssd", 0, correct=True),
    Method("corrected linear extrapolation by differences", "Differences.ssd", 1, correct=True),
    Method("corrected linear extrapolation by derivatives", "Derivatives.ssd", 1, given=True, correct=True),
    Method("corrected quadratic extrapolation by differences", "Differences.ssd", 2, correct=True),
    Method("corrected and smoothed linear extrapolation by derivatives", "Derivatives.ssd", 1, given=True, correct=True,
           smooth=True),
    Method("outputs solved for, constant extrapolation", "Differences.ssd", 0, correct=True, solve=True),
    Method("outputs solved for, linear extrapolation by derivatives", "Differences.ssd", 1, given=True, correct=True,
           solve=True),
)


def setting(d):
    return "--set", f"system1.d={d[0]}", "--set", f"system2.d={d[1]}"


def check_table(example):
    """What `tutti analyze` foretells of all methods and pairs."""
    wrong, errors = 0, []
    for source in sorted({method.source for method in METHODS}):
        for d in CASES:
            table = example.analyze(*setting(d), variant=source)["stability"]
            for method in METHODS:
                if method.source != source:
                    continue
                entry = table[method.order]["correct" if method.correct else "smooth" if method.smooth else "jacobi"]
                wrong += entry["stable"] != (method.factor(d) <= 1)
                if not method.correct and radius(d) > 0:  # those of nilpotent matrices are badly conditioned
                    errors.append(abs(entry["radius"] - method.factor(d)))
    what = f"tutti analyze, {len(METHODS)} methods, {len(CASES)} pairs d1, d2"
    example.figure(f"{what}: wrong verdicts; largest error of a spectral radius", f"{wrong}; {max(errors):.1e}",
                   wrong == 0 and max(errors) <= 1e-6, "0; <= 1e-6", "Table 6.1, eq. 6.41")


def check_method(example, method):
    """All pairs: the outputs, and how large they become, relative to the first."""
    errors, stable, unstable = [], [], []
    within = 1e-5 if method.order == 2 else 1e-6 if method.solve else 1e-8  # what grows there begins as small as H^3, not far above rounding
    for d in CASES:
        run = example.run_system(*setting(d), *method.options(), variant=method.source)
        measured = np.column_stack([run[name] for name in OUTPUTS])
        exact = method.outputs(d)
        errors.append(np.max(np.abs(measured - exact) / np.max(np.abs(exact), axis=0)))
        size = np.max(np.abs(measured)) / np.max(np.abs(measured[0]))
        (stable if method.factor(d) <= 1 else unstable).append(size)
    example.figure(f"{method.name}: largest error of outputs against what the method makes of exact solutions",
                   f"{max(errors):.1e}", max(errors) <= within, f"<= {short(within)}")
    example.figure(f"{method.name}: largest output / first of {len(stable)} pairs d1, d2 with which it is stable",
                   f"{max(stable):.2g}", max(stable) < 10, "< 10", "stable")
    if unstable:
        example.figure(f"{method.name}: largest output / first of {len(unstable)} pairs d1, d2 with which it is not",
                       f"{min(unstable):.1e} to {max(unstable):.1e}", min(unstable) > 1e3, "> 1e3", method.published)


def check_first_step(example):
    """The output of system1 after one step of 0.01: as the last inputs leave it, and as solved for (eq. 6.7, 6.17)."""
    options = (*setting((0.5, 0.5)), "--coupling", "jacobi", "--extrapolate", 0, "--interface", "me", "--step", 0.01,
               "--stop", 0.01)
    plain, solved = (example.run_system(*options, *more, variant="Differences.ssd")
                     for more in ((), ("--correct", "solve")))
    x = np.exp(-0.01) * X0 + (1 - np.exp(-0.01)) * B @ L @ np.array([-2, -6])
    exact = np.linalg.solve(np.eye(2) - 0.5 * L, C @ x)[0]
    found = solved["system1.y"][-1]
    example.figure("d1 = d2 = 0.5, H = 0.01: y1 after one step, explicit and solved for; Newton iterations",
                   f"{plain['system1.y'][-1]:.3f}, {found:.3f}; {solved.stats['solve_iterations']}",
                   abs(found - exact) <= 1e-5 and abs(plain["system1.y"][-1] - exact) > 0.2
                   and solved.stats["solve_iterations"] == 1, f"{exact:.3f} solved for; 1", "inconsistent, consistent")


def main():
    example = Example(__doc__, GALLERY)
    assert all(growth(d) < 0 for d in CASES), "the equations themselves are not stable"
    error = max(abs(example.analyze(*setting(d))["rho"] - radius(d)) for d in CASES)
    example.figure(f"rho(DL) for {len(CASES)} pairs d1, d2: largest error", f"{error:.1e}", error <= 1e-6, "<= 1e-6",
                   "the root of abs(d1 d2)")
    check_table(example)
    check_first_step(example)
    for method in METHODS:
        check_method(example, method)
    example.end()


if __name__ == "__main__":
    main()
