#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tutti run` records where nobody chooses: of FMUs without outputs what moves inside them; and connectors of systems; a
result that is gone before the run ends."""
import fcntl
import os
import re
import select
import tempfile
import unittest

from command import CommandTest, description, kit_fmu
from ssp_text import (CELSIUS, F2, KELVIN, SspTest, component, connect, connector, inputs, linear, outputs, ssd, system)


class RecordTest(CommandTest):
    def silent(self, fmu, *edits, name="silent.fmu"):
        """A copy whose outputs are local variables; `edits` are pairs of a pattern and what it becomes."""
        old = new = description(fmu)
        local = "internal" if 'fmiVersion="1.0"' in old else "local"
        for pattern, text in (('causality="output"', f'causality="{local}"'), (r"<DirectDependency>.*?</DirectDependency>", ""),
                              (r"<Output .*/>", ""), (r"(?s)<Outputs>.*?</Outputs>", ""), *edits):
            new = re.sub(pattern, text, new)
        return self.altered(fmu, (old, new), name=name)

    def run_(self, *arguments, **options):
        """The warnings of a run, and its table."""
        outcome = self.tutti("run", *arguments, "-o", "result.csv", **options)
        return outcome.lines("warning"), self.result()


class WithoutOutputs(RecordTest):
    def test_states_are_recorded_where_the_description_names_them(self):
        for version in "2", "3":
            with self.subTest(version=version):
                warnings, table = self.run_(self.silent(kit_fmu("BouncingBall", version)))
                self.assertEqual(table.header, ["time", "h", "v"])
                self.assertEqual(len(warnings), 1, warnings)
                self.assertRegex(warnings[0], "no outputs; recorded instead: 2 continuous states; --record PATTERN")
                self.assertEqual(table["h"][0], 1)
                self.assertLess(table["h"][-1], 0.1)

    def test_of_fmi_1_locals_that_may_change_are_recorded(self):
        for version in "1cs", "1me":
            with self.subTest(version=version):
                warnings, table = self.run_(self.silent(kit_fmu("BouncingBall", version)))
                self.assertEqual(table.header, ["time", "h", "der(h)", "v", "der(v)", "bounces", "above"])
                self.assertRegex(warnings[0], "no outputs; recorded instead: 6 local variables; ")

    def test_aliases_are_recorded_once(self):
        more = "".join(f'<ScalarVariable name="more{i}" valueReference="9" causality="local"><Real unit="m"/></ScalarVariable>'
                       for i in range(3))
        fmu = self.silent(kit_fmu("BouncingBall", "2"), ("</ModelVariables>", more + "</ModelVariables>"),
                          (r"(?s)<Derivatives>.*?</Derivatives>", ""), (' derivative="[0-9]+"', ""),
                          ("<ModelExchange .*/>", ""))
        warnings, table = self.run_(fmu)
        self.assertEqual(table.header, ["time", "h", "der(h)", "v", "der(v)", "bounces", "above"])

    def test_a_choice_is_heeded_without_a_word(self):
        warnings, table = self.run_(self.silent(kit_fmu("BouncingBall", "3")), "--record", "above")
        self.assertEqual((warnings, table.header), ([], ["time", "above"]))

    def test_so_many_at_most(self):
        more = "".join(f'<ScalarVariable name="more{i}" valueReference="{100 + i}" variability="continuous" '
                       'causality="internal"><Real/></ScalarVariable>' for i in range(200))
        fmu = self.silent(kit_fmu("Dahlquist", "1cs"), ("</ModelVariables>", more + "</ModelVariables>"))
        outcome = self.tutti("run", fmu, "-o", "-", status=1)  # there are no such variables in the library
        self.assertRegex(outcome.err, "recorded instead: the first 100 of 202 local variables")

    def test_where_there_is_nothing_it_is_told(self):
        fmu = self.silent(kit_fmu("Dahlquist", "1cs"), ('variability="continuous"', 'variability="parameter"'))
        warnings, table = self.run_(fmu)
        self.assertEqual(table.header, ["time"])
        self.assertRegex("".join(warnings), "the result holds nothing but the time")

    def test_in_a_system(self):
        units = f"a={self.silent(kit_fmu('Dahlquist', '2'))}", f"b={self.silent(kit_fmu('VanDerPol', '3'), name='b.fmu')}"
        warnings, table = self.run_(*units)
        self.assertEqual(table.header, ["time", "a.x", "b.x0", "b.x1"])
        self.assertRegex("".join(warnings), "a and 1 other unit have no outputs; recorded instead: 3 states and local variables")
        warnings, threads = self.run_(*units, "--threads", "2")
        self.assertEqual(threads.rows, table.rows)
        self.assertEqual(len(warnings), 1, warnings)

    def test_beside_units_with_outputs_it_is_no_warning(self):
        units = f"a={self.silent(kit_fmu('Dahlquist', '2'))}", f"b={kit_fmu('Dahlquist', '3')}"
        warnings, table = self.run_(*units)
        self.assertEqual((warnings, table.header), ([], ["time", "a.x", "b.x"]))


class Connectors(SspTest):
    """The root's input, in degrees Celsius, goes through a nested system to a Feedthrough, in kelvins."""

    def nested(self):
        ports = [connector("u", "input", "Real", unit="K"), connector("y", "output", "Real", unit="K"),
                 connector("twice", "output", "Real"), connector("k", "parameter", "Real")]
        inner = system("inner", component("f", F2, inputs("float64_in") + outputs("float64_out") +
                                          [connector("gain", "parameter")]), connectors=ports, connections=[
            connect("/u", "f/float64_in"), connect("f/float64_out", "/y"), connect("/k", "f/gain"),
            connect("f/float64_out", "/twice", linear(factor=2, offset=1))])
        root = system("root", inner, component("g", F2, inputs("float64_in") + outputs("float64_out")), connectors=[
            connector("warmth", "input", "Real", unit="degC"), connector("unused", "input", "Real"),
            connector("out", "output", "Real", unit="degC")], connections=[
            connect("/warmth", "inner/u"), connect("inner/y", "/out"), connect("inner/twice", "g/float64_in")])
        return self.packed(ssd(root, units={"degC": CELSIUS, "K": KELVIN}), "Feedthrough2")

    def recorded(self, *patterns, options=()):
        patterns = [word for pattern in patterns for word in ("--record", pattern)]
        return self.simulate(self.nested(), "--stop", "0.2", "--step", "0.1", *patterns, *options)

    def test_connectors_of_nested_systems(self):
        table = self.recorded("inner.*", options=("--set", "warmth=10"))
        self.assertEqual(sorted(name for name in table.header if not name.startswith("inner.f.")),
                         ["inner.k", "inner.twice", "inner.u", "inner.y", "time"])
        self.assert_near(table["inner.u"], [283.15] * len(table), 1e-9)
        self.assert_near(table["inner.y"], [283.15] * len(table), 1e-9)
        self.assert_near(table["inner.twice"], [567.3] * len(table), 1e-9)
        self.assert_near(table["inner.k"], [1] * len(table), 0)

    def test_inputs_of_the_root(self):
        trajectory = self.write("in.csv", "time,warmth\n0,10\n0.2,30\n")
        table = self.recorded("warmth", "inner.u", "inner.f.float64_in", options=("--input", trajectory))
        self.assert_near(table["warmth"], [t - 273.15 for t in table["inner.f.float64_in"]], 1e-9)
        self.assertEqual(table["inner.u"], table["inner.f.float64_in"])
        self.assertEqual(len(set(table["warmth"])), len(table))

    def test_by_default_the_root_s_outputs_only(self):
        self.assertEqual([name for name in self.recorded().header if "f." not in name and "g." not in name],
                         ["time", "out"])

    def test_every_fabric_records_the_same(self):
        options = "--set", "warmth=10"
        table = self.recorded("*", options=options)
        self.assertIn("inner.twice", table.header)
        for fabric in "--threads", "--processes":
            other = self.recorded("*", options=(*options, fabric, "2"))
            self.assertEqual((other.header, other.rows), (table.header, table.rows))

    def test_a_connector_that_leads_nowhere(self):
        self.refused("run", self.nested(), "--record", "unused", status=2, says="no variable fits 'unused'")



class ResultGone(CommandTest):
    """A result that is removed, renamed or replaced while the run writes it."""

    def run_until_it_writes(self, result):
        """A run with its result open: it cannot end before the pipe that its step log goes to is read. Returns both."""
        pipe = tempfile.mkdtemp(dir=self.folder) + "/steps"
        os.mkfifo(pipe)
        steps = open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)
        fcntl.fcntl(steps, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(steps.fileno(), True)
        process = self.start("run", f"a={kit_fmu('Cell', '2')}", f"b={kit_fmu('Cell', '3')}", "--connect", "a.y=b.u1", "--connect", "b.y=a.u1",
                             "--interface", "cs", "--rtol", "1e-7", "--step-log", pipe, "-o", result, "--quiet")
        select.select([steps], [], [])  # it has opened the pipe: no end of file before its data
        for _ in range(4):  # lines: the header may come before the result is there
            while steps.read(1) != b"\n":
                pass
        return process, steps

    def test_gone(self):
        for ending in ("csv", "mat", "h5", "jsonl"):
            for deed, says in ((os.remove, "removed or replaced"), (lambda path: os.rename(path, path + ".moved"), "renamed")):
                result = self.path(f"result.{ending}")
                with self.subTest(ending=ending, says=says):
                    process, steps = self.run_until_it_writes(result)
                    deed(result)
                    self.assertGreater(len(steps.read()), 4096)  # the run did not end before
                    steps.close()
                    outcome = self.finish(process)
                    self.assertEqual(outcome.status, 1)
                    self.assertRegex(outcome.err, rf"error: cannot keep .*result.{ending}: the file was {says}")


if __name__ == "__main__":
    unittest.main()
