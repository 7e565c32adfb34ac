#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs whose parameters are not what their description says, or what they were set to: a run says so."""
import unittest

from command import kit_fmu, test_fmu
from fabrics import FabricTest

HABITS = {version: kit_fmu("Habits", version) for version in ("1cs", "1me", "2", "3")}
IGNORES = "the FMU ignores start values of its description"


class Described(FabricTest):
    def mass(self, version):
        """An FMU with a mass of 1 kg and a spring of 100 N/m, of which its description says 2 kg and 400 N/m."""
        return self.altered(kit_fmu("ChainMass", version), ('unit="kg" start="1"', 'unit="kg" start="2"'),
                            ('unit="N/m" start="100"', 'unit="N/m" start="400"'), name=f"mass{version}.fmu")

    def said(self, *arguments, env=None):
        outcome = self.ran(*arguments, env=env)
        self.assertEqual(outcome.status, 0, outcome.err)
        return outcome.err, outcome.files

    def test_start_values_of_the_description(self):
        for version in ("1cs", "1me", "2", "3"):
            fmu = self.mass(version)
            with self.subTest(version=version):
                said, as_it_is = self.said(fmu, "--set", "x=0.1")
                self.assertRegex(said, rf"^tutti: warning: mass{version}: {IGNORES}: 'm' should be 2, and is 1 after the "
                                       r"initialisation \(and 1 more .*\); .*--set m=2 sets it\n$")
                said, as_told = self.said(fmu, "--set", "x=0.1", "--set", "m=2", "--set", "k=400")
                self.assertEqual(said, "")
                self.assertTrue(as_it_is != as_told, "--set makes no difference")

    def test_what_is_no_other_value(self):
        """A rounded text; one that the FMU shows in the base unit, N/m for kN/m; a parameter of FMI 1.0, which may follow from another
        one that was set; one that a table drives."""
        rounded = self.altered(kit_fmu("ChainMass", "2"), ('unit="N/m" start="100"', 'unit="N/m" start="100.0001"'))
        edits = ('unit="N/m" start="100"', 'unit="kN/m" start="0.1"'), \
            ('<Unit name="N/m">', '<Unit name="kN/m"><BaseUnit kg="1" s="-2" factor="1000"/></Unit><Unit name="N/m">')
        scaled = self.altered(kit_fmu("ChainMass", "2"), *edits, name="scaled.fmu")
        unnamed = self.altered(kit_fmu("ChainMass", "1cs"), edits[0], name="unnamed.fmu")
        table = self.write("table.csv", "time,tunable_gain\n0,5\n1,6\n")
        for run in ((rounded,), (scaled,), (unnamed,), (self.mass("1cs"), "--set", "d=2"), (kit_fmu("Feedthrough", "3"), "--input", table)):
            self.assertEqual(self.said(*run)[0], "")

    def test_arrays(self):
        fmu = self.altered(kit_fmu("StateSpace", "3"), ('start="1 0 -1"', 'start="1 0 -2"'))
        said, _ = self.said(fmu)
        self.assertRegex(said, rf"{IGNORES}: 'x0' should be -2, and is -1 after .*; --set x0=\.\.\. sets it")

    def test_habits(self):
        """Values that an FMU does not take; that it does not show, and goes on, or not."""
        for version, fmu in HABITS.items():
            run = (fmu, "--set", "p=3", *(["--interface", "me"] if version == "1me" else []))
            with self.subTest(version=version):
                said, plain = self.said(*run)
                self.assertEqual(said, "")
                said, _ = self.said(*run, env={"KIT_FAULT": "ignore p"})
                self.assertRegex(said, r"warning: .*: the FMU does not take a parameter: 'p' was set to 3, and is 0 after the")
                for fault in ("hide p", "deny p"):
                    said, files = self.said(*run, env={"KIT_FAULT": fault})
                    self.assertEqual((said, files), ("", plain), fault)

    def test_fabrics(self):
        """Each unit is read by its own rank, and told once."""
        units = f"a={self.mass('2')}", f"b={self.mass('3')}", "--connect", "a.x=b.x_left", "--connect", "a.v=b.v_left", \
            "--connect", "b.F=a.F_right", "--stop", "0.1", "--step", "0.01", "--set", "b.m=2", "--set", "b.k=400"
        plain = self.same(*units, fabrics=self.fabrics())
        self.assertEqual(plain.err.count("warning"), 1)
        self.assertIn("warning: a: the FMU ignores", plain.err)
        self.assertIn("--set a.m=2", plain.err)

    def test_the_end_of_the_initialisation(self):
        """One that puts its parameter back there."""
        for version in ("1cs", "2", "3"):
            said, _ = self.said(test_fmu("Resetting", version))
            self.assertRegex(said, rf"warning: .*: {IGNORES}: 'p' should be 5, and is 0 after .*; --set p=5 sets it")


if __name__ == "__main__":
    unittest.main()
