#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random systems of lags and gains, of all FMI versions and both interfaces, listed anyhow, some with steps of their
own: every row is what explicit Jacobi coupling by the book gives, from a start that solves all loops."""
import dataclasses
import math
import random
import unittest

from command import JACOBI, kit_fmu
from systems import CoupledTest, component, ssd, system

SYSTEMS = 60
STEP = 0.1
SORTS = (("1me", "me"), ("2", "cs"), ("2", "me"), ("3", "cs"), ("3", "me"))
IMPLEMENTATIONS = {"cs": "CoSimulation", "me": "ModelExchange"}


@dataclasses.dataclass
class Unit:
    """A lag x' = (u - x) / T with the outputs y = x and error = u - x, or a gain y = gain * u."""

    name: str
    lag: bool
    version: str
    interface: str
    multiple: int  # of the communication step
    rate: float  # T, or the gain
    x: float
    u: float
    source: tuple = None  # unit and output that its input is connected to

    @property
    def fmu(self):
        return kit_fmu("Tracker" if self.lag else "Feedthrough", self.version)

    @property
    def input(self):
        return f"{self.name}.u" if self.lag else f"{self.name}.float64_in"

    @property
    def outputs(self):
        return {"y": self.x, "error": self.u - self.x} if self.lag else {"float64_out": self.rate * self.u}

    def step(self, h):
        if self.lag:
            self.x = self.u + (self.x - self.u) * math.exp(-h / self.rate)


def make(numbers):
    units = []
    for n in range(numbers.randint(2, 7)):
        lag = numbers.random() < 0.7
        version, interface = numbers.choice(SORTS)
        units.append(Unit(f"u{n}", lag, version, interface, numbers.choice((1, 1, 1, 2, 3, 5)),
                          numbers.uniform(0.2, 2) if lag else numbers.uniform(-0.9, 0.9), numbers.uniform(-1, 1),
                          numbers.uniform(-1, 1)))
    for unit in units:
        if numbers.random() < 0.8:
            source = numbers.choice(units)
            unit.source = source, numbers.choice(list(source.outputs))
    return units


def solve_start(units):
    """The inputs at the start: a linear system, by Gauss and Jordan. False if it has no single solution."""
    count = len(units)
    rows = []
    for i, unit in enumerate(units):
        row = [float(i == j) for j in range(count)] + [unit.u]
        if unit.source:
            source, output = unit.source
            j = units.index(source)
            row[j] -= {"y": 0, "error": 1, "float64_out": source.rate}[output]
            row[count] = {"y": source.x, "error": -source.x, "float64_out": 0}[output]
        rows.append(row)
    for i in range(count):
        pivot = max(range(i, count), key=lambda k, i=i: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-3:
            return False
        for k in range(count):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    for i, unit in enumerate(units):
        unit.u = rows[i][count] / rows[i][i]
    return True


def simulate(units, steps):
    """Rows of {"unit.output": value}."""
    shown = {unit.name: dict(unit.outputs) for unit in units}
    staged = {unit.name: unit.u for unit in units}
    last = {unit.name: 0 for unit in units}

    def row():
        return {f"{name}.{output}": value for name, outputs in shown.items() for output, value in outputs.items()}

    yield row()
    for n in range(1, steps + 1):
        for unit in units:
            if last[unit.name] == n - 1 and unit.source:
                staged[unit.name] = shown[unit.source[0].name][unit.source[1]]
        for unit in units:
            if n % unit.multiple == 0 or n == steps:
                unit.u = staged[unit.name]
                unit.step((n - last[unit.name]) * STEP)
                last[unit.name] = n
        for unit in units:
            if last[unit.name] == n:
                shown[unit.name] = dict(unit.outputs)
        yield row()


class RandomSystems(CoupledTest):
    def options(self, units):
        for unit in units:
            values = {"T": unit.rate, "x": unit.x} if unit.lag else {"gain": unit.rate}
            for name, value in values.items():
                yield from ("--set", f"{unit.name}.{name}={value!r}")
            if unit.source:
                yield from ("--connect", f"{unit.source[0].name}.{unit.source[1]}={unit.input}")
            else:
                yield from ("--set", f"{unit.input}={unit.u!r}")
            if unit.multiple > 1:
                yield from ("--step", f"{unit.name}={unit.multiple * STEP!r}")

    def check(self, numbers):
        units, steps = make(numbers), numbers.choice((10, 15, 30))
        listed = numbers.sample(units, len(units))
        self.bring(*(unit.fmu for unit in units))
        self.write("random.ssd", ssd(system(*(
            component(unit.name, unit.fmu.rpartition("/")[2], implementation=IMPLEMENTATIONS[unit.interface])
            for unit in listed))))
        options = list(self.options(units))
        if not solve_start(units):
            return False
        table = self.run_("random.ssd", *options, "--stop", repr(steps * STEP), "--step", repr(STEP), "--rtol", "1e-10",
                          *JACOBI)
        expected = list(simulate(units, steps))
        self.assertEqual(len(table), steps + 1)
        for name in expected[0]:
            self.assert_near(table[name], [row[name] for row in expected], 2e-5)
        return True

    def test_against_the_book(self):
        checked = 0
        for seed in range(SYSTEMS):
            with self.subTest(seed=seed):
                checked += self.check(random.Random(seed))
        self.assertGreater(checked, SYSTEMS // 2)


if __name__ == "__main__":
    unittest.main()
