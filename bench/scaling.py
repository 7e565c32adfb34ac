#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long cases take on so many ranks of each fabric: scaling.py BUILD > table.md

The examples quarter_car and four_rooms, whose units have next to no work, and eight units of 1 ms each. Prints a table in
Markdown, for docs/distributed.md: the time of the loop, the best of some runs."""
import pathlib
import sys

from machine import Machine

RANKS = (1, 2, 4, 8)
ROUNDS = 9


def cases(machine):
    """Name, what is run, and on how many ranks at most."""
    examples = machine.build / "examples"
    yield ("quarter_car (18): 2 units, error control, 42 steps", 2,
           (examples / "quarter_car" / "quarter_car.ssp", "--coupling", "jacobi", "--control", "richardson", "--extrapolate",
            "2", "--events", "none", "--rtol", "1e-4", "--atol", "1e-4"))
    yield ("four_rooms (21): 9 units, 1,440 steps of 60 s", 8,
           (examples / "four_rooms" / "four_rooms.ssp", "--coupling", "jacobi", "--control", "fixed", "--extrapolate", "0",
            "--step", "60"))
    worker = machine.fmu("Worker_fmi2.fmu")
    wires = [word for i in range(8) for word in ("--connect", f"w{i}.y=w{(i + 1) % 8}.u")]
    yield ("8 units of 1 ms each, 25 steps", 8,
           (*(f"w{i}={worker}" for i in range(8)), *wires, "--coupling", "jacobi", "--step", "0.04", "--stop", "1"))


def best(machine, fabric, ranks, arguments):
    return min(machine.run(fabric, ranks, *arguments, "--record", "none")[0]["loop_seconds"] for _ in range(ROUNDS))


def main(build):
    with Machine(pathlib.Path(build)) as machine:
        print("| ms for the loop | | " + " | ".join(f"{ranks} rank{'s' * (ranks > 1)}" for ranks in RANKS) + " |")
        print("|---|---|" + "---|" * len(RANKS))
        for name, most, arguments in cases(machine):
            one = best(machine, "local", 1, arguments)
            for fabric in machine.fabrics:
                cells = [f"{1e3 * one:.2f}"]
                for ranks in RANKS[1:]:
                    cells.append(f"{1e3 * best(machine, fabric, ranks, arguments):.2f}" if ranks <= most else "")
                print(f"| {name} | `{fabric}` | " + " | ".join(cells) + " |", flush=True)
                name = ""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
