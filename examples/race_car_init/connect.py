#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes SystemStructure.ssd of the race car: 43 connections between the chassis and each of the four wheels.

usage: connect.py OUT.ssd

The names follow appendix A.4 of Andersson's thesis: hubFrame.r_0[1] of wheel 2 gets hubFrame2.r_0[1] of the chassis,
and f[1] of wheel 2 goes to f2[1]."""
import sys

WHEELS = ("left_front", "left_back", "right_front", "right_back")
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="1.0" name="race_car_init"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
  <ssd:System name="race_car" description="A chassis and four wheels">
    <ssd:Elements>
"""
TAIL = """    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment startTime="0" stopTime="1"/>
</ssd:SystemStructureDescription>
"""


def vector(name):
    return [f"{name}[{i}]" for i in (1, 2, 3)]


def matrix(name):
    return [f"{name}[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3)]


def inputs():
    """Of a wheel."""
    hub = [name for part in ("r_0", "v_0", "a_0", "R.w", "R.z") for name in vector(f"hubFrame.{part}")]
    return hub + matrix("hubFrame.R.T") + vector("contact.r_0") + matrix("contact.T") + ["spinVelocity"]


def outputs():
    """Of a wheel."""
    return vector("f") + vector("t")


def of_chassis(name, number):
    """What the chassis calls a variable of a wheel: its number stands after the first word."""
    for end in ".[":
        if end in name:
            return name.replace(end, f"{number}{end}", 1)
    return f"{name}{number}"


def connections():
    """(from, connector, to, connector)"""
    for number, wheel in enumerate(WHEELS, 1):
        for name in inputs():
            yield "chassis", of_chassis(name, number), wheel, name
        for name in outputs():
            yield wheel, name, "chassis", of_chassis(name, number)


def component(name, fmu, ins, outs):
    text = (f'      <ssd:Component name="{name}" type="application/x-fmu-sharedlibrary"\n'
            f'          source="resources/{fmu}.fmu" implementation="CoSimulation">\n        <ssd:Connectors>\n')
    for kind, names in (("input", ins), ("output", outs)):
        for connector in names:
            text += f'          <ssd:Connector name="{connector}" kind="{kind}"><ssc:Real/></ssd:Connector>\n'
    return text + "        </ssd:Connectors>\n      </ssd:Component>\n"


def main(path):
    links = list(connections())
    text = HEAD + component("chassis", "Chassis_fmi2", [link[3] for link in links if link[2] == "chassis"],
                            [link[1] for link in links if link[0] == "chassis"])
    for wheel in WHEELS:
        text += component(wheel, "Wheel_fmi3" if "back" in wheel else "Wheel_fmi2", inputs(), outputs())
    text += "    </ssd:Elements>\n    <ssd:Connections>\n"
    for start, source, end, target in links:
        text += (f'      <ssd:Connection startElement="{start}" startConnector="{source}"\n'
                 f'          endElement="{end}" endConnector="{target}"/>\n')
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + TAIL)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
