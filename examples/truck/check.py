#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The driveline of a truck: constraints at 20 steps per period of the fastest motion do better than springs at 2000."""
import pathlib
import subprocess
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=25, source="Lacoursière, 10",
    shows="kinematic coupling of a driveline",
    caption="The truck accelerates at full torque, and the driveline oscillates. Five FMUs with torques as inputs "
            "are joined by constraints; "
            "20 steps per period of the fastest motion are enough.",
    commands=r"""
cd build/examples/truck
tutti run engine=Engine_fmi2.fmu clutch=Shaft_fmi2.fmu gearbox=Shaft_fmi2.fmu shaft=Shaft_fmi2.fmu trailer=Trailer_fmi2.fmu \
    $(python3 -B "$OLDPWD/examples/truck/parameters.py") --stop 1 --step 0.0005 --quiet -o "$OLDPWD/truck.csv" \
    --constrain 'engine.phi=clutch.phi1; engine.w=clutch.w1; engine.M,clutch.M1' \
    --constrain 'clutch.phi2=gearbox.phi1; clutch.w2=gearbox.w1; clutch.M2,gearbox.M1' \
    --constrain 'gearbox.phi2=shaft.phi1; gearbox.w2=shaft.w1; gearbox.M2,shaft.M1' \
    --constrain 'shaft.phi2=trailer.phi; shaft.w2=trailer.w; shaft.M2,trailer.M' --record '*.w*' --record '*.M*'
cd "$OLDPWD"
tutti plot truck.csv -v engine.w,gearbox.w1 -v shaft.w1,trailer.w -v clutch.M2,shaft.M2 --title "A truck accelerates" -o truck.svg
""")
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import parameters  # noqa: E402
from parameters import DRIVELINE, ENGINE, JOINTS, RATIO, SPEED, TARGET, TRAILER  # noqa: E402

STOP, STIFFER, DAMPING = 2, 30, 0.7  # couplings have so many times the frequency of the driveline
GRAVITY = 9.81
INERTIAS = np.array([sum(pair) for *_, pair in JOINTS])  # of what is rigidly joined: they turn as one
SPEEDS = ("engine.w", "gearbox.w1", "shaft.w1", "trailer.w")  # of these


def torque(part, twist, speed):
    beyond = max(abs(twist) - part["play"], 0)
    return np.copysign(part["k"] * (abs(twist) - beyond) + part["k_stiff"] * beyond, twist) + part["d"] * speed


def whole(_, y):
    """The truck in one piece: four inertias and the integral of the control."""
    phi, w, z = y[:4], y[4:8], y[8]
    wanted = ENGINE["k_p"] * (TARGET - w[0]) + ENGINE["k_i"] * z
    given = min(max(wanted, 0), ENGINE["M_max"])
    v, slope = w[3] * TRAILER["r"], TRAILER["slope"] * np.sin(2 * np.pi * phi[3] * TRAILER["r"] / TRAILER["wave"])
    force = TRAILER["m"] * GRAVITY * (np.sin(slope) + TRAILER["rolling"] * np.cos(slope) * np.tanh(v)) + TRAILER["drag"] * v * abs(v)
    moments = np.array([given, 0, 0, -force * TRAILER["r"]])
    for i, part in enumerate(DRIVELINE.values()):
        moment = torque(part, phi[i] - part["ratio"] * phi[i + 1], w[i] - part["ratio"] * w[i + 1])
        moments[i] -= moment
        moments[i + 1] += part["ratio"] * moment
    return [*w, *(moments / INERTIAS), TARGET - w[0] if wanted == given else 0]


def fastest():
    """The highest natural frequency, with the clutch beyond its play."""
    stiffness = np.zeros((4, 4))
    for i, part in enumerate(DRIVELINE.values()):
        twist = np.eye(4)[i] - part["ratio"] * np.eye(4)[i + 1]
        stiffness += part["k_stiff"] * np.outer(twist, twist)
    return np.sqrt(max(np.linalg.eigvals(stiffness / INERTIAS[:, None]).real))


class Truck:
    def __init__(self, example):
        self.example = example
        self.omega = fastest()
        start = [0] * 4 + [RATIO * SPEED, RATIO * SPEED, SPEED, SPEED, 0]
        self.reference = solve_ivp(whole, (0, STOP), start, method="LSODA", rtol=1e-10, atol=1e-10, max_step=1e-3,
                                   dense_output=True)
        self.range = np.ptp(self.reference.y[4:8], axis=1)

    def command(self, joints, per_period, *options):
        steps = round(STOP * self.omega * per_period / (2 * np.pi))
        fmus = {"engine": "Engine", **{name: "Shaft" for name in DRIVELINE}, "trailer": "Trailer"}
        first, *others = (f"{unit}={self.example.fmu(f'{fmu}_fmi2.fmu')}" for unit, fmu in fmus.items())
        return first, *others, *parameters.settings(), *joints, "--step", STOP / steps, "--stop", STOP, "--record", "*.w*", *options

    def constraints(self):
        return [word for left, right, _ in JOINTS for word in
                ("--constrain", f"{left[0]}={right[0]}; {left[1]}={right[1]}; {left[2]},{right[2]}")]

    def springs(self):
        words = []
        for left, right, (a, b) in JOINTS:
            reduced, unit = a * b / (a + b), right[0].partition(".")[0]
            stiffness = reduced * (STIFFER * self.omega) ** 2
            damping = 2 * DAMPING * np.sqrt(reduced * stiffness)
            words += ["--connect", f"{left[1]}={unit}.w_left", "--connect", f"{unit}.M_left={left[2]}", "--set",
                      f"{unit}.k_c={stiffness!r}", "--set", f"{unit}.d_c={damping!r}"]
        return words

    def run(self, joints, per_period, *options):
        run = self.example.run_file(*self.command(joints, per_period, *options))
        exact = self.reference.sol(run.time)[4:8]
        found = np.array([run[name] for name in SPEEDS])
        error = np.max(np.max(np.abs(found - exact), axis=1) / self.range) if np.all(np.isfinite(found)) else np.inf
        return sum(unit["do_steps"] for unit in run.units.values()), error, run

    def is_stable(self, per_period, coupling):
        """By its own words, or by what comes out."""
        words = self.command(self.springs(), per_period, "--coupling", coupling, "--extrapolate", "0")
        command = [self.example.build / "tutti", "run", *words, "--quiet", "-o", self.example.file("springs.csv")]
        ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        return ended.returncode == 0 and "without bound" not in ended.stderr


def percent(error):
    return f"{100 * error:.2g}%"


def main():
    example = Example(__doc__, GALLERY)
    truck = Truck(example)
    joined = {per: truck.run(truck.constraints(), per) for per in (10, 20, 40, 120)}
    example.figure("constraints, 10 / 20 / 120 steps per smallest period: largest error of a speed, of its range",
                   " / ".join(percent(joined[per][1]) for per in (10, 20, 120)), joined[10][1] < 0.01 and joined[20][1] < 0.0025,
                   "<= 1% / 0.25%", "stable / high accuracy / good")
    order = np.log2(joined[20][1] / joined[40][1])
    example.figure("... order", f"{order:.2f}", order > 1.8, "about 2")
    example.figure("... drift at 20, rad", f"{joined[20][2].stats['drift']['size']:.1e}", joined[20][2].stats["drift"]["size"] < 1e-5,
                   "<= 1e-5")
    stable = {per: truck.is_stable(per, "jacobi") for per in (200, 300, 350, 400)}
    example.figure("springs 30 times stiffer, jacobi: not stable at / stable at", f"{max(per for per in stable if not stable[per])} / "
                   f"{min(per for per in stable if stable[per])} steps per period", not stable[300] and stable[400],
                   "not at 300, but at 400", "more than 350 before stability")
    sprung = {per: truck.run(truck.springs(), per, "--coupling", "jacobi", "--extrapolate", "0") for per in (640, 2000)}
    example.figure("... 640 / 2000 steps per period: error", " / ".join(percent(sprung[per][1]) for per in (640, 2000)),
                   sprung[640][1] < 0.05, "<= 5%", "good from 640 on")
    example.figure("do-steps: constraints at 10 / springs at 2000, three times less accurate", f"{joined[10][0]} / {sprung[2000][0]}",
                   joined[10][1] * 3 < sprung[2000][1] and joined[10][0] * 50 < sprung[2000][0], "less than a fiftieth",
                   "four times fewer")
    example.end()


if __name__ == "__main__":
    main()
