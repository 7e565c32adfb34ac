#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What recording costs: all outputs of 100 units at every step, in every format, against the same run with nothing recorded.

    bench_record.py BUILD

A chain of masses whose wall is not where it rests: all of them move, and no digit of their numbers rests. Runs alternate, the best of
each counts, by the time of the loop and by that of the whole command, which also writes what is left at its end.
"""
import os
import sys

from machine import PLAIN, Machine

UNITS, STEPS, ROUNDS, BOUND = 100, 20000, 7, 2.5
FORMATS = {"none": None, "csv": None, "mat": BOUND, "h5": BOUND}


def chain(fmu):
    """Masses in a row, each connected to its neighbours, as arguments of a run."""
    masses = [f"m{i}={fmu}" for i in range(UNITS)]
    wires = [f"--connect={wire}" for i in range(UNITS - 1)
             for wire in (f"m{i}.x=m{i + 1}.x_left", f"m{i}.v=m{i + 1}.v_left", f"m{i + 1}.F=m{i}.F_right")]
    master = PLAIN[:PLAIN.index("--record")]
    return [*masses, *wires, "--set", "m0.x_left=0.1", *master, "--step", 1 / 1024, "--stop", STEPS / 1024]


def main():
    good = True
    with Machine(sys.argv[1]) as machine:
        arguments = chain(machine.fmu("ChainMass_fmi2.fmu"))
        formats = [name for name in FORMATS if name != "h5" or (machine.build / "tutti_hdf5.so").exists()]
        loop, whole, size = ({name: float("inf") for name in formats} for _ in range(3))
        for _ in range(ROUNDS):
            for name in formats:
                result = machine.folder / f"result.{name}"
                recorded = ("--record", "none") if name == "none" else ("-o", result)
                stats, taken = machine.run("local", 1, *arguments, *recorded)
                loop[name], whole[name] = min(loop[name], stats["loop_seconds"]), min(whole[name], taken)
                if name != "none":
                    size[name] = os.path.getsize(result)
        for name in formats[1:]:
            ratio, bound = loop[name] / loop["none"], FORMATS[name]
            print(f"record      {UNITS} FMUs, all outputs as .{name:<4} {1e6 * loop['none'] / STEPS:7.1f} us per step without, "
                  f"{1e6 * loop[name] / STEPS:7.1f} us with   ratio {ratio:5.2f}   "
                  f"{f'(at most {bound:g})' if bound else '':13}   whole {whole[name] / whole['none']:5.2f}   "
                  f"{size[name] / 2**20:6.1f} MB")
            good &= bound is None or ratio <= bound
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
