#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Further equations, solved with those of a Model Exchange FMU: against solutions in closed form."""
import traceback
import unittest

import numpy as np

from common import TWO, JOINED, kit

import tutti


class Lyapunov:
    """P' = A P + P A^T + 1 (Andersson 2016, section 9.3.5)."""

    states, outputs = {"P": 0.5}, ["variance", "x2"]

    def derivatives(self, t, p, model):
        a = model.linearize("A").A[0, 0]
        return [2 * a * p[0] + 1]

    def output(self, t, p, model):
        return p[0], model["x"] ** 2


class Equations(unittest.TestCase):
    def test_functions(self):
        for solver in ("cvode", "bdf", "radau5", "dopri5"):
            result = tutti.simulate(kit("Dahlquist"), set={"k": 2}, stop=2, solver=solver, rtol=1e-9,
                                    equations={"q": lambda t, p, model: model["x"], "r": (1, lambda t, p, model: p[0] - p[1])})
            t = result.time
            np.testing.assert_allclose(result["q"], (1 - np.exp(-2 * t)) / 2, atol=1e-7)
            np.testing.assert_allclose(result["r"], 0.5 + 0.5 * np.exp(-2 * t), atol=1e-7)

    def test_object(self):
        for version in "23":
            result = tutti.simulate(kit("Dahlquist", version), set={"k": 2}, stop=2, rtol=1e-9, equations=Lyapunov())
            np.testing.assert_allclose(result["variance"], 0.25 + 0.25 * np.exp(-4 * result.time), atol=1e-7)
            np.testing.assert_allclose(result["x2"], result["x"] ** 2)

    def test_what_they_see(self):
        seen = []

        def look(t, p, model):
            seen.append((model.states.tolist(), model["x0"], model["mu"], model.linearize("AC")))
            return 0.0

        tutti.simulate(kit("VanDerPol"), stop=0.1, equations={"nothing": look})
        states, x0, mu, matrices = seen[-1]
        self.assertEqual((states[0], mu), (x0, 1))
        self.assertEqual(matrices.A.shape, (2, 2))
        self.assertIsNone(matrices.B)

    def test_stepped_and_reset(self):
        with tutti.Simulation(kit("Dahlquist"), solver="bdf", rtol=1e-8, stop=1, equations={"q": lambda t, p, model: model["x"]}) \
                as simulation:
            for k in (1, 2, 1):
                simulation.reset(set={"k": k}).start().advance()
                self.assertAlmostEqual(simulation.finish()["q"][-1], (1 - np.exp(-k)) / k, places=6)

    def test_functions_that_raise(self):
        def broken(t, p, model):
            raise ZeroDivisionError("of mine")

        try:
            tutti.simulate(kit("Dahlquist"), equations={"q": broken})
            self.fail("it went on")
        except ZeroDivisionError as error:
            self.assertIn("in broken", "".join(traceback.format_tb(error.__traceback__)))
        with tutti.Simulation(kit("Dahlquist"), equations={"q": broken}) as simulation:
            with self.assertRaisesRegex(ZeroDivisionError, "of mine"):
                simulation.start().advance()

    def test_wrong_ones(self):
        ball = kit("Dahlquist")
        for error, words, equations in (
                (TypeError, "no function", {"q": 3}), (TypeError, "equations", 3), (TypeError, "equations", object()),
                (tutti.ArgumentError, "no variable named 'y'", {"q": lambda t, p, model: model["y"]}),
                (ValueError, "A, B, C and D", {"q": lambda t, p, model: model.linearize("AX")}),
                (ValueError, "2 derivatives, not 1|1 derivatives, not 2", {"q": lambda t, p, model: [1, 2]}),
                ((tutti.SolverError, tutti.Error), "finite|solver|cannot", {"q": lambda t, p, model: float("nan")})):
            with self.assertRaisesRegex(error, words):
                tutti.simulate(ball, equations=equations)
        with self.assertRaisesRegex(tutti.ArgumentError, "one FMU"):
            tutti.simulate(TWO, connect=JOINED, equations={"q": lambda t, p, model: 0})
        kept = []
        tutti.simulate(ball, stop=0.1, equations={"q": lambda t, p, model: kept.append(model) or 0})
        with self.assertRaisesRegex(ValueError, "while"):
            kept[0]["x"]


if __name__ == "__main__":
    unittest.main()
