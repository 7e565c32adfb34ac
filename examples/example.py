# SPDX-License-Identifier: MIT
"""What the checks of the examples share: the command, its results, and a line per figure.

check.py of an example says

    GALLERY = Gallery(...)  # its place and picture in examples/README.md
    example = Example(__doc__, GALLERY)
    run = example.run("Pendulum_fmi3.fmu", "--solver", "cvode", "--stop", 2)
    example.compare("angle at the end", run["x1"][-1], 0.25, within=1e-6)
    example.end()

It is started as `check.py [--build FOLDER] [--report] [--keep FOLDER]`: --build names where the project was built
(build/ next to the sources), --report prints the figures as JSON, one object per line, instead of lines for people,
--keep makes a folder with the inputs and results. The exit status is 1 if a figure is not as it has to be. With
`--gallery FOLDER` it checks nothing, but puts the picture of the example there, and prints its Gallery as JSON."""
import argparse
import csv
import dataclasses
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))
from ranks import Nodes, has_mpi, mpi, processes, threads  # noqa: E402

# Options whose choice the statistics of a run tell.
CHOICES = {"--coupling": "coupling", "--control": "control", "--extrapolate": "extrapolate", "--events": "events"}
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
PATIENCE = 500  # seconds after which a run counts as hanging; a safety net, not a measurement


def short(number):
    """A power of ten: 1e-6, not 1e-06."""
    return re.sub(r"e([-+])0*", r"e\1", f"{number:.0e}").replace("e+", "e")


@dataclasses.dataclass(frozen=True)
class Gallery:
    """What examples/README.md says of an example. `commands` are lines for a shell: they run in a folder with build/ and
    examples/, where `tutti` is on the PATH, and the last of them writes NAME.svg."""
    topic: str  # one of tools/gallery.py
    shows: str  # what it is about, a few words
    source: str  # the publication, and where in it
    caption: str  # what there is to see in the picture, a sentence or two
    commands: str
    case: int = 0  # its number in docs/reproduction.md; 0: none
    stand_in: bool = False  # the publication does not give its model or its data; those here were made to be like them

    def draw(self, name, build, folder):
        with tempfile.TemporaryDirectory(prefix=f"tutti-gallery-{name}-") as scratch:
            place = pathlib.Path(scratch)
            (place / "build").symlink_to(build)
            (place / "examples").symlink_to(ROOT / "examples")
            environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
            ended = subprocess.run(["bash", "-euo", "pipefail", "-c", self.commands], cwd=place, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
            if ended.returncode != 0:
                sys.exit(f"the picture of {name}: status {ended.returncode}\n{ended.stdout}")
            shutil.copyfile(place / f"{name}.svg", folder / f"{name}.svg")


def agrees(told, published):
    """Do two texts hold the same figures? Counts and ratios within 15%, small counts within 3, errors (1.3e-06) within their power
    of ten: other versions of libraries give other last digits, and one Jacobian more or less."""
    mine, theirs = NUMBER.findall(told), NUMBER.findall(published)
    if len(mine) != len(theirs) or NUMBER.sub("", told) != NUMBER.sub("", published):
        return False
    for a, b in zip(mine, theirs):
        x, y, error = float(a), float(b), "e-" in a + b
        if x == y or ("." not in a + b and not error and abs(x - y) <= 3):
            continue
        if x * y <= 0 or not (0.1 if error else 0.85) <= x / y <= (10 if error else 1.15):
            return False
    return True


class Run:
    """A result: columns by name. Of `tutti run` also the statistics, in `units` those of each unit by its name, and in
    `unit` those of the first."""

    def __init__(self, result, stats):
        with open(result, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file, strict=True)
        self.columns = dict(zip(header, np.array(rows, dtype=float).T))
        self.stats = stats
        self.unit = stats["units"][0] if "units" in stats else stats
        self.units = {unit["name"]: unit for unit in stats.get("units", [])}

    def __getitem__(self, name):
        return self.columns[name]

    @property
    def time(self):
        return self.columns["time"]

    def at(self, times, names):
        """A row per time, a column per name; the run must have recorded these times. After an event, if it has two
        rows there."""
        place = np.searchsorted(self.time, np.asarray(times) + 1e-12, side="right") - 1
        assert np.allclose(self.time[place], times, rtol=0, atol=1e-9), "times that were not recorded"
        return np.column_stack([self.columns[name][place] for name in names])


class Example:
    """A check: runs the command and gathers figures. `summary` is its first line, what the example shows."""

    def __init__(self, summary, gallery):
        parser = argparse.ArgumentParser(description=summary)
        parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="where the project was built")
        parser.add_argument("--report", action="store_true", help="print JSON, one line per figure")
        parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="keep inputs and results here")
        parser.add_argument("--gallery", type=pathlib.Path, metavar="FOLDER", help="put its picture here, do nothing else")
        self.options = parser.parse_args()
        self.name = pathlib.Path(inspect.stack()[1].filename).resolve().parent.name
        self.gallery = gallery
        self.build = self.options.build.resolve()
        if self.options.gallery:
            gallery.draw(self.name, self.build, self.options.gallery)
            print(json.dumps({"name": self.name, "about": summary.strip().splitlines()[0], **dataclasses.asdict(gallery)}))
            sys.exit()
        self.scratch = tempfile.TemporaryDirectory(prefix=f"tutti-example-{self.name}-")
        self.folder = self.options.keep or pathlib.Path(self.scratch.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.runs = self.figures = self.failed = 0
        self.page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").splitlines()
        if not self.options.report:
            print(f"{self.name}: {summary.strip().splitlines()[0]}")

    def file(self, name):
        """The path of a file in a folder that lives as long as the check, or is kept."""
        return self.folder / name

    def fmu(self, name):
        """The path of an FMU of this example, or of the kit."""
        own = self.build / "examples" / self.name / name
        return own if own.exists() else self.build / "fmus" / name

    def ssp(self, variant=None):
        """The path of the system of this example; of a variant (a file in its package), if there is one named."""
        path = self.build / "examples" / self.name / f"{self.name}.ssp"
        return f"{path}#{variant}" if variant else path

    def input(self, name, columns):
        """Writes an input file; columns are arrays by name, `time` first."""
        table = np.column_stack(list(columns.values()))
        np.savetxt(self.file(name), table, delimiter=",", fmt="%.17g", header=",".join(columns), comments="")
        return self.file(name)

    def call(self, *command):
        """What a command prints; the check ends if it fails."""
        command = [str(part) for part in command]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if ended.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with status {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def run(self, fmu, *options):
        """`tutti run FMU --interface me OPTIONS...`"""
        return self.run_file(self.fmu(fmu), "--interface", "me", *options)

    def run_system(self, *options, variant=None):
        """`tutti run SYSTEM OPTIONS...`"""
        return self.run_file(self.ssp(variant), *options)

    def run_file(self, path, *options):
        self.runs += 1
        result, stats = self.file(f"result{self.runs}.csv"), self.file(f"stats{self.runs}.json")
        self.call(self.build / "tutti", "run", path, "--quiet", *options, "-o", result, "--stats", stats)
        run = Run(result, json.loads(stats.read_text(encoding="utf-8")))
        self.check_choices(options, run)
        return run

    def check_choices(self, options, run):
        """By its statistics, a run has done what it was asked for; the check ends if not."""
        asked = dict(zip(options, options[1:]))
        done = [(name, [run.stats[key]]) for name, key in CHOICES.items()]
        done.append(("--solver", [unit["solver"] for unit in run.units.values() if unit["interface"] == "me"]))
        for name, values in done:
            if asked.get(name, "auto") != "auto" and any(str(value) != str(asked[name]) for value in values):
                sys.exit(f"{self.name}: asked for {name} {asked[name]}, and the statistics say {values}")

    def step_log(self, *options, variant=None):
        """`tutti run SYSTEM OPTIONS...`: sizes of the macro steps that were tried, in their order."""
        log = self.file("step_log.csv")
        self.run_system(*options, "--step-log", log, variant=variant)
        with open(log, newline="", encoding="utf-8") as file:
            return np.array([float(row["h"]) for row in csv.DictReader(file)])

    def same_bits(self, what, *options, variant=None, published=""):
        """`tutti run SYSTEM OPTIONS...` on every fabric, with the nodes of `tcp` on this machine: the same bytes as on one rank."""
        self.run_system(*options, variant=variant)
        plain = self.file(f"result{self.runs}.csv").read_bytes()
        tutti = self.build / "tutti"
        with_mpi = has_mpi(tutti)
        nodes = Nodes(tutti, 2)
        try:
            same, other = [], []
            for fabric in (threads(2), threads(3), processes(2), *([mpi(2)] if with_mpi else []), nodes.fabric()):
                self.runs += 1
                result = self.file(f"result{self.runs}.csv")
                self.call(*fabric.launcher, tutti, "run", self.ssp(variant), "--quiet", *options, *fabric.options, "-o", result)
                (same if result.read_bytes() == plain else other).append(str(fabric))
        finally:
            nodes.end()
        # Where MPI is not there, the page names a fabric more.
        self.figure(f"{what}: the same bytes as on one rank", ", ".join(same), not other and same, "on every fabric",
                    published if with_mpi or self.options.report else "")

    def complaint(self, *options, variant=None):
        """What `tutti run SYSTEM OPTIONS...` says when it fails, as it has to (status 1), or None."""
        command = [self.build / "tutti", "run", self.ssp(variant), "--quiet", *options, "-o", self.file("failed.csv")]
        ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=PATIENCE,
                               check=False)
        return ended.stderr.strip() if ended.returncode == 1 else None

    def analyze(self, *options, variant=None):
        """What `tutti analyze SYSTEM --json OPTIONS...` says."""
        return json.loads(self.call(self.build / "tutti", "analyze", self.ssp(variant), "--json", *options))

    def figure(self, what, measured, ok=True, required="", published=""):
        """One figure: what it has to be, and what the source published, as texts for people. One with something
        published stands in docs/reproduction.md."""
        ok = bool(ok)
        self.figures += 1
        self.failed += not ok
        if self.options.report:
            line = {"case": self.name, "stand_in": self.gallery.stand_in, "what": what, "published": str(published), "measured": str(measured)}
            print(json.dumps({**line, "required": required, "ok": ok}))
            return
        notes = [f"published {published}" if published != "" else "", f"required {required}" if required else ""]
        notes = ", ".join(note for note in notes if note)
        print(f"  {'ok    ' if ok else 'FAILED'} {what}: {measured}{f' ({notes})' if notes else ''}")
        if published != "":
            self.check_page(what, str(measured))

    def check_page(self, what, measured):
        """docs/reproduction.md says of a published figure what is measured now. (With --report it is about to be written.)"""
        mark = " (stand-in)" if self.gallery.stand_in else ""
        head = f"| [{self.name}](../examples/{self.name}/README.md){mark} | {what} |"
        rows = [line[len(head):].split(" | ") for line in self.page if line.startswith(head)]
        if not any(agrees(measured, row[1]) for row in rows if len(row) > 1):
            self.failed += 1
            print(f"  FAILED {what}: docs/reproduction.md says {rows[0][1] if rows else 'nothing'}; './dev reproduce' writes it anew")

    def compare(self, what, values, reference, within, published=""):
        """The largest distance of values from their reference, which is returned, must not exceed `within`."""
        values, reference = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
        same = values.shape == reference.shape
        error = float(np.max(np.abs(values - reference))) if same else float("nan")
        self.figure(what, f"{error:.1e}" if same else "not as many values", error <= within, f"<= {short(within)}",
                    published)
        return error

    def end(self):
        self.scratch.cleanup()
        sys.exit(1 if self.failed or not self.figures else 0)
