#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A quarter car: error control needs fewer steps, the better the inputs are extrapolated."""
import json
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import equal_error  # noqa: E402
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=18, source="Andersson, 9.3.2",
    shows="error control by step doubling, with inputs held and extrapolated",
    caption="The car meets a step of 0.1 m. With inputs extrapolated (order 2) it takes 42 steps (published: 71); "
            "the lower panels show their sizes and errors.",
    commands=r"""
tutti run build/examples/quarter_car/quarter_car.ssp --coupling jacobi --control richardson --extrapolate 2 \
    --events none --rtol 1e-4 --atol 1e-4 --error-per step --step-log steps.csv --quiet -o car.mat
tutti plot car.mat -v chassis.x,wheel.x --steps steps.csv --title "A quarter car meets a step" \
    -o quarter_car.svg
""")
M_C, M_W, K_C, K_W, D_C, ROAD = 400, 40, 15000, 150000, 1000, 0.1
STOP, TOLERANCE, LIMIT = 1, 1e-4, 2e-4
PER_STEP = ("--rtol", TOLERANCE, "--atol", TOLERANCE, "--error-per", "step")  # as the thesis has it
NAMES = ("chassis.x", "chassis.v", "wheel.x", "wheel.v")
PUBLISHED = {0: (300, 4), 1: (92, 1), 2: (71, 5)}  # Table 9.4: steps, rejected ones, by order of extrapolation
MOST = {0: 365, 1: 80, 2: 45}  # steps
MOST_BY_HISTORY = {1: 85, 2: 60}


def car(_, x):
    """The whole car, eq. 9.11, with action = reaction."""
    xc, vc, xw, vw = x
    force = K_C * (xw - xc) + D_C * (vw - vc)
    return vc, force / M_C, vw, (K_W * (ROAD - xw) - force) / M_W


def errors(run):
    """The largest ones of heights and speeds."""
    exact = solve_ivp(car, (0, STOP), np.zeros(4), t_eval=run.time, method="DOP853", rtol=1e-12, atol=1e-12).y.T
    difference = np.max(np.abs(run.at(run.time, NAMES) - exact), axis=0)
    return max(difference[::2]), max(difference[1::2])


def check_order(example, extrapolation):
    """With fixed steps the error goes with H to the order of extrapolation + 1."""
    found = [errors(example.run_system("--coupling", "jacobi", "--control", "fixed", "--extrapolate", extrapolation,
                                       "--step", step))[0] for step in (0.002, 0.001)]
    order = np.log2(found[0] / found[1])
    example.figure(f"H = 1 ms, extrapolation {extrapolation}: error of the heights, order",
                   f"{found[1]:.1e}, {order:.2f}", order > 0.85 * (extrapolation + 1), f"about {extrapolation + 1}")


def check_control(example, extrapolation, variant, most, published=""):
    run = example.run_system("--coupling", "jacobi", "--control", "richardson", "--extrapolate", extrapolation,
                             "--events", "none", *PER_STEP, variant=variant)
    kind = "by history" if variant else "given"
    what = f"tolerance 1e-4, extrapolation {extrapolation}" + (f", derivatives {kind}" if extrapolation else "")
    steps, rejected = run.stats["steps"], run.stats["rejected"]
    example.figure(f"{what}: steps (rejected)", f"{steps} ({rejected})", steps <= most, f"<= {most}", published)
    height, speed = errors(run)
    example.figure(f"{what}: error of the heights in m, of the speeds in m/s", f"{height:.1e}, {speed:.1e}",
                   height <= LIMIT, f"<= {LIMIT:.0e} m", "a plot" if published else "")


def exact(rhs, start, times):
    return solve_ivp(rhs, (0, times[-1]), start, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12).y.T


def check_equal_error(example):
    """Fixed steps, as long as the heights allow it: what each coupling takes."""
    equal_error.compare(example, "heights, one step size", (example.ssp(),), lambda times: exact(car, np.zeros(4), times)[:, ::2], NAMES[::2],
                        STOP, 1e-3)
    run = example.run_system("--control", "fixed", "--coupling", "newton", "--step", 0.1)
    example.figure("newton, 10 steps: iterations and Jacobians", f"{run.stats['newton_iterations']}, {run.stats['step_jacobians']}",
                   run.stats["newton_iterations"] == 10 and run.stats["step_jacobians"] == 1, "10, 1: a linear system")


class Masses:
    """Those of README.md: `right` is joined to `left` by a spring k and a damper d."""

    NAMES = ("left.x", "right.x")

    def __init__(self, example, k, d, right):
        mass = example.fmu("ChainMass_fmi2.fmu")
        self.k, self.d, self.start = k, d, (0.1, 0, right, 0)
        self.system = (f"left={mass}", f"right={mass}", "--connect", "left.x=right.x_left", "--connect", "left.v=right.v_left", "--connect",
                       "right.F=left.F_right", "--set", "left.x=0.1", "--set", f"right.x={right}", "--set", f"right.k={k}", "--set",
                       f"right.d={d}")

    def slopes(self, _, x):
        left, right = 100 * x[0] + x[1], self.k * (x[2] - x[0]) + self.d * (x[3] - x[1])
        return x[1], right - left, x[3], -right

    def exact(self, times):
        return exact(self.slopes, self.start, times)[:, ::2]


def check_masses(example):
    masses = Masses(example, 100, 1, 0)
    equal_error.compare(example, "two masses of the README", masses.system, masses.exact, Masses.NAMES, 5, 1e-3)


def check_long_steps(example):
    """Where explicit couplings are not stable, Newton's method takes the step that accuracy allows. The car is no case of that: held inputs
    are stable in it at any step."""
    step = example.analyze("--interface", "me", "--step", 0.01)["step"]
    stable = step["jacobi"][0]["any_step"]
    example.figure("tutti analyze: steps at which jacobi is stable", "all up to the whole run" if stable else "not all", stable, "all",
                   "not tried")
    masses = Masses(example, 50000, 200, 0.1)  # that move together, slowly
    told = json.loads(example.call(example.build / "tutti", "analyze", *masses.system, "--interface", "me", "--step", 1e-4, "--json"))
    longest = told["step"]["jacobi"][0]["largest"]
    errors = []
    for coupling, h, order in (("jacobi", 2 * longest, 0), ("newton", 10 * longest, 1)):
        run = example.run_file(masses.system[0], *masses.system[1:], "--interface", "me", "--coupling", coupling, "--control", "fixed",
                               "--extrapolate", order, "--step", h, "--stop", 1, "--rtol", 1e-7)
        errors.append(np.max(np.abs(run.at(run.time, Masses.NAMES) - masses.exact(run.time))) / 0.1)
    example.figure("two masses, joined 500 times as stiffly: longest stable step of jacobi in us; relative errors of jacobi at twice, newton at "
                   "10 times that", f"{1e6 * longest:.0f}; {errors[0]:.2f}, {errors[1]:.1e}", errors[0] > 0.3 and errors[1] < 1e-3,
                   "> 0.3, < 1e-3", "not tried")


def main():
    example = Example(__doc__, GALLERY)
    for extrapolation in (0, 1):
        check_order(example, extrapolation)
    for extrapolation, (steps, rejected) in PUBLISHED.items():
        check_control(example, extrapolation, None, MOST[extrapolation], f"{steps} ({rejected})")
    for extrapolation in (1, 2):
        check_control(example, extrapolation, "History.ssd", MOST_BY_HISTORY[extrapolation])
    check_equal_error(example)
    check_masses(example)
    check_long_steps(example)
    example.same_bits("tolerance 1e-4, extrapolation 2", "--coupling", "jacobi", "--control", "richardson", "--extrapolate", 2,
                      "--events", "none", *PER_STEP, published="one process")
    example.end()


if __name__ == "__main__":
    main()
