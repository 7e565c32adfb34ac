# SPDX-License-Identifier: MIT
"""The coupled part of the example: both masses with linear extrapolation, as it is, with smoothing, with smoothing and
correction (section 6.4.1), against the recurrence of the method."""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

K1, K2, K3, C1, C2, C3 = 10, 25, 50, 1, 0.1, 2  # Table 7.1; both masses are 1
A = np.array([[0, 1, 0, 0], [-K1, -C1, 0, 0], [0, 0, 0, 1], [0, 0, -K3 - K2, -C3 - C2]])
B = np.array([[0, 0, 0, 0], [K2, C2, 0, 0], [0, 0, 0, 0], [0, 0, K2, C2]])
D = np.diag([0, 0, -1, -1])  # C = I; u and y are those of the left mass, then of the right one
L = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
I, ZERO = np.eye(4), np.zeros((4, 4))
SOLVE = np.linalg.inv(I - D @ L)
STEP, STOP = 0.085, 42.5
METHODS = {  # how the inputs are made
    "as it is": (),
    "smoothing": ("--smooth",),
    "smoothing and correction": ("--smooth", "--correct"),
}
VARIANTS = {"History.ssd": "by differences", None: "given"}  # where derivatives of outputs come from
STATES = ("left.x1", "left.v1", "right.x2", "right.v2")


def propagation(h, smooth, correct, differences):
    """The matrix of the method: (x, u, u', y) of one point from those of the last (as in eq. 6.42 and 6.77)."""
    motion = expm(h * np.block([[A, B, ZERO], [ZERO, ZERO, I], [ZERO, ZERO, ZERO]]))[:4]
    x = np.hstack([motion, ZERO])
    u, slope, old = (np.hstack([ZERO, I, h * I, ZERO]), np.hstack([ZERO, ZERO, I, ZERO]),
                     np.hstack([ZERO, ZERO, ZERO, I]))
    y = SOLVE @ x if correct else x + D @ u
    if differences:
        rate = (y - old) / h
    else:
        rate = A @ x + B @ u
        rate = SOLVE @ rate if correct else rate + D @ slope
    if smooth:
        return np.vstack([x, u, (L @ y + h * L @ rate - u) / h, y])
    return np.vstack([x, L @ y, L @ rate, y])


def radius(matrix):
    return np.max(np.abs(np.linalg.eigvals(matrix)))


def recurrence(matrix, start, steps):
    """From a consistent start, where nothing is known of u' yet: the first step is one of constant extrapolation."""
    y = SOLVE @ start
    point = np.concatenate([start, L @ y, np.zeros(4), y])
    rows = [start]
    for _ in range(steps):
        point = matrix @ point
        rows.append(point[:4])
    return np.array(rows)


def run(example, step, stop, options, variant):
    return example.run_system("--coupling", "jacobi", "--control", "fixed", "--extrapolate", 1, "--step", step,
                              "--stop", stop, *options, variant=variant)


def check_stability(example, start, method, variant, published):
    """At the step of the thesis."""
    options, how = METHODS[method], VARIANTS[variant]
    matrix = propagation(STEP, "--smooth" in options, "--correct" in options, variant is not None)
    rho = radius(matrix)
    result = run(example, STEP, STOP, options, variant)
    measured = result.at(result.time, STATES)
    expected = recurrence(matrix, start, len(result.time) - 1)
    scale = np.max(np.abs(expected))
    what = f"coupled, H = {STEP}, {method}, derivatives {how}"
    example.compare(f"{what}: distance from the recurrence, relative to the largest", measured / scale,
                    expected / scale, 1e-9 if rho <= 1 else 1e-7)
    grown = np.max(np.abs(measured[-20:])) / np.max(np.abs(start))
    ok = grown > 10 if rho > 1 else grown < 0.1
    example.figure(f"{what}: rho(Psi), size after {STOP} s against the first", f"{rho:.3f}, {grown:.1e}", ok,
                   "> 10" if rho > 1 else "< 0.1", published)


def check_order(example, equations, start, method, variant):
    """Figure 6.19: the error falls with H."""
    found = []
    for step in (0.02, 0.01, 0.005):
        result = run(example, step, 5, METHODS[method], variant)
        exact = solve_ivp(equations, (0, 5), start, t_eval=result.time, method="DOP853", rtol=1e-12, atol=1e-12).y.T
        found.append(np.max(np.abs(result.at(result.time, STATES) - exact)))
    orders = np.log2(np.array(found[:-1]) / found[1:])
    example.figure(f"coupled, {method}, derivatives {VARIANTS[variant]}: error with H = 0.005, order",
                   f"{found[-1]:.1e}, " + ", ".join(f"{order:.2f}" for order in orders), min(orders) > 1.7, "about 2",
                   "falls with H")


def check_coupled(example, equations, start):
    for variant in VARIANTS:
        for method in METHODS:
            check_stability(example, np.array(start), method, variant, "a plot" if variant else "")
            check_order(example, equations, start, method, variant)
