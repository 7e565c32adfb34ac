#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What outputs do not show: a component that holds its inputs integrates their square, and shows it above a threshold only."""
import math
import unittest

from command import CommandTest, kit_fmu, test_fmu

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


if __name__ == "__main__":
    unittest.main()
