#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `auto` may never do: correct across a jump, take an unstable coupling though it knows better, ignore a tolerance."""
import json
import unittest

from command import CommandTest, kit_fmu, test_fmu


class ChoicesTest(CommandTest):
    def stats(self, *arguments, **options):
        self.tutti("run", *arguments, "-o", "result.csv", "--stats", "stats.json", "--log-level", "warning", **options)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return json.load(file)


class Statistics(ChoicesTest):
    def test_no_run_no_numbers(self):
        self.refused("run", "missing.fmu", "--stats", "stats.json", status=1, says="missing.fmu")
        with open(self.path("stats.json"), encoding="utf-8") as file:
            self.assertNotIn("steps", json.load(file))


class Analysis(ChoicesTest):
    """`tutti analyze` reports what a run with the same options chooses, also where components are forked to make rollback possible."""

    def test_it_agrees_with_the_run(self):
        for version in ("1cs", "2", "3"):
            tracker = kit_fmu("Tracker", version)
            pair = f"a={tracker}", f"b={tracker}", "--connect", "a.y=b.u", "--stop", "1"
            for options in ((), ("--step", "0.1"), ("--rtol", "1e-3"), ("--rtol", "1e-3", "--interface", "cs"), ("--coupling", "relax"),
                            ("--control", "richardson"), ("--events", "early"), ("--coupling", "federated")):
                with self.subTest(version=version, options=options):
                    stats = self.stats(*pair, *options)
                    choices = json.loads(self.tutti("analyze", *pair, *options, "--json").out)["choices"]
                    for name in ("coupling", "control", "extrapolate", "events"):
                        self.assertEqual(choices[name], {"value": str(stats[name]), "reason": stats["reasons"][name]})


class Jumps(ChoicesTest):
    """A tap that closes when the tank is full. The relay jumps without an event, and the tank tells a dependency that is none:
    a loop with rho(DL) = 0, and a D of 1e6 where the level passes the limit."""

    def loop(self, version):
        return (f"relay={test_fmu('Relay', version)}", f"tank={test_fmu('Tank', version)}", "--connect", "relay.y=tank.u",
                "--connect", "tank.y=relay.u")

    def test_auto_corrects_nothing(self):
        for version in ("2", "3"):
            for options in ((), ("--step", "0.01"), ("--rtol", "1e-5")):
                with self.subTest(version=version, options=options):
                    stats = self.stats(*self.loop(version), *options)
                    self.assertEqual((stats["coupling"], stats["correct"]), ("seidel", False))
                    self.assertAlmostEqual(self.result()["tank.y"][-1], 2.5, delta=0.03)

    def test_a_correction_does_not_explode(self):
        """--correct, asked for: D across the jump is none."""
        for version in ("2", "3"):
            for step in ("0.1", "0.01", "0.003"):
                with self.subTest(version=version, step=step):
                    self.stats(*self.loop(version), "--correct", "--step", step)
                    self.assertAlmostEqual(self.result()["tank.y"][-1], 2.5, delta=3 * float(step))
            self.stats(*self.loop(version), "--correct")
            self.assertAlmostEqual(self.result()["tank.y"][-1], 2.5, delta=0.1)


class Stability(ChoicesTest):
    """y = 1 - 3 u and y = 2 u: rho(DL) = 2.45, the solution is y = 1/7."""

    def loop(self, *more):
        relation = test_fmu("Relation", "2")
        return (f"a={relation}", f"b={relation}", *more, "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set",
                "a.factor=-3", "--set", "b.factor=2", "--set", "a.offset=1", "--stop", "1", "--step", "0.01")

    def test_a_unit_outside_the_loop_blocks_nothing(self):
        """It gives no derivatives, and cannot go back."""
        for stuck in (test_fmu("StuckMixer", "2"), kit_fmu("Tracker", "1cs")):
            signal = "stuck.u1" if "Mixer" in stuck else "stuck.u"
            stats = self.stats(*self.loop(f"stuck={stuck}"), "--connect", f"a.y={signal}")
            self.assertEqual((stats["coupling"], stats["correct"]), ("jacobi", True))
            for y in self.result()["a.y"]:
                self.assertAlmostEqual(y, 1 / 7, 9)

    def test_no_stable_choice_is_an_error(self):
        stuck = test_fmu("StuckMixer", "2")
        loop = (f"a={stuck}", f"b={stuck}", "--connect", "a.y3=b.u1", "--connect", "b.y3=a.u1", "--set", "a.d31=0.05",
                "--set", "b.d31=-0.02", "--step", "0.01")
        self.refused("run", *loop, "-o", "result.csv", status=1,
                     says=("'a' ", "StuckMixer", r"rho\(DL\) = 3\.16", "--interface me", "--coupling seidel"))
        told = json.loads(self.tutti("analyze", *loop, "--json", status=1).out)
        self.assertIn("rho(DL)", told["failure"])
        self.assertTrue(self.stats(*loop, "--interface", "me")["correct"])
        stats = self.stats(*loop, "--set", "a.d31=0.004")  # rho(DL) = 0.89
        self.assertEqual((stats["coupling"], stats["correct"]), ("seidel", False))
        self.stats(*loop, "--coupling", "seidel", "--stop", "0.1")  # whoever asks for it

    def test_one_fmu_connected_to_itself(self):
        """y = 1 - 3 u u with u = y: a loop like any other."""
        plain = test_fmu("PlainRelation", "2")
        for relation in (test_fmu("Relation", "2"), plain, test_fmu("Relation", "3")):
            stats = self.stats(f"a={relation}", "--connect", "a.y=a.u", "--set", "a.factor=-3", "--set", "a.offset=1",
                               "--step", "0.01")
            self.assertEqual((stats["coupling"], stats["correct"]), ("jacobi", True))
            self.assertAlmostEqual(self.result()["y"][-1], 0.25, 9)


class NoNumbers(ChoicesTest):
    def test_a_coupling_that_explodes_is_an_error(self):
        """Also on the plain path, where nothing is recorded: y = 1 - 30 u, and y = 2 u."""
        relation = test_fmu("Relation", "2")
        loop = (f"a={relation}", f"b={relation}", "--connect", "a.y=b.u", "--connect", "b.y=a.u", "--set", "a.factor=-30",
                "--set", "b.factor=2", "--set", "a.offset=1", "--stop", "10", "--step", "0.01", "--control", "fixed")
        for coupling in ("jacobi", "seidel"):
            for record in ((), ("--record", "none"), ("--output-step", "1"), ("--threads", "2")):
                with self.subTest(coupling=coupling, record=record):
                    outcome = self.tutti("run", *loop, "--coupling", coupling, "--extrapolate", "0", *record, "-o",
                                         "result.csv", "--quiet", status=1)
                    self.assertRegex(outcome.err, r"error: t = [\d.]+: '[ab]\.y' is not finite.*tutti analyze")

    def test_an_output_that_nothing_reads(self):
        """A warning where it begins, also with --quiet; and an error if it stays so to the end, with all rows."""
        faulty = kit_fmu("Faulty", "2")
        for fault, status in (("nan GetReal 0.5+", 1), ("nan GetReal 0.5", 0)):
            outcome = self.tutti("run", faulty, "-o", "result.csv", "--quiet", env={"KIT_FAULT": fault}, status=status)
            self.assertRegex(outcome.err, r"warning: .*'y' is not a number \(NaN\) at t = 0\.5")
            self.assertEqual("error: 'y' is not a number (NaN) from t = 0.5 to the end of the run, t = 1" in outcome.err, status == 1)
            self.assertEqual(self.result()["time"][-1], 1)

    def test_a_state_is_an_error_at_once(self):
        """Euler steps of 0.01 explode for mu = 300: at t = 0.1 there is no number left."""
        stiff = kit_fmu("VanDerPol", "3")
        pair = (f"a={stiff}", f"b={stiff}", "--set", "a.mu=300", "--step", "0.1")
        for arguments, name in (((stiff, "--set", "mu=300"), "x0"), (pair, "a.x0"), ((*pair, "--threads", "2"), "a.x0")):
            with self.subTest(arguments=arguments[1:]):
                outcome = self.tutti("run", *arguments, "--stop", "1000", "--interface", "cs", "-o", "result.csv", status=1)
                self.assertRegex(outcome.err, rf"error: t = 0\.1: the state '{name}' is not finite \(NaN\)")
                self.assertEqual(self.result()["time"], [0])

    def test_the_source_is_named_and_not_its_victim(self):
        """The victim comes first by name and, for Gauss-Seidel, has seen the NaN in the same step. The rows end before it."""
        source, victim = kit_fmu("Faulty", "2"), test_fmu("Relation", "2")
        chain = (f"b={victim}", f"a={victim}", f"z={source}", "--connect", "z.y=a.u", "--connect", "a.y=b.u", "--step", "0.125",
                 "--stop", "1", "--interface", "cs", "--control", "fixed")
        for options in ((), ("--coupling", "jacobi"), ("--output-step", "0.25"), ("--record", "none"), ("--threads", "3")):
            with self.subTest(options=options):
                outcome = self.tutti("run", *chain, *options, "-o", "result.csv", "--quiet", env={"KIT_FAULT": "nan GetReal 0.625+"},
                                     status=1)
                self.assertIn("error: t = 0.625: 'z.y' is not finite (NaN)", outcome.err)
                if "none" not in options:
                    self.assertEqual(self.result()["time"][-1], 0.5)

    def test_an_input_that_is_none(self):
        """A file gives it: that is named."""
        victim = test_fmu("Relation", "2")
        self.write("u.csv", "time,a.u\n0,1\n0.5,nan\n1,2\n")
        outcome = self.tutti("run", f"a={victim}", f"b={victim}", "--connect", "a.y=b.u", "--input", "u.csv", "--stop", "1", "--step",
                             "0.1", "--quiet", status=1)
        self.assertIn("error: t = 0.1: 'a.y' is not finite (NaN), and inputs follow it: the input 'u' of 'a' is not finite, which "
                      "u.csv drives", outcome.err)


class Tolerance(ChoicesTest):
    """--rtol where a unit cannot go back."""

    def units(self):
        tracker = kit_fmu("Tracker", "1cs")
        return (f"a={tracker}", f"b={kit_fmu('Tracker', '2')}", "--connect", "a.y=b.u", "--rollback", "fmu")

    def test_it_is_not_ignored_in_silence(self):
        for fabric in ((), ("--threads", "2"), ("--processes", "2")):
            for quiet in ((), ("--quiet",)):
                outcome = self.tutti("run", *self.units(), "--rtol", "1e-6", "-o", "result.csv", *quiet, *fabric)
                warnings = [line for line in outcome.err.splitlines() if "warning" in line]
                self.assertEqual(len(warnings), 1, outcome.err)
                for words in ("--rtol", "'a' cannot go back", "--step", "0.1"):
                    self.assertIn(words, warnings[0])

    def test_the_way_out(self):
        stuck = test_fmu("StuckMixer", "2")
        mixers = (f"a={stuck}", f"b={stuck}", "--connect", "a.y1=b.u1", "--rtol", "1e-5", "-o", "result.csv", "--quiet")
        self.assertIn("Use --rollback auto, --interface me, or", self.tutti("run", *mixers, "--rollback", "fmu").err)
        self.assertEqual(self.tutti("run", *mixers, "--interface", "me").err, "")
        for options in (("--step", "0.05"), ("--control", "fixed")):  # whoever says how
            self.assertEqual(self.tutti("run", *self.units(), "--rtol", "1e-6", *options, "-o", "result.csv", "--quiet").err, "")


if __name__ == "__main__":
    unittest.main()
