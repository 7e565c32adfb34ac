# SPDX-License-Identifier: MIT
"""Systems as SSP for tests: packages that are made, opened and validated.

The environment may name a folder with the official schemas (SCHEMAS, with ssp1/ and ssp2/ in it), which are not part of this
project; without it, that beside the source tree is used, if there is one."""
import os
import pathlib
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

from command import ROOT, CommandTest

SCHEMAS = pathlib.Path(os.environ.get("SCHEMAS") or ROOT.parent / "shared" / "standards")
SSD = "SystemStructure.ssd"
URIS = {"ssd": "SystemStructureDescription", "ssc": "SystemStructureCommon", "ssv": "SystemStructureParameterValues"}
SPACES = {prefix: f"http://ssp-standard.org/SSP1/{name}" for prefix, name in URIS.items()}
DECLARATIONS = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in SPACES.items())
NEEDS_SCHEMAS = unittest.skipUnless(shutil.which("xmllint") and
                                    all((SCHEMAS / f"ssp{i}" / f"{name}.xsd").is_file()
                                        for i in "12" for name in URIS.values()),
                                    f"no xmllint, or no schemas in {SCHEMAS}")


def component(name, fmu, inside="", more=""):
    """A component whose FMU is in resources/."""
    return f'<ssd:Component name="{name}" source="resources/{pathlib.Path(fmu).name}"{more}>{inside}</ssd:Component>'


def ssd(elements, connections="", inside="", behind="", version="1.0", name="test"):
    """A document: elements and connections of the root system, what else is in that, and what is behind it."""
    connections = f"<ssd:Connections>{connections}</ssd:Connections>" if connections else ""
    return (f'<ssd:SystemStructureDescription {DECLARATIONS} version="{version}" name="{name}">\n'
            f'<ssd:System name="root">{inside}\n<ssd:Elements>{elements}</ssd:Elements>\n{connections}</ssd:System>\n'
            f"{behind}</ssd:SystemStructureDescription>\n")


class SspTest(CommandTest):
    def package(self, name, text, *fmus, files=None):
        """An .ssp with a document, FMUs and other files."""
        with zipfile.ZipFile(self.path(name), "w") as archive:
            archive.writestr(SSD, text)
            for fmu in fmus:
                archive.write(fmu, f"resources/{pathlib.Path(fmu).name}")
            for entry, content in (files or {}).items():
                archive.writestr(entry, content)
        return self.path(name)

    def text(self, package, entry=SSD):
        with zipfile.ZipFile(self.path(package)) as archive:
            return archive.read(entry).decode("utf-8")

    def document(self, package, entry=SSD):
        """The top element of a document in a package."""
        return ElementTree.fromstring(self.text(package, entry))

    def find(self, node, path):
        """The one element that fits the path, with the usual prefixes."""
        found = node.findall(path, SPACES)
        self.assertEqual(len(found), 1, f"{path}: {ElementTree.tostring(node).decode()}")
        return found[0]

    def entries(self, package):
        """The files of a package: name -> content."""
        with zipfile.ZipFile(self.path(package)) as archive:
            self.assertIsNone(archive.testzip())
            return {name: archive.read(name) for name in archive.namelist()}

    def assert_valid(self, package, versions="12"):
        """All documents, and the parameter sets in them, fit the schemas of these versions of SSP."""
        for entry, content in self.entries(package).items():
            if not entry.endswith(".ssd"):
                continue
            self.validate(content, URIS["ssd"], versions)
            for values in ElementTree.fromstring(content).iter(f"{{{SPACES['ssv']}}}ParameterSet"):
                own = "2" if values.get("version") == "2.0" else versions
                self.validate(ElementTree.tostring(values), URIS["ssv"], own)

    def validate(self, content, schema, versions):
        for version in versions:
            command = ["xmllint", "--noout", "--nonet", "--schema", SCHEMAS / f"ssp{version}" / f"{schema}.xsd", "-"]
            done = subprocess.run(command, input=content, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace")[-3000:])

    def assert_same_result(self, left, right):
        """Two runs, each given by its files and options, write the same bytes."""
        tables = []
        for arguments in (left, right):
            outcome = self.tutti("run", *arguments, "-o", "-", "--quiet")
            self.assertGreater(len(outcome.out.splitlines()), 2)
            tables.append(outcome.out)
        self.assertEqual(*tables)
