#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A bouncing ball: every event is located exactly, with every FMI version and solver."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery, short  # noqa: E402

GALLERY = Gallery(
    topic="events", source="the kit",
    shows="state events, found to the last digits",
    caption="Height and speed, with both sides of each jump in the result.",
    commands=r"""
tutti run build/fmus/BouncingBall_fmi3.fmu --solver cvode --rtol 1e-10 --atol 1e-12 --quiet -o ball.mat
tutti plot ball.mat -v h -v v --title "A bouncing ball" -o bouncing_ball.svg
""")
HEIGHT, GRAVITY, REST, SLOWEST = 1.0, 9.81, 0.7, 0.1  # as in kit/models/BouncingBall.c
VERSIONS = ("1me", "2", "3")
SOLVERS = ("cvode", "adams", "dopri5", "dopri8", "dirk", "radau5", "bdf", "rk4", "heun")
WITHIN = 1e-9  # relative


def bounces():
    """The exact times of all bounces until the ball rests."""
    times = [np.sqrt(2 * HEIGHT / GRAVITY)]
    speed = REST * GRAVITY * times[0]
    while speed >= SLOWEST:
        times.append(times[-1] + 2 * speed / GRAVITY)
        speed *= REST
    return np.array(times)


def main():
    example = Example(__doc__, GALLERY)
    exact = bounces()
    worst = 0
    for version in VERSIONS:
        for solver in SOLVERS:
            run = example.run(f"BouncingBall_fmi{version}.fmu", "--solver", solver, "--rtol", 1e-10, "--atol", 1e-12,
                              "--stop", 3, "--step", 0.1)
            found = run.time[1:][np.diff(run["bounces"]) > 0]
            what = f"event times, FMI {version}, {solver}"
            if len(found) != len(exact):
                example.figure(what, f"{len(found)} bounces", False, f"{len(exact)} bounces")
                continue
            error = example.compare(f"{what}, largest relative error", found / exact, np.ones_like(exact), WITHIN)
            worst = max(worst, error)
            example.compare(f"rest, FMI {version}, {solver}", [run["h"][-1], run["v"][-1]], [0, 0], 1e-12)
    example.figure(f"times of {len(exact)} bounces, {len(SOLVERS)} solvers, FMI 1.0, 2.0, 3.0: largest relative error",
                   f"{worst:.1e}", worst <= WITHIN, f"<= {short(WITHIN)}", "exact solution")
    example.end()


if __name__ == "__main__":
    main()
