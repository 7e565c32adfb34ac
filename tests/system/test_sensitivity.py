# SPDX-License-Identifier: MIT
"""How solutions follow parameters: --sensitivity, against closed forms."""

import json
import math
import unittest

from command import CommandTest, Table, kit_fmu

SOLVERS = ("cvode", "bdf", "radau5", "ida", "dirk", "dopri5", "dopri8", "switch")


class Smooth(CommandTest):
    def sensitivities(self, fmu, *options):
        return Table(self.tutti("run", fmu, *options, "-o", "-", "--quiet").out)

    def test_decay(self):
        """x = exp(-k t), dx/dk = -t x. (FMI 2.0 and 3.0; without directional derivatives.)"""
        for version in ("2", "3"):
            for solver in SOLVERS:
                with self.subTest(version=version, solver=solver):
                    table = self.sensitivities(kit_fmu("Dahlquist", version), "--sensitivity", "k", "--set", "k=0.5", "--rtol", "1e-8",
                                               "--solver", solver, "--stop", "5", "--step", "0.5")
                    self.assert_near(table["d(x)/d(k)"], [-t * math.exp(-0.5 * t) for t in table.times], 1e-5)

    def test_with_a_moving_input_and_outputs(self):
        """x' = (t - x) / T: x = t - T + T exp(-t / T), dx/dT = -1 + exp(-t/T) (1 + t/T); error = u - x. With directional derivatives."""
        for version, signal in (("2", ("--signal", "u=time")), ("3", ("--signal", "u=time")),
                                ("2", ("--input", self.write("u.csv", "time,u\n0,0\n10,10\n")))):
            table = self.sensitivities(kit_fmu("Tracker", version), "--sensitivity", "T", *signal, "--rtol", "1e-8", "--stop", "2", "--step", "0.25")
            exact = [-1 + math.exp(-2 * t) * (1 + 2 * t) for t in table.times]
            self.assert_near(table["d(x)/d(T)"], exact, 1e-5)
            self.assert_near(table["d(y)/d(T)"], exact, 1e-5)
            self.assert_near(table["d(error)/d(T)"], [-value for value in exact], 1e-5)

    def test_van_der_pol_against_runs_beside(self):
        options = ("--rtol", "1e-10", "--solver", "radau5", "--stop", "4", "--step", "0.5")
        table = self.sensitivities(kit_fmu("VanDerPol", "3"), "--sensitivity", "mu", *options)
        more, less = (self.sensitivities(kit_fmu("VanDerPol", "3"), "--set", f"mu={mu}", *options) for mu in (1.0005, 0.9995))
        for name in ("x0", "x1"):
            self.assert_near(table[f"d({name})/d(mu)"], [(a - b) / 1e-3 for a, b in zip(more[name], less[name])], 1e-4)


    def test_van_der_pol_by_every_solver(self):
        """Where equations are not linear, the Jacobian that solvers get is not the whole one: no solver may lose its order by that."""
        options = ("--sensitivity", "mu", "--stop", "4", "--step", "0.5")
        exact = self.sensitivities(kit_fmu("VanDerPol", "3"), *options, "--rtol", "1e-11", "--solver", "radau5")
        for solver in SOLVERS:
            run = self.tutti("run", kit_fmu("VanDerPol", "3"), *options, "--rtol", "1e-6", "--solver", solver, "-o", "-", "--quiet",
                             "--stats", self.path("stats.json"))
            table = Table(run.out)
            for name in ("d(x0)/d(mu)", "d(x1)/d(mu)"):
                span = max(exact[name]) - min(exact[name])
                self.assert_near(table[name], exact[name], 3e-5 * span)
            with open(self.path("stats.json"), encoding="utf-8") as file:
                self.assertLess(json.load(file)["units"][0]["solver_steps"], 1000, solver)


class Events(CommandTest):
    def test_bounces(self):
        """A ball from height 1: V = sqrt(2 g), t_n = V / g (1 + 2 e + ... + 2 e^(n-1)), after bounce n v = e^n V - g (t - t_n)."""
        g, e = 9.81, 0.7
        speed = math.sqrt(2 * g)
        for version, solver in (("2", "cvode"), ("3", "bdf"), ("3", "dopri5"), ("2", "radau5")):
            with self.subTest(version=version, solver=solver):
                table = Table(self.tutti("run", kit_fmu("BouncingBall", version), "--solver", solver, "--rtol", "1e-10", "--sensitivity", "e,g",
                                         "--stop", "1.9", "--step", "0.1", "-o", "-", "--quiet").out)
                bounces = table["bounces"]
                self.assertEqual(max(bounces), 4)
                for row, (t, n) in enumerate(zip(table.times, (int(n) for n in bounces))):
                    t_n = speed / g * (1 + 2 * sum(e**k for k in range(1, n))) if n else 0
                    by_e = 2 * speed / g * sum(k * e**(k - 1) for k in range(1, n)) if n else 0
                    by_g = -t_n / (2 * g)  # t_n goes with 1 / sqrt(g)
                    first = n * e**(n - 1) * speed if n else 0
                    start = e**n * speed if n else 0
                    self.assertAlmostEqual(table["d(v)/d(e)"][row], first + g * by_e, delta=1e-4 * (1 + first))
                    fall = t - t_n
                    self.assertAlmostEqual(table["d(v)/d(g)"][row], start / (2 * g) - fall + g * by_g, delta=1e-5)
                    self.assertAlmostEqual(table["d(h)/d(e)"][row], first * fall - start * by_e + g * fall * by_e, delta=1e-4 * (1 + first))

    def test_times_of_bounces(self):
        """Where h = 0: dt/de = -S_h / v. The third bounce is at V / g (1 + 2 e + 2 e^2)."""
        table = Table(self.tutti("run", kit_fmu("BouncingBall", "3"), "--solver", "cvode", "--rtol", "1e-10", "--sensitivity", "e", "--stop",
                                 "1.9", "-o", "-", "--quiet").out)
        row = table["bounces"].index(3) - 1
        slope = -table["d(h)/d(e)"][row] / table["v"][row]
        self.assertAlmostEqual(slope, math.sqrt(2 / 9.81) * (2 + 4 * 0.7), delta=1e-5)


class Refusals(CommandTest):
    def test_what_cannot_be(self):
        fmu = kit_fmu("VanDerPol", "2")
        for text, says in (("mi", ["no parameter 'mi'", "did you mean 'mu'"]), ("x0", ["'x0' is no parameter that can be set"]),
                           ("mu,mu", ["named twice"]), ("", ["no parameter ''"]), ("mu,A[1,2]", ["no parameter 'A\\[1,2\\]'"])):
            self.refused("run", fmu, "--sensitivity", text, status=2, says=says)
        self.refused("run", fmu, "--sensitivity", "mu", "--checkpoint", "c", status=2, says="checkpoints")
        self.refused("run", fmu, "--sensitivity", "mu", "--solver", "rodas", status=1, says=["--solver rodas needs the whole Jacobian", "radau5"])
        self.refused("run", fmu, "--sensitivity", "mu", "--interface", "cs", status=2, says="--sensitivity is for Model Exchange")
        self.refused("run", kit_fmu("Dahlquist", "1me"), "--sensitivity", "k", status=1, says="FMI 2.0 or 3.0")
        self.refused("run", kit_fmu("StateSpace", "3"), "--sensitivity", "A", status=2, says="no scalar Float64 parameter")
        self.refused("run", f"a={fmu}", f"b={fmu}", "--sensitivity", "a.mu", status=2, says="for one FMU")
        self.refused("run", kit_fmu("Dahlquist", "1cs"), "--sensitivity", "k", status=1, says="no Model Exchange")


if __name__ == "__main__":
    unittest.main()
