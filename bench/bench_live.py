#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --live costs with one viewer: the steps of a chain of units whose rows are recorded.

    bench_live.py BUILD [ROUNDS]

Runs with and without take turns, and the least of each counts: a machine that does something else makes both slower. What it costs is the minimum and maximum
of every column and row (a hundredth of these steps, which take 2.6 us with 20 units and 60 columns), and the caches that the server's thread shares with the
run: measured 1.003 to 1.010, at real-time priority on two cores with other work."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

UNITS, STEPS, ROUNDS, MOST = 20, 40000, 60, 1.02


def watch(address, token):
    """All events, until the run has none."""
    connection = http.client.HTTPConnection(address)
    connection.request("GET", "/events", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    while answer.read1(65536):
        pass


def run(build, folder, live):
    """Seconds of the loop."""
    fmu = os.path.join(build, "fmus", "ChainMass_fmi2.fmu")
    files = [f"m{i}={fmu}" for i in range(UNITS)]
    wires = [f"--connect=m{a}.{y}=m{b}.{u}" for i in range(UNITS - 1)
             for a, y, b, u in ((i, "x", i + 1, "x_left"), (i, "v", i + 1, "v_left"), (i + 1, "F", i, "F_right"))]
    process = subprocess.Popen([os.path.join(build, "tutti"), "run", *files, *wires, "--coupling", "jacobi", "--control", "fixed", "--extrapolate", "0", "--events", "none",
                                "--step", "0.001", "--stop", repr(STEPS * 0.001), "-o", "r.h5", "--stats", "stats.json", "--quiet", *(["--live", "127.0.0.1:0"] if live else [])],
                               cwd=folder, stderr=subprocess.PIPE, text=True)
    if live:
        found = re.search(r"http://(\S+)/\?token=(\w+)", process.stderr.readline())
        threading.Thread(target=watch, args=(found[1], found[2]), daemon=True).start()
    process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "tutti run")
    return json.loads(pathlib.Path(folder, "stats.json").read_text(encoding="utf-8"))["loop_seconds"]


def main():
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for live in (False, True):
                least[live] = min(least.get(live, 1e9), run(build, folder, live))
    ratio = least[True] / least[False]
    print(f"live        chain of {UNITS} units, recorded          none {least[False]:7.3f} s        one viewer {least[True]:7.3f} s        {ratio:.3f}   (at most {MOST})")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
