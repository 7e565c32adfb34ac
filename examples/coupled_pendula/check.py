#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A pendulum with inputs in steps: correcting the predictor of a multistep method saves its steps."""
import pathlib
import sys

import numpy as np
from scipy.integrate import solve_ivp

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402
from segments import TIGHT, check_jumps, extrapolated, predictor_table, solve_segments  # noqa: E402

GALLERY = Gallery(
    topic="solvers", case=16, source="Andersson, 7.4.2",
    shows="the same with inputs in steps",
    caption="One of two pendula, with the forces on it held for 0.05 s each. At each jump of a force the solver "
            "continues with a corrected predictor instead of a restart: it takes 0.23 of the steps.",
    commands=r"""
examples/coupled_pendula/check.py --build build --keep out
tutti run build/examples/coupled_pendula/Pendulum_fmi3.fmu --solver bdf --predictor correct-2 \
    --input out/inputs.csv --stop 2 --step 0.05 --output-step 0.01 --rtol 1e-6 --atol 1e-6 --record 'x?' \
    --record 'u?' --quiet -o pendulum.mat
tutti plot pendulum.mat -v 'x*' -v 'u*' --title "A pendulum with inputs in steps" -o coupled_pendula.svg
""")
G = 9.81
DISTANCE, STIFFNESS = 1, 10  # of the pivots, of the spring between the two masses; these and the next are our choice
EXCITATION, FREQUENCY = 1, 2 * np.pi  # of the left pivot: u1 = EXCITATION sin(FREQUENCY t)
START = (0.5, 0, 0, 0)  # angle and its speed, left and right
STOP, SEGMENTS = 2, 40
INPUTS = ["u1", "u2", "u3"]
OTHERS = (50, 100, 500)  # springs
PUBLISHED = {  # Table 7.3: steps, right-hand sides, Jacobians, failed error tests
    "restart": (1377, 1989, 55, 69),
    "proceed": (1962, 2858, 38, 210),
    "correct-1": (1275, 1792, 24, 102),
    "correct-2": (850, 1144, 39, 42),
}


def pendulum(x, u):
    """Eq. 7.18."""
    return x[1], (-G + u[2]) * np.sin(x[0]) + (u[0] + u[1]) * np.cos(x[0])


def spring(left, right, stiffness):
    """The force on the left mass (horizontal, upwards): the spring has no force at the distance of the pivots."""
    reach = np.array([DISTANCE + np.sin(right) - np.sin(left), np.cos(left) - np.cos(right)])
    length = np.hypot(*reach)
    return stiffness * (length - DISTANCE) / length * reach


def inputs_left(t, x, stiffness):
    return np.array([EXCITATION * np.sin(FREQUENCY * t), *spring(x[0], x[2], stiffness)])


def coupled(t, x, stiffness):
    """Both pendula, with the spring between them."""
    force = spring(x[0], x[2], stiffness)
    return (*pendulum(x[:2], inputs_left(t, x, stiffness)), *pendulum(x[2:], (0, -force[0], -force[1])))


def segments(starts, stiffness):
    """The inputs of the left pendulum, held constant from each start on."""
    states = solve_ivp(coupled, (0, STOP), START, t_eval=starts, args=(stiffness,), **TIGHT).y.T[:-1]
    return np.array([inputs_left(t, x, stiffness) for t, x in zip(starts, states)])


def check_other_springs(example, starts):
    """The parameters are ours: what others would give."""
    for stiffness in OTHERS:
        values = segments(starts, stiffness)
        inputs = example.input(f"inputs{stiffness}.csv", extrapolated(starts, values, 0 * values, INPUTS))
        steps = []
        for predictor in ("restart", "proceed", "correct-1", "correct-2", "correct-all", "auto"):
            run = example.run("Pendulum_fmi3.fmu", "--solver", "bdf", "--predictor", predictor, "--rtol", 1e-6,
                              "--atol", 1e-6, "--input", inputs, "--stop", STOP, "--step", starts[1])
            steps.append(run.unit["solver_steps"])
        ratios = " / ".join(f"{count / steps[0]:.2f}" for count in steps)
        example.figure(f"a spring of {stiffness} N/m: steps of restart; relative to them restart / proceed / "
                       "correct-1 / correct-2 / correct-all / auto", f"{steps[0]}; {ratios}")


def main():
    example = Example(__doc__, GALLERY)
    starts = np.linspace(0, STOP, SEGMENTS + 1)
    values = segments(starts, STIFFNESS)
    inputs = example.input("inputs.csv", extrapolated(starts, values, 0 * values, INPUTS))
    check_jumps(example, starts, values, 0 * values, INPUTS)
    exact = solve_segments(pendulum, START[:2], starts, values, 0 * values)
    predictor_table(example, "Pendulum_fmi3.fmu", inputs, starts, ["x1", "x2"], exact, PUBLISHED, 0.62)
    check_other_springs(example, starts)
    example.end()


if __name__ == "__main__":
    main()
