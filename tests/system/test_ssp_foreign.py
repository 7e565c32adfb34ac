#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What other tools write into an SSP about steps: OMSimulator's and OSP's annotations, and who has the last word."""
import json
import unittest

from command import kit_fmu
from ssp import SspTest, component, ssd

OMS = 'xmlns:oms="https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"'
OSP = 'xmlns:osp="http://opensimulationplatform.com/SSP/OSPAnnotations"'


def annotations(kind, text):
    return f'<ssd:Annotations><ssc:Annotation type="{kind}">{text}</ssc:Annotation></ssd:Annotations>'


def oms(text):
    return annotations("org.openmodelica", f"<oms:Annotations {OMS}><oms:SimulationInformation>{text}"
                       "</oms:SimulationInformation></oms:Annotations>")


def osp(text):
    return annotations("com.opensimulationplatform", f"<osp:Algorithm {OSP}>{text}</osp:Algorithm>")


def experiment(inside):
    return f'<ssd:DefaultExperiment startTime="0" stopTime="2">{inside}</ssd:DefaultExperiment>'


CONNECTORS = ('<ssd:Connectors><ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"/>'
              "</ssd:Connectors>")
FIXED = '<oms:FixedStepMaster description="oms-ma" stepSize="0.025000" relativeTolerance="0.000100" />'


class Foreign(SspTest):
    """The Tracker's own default step is 0.1."""

    def system(self, inside="", behind=experiment(""), more=""):
        tracker = kit_fmu("Tracker", "2")
        elements = component("a", tracker, CONNECTORS + more) + component("b", tracker, CONNECTORS)
        connection = '<ssd:Connection startElement="a" startConnector="y" endElement="b" endConnector="u"/>'
        self.made = getattr(self, "made", 0) + 1
        return self.package(f"test{self.made}.ssp", ssd(elements, connection, inside, behind), tracker)

    def stats(self, source, *options):
        outcome = self.tutti("run", source, "-o", "result.csv", "--stats", "stats.json", "--log-level", "info", *options)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            return json.load(file), outcome

    def steps(self, source, *options):
        return self.stats(source, *options)[0]["steps"]

    def test_fixed_steps(self):
        self.assertEqual(self.steps(self.system()), 20)
        for source in (self.system(oms(FIXED)), self.system(behind=experiment(oms(FIXED))),
                       self.system(behind=experiment(osp('<osp:FixedStepAlgorithm baseStepSize="0.025"/>')))):
            self.assertEqual(self.steps(source), 80)

    def test_who_wins(self):
        source = self.system(oms(FIXED))
        self.assertEqual(self.steps(source, "--step", "0.2"), 10)
        own = annotations("org.tutti", '<t:Settings xmlns:t="https://tutti.example" step="0.05"/>')
        both = own.replace("</ssd:Annotations>", oms(FIXED).replace("<ssd:Annotations>", ""))
        self.assertEqual(self.steps(self.system(both)), 40)

    def test_it_is_told(self):
        stats, outcome = self.stats(self.system(oms(FIXED)))
        self.assertRegex(outcome.err, r"SystemStructure\.ssd:\d+: the annotation for OMSimulator gives the communication step")
        self.assertEqual(stats["control"], "fixed")
        self.assertIn("control      fixed: the file gives a step for OMSimulator", outcome.err)

    def test_a_master_that_varies_its_step(self):
        """The FMUs' step is not what such a file means."""
        variable = ('<oms:VariableStepMaster description="oms-mav" initialStepSize="0.0001" minimumStepSize="1e-6" '
                    'maximumStepSize="0.1" absoluteTolerance="1e-6" relativeTolerance="1e-5"/>')
        stats, outcome = self.stats(self.system(oms(variable)))
        self.assertEqual(stats["control"], "embedded")
        self.assertIn("leaves the steps to the master", outcome.err)

    def test_steps_of_units(self):
        """OSP: the largest multiple of the base step that is no longer than the hint."""
        algorithm = experiment(osp('<osp:FixedStepAlgorithm baseStepSize="0.025"/>'))
        for hint, count in (("0.1", 20), ("0.06", 40), ("0.001", 80)):
            more = annotations("com.opensimulationplatform", f'<osp:StepSizeHint {OSP} value="{hint}"/>')
            stats = self.stats(self.system(behind=algorithm, more=more))[0]
            self.assertEqual([unit["do_steps"] for unit in stats["units"]], [count, 80], hint)

    def test_a_prefix_that_nobody_declares(self):
        """As in some of OSP's own systems."""
        algorithm = osp('<osp:FixedStepAlgorithm baseStepSize="0.025"/>').replace(OSP, "")
        self.assertEqual(self.steps(self.system(behind=experiment(algorithm))), 80)

    def test_nonsense_is_ignored(self):
        for text in ("0", "-1", "often", "1e999"):
            source = self.system(behind=experiment(osp(f'<osp:FixedStepAlgorithm baseStepSize="{text}"/>')))
            outcome = self.tutti("check", source)
            self.assertRegex(outcome.out + outcome.err, "warning: .*baseStepSize takes a number greater than 0")
            self.assertEqual(self.steps(source), 20)


if __name__ == "__main__":
    unittest.main()
