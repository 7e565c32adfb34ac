#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A race car that runs: its coupling with linear correction, one of its wheels alone, and its loads on two threads."""
import json
import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "race_car_init"))
from connect import inputs as wheel_inputs, of_chassis  # noqa: E402
from example import Example, Gallery, short  # noqa: E402
from segments import COUNTS, counts, extrapolated, solve_segments  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=27, stand_in=True, source="Andersson, 6.4.2, 7.4.3 and 9.3.4",
    shows="a chassis and four wheels that run, with linear correction; a wheel alone; two threads",
    caption="Height and angles of the chassis in a coupled run with linear correction, H = 0.005 s.",
    commands=r"""
tutti run build/examples/race_car_init/race_car_init.ssp --interface me --coupling jacobi --extrapolate 0 --correct linear --step 0.005 --stop 1 \
    --record 'chassis.p*' --record 'chassis.phi*' --quiet -o car.csv
tutti plot car.csv -v 'chassis.p[3]' -v 'chassis.phi*' --title "A race car" -o race_car.svg
""")
STOP, H, SEGMENTS = 1, 0.005, 200
BODY = [f"chassis.{name}[{i}]" for name in ("p", "phi") for i in (1, 2, 3)]
NUMBER = 3  # the right front wheel
START, TAU = (0, 0, -0.29), 0.05
PUBLISHED = {  # Table 7.4: steps, right-hand sides, Jacobians, failed error tests
    "restart": (3500, 6670, 199, 323),
    "proceed": (5278, 8843, 105, 844),
    "correct-1": (3043, 5048, 59, 384),
    "correct-2": (1598, 2970, 195, 70),
}
LOADS = {"chassis": 0.31, "left_front": 0.16, "left_back": 0.16, "right_front": 0.16, "right_back": 0.16}  # Table 9.7
OVERHEAD = 0.05


def run_car(example, *options):
    path = example.build / "examples" / "race_car_init" / "race_car_init.ssp"
    return example.run_file(path, "--interface", "me", "--stop", STOP, "--record", "chassis.*", *options)


def check_coupling(example, reference, times):
    """Section 6.4.2, figure 6.21."""
    exact, errors = reference.at(times, BODY), {}
    size = np.ptp(exact, axis=0)
    for h in (H, H / 2, H / 4):
        run = run_car(example, "--coupling", "jacobi", "--extrapolate", 0, "--correct", "linear", "--step", h)
        errors[h] = float(np.max(np.abs(run.at(times, BODY) - exact) / size))
    orders = [np.log2(errors[h] / errors[h / 2]) for h in (H, H / 2)]
    example.figure("linear correction, constant inputs, H = 0.005: largest error of position and angles, in parts of their range", f"{errors[H]:.1e}",
                   errors[H] < 0.1, "< 10%", "stable (a plot)")
    path = example.build / "examples" / "race_car_init" / "race_car_init.ssp"
    command = [example.build / "tutti", "run", path, "--interface", "me", "--stop", STOP, "--coupling", "jacobi", "--extrapolate", 0, "--step", H, "--quiet",
               "-o", example.file("unstable.csv")]
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, check=False)
    told = ended.returncode == 1 and "in one communication step" in ended.stderr
    example.figure("without correction, H = 0.005", "refused: no end of a step" if told else f"status {ended.returncode}", told, "refused, with a message",
                   "stable (a plot)")
    example.figure("linear correction: order of the error, from H = 0.005 to 0.00125", ", ".join(f"{order:.2f}" for order in orders), 0.8 < min(orders) and max(orders) < 1.3, "about 1")


def wheel(x, u):
    """s' = (contact.T (contact.r - r) - s) / tau."""
    at = dict(zip(wheel_inputs(), u))
    arm = np.array([at[f"contact.r_0[{i}]"] - at[f"hubFrame.r_0[{i}]"] for i in (1, 2, 3)])
    turn = np.array([[at[f"contact.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
    return (turn @ arm - x) / TAU


def check_wheel(example, reference):
    """Section 7.4.3: the right front wheel alone, with inputs of the whole car, held in 200 segments."""
    starts = np.linspace(0, STOP, SEGMENTS + 1)
    values = reference.at(starts[:-1], [f"chassis.{of_chassis(name, NUMBER)}" for name in wheel_inputs()])
    inputs = example.input("wheel.csv", extrapolated(starts, values, 0 * values, [f'"{name}"' for name in wheel_inputs()]))
    exact = solve_segments(wheel, START, starts, values, 0 * values)
    for tolerance in (1e-6, 1e-8):
        steps = {}
        for predictor, published in PUBLISHED.items():
            run = example.run(example.build / "examples" / "race_car_init" / "Wheel_fmi3.fmu", "--solver", "bdf", "--predictor", predictor, "--rtol", tolerance,
                              "--atol", tolerance, "--input", inputs, "--stop", STOP, "--step", H, "--record", "s*")
            unit = run.unit
            steps[predictor] = unit["solver_steps"]
            error = np.max(np.abs(run.at(starts, [f"s[{i}]" for i in (1, 2, 3)]) - exact))
            counted = counts(steps[predictor], unit["rhs_evaluations"], unit["jacobian_evaluations"], unit["solver_error_failures"], steps["restart"])
            least = min(steps.values())
            ok = error < 1000 * tolerance and (predictor in ("restart", "proceed") or steps[predictor] == least)
            example.figure(f"wheel, tolerance {short(tolerance)}, {predictor}: {COUNTS}", f"{counted}, {error:.1e}", ok,
                           f"error <= {short(1000 * tolerance)}" + ("" if predictor in ("restart", "proceed") else ", no more steps than those before"),
                           counts(*published, PUBLISHED["restart"][0]) if tolerance == 1e-6 else "")
    example.figure("wheel, tolerance 1e-8: steps of proceed against restart", f"{steps['proceed'] / steps['restart']:.2f}", steps["proceed"] > steps["restart"], "> 1")


def check_threads(example):
    """Section 9.3.4: loads of Table 9.7 on two threads. Where units are and what they compute depends on no clock; seconds are for bench/bench_ranks.py."""
    path = example.build / "examples" / "race_car_init" / "race_car_init.ssp"
    costs = example.file("loads.json")
    run = run_car(example, "--step", H, "--coupling", "strong")
    stats = dict(run.stats)
    stats["units"] = [{**unit, "seconds": LOADS[unit["name"]]} for unit in stats["units"]]
    costs.write_text(json.dumps(stats), encoding="utf-8")
    told = json.loads(example.call(example.build / "tutti", "analyze", path, "--ranks", 2, "--costs", costs, "--json"))
    shares = [rank["share"] for rank in told["placement"]["ranks"]]
    saved = 1 - (OVERHEAD + max(shares) * sum(LOADS.values()))
    example.figure("two threads, loads 0.31 + 4 x 0.16: shares of both, and what can be saved of all time", f"{shares[0]:.3f}, {shares[1]:.3f}, {saved:.2f}",
                   abs(saved - 0.47) < 0.005, "the best there is: 0.47", "0.34 saved, measured")
    how = ("--coupling", "jacobi", "--extrapolate", 0, "--correct", "linear", "--step", H)
    one, two = run_car(example, *how), run_car(example, *how, "--threads", 2, "--costs", costs)
    loads = [sum(LOADS[unit["name"]] for unit in two.stats["units"] if unit["rank"] == rank) for rank in (0, 1)]
    ratio = OVERHEAD + max(loads)
    example.figure("... a run on two threads: their loads, time in parts of that of one thread (speed-up)", f"{loads[0]:.2f}, {loads[1]:.2f}, {ratio:.2f} ({1 / ratio:.2f})",
                   ratio <= 0.66, "<= 0.66", "0.66 (1.52), measured")
    same = all(np.array_equal(values, two[name]) for name, values in one.columns.items())
    example.figure("... its rows", "those of one thread" if same else "others", same, "those of one thread, to the bit")


def main():
    example = Example(__doc__, GALLERY)
    times = np.linspace(0, STOP, SEGMENTS + 1)
    reference = run_car(example, "--coupling", "strong", "--rtol", 1e-9, "--atol", 1e-10, "--step", H)
    check_coupling(example, reference, times)
    check_wheel(example, reference)
    check_threads(example)
    example.end()


if __name__ == "__main__":
    main()
