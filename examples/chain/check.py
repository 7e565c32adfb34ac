#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A chain that is cut at its masses: constraints need the step of the chain, springs between the parts a hundredth of it."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="couplings", case=24, source="Lacoursière, 5, 8 and 9",
    shows="kinematic coupling against springs between the parts",
    caption="The last of six masses, cut into five FMUs: with constraints, 20 steps per period of the fastest "
            "motion are accurate; with springs of three times the chain's frequency between the parts, 1000 steps "
            "per period of the springs are not.",
    commands=r"""
L=build/examples/chain/Link_fmi2.fmu
tutti run u1=$L u2=$L u3=$L u4=$L u5=$L --set u1.m1=1 --set u5.m2=1 --set u1.x1=1 --stop 10 --step 0.16 --quiet -o constraints.csv \
    --constrain 'u1.x2=u2.x1; u1.v2=u2.v1; u1.f2,u2.f1' --constrain 'u2.x2=u3.x1; u2.v2=u3.v1; u2.f2,u3.f1' \
    --constrain 'u3.x2=u4.x1; u3.v2=u4.v1; u3.f2,u4.f1' --constrain 'u4.x2=u5.x1; u4.v2=u5.v1; u4.f2,u5.f1'
springs=$(for i in 1 2 3 4; do n=$((i + 1)); echo "--connect u$i.x2=u$n.x_left --connect u$i.v2=u$n.v_left --connect u$n.F=u$i.f2
    --set u$n.k_c=2.25 --set u$n.d_c=1.05"; done)
tutti run u1=$L u2=$L u3=$L u4=$L u5=$L --set u1.m1=1 --set u5.m2=1 --set u1.x1=1 --stop 10 --step 0.002 --output-step 0.04 $springs \
    --coupling jacobi --quiet -o springs.csv
tutti plot constraints.csv springs.csv -v u5.x2 --title "The last mass of a chain" -o chain.svg
""")
MASSES, STOP = 6, 10  # masses of 1 kg, springs of 1 N/m; the first one begins at 1 m
HALVES, DAMPING = 0.25, 0.7  # reduced mass of the two halves of a mass; of the coupling (eq. 20)
LINKS = range(1, MASSES)


def chain():
    """Natural frequencies and shapes of the chain in one piece."""
    stiffness = 2 * np.eye(MASSES) - np.eye(MASSES, k=1) - np.eye(MASSES, k=-1)
    stiffness[0, 0] = stiffness[-1, -1] = 1
    squares, shapes = np.linalg.eigh(stiffness)
    return np.sqrt(np.abs(squares)), shapes


def error(run):
    """The largest one of a position."""
    frequencies, shapes = chain()
    exact = shapes @ (shapes[0][:, None] * np.cos(np.outer(frequencies, run.time)))
    found = [run["u1.x1"], *(run[f"u{i}.x2"] for i in LINKS)]
    return np.max(np.abs(found - exact))


def do_steps(run):
    return sum(unit["do_steps"] for unit in run.units.values())


class Chain:
    def __init__(self, example):
        self.example = example
        self.period = 2 * np.pi / max(chain()[0])  # of the fastest motion

    def run(self, step, *options):
        steps = round(STOP / step)
        link = self.example.fmu("Link_fmi2.fmu")
        return self.example.run_file(f"u1={link}", *(f"u{i}={link}" for i in LINKS[1:]), "--set", "u1.m1=1", "--set",
                                     f"u{MASSES - 1}.m2=1", "--set", "u1.x1=1", "--step", STOP / steps, "--stop", STOP, *options)

    def constrained(self, per_period, *options):
        joints = [word for i in LINKS[:-1]
                  for word in ("--constrain", f"u{i}.x2=u{i + 1}.x1; u{i}.v2=u{i + 1}.v1; u{i}.f2,u{i + 1}.f1")]
        return self.run(self.period / per_period, *joints, *options)

    def sprung(self, ratio, step, *options):
        """Force-velocity coupling whose springs have this multiple of the chain's frequency, 1 rad/s."""
        stiffness = HALVES * ratio ** 2
        damping = 2 * DAMPING * np.sqrt(HALVES * stiffness)
        springs = []
        for i in LINKS[1:]:
            springs += ["--connect", f"u{i - 1}.x2=u{i}.x_left", "--connect", f"u{i - 1}.v2=u{i}.v_left", "--connect",
                        f"u{i}.F=u{i - 1}.f2", "--set", f"u{i}.k_c={stiffness!r}", "--set", f"u{i}.d_c={damping!r}"]
        return self.run(step, *springs, *options)

    def check_ratio(self):
        """The springs alone, without an error of steps: one solver over all."""
        found = {ratio: error(self.sprung(ratio, 0.1, "--coupling", "strong", "--interface", "me", "--rtol", 1e-9))
                 for ratio in (3, 10, 30, 70, 100, 300)}
        figure = self.example.figure
        figure("springs between the parts, ratio of frequencies 3 / 10 / 30: error of the positions",
               " / ".join(f"{found[ratio]:.1e}" for ratio in (3, 10, 30)), found[10] > 0.03 > 0.01 > found[30],
               "1% from 30 on, not at 10", "ratios of around 30 are needed")
        figure("... 70 / 100 / 300", " / ".join(f"{found[ratio]:.1e}" for ratio in (70, 100, 300)), found[70] > 1e-3 > found[100],
               "1e-3 from 100 on, not at 70", "below 1e-3 above 100 only")
        order = np.log(found[30] / found[300]) / np.log(10)
        figure("... order in the ratio", f"{order:.2f}", abs(order - 2) < 0.1, "about 2", "quadratic")

    def check_steps(self):
        """The springs with held inputs: how many steps of theirs it takes."""
        runs = {per: self.sprung(30, 2 * np.pi / 30 / per, "--coupling", "jacobi", "--extrapolate", 0) for per in (50, 200, 1000, 2000)}
        found = {per: error(run) for per, run in runs.items()}
        figure = self.example.figure
        figure("springs, ratio 30, jacobi, 50 / 200 / 1000 steps per period of the springs: error",
               " / ".join(f"{found[per]:.1e}" for per in (50, 200, 1000)), found[50] > 1 and found[200] > 0.1, "more than 1, 0.1",
               "50 times the steps of a good solver, for some stability")
        order = np.log2(found[1000] / found[2000])
        figure("... order in the step, less what the springs leave", f"{order:.1f}", 0.6 < order < 1.3, "about 1")
        return do_steps(runs[1000]), found[1000]

    def check_constraints(self, sprung):
        runs = {per: self.constrained(per) for per in (10, 20, 40, 80)}
        found = {per: error(run) for per, run in runs.items()}
        figure = self.example.figure
        figure("constraints, 10 / 20 / 40 steps per period of the fastest motion: error",
               " / ".join(f"{found[per]:.1e}" for per in (10, 20, 40)), found[10] < 0.02 and found[20] < 2e-3, "<= 2e-2, 2e-3",
               "very good at steps of the design frequencies")
        order = np.log2(found[40] / found[80])
        figure("... order in the step", f"{order:.2f}", order > 1.9, ">= 2")
        figure("... drift of the joints at 20", f"{runs[20].stats['drift']['size']:.1e}", runs[20].stats["drift"]["size"] < 1e-3, "<= 1e-3")
        steps, wrong = sprung
        figure("do-steps: constraints at 20, error / springs at 1000, error", f"{do_steps(runs[20])}, {found[20]:.1e} / {steps}, "
               f"{wrong:.1e}", found[20] < wrong and do_steps(runs[20]) * 100 < steps, "less than a hundredth, and more accurate",
               "three orders of magnitude")
        relaxed = {time: error(self.constrained(20, "--relax-time", time)) for time in (0.5, 2)}
        figure("... relax-time 2 / 0.5: error", f"{relaxed[2]:.1e} / {relaxed[0.5]:.1e}", relaxed[2] > 2.5 * relaxed[0.5], "more than 2.5 times",
               "2 steps: just below critical damping")


def main():
    example = Example(__doc__, GALLERY)
    case = Chain(example)
    case.check_ratio()
    case.check_constraints(case.check_steps())
    example.end()


if __name__ == "__main__":
    main()
