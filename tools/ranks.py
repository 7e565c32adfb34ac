# SPDX-License-Identifier: MIT
"""Where the units of a run are, for tests, examples and benchmarks: fabrics as what stands before and after `tutti run`, and nodes
on this machine."""
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

MPIEXEC = shutil.which("mpiexec.mpich")


@dataclasses.dataclass(frozen=True)
class Fabric:
    """As in the statistics; a run on it is `LAUNCHER tutti run ... OPTIONS`."""

    name: str
    ranks: int
    options: tuple = ()
    launcher: tuple = ()

    def __str__(self):
        return f"{self.name} {self.ranks}"


LOCAL = Fabric("local", 1)


def threads(ranks):
    return Fabric("threads", ranks, ("--threads", str(ranks)))


def processes(ranks):
    return Fabric("processes", ranks, ("--processes", str(ranks)))


def mpi(ranks):
    return Fabric("mpi", ranks, (), (MPIEXEC, "-n", str(ranks)))


@functools.cache
def is_sanitized(tutti):
    return re.search(rb"__[at]san_init", pathlib.Path(tutti).read_bytes()) is not None


@functools.cache
def has_mpi(tutti):
    """The command has its module beside it, and there is a launcher. MPICH itself is not made for sanitizers."""
    return MPIEXEC is not None and (pathlib.Path(tutti).parent / "tutti_mpi.so").exists() and not is_sanitized(tutti)


class Nodes:
    """`tutti node`, so many times, on ports of this machine that are free; with folders of their own for all that they keep."""

    def __init__(self, tutti, count, options=(), **environment):
        if is_sanitized(tutti) and "--confine" not in options:  # their threads and memory are what it forbids
            options = (*options, "--confine", "none")
        self.tutti, self.options, self.environment = str(tutti), options, environment
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tutti-nodes-"))
        self.tmpdir = self.folder / "tmp"
        self.tmpdir.mkdir()
        self.processes, self.addresses = [], []
        self.extend(count)

    def extend(self, count):
        """More of them, until there are so many."""
        logs = []
        while len(self.processes) < count:
            logs.append(self.folder / f"{len(self.processes)}.log")
            with open(logs[-1], "wb") as log:
                self.processes.append(subprocess.Popen(
                    [self.tutti, "node", "--listen", "127.0.0.1:0", "--cache", str(self.folder / "cache"),
                     "--env", "*SAN_OPTIONS", *self.options], cwd=self.folder,
                    env={**os.environ, **self.environment, "TMPDIR": str(self.tmpdir)}, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, start_new_session=True))
        self.addresses += [self._address(log) for log in logs]

    def _address(self, log):
        """Where the node says that it listens."""
        for _ in range(30000):
            found = re.search(r"listening at ([^\s,]+)", log.read_text("utf-8", "replace"))
            if found:
                return found[1]
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.01)
        raise RuntimeError(f"a node does not listen: {self.words()}")

    def fabric(self, ranks=None):
        """The first nodes, all if no number is given; some twice if there are too few."""
        ranks = ranks or len(self.addresses)
        chosen = [self.addresses[rank % len(self.addresses)] for rank in range(ranks)]
        return Fabric("tcp", ranks, ("--nodes", ",".join(chosen)))

    def words(self):
        """What they said."""
        return "".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*.log")))

    def end(self):
        """Ends them as Ctrl-C does. What they left in TMPDIR, how they ended and what they said, for a test to judge."""
        for process in self.processes:
            process.send_signal(signal.SIGINT)
        statuses = [process.wait(timeout=300) for process in self.processes]
        left, words = os.listdir(self.tmpdir), self.words()
        shutil.rmtree(self.folder, ignore_errors=True)
        return left, statuses, words
