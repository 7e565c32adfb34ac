#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A substation with four feeders: a load flow as the start of a coupled run, with a loop for each feeder."""
import pathlib
import sys

import numpy as np
from scipy.optimize import root

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="start", case=23, source="Galtier",
    shows="several nonlinear loops, a load flow as the start of a run",
    caption="Four loops, one per feeder. Three are independent of each other; that of the regulator comes "
            "after them.",
    commands=r"""
tutti graph build/examples/load_flow/load_flow.ssp -o load_flow.svg
""")
GRID, GAIN = 1.02, 0.01
# per feeder: impedance of the line and power of the load of each bus, one bus after the other
FEEDERS = (
    (("1", 0.02 + 0.06j, 0.8 + 0.3j),),
    (("2", 0.05 + 0.1j, 0.6 + 0.45j),),
    (("3a", 0.03 + 0.05j, 0.5 + 0.1j), ("3b", 0.04 + 0.08j, 0.7 - 0.2j)),
    (("4", 0.06 + 0.12j, 0.9 + 0.35j),),
)
TOLERANCE = 1e-8


def admittances(feeder):
    """Of a feeder: bus 0 is where it begins."""
    matrix = np.zeros((len(feeder) + 1, len(feeder) + 1), dtype=complex)
    for i, (_, impedance, _) in enumerate(feeder):
        matrix[i:i + 2, i:i + 2] += np.array([[1, -1], [-1, 1]]) / impedance
    return matrix


def load_flow(feeder, slack):
    """Voltages of the buses and the power that the feeder takes: the power mismatch of every bus is zero."""
    matrix = admittances(feeder)
    power = np.array([load for _, _, load in feeder])

    def voltages(parts):
        return np.concatenate([[slack], parts[:len(feeder)] + 1j * parts[len(feeder):]])

    def mismatch(parts):
        v = voltages(parts)
        rest = (v * np.conj(matrix @ v))[1:] + power
        return np.concatenate([rest.real, rest.imag])

    found = root(mismatch, np.repeat([1.0, 0.0], len(feeder)), tol=1e-14)
    assert np.max(np.abs(mismatch(found.x))) < 1e-13, "the reference has no solution"
    v = voltages(found.x)
    return v[1:], v[0] * np.conj((matrix @ v)[0])


def reference(grid=GRID):
    """Values by name, as a phasor for names without their last letter."""
    values, taken = {"grid.v": grid}, []
    for number, feeder in enumerate(FEEDERS, 1):
        slack = grid
        if number == 4:
            slack = values["regulator.v"] = grid * (1 + GAIN * sum(power.real for power in taken))
        voltages, power = load_flow(feeder, slack)
        taken.append(power)
        for (name, _, load), v in zip(feeder, voltages):
            values[f"line{name}.v"], values[f"load{name}.i"] = v, np.conj(load / v)
        if number < 4:
            values[f"meter{number}"] = power
    return values


def phasor(run, name, row):
    parts = (f"{name}.p", f"{name}.q") if name.startswith("meter") else (f"{name}r", f"{name}i")
    return run[parts[0]][row] + 1j * run[parts[1]][row]


def distance(run, values, row):
    return [abs(phasor(run, name, row) - value) for name, value in values.items()]


def main():
    example = Example(__doc__, GALLERY)
    values = reference()
    loops = [loop["variables"] for loop in example.analyze()["loops"]]
    example.figure("loops, and their variables", f"{len(loops)}: {', '.join(str(len(loop)) for loop in loops)}",
                   sorted(len(loop) for loop in loops) == [8, 8, 8, 24], "three of 8, one of 24", "several")
    run = example.run_system()
    solved = (run.stats["init_loops"], run.stats["init_iterations"])
    example.figure("loops solved, and iterations of Newton's method in all", f"{solved[0]}, {solved[1]}",
                   solved[0] == 4 and solved[1] <= 24, "4, <= 24")
    example.compare("error of all voltages, currents and powers at the start", distance(run, values, 0),
                    np.zeros(len(values)), TOLERANCE, "the same as a load flow in Dymola")
    example.compare("... and after 1 s of coupled run", distance(run, values, -1), np.zeros(len(values)), TOLERANCE)
    sagging = ("--set", "grid.sag=0.1", "--coupling", "newton", "--control", "fixed", "--rtol", 1e-9, "--atol", 1e-11)
    run = example.run_system(*sagging)
    example.compare("the voltage sags by 10% in 1 s, newton: error at the end", distance(run, reference(0.9 * GRID), -1),
                    np.zeros(len(values)), TOLERANCE)
    feeders = [run.units[name]["do_steps"] for name in ("grid", "line1", "line4")]
    example.figure("... do-steps of the grid / of line 1 / of line 4, Jacobians", f"{feeders[0]} / {feeders[1]} / {feeders[2]}, "
                   f"{run.stats['step_jacobians']}", feeders[0] == run.stats["steps"] and min(feeders[1:]) > 2 * feeders[0],
                   "the grid steps once; each loop is solved by itself")
    example.same_bits("... its Jacobians spread over ranks", *sagging, published="distributed Jacobian")
    said = example.complaint("--set", "load4.p=5")
    named = said is not None and "load4." in said and "load1." not in said
    example.figure("a load beyond what line 4 can carry", said or "no complaint", named, "fails, names load4 only")
    example.end()


if __name__ == "__main__":
    main()
