#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tutti run` records where nobody chooses: of FMUs without outputs what moves inside them."""
import re
import unittest

from command import CommandTest, description, kit_fmu


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


if __name__ == "__main__":
    unittest.main()
