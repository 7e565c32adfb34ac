# SPDX-License-Identifier: MIT
"""Nodes for tests: `tutti node` on this machine, each with a folder and a cache of its own."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess

from command import PATIENCE, TUTTI, CommandTest, can_confine, processor_seconds, wait_until


def children(pid):
    """The processes that this one started."""
    found = []
    for task in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if int((task / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(task.name))
    return found


PROTOCOL = 4  # of nodes, which both sides must speak (run/node/node_protocol.h)


class Node:
    """A `tutti node` that listens."""

    def __init__(self, test, name, *options, host="127.0.0.1", prefix=(), env=None):
        self.test, self.name, self.ended = test, name, False
        self.folder = test.folder / name
        self.folder.mkdir()
        test.shared.add(name)
        self.cache = self.folder / "cache"
        self.log = self.folder / "log"
        if can_confine() and "--confine" not in options:  # what it is about otherwise can be tested all the same
            options = (*options, "--confine", "none")
        with open(self.log, "wb") as log:
            self.process = test.spawn([*prefix, TUTTI, "node", "--listen", f"{host}:0", "--cache", self.cache, "--env", "KIT_*",
                                       "--env", "*SAN_OPTIONS", *options], env, cwd=self.folder, stdout=log, stderr=log)
        test.addCleanup(self.end)
        test.assertTrue(wait_until(lambda: "listening at" in self.text() or self.process.poll() is not None),
                        f"{name} does not listen: {self.text()}")
        test.assertIsNone(self.process.poll(), self.text())
        self.address = re.search(r"listening at (\S+),", self.text())[1]

    def text(self):
        return self.log.read_text("utf-8", "replace")

    def workers(self):
        """The processes that FMUs run in. Each is the child of one that the node starts, and that watches over it."""
        return [worker for keeper in children(self.process.pid) for worker in children(keeper) or [keeper]]

    def has_computed(self, seconds):
        """Has a worker taken so many seconds of a processor?"""
        return any(processor_seconds(worker) > seconds for worker in self.workers())

    def files(self):
        """What its cache holds, by hash."""
        return {path.name: path for path in self.cache.iterdir() if re.fullmatch("[0-9a-f]{64}", path.name)}

    def end(self, number=signal.SIGTERM):
        """Ends it as a person would; it leaves no process and nothing but its cache."""
        if self.ended:
            return
        self.ended = True
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.test.fail(f"{self.name} does not end: {self.text()}")
        self.test.assertNotIn("Sanitizer", self.text())
        self.test.assertNotIn("runtime error:", self.text())
        if number == signal.SIGTERM:
            self.test.assertEqual(status, 0, self.text())
            self.test.assertEqual(list(self.cache.glob("work-*")), [])


class NodesTest(CommandTest):
    """A test with nodes."""

    def node(self, name, *options, **more):
        return Node(self, name, *options, **more)

    def keys(self, name):
        """A pair: the file of the secret one, and the public one as text."""
        outcome = self.tutti("node", "--keygen", self.path(name))
        return self.path(name), outcome.out.strip()

    def on(self, *nodes):
        """The options for a run on nodes."""
        return "--nodes", ",".join(node.address for node in nodes)

    def list(self, name, *lines):
        """A file of nodes."""
        return self.write(name, "".join(f"{line}\n" for line in lines))

    def result_bytes(self, *arguments, **more):
        """`tutti run`; the bytes of its result. Nobody may have been warned."""
        outcome = self.tutti("run", *arguments, "-o", self.path("bytes.csv"), "--quiet", **more)
        self.assertEqual(outcome.err, "")
        data = pathlib.Path(self.path("bytes.csv")).read_bytes()
        os.unlink(self.path("bytes.csv"))
        return data
