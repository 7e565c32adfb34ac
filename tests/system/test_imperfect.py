#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are not as the standards want them, and whose meaning is clear all the same: a warning, and a run."""
import re
import unittest
import warnings
import zipfile

from command import DESCRIPTION, CommandTest, kit_fmu
from ssp_text import (F2, SspTest, binding, component, connect, connector, feedthrough, outputs, reals, rename, ssd, ssm, ssv,
                      system)

DAHLQUIST = kit_fmu("Dahlquist", "2")


class Fmus(CommandTest):
    def doubled(self, name, data=None):
        """A copy of an FMU with one more entry of that name."""
        with zipfile.ZipFile(DAHLQUIST) as source:
            data = source.read(name) if data is None else data
            with zipfile.ZipFile(self.path("doubled.fmu"), "w") as target, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Python, that there are two
                for entry in source.namelist():
                    target.writestr(entry, source.read(entry))
                target.writestr(name, data)
        return self.path("doubled.fmu")

    def test_an_entry_that_is_there_twice(self):
        for name in DESCRIPTION, "binaries/linux64/Dahlquist.so":
            with self.subTest(name=name):
                outcome = self.tutti("run", self.doubled(name))
                self.assertRegex("".join(outcome.lines("warning")), "1 flaw")
                self.assertRegex(self.tutti("check", self.doubled(name)).out, f"warning: .*has '{name}' twice, with the same content")

    def test_another_entry_of_the_same_name_is_refused(self):
        self.refused("run", self.doubled(DESCRIPTION, b"<x/>"), status=1, says=f"two entries have the name '{DESCRIPTION}'")

    def test_a_default_experiment_that_takes_no_time(self):
        for start in 0, 2:
            fmu = self.altered(DAHLQUIST, ('startTime="0" stopTime="10"', f'startTime="{start}" stopTime="{start}"'))
            with self.subTest(start=start):
                outcome = self.tutti("run", fmu)
                self.assertRegex("".join(outcome.lines("warning")), r"the default experiment ends at .* --stop")
                self.assertEqual(self.result().times[-1], start + 1)
        self.assertEqual(self.simulate(fmu, "--stop", "3").times[-1], 3)
        outcome = self.tutti("run", fmu, "--start", "5", status=2)
        self.assertRegex("".join(outcome.lines("error")), "must be after the start time")

    def test_an_empty_folder_is_no_platform(self):
        fmu = self.altered(DAHLQUIST, drop=("binaries/",), add={"binaries/linux64/": "", "binaries/win64/Dahlquist.dll": ""})
        self.refused("run", fmu, status=1, says="it has win64[.] ")
        fmu = self.altered(DAHLQUIST, add={"binaries/x86_64-linux/": ""})
        self.assertEqual(self.tutti("run", fmu).lines("warning"), [])


class Systems(SspTest):
    def test_a_document_without_version(self):
        text = re.sub(' version="2.0"', "", ssm(rename("p", "float64_in")))
        root = system("root", component("a", F2, [connector("float64_in", "input")] + outputs("float64_out"), [
            binding("resources/values.ssv", "resources/mapping.ssm")]))
        source = self.packed(ssd(root), "Feedthrough2", values_ssv=ssv(reals(p=4)), mapping_ssm=text)
        self.warns(source, "mapping.ssm:2: .*the attribute version is missing; it is read as 2.0")
        self.assertEqual(self.simulate(source, "--stop", "0.1", "--step", "0.1")["a.float64_out"][0], 4)

    def test_bindings_in_two_lists(self):
        root = system("root", feedthrough("a", source=F2), bindings=[binding(reals(**{"a.float64_in": 1, "a.gain": 2}))])
        root = root.replace("</ssd:ParameterBindings>",
                            "</ssd:ParameterBindings><ssd:ParameterBindings>" + binding(reals(**{"a.float64_in": 5})) +
                            "</ssd:ParameterBindings>", 1)
        source = self.packed(ssd(root), "Feedthrough2")
        self.warns(source, "<ParameterBindings>: a second one in the same <System>")
        self.assertEqual(self.simulate(source, "--stop", "0.1", "--step", "0.1")["a.float64_out"][0], 10)

    def test_values_that_fit_nothing(self):
        def bound(**values):
            root = system("root", feedthrough("a", source=F2), bindings=[binding("resources/values.ssv")])
            return self.packed(ssd(root), "Feedthrough2", values_ssv=ssv(reals(**values)))
        self.warns(bound(**{"b.gain": 1, "gain": 2}), "none of the 2 parameters of .*values.ssv .the first is 'b.gain'. fits anything")
        self.warns(bound(**{"a.gain": 1, "gain": 2}))

    def test_a_parameter_that_is_given_and_connected(self):
        def given(inside, outside):
            unit = component("f", F2, outputs("float64_out") + [connector("gain", "parameter", "Real")],
                             [binding(reals(**inside))] if inside else [])
            root = system("root", unit, connectors=[connector("k", "parameter", "Real")], connections=[connect("/k", "f/gain")],
                          bindings=[binding(reals(**outside))])
            return self.packed(ssd(root), "Feedthrough2")
        for source in given({}, {"k": 3, "f.gain": 7}), given({}, {"f.gain": 7, "k": 3}):
            self.warns(source, "'f.gain' is given here, and by a connection, too, which counts")
            self.assertEqual(self.simulate(source, "--stop", "0.1", "--record", "f.gain")["f.gain"][0], 3)
            set_ = self.simulate(source, "--stop", "0.1", "--record", "f.gain", "--set", "f.gain=9")
            self.assertEqual(set_["f.gain"][0], 9)
        self.warns(given({}, {"k": 3}))
        self.warns(given({"gain": 5}, {"k": 3}))  # the system is above the component


if __name__ == "__main__":
    unittest.main()
