# SPDX-License-Identifier: MIT
"""Systems as SSP, for tests: the pieces of an SSD as text, and packages of them."""
import json
import pathlib
import shutil
import zipfile

from command import CommandTest

SPACES = "\n".join(f'    xmlns:{prefix}="http://ssp-standard.org/SSP1/{name}"' for prefix, name in (
    ("ssd", "SystemStructureDescription"), ("ssc", "SystemStructureCommon"),
    ("ssv", "SystemStructureParameterValues"), ("ssm", "SystemStructureParameterMapping"),
    ("ssb", "SystemStructureSignalDictionary")))


def attributes(**values):
    return "".join(f' {name}="{value}"' for name, value in values.items() if value is not None)


def connector(name, kind, type_="Real", unit=None, **more):
    return f'<ssd:Connector{attributes(name=name, kind=kind, **more)}><ssc:{type_}{attributes(unit=unit)}/>' \
           "</ssd:Connector>\n"


def connectors(*texts):
    return f"<ssd:Connectors>\n{''.join(texts)}</ssd:Connectors>\n" if texts else ""


def inputs(*names, type_="Real"):
    return "".join(connector(name, "input", type_) for name in names)


def outputs(*names, type_="Real"):
    return "".join(connector(name, "output", type_) for name in names)


def words(**settings):
    """The annotation with Tutti's own settings; step_size means the word step-size."""
    named = {name.replace("_", "-"): value for name, value in settings.items()}
    return '<ssd:Annotations><ssc:Annotation type="org.tutti">\n' \
           f'<tutti:settings xmlns:tutti="urn:tutti"{attributes(**named)}/>\n</ssc:Annotation></ssd:Annotations>\n'


def component(name, source, *ports, inside="", implementation=None, **more):
    """inside: parameter bindings, annotations."""
    return f"<ssd:Component{attributes(name=name, source=source, implementation=implementation, **more)}>\n" \
           f"{connectors(*ports)}{inside}</ssd:Component>\n"


def connection(start, end, inside="", **more):
    """From "element.connector" to the same; "connector" alone is the system's own."""
    pairs = {}
    for side, place in (("start", start), ("end", end)):
        element, _, port = place.rpartition(".")
        pairs[f"{side}Element"] = element or None
        pairs[f"{side}Connector"] = port
    return f"<ssd:Connection{attributes(**pairs, **more)}>{inside}</ssd:Connection>\n"


def system(*elements, ports="", connect="", name="root", inside=""):
    """inside: parameter bindings and signal dictionaries, in front of the elements; annotations behind connections."""
    joined = f"<ssd:Connections>\n{connect}</ssd:Connections>\n" if connect else ""
    ports = connectors(ports) if ports else ""
    return f'<ssd:System name="{name}">\n{ports}{inside}<ssd:Elements>\n{"".join(elements)}</ssd:Elements>\n' \
           f"{joined}</ssd:System>\n"


def ssd(root, behind="", units="", version="1.0"):
    """behind: default experiment and annotations."""
    units = f"<ssd:Units>\n{units}</ssd:Units>\n" if units else ""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' \
           f'<ssd:SystemStructureDescription version="{version}" name="test"\n' \
           f"{SPACES}>\n{root}{units}{behind}</ssd:SystemStructureDescription>\n"


def line_of(text, part, after=""):
    """The number of the first line with this in it, behind the first one with `after`."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if after in line)
    return begin + 1 + next(i for i, line in enumerate(lines[begin:]) if part in line)


class SystemTest(CommandTest):
    """A test with SSD files and packages of its own."""

    def bring(self, *fmus):
        """Copies of FMUs next to the SSD files; their names."""
        for fmu in fmus:
            shutil.copy(fmu, self.folder)
        return [fmu.rpartition("/")[2] for fmu in map(str, fmus)]

    def package(self, name, files, fmus=()):
        """An .ssp of texts or bytes by name, and of FMUs, in resources/."""
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for entry, data in files.items():
                archive.writestr(entry, data)
            for fmu in fmus:
                archive.write(fmu, "resources/" + str(fmu).rpartition("/")[2])
        return self.path(name)


def connect(*pairs):
    return [word for pair in pairs for word in ("--connect", pair)]


class CoupledTest(SystemTest):
    """A test of runs with several FMUs."""

    def run_(self, *arguments, **more):
        """`tutti run` of several files, with the result as a table."""
        return self.simulate(*arguments, **more)

    def stats(self):
        return json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))

    def with_stats(self, *arguments):
        """The table, the statistics, and those of each unit by its name."""
        table = self.run_(*arguments, "--stats", self.path("stats.json"))
        stats = self.stats()
        return table, stats, {unit["name"]: unit for unit in stats["units"]}
