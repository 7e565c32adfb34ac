# SPDX-License-Identifier: MIT
"""Random linear systems of the kit's FMUs with algebraic loops and without, and what is exact in every column that a run can record: states,
derivatives, outputs and inputs.

    system = LinearSystem(seed, FMUS, sort="loop", radius=0.5)
    columns, stats, said = system.run(TUTTI, folder, "--rtol", "1e-6", "--record", "*")
    worst, where = system.error(columns)      # the largest error as a part of the range of its column, and the column's name

`sort` is "loop" (cells whose outputs follow each other in circles: rho(D L) = radius), "line" (cells whose outputs follow inputs, but in no
circle) or "chain" (masses that pull each other; forces follow inputs). Some cells only read what the others do, so that their outputs that
follow inputs are read by no connection. `packed` puts the first components into one FMU, to which the others are connected.

A component is x' = A x + B u + E e(t), v = C x + D u + F e(t) for each of its variables v, with e = (sin wt, cos wt). All together are one such
system without inputs, whose solution is an exponential of a matrix."""
import csv
import json
import pathlib
import random
import subprocess

import numpy as np

CELL = ("axx", "axz", "azx", "azz", "bx1", "bx2", "bz1", "bz3", "g", "s", "w", "c", "d")
SORTS = ("loop", "line", "chain")


class Component:
    """One FMU: its states' start values and equations, and of each variable how it follows states, inputs and the excitation."""

    def __init__(self, name, fmu, values, states, inputs, a, b, excitation=(0.0, 1.0)):
        self.name, self.fmu, self.values, self.states, self.inputs = name, fmu, values, states, inputs
        self.a, self.b = np.array(a, dtype=float), np.array(b, dtype=float)
        self.strength, self.frequency = excitation  # of the sine in the last state's equation
        self.force = np.zeros(len(states))
        self.force[-1] = self.strength
        self.variables = {}  # name: (by states, by inputs, by the sine)
        for i, state in enumerate(states):
            unit = np.eye(len(states))[i]
            self.variables[state] = (unit, np.zeros(len(inputs)), 0.0)
            self.variables[f"der({state})"] = (self.a[i], self.b[i], self.force[i])
        for i, name_of_input in enumerate(inputs):
            self.variables[name_of_input] = (np.zeros(len(states)), np.eye(len(inputs))[i], 0.0)


def cell(numbers, name, fmu, rate):
    """kit/models/Cell.c, linear: u2 has no effect, the spring does not harden."""
    draw = {"axz": (0.3, 3), "bx1": (-1, 1), "bz1": (-1, 1), "bz3": (-1, 1), "s": (-1, 1), "w": (0.3, 3), "c": (-1, 1), "d": (0.3, 1),
            "axx": (-0.5, -0.1), "azz": (-0.5, -0.1)}
    v = dict.fromkeys(CELL, 0.0) | {key: numbers.uniform(*bounds) for key, bounds in draw.items()}
    v["d"] *= numbers.choice((-1, 1))
    v["azx"] = -v["axz"]
    for key in ("axx", "axz", "azx", "azz", "bx1", "bz1", "bz3", "s", "w"):
        v[key] *= rate
    v |= {"x": numbers.uniform(-1, 1), "z": numbers.uniform(-1, 1)}
    made = Component(name, fmu, v, ("x", "z"), ("u1", "u3"), ((v["axx"], v["axz"]), (v["azx"], v["azz"])),
                     ((v["bx1"], 0), (v["bz1"], v["bz3"])), (v["s"], v["w"]))
    made.variables["y"] = (np.array([1.0, 0]), np.zeros(2), 0.0)
    made.variables["q"] = (np.array([v["c"], 1]), np.array([v["d"], 0]), 0.0)
    return made


def mass(numbers, name, fmu):
    """kit/models/ChainMass.c."""
    v = {key: numbers.uniform(*bounds) for key, bounds in
         {"m": (0.5, 2), "k": (5, 40), "d": (0.2, 2), "x": (-0.1, 0.1), "v": (-0.1, 0.1)}.items()}
    made = Component(name, fmu, v, ("x", "v"), ("x_left", "v_left", "F_right"),
                     ((0, 1), (-v["k"] / v["m"], -v["d"] / v["m"])),
                     ((0, 0, 0), (v["k"] / v["m"], v["d"] / v["m"], 1 / v["m"])))
    made.variables["F"] = (np.array([v["k"], v["d"]]), np.array([-v["k"], -v["d"], 0]), 0.0)
    return made


class LinearSystem:
    """Its `components`, its `connections` as (source, output, target, input), by numbers of components and names of variables, and `stop`."""

    def __init__(self, seed, fmus, sort="loop", radius=0.5, inputs="mixed", count=None):
        """`inputs` is how cells take them in a step: "held", "moving" or "mixed"."""
        numbers = random.Random(f"{seed} {sort}")
        self.sort, self.radius, self.inputs, self.fmus = sort, radius, inputs, pathlib.Path(fmus)
        self.count = count or numbers.randint(2, 6)
        self.stop = numbers.choice((2.0, 4.0, 8.0))
        self.connections, self.options = [], []
        if sort == "chain":
            self._make_chain(numbers)
        else:
            self._make_cells(numbers)
        self._solve()
        self.name = f"{sort} {seed}: {len(self.components)} components, rho {self.radius:.3g}"

    # ---- which ones ----

    def _make_chain(self, numbers):
        self.components = [mass(numbers, f"c{i}", f"ChainMass_fmi{numbers.choice((2, 3))}.fmu") for i in range(self.count)]
        for i in range(1, self.count):
            self.connections += [(i - 1, "x", i, "x_left"), (i - 1, "v", i, "v_left"), (i, "F", i - 1, "F_right")]
        self.radius = 0.0

    def _fmu(self, numbers):
        moves = {"held": 0.0, "moving": 1.0, "mixed": 0.5}[self.inputs]
        return f"Cell{'Moves' if numbers.random() < moves else ''}_fmi{numbers.choice((2, 3))}.fmu"

    def _make_cells(self, numbers):
        """The first self.count cells are in circles, if there are any; the others follow them."""
        total = self.count + numbers.randint(1, 3)
        rate = numbers.choice((0.5, 1.0, 2.0))
        self.components = [cell(numbers, f"c{i}", self._fmu(numbers), rate) for i in range(total)]
        for i in range(total):
            if self.sort == "loop" and i < self.count:
                source, output = (i - 1) % self.count, "q"
            else:
                source = numbers.randrange(max(1, min(i, self.count)))
                output = "q" if i > 0 and numbers.random() < 0.8 else "y"
                source = (source + 1) % total if source == i else source
            self.connections.append((source, output, i, "u1"))
            other = numbers.choice([j for j in range(min(total, max(2, self.count))) if j != i])
            self.connections.append((other, "y", i, "u3"))
        if self.sort == "loop":
            self._scale_loop()
        else:
            self.radius = 0.0
        self._damp()

    def _scale_loop(self):
        """The loop's gains so that rho(D L) is the one that is wanted, and I - D L far from singular: no eigenvalue near 1."""
        gains = np.array([one.values["d"] for one in self.components[:self.count]])
        product = np.prod(gains)
        if product > 0:  # the eigenvalues are the roots of it: with a negative one none of them is positive
            gains[0] = -gains[0]
        gains *= self.radius / abs(product) ** (1 / self.count)
        for one, gain in zip(self.components, gains):
            one.values["d"] = float(gain)
            one.variables["q"][1][0] = float(gain)

    def _damp(self):
        """Diagonals so small that solutions come nearer to each other."""
        self._assemble()
        excess = max(0.0, float(np.max(np.linalg.eigvalsh((self.matrix + self.matrix.T) / 2))) + 0.02)
        for one in self.components:
            for key, i in (("axx", 0), ("azz", 1)):
                one.values[key] -= excess
                one.a[i, i] -= excess
                name = one.states[i]
                one.variables[f"der({name})"] = (one.a[i], one.b[i], one.force[i])

    # ---- what is exact ----

    def _assemble(self):
        """x' = matrix x + sines e, inputs = to_inputs x: with all inputs eliminated."""
        states = [(c, i) for c, one in enumerate(self.components) for i in range(len(one.states))]
        inputs = [(c, name) for c, one in enumerate(self.components) for name in one.inputs]
        n, m = len(states), len(inputs)
        self.state_first = np.cumsum([0] + [len(one.states) for one in self.components])
        self.input_first = np.cumsum([0] + [len(one.inputs) for one in self.components])
        a, b = np.zeros((n, n)), np.zeros((n, m))
        by_states, by_inputs = np.zeros((m, n)), np.zeros((m, m))  # of what the connections bring
        for c, one in enumerate(self.components):
            rows, columns = slice(*self.state_first[c:c + 2]), slice(*self.input_first[c:c + 2])
            a[rows, rows], b[rows, columns] = one.a, one.b
        for source, output, target, name in self.connections:
            row = self.input_first[target] + self.components[target].inputs.index(name)
            x, u, _ = self.components[source].variables[output]
            by_states[row, slice(*self.state_first[source:source + 2])] = x
            by_inputs[row, slice(*self.input_first[source:source + 2])] = u
        self.loop = by_inputs
        self.to_inputs = np.linalg.solve(np.eye(m) - by_inputs, by_states)
        self.matrix = a + b @ self.to_inputs

    def _solve(self):
        """The eigenvectors of the system with its excitations as states: (sin wt, cos wt) each."""
        self._assemble()
        n, count = len(self.matrix), len(self.components)
        full = np.zeros((n + 2 * count, n + 2 * count))
        full[:n, :n] = self.matrix
        start = np.zeros(len(full))
        for c, one in enumerate(self.components):
            sine, states = n + 2 * c, slice(*self.state_first[c:c + 2])
            full[states, sine] = one.force
            full[sine, sine + 1], full[sine + 1, sine] = one.frequency, -one.frequency
            start[states] = [one.values[state] for state in one.states]
            start[sine + 1] = 1
        self.full, self.start = full, start
        self.values, self.vectors = np.linalg.eig(full)
        self.weights = np.linalg.solve(self.vectors, start.astype(complex))
        if np.linalg.cond(self.vectors) > 1e8:
            raise ValueError("eigenvectors that hardly differ")

    def states(self, times):
        """A row per time: all states, then sine and cosine of each component."""
        return np.real((np.exp(np.outer(times, self.values)) * self.weights) @ self.vectors.T)

    def exact(self, times):
        """{"c0.x": values at these times}, of every state, derivative, output and connected input."""
        all_states = self.states(np.asarray(times, dtype=float))
        n = len(self.matrix)
        inputs = all_states[:, :n] @ self.to_inputs.T
        found = {}
        for c, one in enumerate(self.components):
            x = all_states[:, slice(*self.state_first[c:c + 2])]
            u = inputs[:, slice(*self.input_first[c:c + 2])]
            for name, (by_states, by_inputs, by_sine) in one.variables.items():
                if name in one.inputs and not any(t == c and i == name for _, _, t, i in self.connections):
                    continue
                found[f"{one.name}.{name}"] = x @ by_states + u @ by_inputs + by_sine * all_states[:, n + 2 * c]
        return found

    # ---- Tutti ----

    def words(self, only=None):
        """Components, values and connections for `tutti run` or `tutti pack`; of the components with these numbers."""
        chosen = range(len(self.components)) if only is None else only
        words = []
        for c in chosen:
            one = self.components[c]
            words.append(f"{one.name}={self.fmus / one.fmu}")
            for name, value in one.values.items():
                words += ["--set", f"{one.name}.{name}={float(value)!r}"]
        for source, output, target, name in self.connections:
            if source in chosen and target in chosen:
                words += ["--connect", f"{self.components[source].name}.{output}={self.components[target].name}.{name}"]
        return words

    def packed_words(self, tutti, folder, first, *options):
        """As `words`, with the first `first` components in one FMU: their variables are "p.c0.y". It is made in `folder` with these options
        of `tutti pack`."""
        inside, fmu = list(range(first)), folder / f"packed{first}.fmu"
        subprocess.run([str(w) for w in (tutti, "pack", *self.words(inside), "--expose", "*", "--stop", self.stop, *options, "-o", fmu)],
                       check=True, capture_output=True, timeout=300)
        words = [f"p={fmu}", *self.words(range(first, len(self.components)))]
        for source, output, target, name in self.connections:
            if (source in inside) == (target in inside):
                continue
            names = [("p." if c in inside else "") + self.components[c].name for c in (source, target)]
            words += ["--connect", f"{names[0]}.{output}={names[1]}.{name}"]
        return words

    def run(self, tutti, folder, *options, words=None, timeout=300):
        """The columns of a run as {name: values}, its statistics and what it said."""
        result, stats = pathlib.Path(folder) / "result.csv", pathlib.Path(folder) / "stats.json"
        command = [tutti, "run", *(words or self.words()), "--stop", self.stop, *options, "--quiet", "-o", result, "--stats", stats]
        ended = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=timeout)
        if ended.returncode:
            raise RuntimeError(f"exit status {ended.returncode}: {ended.stderr.strip()}")
        return read(result), json.loads(stats.read_text(encoding="utf-8")), ended.stderr

    def errors(self, columns, prefix=""):
        """{name: (largest error, range)} of every column whose values are known. `prefix` is what packing has put before names."""
        times = columns["time"]
        exact, everywhere = self.exact(times), self.exact(np.linspace(0, self.stop, 1000))
        found = {}
        for name, values in exact.items():
            column = columns.get(name, columns.get(prefix + name))
            if column is not None:
                found[name] = (float(np.max(np.abs(column - values))), float(np.ptp(everywhere[name])))
        return found

    def error(self, columns, prefix=""):
        """The largest error as a part of its column's range, and that column. A column that does not move is left out."""
        shares = {name: error / size for name, (error, size) in self.errors(columns, prefix).items() if size > 1e-9}
        where = max(shares, key=shares.get)
        return shares[where], where


def read(path):
    """{name: values} of a CSV result; of the numbers in it."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns = {}
    for name, values in zip(header, zip(*rows)):
        try:
            columns[name] = np.array(values, dtype=float)
        except ValueError:
            pass  # texts
    return columns
