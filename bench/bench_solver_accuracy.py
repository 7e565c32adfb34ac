#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a tolerance means for one Model Exchange FMU: the error of a run against --rtol, solver by solver.

usage: bench_solver_accuracy.py [--build FOLDER] [--solvers cvode,bdf,...]

A row per model and solver: for --rtol 1e-2 to 1e-6 the largest error of any output over the run, as a multiple of tolerance and
range, and evaluations of the right-hand side. What is exact: dopri8 with --rtol 1e-12."""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOLERANCES = ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6")
TABLE = "time,u1\n0,0\n2,1\n3,-1\n6,0.5\n8,0.5\n10,-0.5\n"
MODELS = {
    "decay": ("Dahlquist_fmi2.fmu", "--stop", "10"),
    "Van der Pol": ("VanDerPol_fmi2.fmu", "--stop", "20"),
    "damped mass": ("ChainMass_fmi2.fmu", "--set", "x=0.1", "--stop", "5"),
    "excited oscillator": ("Cell_fmi2.fmu", "--set", "axz=2", "--set", "azx=-2", "--set", "g=0.5", "--set", "s=0.5", "--stop", "20"),
    "driven oscillator": ("Cell_fmi2.fmu", "--set", "g=0.5", "--stop", "10", "--input", "table.csv"),
    "undamped oscillator": ("Cell_fmi2.fmu", "--set", "axz=3", "--set", "azx=-3", "--set", "axx=0", "--set", "azz=0", "--stop", "20"),
}


def run(build, folder, words, tolerance, solver):
    """Outputs at points of one grid, and the statistics of the unit."""
    command = [build / "tutti", "run", build / "fmus" / words[0], *words[1:], "--interface", "me", "--solver", solver, "--rtol",
               tolerance, "--output-step", "0.05", "--quiet", "-o", "result.csv", "--stats", "stats.json"]
    subprocess.run([str(word) for word in command], check=True, cwd=folder, timeout=300)
    with open(folder / "result.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns = dict(zip(header, np.array(rows, dtype=float).T))
    del columns["time"]
    return columns, json.loads((folder / "stats.json").read_text(encoding="utf-8"))["units"][0]


def measure(build, folder, words, solver, exact):
    for tolerance in TOLERANCES:
        columns, unit = run(build, folder, words, tolerance, solver)
        error = max(np.max(np.abs(columns[name] - exact[name])) / np.ptp(exact[name]) for name in exact if np.ptp(exact[name]) > 0)
        yield f"{error / float(tolerance):.2g} ({unit['rhs_evaluations']})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--solvers", type=lambda text: text.split(","), default=["cvode", "bdf", "adams", "dopri5", "radau5"])
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print("| model | solver |", " | ".join(TOLERANCES), "|")
    print("|---" * (2 + len(TOLERANCES)) + "|")
    with tempfile.TemporaryDirectory(prefix="tutti-accuracy-") as name:
        folder = pathlib.Path(name)
        (folder / "table.csv").write_text(TABLE, encoding="utf-8")
        for model, words in MODELS.items():
            exact, _ = run(build, folder, words, "1e-12", "dopri8")
            for solver in arguments.solvers:
                print("|", model, "|", solver, "|", " | ".join(measure(build, folder, words, solver, exact)), "|", flush=True)


if __name__ == "__main__":
    main()
