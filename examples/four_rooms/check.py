#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Heat in a building of four rooms: 9 FMUs with 33 states, coupled every minute or every five."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=21, source="Galtier",
    shows="9 FMUs: how far apart communication points may be",
    caption="Temperatures over a day, coupled every 300 s and every 60 s. The difference is some hundredths "
            "of a kelvin.",
    commands=r"""
tutti run build/examples/four_rooms/four_rooms.ssp --coupling jacobi --step 300 --output-step 900 --quiet \
    -o every_300_s.mat
tutti run build/examples/four_rooms/four_rooms.ssp --coupling jacobi --step 60 --output-step 900 --quiet \
    -o every_60_s.mat
tutti plot every_300_s.mat every_60_s.mat -v 'room?.T' --difference --title "Four rooms over a day" \
    -o four_rooms.svg
""")
STOP = 86400
ROOMS, LAYERS, PARTITION = 4, 5, 3
STATES = ROOMS * (1 + LAYERS) + (ROOMS - 1) * PARTITION
OUTER_AREA, INNER_AREA, CAPACITY = (60, 40, 40, 60), 30, 4e5
NAMES = [f"room{i + 1}.T" for i in range(ROOMS)]


def wall(depth, conductivity, capacity, layers, films):
    """Conductances of the layers, at both surfaces and in between, and the capacity of one, all per square metre."""
    between = conductivity / (depth / layers)
    left, right = (1 / (1 / film + 0.5 / between) for film in films)
    return np.array([left, *[between] * (layers - 1), right]), capacity * depth / layers


OUTER = wall(0.3, 0.6, 1.4e6, LAYERS, (8, 23))
INNER = wall(0.1, 0.5, 1.2e6, PARTITION, (8, 8))


def outdoor(t):
    return 8 + 6 * np.sin(2 * np.pi * (t - 32400) / 86400)


def gain(t, begin, power):
    return power * np.sin(np.pi * (t - begin) / 36000) ** 2 if begin < t < begin + 36000 else 0


def building(t, x):
    """The whole building. The states are a row per room: air, wall; then a row per wall between two rooms."""
    rooms = x[:ROOMS * (1 + LAYERS)].reshape(ROOMS, -1)
    walls = x[rooms.size:].reshape(ROOMS - 1, -1)
    heat = np.array([0.0, gain(t, 28800, 1500), gain(t, 36000, 1000), 0.0])
    slopes = np.zeros_like(rooms)
    for i, area in enumerate(OUTER_AREA):
        flow = -OUTER[0] * np.diff([*rooms[i], outdoor(t)])
        slopes[i, 1:] = -np.diff(flow) / OUTER[1]
        heat[i] -= area * flow[0]
    inner = np.zeros_like(walls)
    for i in range(ROOMS - 1):
        flow = -INNER[0] * np.diff([rooms[i, 0], *walls[i], rooms[i + 1, 0]])
        inner[i] = -np.diff(flow) / INNER[1]
        heat[i] -= INNER_AREA * flow[0]
        heat[i + 1] += INNER_AREA * flow[-1]
    slopes[:, 0] = heat / CAPACITY
    return np.concatenate([slopes.ravel(), inner.ravel()])


def exact(times):
    start = np.full(STATES, 12.0)
    solution = solve_ivp(building, (0, STOP), start, t_eval=times, method="DOP853", rtol=1e-10, atol=1e-10,
                         max_step=600)
    return solution.y.T[:, :ROOMS * (1 + LAYERS):1 + LAYERS]


def error(run):
    return np.max(np.abs(run.at(run.time, NAMES) - exact(run.time)))


def check_work(example):
    """What extrapolation costs (Galtier, Table 2): no do-steps, but the solvers have more to do where inputs move. Counted, not timed."""
    runs = [example.run_system("--interface", "me", "--coupling", "jacobi", "--control", "fixed", "--extrapolate", extrapolation, "--step", 300)
            for extrapolation in (0, 1)]
    steps, work = ([sum(unit[key] for unit in run.units.values()) for run in runs] for key in ("do_steps", "rhs_evaluations"))
    ratio = work[1] / work[0]
    example.figure("H = 300 s, solvers of Tutti: do-steps, right-hand sides, inputs held / extrapolation 1 (ratio of the latter)",
                   f"{steps[0]}, {work[0]} / {steps[1]}, {work[1]} ({ratio:.2f})", steps[0] == steps[1] and 1 < ratio < 2,
                   "as many do-steps, ratio of 1 to 2", "196.6 / 302.4, execution time (1.54)")


def main():
    example = Example(__doc__, GALLERY)
    found = {}
    for step, extrapolation in ((60, 0), (60, 1), (60, 2), (300, 0), (300, 1)):
        run = example.run_system("--coupling", "jacobi", "--control", "fixed", "--extrapolate", extrapolation,
                                 "--step", step)
        found[step, extrapolation] = error(run)
    what = "largest error of the temperatures in K"
    example.figure("FMUs", len(run.units), len(run.units) == 9, "9", "9")
    example.figure(f"H = 60 s: {what}", f"{found[60, 0]:.1e}", found[60, 0] <= 0.01, "<= 1e-2", "the same values")
    example.figure(f"H = 300 s: {what}", f"{found[300, 0]:.1e}", 3 * found[60, 0] < found[300, 0] <= 0.05,
                   "<= 5e-2, and more than 3 times that of 60 s", "slight inaccuracy")
    for step, extrapolation, published in ((60, 1, ""), (60, 2, ""), (300, 1, "a positive influence")):
        example.figure(f"H = {step} s, extrapolation {extrapolation}: {what}", f"{found[step, extrapolation]:.1e}",
                       found[step, extrapolation] <= found[step, extrapolation - 1] / 10,
                       f"a tenth of that of extrapolation {extrapolation - 1}", published)
    for step, extrapolation, published in ((60, 0, "threads, and nodes of a cluster"), (300, 1, "")):
        example.same_bits(f"H = {step} s, extrapolation {extrapolation}", "--coupling", "jacobi", "--control", "fixed",
                          "--extrapolate", extrapolation, "--step", step, published=published)
    check_work(example)
    example.end()


if __name__ == "__main__":
    main()
