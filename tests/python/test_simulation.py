#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tutti.Simulation: steps, values, ways back; and linearisations."""
import os
import tempfile
import threading
import unittest

import numpy as np

from common import JOINED, TWO, kit

import tutti


class Simulation(unittest.TestCase):
    def test_steps(self):
        with tutti.Simulation(kit("Dahlquist"), step=0.1, stop=1) as simulation:
            times = list(simulation)
            self.assertEqual(times[-1], 1)
            self.assertTrue(simulation.is_over)
            result = simulation.finish()
        whole = tutti.simulate(kit("Dahlquist"), step=0.1, stop=1)
        self.assertTrue(np.array_equal(result["x"], whole["x"]))
        self.assertEqual(result.statistics["steps"], whole.statistics["steps"])

    def test_values(self):
        with tutti.Simulation(TWO, connect=JOINED, step=0.01, stop=1) as simulation:
            self.assertEqual(simulation.variables["a.x"].causality, "output")
            simulation["a.x_left"] = 0.1
            simulation.start()
            simulation.advance(0.5)
            places = simulation.find(["a.x", "b.x"])
            self.assertEqual(simulation.get(places).tolist(), [simulation["a.x"], simulation["b.x"]])
            simulation.put("a.x_left", 0.2)
            simulation.put(simulation.find(["a.x_left"]), [0.3])
            simulation.step()
            self.assertEqual(simulation["a.x_left"], 0.3)

    def test_ways_back(self):
        with tutti.Simulation(kit("VanDerPol"), interface="me", solver="bdf", stop=2) as simulation:
            simulation.start()
            simulation.advance(1)
            point = simulation.save()
            simulation.advance(2)
            first = simulation["x0"]
            simulation.restore(point)
            self.assertEqual(simulation.time, 1)
            simulation.advance(2)
            self.assertEqual(simulation["x0"], first)

    def test_the_result_has_one_past(self):
        """What was recorded after a point goes when the simulation goes back there: by a point, and by a file."""
        for model, options in (("VanDerPol", {"step": 0.1}), ("BouncingBall", {"step": 0.05, "stop": 1.5}), ("Stair", {"step": 0.3})):
            with self.subTest(model=model), tempfile.TemporaryDirectory() as folder:
                expected = tutti.simulate(kit(model), **{"stop": 2, **options})
                path = os.path.join(folder, "point")
                with tutti.Simulation(kit(model), **{"stop": 2, **options}) as simulation:
                    simulation.start()
                    simulation.advance(0.6)
                    point = simulation.save()
                    simulation.save(path)
                    for back in (point, path, point):
                        simulation.advance(1.2)
                        simulation.restore(back)
                        self.assertEqual(simulation.result.time[-1], simulation.time)
                    result = simulation.result
                    simulation.advance()
                    final = simulation.finish()
                np.testing.assert_allclose(final.time, expected.time, rtol=1e-12)
                self.assertLess(len(result.time), len(final.time))
                for name in expected:
                    np.testing.assert_allclose(final[name], expected[name], rtol=1e-9, atol=1e-12)

    def test_points_of_an_earlier_run(self):
        """A point is refused after a reset, though the next ones may lie in the same memory."""
        with tutti.Simulation(kit("VanDerPol"), step=0.1, stop=2) as simulation:
            simulation.start()
            old = [simulation.save() for _ in range(20)]
            simulation.reset().start()
            new = [simulation.save() for _ in range(40)]
            for point in old:
                with self.assertRaisesRegex(tutti.ArgumentError, "or before a reset"):
                    simulation.restore(point)
            del old[:]
            for point in new:
                simulation.restore(point)

    def test_points_in_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "point")
            with tutti.Simulation(kit("VanDerPol"), step=0.01, stop=2, record="none") as one:
                one.start().advance(1)
                one.save(path)
                one.advance(2)
                expected = one["x0"]
            with tutti.Simulation(kit("VanDerPol"), step=0.01, stop=2, record="none") as two:
                two.start().restore(path)
                two.advance(2)
                self.assertEqual(two["x0"], expected)

    def test_reset(self):
        def alone(mu):
            return tutti.simulate(kit("VanDerPol"), step=0.01, stop=2, set={"mu": mu})

        results = {}
        with tutti.Simulation(kit("VanDerPol"), step=0.01, stop=2) as simulation:
            for mu in (1, 2, 4, 2):
                simulation.reset(set={"mu": mu}).start()
                self.assertEqual(simulation.advance(), simulation.stop)
                results[mu] = simulation.finish()
            simulation.reset()
            with self.assertRaises(tutti.Error):
                simulation.step()
            self.assertEqual(list(simulation)[-1], 2)
            results[1.0] = simulation.finish()
            with self.assertRaises(tutti.ArgumentError):
                simulation.reset(set={"nothing": 1})
        for mu, result in results.items():
            expected = alone(mu)
            self.assertTrue(np.array_equal(result["x0"], expected["x0"]), mu)
            self.assertEqual(result.statistics["steps"], expected.statistics["steps"])

    def test_reset_of_units_in_python(self):
        """Their methods are called by runs only, not to try FMUs beside them."""
        class Clock:
            outputs = ["y"]

            def __init__(self):
                self.calls, self.y = 0, 0.0

            def start(self, t):
                self.calls, self.y = 0, t

            def step(self, t, h):
                self.calls += 1
                self.y = t + h
                if self.calls > self.most:
                    raise RuntimeError("enough")

        clock = Clock()
        with tutti.Simulation({"clock": clock, "ball": kit("BouncingBall")}, coupling="jacobi", step=0.1, stop=1) as simulation:
            for most in (100, 5, 100):
                clock.most = most
                simulation.reset().start()
                if most == 5:
                    with self.assertRaisesRegex(RuntimeError, "enough"):
                        simulation.advance()
                else:
                    simulation.advance()
                    self.assertEqual(simulation["clock.y"], 1)
                self.assertEqual(clock.calls, min(most + 1, 10))

    def test_interrupt(self):
        """Ctrl-C between steps, or in a unit in Python, leaves a simulation that can be closed and reset."""
        class Impatient:
            outputs, y = ["y"], 0.0

            def step(self, t, h):
                if t > 0.45:
                    raise KeyboardInterrupt

        with tutti.Simulation({"a": Impatient(), "b": kit("Dahlquist")}, step=0.1, stop=1) as simulation:
            for _ in range(2):
                with self.assertRaises(KeyboardInterrupt):
                    simulation.start().advance()
                self.assertGreater(len(simulation.result.time), 4)
                simulation.reset()

    def test_other_threads(self):
        """One thread at a time, whichever it is."""
        with tutti.Simulation(kit("Dahlquist"), step=0.1, stop=1) as simulation:
            for call in (simulation.start, lambda: simulation.advance(0.5), simulation.step, simulation.advance):
                thread = threading.Thread(target=call)
                thread.start()
                thread.join()
            self.assertTrue(simulation.is_over)

    def test_wrong_use(self):
        simulation = tutti.Simulation(kit("Dahlquist"))
        with self.assertRaises(tutti.Error):
            simulation.step()
        simulation.start()
        with self.assertRaises(tutti.Error):
            simulation.get("nothing")
        with self.assertRaises(tutti.Error):
            simulation.get(10**6)
        with self.assertRaises(ValueError):
            simulation.put(simulation.find(["x"]), [1, 2])
        point = simulation.save()
        simulation.close()
        simulation.close()
        for call in (simulation.step, lambda: simulation.get("x"), lambda: simulation.restore(point), simulation.start):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()
        with tutti.Simulation(kit("Dahlquist")) as other:
            other.start()
            with self.assertRaisesRegex(ValueError, "another"):
                other.restore(point)
        del point

    def test_linearize(self):
        system = tutti.linearize(kit("Dahlquist"), set={"k": 3})
        self.assertEqual(system.states, ["x"])
        np.testing.assert_allclose(system.A, [[-3]], rtol=1e-6)
        np.testing.assert_allclose(system.eigenvalues, [-3], rtol=1e-6)
        self.assertIn("stable", system.stability)


if __name__ == "__main__":
    unittest.main()
