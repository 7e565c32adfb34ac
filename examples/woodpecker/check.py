#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A toy woodpecker slides down a bar: three sets of equations, and events that jam and free the sleeve."""
import json
import pathlib
import sys

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", case=17, source="Andersson, 8.6.2 and A.1",
    shows="a hybrid model: events that change the equations",
    caption="Height of the sleeve, inclinations of sleeve and bird, and the hits of its beak: 2 in 0.16 s, 11 "
            "in a second, as published.",
    commands=r"""
tutti run build/examples/woodpecker/Woodpecker_fmi3.fmu --solver cvode --rtol 1e-6 --atol 1e-6 --step 0.0025 \
    --quiet -o bird.mat
tutti plot bird.mat -v z -v phiS,phiB -v hits --title "A woodpecker slides down a bar" -o woodpecker.svg
""")
M_S, M_B, J_S, J_B = 3.0e-4, 4.5e-3, 5.0e-9, 7.0e-7  # Table A.1
R_0, R_S, H_S, H_B = 2.5e-3, 3.1e-3, 5.8e-3, 2.0e-2
L_S, L_G, L_B, C_P, G = 1.0e-2, 1.5e-2, 2.01e-2, 5.6e-3, 9.81
START = (0, -0.1, -0.65, 0, 0, 0)  # z, phiS, phiB and their derivatives
FREE, LEFT, RIGHT = 1, 2, 3
NAMES = ["z", "phiS", "phiB"]
WORK = {  # right-hand sides per step, at least and at most; are there Jacobians?
    "cvode": (1, 2, True), "bdf": (1, 2, True), "dopri5": (6, 7, False), "radau5": (4, 8, True), "ida": (1, 4, True)}
HITS = {0.16: 2, 1.0: 11}  # published, by time
BAR = (L_S + L_G - L_B - R_0) / H_B  # the angle of the bird at the bar
TINY, SCAN = 1e-9, 2e-4  # seconds


def accelerations(x, mode):
    """zpp, phiSpp, phiBpp, lambda1, lambda2 of eq. A.1 - A.4 as they stand, with lambda2 in A.3a and the constraint
    A.3e differentiated."""
    matrix = np.eye(5)
    matrix[:3, :3] = [[M_S + M_B, M_B * L_S, M_B * L_G],
                      [M_B * L_S, J_S + M_B * L_S**2, M_B * L_S * L_G],
                      [M_B * L_G, M_B * L_S * L_G, J_B + M_B * L_G**2]]
    spring = C_P * (x[2] - x[1])
    right = [-(M_S + M_B) * G, spring - M_B * L_S * G, -spring - M_B * L_G * G, 0, 0]
    if mode != FREE:
        side = 1 if mode == LEFT else -1
        matrix[0, 4], matrix[1, 3], matrix[1, 4] = 1, side * H_S, R_S
        matrix[3], matrix[4] = [0, side * H_S, 0, 0, 0], [1, R_S, 0, 0, 0]
    return np.linalg.solve(matrix, right)


def block(x):
    """Eq. 8.16 and 8.17: the sleeve stops, the momentum is kept."""
    inertia = J_B + M_B * L_G**2
    speed = (M_B * L_G * x[3] + M_B * L_S * L_G * x[4] + inertia * x[5]) / inertia
    return np.array([x[0], x[1], x[2], 0, 0, speed])


def system(mode):
    """The matrix of (x, 1)' = matrix (x, 1): in each mode the equations are linear."""
    matrix = np.zeros((7, 7))
    matrix[:3, 3:6] = np.eye(3)
    matrix[3:6, 6] = accelerations(np.zeros(6), mode)[:3]
    for i in range(6):
        matrix[3:6, i] = accelerations(np.eye(6)[i], mode)[:3] - matrix[3:6, 6]
    return matrix


def after(x, mode, time):
    """The state after some time without events, exactly."""
    return (expm(time * system(mode)) @ [*x, 1])[:6]


def watched(x, mode):
    """What changes its sign at an event of this mode: the limits of the sleeve (8.11, 8.12), or the force that blocks
    it (8.13) and the distance from the bar (8.14)."""
    limit = (R_S - R_0) / H_S
    if mode == FREE:
        return np.array([x[1] - limit, x[1] + limit])
    return np.array([accelerations(x, mode)[3], x[2] - BAR])


def next_event(x, mode, most):
    """The time until the next change of sign and which it is, or None within the time `most`."""
    begin = TINY  # what has just happened does not happen again
    signs = np.sign(watched(after(x, mode, begin), mode))
    while begin < most:
        end = min(begin + SCAN, most)
        changed = np.flatnonzero(np.sign(watched(after(x, mode, end), mode)) != signs)
        if len(changed):
            value = lambda s, i: watched(after(x, mode, s), mode)[i]  # noqa: E731
            return min((brentq(value, begin, end, args=(i,), xtol=1e-16), i) for i in changed)
        begin = end
    return None


def follow(x, mode, which):
    """State and mode after an event: the thesis' handle_event. (A sleeve that it frees in LEFT while the bird goes on
    downwards is at its limit, and blocked again at once.)"""
    if mode == FREE and which == 0 and x[5] > 0:
        return block(x), RIGHT
    if mode == FREE and which == 1 and x[5] < 0:
        return block(x), LEFT
    if mode == RIGHT and which == 1 and x[5] > 0:
        return np.array([*x[:5], -x[5]]), RIGHT
    if which == 0 and ((mode == RIGHT and x[5] < 0) or (mode == LEFT and x[5] > 0)):
        return x, FREE
    return x, mode


def reference(times):
    """The states at the times, and when the bird hits the bar."""
    t, x, mode = 0.0, np.array(START, dtype=float), LEFT
    rows, hits = [], []
    while True:
        event = next_event(x, mode, times[-1] - t)
        until = t + event[0] if event else np.inf
        rows.extend(after(x, mode, s - t) for s in times if t <= s < until)
        if not event:
            return np.array(rows), np.array(hits)
        x = after(x, mode, event[0])
        if mode == RIGHT and event[1] == 1 and x[5] > 0:
            hits.append(until)
        t, (x, mode) = until, follow(x, mode, event[1])


def check_two_units(example, hits):
    """Sleeve and bird as FMUs of their own: force and acceleration between them depend on each other at once, and a jam hands momentum
    over. Outputs are unknowns of IDA, beside the states: a DAE."""
    units = [f"{name}={example.fmu(f'Woodpecker{name.capitalize()}_fmi3.fmu')}" for name in ("sleeve", "bird")]
    pairs = [f"sleeve.{name}=bird.{name}" for name in ("a", "phiS", "speed", "mode", "blocks")]
    pairs += [f"bird.{name}=sleeve.{name}" for name in ("N", "M", "phiBp")]
    system = (*units, *(word for pair in pairs for word in ("--connect", pair)), "--interface", "me")
    strong = ("--coupling", "strong", "--solver", "ida", "--step", 0.01)
    for stop, published in HITS.items():
        run = example.run_file(*system, *strong, "--rtol", 1e-6, "--atol", 1e-6, "--stop", stop)
        count = int(run["bird.hits"][-1])
        example.figure(f"hits in {stop} s, sleeve and bird as two components, strong, ida, tolerance 1e-6", count, count == published, f"{published}",
                       published)
    run = example.run_file(*system, *strong, "--rtol", 1e-9, "--atol", 1e-9, "--stop", 1)
    example.compare("times of the hits, two units, ida, tolerance 1e-9", run.time[1:][np.diff(run["bird.hits"]) > 0], hits, 1e-5)
    free = json.loads(example.call(example.build / "tutti", "analyze", *system, "--set", "sleeve.mode=1", "--json"))["rho"]
    example.figure("two components, free: rho(DL)", f"{free:.2f}", free > 1, "> 1: no explicit coupling is stable", "not tried")


def main():
    example = Example(__doc__, GALLERY)
    times = np.linspace(0, 1, 1001)
    exact, hits = reference(times)
    assert np.all(np.min(np.abs(hits[:, None] - times[None, :]), axis=1) > 1e-8)  # else a row may be on the other side
    for stop, published in HITS.items():
        for version in ("1me", "2", "3"):
            run = example.run(f"Woodpecker_fmi{version}.fmu", "--solver", "cvode", "--rtol", 1e-6, "--atol", 1e-6,
                              "--stop", stop, "--step", 0.01)
            count = int(run["hits"][-1])
            example.figure(f"hits in {stop} s, FMI {version}, cvode, tolerance 1e-6", count, count == published,
                           f"{published}", published if version == "3" else "")
        run = example.run("Woodpecker_fmi3.fmu", "--solver", "ida", "--rtol", 1e-6, "--atol", 1e-6, "--stop", stop, "--step", 0.01)
        count = int(run["hits"][-1])
        example.figure(f"hits in {stop} s, FMI 3, ida (x' - f = 0), tolerance 1e-6", count, count == published, f"{published}", published)
    for solver in ("cvode", "dopri5", "radau5", "bdf", "ida"):
        run = example.run("Woodpecker_fmi3.fmu", "--solver", solver, "--rtol", 1e-10, "--atol", 1e-12, "--stop", 1,
                          "--step", 0.01, "--output-step", 0.001)
        found = run.time[1:][np.diff(run["hits"]) > 0]
        example.compare(f"times of the hits, {solver}, tolerance 1e-10", found, hits, 1e-6)
        low, high, implicit = WORK[solver]
        each = run.unit["rhs_evaluations"] / run.unit["solver_steps"]
        example.figure(f"right-hand sides per step / Jacobians, {solver}", f"{each:.1f} / {run.unit['jacobian_evaluations']}",
                       low <= each <= high and (run.unit["jacobian_evaluations"] > 0) == implicit,
                       f"{low} to {high} / {'some' if implicit else 'none'}")
        positions = run.at(times, NAMES)
        example.compare(f"positions, {solver}, tolerance 1e-10", positions, exact[:, :3], 1e-5)
    check_two_units(example, hits)
    example.end()


if __name__ == "__main__":
    main()
