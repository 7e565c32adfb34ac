#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A car of five FMUs of FMI 1.0, 2.0 and 3.0 rolls over a bump: a simple coupling diverges, auto is accurate."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", source="our own",
    shows="five FMUs of three FMI versions, Model Exchange among them; what `./dev demo` shows",
    caption="The left wheels roll over a bump of 6 cm. With inputs held for 10 ms the oscillation of the front "
            "wheel grows; by default the steps are as small as the tolerance requires.",
    commands=r"""
tutti run build/examples/car/car.ssp --coupling jacobi --step 0.01 --quiet -o naive.mat
tutti run build/examples/car/car.ssp --quiet -o auto.mat
tutti plot naive.mat auto.mat -v front_left.x -v body.roll --stop 1 --title "A car rolls over a bump" -o car.svg
""")
M, I_PITCH, I_ROLL, K, D, FRONT, REAR, SIDE = 1200, 1800, 500, 25000, 2500, 1.2, 1.4, 0.75
M_WHEEL, K_TYRE, LENGTH, STOP = 40, 200000, 0.1, 2
BUMPS = np.array([0.06, 0, 0.06, 0])  # front left, front right, rear left, rear right
AT = np.array([0.2, 0.2, 0.375, 0.375])
AHEAD, LEFT = np.array([FRONT, FRONT, -REAR, -REAR]), np.array([SIDE, -SIDE, SIDE, -SIDE])
HEIGHTS = ("front_left.x", "front_right.x", "rear_left.x", "rear_right.x", "body.z")
LIMIT = 1e-5  # m; the wheels rise by 6 cm


def car(t, state):
    """The whole car as one system: heave, pitch and roll, their speeds, heights and speeds of the wheels."""
    place, speed, x, v = state[:3], state[3:6], state[6:10], state[10:]
    lever = np.array([np.ones(4), AHEAD, LEFT])
    force = K * (x - place @ lever) + D * (v - speed @ lever)
    share = (t - AT) / LENGTH
    road = np.where((share > 0) & (share < 1), BUMPS * (1 - np.cos(2 * np.pi * share)) / 2, 0)
    return np.concatenate([speed, lever @ force / (M, I_PITCH, I_ROLL), v, (K_TYRE * (road - x) - force) / M_WHEEL])


def error(run):
    """The largest one of the heights, in m."""
    pieces = (0, *sorted({*AT, *(AT + LENGTH)}), STOP)  # where the road has a corner
    state, worst = np.zeros(14), 0
    for begin, end in zip(pieces, pieces[1:]):
        solution = solve_ivp(car, (begin, end), state, method="DOP853", rtol=1e-11, atol=1e-12, dense_output=True)
        inside = (run.time >= begin) & (run.time <= end)
        exact = solution.sol(run.time[inside])[[6, 7, 8, 9, 0]].T
        worst = max(worst, np.max(np.abs(np.column_stack([run[name][inside] for name in HEIGHTS]) - exact)))
        state = solution.y[:, -1]
    return worst


def main():
    example = Example(__doc__, GALLERY)
    naive = example.run_system("--coupling", "jacobi", "--step", 0.01)
    swing = np.max(np.abs(naive["front_left.x"][naive.time > 1.5]))
    example.figure("jacobi, H = 10 ms: the front left wheel after 1.5 s, in m", f"{swing:.2f}", swing > 0.2, "> 0.2: it explodes")
    auto = example.run_system()
    found, stats = error(auto), auto.stats
    example.figure("auto: error of the heights in m, steps (rejected)", f"{found:.1e}, {stats['steps']} ({stats['rejected']})",
                   found <= LIMIT, f"<= {LIMIT:.0e}")
    kinds = sorted({(unit["fmi"], unit["interface"]) for unit in stats["units"]})
    example.figure("versions of FMI", ", ".join(f"{fmi} {interface}" for fmi, interface in kinds),
                   kinds == [("1.0", "me"), ("2.0", "cs"), ("3.0", "cs")], "three")
    example.same_bits("auto")
    example.end()


if __name__ == "__main__":
    main()
