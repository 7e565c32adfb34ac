#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two ways to the same result: random linear systems (linear_systems.py) by random couplings, each run in several ways. Compared as bytes:
what `auto` chose and the same by name; the command line, the .ssp of it, and Python; one rank and threads, processes and MPI; without and
with checkpoints, whole and resumed; the FMUs' own going back and forks. By Co-Simulation and by Model Exchange every column is within 10 times
--rtol of its range of the exact solution."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import net
from linear_systems import SORTS, LinearSystem, read

RTOL = 1e-5
MOST = 10  # times --rtol of the range
# A library with a sanitizer cannot be loaded by the Python interpreter, which has none.
SANITIZED = any(name in pathlib.Path(net.TUTTI).read_bytes() for name in (b"__asan_init", b"__tsan_init"))
PYTHON = {**os.environ, "PYTHONPATH": str(net.ROOT / "python")}


class Case:
    def __init__(self, seed, folder):
        numbers = random.Random(seed)
        self.folder, self.numbers, self.findings = folder, numbers, []
        self.system = LinearSystem(seed, net.FMUS, sort=SORTS[seed % len(SORTS)], radius=numbers.uniform(0.1, 0.9))
        self.system.stop = 1.0  # differences of kind show at once
        self.options = ["--record", "*", "--output-step", "0.05", "--rtol", repr(RTOL), "--interface", "cs"]
        self.coupling = numbers.choice(["auto", "auto", "jacobi", "jacobi", "seidel", "relax", "newton"])
        if self.coupling != "auto":
            self.options += ["--coupling", self.coupling]

    def tutti(self, *words):
        ended = subprocess.run([net.TUTTI, *map(str, words)], cwd=self.folder, check=False, capture_output=True, text=True, timeout=300)
        if ended.returncode:
            raise RuntimeError(f"exit status {ended.returncode}: {ended.stderr.strip()} by: tutti {' '.join(map(str, words))}")
        return ended.stderr

    def run(self, name, *options, words=None, launcher=None):
        """The bytes of the result of a run."""
        words = ["run", *(self.system.words() if words is None else words), "--stop", self.system.stop, *self.options, *options, "--quiet", "-o", name,
                 "--stats", name + ".json"]
        if launcher:
            subprocess.run([*launcher, net.TUTTI, *map(str, words)], cwd=self.folder, check=True, capture_output=True, timeout=300)
        else:
            self.tutti(*words)
        return (self.folder / name).read_bytes()

    def differ(self, what, one, other):
        if one == other:
            return
        lines = [(a, b) for a, b in zip(one.splitlines(), other.splitlines()) if a != b]
        count = (len(one.splitlines()), len(other.splitlines()))
        first = f"{lines[0][0][:100]} | {lines[0][1][:100]}" if lines else ""
        self.findings.append(f"{self.system.name}, {' '.join(self.options)}: {what}: {len(lines)} lines of {count} differ: {first}")

    # ---- the ways ----

    def by_name(self, base):
        """What a run says that it chose, as options."""
        stats = json.loads((self.folder / "base.csv.json").read_text(encoding="utf-8"))
        options = ["--coupling", stats["coupling"], "--control", stats["control"], "--extrapolate", stats["extrapolate"], "--events", stats["events"]]
        if stats["correct"]:
            options += [f"--correct={stats['correct_how']}" if stats.get("correct_how") else "--correct"]
        if stats["smooth"]:
            options += ["--smooth"]
        kept = self.options
        self.options = [word for i, word in enumerate(kept) if word not in ("--coupling", "--correct") and (i == 0 or kept[i - 1] != "--coupling")]
        self.differ(f"by name ({' '.join(options)})", base, self.run("named.csv", *options))
        self.options = kept

    def by_file(self, base):
        self.tutti("new", "system.ssp", *self.system.words(), "--stop", self.system.stop)
        self.differ("by .ssp", base, self.run("ssp.csv", words=["system.ssp"]))

    def by_python(self, base):
        """In a separate process, with the .ssp of `by_file`."""
        options = {word[2:].replace("-", "_"): True if word == "--correct" else self.options[i + 1] for i, word in enumerate(self.options)
                   if word.startswith("--")}
        script = "import json, sys, tutti; tutti.simulate('system.ssp', output='python.csv', **json.loads(sys.argv[1]))"
        ended = subprocess.run(["/usr/bin/python3", "-B", "-c", script, json.dumps(options)], cwd=self.folder, check=False, capture_output=True, text=True, env=PYTHON,
                               timeout=300)
        if ended.returncode:
            raise RuntimeError(f"Python, {options}: {ended.stderr}")
        self.differ("Python", base, (self.folder / "python.csv").read_bytes())

    def by_ranks(self, base):
        ranks = min(3, len(self.system.components))
        self.differ(f"--threads {ranks}", base, self.run("threads.csv", "--threads", ranks))
        self.differ("--processes 2", base, self.run("processes.csv", "--processes", 2))
        if self.numbers.random() < 0.3 and shutil.which("mpiexec.mpich"):
            mpiexec = ("mpiexec.mpich", "-n", "2")
            self.differ("mpiexec -n 2", base, self.run("mpi.csv", launcher=mpiexec))

    def by_checkpoint(self, base):
        """A run that was interrupted: its last checkpoint but one is taken up, by another number of ranks."""
        checkpoint = self.folder / "point.ckpt"
        self.differ("with checkpoints", base, self.run("again.csv", "--checkpoint", checkpoint, "--every", "0.3"))
        previous = checkpoint.with_name(checkpoint.name + ".previous")
        if previous.exists():  # not with few, long steps
            self.differ("--resume", base, self.run("again.csv", "--resume", previous, "--threads", 2))

    def by_fork(self):
        """A fork for each step takes its time: to an eighth of the run. At the end of a run, what follows inputs at once is measured by going back
        once more (sim/refresh.h), which forked units do not: the last row is left out."""
        if self.coupling in ("relax", "newton") or self.numbers.random() < 0.3:
            stop, self.system.stop = self.system.stop, self.system.stop / 8
            own, forked = self.run("own.csv"), self.run("fork.csv", "--rollback", "fork")
            self.differ("--rollback fork", *(b"\n".join(table.splitlines()[:-1]) for table in (own, forked)))
            self.system.stop = stop

    def within(self, what, columns, prefix=""):
        for name, (error, size) in self.system.errors(columns, prefix).items():
            if error > MOST * RTOL * max(size, 1e-3):
                self.findings.append(f"{self.system.name}, {' '.join(self.options)}: {what}: {name} errs by {error / (RTOL * max(size, 1e-3)):.3g} x rtol x range")

    def by_interface(self):
        kept = self.options
        self.options = [*kept, "--interface", "me"]
        self.run("me.csv")
        self.options = kept
        self.within("--interface me", read(self.folder / "me.csv"))

    def try_all(self):
        base = self.run("base.csv")
        self.within("as it is", read(self.folder / "base.csv"))
        self.by_name(base)
        self.by_file(base)
        if self.numbers.random() < 0.3 and not SANITIZED:
            self.by_python(base)
        self.by_ranks(base)
        self.by_checkpoint(base)
        self.by_fork()
        self.by_interface()
        return self.findings


def run(seed, folder):
    return Case(seed, pathlib.Path(folder)).try_all()


if __name__ == "__main__":
    net.main(run, short=2, long=300)
