#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a packed system costs (`tutti pack`), against the system itself: CPU seconds of long runs of both less those of short ones, which load the
same files; by turns, the least of each. Nothing is recorded.

    bench_packed.py BUILD
"""
import os
import subprocess
import sys
import tempfile

ROUNDS = 7
TIMES = {"quarter_car": (1, 1000), "four_rooms": (86400, 8640000)}  # simulated seconds: short and long


def cpu_seconds(command, file, stop):
    with subprocess.Popen([command, "run", file, "--stop", str(stop), "--record", "none", "--quiet"]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: tutti run {file} failed")
    return usage.ru_utime + usage.ru_stime


def main():
    build = sys.argv[1]
    command, good = os.path.join(build, "tutti"), True
    with tempfile.TemporaryDirectory() as folder:
        for name, stops in TIMES.items():
            system, packed = os.path.join(build, "examples", name, f"{name}.ssp"), os.path.join(folder, f"{name}.fmu")
            subprocess.run([command, "pack", system, "-o", packed, "--quiet"], check=True)
            least = {(file, stop): float("inf") for file in (system, packed) for stop in stops}
            for _ in range(ROUNDS):
                for file, stop in least:
                    least[file, stop] = min(least[file, stop], cpu_seconds(command, file, stop))
            plain, inside = (least[file, stops[1]] - least[file, stops[0]] for file in (system, packed))
            ratio = inside / plain
            good &= ratio <= 1.1
            print(f"packed      {name:<12} steps of a run                itself {1e3 * plain:7.1f} ms        packed {1e3 * inside:7.1f} ms"
                  f"        ratio {ratio:5.2f}   (at most 1.1)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
