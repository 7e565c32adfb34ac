#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a tolerance means: random stable coupled systems (tests/system/random_systems.py) at several tolerances.

usage: bench_accuracy.py [--build FOLDER] [--systems N] [--first N] [--tolerances 1e-2,1e-3,...] [--jobs N] [--verbose]

A line per sort of systems: the largest error of any output over the run as a multiple of tolerance and range (median and worst),
the slope of the error against the tolerance, rejected steps, the estimated error over the true one, and the do-steps for the same
error as a part of those of --error-per step, which bounds errors of steps. Exit status 1 if an error is more than 10 times the
tolerance."""
import argparse
import collections
import pathlib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "system"))
from random_systems import SORTS, System, do_steps  # noqa: E402

MOST = 10
PER_STEP = ("1e-3", "1e-5")  # tolerances to compare with


def measure(system, exact, tutti, tolerance, *options):
    """The error as a part of the range, do-steps, and the statistics of a run."""
    with tempfile.TemporaryDirectory(prefix="tutti-accuracy-") as folder:
        columns, stats = system.run(tutti, pathlib.Path(folder), "--rtol", tolerance, *options)
    errors, ranges = system.errors(columns, exact)
    return max(errors / ranges), do_steps(stats), stats


def effort(errors, steps, error):
    """Do-steps for an error, on the line through the two nearest ones (logarithmic)."""
    order = np.argsort(errors)
    x, y = np.log(np.array(errors)[order]), np.log(np.array(steps)[order])
    k = min(max(np.searchsorted(x, np.log(error)), 1), len(x) - 1)
    return np.exp(y[k] + (np.log(error) - x[k]) * (y[k] - y[k - 1]) / (x[k] - x[k - 1]))


def study(seed, arguments):
    system = System(seed, arguments.build / "fmus")
    exact, tutti = system.exact(), arguments.build / "tutti"
    runs = [measure(system, exact, tutti, tolerance) for tolerance in arguments.tolerances]
    by_step = [measure(system, exact, tutti, tolerance, "--error-per", "step") for tolerance in PER_STEP]
    tolerances, errors = np.array(arguments.tolerances, dtype=float), np.array([run[0] for run in runs])
    found = {
        "sort": system.sort,
        "name": system.name,
        "ratios": errors / tolerances,
        "slope": np.polyfit(np.log(tolerances), np.log(errors), 1)[0],
        "rejected": max(run[2]["rejected"] / (run[2]["steps"] + run[2]["rejected"]) for run in runs),
        "estimates": [run[2]["estimated_error"]["share"] * t / e for run, t, e in zip(runs, tolerances, errors)
                      if run[2]["estimated_error"]],
        "effort": [effort(errors, [run[1] for run in runs], error) / steps for error, steps, _ in by_step],
    }
    if arguments.verbose:
        print(system.name, "ratios", *(f"{r:.2g}" for r in found["ratios"]), f"slope {found['slope']:.2f}",
              "do-steps", *(run[1] for run in runs), "effort", *(f"{e:.2g}" for e in found["effort"]), flush=True)
    return found


def show(sort, found):
    ratios = np.array([one["ratios"] for one in found])
    slopes = [one["slope"] for one in found]
    estimates = [e for one in found for e in one["estimates"]]
    cells = [sort, len(found), f"{np.median(ratios):.2g}", f"{np.max(ratios):.2g}", f"{np.median(slopes):.2f}",
             f"{min(slopes):.2f}", f"{100 * np.median([one['rejected'] for one in found]):.0f}%",
             f"{np.median(estimates):.2g}", f"{min(estimates):.2g}",
             *(f"{np.median([one['effort'][i] for one in found]):.2g}" for i in range(len(PER_STEP)))]
    print("|", " | ".join(str(cell) for cell in cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tolerances", type=lambda text: text.split(","), default=["1e-2", "1e-3", "1e-4", "1e-5", "1e-6"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    sorts = collections.defaultdict(list)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(lambda seed: study(seed, arguments),
                              range(arguments.first, arguments.first + arguments.systems)):
            sorts[found["sort"]].append(found)
    everything = [one for sort in SORTS for one in sorts[sort]]
    print("| systems | number | error / (rtol range), median | worst | slope, median | worst | rejected | estimate / error, "
          "median | worst | " + " | ".join(f"effort at the error of {t} per step" for t in PER_STEP) + " |")
    print("|---" * (9 + len(PER_STEP)) + "|")
    for sort in SORTS:
        if sorts[sort]:
            show(sort, sorts[sort])
    show("all", everything)
    sys.exit(int(max(np.max(one["ratios"]) for one in everything) > MOST))


if __name__ == "__main__":
    main()
