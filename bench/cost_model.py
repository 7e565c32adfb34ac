#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a step on several ranks costs, by a model, and measured: cost_model.py BUILD > table.md

The model is that of docs/distributed.md (after Awais 2015, eq. 6.1 and 6.2). Its parameters come from small runs, each made to show one
of them: rings of 20 and 200 units on one rank, 2 units on 2 ranks, 2 ranks on one core, Binaries of two sizes, a run
with error control. The prediction is for rings of 100 and 1,000 units on 1 to 16 ranks, which are then measured. Prints tables
in Markdown; takes about two minutes."""
import dataclasses
import os
import pathlib
import statistics
import sys

from machine import Machine, cores

RANKS = (1, 2, 4, 8, 16)
COUNTS = (100, 1000)
BINARIES = (1000, 50000)  # bytes


@dataclasses.dataclass
class Parameters:
    """Of a fabric; seconds."""

    step: float  # s: of a rank, whatever its units
    work: float  # w: of a unit, with what goes in and out of it
    latency: float  # a: of an exchange with one neighbour
    byte: float  # b: of a byte in it
    crowd: float  # c: of an exchange if ranks share a core
    decision: float  # d: of error control, beyond its work: reductions


def steps_for(seconds):
    """So many that a run takes some hundredths of a second."""
    return max(100, min(10000, int(0.04 / seconds)))


def fit_work(machine):
    """s and w of eq. 6.1 from two rings on one rank."""
    small, large = 20, 200
    times = [machine.per_step("local", 1, machine.ring(n), steps=100000 // n, rounds=12) for n in (small, large)]
    work = (times[1] - times[0]) / (large - small)
    return max(times[0] - small * work, 0), work


def binary(machine, fabric, size):
    """Seconds of a step with two units, one of which sends the other so many bytes, on 2 ranks, less what they take on one."""
    through = machine.fmu("Feedthrough_fmi3.fmu")
    units = (f"a={through}", f"b={through}", "--connect", "a.binary_out=b.binary_in", "--set", f"a.binary_in={'5a' * size}")
    one = machine.per_step("local", 1, *units, steps=400, rounds=6)
    two = machine.per_step(fabric, 2, *units, "--place", "a=0", "--place", "b=1", steps=400, rounds=6)
    return two - one / 2


def on_one_core(machine, fabric):
    """A step of 2 units on 2 ranks that share a core."""
    before = os.sched_getaffinity(0)
    kept, machine.nodes = machine.nodes, None
    os.sched_setaffinity(0, {min(before)})
    try:
        return machine.per_step(fabric, 2, machine.ring(2), steps=500, rounds=6)
    finally:
        machine.end_nodes()
        machine.nodes = kept
        os.sched_setaffinity(0, before)


def controlled(machine, fabric, ranks):
    """A step of error control that may not change its size."""
    size = 1 / 1024
    run = (machine.ring(2), "--coupling", "jacobi", "--control", "embedded", "--step", size, "--h-min", size, "--h-max", size,
           "--stop", 0.5, "--extrapolate", "0", "--events", "none", "--record", "none")
    found = [machine.run(fabric, ranks, *run)[0] for _ in range(8)]
    return min(stats["loop_seconds"] / stats["steps"] for stats in found)


def measure(machine, fabric, step, work):
    latency = machine.per_step(fabric, 2, machine.ring(2), steps=500 if fabric == "tcp" else 4000, rounds=12) - step - work
    byte = (binary(machine, fabric, BINARIES[1]) - binary(machine, fabric, BINARIES[0])) / (BINARIES[1] - BINARIES[0])
    crowd = on_one_core(machine, fabric) / 2 - step - work
    decision = controlled(machine, fabric, 2) - controlled(machine, "local", 1) / 2 - latency
    return Parameters(step, work, *(max(value, 0) for value in (latency, byte, crowd, decision)))


def predict(p, count, ranks, processors):
    """Eq. 6.2, with ranks for FMUs: the slowest rank's work and its exchanges; cores that are shared are shared out."""
    if ranks == 1:
        return p.step + count * p.work
    units = -(-count // ranks)
    links = 1 if ranks == 2 else 2
    if ranks <= processors:
        return p.step + units * p.work + links * (p.latency + 24 * p.byte)
    return -(-ranks // processors) * (p.step + links * (p.crowd + 24 * p.byte)) + count * p.work / processors


def micro(seconds):
    return f"{1e6 * seconds:.2f}"


def main(build):
    ratios = []
    with Machine(pathlib.Path(build)) as machine:
        step, work = fit_work(machine)
        found = {fabric: measure(machine, fabric, step, work) for fabric in machine.fabrics}
        print(f"{cores()} cores; a rank's step s = {micro(step)} us, a unit's w = {1e9 * work:.0f} ns.\n")
        print("| | an exchange, a | a byte, b | an exchange on a shared core, c | a decision, d |\n|---|---|---|---|---|")
        for fabric, p in found.items():
            print(f"| `{fabric}` | {micro(p.latency)} us | {1e9 * p.byte:.2f} ns | {micro(p.crowd)} us | {micro(p.decision)} us |")
        for count in COUNTS:
            heads = " | ".join(f"{ranks} rank{'s' * (ranks > 1)}" for ranks in RANKS)
            print(f"\n| {count} units, us per step | {heads} |")
            print("|---|" + "---|" * len(RANKS))
            for fabric, p in found.items():
                cells = []
                for ranks in RANKS:
                    expected = predict(p, count, ranks, cores())
                    where = ("local", 1) if ranks == 1 else (fabric, ranks)
                    measured = machine.per_step(*where, machine.ring(count), steps=steps_for(expected), rounds=6)
                    ratios.append(expected / measured)
                    cells.append(f"{1e6 * expected:.1f} / {1e6 * measured:.1f}")
                print(f"| `{fabric}`: predicted / measured | " + " | ".join(cells) + " |", flush=True)
    worst = max(max(ratio, 1 / ratio) for ratio in ratios)
    print(f"\nPredicted over measured: median {statistics.median(ratios):.2f}, at worst {worst:.2f} times off.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
