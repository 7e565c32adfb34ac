#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Units in Python beside FMUs: objects with step() or derivatives()."""
import traceback
import unittest

import numpy as np

from common import JOINED, TWO, kit

import tutti


class Gain:
    """Its output is twice its input, from the next communication point on."""

    inputs = ["u"]
    outputs = {"y": 0.5}
    parameters = {"k": 2.0}

    def __init__(self):
        self.calls = []
        self.u = self.y = self.k = 0.0

    def step(self, t, h):
        self.calls.append((t, h))
        self.y = self.k * self.u


class Decay:
    """x' = -k x + u"""

    inputs = {"u": 0.0}
    parameters = {"k": 1.0}
    states = {"x": 1.0}
    outputs = ["twice"]
    units = {"x": "m"}

    def derivatives(self, _t, x):
        return [-self.k * x[0] + self.u]

    def output(self, _t, x):
        self.twice = 2 * x[0]


class Mass:
    """The mass of the kit's chain."""

    inputs, outputs, states = ["x_left", "v_left", "F_right"], ["F"], {"x": 0.0, "v": 0.0}

    def derivatives(self, _t, state):
        return state[1], self.F_right - self.pull(*state)

    def output(self, _t, state):
        self.F = self.pull(*state)

    def pull(self, x, v):
        return 100 * (x - self.x_left) + (v - self.v_left)


class Units(unittest.TestCase):
    def test_steps(self):
        gain = Gain()
        result = tutti.simulate({"plant": kit("Dahlquist"), "gain": gain}, connect={"plant.x": "gain.u"}, step=0.1, stop=1,
                                coupling="jacobi", control="fixed", set={"gain.k": 3})
        self.assertEqual(len(gain.calls), 10)
        self.assertEqual(gain.calls[0], (0.0, 0.1))
        self.assertEqual(result["gain.y"][0], 0.5)
        np.testing.assert_array_equal(result["gain.y"][1:], 3 * result["plant.x"][:-1])

    def test_derivatives(self):
        result = tutti.simulate(Decay(), stop=2, rtol=1e-9, set={"k": 3})
        np.testing.assert_allclose(result["x"], np.exp(-3 * result.time), rtol=1e-6)
        np.testing.assert_array_equal(result["twice"], 2 * result["x"])
        self.assertEqual(result.units["x"], "m")

    def test_beside_fmus(self):
        """An object in place of an FMU goes back and is error-controlled as any other."""
        options = {"connect": JOINED, "set": {"a.x_left": 0.1}, "stop": 2, "rtol": 1e-6, "interface": "me", "solver": "bdf",
                   "output_step": 0.1}
        result, twin = tutti.simulate({"a": TWO["a"], "b": Mass()}, **options), tutti.simulate(TWO, **options)
        self.assertEqual(result.statistics["control"], twin.statistics["control"])
        np.testing.assert_allclose(result["b.x"], twin["b.x"], atol=1e-6)

    def test_two_of_a_kind(self):
        result = tutti.simulate({"a": Decay(), "b": Decay()}, set={"b.k": 2}, stop=1, rtol=1e-9, output_step=0.5)
        np.testing.assert_allclose(result["b.x"], result["a.x"] ** 2, rtol=1e-6)

    def test_linearize(self):
        system = tutti.linearize(Decay(), set={"k": 4})
        np.testing.assert_allclose(system.A, [[-4]], rtol=1e-6)
        np.testing.assert_allclose(system.B, [[1]], rtol=1e-6)

    def test_in_a_simulation(self):
        with tutti.Simulation({"d": Decay()}, stop=1, step=0.1) as simulation:
            simulation.start()
            simulation.put("d.u", 5.0)
            simulation.advance(1)
            self.assertGreater(simulation["d.x"], 1)

    def test_exceptions(self):
        class Broken(Gain):
            def step(self, t, h):
                if t > 0.45:
                    raise ZeroDivisionError("at half time")
                super().step(t, h)

        try:
            tutti.simulate({"a": Broken()}, step=0.1, stop=1)
            self.fail("nothing was raised")
        except ZeroDivisionError as error:
            self.assertEqual(str(error), "at half time")
            self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].name, "step")
        with self.assertRaisesRegex(ZeroDivisionError, "at half time"):
            with tutti.Simulation({"a": Broken()}, step=0.1, stop=1) as simulation:
                simulation.start()
                simulation.advance(1)
        # and nothing of it is left
        self.assertEqual(len(tutti.simulate({"a": Gain()}, step=0.1, stop=1).time), 11)

    def test_wrong(self):
        class Wrong:
            states = {"x": 1.0}

            def derivatives(self, _t, _x):
                return [1, 2]

        with self.assertRaisesRegex(ValueError, "1 states, 2 derivatives"):
            tutti.simulate(Wrong(), stop=1)
        with self.assertRaisesRegex(tutti.ArgumentError, "nan|finite"):
            tutti.simulate(type("Bad", (Decay,), {"states": {"x": float("nan")}})(), stop=1)
        with self.assertRaisesRegex(tutti.ArgumentError, "no states"):
            tutti.simulate(type("Bad", (Decay,), {"states": {}})(), stop=1)
        with self.assertRaisesRegex(tutti.ArgumentError, "two variables"):
            tutti.simulate(type("Bad", (Decay,), {"inputs": ["x"]})(), stop=1)


if __name__ == "__main__":
    unittest.main()
