#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti check` accepts what is right and names what is wrong, with file and line; `tutti run` goes on where it can."""
import json
import re
import unittest
import zipfile

from command import DESCRIPTION, CommandTest, description, kit_fmu, kit_fmus

# What is changed in the description of a kit FMU, and what check has to say about the line with the new text.
U2 = 'causality="input" variability="continuous"><Real start="0"/>'  # the input u of Tracker_fmi2
T2 = '<Real min="1e-3" start="0.5"/>'  # its parameter T
U3 = 'causality="input" intermediateUpdate="true" start="0"/>'  # the input u of Tracker_fmi3
T3 = 'causality="parameter" min="1e-3" start="0.5"/>'

ERRORS_2 = {
    "duplicate name": ('name="x" valueReference="2"', 'name="u" valueReference="2"', '"u"'),
    "unknown unit": (T2, '<Real min="1e-3" start="0.5" unit="parsec"/>', "parsec"),
    "undefined declared type": (T2, '<Real declaredType="Nowhere" start="0.5"/>', "Nowhere"),
    "undefined derivative": ('derivative="3"', 'derivative="33"', "33"),
    "undefined output": ('<Unknown index="5" dependencies="3"', '<Unknown index="77" dependencies="3"', "77"),
    "dependency out of range": ('index="6" dependencies="3 2"', 'index="6" dependencies="3 99"', "99"),
    "dependency zero": ('index="6" dependencies="3 2"', 'index="6" dependencies="3 0"', "0"),
    "kinds that do not match": ('dependenciesKind="constant constant"', 'dependenciesKind="constant"',
                                "dependenciesKind"),
    "input without start": (U2, U2.replace(' start="0"', ""), "start"),
    "parameter without start": (T2, '<Real min="1e-3"/>', "start"),
    "exact without start": ('initial="exact"><Real start="0"/>', 'initial="exact"><Real/>', "start"),
    "start that is no number": (T2, '<Real min="1e-3" start="half"/>', "half"),
    "start below min": (T2, '<Real min="1e-3" start="1e-4"/>', "min|1e-4|0.0001"),
    "min above max": (T2, '<Real min="3" max="2" start="3"/>', "m(in|ax)"),
    "unknown causality": ('causality="parameter"', 'causality="accident"', "accident"),
    "causality and variability that exclude each other": ('causality="parameter" variability="fixed"',
                                                          'causality="parameter" variability="continuous"',
                                                          "continuous"),
    "identifier that is none": ('<CoSimulation modelIdentifier="Tracker"', '<CoSimulation modelIdentifier="a b"',
                                "a b"),
    "no modelIdentifier": ('<CoSimulation modelIdentifier="Tracker"', "<CoSimulation", "modelIdentifier"),
    "no name of the model": ('modelName="Tracker" ', "", "modelName"),
    "no GUID": (re.compile(r'guid="[^"]*" '), "", "guid"),
    "value reference that is none": ('valueReference="6"', 'valueReference="six"', "six"),
    "two independent variables": ('causality="local" variability="continuous" initial="exact"><Real start="0"/>',
                                  'causality="independent" variability="continuous"><Real/>', "independent"),
}
ERRORS_3 = {
    "duplicate name": ('name="x" valueReference="2"', 'name="u" valueReference="2"', '"u"'),
    "duplicate value reference": ('name="x" valueReference="2"', 'name="x" valueReference="1"', "1"),
    "unknown unit": (T3, T3.replace("/>", ' unit="parsec"/>'), "parsec"),
    "undefined declared type": (T3, T3.replace("/>", ' declaredType="Nowhere"/>'), "Nowhere"),
    "undefined derivative": ('derivative="2"', 'derivative="22"', "22"),
    "undefined output": ('<Output valueReference="4"', '<Output valueReference="44"', "44"),
    "undefined dependency": ('<Output valueReference="5" dependencies="2 1"',
                             '<Output valueReference="5" dependencies="2 88"', "88"),
    "input without start": (U3, U3.replace(' start="0"', ""), "start"),
    "parameter without start": (T3, T3.replace(' start="0.5"', ""), "start"),
    "intermediate update of a discrete variable": (U3, U3.replace("input", 'input" variability="discrete', 1),
                                                   "intermediateUpdate"),
    "no token": (re.compile(r'instantiationToken="[^"]*" '), "", "instantiationToken"),
    "no modelIdentifier": ('<CoSimulation modelIdentifier="Tracker"', "<CoSimulation", "modelIdentifier"),
}
ERRORS_3_ARRAYS = {
    "undefined extent": ('start="1 2">\n      <Dimension valueReference="1"/>',
                         'start="1 2">\n      <Dimension valueReference="111"/>', "111"),
    "wrong number of starts": ('start="1 2"', 'start="1 2 3"', "start"),
}
ERRORS_1 = {
    "duplicate name": ('name="x" valueReference="2"', 'name="u" valueReference="2"', '"u"'),
    "undefined dependency": ("<Name>u</Name>", "<Name>nobody</Name>", "nobody"),
    "undefined declared type": ('<Real min="1e-3" start="0.5"/>', '<Real declaredType="Nowhere" start="0.5"/>',
                                "Nowhere"),
    "unknown unit": ('<Real min="1e-3" start="0.5"/>', '<Real min="1e-3" displayUnit="parsec" start="0.5"/>',
                     "parsec|unit"),
    "no GUID": (re.compile(r'guid="[^"]*" '), "", "guid"),
}
# Not as the standard has it, but nothing that a run depends on.
FLAWS_2 = {
    "nominal zero": (T2, '<Real min="1e-3" start="0.5" nominal="0"/>', "nominal"),
    "attribute of nobody": (T2, '<Real min="1e-3" start="0.5" colour="red"/>', "colour"),
    "element of nobody": ("  <ModelVariables>", "  <Comment>hello</Comment>\n  <ModelVariables>", "Comment"),
}
FLAWS_3 = {
    "nominal zero": (T3, T3.replace("/>", ' nominal="0"/>'), "nominal"),
    "attribute of nobody": (T3, T3.replace("/>", ' colour="red"/>'), "colour"),
    "element of nobody": ("  <ModelVariables>", "  <Comment>hello</Comment>\n  <ModelVariables>", "Comment"),
}
FINDING = re.compile(r"(error|warning): (.+?)(?::(\d+))?: (.*)")


class Check(CommandTest):
    def check(self, fmu, status):
        """Runs check --strict; returns (severity, file, line, text) of each finding."""
        outcome = self.tutti("check", "--strict", fmu, status=status)
        findings = [FINDING.fullmatch(line) for line in outcome.out.splitlines()]
        self.assertTrue(all(findings), outcome.out)
        errors = sum(finding[1] == "error" for finding in findings)
        self.assertEqual(errors > 0, status == 1, outcome.out)
        warnings = len(findings) - errors
        self.assertIn(f"{fmu}: {errors} error{'s'[errors == 1:]}, {warnings} warning{'s'[warnings == 1:]}\n",
                      outcome.err)
        return [(f[1], f[2], int(f[3] or 0), f[4]) for f in findings]

    def break_description(self, fmu, old, new):
        """Makes the change; returns the path and the line where it is."""
        text = description(fmu)
        old = old.search(text)[0] if isinstance(old, re.Pattern) else old
        line = text[:text.index(old)].count("\n") + 1
        return self.altered(fmu, (old, new)), line

    def test_every_kit_fmu_is_accepted(self):
        for fmu in kit_fmus():
            with self.subTest(fmu=fmu.name):
                findings = self.check(fmu, status=0)
                self.assertEqual(bool(findings), fmu.name.startswith("Claiming") and "1me" not in fmu.name, findings)

    def test_quiet_prints_findings_only(self):
        self.assertEqual(self.tutti("check", kit_fmu("Heater", "2"), "--quiet").err, "")
        self.assertRegex(self.tutti("check", kit_fmu("Claiming", "2"), "--quiet").out, "^warning: ")

    def test_json(self):
        claiming = kit_fmu("Claiming", "2")
        told = json.loads(self.tutti("check", claiming, "--json", "--quiet").out)
        self.assertEqual((told["errors"], told["warnings"], len(told["findings"])), (0, 2, 2))
        self.assertEqual([f"{one['severity']}: {one['file']}: {one['text']}\n" for one in told["findings"]],
                         self.tutti("check", claiming).out.splitlines(True))
        told = json.loads(self.tutti("check", "nothing.fmu", "--json", status=1).out)
        self.assertEqual([(one["severity"], one["file"], one["line"], one["units"]) for one in told["findings"]], [("error", None, None, [])])

    def test_partitions_on_trial(self):
        """Scheduled Execution: each is computed once."""
        self.tutti("check", "--run", kit_fmu("PI", "3"))
        clock = '<Clock name="tick"'
        fmu = self.altered(kit_fmu("PI", "3"), (clock, '<Clock name="none" valueReference="99" causality="input" intervalVariability="triggered"/>' + clock))
        outcome = self.tutti("check", "--run", fmu, status=1)
        self.assertRegex(outcome.out, "error: .*: Scheduled Execution: it does not run: .*value reference 99 is no input clock")

    def test_what_fmus_print_is_no_finding(self):
        outcome = self.tutti("check", "--run", "--json", kit_fmu("Faulty", "2"), env={"KIT_FAULT": "print DoStep"}, status=None)
        self.assertIn("DoStep prints", outcome.err)
        json.loads(outcome.out)

    def test_errors_name_file_and_line(self):
        for fmu, table in ((kit_fmu("Tracker", "1cs"), ERRORS_1), (kit_fmu("Tracker", "2"), ERRORS_2),
                           (kit_fmu("Tracker", "3"), ERRORS_3), (kit_fmu("StateSpace", "3"), ERRORS_3_ARRAYS)):
            for what, (old, new, says) in table.items():
                with self.subTest(fmu=fmu[-12:], what=what):
                    broken, line = self.break_description(fmu, old, new)
                    findings = self.check(broken, status=1)
                    there = [text for severity, file, at, text in findings
                             if severity == "error" and file == f"{broken}/{DESCRIPTION}" and at == line]
                    self.assertTrue(any(re.search(says, text) for text in there), f"line {line}: {findings}")

    def test_errors_are_what_run_refuses(self):
        """Without --strict: of everything that breaks a rule, it calls those errors with which no run begins."""
        seen = set()
        for fmu, table in ((kit_fmu("Tracker", "1cs"), ERRORS_1), (kit_fmu("Tracker", "2"), ERRORS_2),
                           (kit_fmu("Tracker", "3"), ERRORS_3)):
            for what, (old, new, _) in table.items():
                with self.subTest(fmu=fmu[-12:], what=what):
                    broken = self.break_description(fmu, old, new)[0]
                    outcome = self.tutti("check", broken, status=None)
                    run = self.tutti("run", broken, "--stop", "0.1", status=None)
                    refused = run.status == 1 and "returned NULL" not in run.err  # which is the FMU's own word
                    self.assertEqual((outcome.status, "error: " in outcome.out), (refused, refused), outcome.out + run.err)
                    self.assertRegex(outcome.out, "(?m)^(error|warning): ")
                    seen.add(refused)
        self.assertEqual(seen, {False, True})

    def test_flaws_are_found_and_do_not_stop_a_run(self):
        for version, table in (("2", FLAWS_2), ("3", FLAWS_3)):
            for what, (old, new, says) in table.items():
                with self.subTest(version=version, what=what):
                    flawed, line = self.break_description(kit_fmu("Tracker", version), old, new)
                    outcome = self.tutti("check", flawed, status=None)
                    self.assertRegex(outcome.out, rf"(?m)^(error|warning): {re.escape(flawed)}/{DESCRIPTION}:\d+: .*"
                                                  rf"({says})")
                    self.runs_with_one_warning(flawed)

    def test_input_without_start_of_fmi_1(self):
        """Usual there, and the FMU has some value."""
        fmu, line = self.break_description(kit_fmu("Tracker", "1cs"), 'causality="input"><Real start="0"/>',
                                           'causality="input"><Real/>')
        self.assertEqual([(f[0], f[2]) for f in self.check(fmu, status=0)], [("warning", line)])
        self.assertGreater(len(self.simulate(fmu)), 1)

    def test_output_that_the_structure_leaves_out(self):
        text = description(kit_fmu("Tracker", "2"))
        fmu = self.altered(kit_fmu("Tracker", "2"), (re.search(r" *<Outputs>.*</Outputs>\n", text, re.DOTALL)[0], ""))
        outcome = self.tutti("check", fmu, status=None)
        self.assertRegex(outcome.out, rf'(?m)^(error|warning): {re.escape(fmu)}/{DESCRIPTION}:\d+: .*"y"')
        self.assertEqual(self.simulate(fmu).header, ["time", "y", "error"])

    def runs_with_one_warning(self, fmu):
        outcome = self.tutti("run", fmu, "-o", "result.csv")
        self.assertEqual(len(outcome.lines("warning")), 1, outcome.err)
        self.assertEqual(outcome.lines("error"), [])
        self.assertGreater(len(self.result()), 1)
        return outcome.lines("warning")[0]

    # ---- the library

    def test_missing_binary(self):
        for version in ("1cs", "2", "3"):
            fmu = self.altered(kit_fmu("Tracker", version), drop=["binaries/"],
                               add={"binaries/win64/Tracker.dll": b"MZ", "binaries/darwin64/Tracker.dylib": b""})
            texts = [text for severity, _, _, text in self.check(fmu, status=1) if severity == "error"]
            self.assertRegex(texts[0], r"no binary for this platform.*Tracker\.so.*(win64.*darwin64|darwin64.*win64)")

    def test_no_binaries_at_all(self):
        fmu = self.altered(kit_fmu("Tracker", "2"), drop=["binaries/"])
        self.assertIn("no binaries at all", self.check(fmu, status=1)[0][3])

    def test_run_counts_what_check_finds(self):
        """Flaws that no reader stumbles over are told by `run` as well, in one line, and do not stop it."""
        fmu = self.altered(kit_fmu("Dahlquist", "2"), ('name="k"', 'name="x"'))
        self.assertRegex(self.check(fmu, status=1)[0][3], "used twice")
        outcome = self.tutti("run", fmu, "--stop", "0.1")
        self.assertEqual(len(outcome.lines("warning")), 1)
        self.assertRegex(outcome.err, r"has \d+ flaws?; going on")

    def test_binary_that_is_none(self):
        with zipfile.ZipFile(kit_fmu("Tracker", "2")) as archive:
            library = next(name for name in archive.namelist() if name.endswith(".so"))
        fmu = self.altered(kit_fmu("Tracker", "2"), drop=[library], add={library: b"#!/bin/sh\necho no library\n"})
        self.assertRegex(self.check(fmu, status=1)[0][3], "no shared library")

    def test_wrong_model_identifier(self):
        """FMI 1.0 has it in every function's name; later versions only in the name of the library."""
        fmu = self.altered(kit_fmu("Tracker", "1cs"), ('modelIdentifier="Tracker"', 'modelIdentifier="Other"'))
        texts = [text for severity, _, _, text in self.check(fmu, status=1) if severity == "error"]
        self.assertRegex(texts[0], "Other_.*model identifier")
        for version in ("2", "3"):
            fmu = self.altered(kit_fmu("Tracker", version),
                               ('<CoSimulation modelIdentifier="Tracker"', '<CoSimulation modelIdentifier="Other"'))
            self.assertRegex(self.check(fmu, status=0)[0][3], r"no library named Other\.so; using .*Tracker\.so")
            self.assertIn("Other.so", self.runs_with_one_warning(fmu))

    def test_library_with_another_name(self):
        for version in ("1cs", "2", "3"):
            fmu = self.altered(kit_fmu("Tracker", version), rename=lambda name: name.replace("Tracker.so", "model.so"))
            self.assertIn("model.so", self.check(fmu, status=0)[0][3])
            self.assertIn("model.so", self.runs_with_one_warning(fmu))

    def test_platform_folder_of_another_version(self):
        """FMI 2.0 in binaries/x86_64-linux and FMI 3.0 in binaries/linux64 are seen; no reason to complain."""
        folders = {"linux64": "x86_64-linux", "linux32": "x86-linux"}
        for version, names in (("2", folders), ("3", {new: old for old, new in folders.items()})):
            def rename(entry):
                parts = entry.split("/")
                return "/".join([parts[0], names.get(parts[1], parts[1]), *parts[2:]]) if len(parts) > 2 else entry
            self.simulate(self.altered(kit_fmu("Tracker", version), rename=rename))

    def test_missing_optional_functions(self):
        for version in ("1cs", "2", "3"):
            with self.subTest(version=version):
                self.simulate(kit_fmu("Lacking", version))
                self.assertRegex(self.check(kit_fmu("Claiming", version), status=0)[0][3], "claims .* lacks fmi")
                self.assertIn("lacks fmi", self.runs_with_one_warning(kit_fmu("Claiming", version)))

    # ---- the archive and the XML as such

    def test_what_is_no_fmu(self):
        fmu = self.altered(kit_fmu("Tracker", "2"), drop=[DESCRIPTION])
        self.assertIn(f"no {DESCRIPTION}", self.check(fmu, status=1)[0][3])
        self.write("text.fmu", "This is no archive.\n")
        self.assertEqual(self.check(self.path("text.fmu"), status=1)[0][0], "error")
        self.assertEqual(self.check(self.path("nowhere.fmu"), status=1)[0][0], "error")

    def test_bad_xml(self):
        for old, new, line in (("</ModelVariables>", "</ModelVariable>", None), ('name="x"', "name=x", None),
                               ("</fmiModelDescription>", "", None), ("<ModelStructure>", "<&nbsp;/>", None),
                               ('fmiVersion="2.0"', 'fmiVersion="4.0"', 2), ('fmiVersion="2.0" ', "", 2)):
            with self.subTest(new=new):
                broken, at = self.break_description(kit_fmu("Tracker", "2"), old, new)
                severity, file, found, _ = self.check(broken, status=1)[-1]
                self.assertEqual((severity, file), ("error", f"{broken}/{DESCRIPTION}"))
                self.assertLessEqual(abs(found - (line or at)), 1)

    def test_no_interface(self):
        text = description(kit_fmu("Ticker", "2"))
        fmu = self.altered(kit_fmu("Ticker", "2"), (re.search(r" *<CoSimulation [^\n]*\n", text)[0], ""))
        self.assertIn("error", {finding[0] for finding in self.check(fmu, status=1)})

    def test_unpacked_folder(self):
        with zipfile.ZipFile(self.altered(kit_fmu("Tracker", "2"), (T2, "<Real/>"))) as archive:
            archive.extractall(self.path("Tracker"))
        severity, file, line, _ = self.check(self.path("Tracker"), status=1)[0]
        self.assertEqual((severity, file), ("error", f"{self.path('Tracker')}/{DESCRIPTION}"))
        self.assertGreater(line, 1)


if __name__ == "__main__":
    unittest.main()
