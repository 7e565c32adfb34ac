#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A control loop with signals that jump: which couplings and step controls detect it."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", case=1, source="Nicolai, 2 to 4",
    shows="signals that jump: which couplings and step controls detect it",
    caption="`auto` rolls back and locates each jump. With fixed steps of 0.1 s and `jacobi`, the controller "
            "receives a jump one step late, and the integrator two: x4 is wrong.",
    commands=r"""
tutti run build/examples/control_loop/control_loop.ssp --rtol 1e-5 --atol 1e-5 --h-max 0.14 --quiet \
    -o auto.mat
tutti run build/examples/control_loop/control_loop.ssp --coupling jacobi --events none --step 0.1 --quiet \
    -o jacobi.mat
tutti plot auto.mat jacobi.mat -v 'signals.x*' -v controller.x3 -v integrator.x4 \
    --title "A control loop: events located, and constant steps of 0.1 s" -o control_loop.svg
""")
# x4 is made of straight lines between these points: time events at full seconds, state events at |x4| = 2.5
CORNERS = np.array([(0, 0), (1, 0), (1 + 2.5 / 6, 2.5), (3, 2.5), (3 + 5 / 6, -2.5), (5, -2.5), (5 + 5 / 6, 2.5),
                    (10, 2.5)])
TOLERANCE = ("--rtol", 1e-5, "--atol", 1e-5, "--error-per", "step")  # as the paper has it
BOUNDS = ("--h-max", 0.14, "--step", 0.1)
PAPER_ORDER = ("--order", "signals,controller,integrator")
EXPLICIT = ("fixed", "richardson", "slope", "embedded")
GROWTH = {"fixed": 1, "converge": 1.4, "diverge": 1.1}  # from the first step to the second; converge: 2, but for --h-max
CONTROLS = {"jacobi": EXPLICIT, "seidel": EXPLICIT, "relax": (*EXPLICIT, "converge", "diverge")}


def error(run):
    """The largest error of x4 at a recorded point."""
    return np.max(np.abs(run["integrator.x4"] - np.interp(run.time, *CORNERS.T)))


def do_steps(run):
    return sum(unit["do_steps"] for unit in run.stats["units"])


def told(run):
    return f"{do_steps(run)} do-steps ({do_steps(run) / 3:.0f} of each FMU), error of x4 {error(run):.1e}"


def try_constant_steps(example):
    """Nicolai 2019, figures 1 to 3 and the conclusions: constant steps."""
    coarse = {coupling: example.run_system("--coupling", coupling, "--events", "none", "--step", 0.1)
              for coupling in ("jacobi", "seidel")}
    jacobi, seidel = error(coarse["jacobi"]), error(coarse["seidel"])
    example.figure("constant step 0.1 s, jacobi, events none", told(coarse["jacobi"]), jacobi >= 0.1, "error >= 0.1",
                   "visibly wrong")
    example.figure("constant step 0.1 s, seidel, events none", told(coarse["seidel"]), 0.1 <= seidel <= jacobi / 2,
                   "error >= 0.1, at most half of Jacobi's", "wrong, but better than Jacobi")
    fine = example.run_system("--coupling", "seidel", "--events", "none", "--step", 1e-5, "--output-step", 0.001)
    example.figure("constant step 1e-5 s, seidel, events none", told(fine), error(fine) <= 1e-4, "error <= 1e-4",
                   "1e6 evaluations of each FMU")


def try_all(example):
    """Every coupling with every control; without and with the location of events."""
    for coupling, controls in CONTROLS.items():
        for control in controls:
            how = ("--coupling", coupling, "--control", control, *TOLERANCE)
            how += ("--step", 0.1) if control == "fixed" else BOUNDS
            without, located = (example.run_system(*how, "--events", events) for events in ("none", "output"))
            knows = coupling != "jacobi"  # there the controller hears of x4 a step late
            ok = not knows or (error(located) <= 1e-5 and located.stats["events_located"] == 9)
            example.figure(f"{coupling}, {control}: events none / output", f"{told(without)} / {told(located)}", ok,
                           "9 events located, error <= 1e-5" if knows else "",
                           "2639 evaluations of each FMU (adaptive iterative Gauss-Seidel)" if control == "converge" else "")


def try_growth(example):
    """Controls of an iteration that converges at once enlarge its steps, each by a factor of its own (Nicolai 2019 section 3.3; Awais 2015 eq. 5.22)."""
    for control, factor in GROWTH.items():
        bounds = ("--step", 0.1) if control == "fixed" else BOUNDS
        steps = example.step_log("--coupling", "relax", "--control", control, "--events", "none", *TOLERANCE, *bounds)
        growth = steps[1] / steps[0]
        example.figure(f"relax, {control}: second step against the first", f"{growth:.3g}", abs(growth - factor) <= 1e-6, f"{factor:g}")


def try_error_tests(example):
    """Nicolai 2019, section 4: signals that are not told to be discrete, so that only a test of the error can see them jump."""
    for control, published in (("richardson", "misses jumps"), ("slope", "finds them, error <= 1e-5"),
                               ("embedded", "not tried")):
        how = ("--coupling", "seidel", "--control", control, "--events", "none", *TOLERANCE, *BOUNDS, "--h-min", 1e-6)
        run = example.run_system(*how, variant="Plain.ssd")
        sees = control != "richardson"
        example.figure(f"signals declared continuous, seidel, {control}, h-min 1e-6", told(run),
                       error(run) <= 2e-5 if sees else error(run) >= 0.1,
                       "error <= 2e-5" if sees else "misses them: error >= 0.1", published)
    how = ("--coupling", "seidel", "--control", "slope", "--events", "none", *TOLERANCE, *BOUNDS, "--h-min", 1e-5)
    run = example.run_system(*how, *PAPER_ORDER, variant="Plain.ssd")
    example.figure("... slope, h-min 1e-5, in the order of the paper: controller before integrator", told(run),
                   error(run) <= 5e-5, "error <= 5e-5", "error <= 1e-5")


def try_auto(example):
    """What the command does by itself."""
    for variant, name in ((None, "FMI 2.0"), ("Fmi3.ssd", "FMI 3.0")):
        run = example.run_system(*TOLERANCE, "--h-max", 0.14, variant=variant)
        chosen = ", ".join(str(run.stats[what]) for what in ("coupling", "control", "events"))
        example.figure(f"auto ({chosen}), {name}", told(run), error(run) <= 1e-5 and do_steps(run) <= 1200,
                       "error <= 1e-5, at most 1200 do-steps", "2639 evaluations of each FMU, error <= 1e-5")
        at = np.flatnonzero(np.diff(run["controller.x3"])) + 1
        example.compare(f"... times at which x3 changes, {name}", run.time[at], CORNERS[1:-1, 0], 2e-6)


def main():
    example = Example(__doc__, GALLERY)
    try_constant_steps(example)
    try_all(example)
    try_growth(example)
    try_error_tests(example)
    try_auto(example)
    example.end()


if __name__ == "__main__":
    main()
