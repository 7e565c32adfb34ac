#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs of Float32, and arrays whose size a structural parameter gives: they move inside of steps as Float64 scalars do, in every coupling."""
import math
import struct
import unittest

from command import CommandTest, test_fmu

FLOATS = test_fmu("Floats", "3")
# x' = y - 2 x, y' = x - y; x(0) = 1, y(0) = 0
ROOT = math.sqrt(5)
EXACT = math.exp(-1.5) * (math.cosh(ROOT / 2) - math.sinh(ROOT / 2) / ROOT)
PAIRS = (("y", "u"), ("w", "v"), ("q", "p"))
EPSILON = 2.0 ** -23


def floats(column):
    """Numbers of Float32, of which a file has only as many digits as tell them apart."""
    return [struct.unpack("f", struct.pack("f", number))[0] for number in column]


class Floats(CommandTest):
    def pair(self, *master, size=2, names=PAIRS):
        """Two lags feed each other: with arrays of doubles, arrays of floats and a float."""
        words = [word for one, other in (("a", "b"), ("b", "a")) for y, u in names for word in ("--connect", f"{one}.{y}={other}.{u}")]
        starts = " ".join(str(i + 1) for i in range(size))
        return self.simulate(f"a={FLOATS}", f"b={FLOATS}", *words, "--set", f"a.n={size}", "--set", f"b.n={size}", "--set", f"a.x={starts}",
                             "--set", f"a.z={starts}", "--set", "a.s=1", "--set", "a.a=2", "--set", "b.a=1", "--stop", "1", *master)

    def test_floats_and_sized_arrays_move_as_doubles_do(self):
        orders = {"0": 1, "1": 2, "2": 2}
        for interface in ("cs", "me"):
            for coupling in ("jacobi", "seidel"):
                for extrapolate, order in orders.items():
                    errors = []
                    for step in (1 / 16, 1 / 32):
                        with self.subTest(interface, coupling=coupling, extrapolate=extrapolate, step=step):
                            # (the steps inside of Co-Simulation FMUs are as long as those outside, at most)
                            table = self.pair("--interface", interface, "--coupling", coupling, "--extrapolate", extrapolate, "--step", str(step),
                                              *(("--rtol", "1e-7", "--control", "fixed") if interface == "me" else ()))
                            self.assert_near(table["a.w[2]"], table["a.y[2]"], 40 * EPSILON)
                            self.assert_near(table["b.w[1]"], table["b.y[1]"], 40 * EPSILON)
                            self.assert_near(table["a.q"], table["a.y[1]"], 40 * EPSILON)
                            errors.append(abs(table["a.w[1]"][-1] - EXACT))
                    if interface == "me":
                        self.assertGreater(errors[0] / errors[1], 2 ** order * 0.8, (interface, coupling, extrapolate, errors))
                    if extrapolate == "1":
                        self.assertLess(errors[0], held / 2)
                    held = errors[0] if extrapolate == "0" else held

    def test_every_size_gives_the_same(self):
        ends = [self.pair("--coupling", "jacobi", "--extrapolate", "1", "--step", "0.0625", size=size)["b.w[1]"] for size in (1, 3, 17)]
        self.assertEqual(ends[0], ends[1])
        self.assertEqual(ends[0], ends[2])

    def test_the_same_bits_where_floats_are_exact(self):
        """A ramp, and its integral over steps of powers of two."""
        for interface in ("cs", "me"):
            for extrapolate in ("1", "2"):
                solver = ("--solver", "euler", "--solver-step", "0.03125") if interface == "me" else ()
                table = self.simulate(f"a={FLOATS}", f"b={FLOATS}", "--connect", "a.w=b.v", "--connect", "a.y=b.u", "--set", "a.u=1 2", "--set", "a.v=1 2",
                                      "--coupling", "jacobi", "--extrapolate", extrapolate, "--step", "0.0625", "--stop", "1", "--interface", interface,
                                      *solver)
                self.assertEqual(floats(table["b.w[2]"]), table["b.y[2]"])
                self.assertGreater(table["b.y[2]"][-1], 0.9)

    def test_couplings_that_iterate(self):
        for coupling in (("relax",), ("newton",), ("newton", "--newton", "krylov"), ("newton", "--newton", "broyden"), ("strong", "--interface", "me")):
            with self.subTest(coupling):
                table = self.pair("--coupling", *coupling, "--step", "0.0625", "--rtol", "1e-5", "--control", "fixed")
                self.assert_near(table["a.w[2]"], table["a.y[2]"], 2e-5)
                self.assertLess(abs(table["a.q"][-1] - EXACT), 1e-3)

    def test_control_of_errors(self):
        for rtol in ("1e-3", "1e-5", "1e-7"):
            table = self.pair("--rtol", rtol, "--interface", "me")
            self.assertLess(abs(table["a.w[1]"][-1] - EXACT), 10 * max(float(rtol), EPSILON))

    def test_the_same_bytes_on_threads(self):
        master = ("--coupling", "newton", "--step", "0.0625")
        one, two = self.pair(*master), self.pair(*master, "--threads", "2")
        self.assertEqual(one.rows, two.rows)

    def test_connections_between_both_types(self):
        table = self.pair("--coupling", "jacobi", "--extrapolate", "1", "--step", "0.0625", names=(("y", "v"), ("w", "u"), ("q", "p")))
        self.assert_near(table["a.w[2]"], table["a.y[2]"], 40 * EPSILON)

    def test_what_a_float_cannot_hold(self):
        self.refused("run", f"a={FLOATS}", f"b={FLOATS}", "--connect", "a.y=b.v", "--set", "a.x=1e39", "--coupling", "jacobi", "--step", "0.0625",
                     status=1, says=("is more than 'v' can hold, which is a Float32",))


if __name__ == "__main__":
    unittest.main()
