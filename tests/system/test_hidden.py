#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What outputs do not show: a component that holds its inputs integrates their square, and shows it above a threshold only."""
import math
import re
import unittest

from command import CommandTest, description, kit_fmu, test_fmu

DAMPING, SPEED, STOP = 0.1, 2.0, 10.0


def integral(t):
    """Of the square of exp(-a t) cos(w t), from 0."""
    p, q = 2 * DAMPING, 2 * SPEED
    plain = (1 - math.exp(-p * t)) / p
    swinging = (p - math.exp(-p * t) * (p * math.cos(q * t) - q * math.sin(q * t))) / (p * p + q * q)
    return (plain + swinging) / 2


class Hidden(CommandTest):
    def error(self, threshold, *options):
        """The largest one, as a part of what is metered, the hidden share included."""
        source = {"axx": -DAMPING, "azz": -DAMPING, "axz": SPEED, "azx": -SPEED, "bx1": 0, "bz1": 0, "x": 1, "z": 0}
        settings = [f"s.{name}={value}" for name, value in source.items()] + [f"m.threshold={threshold}"]
        self.tutti("run", f"s={kit_fmu('Cell', 2)}", f"m={test_fmu('DeadBand', 2)}", "--connect", "s.y=m.u", "--stop", str(STOP),
                   "--interface", "cs", "-o", "result.csv", *options, *(part for value in settings for part in ("--set", value)))
        result = self.result()
        wrong = max(abs(y - max(0, integral(t) - threshold)) for t, y in zip(result.times, result["m.y"]))
        return wrong / integral(STOP)

    def test_damped_sine(self):
        for control in (("--control", "richardson"), ("--control", "embedded"), ("--coupling", "newton")):
            for part in (0.5, 0.9):
                for rtol in (1e-3, 1e-5):
                    with self.subTest(control=control, part=part, rtol=rtol):
                        self.assertLess(self.error(part * integral(STOP), "--rtol", str(rtol), *control), 10 * rtol)

    def test_inputs_of_the_beginning(self):
        """With --extrapolate 0 they are late by half of what they move in a step."""
        self.assertLess(self.error(0.9 * integral(STOP), "--rtol", "1e-2", "--control", "richardson", "--extrapolate", "0"), 0.1)
        self.assertLess(self.error(0.9 * integral(STOP), "--rtol", "1e-3", "--control", "richardson", "--extrapolate", "0"), 1e-2)

    def test_inputs_that_move(self):
        """z' = u3 of a cell without outputs, where u3 = 3 cos t is extrapolated: doubling sees nothing of it."""
        cell = kit_fmu("CellMoves", 2)
        text = description(cell)
        edits = [(found, found.replace('"output"', '"local"')) for found in re.findall(r'<ScalarVariable name="[yq]"[^>]*causality="output"', text)]
        edits += [(re.search("<Outputs>.*?</Outputs>", text, re.S).group(0), "")]
        edits += [(found, "") for found in re.findall(r'<Unknown index="[67]"[^>]*/>', text.split("<InitialUnknowns>")[1])]
        silent = self.altered(cell, *edits)
        values = dict.fromkeys(("axx", "azz", "bx1", "bz1", "bz3"), 0) | {"axz": 1, "azx": -1, "x": 3, "z": 0}
        settings = [f"a.{name}={value}" for name, value in values.items()]
        settings += [f"b.{name}={value}" for name, value in {"axx": 0, "axz": 0, "azx": 0, "azz": 0, "bx1": 0, "bz1": 0, "bz3": 1, "z": 0}.items()]
        for rtol in (1e-3, 1e-5):
            for extrapolate in ("1", "2"):
                with self.subTest(rtol=rtol, extrapolate=extrapolate):
                    self.tutti("run", f"a={kit_fmu('Cell', 2)}", f"b={silent}", "--connect", "a.y=b.u3", "--stop", str(STOP), "--interface", "cs",
                               "--control", "richardson", "--extrapolate", extrapolate, "--rtol", str(rtol), "--record", "b.z", "-o", "result.csv",
                               *(part for value in settings for part in ("--set", value)))
                    result = self.result()
                    wrong = max(abs(z - 3 * math.sin(t)) for t, z in zip(result.times, result["b.z"]))
                    self.assertLess(wrong, 10 * rtol * 6)


if __name__ == "__main__":
    unittest.main()
