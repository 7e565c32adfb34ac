# SPDX-License-Identifier: MIT
"""Random stable coupled systems, linear and not, with 2 to 10 units: how to run them, and what is exact. For
test_accuracy.py, and for bench/bench_accuracy.py, which runs many more."""
import csv
import json
import pathlib
import random
import subprocess

import numpy as np
from scipy.integrate import solve_ivp

# How units get their inputs in a step: held; moving; both in one system; masses in a chain, whose forces follow inputs
# directly; by Tutti's own solvers.
SORTS = ("held", "moving", "mixed", "chain", "exchange")
PARAMETERS = ("axx", "axz", "azx", "azz", "bx1", "bx2", "bz1", "bz3", "g", "s", "w", "c", "d")


class System:
    """One of them: `stop`, its `outputs` by name, `command` for Tutti, and `exact(times)`."""

    def __init__(self, seed, fmus):
        numbers = random.Random(seed)
        self.sort = SORTS[seed % len(SORTS)]
        self.count = numbers.randint(2, 10)
        self.fmus, self.stop = pathlib.Path(fmus), numbers.choice((5.0, 10.0, 20.0))
        self.options = ["--interface", "me" if self.sort == "exchange" else "cs"]
        if self.sort == "chain":
            self.make_chain(numbers)
        else:
            self.make_cells(numbers, linear=numbers.random() < 0.5)
        self.name = f"{seed} {self.sort} {self.count}"

    def add(self, unit, fmu, values):
        self.options.append(f"{unit}={self.fmus / fmu}")
        for name, value in values.items():
            self.options += ["--set", f"{unit}.{name}={float(value)!r}"]

    def connect(self, output, target):
        self.options += ["--connect", f"{output}={target}"]

    # ---- masses ----

    def make_chain(self, numbers):
        """The first one hangs on a wall."""
        self.stop /= 4
        self.m, self.k, self.d, self.start = (np.array([numbers.uniform(*bounds) for _ in range(self.count)])
                                              for bounds in ((0.5, 2), (20, 150), (0.2, 2), (-0.1, 0.1)))
        for i in range(self.count):
            self.add(f"c{i}", f"ChainMass_fmi{numbers.choice((2, 3))}.fmu",
                     {"m": self.m[i], "k": self.k[i], "d": self.d[i], "x": self.start[i]})
        for i in range(1, self.count):
            for source, target in (("x", "x_left"), ("v", "v_left")):
                self.connect(f"c{i - 1}.{source}", f"c{i}.{target}")
            self.connect(f"c{i}.F", f"c{i - 1}.F_right")
        self.outputs = [f"c{i}.{name}" for name in "xvF" for i in range(self.count)]
        self.initial = np.concatenate((self.start, np.zeros(self.count)))

    def pulls(self, state):
        x, v = state
        return self.k * np.diff(x, prepend=0) + self.d * np.diff(v, prepend=0)

    def chain(self, _, state):
        x, v = state.reshape(2, -1)
        force = self.pulls((x, v))
        return np.concatenate((v, (np.append(force[1:], 0) - force) / self.m))

    # ---- cells ----

    def make_cells(self, numbers, linear):
        draw = {"axz": (0.3, 3), "bx1": (-1, 1), "bx2": (-1, 1), "bz1": (-1, 1), "bz3": (-1, 1), "s": (-1, 1), "w": (0.3, 3),
                "c": (-1, 1), "d": (-0.5, 0.5), "g": (0, 1), "axx": (-0.3, 0), "azz": (-0.3, 0), "azx": (0, 0)}
        self.values = {name: np.array([numbers.uniform(*draw[name]) for _ in range(self.count)]) for name in PARAMETERS}
        self.values["azx"] = -self.values["axz"]
        for name in ("g", "bx2") if linear else ():
            self.values[name][:] = 0
        # u1 comes from a y, so that q, which follows it at once, is part of no loop.
        others = [[j for j in range(self.count) if j != i] for i in range(self.count)]
        self.u1, self.u2, self.u3 = ([numbers.choice(others[i]) for i in range(self.count)] for _ in range(3))
        self.damp()
        self.initial = np.array([numbers.uniform(-1, 1) for _ in range(2 * self.count)])
        for i in range(self.count):
            moves = self.sort == "moving" or (self.sort == "mixed" and numbers.random() < 0.5)
            self.add(f"c{i}", f"Cell{'Moves' if moves else ''}_fmi{numbers.choice((2, 3))}.fmu",
                     {"x": self.initial[i], "z": self.initial[self.count + i]} |
                     {name: self.values[name][i] for name in PARAMETERS})
        for i in range(self.count):
            for name, sources, output in (("u1", self.u1, "y"), ("u2", self.u2, "q"), ("u3", self.u3, "q")):
                self.connect(f"c{sources[i]}.{output}", f"c{i}.{name}")
        self.outputs = [f"c{i}.{name}" for name in "yq" for i in range(self.count)]

    def damp(self):
        """Diagonals so small that solutions come nearer to each other, or at least hardly part."""
        size = 2 * self.count
        jacobian = np.array([self.cells(0, column, slopes=True) for column in np.eye(size)]).T
        excess = np.max(np.linalg.eigvalsh((jacobian + jacobian.T) / 2))
        for name in ("axx", "azz"):
            self.values[name] -= max(excess + 0.02, 0) * 0.6

    def inputs(self, x, z):
        v = self.values
        u1 = x[self.u1]
        q = v["c"] * x + z + v["d"] * u1
        return u1, q[self.u2], q[self.u3], q

    def cells(self, t, state, slopes=False):
        """Their equations; with `slopes` made linear at 0, without excitation."""
        v, (x, z) = self.values, state.reshape(2, -1)
        u1, u2, u3, _ = self.inputs(x, z)
        saturated, cubic = (u2, 0) if slopes else (np.tanh(u2), v["g"] * z**3)
        der_x = v["axx"] * x + v["axz"] * z + v["bx1"] * u1 + v["bx2"] * saturated
        der_z = v["azx"] * x + v["azz"] * z - cubic + v["bz1"] * u1 + v["bz3"] * u3
        return np.concatenate((der_x, der_z if slopes else der_z + v["s"] * np.sin(v["w"] * t)))

    # ---- running ----

    def exact(self):
        """A function: times -> a row per output."""
        rhs = self.chain if self.sort == "chain" else self.cells
        solution = solve_ivp(rhs, (0, self.stop), self.initial, method="DOP853", rtol=1e-11, atol=1e-13,
                             dense_output=True).sol

        def rows(times):
            first, second = solution(times).reshape(2, self.count, -1)
            if self.sort == "chain":
                return np.concatenate((first, second, np.array([self.pulls(s) for s in zip(first.T, second.T)]).T))
            return np.concatenate((first, np.array([self.inputs(*s)[3] for s in zip(first.T, second.T)]).T))

        return rows

    def run(self, tutti, folder, *options):
        """The result of a run: the largest error as a part of the range, and the statistics."""
        result, stats = folder / "result.csv", folder / "stats.json"
        command = [tutti, "run", *self.options, "--stop", self.stop, *options, "--quiet", "-o", result, "--stats", stats]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, timeout=300)
        with open(result, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, np.array(rows, dtype=float).T))
        return columns, json.loads(stats.read_text(encoding="utf-8"))

    def errors(self, columns, exact):
        """Per output: the largest error, and the range."""
        wanted, everywhere = exact(columns["time"]), exact(np.linspace(0, self.stop, 2000))
        found = np.array([columns[name] for name in self.outputs])
        return np.max(np.abs(found - wanted), axis=1), np.ptp(everywhere, axis=1)


def do_steps(stats):
    return sum(unit["do_steps"] for unit in stats["units"])
