#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti node --start`: nodes on many machines, by an `ssh` that runs what it is told on this one."""
import os
import pathlib
import signal
import unittest

from command import TUTTI, kit_fmu, wait_until
from nodes import NodesTest

TRACKER = kit_fmu("Tracker", "2")
SSH = """#!/bin/sh
# Stands in for ssh: options, a host, a command.
while [ "$1" = -o ]; do shift 2; done
echo "$1" >>"$SSH_LOG"
case $1 in *lost*) echo "ssh: connect to host $1: no route" >&2; exit 255;; esac
shift
exec sh -c "$*"
"""


class Start(NodesTest):
    def setUp(self):
        super().setUp()
        self.key, _ = self.keys("mine.key")
        fake = pathlib.Path(self.path("bin/ssh"))
        fake.parent.mkdir()
        fake.write_text(SSH, encoding="utf-8")
        fake.chmod(0o755)
        self.env = {"PATH": f"{fake.parent}:{os.environ['PATH']}", "SSH_LOG": self.path("ssh.log")}
        self.hosts = self.list("hosts.txt", "# two machines", "", f"anna@one address=127.0.0.1 tutti={TUTTI} ranks=2",
                               f"127.0.0.1 tutti={TUTTI}")
        pathlib.Path(self.path("nodes.txt")).touch()

    def processes(self):
        """Those that belong to this test: they have its log in their environment."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.path("ssh.log").encode() in path.read_bytes():
                    found.append(path.parent.name)
            except OSError:
                continue
        return found

    def started(self, *options, hosts=None):
        with open(self.path("nodes.txt"), "wb") as out:
            process = self.start("node", "--start", hosts or self.hosts, "--key", self.key, "--listen", "127.0.0.1:0", *options, stdout=out,
                                 env=self.env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: os.path.getsize(self.path("nodes.txt")) or process.poll() is not None))
        return process

    def test_run(self):
        process = self.started("--cache", self.path("it's a cache"), "--max-ranks", "2", "--confine", "auto")
        lines = pathlib.Path(self.path("nodes.txt")).read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"^127\.0\.0\.1:\d+ [0-9a-f]{64} ranks=2$")
        self.assertRegex(lines[1], r"^127\.0\.0\.1:\d+ [0-9a-f]{64} ranks=1$")
        self.assertEqual(sorted(pathlib.Path(self.path("ssh.log")).read_text(encoding="utf-8").split()), ["127.0.0.1", "anna@one"])
        system = tuple(f"{name}={TRACKER}" for name in "abc")
        os.mkdir(self.path("elsewhere"))
        self.assertEqual(self.run_beside("run", *system, "--nodes", "nodes.txt", "--key", self.key, "--quiet", "-o", "nodes.csv"), 0)
        self.assertTrue(os.path.isdir(self.path("it's a cache")))
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 0, outcome.err)
        self.assertIn("2 nodes listen; Ctrl-C ends them", outcome.err)
        self.assertTrue(wait_until(lambda: self.processes() == []))
        self.tutti("run", *system, "-o", "plain.csv", "--quiet")
        self.assertEqual(pathlib.Path(self.path("nodes.csv")).read_bytes(), pathlib.Path(self.path("plain.csv")).read_bytes())

    def run_beside(self, *arguments):
        """The command beside another one, whose temporary files are not its own."""
        process = self.start(*arguments, env={"TMPDIR": self.path("elsewhere")})
        process.communicate()
        return process.returncode

    def test_killed(self):
        """Nodes end with it, whatever ends it, and leave nothing."""
        process = self.started()
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: self.processes() == []), self.processes())
        self.assertTrue(wait_until(lambda: os.listdir(self.tmpdir) == []), os.listdir(self.tmpdir))

    def test_host_that_is_not_there(self):
        hosts = self.list("more.txt", f"127.0.0.1 tutti={TUTTI}", "lost")
        outcome = self.finish(self.started(hosts=hosts))
        self.assertEqual(outcome.status, 1)
        self.assertIn("no route", outcome.err)
        self.assertIn("tutti: error: lost: no node could be started there", outcome.err)
        self.assertEqual(os.path.getsize(self.path("nodes.txt")), 0)
        self.assertTrue(wait_until(lambda: self.processes() == []))

    def test_no_tutti_there(self):
        outcome = self.finish(self.started(hosts=self.list("more.txt", "127.0.0.1 tutti=/no/such/tutti")))
        self.assertEqual(outcome.status, 1)
        self.assertIn("/no/such/tutti", outcome.err)

    def test_option_that_is_wrong_there(self):
        outcome = self.finish(self.started("--max-ranks", "none"))
        self.assertEqual(outcome.status, 1)
        self.assertIn("--max-ranks: 'none' is no number", outcome.err)

    def test_nothing_is_run_by_a_name(self):
        for line in ("-oProxyCommand=x", "host;touch", "$(touch)", "host ranks=0", "host ranks=x", "host why=1", "host address=-x"):
            self.refused("node", "--start", self.list("odd.txt", line), "--key", self.key, status=2, says="odd.txt:1: ")
        self.assertFalse(os.path.exists(self.path("ssh.log")))

    def test_command_lines(self):
        self.refused("node", "--start", self.hosts, status=2, says="--start needs --key FILE")
        self.refused("node", "--start", "none.txt", "--key", self.key, status=2, says="--start: cannot read none.txt")
        self.refused("node", "--start", self.list("empty.txt", "# none"), "--key", self.key, status=2, says="names no host")
        self.refused("node", "--start", self.hosts, "--key", self.key, "--offer", "x.fmu", status=2, says="--start does not go with --offer")


if __name__ == "__main__":
    unittest.main()
