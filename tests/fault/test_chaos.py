#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chaos: processes that are killed or stand still, cables that are cut, disks that fill, at random moments, on every fabric. A run ends
with the bytes of one that nothing happened to; or it says why it ends, and what follows from its checkpoint has these bytes. No process,
segment, port or folder is left.

What is done is known by a seed. TUTTI_CHAOS=N makes N runs on each fabric, TUTTI_CHAOS=S:N those of the seeds from S on."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from blows import Cables, Disk, Limit, plan  # noqa: E402
from command import PATIENCE, Outcome, kit_fmu, wait_until  # noqa: E402
from fabrics import LOCAL, has_mpi, mpi, processes, threads  # noqa: E402
from nodes import Node, NodesTest  # noqa: E402
from systems import connect  # noqa: E402
from test_workers import areas_left, children, workers  # noqa: E402

SIGNALS = {"kill": signal.SIGKILL, "crash": signal.SIGSEGV, "stop": signal.SIGSTOP, "end": signal.SIGTERM}
POINT, LOG = "point", "steps.csv"
CHAIN = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}",
         *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x_left=0.1", "--step", "0.01", "--stop", "2")
RUNS = ((*CHAIN, "--control", "embedded", "--rtol", "1e-4"), (*CHAIN, "--coupling", "seidel"),
        (*CHAIN, "--interface", "me", "--solver", "bdf"))
FORMATS = ("csv", "jsonl", "mat")
RECOVERED = ("--recover", "1000", "--timeout", "1")
APART = ("--place", "a=0", "--place", "b=1")


def seeds(usual):
    """The seeds to take; so many if none are asked for."""
    first, _, count = os.environ.get("TUTTI_CHAOS", str(usual)).rpartition(":")
    return range(int(first or 0), int(first or 0) + int(count))


def family(pid):
    """A process and all that it and its children have started."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            found += children(parent)
    return found


def of_session(leader):
    """The processes of a session."""
    found = []
    for task in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(task.name)) == leader:
                found.append(int(task.name))
    return found


class ChaosTest(NodesTest):
    """Makes runs, and counts what they come to."""

    fabric, options = LOCAL, ()
    most = 3  # blows
    says = r"(?m)^tutti: error: \S"

    def setUp(self):
        super().setUp()
        self.areas_before = areas_left()
        self.late = []  # what is to be undone, and when
        self.plain = {}
        self.silent = False  # the one that would have said something was killed, and leaves its folder

    # ---- what is done to a run

    def strike(self, process, blow):
        """One blow; each fabric has its own."""
        raise NotImplementedError

    def calm(self):
        """After the run: all that is not undone yet, is."""
        while self.late:
            self.undo(self.late[0][0])

    def signal(self, pid, blow):
        os.kill(pid, SIGNALS[blow.kind])
        if blow.kind == "stop":
            self.later(blow, lambda: os.kill(pid, signal.SIGCONT))

    def later(self, blow, deed):
        self.late.append((time.monotonic() + blow.for_, deed))

    def undo(self, until=None):
        """What is due."""
        due = [entry for entry in self.late if entry[0] <= (until or time.monotonic())]
        self.late = [entry for entry in self.late if entry not in due]
        for _, deed in due:
            with contextlib.suppress(ProcessLookupError):
                deed()

    def wait(self, process, seconds):
        """Until it has ended, but not longer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.005)
            self.undo()
        return process.poll() is not None

    def wait_for_rows(self, process):
        while not any(pathlib.Path(self.path(f"result.{ending}")).exists() for ending in FORMATS) and not self.wait(process, 0.02):
            pass

    def disturbed(self, run, blows):
        """A run with these blows, and how it ended."""
        process = self.start("run", *run, "--realtime", "2", "--every-seconds", "0.02", *self.fabric.options, *self.options,
                             launcher=self.fabric.launcher, stderr=subprocess.STDOUT)
        for blow in blows:
            self.wait(process, blow.after)
            with contextlib.suppress(OSError, IndexError, TypeError):  # there may be none such, or it has just ended
                self.strike(process, blow)
        hangs = not self.wait(process, PATIENCE)
        if hangs:
            self.calm()
            for pid in family(process.pid):
                os.kill(pid, signal.SIGKILL)
        said, _ = process.communicate()
        outcome = Outcome(process.returncode, "", said.decode("utf-8", "replace"))
        self.assertFalse(hangs, f"hangs: {outcome.err}")
        self.calm()
        self.assertNotIn("Sanitizer", outcome.err)
        self.assertTrue(wait_until(lambda: not of_session(process.pid)), f"processes are left: {outcome.err}")
        self.assertTrue(wait_until(lambda: areas_left() <= self.areas_before), f"shared memory is left: {outcome.err}")
        return outcome

    # ---- what it comes to

    def files(self, ending):
        paths = (pathlib.Path(self.path(name)) for name in (f"result.{ending}", LOG))
        return {path.name: path.read_bytes() for path in paths if path.exists()}

    def clear(self):
        for name in (*(f"result.{ending}" for ending in FORMATS), LOG, POINT, f"{POINT}.previous", f"{POINT}.part"):
            pathlib.Path(self.path(name)).unlink(missing_ok=True)

    def undisturbed(self, run, ending):
        if (run, ending) not in self.plain:
            self.clear()
            self.tutti("run", *run, "--quiet")
            self.plain[run, ending] = self.files(ending)
        return self.plain[run, ending]

    def sweep_later(self, said):
        """Only what was killed itself leaves its folder; the next run takes it away, if it is old enough."""
        left = list(self.tmpdir.iterdir())
        for entry in left:
            os.utime(entry, (1e9, 1e9))
        if not self.silent:
            self.assertEqual(left, [], said)

    def judge(self, run, ending, outcome):
        """True: it has ended as if nothing had been; else as it can after it was resumed."""
        expected = self.plain[run, ending]
        self.sweep_later(outcome.err)
        if outcome.status == 0:
            self.assertEqual(self.files(ending), expected, outcome.err)
            return True
        if outcome.status != 128 + signal.SIGTERM and (not self.silent or self.says != ChaosTest.says):
            self.assertRegex(outcome.err, self.says, "no message")
        self.tutti("run", *run, "--checkpoint", POINT, "--resume", POINT, "--quiet")
        self.assertEqual(self.files(ending), expected, outcome.err)
        return False

    def chaos(self, kinds, usual, prepare=None):
        finished = resumed = 0
        for seed in seeds(usual):
            numbers = random.Random(f"{type(self).__name__} {seed}")
            ending = numbers.choice(FORMATS)
            run = (*numbers.choice(RUNS), "-o", f"result.{ending}", "--step-log", LOG)
            if prepare:
                prepare(numbers)
            blows = plan(numbers, kinds, self.most)
            with self.subTest(seed=seed, run=run[len(CHAIN):], fabric=str(self.fabric), blows=", ".join(map(str, blows))):
                self.undisturbed(run, ending)
                self.clear()
                self.silent = False
                if self.judge(run, ending, self.disturbed((*run, "--checkpoint", POINT), blows)):
                    finished += 1
                else:
                    resumed += 1
        print(f"{type(self).__name__}: {finished} runs ended as if nothing had been, {resumed} with a message, and were resumed", flush=True)


class Workers(ChaosTest):
    """Workers of --processes are replaced."""

    fabric, options = processes(2), (*APART, *RECOVERED)

    def strike(self, process, blow):
        self.signal(blow.choose(workers(process)), blow)

    def calm(self):  # one that was stopped is given up long before
        self.late.clear()

    def test_chaos(self):
        self.chaos(("kill", "stop", "crash"), 3)


class Whole(ChaosTest):
    """Where FMUs run in the process itself nothing can be replaced: it ends, and goes on by its checkpoint."""

    most = 1

    def strike(self, process, blow):
        watched = children(process.pid)[0]
        victim = blow.choose((process.pid, watched, watched))
        self.silent = victim == process.pid and blow.kind in ("kill", "crash")
        self.signal(victim, blow)

    def prepare(self, numbers):
        self.fabric, self.options = numbers.choice(((LOCAL, ()), (threads(2), APART), (processes(2), (*APART, *RECOVERED))))

    def test_chaos(self):
        self.chaos(("kill", "stop", "crash", "end"), 4, self.prepare)


class Ranks(ChaosTest):
    """Of mpiexec, which ends all if one is lost."""

    fabric, most = mpi(2), 2
    says = "(?m)^tutti: error: |BAD TERMINATION"

    def strike(self, process, blow):
        """Once all have met: mpiexec of MPICH 4.0 waits for ever for one that dies before."""
        self.wait_for_rows(process)
        ranks = [pid for pid in family(process.pid) if pathlib.Path(f"/proc/{pid}/comm").read_text("utf-8").strip() == "tutti"]
        self.silent = True  # mpiexec has words of its own, and kills the others
        self.signal(blow.choose(ranks), blow)

    @unittest.skipUnless(has_mpi(), "no MPI")
    def test_chaos(self):
        self.chaos(("kill", "stop", "crash", "end"), 2)


class Disks(ChaosTest):
    """A disk that fills, and is emptied again, before the end or after it."""

    most = 2

    def setUp(self):
        super().setUp()
        self.disk = (Disk if Disk.can_be_made() else Limit)(self.folder)
        self.addCleanup(self.disk.end)
        self.tmpdir.mkdir(exist_ok=True)

    def strike(self, process, blow):
        if blow.kind != "fill":
            self.signal(blow.choose(workers(process)), blow)
            return
        self.disk.pids = family(process.pid)
        self.disk.fill(int(blow.whom * 20000))
        self.later(blow, self.disk.empty)

    def prepare(self, numbers):
        self.fabric, self.options = numbers.choice(((LOCAL, ()), (threads(2), APART), (processes(2), (*APART, *RECOVERED))))

    def test_chaos(self):
        self.chaos(("fill", "fill", "kill"), 4, self.prepare)


class Nodes(ChaosTest):
    """Three nodes, one more than are needed, each with a cable of its own."""

    most, PORTS = 4, 5

    def setUp(self):
        super().setUp()
        self.nodes, self.cables, self.ports = [], [], []
        for n in range(3):
            self.ports.append(Cables.free_ports(self.PORTS, random.Random(os.getpid() + n)))
            self.cables.append(Cables(self.ports[n]))
            self.addCleanup(self.cables[n].end)
            self.nodes.append(None)
            self.begin(n)
        self.options = ("--nodes", self.path("hosts"), *RECOVERED)

    def begin(self, n):
        """A node begins, at any of its ports, and is listed."""
        self.started = getattr(self, "started", 0) + 1
        cache = self.folder / f"cache{n}"
        for left in cache.glob("work-*"):
            os.utime(left, (1e9, 1e9))
        self.nodes[n] = Node(self, f"node{self.started}", "--ports", f"{self.ports[n][0]}-{self.ports[n][-1]}", "--cache", cache)
        self.nodes[n].cache = cache
        self.list("hosts", *(f"{Cables.HOST}:{node.address.rpartition(':')[2]}" for node in self.nodes if node))

    def end_node(self, n, blow):
        """Its workers go with it; what it leaves is swept by the next one, once nobody is in it."""
        left = family(self.nodes[n].process.pid)[1:]
        self.nodes[n].end(signal.SIGKILL)
        self.assertTrue(wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left)))
        self.later(blow, lambda: self.begin(n))

    def strike(self, process, blow):
        what, _, where = blow.kind.partition(" ")
        n = blow.choose(range(len(self.nodes)))
        if where == "cable":
            self.cables[n].set(what)
            self.later(blow, lambda: self.cables[n].set("whole"))
        elif where == "node" and what == "kill":
            if not self.nodes[n].ended:
                self.end_node(n, blow)
        elif where == "node":
            pid = self.nodes[n].process.pid
            os.kill(pid, signal.SIGSTOP)
            self.later(blow, lambda: os.kill(pid, signal.SIGCONT))
        else:
            os.kill(blow.choose([pid for node in self.nodes for pid in node.workers()]), SIGNALS[what])

    def calm(self):
        super().calm()
        for node, ports in zip(self.nodes, self.ports):
            self.assertTrue(wait_until(lambda n=node: not n.workers()), node.text())
            self.assertTrue(wait_until(lambda n=node: not list(n.cache.glob("work-*/*"))), node.text())
            for port in ports:
                if not node.address.endswith(f":{port}"):
                    socket.create_server(("127.0.0.1", port)).close()

    def test_chaos(self):
        self.chaos(("kill worker", "stop worker", "crash worker", "kill node", "stop node", "cut cable", "held cable"), 3)


if __name__ == "__main__":
    unittest.main()
