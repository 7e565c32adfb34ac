#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a model description of FMI 2.0 as large as those of big vendor FMUs: by default 90,000 variables in about
700,000 lines, valid, with declared types, units, start values, aliases and dependency lists.

    make_large_description.py OUT.xml            the description alone
    make_large_description.py OUT.fmu            an FMU that has nothing else in it
    make_large_description.py --variables 1000 OUT.xml
"""
import argparse
import random
import sys
import zipfile
from xml.sax.saxutils import quoteattr

UNITS = [  # name, exponents, display unit with factor and offset
    ("m", {"m": 1}, ("mm", 1000.0, 0.0)), ("m/s", {"m": 1, "s": -1}, ("km/h", 3.6, 0.0)), ("s", {"s": 1}, None),
    ("rad", {"rad": 1}, ("deg", 57.29577951308232, 0.0)), ("rad/s", {"rad": 1, "s": -1}, ("rpm", 9.549296585513721, 0.0)),
    ("N", {"kg": 1, "m": 1, "s": -2}, ("kN", 0.001, 0.0)), ("N.m", {"kg": 1, "m": 2, "s": -2}, None),
    ("K", {"K": 1}, ("degC", 1.0, -273.15)), ("Pa", {"kg": 1, "m": -1, "s": -2}, ("bar", 1e-5, 0.0)),
    ("W", {"kg": 1, "m": 2, "s": -3}, ("kW", 0.001, 0.0)), ("kg", {"kg": 1}, None), ("kg/s", {"kg": 1, "s": -1}, None),
    ("V", {"kg": 1, "m": 2, "s": -3, "A": -1}, None), ("A", {"A": 1}, ("mA", 1000.0, 0.0)),
    ("Ohm", {"kg": 1, "m": 2, "s": -3, "A": -2}, None), ("J/kg", {"m": 2, "s": -2}, None),
]
QUANTITIES = ["Length", "Velocity", "Time", "Angle", "AngularVelocity", "Force", "Torque", "ThermodynamicTemperature",
              "Pressure", "Power", "Mass", "MassFlowRate", "ElectricPotential", "ElectricCurrent", "Resistance",
              "SpecificEnergy"]
PARTS = ["vehicle", "engine", "cylinder", "gearbox", "clutch", "cooler", "pump", "valve", "battery", "cell", "motor",
         "inverter", "chassis", "wheel", "brake", "controller", "pipe", "volume", "sensor", "bus"]
WORDS = ["pressure", "temperature", "flow", "of the", "medium", "in port", "relative", "absolute", "angular velocity",
         "torque", "flange", "at the", "boundary", "upstream", "downstream", "nominal", "state", "derivative", "of",
         "heat", "losses", "component", "with respect to", "reference", "frame"]


class Writer:
    """The variables go out as they are made; the lists of the model structure are remembered until the end."""

    def __init__(self, out, count, seed):
        self.out, self.count, self.random = out, count, random.Random(seed)
        self.index = 0
        self.inputs, self.states, self.outputs, self.derivatives, self.initial = [], [], [], [], []
        self.known_real = []  # (reference, type) that aliases can share

    def name(self, kind):
        depth = self.random.randint(2, 4)
        path = ".".join(f"{self.random.choice(PARTS)}[{self.random.randint(1, 40)}]" if self.random.random() < 0.4
                        else self.random.choice(PARTS) for _ in range(depth))
        return f"{path}.{kind}{self.index + 1}"

    def description(self):
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(3, 9))).capitalize()

    def variable(self, name, reference, attributes, kind, properties):
        self.index += 1
        lines = [f"    <ScalarVariable name={quoteattr(name)}", f'      valueReference="{reference}"']
        if self.random.random() < 0.8:
            lines.append(f"      description={quoteattr(self.description())}")
        if attributes:
            lines.append("      " + " ".join(f'{k}="{v}"' for k, v in attributes.items()))
        lines[-1] += ">"
        lines.append(f"      <{kind}")
        lines += [f"        {k}={quoteattr(str(v))}" for k, v in properties.items()]
        lines[-1] += "/>"
        lines.append("    </ScalarVariable>")
        self.out.write("\n".join(lines) + "\n")
        return self.index

    def number(self):
        return repr(round(self.random.gauss(0, 100), self.random.randint(0, 12)))

    def state(self):
        declared = self.random.randrange(len(UNITS))
        at = self.variable(self.name("x"), self.index, {"causality": "local", "variability": "continuous",
                                                        "initial": "exact"},
                           "Real", {"declaredType": f"Types.{QUANTITIES[declared]}", "start": self.number(),
                                    "nominal": "10.0"})
        self.states.append(at)
        self.derivatives.append(self.variable(f"der({self.name('x')})", self.index, {"causality": "local"}, "Real",
                                              {"derivative": at}))
        self.initial.append(self.derivatives[-1])

    def parameter(self):
        roll = self.random.random()
        attributes = {"causality": "parameter", "variability": "fixed" if roll < 0.8 else "tunable"}
        if roll < 0.6:
            declared = self.random.randrange(len(UNITS))
            properties = {"declaredType": f"Types.{QUANTITIES[declared]}", "start": self.number()}
            if roll < 0.2:
                properties.update({"min": "-1.0E+060", "max": "1.0E+060"})
            self.variable(self.name("p"), self.index, attributes, "Real", properties)
        elif roll < 0.8:
            self.variable(self.name("n"), self.index, attributes, "Integer", {"start": self.random.randint(0, 99)})
        elif roll < 0.95:
            self.variable(self.name("use"), self.index, attributes, "Boolean",
                          {"start": self.random.choice(["true", "false"])})
        else:
            self.variable(self.name("mode"), self.index, attributes, "Enumeration",
                          {"declaredType": "Types.Mode", "start": self.random.randint(1, 3)})

    def signal(self):
        roll = self.random.random()
        declared = self.random.randrange(len(UNITS))
        unit, _, display = UNITS[declared]
        if roll < 0.03:
            self.inputs.append(self.variable(self.name("u"), self.index, {"causality": "input"}, "Real",
                                             {"unit": unit, "start": "0.0"}))
        elif roll < 0.06:
            self.outputs.append(self.variable(self.name("y"), self.index, {"causality": "output"}, "Real",
                                              {"declaredType": f"Types.{QUANTITIES[declared]}"}))
            self.initial.append(self.index)
        elif roll < 0.35 and self.known_real:
            reference, declared = self.random.choice(self.known_real)
            self.variable(self.name("alias"), reference, {"causality": "local"}, "Real",
                          {"declaredType": f"Types.{QUANTITIES[declared]}"})
        elif roll < 0.9:
            properties = {"declaredType": f"Types.{QUANTITIES[declared]}", "quantity": QUANTITIES[declared],
                          "unit": unit}
            if display and roll < 0.6:
                properties["displayUnit"] = display[0]
            self.known_real.append((self.index, declared))
            self.variable(self.name("v"), self.index, {"causality": "local", "variability": "continuous"}, "Real",
                          properties)
        else:
            self.variable(self.name("active"), self.index, {"causality": "local", "variability": "discrete"}, "Boolean",
                          {"declaredType": "Types.Flag"})

    def header(self):
        write = self.out.write
        write('<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription\n  fmiVersion="2.0"\n'
              '  modelName="Vehicles.Examples.Large"\n  guid="{6f1f7a52-6b0e-4a0b-9d53-000000000001}"\n'
              '  description="A large vehicle"\n  generationTool="make_large_description.py"\n'
              '  variableNamingConvention="structured"\n  numberOfEventIndicators="1200">\n'
              '  <ModelExchange\n    modelIdentifier="Large"\n    canGetAndSetFMUstate="true"\n'
              '    canSerializeFMUstate="true"/>\n'
              '  <CoSimulation\n    modelIdentifier="Large"\n    canHandleVariableCommunicationStepSize="true"/>\n'
              '  <UnitDefinitions>\n')
        for name, exponents, display in UNITS:
            write(f"    <Unit\n      name={quoteattr(name)}>\n      <BaseUnit "
                  + " ".join(f'{k}="{v}"' for k, v in exponents.items()) + "/>\n")
            if display:
                write(f'      <DisplayUnit name="{display[0]}" factor="{display[1]!r}" offset="{display[2]!r}"/>\n')
            write("    </Unit>\n")
        write("  </UnitDefinitions>\n  <TypeDefinitions>\n")
        for (unit, _, display), quantity in zip(UNITS, QUANTITIES):
            extra = f' displayUnit="{display[0]}"' if display else ""
            write(f'    <SimpleType\n      name="Types.{quantity}">\n      <Real\n        quantity="{quantity}"\n'
                  f'        unit={quoteattr(unit)}{extra}/>\n    </SimpleType>\n')
        write('    <SimpleType name="Types.Flag">\n      <Boolean/>\n    </SimpleType>\n'
              '    <SimpleType name="Types.Mode">\n      <Enumeration>\n        <Item name="off" value="1"/>\n'
              '        <Item name="on" value="2"/>\n        <Item name="auto" value="3"/>\n      </Enumeration>\n'
              '    </SimpleType>\n  </TypeDefinitions>\n'
              '  <DefaultExperiment startTime="0.0"\n    stopTime="1800.0"\n    tolerance="0.0001"/>\n'
              "  <ModelVariables>\n")

    def structure(self):
        knowns = self.inputs + self.states

        def entry(index):
            count = self.random.randint(0, 8)
            found = sorted({self.random.choice(knowns) for _ in range(count)}) if knowns else []
            kinds = " ".join("dependent" for _ in found)
            self.out.write(f'      <Unknown index="{index}"\n        dependencies="{" ".join(map(str, found))}"\n'
                           f'        dependenciesKind="{kinds}"/>\n')

        self.out.write("  <ModelStructure>\n")
        for tag, indices in (("Outputs", self.outputs), ("Derivatives", self.derivatives)):
            if indices:
                self.out.write(f"    <{tag}>\n")
                for index in indices:
                    entry(index)
                self.out.write(f"    </{tag}>\n")
        if self.initial:
            self.out.write("    <InitialUnknowns>\n")
            for index in sorted(self.initial):
                self.out.write(f'      <Unknown index="{index}"/>\n')
            self.out.write("    </InitialUnknowns>\n")
        self.out.write("  </ModelStructure>\n</fmiModelDescription>\n")

    def write(self):
        self.header()
        while self.index < self.count:
            roll = self.random.random()
            if roll < 0.03 and self.index + 2 <= self.count:
                self.state()
            elif roll < 0.35:
                self.parameter()
            else:
                self.signal()
        self.out.write("  </ModelVariables>\n")
        self.structure()


class Bytes:
    """A text file on top of a binary one, so that both kinds of output are written alike."""

    def __init__(self, raw):
        self.raw = raw

    def write(self, text):
        self.raw.write(text.encode("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="OUT.xml or OUT.fmu")
    parser.add_argument("--variables", type=int, default=90000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.variables < 1:
        sys.exit("make_large_description.py: --variables must be at least 1")
    if options.out.endswith(".fmu"):
        entry = zipfile.ZipInfo("modelDescription.xml", date_time=(2020, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(options.out, "w") as archive, archive.open(entry, "w") as raw:
            Writer(Bytes(raw), options.variables, options.seed).write()
    else:
        with open(options.out, "wb") as raw:
            Writer(Bytes(raw), options.variables, options.seed).write()


if __name__ == "__main__":
    main()
