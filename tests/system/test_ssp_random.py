#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Systems as SSP that nobody thought of: made by chance, the same on every run, against the standard's rules in a few
lines of Python."""
import itertools
import random
import unittest

from ssp_text import (CELSIUS, DEFAULT, FAHRENHEIT, KELVIN, SSD_TYPE, SspTest, binding, component, connect, connector,
                      dictionary, entry, linear, reals, reference, rename, ssb, ssd, ssm, ssv, system)

UNITS = [KELVIN, CELSIUS, FAHRENHEIT, {"K": 1, "factor": 0.001}, {"K": 1, "factor": -2.5, "offset": 10}]
VARIABLES = {"gain": 1, "tunable_gain": 1, "float64_in": 0, "float64_discrete_in": 0}  # and their start values
ROUNDS = 60


class Package:
    """The files of a system that grows, and where in it we are: files in resources/ have no folder before theirs."""

    def __init__(self):
        self.files = {}

    def add(self, text, suffix, nested):
        """A further file; its source as it is written in the root's file or in another one."""
        name = f"f{len(self.files)}.{suffix}"
        self.files[f"resources/{name}"] = text
        return name if nested else f"resources/{name}"

    @staticmethod
    def fmu(nested):
        return "Feedthrough3.fmu" if nested else "resources/Feedthrough3.fmu"


def converted(number, start, end):
    """By the definition of units: base = factor * value + offset, at both ends."""
    base = start.get("factor", 1) * number + start.get("offset", 0)
    return (base - end.get("offset", 0)) / end.get("factor", 1)


class Signal:
    """A value on its way, with the unit of the connector where it is."""

    def __init__(self, chance, number):
        self.chance, self.number, self.unit = chance, number, None

    def goes(self, start, end, unit):
        """The text of a connection, written either way round, to a connector of this unit."""
        suppressed = self.chance.random() < 0.3
        factor, offset = self.chance.choice([1, 2, -0.5]), self.chance.choice([0, 1, -20])
        here = self.number if suppressed else converted(self.number, self.unit, unit)
        self.number, self.unit = factor * here + offset, unit
        ends = (start, end) if self.chance.random() < 0.5 else (end, start)
        return connect(*ends, "" if (factor, offset) == (1, 0) else linear(factor, offset),
                       suppressUnitConversion=suppressed or self.chance.choice([None, False]))


class Side:
    """A Feedthrough inside of none to three systems, each in the file around it or in one of its own, in which the same
    names stand for other units."""

    def __init__(self, chance, name, up, scope):
        self.name, self.up, self.depth = name, up, chance.randint(0, 3)
        self.kind, self.port = ("output", "float64_out") if up else ("input", "float64_in")
        self.scopes, self.own = [scope], [False]
        for _ in range(self.depth):
            self.own.append(chance.random() < 0.5)
            self.scopes.append(new_scope(chance) if self.own[-1] else self.scopes[-1])
        self.names = [chance.choice(list(scope)) for scope in (*self.scopes[1:], self.scopes[-1])]
        self.wires = {}

    def unit(self, level):
        """Of the connector of the system at this level (1 is the outermost), of the FMU behind the last one."""
        return self.scopes[min(level, self.depth)][self.names[level - 1]]

    @property
    def outer(self):
        """The connector by which the root sees it."""
        return f"{self.name}/{'x' if self.depth else self.port}"

    def passes(self, signal):
        """The signal through all systems, in its direction."""
        levels = range(1, self.depth + 1)
        for level in reversed(levels) if self.up else levels:
            inner = f"e/{'x' if level < self.depth else self.port}"
            if self.up:
                self.wires[level] = signal.goes(inner, "/x", self.unit(level))
            else:
                self.wires[level] = signal.goes("/x", inner, self.unit(level + 1))

    def element(self, package, bindings):
        """The text of the element that stands in the root."""
        nested = any(self.own)
        here = component("e" if self.depth else self.name, package.fmu(nested), [
            connector(self.port, self.kind, "Real", unit=self.names[self.depth])], bindings)
        for level in range(self.depth, 0, -1):
            name = "e" if level > 1 else self.name
            here = system(name, here, connectors=[connector("x", self.kind, "Real", unit=self.names[level - 1])],
                          connections=[self.wires[level]])
            if self.own[level]:
                source = package.add(ssd(here, units=self.scopes[level]), "ssd", any(self.own[:level]))
                here = component(name, source, [connector("x", self.kind)], type=SSD_TYPE)
        return here

    @property
    def path(self):
        return self.name + ".e" * self.depth


def new_scope(chance):
    """The units of a file, under names that say nothing."""
    names = [f"u{i}" for i in range(len(UNITS))]
    chance.shuffle(names)
    return dict(zip(names, UNITS))


class Paths(SspTest):
    def test_paths(self):
        """Pitfalls 1 and 2: a value goes up through nested systems, over a dictionary or not, and down again."""
        for seed in range(ROUNDS):
            chance, package = random.Random(seed), Package()
            scope = new_scope(chance)
            start, end = Side(chance, "start", True, scope), Side(chance, "end", False, scope)
            signal = Signal(chance, chance.choice([0, 1, 300]))
            first = [binding(reals(float64_in=signal.number))]
            signal.unit = start.unit(start.depth + 1)
            start.passes(signal)
            elements, dictionaries, wires = [], [], []
            if chance.random() < 0.5:
                bus = new_scope(chance)
                unit = chance.choice(list(bus))
                wires = [signal.goes(start.outer, "bus/s", bus[unit]), signal.goes("bus/s", end.outer, end.unit(1))]
                elements = [reference("bus", "D", connector("s", "inout"))]
                text = ssb(entry("s", unit=unit), units=bus)
                dictionaries = [dictionary("D", source=package.add(text, "ssb", False))]
            else:
                wires = [signal.goes(start.outer, end.outer, end.unit(1))]
            end.passes(signal)
            elements += [start.element(package, first), end.element(package, [])]
            chance.shuffle(elements)
            root = ssd(system("root", *elements, connections=wires, dictionaries=dictionaries), units=scope)
            source = self.package({DEFAULT: root, **package.files, **self.files("Feedthrough3")})
            with self.subTest(seed=seed):
                self.arrives(source, {f"{end.path}.float64_in": signal.number})


class Growth:
    """A tree of systems and Feedthroughs with parameter bindings everywhere, and what they amount to."""

    def __init__(self, chance):
        self.chance, self.package, self.counter, self.given = chance, Package(), itertools.count(), {}

    def give(self, path, level, number):
        """A value that counts for a variable: the outermost level wins, there the last one."""
        rank = (-level, next(self.counter))
        self.given[path] = max(self.given.get(path, (rank, number)), (rank, number))

    def write(self, text, suffix, nested):
        """A document inline or as a file."""
        return text if self.chance.random() < 0.5 else self.package.add(text, suffix, nested)

    def bindings(self, path, level, names, nested):
        """Bindings of an element for some of its variables."""
        texts = []
        for _ in range(self.chance.randint(0, 2)):
            chosen = {name: self.chance.randint(2, 99) for name in self.chance.sample(names, min(2, len(names)))}
            style = self.chance.choice(["plain", "prefix", "mapping"])
            factor, prefix, mapping = 1, None, None
            values = {**chosen, "nobody": 1}
            if style == "prefix":
                name, number = chosen.popitem()
                cut = self.chance.randint(1, len(name) - 1)
                chosen, prefix = {name: number}, name[:cut]
                values = {name[cut:]: number}
            elif style == "mapping":
                factor = self.chance.choice([1, 3])
                keys = {name: f"p{i}" for i, name in enumerate(chosen)}
                values = {**{keys[name]: number for name, number in chosen.items()}, names[0]: 1000}
                mapping = self.write(ssm(*(rename(key, name, linear(factor)) for name, key in keys.items())), "ssm",
                                     nested)
            for name, number in chosen.items():
                self.give(f"{path}{name}", level, factor * number)
            texts.append(binding(self.write(ssv(reals(**values)), "ssv", nested), mapping, prefix=prefix))
        return texts

    def grow(self, name, path, level, nested):
        """An element, and the names of its variables inside of it. `path` ends with a dot, or is empty."""
        if level > 0 and (level == 3 or self.chance.random() < 0.3):
            names = list(VARIABLES)
            return component(name, self.package.fmu(nested), bindings=self.bindings(path, level, names, nested)), names
        own = level > 0 and self.chance.random() < 0.4
        inside, children, names = nested or own, [], []
        for child in "ab"[:self.chance.randint(1, 2)]:
            text, below = self.grow(child, f"{path}{child}.", level + 1, inside)
            children.append(text)
            names += [f"{child}.{variable}" for variable in below]
        here = system(name, *children, bindings=self.bindings(path, level, names, inside))
        if own:
            source = self.package.add(ssd(here), "ssd", nested)
            here = component(name, source, bindings=self.bindings(path, level, names, nested), type=SSD_TYPE)
        return here, names


class Bindings(SspTest):
    def test_bindings(self):
        """Pitfalls 3 and 4: sets at all levels, with prefixes and mappings, for systems and for files that are one."""
        for seed in range(ROUNDS):
            growth = Growth(random.Random(seed))
            root, names = growth.grow("root", "", 0, False)
            expected = {name: growth.given.get(name, (0, VARIABLES[name.rsplit(".", 1)[1]]))[1] for name in names}
            source = self.package({DEFAULT: ssd(root), **growth.package.files, **self.files("Feedthrough3")})
            with self.subTest(seed=seed):
                self.arrives(source, expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
