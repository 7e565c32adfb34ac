#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Six controlled axes with 36 states and 98 event indicators: all solvers compared."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="solvers", case=29, stand_in=True, source="Andersson, 8.6.3",
    shows="a model with many event indicators, by every solver",
    caption="Angles of the six loads, which follow a reference from t = 0.1 to 1.6.",
    commands=r"""
tutti run build/examples/robot/Robot_fmi3.fmu --interface me --solver cvode --rtol 1e-6 --output-step 0.01 --record 'axis*.load' --quiet -o robot.csv
tutti plot robot.csv -v 'axis*.load' --title "Six axes" -o robot.svg
""")
RTOL, ATOL = 1e-4, 1e-6
PUBLISHED = {  # Table 8.1: steps, right-hand sides, Jacobians
    "cvode": "1904 / 4787 / 65", "dopri5": "4480 / 27602 / -", "switch": "2301 / 10526 / 179 (LSODAR)", "radau5": "397 / 7417 / 127",
    "rodas": "480 / 21325 / 480"}
SOLVERS = ("cvode", "adams", "switch", "dopri5", "dopri8", "dirk", "radau5", "rodas", "bdf", "ida")
MOST = 5000  # steps of any of them


def main():
    example = Example(__doc__, GALLERY)
    states = [f"axis{axis}.{name}" for axis in range(1, 7) for name in ("motor", "speed", "load", "load_speed", "integral", "current")]
    info = example.call(example.build / "tutti", "info", example.fmu("Robot_fmi3.fmu"))
    example.figure("states and event indicators", "36 and 98", "36, with 98 event indicators" in info, "36 and 98", "36 and 98")
    grid = np.linspace(0, 2, 201)
    reference = example.run("Robot_fmi3.fmu", "--solver", "radau5", "--rtol", 1e-11, "--atol", 1e-12, "--stop", 2).at(grid, states)
    other = example.run("Robot_fmi2.fmu", "--solver", "dopri8", "--rtol", 1e-11, "--atol", 1e-12, "--stop", 2).at(grid, states)
    size = np.ptp(reference, axis=0)
    example.compare("distance of two tight solutions (radau5, dopri8), in parts of each range", other / size, reference / size, 1e-5)
    events = set()
    for solver in SOLVERS:
        run = example.run("Robot_fmi3.fmu", "--solver", solver, "--rtol", RTOL, "--atol", ATOL, "--stop", 2)
        unit = run.unit
        counts = f"{unit['solver_steps']} / {unit['rhs_evaluations']} / {unit['jacobian_evaluations'] or '-'}"
        example.figure(f"{solver}: steps / right-hand sides / Jacobians", counts, unit["solver_steps"] < MOST, f"< {MOST} steps", PUBLISHED.get(solver, ""))
        example.compare(f"{solver}: error, in parts of each range", run.at(grid, states) / size, reference / size, 100 * RTOL)
        events.add(int(np.count_nonzero(np.diff(run.time) == 0)))
    example.figure("events", ", ".join(str(count) for count in sorted(events)), min(events) > 30 and max(events) - min(events) <= 6,
                   "more than 30, by all solvers alike, up to 6 that are grazed")
    example.end()


if __name__ == "__main__":
    main()
