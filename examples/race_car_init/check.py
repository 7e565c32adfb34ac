#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A chassis and four wheels with feed-through: 5 evaluations at the start instead of 25."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from connect import WHEELS, connections, of_chassis, outputs  # noqa: E402
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="start", case=11, stand_in=True, source="Andersson, 5.3.2 and A.4",
    shows="172 connections: each model is evaluated once at the start",
    caption="Each wheel's outputs depend on different inputs. Read one by one they take 25 evaluations, read together 5.",
    commands=r"""
tutti graph build/examples/race_car_init/race_car_init.ssp -o race_car_init.svg
""")
# start values and parameters of Chassis.c and Wheel.c
P, V, A = np.array([0, 0, 0.292]), np.array([29.8, 3, 0]), np.array([0.4, 1.5, 0])
PHI, W, Z = np.array([0.01, -0.008, 0.1]), np.array([0.02, -0.01, 0.05]), np.array([0.1, 0.2, -0.1])
SPIN = (99.9, 100.2, 100.1, 100.4)
ARMS = np.array([[1.6, 0.75, 0], [-1.3, 0.75, 0], [1.6, -0.75, 0], [-1.3, -0.75, 0]])
STEER, SLOPE = 0.02, np.array([0.01, -0.005])
RADIUS, MASS, INERTIA, INERTIA_SPIN, FRICTION = 0.3, 10, 0.6, 1, 0.5
CX, CY, KZ, DZ, KS = 3000, 4000, 180000, 5000, 20000
S = np.array([0, 0, -0.29])


def turn(axis, angle):
    """A rotation of the frame about one of its axes."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = s, -s
    return matrix


def hub(wheel):
    """What the chassis tells a wheel."""
    body = turn(0, PHI[0]) @ turn(1, PHI[1]) @ turn(2, PHI[2])
    steered = turn(2, STEER if ARMS[wheel][0] > 0 else 0) @ body
    r = P + body.T @ ARMS[wheel]
    return {"hubFrame.r_0": r, "hubFrame.v_0": V + body.T @ np.cross(W, ARMS[wheel]), "hubFrame.a_0": A,
            "hubFrame.R.T": steered, "hubFrame.R.w": W, "hubFrame.R.z": Z,
            "contact.r_0": np.array([*r[:2], SLOPE @ r[:2]]), "contact.T": turn(2, PHI[2]), "spinVelocity": SPIN[wheel]}


def forces(at):
    """What a wheel makes of it: f and t."""
    v, a = at["hubFrame.R.T"] @ at["hubFrame.v_0"], at["hubFrame.R.T"] @ at["hubFrame.a_0"]
    w, z, spin, r = at["hubFrame.R.w"], at["hubFrame.R.z"], at["spinVelocity"], at["hubFrame.r_0"]
    slip = RADIUS * spin - v[0]
    compression = RADIUS + SLOPE @ r[:2] - r[2]
    f = np.array([CX * slip, -CY * v[1], KZ * compression - DZ * v[2]]) - MASS * a + KS * (S + [0, 0, RADIUS])
    gyroscopic = -INERTIA_SPIN * spin * np.cross(w, [0, 1, 0])
    t = -np.array([INERTIA, INERTIA_SPIN, INERTIA]) * z + gyroscopic - [0, FRICTION * w[1] + RADIUS * CX * slip, 0]
    return {"f": f, "t": t}


def elements(values):
    """Scalars by name: r[1], T[2,3], x."""
    for name, value in values.items():
        for index in np.ndindex(np.shape(value)):
            place = ",".join(str(i + 1) for i in index)
            yield f"{name}[{place}]" if place else name, np.asarray(value)[index]


def main():
    example = Example(__doc__, GALLERY)
    links = len(list(connections()))
    example.figure("connections", links, links == 172, "172", "172")
    analysis = example.analyze()
    example.figure("algebraic loops", len(analysis["loops"]), not analysis["loops"], "0", "0")
    example.figure("evaluations at the start, output by output", analysis["ungrouped"], analysis["ungrouped"] == 25,
                   "25", "25")
    run = example.run_system("--step", 0.001, "--stop", 0.1)
    counts = [unit["init_evaluations"] for unit in run.units.values()]
    example.figure("evaluations at the start, outputs grouped", sum(counts), counts == [1] * 5, "5, one per model",
                   "5, by Algorithm 2")
    own, expected = [], []
    for number, wheel in enumerate(WHEELS, 1):
        at = hub(number - 1)
        for name, value in elements(at):
            own.append(run[f"chassis.{of_chassis(name, number)}"][0])
            expected.append(value)
        for name, value in elements(forces(at)):
            assert name in outputs()
            own.append(run[f"{wheel}.{name}"][0])
            expected.append(value)
    scale = np.maximum(np.abs(expected), 1)
    example.figure("outputs compared", len(own), len(own) == 172, "172")
    example.compare("relative error of the start values", own / scale, expected / scale, 1e-12)
    example.end()


if __name__ == "__main__":
    main()
