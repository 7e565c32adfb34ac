# SPDX-License-Identifier: MIT
"""Runs of the command on fabrics, measured by its own statistics: what bench_ranks.py and cost_model.py share."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))
from ranks import LOCAL, MPIEXEC, Nodes, has_mpi, mpi, processes, threads  # noqa: E402,F401

PATIENCE = 120  # seconds after which a run counts as hanging
# The plain master: what is left is steps of FMUs and signals between them.
PLAIN = ("--coupling", "jacobi", "--control", "fixed", "--extrapolate", "0", "--events", "none", "--record", "none")


class Machine:
    """This one, with the command of a build, systems to run, and nodes that are started when they are wanted."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.tutti = self.build / "tutti"
        self.scratch = tempfile.TemporaryDirectory(prefix="tutti-bench-")
        self.folder = pathlib.Path(self.scratch.name)
        self.nodes = None
        self.fabrics = ["threads", "processes", *(["mpi"] if has_mpi(self.tutti) else []), "tcp"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_nodes()
        self.scratch.cleanup()

    def end_nodes(self):
        if self.nodes:
            self.nodes.end()
        self.nodes = None

    def fmu(self, name):
        return str(self.build / "fmus" / name)

    def ring(self, count):
        """A ring of so many masses, each connected three times, as an SSP."""
        path = self.folder / f"ring{count}.ssp"
        if not path.exists():
            subprocess.run([sys.executable, ROOT / "tools" / "make_chain.py", self.fmu("ChainMass_fmi2.fmu"), path,
                            str(count)], check=True)
        return str(path)

    def fabric(self, name, ranks):
        if name != "tcp":
            return {"local": lambda _: LOCAL, "threads": threads, "processes": processes, "mpi": mpi}[name](ranks)
        self.nodes = self.nodes or Nodes(self.tutti, ranks)
        self.nodes.extend(ranks)
        return self.nodes.fabric(ranks)

    def run(self, name, ranks, *arguments):
        """Statistics of a run, and how long the whole command took."""
        stats, fabric = self.folder / "stats.json", self.fabric(name, ranks)
        command = [*fabric.launcher, str(self.tutti), "run", *map(str, arguments), *fabric.options, "--quiet", "--stats",
                   str(stats)]
        begin = time.perf_counter()
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        taken = time.perf_counter() - begin
        if ended.returncode != 0:
            sys.exit(f"bench: {' '.join(command)}\nended with status {ended.returncode}\n{ended.stderr}")
        return json.loads(stats.read_text(encoding="utf-8")), taken

    def per_step(self, fabric, ranks, *arguments, steps, rounds=3):
        """Seconds that a communication step takes, at best: many short runs rather than a few long ones, as others want the
        processor, too. Time goes by in steps of 1/1024, which no rounding spoils."""
        best = float("inf")
        for _ in range(rounds):
            stats, _ = self.run(fabric, ranks, *arguments, "--step", 1 / 1024, "--stop", steps / 1024, *PLAIN)
            if stats["steps"] != steps:
                sys.exit(f"bench: {stats['steps']} steps instead of {steps}")
            best = min(best, stats["loop_seconds"] / steps)
        return best


def cores():
    return len(os.sched_getaffinity(0))
