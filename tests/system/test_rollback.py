#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--rollback: FMUs that save no state, or not all of it, are taken back by forking the process that they live in."""
import pathlib
import unittest

from command import can_confine, kit_fmu, test_fmu
from fabrics import FabricTest, processes
from systems import CoupledTest, component, connect, connection, inputs, outputs, ssd, system, words

VERSIONS = "1cs", "2", "3"
# What takes units back.
WAYS = ("--coupling", "relax", "--step", "0.1"), ("--control", "richardson", "--step", "0.1"), ("--rtol", "1e-4", "--interface", "cs"), \
    ("--control", "embedded", "--step", "0.1"), ("--control", "converge", "--step", "0.1")


def ring(fmu, other=None):
    """Two units that follow each other, one of them from elsewhere."""
    return f"a={fmu}", f"b={other or fmu}", *connect("a.x=b.u", "b.x=a.u"), "--set", "a.x=2", "--stop", "1"


def heated(version, model):
    """A thermostat, whose switching is an event to be located, and a wall that delays the weather."""
    return f"h={kit_fmu('Heater', version)}", f"w={kit_fmu(model, version)}", *connect("w.x=h.T_outside"), \
        "--set", "w.x=283.15", "--set", "w.u=263.15", "--set", "h.C=2", "--stop", "30", "--step", "1", "--events", "output"


class Lacking(CoupledTest):
    """Its twin Saving has saved states, and is otherwise the same."""

    def test_as_with_saved_states(self):
        for version in ("2", "3"):
            for way in WAYS:
                with self.subTest(version=version, way=way):
                    own = self.run_(*ring(kit_fmu("Saving", version)), *way)
                    table, stats, units = self.with_stats(*ring(kit_fmu("Lacking", version)), *way)
                    self.assertEqual(table.rows, own.rows)
                    self.assertGreater(units["a"]["rollbacks"] + stats["steps"], 0)
                    self.assertTrue(units["a"]["forked"] and units["b"]["forked"])

    def test_one_of_two(self):
        """The other one goes back by itself."""
        own = self.run_(*ring(kit_fmu("Saving", "2")), "--coupling", "relax", "--step", "0.1")
        table, _, units = self.with_stats(*ring(kit_fmu("Saving", "2"), kit_fmu("Lacking", "2")), "--coupling", "relax",
                                          "--step", "0.1")
        self.assertEqual(table.rows, own.rows)
        self.assertEqual([units[name]["forked"] for name in "ab"], [False, True])

    def test_first_version(self):
        """FMI 1.0 has no saved states at all. (Nor is it told a tolerance.)"""
        plain = self.run_(*ring(kit_fmu("Saving", "2")), "--coupling", "relax", "--step", "0.1")
        first = self.run_(*ring(kit_fmu("Lacking", "1cs")), "--coupling", "relax", "--step", "0.1")
        self.assert_near(first["b.x"], plain["b.x"], 1e-12)

    def test_events(self):
        """Events of one unit are located: all units go back."""
        for version in ("2", "3"):
            own, stats, _ = self.with_stats(*heated(version, "Saving"))
            self.assertGreater(stats["events_located"], 1)
            for more in ((), ("--rollback", "fork")):
                table, stats, units = self.with_stats(*heated(version, "Lacking"), *more)
                self.assertEqual(table.rows, own.rows)
                self.assertEqual(units["h"]["forked"], more != ())
                self.assertGreater(stats["events_located"], 1)
        _, stats, _ = self.with_stats(*heated("1cs", "Lacking"))
        self.assertGreater(stats["events_located"], 1)

    def test_claims(self):
        """Functions that a library claims and lacks."""
        table = self.run_(*ring(kit_fmu("Lacking", "2")), "--coupling", "relax", "--step", "0.1")
        claiming = self.run_(*ring(kit_fmu("Claiming", "2")), "--coupling", "relax", "--step", "0.1")
        self.assertAlmostEqual(claiming["a.x"][-1], table["a.x"][-1], delta=1e-3)

    def test_an_input_file(self):
        """One FMU, whose tolerance takes steps of the right size."""
        self.write("ramp.csv", "time,u\n0,0\n1,1\n")
        options = "--input", "ramp.csv", "--rtol", "1e-3", "--stop", "1", "--interface", "cs"
        own = self.run_(kit_fmu("Saving", "2"), *options)
        table, stats, units = self.with_stats(kit_fmu("Lacking", "2"), *options)
        self.assertEqual(stats["control"], "embedded")
        self.assertEqual([unit["forked"] for unit in units.values()], [True])
        self.assertEqual(table.rows, own.rows)


class Rejecting(CoupledTest):
    """FMI 1.0: a step that is not new is the last one again (canRejectSteps)."""

    def test_as_by_forking(self):
        for way in (("--coupling", "relax", "--step", "0.1"), ("--coupling", "newton", "--step", "0.1"), ("--control", "converge", "--step", "0.1")):
            with self.subTest(way=way):
                forked = self.run_(*ring(kit_fmu("Saving", "1cs")), *way, "--rollback", "fork")
                table, _, units = self.with_stats(*ring(kit_fmu("Saving", "1cs")), *way, "--rollback", "reject")
                self.assertEqual(table.rows, forked.rows)
                self.assertGreater(units["a"]["rollbacks"], 0)
                self.assertFalse(units["a"]["forked"] or units["b"]["forked"])

    def test_events(self):
        table, stats, _ = self.with_stats(*heated("1cs", "Saving"), "--rollback", "reject")
        self.assertGreater(stats["events_located"], 1)
        self.assertEqual(table.rows, self.run_(*heated("1cs", "Saving"), "--rollback", "fork").rows)

    def test_more_than_the_last_step(self):
        self.refused("run", *ring(kit_fmu("Saving", "1cs")), "--control", "richardson", "--step", "0.1", "--rollback", "reject", "-o", "-", status=1,
                     says=("can reject its last step only", "goes back to t = 0, 2 steps ago", "--rollback fork"))

    def test_those_that_cannot(self):
        self.refused("run", *ring(kit_fmu("Lacking", "1cs")), "--coupling", "relax", "--step", "0.1", "--rollback", "reject", "-o", "-", status=1,
                     says=("relax takes units back", "does not save its state", "--rollback auto"))


class Everything(CoupledTest):
    """Any FMU, taken back by forking instead of by its own states: the same bits."""

    def test_kinds_of_fmus(self):
        for model, version, options in (("BouncingBall", "3", ("--events", "early")), ("BouncingBall", "2", ()),
                                        ("Stair", "3", ("--events", "output")), ("VanDerPol", "2", ())):
            fmu = kit_fmu(model, version)
            units = f"a={fmu}", f"b={kit_fmu('Saving', version)}", "--stop", "2", "--rtol", "1e-3", *options
            with self.subTest(fmu=fmu, options=options):
                own = self.run_(*units)
                table, _, forked = self.with_stats(*units, "--rollback", "fork")
                self.assertEqual(table.rows, own.rows)
                self.assertTrue(forked["a"]["forked"])

    def test_model_exchange(self):
        for version in ("2", "3"):
            units = f"a={kit_fmu('BouncingBall', version)}", f"b={test_fmu('Crossings', version)}", "--stop", "2", \
                "--interface", "me", "--rtol", "1e-3"
            with self.subTest(version=version):
                own = self.run_(*units)
                table, _, forked = self.with_stats(*units, "--rollback", "fork")
                self.assertEqual(table.rows, own.rows)
                self.assertTrue(forked["a"]["forked"])

    def test_moving_inputs(self):
        """FMI 3.0 asks for inputs in the middle of a step: calls inside of calls."""
        tracker = kit_fmu("Tracker", "3")
        units = f"a={tracker}", f"b={tracker}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=1", "--stop", "1", \
            "--step", "0.1", "--coupling", "relax"
        self.assertEqual(self.run_(*units, "--rollback", "fork").rows, self.run_(*units).rows)

    def test_files_that_are_read(self):
        """The place in a file is that of the point, too."""
        for version in VERSIONS:
            with self.subTest(version=version):
                units = f"r={test_fmu('Reel', version)}", f"l={kit_fmu('Lacking', version)}", *connect("r.x=l.u", "l.x=r.u"), \
                    "--stop", "1", "--step", "0.1"
                plain = self.run_(*units, "--coupling", "seidel", "--control", "fixed")
                table, _, forked = self.with_stats(*units, "--coupling", "relax")
                self.assertGreater(forked["r"]["rollbacks"], 0)
                self.assertEqual(table["r.x"], plain["r.x"])

    def test_floating_point_modes(self):
        """As in the process of the run, they are what they were after every call, and that is told."""
        faulty = kit_fmu("Faulty", "2")
        units = f"a={faulty}", f"b={faulty}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--stop", "1", "--step", \
            "0.1", "--coupling", "relax"
        fault = {"KIT_FAULT": "round DoStep @b"}
        plain = self.run_(*units, env=fault)
        outcome = self.tutti("run", *units, "--rollback", "fork", "-o", self.path("result.csv"), env=fault)
        self.assertRegex(outcome.err, "warning: b: fmi2DoStep changes a floating-point mode of the processor.* at t = 0")
        self.assertEqual(self.result().rows, plain.rows)

    def test_messages(self):
        faulty = kit_fmu("Faulty", "2")
        units = f"a={faulty}", f"b={faulty}", *connect("a.y=b.u", "b.y=a.u"), "--stop", "1", "--step", "0.1", \
            "--coupling", "relax", "--rollback", "fork"
        outcome = self.tutti("run", *units, "-o", self.path("none.csv"), env={"KIT_FAULT": "warning DoStep 0.45 @b"})
        self.assertRegex(outcome.err, r"warning: b: .*fault: DoStep warns at t = 0\.4")
        outcome = self.tutti("run", *units, "-o", self.path("none.csv"), status=1, env={"KIT_FAULT": "error DoStep 0.45 @b"})
        self.assertRegex(outcome.err, r'error: b .*fmi2DoStep returned Error at t = 0\.4\.* The FMU.s last messages: ".*fault')


class Choice(CoupledTest):
    def forked(self, *arguments, **more):
        outcome = self.tutti("run", *arguments, "-o", self.path("result.csv"), "--stats", self.path("stats.json"), **more)
        return [unit["forked"] for unit in self.stats()["units"]], self.stats(), outcome

    def test_not_unless_it_is_asked_for(self):
        """Without a tolerance, or a method that goes back, units that do not save run as they did."""
        for options in ((), ("--step", "0.1"), ("--step", "0.1", "--coupling", "seidel"), ("--step", "0.1", "--rtol", "1e-3"),
                        ("--rollback", "fmu", "--rtol", "1e-3")):
            forked, stats, _ = self.forked(*ring(kit_fmu("Lacking", "2")), *options)
            self.assertEqual((forked, stats["control"]), ([False, False], "fixed"), options)
        for options in (("--rtol", "1e-3"), ("--step", "0.1", "--coupling", "relax")):
            self.assertEqual(self.forked(*ring(kit_fmu("Saving", "2")), *options)[0], [False, False])
        self.assertEqual(self.forked(kit_fmu("Lacking", "2"), "--rtol", "1e-3")[0], [False])

    def test_own_states_only(self):
        outcome = self.tutti("run", *ring(kit_fmu("Lacking", "2")), "--coupling", "relax", "--rollback", "fmu", "-o",
                             self.path("none.csv"), status=1)
        self.assertRegex(outcome.err, r"takes units back, and 'a' \(.*\) cannot: it does not save its state; use "
                                      "--rollback auto, --coupling seidel, or an FMU")
        _, _, outcome = self.forked(*ring(kit_fmu("Lacking", "1cs")), "--rtol", "1e-3", "--rollback", "fmu")
        self.assertRegex(outcome.err, r"--rtol does not control the error .*: 'a' cannot go back.* Use --rollback auto, or")

    def test_incomplete_states(self):
        """An FMU that forgets is found out at the start, and taken back by forking."""
        for version in ("2", "3"):
            fmu = kit_fmu("Faulty", version)
            units = f"a={fmu}", f"b={fmu}", *connect("a.y=b.u", "b.y=a.u"), "--set", "a.x=2", "--stop", "1"
            for options in (("--coupling", "relax", "--step", "0.1"), ("--rtol", "1e-3", "--interface", "cs")):
                own = self.run_(*units, *options)
                forked, _, outcome = self.forked(*units, *options, env={"KIT_FAULT": "lose SetFMUstate|SetFMUState @b"})
                self.assertRegex(outcome.err, r"warning: b: the FMU does not come back to a state that it saved .*'y' at "
                                              r"t = .* it is taken back by forking")
                self.assertEqual(forked, [False, True])
                self.assertEqual(self.result().rows, own.rows)

    def test_a_word_that_is_none(self):
        self.refused("run", *ring(kit_fmu("Lacking", "2")), "--rollback", "never", status=2, says="--rollback")

    def test_annotation_of_one_unit(self):
        """In a system file, for the unit that it is about."""
        names = self.bring(kit_fmu("Saving", "2"))
        ports = inputs("u"), outputs("x")
        text = ssd(system(component("a", names[0], *ports, inside=words(rollback="fork")), component("b", names[0], *ports),
                          connect=connection("a.x", "b.u") + connection("b.x", "a.u")))
        forked, _, _ = self.forked(self.write("ring.ssd", text), "--stop", "1", "--rtol", "1e-3")
        self.assertEqual(forked, [True, False])

    def test_cost(self):
        """Points and ways back are counted, and told with what they took."""
        _, stats, outcome = self.forked(*ring(kit_fmu("Lacking", "2")), "--coupling", "relax", "--step", "0.1")
        self.assertRegex(outcome.err, r"\nforks +2 units: 20 points \(.*s\), \d+ ways back \(.*s\)\n")
        for unit in stats["units"]:
            self.assertEqual(unit["points"], 10)
            self.assertGreaterEqual(unit["save_seconds"], 0)
        _, _, outcome = self.forked(*ring(kit_fmu("Saving", "2")), "--coupling", "relax", "--step", "0.1")
        self.assertNotIn("\nforks", outcome.err)


class Check(CoupledTest):
    """`tutti check --run` tells how an FMU can be taken back."""

    def check(self, fmu, fault=""):
        return self.tutti("check", "--run", fmu, env={"KIT_FAULT": fault}).err

    def test_ways(self):
        same = "steps from [0-9]+ points were the same when they were repeated"
        fork = r"it can be taken back by forking its process \(--rollback\): " + same
        for version in ("2", "3"):
            self.assertRegex(self.check(kit_fmu("Saving", version)), "Co-Simulation: it goes back by its saved states: " + same)
            self.assertRegex(self.check(kit_fmu("Lacking", version)), "Co-Simulation: it saves no state, but " + fork)
            faulty, fault = kit_fmu("Faulty", version), "lose SetFMUstate|SetFMUState"
            self.assertRegex(self.check(faulty, fault), "Co-Simulation: its saved states are incomplete, but " + fork)
            self.assertRegex(self.check(faulty, f"{fault}; thread Instantiate"), "Co-Simulation: it cannot go back: .*2 threads")
        self.assertRegex(self.check(kit_fmu("Lacking", "1cs")), "Co-Simulation: it saves no state, but " + fork)

    def test_in_silence(self):
        self.assertEqual(self.tutti("check", "--run", "--quiet", kit_fmu("Lacking", "2")).err, "")


class Fabrics(FabricTest):
    def test_the_same_everywhere(self):
        for way in (WAYS[0], WAYS[2]):
            arguments = *ring(kit_fmu("Lacking", "2")), *way
            plain = self.ran(*arguments, log=True)
            for fabric in self.fabrics():
                with self.subTest(way=way, fabric=str(fabric.options)):
                    ran = self.ran(*arguments, fabric=fabric, log=True)
                    self.assertEqual(ran.status, 0, ran.err)
                    self.assertEqual(ran.files, plain.files)

    def test_confined(self):
        """Without a word about what Tutti itself does there."""
        if why := can_confine():
            self.skipTest(why)
        arguments = *ring(kit_fmu("Lacking", "2")), *WAYS[0]
        plain = self.ran(*arguments)
        outcome = self.tutti("run", *arguments, *processes(2).options, "--confine", "strict", "-o", "result.csv", "--quiet")
        self.assertEqual(outcome.err, "")
        self.assertEqual(pathlib.Path(self.path("result.csv")).read_bytes(), plain.files["result.csv"])


if __name__ == "__main__":
    unittest.main()
