#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--help and the manual pages of every command: they are whole, they say the same, and their examples work."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from command import FMUS, TUTTI, CommandTest, kit_fmu
from fom import FOM

SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO")


def plain(text):
    """A rendered page as words with a blank between them."""
    return " ".join(text.split())


class HelpTest(CommandTest):
    def commands(self):
        names = re.findall(r"(?m)^  (\w+) ", self.tutti("--help").out)
        self.assertLessEqual({"info", "check", "run", "plot", "analyze", "new", "node", "completion", "help"}, set(names))
        return names

    def options(self, command):
        """Each option, its argument and its line, as --help has them."""
        text = self.tutti(command, "--help").out
        found = re.findall(r"(?m)^  ((?:-\w, )?--[a-z-]+)(?: (\S+))?  +(\S.*)$", text)
        self.assertEqual(len(found), len(re.findall(r"(?m)^  (?:-\w, )?--[a-z-]", text)))
        return found

    def pairs(self, command, section):
        """The terms of a section of the manual page, each with its text."""
        body = re.search(rf"(?ms)^\.SH {section}$(.*?)^\.SH ", self.tutti("help", "--man", command).out)[1]
        for escape, text in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\&", "")):
            body = body.replace(escape, text)
        return re.findall(r"(?m)^\.TP\n(.*)\n(.*)$", re.sub(r"\\f[BIR]", "", body))

    def examples(self, command):
        return [line for line, _ in self.pairs(command, "EXAMPLES")]


class Pages(HelpTest):
    def render(self, *command):
        page = self.write("page.1", self.tutti("help", "--man", *command).out)
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rHY=0", page], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "", command)
        return done.stdout

    def test_overview(self):
        page = self.render()
        for command in self.commands():
            self.assertRegex(page, rf"(?m)^ +tutti.{command}\(1\)")
        for section in SECTIONS:
            self.assertIn(f".SH {section}\n", self.tutti("help", "--man").out)

    def test_every_command(self):
        """Sections, and every option of --help."""
        for command in self.commands():
            with self.subTest(command=command):
                source, page = self.tutti("help", "--man", command).out, plain(self.render(command))
                for section in SECTIONS:
                    self.assertIn(f".SH {section}\n", source)
                self.assertIn(f"tutti-{command} - ", page)
                self.assertEqual([f"{name} {argument}".strip() for name, argument, _ in self.options(command)],
                                 [name for name, _ in self.pairs(command, "OPTIONS")])
                for example in self.examples(command):
                    self.assertIn(" ".join(example.split()), page)

    def test_files(self):
        self.assertIn(".SH FILES\n.TP\n\\fBresult.csv", self.tutti("help", "--man", "run").out)
        self.assertIn("cache/tutti", self.tutti("help", "--man", "node").out)

    def test_the_build_has_written_them(self):
        folder = pathlib.Path(TUTTI).parent / "share" / "man" / "man1"
        self.assertEqual({page.name for page in folder.iterdir()},
                         {"tutti.1", *(f"tutti-{command}.1" for command in self.commands())})
        self.assertEqual((folder / "tutti-run.1").read_text(encoding="utf-8"), self.tutti("help", "--man", "run").out)

    def test_no_such_page(self):
        self.refused("help", "--man", "rnu", status=2, says="'rnu'")


class Texts(HelpTest):
    def test_long_lists_have_headings(self):
        text = self.tutti("run", "--help").out
        headings = re.findall(r"(?m)^(\w[^:\n]*):$", text)
        self.assertEqual(headings, ["Options (defaults in brackets)", "Model", "Times", "Accuracy and solvers", "Coupling",
                                    "Where components run", "Checkpoints", "Federate (HLA)", "Results", "Messages", "Examples"])
        groups = re.split(r"(?m)^\w[^:\n]*:$", text)
        self.assertTrue(all(len(re.findall("(?m)^  -", group)) <= 20 for group in groups))

    def test_every_option_says_something(self):
        for command in self.commands():
            for name, argument, meaning in self.options(command):
                self.assertGreater(len(meaning), 7, f"{command} {name} {argument}")

    def test_lines(self):
        """A line per option, which fits a terminal of 80 columns."""
        for command in ("", *self.commands()):
            lines = self.tutti(*command.split(), "--help").out.splitlines()
            self.assertEqual([line for line in lines if len(line) > 80], [], command)

    def test_length(self):
        """Two or three screens, for the command with the most options."""
        self.assertLessEqual(len(self.tutti("run", "--help").out.splitlines()), 130)


class Examples(HelpTest):
    """Every command line that --help and the manual pages show."""

    def setUp(self):
        super().setUp()
        for name, source in (("ball", "BouncingBall_fmi3"), ("room", "Heater_fmi2"), ("mass", "ChainMass_fmi2")):
            shutil.copy(FMUS / f"{source}.fmu", self.path(f"{name}.fmu"))
        build = '<BuildConfiguration modelIdentifier="pump"><SourceFileSet><SourceFile name="pump.c"/></SourceFileSet></BuildConfiguration>'
        self.altered(kit_fmu("BouncingBall", "3"), name="pump.fmu", drop=["binaries/"],
                     add={"sources/pump.c": "int pump;\n", "sources/buildDescription.xml": f'<fmiBuildDescription fmiVersion="3.0">{build}</fmiBuildDescription>'})
        shutil.copy(FMUS.parent / "examples" / "quarter_car" / "quarter_car.ssp", self.path("car.ssp"))
        self.write("weather.csv", "time,T_outside\n0,270\n86400,280\n")
        self.write("road.xml", FOM)
        self.write("measured.csv", "time,h\n0,1\n0.2,0.804\n0.4,0.215\n0.6,0.323\n0.8,0.4\n1,0.084\n")
        for folder in ("home/.zsh", "home/.config/fish/completions"):
            os.makedirs(self.path(folder))
        for result in ("ball.csv", "reference.csv", "coarse.csv", "fine.mat"):
            self.tutti("run", kit_fmu("BouncingBall", "3"), "-o", result, "--stop", "2", "--output-step", "0.01")
        self.tutti("run", "car.ssp", "-o", "car.csv", "--step-log", "steps.csv")

    def environment(self, **extra):
        home = self.path("home")
        return super().environment(PATH=f"{os.path.dirname(TUTTI)}:{os.environ['PATH']}", HOME=home, XDG_CACHE_HOME=f"{home}/.cache",
                                   **extra)

    def start_shell(self, line):
        return self.spawn(["bash", "-c", f"exec {line}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def watch(self, line):
        """With a run that goes on for a moment, at a port that is free."""
        run = self.start("run", "ball.fmu", "--stop", "2", "--realtime", "2", "--live", "127.0.0.1:0", "--quiet")
        address = re.search(rb"live at http://(\S+)/", run.stderr.readline())[1].decode()
        outcome = self.finish(self.start_shell(line.replace("127.0.0.1:7500", address)), os.listdir(self.tmpdir))
        self.assertEqual(self.finish(run).status, 0)
        return outcome

    def web(self, line):
        """Until it has said where it is, and somebody ends it."""
        if "--attach" in line:
            run = self.start("run", "ball.fmu", "--stop", "2", "--realtime", "2", "--live", "127.0.0.1:0", "--quiet")
            line = line.replace("127.0.0.1:7500", re.search(rb"live at http://(\S+)/", run.stderr.readline())[1].decode())
        process = self.start_shell(line + " --no-browser")
        self.assertRegex(process.stdout.readline(), rb"^http://127\.0\.0\.1:\d+/\?token=")
        process.send_signal(signal.SIGTERM)
        outcome = self.finish(process, os.listdir(self.tmpdir))
        if "--attach" in line:
            self.assertEqual(self.finish(run).status, 0)
        return outcome

    def test_examples(self):
        count = 0
        for command in self.commands():
            for line in self.examples(command):
                with unittest.TestCase.subTest(self, line=line):  # in one folder: some use what the ones before have made
                    count += 1
                    if command in ("watch", "web"):
                        self.assertEqual(getattr(self, command)(line).status, 0)
                        continue
                    process = self.start_shell(line)
                    if "--listen" in line:  # it waits until somebody ends it
                        self.assertIn(b"listening at", process.stderr.read(4096))
                        process.send_signal(signal.SIGTERM)
                    outcome = self.finish(process)
                    self.assertEqual(outcome.status, 0, outcome.err)
        self.assertGreater(count, 20)


if __name__ == "__main__":
    unittest.main()
