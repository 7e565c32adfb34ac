#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are not what they should be: archives, descriptions, libraries. One clear message, exit status 1."""
import os
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import DESCRIPTION, ROOT, VERSIONS, CommandTest, description, kit_fmu  # noqa: E402


class Archives(CommandTest):
    def test_what_is_no_archive(self):
        good = pathlib.Path(kit_fmu("Dahlquist", "2")).read_bytes()
        os.mkfifo(self.path("pipe.fmu"))
        for name, data in (("text.fmu", b"This is no archive.\n"), ("empty.fmu", b""), ("zeros.fmu", bytes(100000)),
                           ("half.fmu", good[:len(good) // 2]), ("short.fmu", good[:-20]), ("late.fmu", good[200:]),
                           ("pipe.fmu", None), ("nowhere.fmu", None)):
            if data is not None:
                pathlib.Path(self.path(name)).write_bytes(data)
            for command in ("info", "run"):
                with self.subTest(name=name, command=command):
                    self.refused(command, self.path(name), status=1, says=rf"error: .*{re.escape(self.path(name))}: \w")

    def test_damaged_bytes(self):
        """A flipped bit in a packed entry is noticed, wherever it is."""
        good = bytearray(pathlib.Path(kit_fmu("Dahlquist", "3")).read_bytes())
        with zipfile.ZipFile(kit_fmu("Dahlquist", "3")) as archive:
            offsets = [entry.header_offset + 200 for entry in archive.infolist() if not entry.is_dir()]
        for offset in offsets:
            damaged = bytearray(good)
            damaged[offset] ^= 0x10
            pathlib.Path(self.path("damaged.fmu")).write_bytes(damaged)
            self.refused("run", "damaged.fmu", status=1, says=r"damaged\.fmu")

    def test_hostile_archives(self):
        """Bombs, traversal, links, lies about sizes: refused, and nothing is written where it does not belong."""
        folder = self.folder / "hostile" / "archives"
        subprocess.run([sys.executable, "-B", ROOT / "tools" / "make_hostile_archives.py", folder], check=True)
        names = sorted(os.listdir(folder))
        self.assertGreater(len(names), 50)
        self.shared.add("hostile")
        for name in names:
            with self.subTest(name=name):
                before = self.all_files()
                outcome = self.tutti("run", folder / name, "-o", "-", status=1)
                self.assertEqual(len(outcome.lines("error")), 1, outcome.err)
                self.assertTrue(outcome.err.replace("\n", "").isprintable(), repr(outcome.err))
                self.assertEqual(self.all_files(), before)
        self.assertFalse(os.path.exists("/tmp/evil") or os.path.exists("/evil"))

    def all_files(self):
        return {os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names}

    def test_folder_that_is_no_fmu(self):
        self.refused("run", self.tmpdir, status=1, says=f"no {DESCRIPTION}")

    def test_links_in_a_folder(self):
        """An unpacked FMU may not reach out of its folder either."""
        with zipfile.ZipFile(kit_fmu("Resource", "2")) as archive:
            archive.extractall(self.path("model"))
        os.remove(self.path(f"model/{DESCRIPTION}"))
        os.symlink("/etc/passwd", self.path(f"model/{DESCRIPTION}"))
        self.assertNotIn("root:", self.refused("run", "model", status=1, says=DESCRIPTION).err)


class Descriptions(CommandTest):
    def broken(self, text, model="Tracker", version="2"):
        """An FMU with this description."""
        return self.altered(kit_fmu(model, version), drop=[DESCRIPTION], add={DESCRIPTION: text})

    def test_bad_xml(self):
        good = description(kit_fmu("Tracker", "2"))
        cut = good[:1500]
        for what, text, line in (("empty", "", 1), ("no XML", "hello", 1), ("cut", cut, cut.count("\n") + 1),
                                 ("another root", "<html/>", 1),
                                 ("no end", good.replace("</ModelVariables>", ""), None),
                                 ("bad character", good.replace("what is followed", "what\x01"), None),
                                 ("bad encoding", good.replace("UTF-8", "KLINGON"), 1),
                                 ("no such version", good.replace('fmiVersion="2.0"', 'fmiVersion="7.0"'), 2)):
            with self.subTest(what=what):
                place = rf"altered\.fmu/{DESCRIPTION}:{line or '[0-9]+'}: \w"
                self.refused("run", self.broken(text), status=1, says=place)

    def test_entities(self):
        """Neither bombs nor files of this machine come in by entities."""
        bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
        secret = self.write("secret.txt", "swordfish")
        for what, declaration, use in (("bomb", f'<!ENTITY e0 "ha">{bomb}', "&e11;"),
                                       ("file", f'<!ENTITY x SYSTEM "file://{secret}">', "&x;"),
                                       ("parameter", f'<!ENTITY % x SYSTEM "file://{secret}"> %x;', "")):
            text = description(kit_fmu("Tracker", "2")).replace(
                "<fmiModelDescription ", f"<!DOCTYPE fmiModelDescription [{declaration}]>\n<fmiModelDescription ", 1)
            text = text.replace("A lag that follows its input", f"A lag {use}")
            for command in ("info", "check", "run"):
                with self.subTest(what=what, command=command):
                    outcome = self.tutti(command, self.broken(text), status=1)
                    self.assertIn(DESCRIPTION, outcome.out + outcome.err)
                    self.assertNotIn("swordfish", outcome.out + outcome.err)
                    self.assertLess(len(outcome.out + outcome.err), 10000)

    def test_depth(self):
        text = description(kit_fmu("Tracker", "2")).replace("<LogCategories>", "<a>" * 100000 + "<LogCategories>")
        self.refused("run", self.broken(text), status=1, says=DESCRIPTION)

    def test_wrong_guid(self):
        """The FMU itself refuses, and says why."""
        for version in VERSIONS:
            with self.subTest(version=version):
                token = re.search(r'(guid|instantiationToken)="([^"]*)"', description(kit_fmu("Tracker", version)))
                fmu = self.altered(kit_fmu("Tracker", version), (token[2], "{0-0}"))
                message = self.tutti("run", fmu, status=1).lines("error")[-1]
                self.assertRegex(message, "fmi.*Instantiate.* returned NULL.*last messages: .*(GUID|token)")
                self.assertNotIn("nan", message)

    def test_missing_guid(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                token = re.search(r'(guid|instantiationToken)="[^"]*" ', description(kit_fmu("Tracker", version)))
                outcome = self.tutti("run", self.altered(kit_fmu("Tracker", version), (token[0], "")), status=1)
                self.assertRegex(outcome.err, rf"({token[1]}|GUID|token)")

    def test_what_is_not_for_us(self):
        """Tool coupling, clocks: a refusal that says what it is and what to do."""
        tool = self.altered(kit_fmu("Tracker", "1cs"), ("<CoSimulation_StandAlone>", "<CoSimulation_Tool>"),
                            ("</CoSimulation_StandAlone>", '<Model entryPoint="fmu://x" manualStart="false" type="x"/>'
                                                           "</CoSimulation_Tool>"), name="tool.fmu", drop=["binaries/"])
        clocks = self.altered(kit_fmu("Tracker", "3"), (
            "</ModelVariables>", '  <Clock name="tick" valueReference="99" causality="input" '
                                 'intervalVariability="triggered"/>\n  </ModelVariables>'), name="clocks.fmu")
        for fmu, says in ((tool, "tool coupling.*stand-alone"), (clocks, "clocks.*'tick'")):
            self.refused("run", fmu, status=1, says=says)
            self.tutti("info", fmu)

    def test_tool_coupling(self):
        """An FMU with a library that reaches its tool runs; where the tool is missing, the message says what the FMU needs."""
        coupled = ("<CoSimulation_StandAlone>", "<CoSimulation_Tool>"), ("</CoSimulation_StandAlone>", "</CoSimulation_Tool>")
        needs = (("<CoSimulation ", '<CoSimulation needsExecutionTool="true" '),)
        for version, edits in (("1cs", coupled), ("2", needs), ("3", needs)):
            with self.subTest(version=version):
                self.tutti("run", self.altered(kit_fmu("Tracker", version), *edits), "--interface", "cs")
                faulty = self.altered(kit_fmu("Faulty", version), *edits)
                outcome = self.tutti("run", faulty, "--interface", "cs", status=1, env={"KIT_FAULT": "null Instantiate"})
                self.assertRegex(outcome.err, "needs another program.*installed")


class Libraries(CommandTest):
    def setUp(self):
        super().setUp()
        with zipfile.ZipFile(kit_fmu("Tracker", "2")) as archive:
            self.library = next(name for name in archive.namelist() if name.endswith(".so"))
            self.original = archive.read(self.library)

    def compile(self, name, source, *options):
        """Compiles a shared library; returns its bytes."""
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path(name), self.write(f"{name}.c", source), *options],
                       check=True, cwd=self.folder)
        return pathlib.Path(self.path(name)).read_bytes()

    def with_library(self, data, beside=None):
        """Tracker with another library, and perhaps files beside it."""
        folder = os.path.dirname(self.library)
        add = {self.library: data, **{f"{folder}/{name}": other for name, other in (beside or {}).items()}}
        return self.altered(kit_fmu("Tracker", "2"), drop=[self.library], add=add)

    def refused_by_all(self, fmu, says):
        """A run refuses it, and so does a check, which loads nothing, or everything."""
        self.refused("run", fmu, status=1, says=says)
        for options in ((), ("--run",)):
            found = self.tutti("check", *options, fmu, status=1).out
            for pattern in [says] if isinstance(says, str) else says:
                self.assertRegex(found, pattern)

    def test_missing_functions(self):
        source = 'const char *fmi2GetVersion(void) { return "2.0"; }\nvoid fmi2FreeInstance(void *c) { (void)c; }\n'
        fmu = self.with_library(self.compile("few.so", source))
        self.refused_by_all(fmu, ["lacks functions that FMI 2.0 requires", r"\bfmi2Instantiate\b",
                                  r"\bfmi2DoStep\b", r"\bfmi2ExitInitializationMode\b"])

    def test_missing_functions_of_fmi_1_have_another_name(self):
        fmu = self.altered(kit_fmu("Tracker", "1cs"), ('modelIdentifier="Tracker"', 'modelIdentifier="Other"'),
                           rename=lambda name: name.replace("Tracker.so", "Other.so"))
        self.refused_by_all(fmu, "Other_")

    def test_missing_system_library(self):
        self.compile("libnotinstalled.so", "int elsewhere(void) { return 1; }\n")
        data = self.compile("needs.so", "int elsewhere(void);\nint here(void) { return elsewhere(); }\n",
                            "-L.", "-lnotinstalled")
        self.refused_by_all(self.with_library(data), r"libnotinstalled\.so.*not installed")

    def test_library_that_comes_along(self):
        """FMUs bring libraries beside their own, where the loader does not look."""
        pathlib.Path(self.path("inner.so")).write_bytes(self.original)
        helper = self.compile("libhelper.so", "int help(void) { return 1; }\n", "-Wl,-soname,libhelper.so")
        shim = self.compile("shim.so", "", "-Wl,--no-as-needed", self.path("inner.so"), "-L.", "-lhelper")
        os.remove(self.path("libhelper.so"))
        fmu = self.with_library(shim, beside={"libhelper.so": helper})
        self.assertEqual(self.tutti("check", fmu).out, "")
        table = self.simulate(fmu)
        self.assertEqual(table.rows, self.simulate(kit_fmu("Tracker", "2")).rows)

    def test_library_that_comes_along_without_a_name(self):
        """The loader knows libraries by their soname; without one it cannot be helped, and the message must say who."""
        helper = self.compile("libhelper.so", "int help(void) { return 1; }\n")
        shim = self.compile("shim.so", "", "-Wl,--no-as-needed", "-L.", "-lhelper")
        self.refused_by_all(self.with_library(shim, beside={"libhelper.so": helper}), r"libhelper\.so")

    def test_undefined_symbol(self):
        source = "int nobody_has_this(void);\nint here(void) { return nobody_has_this(); }\n"
        data = self.compile("undefined.so", source)
        self.refused("run", self.with_library(data), status=1, says="nobody_has_this")
        self.assertIn("nobody_has_this", self.tutti("check", "--run", self.with_library(data), status=1).out)

    def test_what_is_no_library(self):
        for data in (b"", b"text", b"\x7fELF" + bytes(1000), self.original[:30], self.original[:1000]):
            with self.subTest(size=len(data)):
                self.refused_by_all(self.with_library(data), r"altered\.fmu: .*librar")

    def test_no_binary_for_this_platform(self):
        fmu = self.altered(kit_fmu("Tracker", "2"), drop=["binaries/"],
                           add={"binaries/win64/Tracker.dll": b"MZ", "binaries/darwin64/Tracker.dylib": b""})
        self.refused("run", fmu, status=1, says=["no binary for this platform", "it has win64, darwin64"])
        fmu = self.altered(kit_fmu("Tracker", "2"), drop=["binaries/"],
                           add={"binaries/darwin64/Tracker.dylib": b"", "binaries/win64/Tracker.dll": b"MZ"})
        self.refused("run", fmu, status=1, says=["no binary for this platform", "it has darwin64, win64"])
        fmu = self.altered(kit_fmu("Tracker", "3"), drop=["binaries/"], add={"sources/all.c": b"int x;"})
        self.refused("run", fmu, status=1, says=["no binaries", "source"])


if __name__ == "__main__":
    unittest.main()
