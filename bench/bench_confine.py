#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --confine strict costs: the steps of a chain of units in a worker, and the start of the worker.

    bench_confine.py BUILD

Runs with and without take turns, and the least of each counts: a machine that does something else makes both slower. The start is
processor time, of the worker and its supervisor together."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

UNITS, STEPS, ROUNDS = 20, 4000, 100
MOST_PERCENT, MOST_MS = 3, 5


def run(build, folder, confine, steps):
    """Seconds of the loop, and processor time of the whole run."""
    fmu = os.path.join(build, "fmus", "ChainMass_fmi2.fmu")
    files = [f"m{i}={fmu}" for i in range(UNITS)]
    wires = [f"--connect=m{a}.{y}=m{b}.{u}" for i in range(UNITS - 1)
             for a, y, b, u in ((i, "x", i + 1, "x_left"), (i, "v", i + 1, "v_left"), (i + 1, "F", i, "F_right"))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.path.join(build, "tutti"), "run", *files, *wires, "--coupling", "jacobi", "--control", "fixed", "--extrapolate",
                    "0", "--events", "none", "--step", "0.001", "--stop", repr(steps * 0.001), "--record", "none", "--processes", "1",
                    "--confine", confine, "--stats", "stats.json", "--quiet"], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(pathlib.Path(folder, "stats.json").read_text(encoding="utf-8"))["loop_seconds"], taken


def main():
    build = os.path.abspath(sys.argv[1])
    loops, starts = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for confine in ("none", "strict"):
                loops[confine] = min(loops.get(confine, 1e9), run(build, folder, confine, STEPS)[0])
                starts[confine] = min(starts.get(confine, 1e9), run(build, folder, confine, 1)[1])
    percent = 100 * (loops["strict"] / loops["none"] - 1)
    start = 1e3 * (starts["strict"] - starts["none"])
    print(f"confine     chain of {UNITS} units in a worker     none {loops['none']:7.3f} s        strict {loops['strict']:7.3f} s"
          f"        {percent:+.1f} %   (at most {MOST_PERCENT})   start {start:+.1f} ms (at most {MOST_MS})")
    return 0 if percent <= MOST_PERCENT and start <= MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main())
