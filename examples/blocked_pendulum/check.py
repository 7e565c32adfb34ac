#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A pendulum blocked by a wall: a state event at each hit, and a step event that enables the next one."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", case=28, source="Andersson, 8.3",
    shows="a state event and a step event in one model",
    caption="A pendulum between a wall at -3 pi/4 and its own upper turning point; it loses nothing at the wall.",
    commands=r"""
tutti run build/examples/blocked_pendulum/BlockedPendulum_fmi3.fmu --interface me --solver cvode --rtol 1e-8 --stop 10 --output-step 0.01 \
    --record theta --record omega --quiet -o pendulum.csv
tutti plot pendulum.csv -v theta -v omega --title "A blocked pendulum" -o blocked_pendulum.svg
""")
G, WALL, START, STOP = 9.81, -3 * np.pi / 4, 2.8, 10
SOLVERS = ("cvode", "adams", "switch", "dopri5", "dopri8", "dirk", "radau5", "rodas", "bdf", "ida")


def hits(e):
    """Times of the hits, and the energy after each."""
    def wall(_, x):
        return x[0] - WALL
    wall.terminal, wall.direction = True, -1
    t, x, found = 0.0, np.array([START, 0.0]), []
    while True:
        solution = solve_ivp(lambda _, x: (x[1], -G * np.sin(x[0])), (t, STOP), x, method="DOP853", rtol=1e-12, atol=1e-12, events=wall)
        if solution.status != 1:
            return np.array(found)
        t, x = solution.t[-1], solution.y[:, -1] * (1, -e)
        found.append((t, x[1] ** 2 / 2 - G * np.cos(WALL)))


def main():
    example = Example(__doc__, GALLERY)
    for e in (1, 0.95):
        exact = hits(e)
        for version, solvers in (("3", SOLVERS if e == 1 else ("cvode", "radau5")), ("2", ("cvode", "bdf")), ("1me", ("cvode", "dopri5"))):
            for solver in solvers:
                run = example.run(f"BlockedPendulum_fmi{version}.fmu", "--solver", solver, "--rtol", 1e-9, "--atol", 1e-9, "--set", f"e={e}",
                                  "--stop", STOP, "--step", 0.05)
                at = np.flatnonzero(np.diff(run["hits"]) > 0)  # the row before each hit; the row after it has the same time
                what = f"e = {e}, FMI {version[0]}.0, {solver}"
                shown = solver == "cvode" and version == "3" and e == 1
                example.figure(f"hits, {what}", len(at), len(at) == len(exact), f"{len(exact)}", "a plot" if shown else "")
                if len(at) != len(exact):
                    continue
                example.compare(f"error of their times, {what}", run.time[at + 1], exact[:, 0], 2e-6, "a plot" if shown else "")
                example.compare(f"error of the energy after each, {what}", run["energy"][at + 1], exact[:, 1], 2e-5)
                example.figure(f"step events, {what}", f"{int(run['step_events'][-1])}", len(exact) - 1 <= run["step_events"][-1] <= len(exact),
                               "one between two hits")
    example.end()


if __name__ == "__main__":
    main()
