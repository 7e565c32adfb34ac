#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every value of a recorded row belongs to the row's time and to the other values of the row: states, derivatives, outputs that others read and
outputs that no unit reads, inputs. Random linear systems (linear_systems.py) with error control are compared with their exact solutions: no
column errs by more than 10 times --rtol of its range, unless a warning reports it."""
import random

import linear_systems
import net

MOST = 10  # times rtol and range
# How systems are coupled, and which of them: loops, lines, chains.
WAYS = (
    ("auto", (), ("loop", "line", "chain")),
    ("two ranks", ("--threads", "2"), ("loop", "line", "chain")),
    ("richardson", ("--control", "richardson"), ("loop", "line", "chain")),
    ("Model Exchange", ("--interface", "me", "--coupling", "jacobi"), ("loop", "line", "chain")),
    ("relax", ("--coupling", "relax"), ("loop", "line")),
    ("newton", ("--coupling", "newton"), ("loop", "line", "chain")),
    ("strong", ("--interface", "me", "--coupling", "strong"), ("loop", "line", "chain")),
)
RADII = (0.1, 0.3, 0.5, 0.7, 0.95)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)


def case_of(seed):
    """The system of a seed, the way it is coupled, and its tolerance."""
    numbers = random.Random(f"rows {seed}")
    way, options, sorts = WAYS[seed % len(WAYS)]
    sort = sorts[seed // len(WAYS) % len(sorts)]
    radius = numbers.choice(RADII)
    system = linear_systems.LinearSystem(seed, net.FMUS, sort, radius, numbers.choice(("held", "moving", "mixed")), numbers.randint(2, 4))
    return system, way, options, numbers.choice(TOLERANCES[:3] if system.stop > 4 else TOLERANCES)


def run(seed, folder):
    system, way, options, rtol = case_of(seed)
    columns, _, said = system.run(net.TUTTI, folder, "--rtol", rtol, "--record", "*", *options)
    error, where = system.error(columns)
    if error <= MOST * rtol or said:
        return []
    return [f"{way}, {system.name}, --rtol {rtol:g}: {where} errs by {error / rtol:.3g} times rtol x range"]


if __name__ == "__main__":
    net.main(run, short=14, long=700)
