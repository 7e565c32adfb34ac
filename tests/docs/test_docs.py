#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The user documentation says what is so: its commands work, its outputs, messages, options and links exist.

Every ```sh block of README.md and of the pages below docs/ is run, block by block and from top to bottom of a page, in
a folder of the page's own. There, build/tutti, build/fmus/ and what is in build/examples/ are those of the running build
(as links: nothing of the build is written to), and `tutti` is on the PATH. In such a block
  ./dev COMMAND and sudo ... are not run; ./dev's command has to exist;
  ports of 127.0.0.1 are others, which are free.
Around it
  ```LANGUAGE NAME   is the content of a file: it is written to NAME (```csv weather.csv), with this source tree for
                     /path/to/tutti;
  ```console         is typed on other machines: it is not run;
  ```text            behind an sh block is its output: every line must be there, in any order. "..." stands for
                     anything, durations ("0.1 s") for any duration, and shares ("5 %") and speeds ("2 x real time") for
                     any, too.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import unittest

TUTTI = pathlib.Path(os.environ["TUTTI"])
FMUS = pathlib.Path(os.environ["FMUS"])
SOURCE = pathlib.Path(os.environ["SOURCE"])
sys.path.append(str(SOURCE / "tools"))
from options import MANUAL  # noqa: E402

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
# With commands that the thread sanitizer does not know: MPI, forking, confinement.
NOT_RUN = ("distributed.md", "parallel.md", "step-control.md", "nodes.md") if b"__tsan_init" in TUTTI.read_bytes() else ()
LIKE_RUN = {"linearize", "analyze", "sweep", "estimate", "pack", "wrap"}  # commands that take options of a run, which are explained there
MASTERS = ("masters/choose.md", "masters/couplings.md", "masters/step-control.md", "masters/events.md")
RUN = ("run.md", "systems.md", *MASTERS, "model-exchange.md", "distributed.md", "checkpoints.md", "federation.md", "confinement.md",
       "live.md", "howto/joints.md")  # pages with the options of tutti run
MORE = ("tutorial.md", "troubleshooting.md", *MASTERS, "algorithms.md", "model-exchange.md")  # pages, beside those, with options
PATIENCE = 300  # seconds, for a block; a safety net, not a measurement


class Block:
    """A fenced block: its language, the file's name behind it, the text and the line of the fence."""

    def __init__(self, language, name, line):
        self.language, self.name, self.line = language, name, line
        self.lines = []
        self.follows = None  # the sh block right above, if only white space is between

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def read_blocks(page):
    """The fenced blocks of a page."""
    blocks, open_block, last = [], None, None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"```(\S*) *(.*)$", line)
        if open_block is None and fence:
            open_block = Block(fence[1], fence[2].strip(), number)
            open_block.follows = last
        elif open_block is not None and line == "```":
            blocks.append(open_block)
            last, open_block = (open_block if open_block.language == "sh" else None), None
        elif open_block is not None:
            open_block.lines.append(line)
        elif line.strip():
            last = None
    assert open_block is None, f"{page}:{open_block.line}: the block is not closed"
    return blocks


def prose(page):
    """The text of a page outside of fenced blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))


def dev_commands():
    """What ./dev knows."""
    return {"help", *re.findall(r"(?m)^cmd_(\w+)\(\)", (SOURCE / "dev").read_text(encoding="utf-8"))}


class Ports:
    """Ports that are free on this machine for those that a page names."""

    NAMED = re.compile(r"(?<=127\.0\.0\.1:)[1-9][0-9]*")

    def __init__(self):
        self.free_for = {}

    def find(self, port):
        """One that no program listens at, nor the system gives to a program that asks for any."""
        while port not in self.free_for:
            chosen = str(random.randrange(20000, 32000))
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", int(chosen)))
                if chosen not in self.free_for.values():
                    self.free_for[port] = chosen
        return self.free_for[port]

    def change(self, text):
        return self.NAMED.sub(lambda match: self.find(match[0]), text)

    def change_back(self, text):
        named = {chosen: port for port, chosen in self.free_for.items()}
        return self.NAMED.sub(lambda match: named.get(match[0], match[0]), text)


def output_pattern(line):
    """A line of documented output as a regular expression. Sizes of results depend on the last digits of libraries, too."""
    measured = r" *<?[0-9][0-9.,e+-]* (?:[mu]?s\b|%|x real time|[kMG]?B\b)"
    parts = re.split(rf"(\.\.\.|{measured})", line.rstrip())
    wild = {1: lambda part: ".*" if part == "..." else measured, 0: re.escape}
    return "".join(wild[i % 2](part) for i, part in enumerate(parts))


class Commands(unittest.TestCase):
    pages = [page for page in PAGES if page.name not in NOT_RUN]

    def test_commands(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            pages = [(page, pool.submit(self.run_alone, page)) for page in self.pages]
        for page, done in pages:
            with self.subTest(page=str(page.relative_to(SOURCE))):
                done.result()

    def run_alone(self, page):
        with tempfile.TemporaryDirectory() as folder:
            self.run_page(page, pathlib.Path(folder))

    def run_page(self, page, folder):
        (folder / "build" / "fmus").mkdir(parents=True)
        (folder / "build" / "tutti").symlink_to(TUTTI)
        for fmu in FMUS.glob("*.fmu"):
            (folder / "build" / "fmus" / fmu.name).symlink_to(fmu)
        for file in filter(pathlib.Path.is_file, (FMUS.parent / "examples").glob("*/*")):
            example = folder / "build" / "examples" / file.parent.name
            example.mkdir(parents=True, exist_ok=True)
            (example / file.name).symlink_to(file)
        outputs, ports = {}, Ports()
        for block in read_blocks(page):
            if block.name:
                path = folder / block.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text.replace("/path/to/tutti", str(SOURCE)), encoding="utf-8")
            elif block.language == "sh":
                outputs[block] = self.run_block(page, block, folder, ports)
            elif block.language == "text" and block.follows in outputs:
                self.compare(page, block, outputs[block.follows])

    def run_block(self, page, block, folder, ports):
        """Runs a block; what it printed, or None if it has lines that are not run."""
        script, whole = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"], True  # nothing goes on after a block that fails
        for line in block.lines:
            words = line.split()
            if words and words[0] in ("./dev", "sudo"):
                self.check_dev(page, block, words[1:] if words[0] == "sudo" else words)
                line, whole = "", False
            script.append(ports.change(self.prepare(line)))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KIT_")}
        environment["PATH"] = f"{TUTTI.parent}:{environment['PATH']}"
        done = subprocess.run(["bash", "-e", "-u", "-o", "pipefail", "-c", "\n".join(script)], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=PATIENCE)
        output = ports.change_back(done.stdout.decode("utf-8"))
        self.assertEqual(done.returncode, 0, f"{page}:{block.line}: the block fails:\n{block.text}{output}")
        return output if whole else None

    def prepare(self, line):
        """A line as it is run."""
        return line

    def check_dev(self, page, block, words):
        if words[0] == "./dev":
            self.assertIn((words + ["help"])[1], dev_commands(), f"{page}:{block.line}: ./dev has no such command")

    def compare(self, page, block, output):
        if output is None:
            return
        lines = output.splitlines()
        for number, line in enumerate(block.lines, block.line + 1):
            if line.strip():
                pattern = re.compile(output_pattern(line))
                self.assertTrue(any(pattern.fullmatch(given.rstrip()) for given in lines),
                                f"{page}:{number}: this line is not in the output:\n{line}\n--- the output:\n{output}")


class Options(unittest.TestCase):
    def options(self, command):
        help_text = subprocess.run([TUTTI, command, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
        return set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", help_text))

    def test_every_option_is_in_the_manual(self):
        for command, page in MANUAL.items():
            pages = RUN if command == "run" else (page,)
            text = "".join((SOURCE / "docs" / name).read_text(encoding="utf-8") for name in pages)
            elsewhere = self.options("run") if command in LIKE_RUN else set()
            for option in self.options(command) - elsewhere - {"--help"}:
                self.assertTrue(re.search(rf"{option}\b(?!-)", text), f"docs/{page} is silent on `tutti {command} {option}`")

    def test_options_page(self):
        page = subprocess.run([SOURCE / "tools" / "options.py", TUTTI], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertEqual((SOURCE / "docs" / "options.md").read_text(encoding="utf-8"), page,
                         "tools/options.py build/tutti > docs/options.md writes the page anew")

    def test_every_command_has_a_page(self):
        help_text = subprocess.run([TUTTI, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
        commands = re.findall(r"(?m)^  (\w+) ", help_text)
        self.assertEqual(set(commands) - {"help"}, set(MANUAL))

    def test_every_option_in_the_manual_exists(self):
        known = {"--help", "--version"}.union(*(self.options(command) for command in [*MANUAL, "help"]))
        pages = {SOURCE / "docs" / name for name in (*MANUAL.values(), *MORE)}
        for page in pages | {SOURCE / "README.md"} | set((SOURCE / "docs" / "howto").glob("*.md")):
            text = re.sub(r"(?ms)^```console.*?^```$", "", page.read_text(encoding="utf-8"))  # of other commands, too
            self.assertEqual(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) - known, set(), f"in {page}")


class Statistics(unittest.TestCase):
    def test_every_key_is_in_the_manual(self):
        text = (SOURCE / "docs" / "run.md").read_text(encoding="utf-8")
        text = text[text.index("\n## Statistics"):]
        text = text[:text.index("\n## ", 1)]
        system = FMUS.parent / "examples" / "lotka_volterra" / "lotka_volterra.ssp"
        output = subprocess.run([TUTTI, "run", system, "--record", "none", "--quiet", "--stats", "-"], stdout=subprocess.PIPE,
                                check=True).stdout
        stats = json.loads(output)
        self.assertGreater(len(stats["units"]), 1)
        for key in {*stats, *stats["units"][0]}:
            self.assertIn(f"`{key}`", text, "docs/run.md is silent on it")


class Messages(unittest.TestCase):
    """Messages that the manual explains are messages of the program."""

    def literals(self):
        """The string literals of library and command, those side by side as one."""
        for file in [*(SOURCE / "src").rglob("*.c"), *(SOURCE / "cli").glob("*.c")]:
            for text in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', file.read_text(encoding="utf-8")):
                yield re.sub(r'"\s*"', "", text)[1:-1].replace('\\"', '"')

    def test_messages_exist(self):
        rows = re.findall(r"(?m)^\| (`[^|]*) \|", prose(SOURCE / "docs" / "troubleshooting.md"))
        messages = [message for row in rows for message in re.findall("`([^`]+)`", row)]
        self.assertGreater(len(messages), 80)
        literals = list(self.literals())
        for message in messages:
            pattern = re.compile(".*".join(re.escape(part) for part in message.split("...")))
            self.assertTrue(any(map(pattern.search, literals)), f"the manual explains `{message}`, which nobody says")


class Links(unittest.TestCase):
    @staticmethod
    def anchors(page):
        """The names that GitHub gives to headings."""
        headings = re.findall(r"(?m)^#+ (.*)$", prose(page))
        return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}

    def test_links(self):
        for page in {*PAGES, *SOURCE.glob("*.md"), *(SOURCE / "examples").rglob("*.md"), *(SOURCE / "src").rglob("*.md")}:
            for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                path = page.parent / name if name else page
                self.assertTrue(path.exists(), f"{page}: {target} leads nowhere")
                if anchor:
                    self.assertIn(anchor, self.anchors(path), f"{page}: {target} leads to no heading")

    def test_index_lists_every_page(self):
        index = (SOURCE / "docs" / "README.md").read_text(encoding="utf-8")
        for page in PAGES[1:]:
            if page.name != "README.md":
                self.assertIn(f"({page.relative_to(SOURCE / 'docs')})", index)


class Examples(unittest.TestCase):
    """Every example has a check that the build runs, a README, a line in the list, and figures in reproduction.md
    unless nothing was published."""

    def names(self):
        names = {path.parent.name for path in (SOURCE / "examples").glob("*/README.md")} - {"programs"}  # run by CMake
        self.assertGreaterEqual(len(names), 7)
        return names

    def test_every_example_is_checked(self):
        build = (SOURCE / "examples" / "CMakeLists.txt").read_text(encoding="utf-8")
        for name in self.names():
            self.assertTrue((SOURCE / "examples" / name / "check.py").exists(), name)
            self.assertRegex(build, rf"(?m)^foreach\(name [^)]*\b{name}\b", "not in examples/CMakeLists.txt")

    def test_every_example_is_listed(self):
        text = (SOURCE / "examples" / "README.md").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"(?m)^\| \[\w+\]\((\w+)\) \|", text)), self.names())

    def test_every_example_is_reproduced(self):
        text = (SOURCE / "docs" / "reproduction.md").read_text(encoding="utf-8")
        rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| [")]
        found = set()
        for row in rows:
            self.assertEqual(len(row), 5, row)
            self.assertTrue(row[1] and row[2] and row[3], f"an empty place in {row}")
            found.add(re.match(r"\[(\w+)\]", row[0])[1])
        own = {name for name in self.names() if 'source="our own"' in (SOURCE / "examples" / name / "check.py").read_text("utf-8")}
        self.assertEqual(found, self.names() - own, "./dev reproduce writes docs/reproduction.md anew")


if __name__ == "__main__":
    unittest.main()
