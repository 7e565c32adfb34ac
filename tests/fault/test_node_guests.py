#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Users of a node who take more than their share, and FMUs that look around: the others are served, and little is to be seen."""
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import PATIENCE, TUTTI, kit_fmu, wait_until  # noqa: E402
from nodes import PROTOCOL, NodesTest  # noqa: E402
from zmq_peer import DEALER, Socket, public_key, read_key  # noqa: E402

DAHLQUIST, FAULTY = kit_fmu("Dahlquist", "2"), kit_fmu("Faulty", "2")
SHORT = ("--stop", "1", "--step", "0.1", "--quiet")
WELCOME, REFUSED = 100, 101
MOST = 64  # TUTTI_NODE_MOST_WAITING


def text(words):
    data = words.encode() + b"\0"
    return struct.pack("<Q", len(data)) + data


class Crowds(NodesTest):
    def setUp(self):
        super().setUp()
        self.one, _ = self.keys("one")
        self.two, _ = self.keys("two")
        self.host, self.host_public = self.keys("host")
        version = self.tutti("--version").out.split()[1]
        self.hello = struct.pack("<I", 1) + text("tutti") + struct.pack("<I", PROTOCOL) + text(version) + struct.pack(
            "=Q", 0x0102030405060708)

    def secured(self, *options):
        return self.node("a", "--key", self.host, "--allow", self.path("one.pub"), "--allow", self.path("two.pub"), *options)

    def greet(self, node, key, count):
        """So many connections that greet, and say nothing more; and what they are answered."""
        first = Socket(DEALER, read_key(key), PATIENCE)
        self.addCleanup(first.close)
        peers = [first] + [Socket(DEALER, read_key(key), PATIENCE, beside=first) for _ in range(count - 1)]
        for peer in peers[1:]:
            self.addCleanup(peer.close)
        for peer in peers:
            peer.connect(node.address, public_key(read_key(self.host)))
            peer.send(self.hello)
        return peers, [peer.receive() for peer in peers]

    def run_as(self, key, node, **more):
        lines = self.list("nodes", f"{node.address} {self.host_public}")
        return self.tutti("run", DAHLQUIST, *SHORT, "--nodes", lines, "--key", key, **more)

    def kinds(self, answers):
        return [struct.unpack("<I", answer[:4])[0] for answer in answers]

    def test_one_user_has_all_places(self):
        node = self.secured()
        _, answers = self.greet(node, self.one, 260)
        self.assertEqual(sorted(self.kinds(answers)), [WELCOME] * MOST + [REFUSED] * (260 - MOST))
        outcome = self.run_as(self.one, node, status=1)
        self.assertIn(f"{MOST} runs of this user are connected and have not begun", outcome.err)
        self.run_as(self.two, node)

    def test_those_who_say_nothing(self):
        node = self.secured("--idle", "0.5")
        peers, answers = self.greet(node, self.one, MOST)
        self.assertEqual(self.kinds(answers), [WELCOME] * MOST)
        for peer in peers:
            last = peer.receive()
            self.assertEqual(self.kinds([last]), [REFUSED])
            self.assertIn(b"nothing was said for 0.5 s", last)
        self.run_as(self.one, node)
        self.refused("node", "--listen", "127.0.0.1:0", "--idle", "0", status=2, says="--idle")


class Limits(NodesTest):
    """How much runs may have of a node, and its end without theirs."""

    def under_way(self, node):
        """A run that waits in its FMU, and has its temporary files elsewhere."""
        pathlib.Path(self.path("elsewhere")).mkdir()
        before = node.text().count("for a user at")
        process = self.start("run", f"f={FAULTY}", *SHORT, *self.on(node), "-o", self.path("elsewhere.csv"),
                             env={"TMPDIR": self.path("elsewhere")})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: node.text().count("for a user at") > before or process.poll() is not None))
        self.assertIsNone(process.poll())
        return process

    def test_runs(self):
        node = self.node("a", "--max-runs", "1", env={"KIT_FAULT": "hang DoStep 0.5"})
        process = self.under_way(node)
        self.refused("run", DAHLQUIST, *SHORT, *self.on(node), status=1, says=r"as many runs as it may have, 1 \(--max-runs\)")
        process.kill()
        self.assertTrue(wait_until(lambda: "over after" in node.text()))
        self.tutti("run", DAHLQUIST, *SHORT, *self.on(node))

    def test_ranks(self):
        node = self.node("a", "--max-ranks", "2", env={"KIT_FAULT": "hang DoStep 0.5"})
        two = (f"a={DAHLQUIST}", f"b={DAHLQUIST}", *SHORT)
        self.tutti("run", *two, *self.on(node, node))
        self.assertTrue(wait_until(lambda: "over after" in node.text()))
        self.refused("run", *two, f"c={DAHLQUIST}", *self.on(node, node, node), status=1,
                     says=("wants 3 ranks", "0 of its 2 are taken", "--max-ranks"))
        self.under_way(node)
        self.refused("run", *two, *self.on(node, node), status=1, says=("wants 2 ranks", "1 of its 2 are taken"))
        self.tutti("run", DAHLQUIST, *SHORT, *self.on(node))
        for option in ("--max-runs", "--max-ranks"):
            for number in ("0", "-1", "x", "1e3"):
                self.refused("node", "--listen", "127.0.0.1:0", option, number, status=2, says=option)

    def test_drain(self):
        """After SIGUSR1 the run that it has goes on, no other begins, and it ends with the last."""
        node = self.node("a", env={"KIT_FAULT": "hang DoStep 0.5"})
        process = self.under_way(node)
        node.process.send_signal(signal.SIGUSR1)
        self.refused("run", DAHLQUIST, *SHORT, *self.on(node), status=1, says="being shut down")
        self.assertIsNone(node.process.poll())
        self.assertIsNone(process.poll())
        process.kill()
        self.assertEqual(node.process.wait(PATIENCE), 0)
        idle = self.node("b")
        idle.process.send_signal(signal.SIGUSR1)
        self.assertEqual(idle.process.wait(PATIENCE), 0)


class Surroundings(NodesTest):
    def hanging(self, *options, **env):
        node = self.node("a", *options, env={"KIT_FAULT": "hang DoStep 0.5", **env})
        process = self.start("run", FAULTY, *SHORT, *self.on(node))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: node.workers() or process.poll() is not None))
        return node.workers()[0]

    def environment_of(self, pid):
        """Once it is that of the worker, not of the process that becomes it."""
        path = pathlib.Path(f"/proc/{pid}/environ")
        self.assertTrue(wait_until(lambda: b"/run-1/tmp-" in path.read_bytes()))
        return dict(entry.split(b"=", 1) for entry in path.read_bytes().split(b"\0") if b"=" in entry)

    def test_environment(self):
        worker = self.hanging("--env", "LICENCE_*", PASSWORD="secret", LICENCE_FILE="port@host")
        found = self.environment_of(worker)
        self.assertNotIn(b"PASSWORD", found)
        self.assertEqual(found[b"LICENCE_FILE"], b"port@host")
        self.assertEqual(found[b"PATH"], os.environb[b"PATH"])
        self.assertIn(str(self.folder).encode(), found[b"TMPDIR"])

    def test_memory_and_environment_of_the_node(self):
        """Other processes of the user can read neither: they are the system's."""
        prefix = ()
        if os.getuid() == 0:
            prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            if not shutil.which("setpriv") or subprocess.run([*prefix, TUTTI, "--version"], capture_output=True).returncode:
                self.skipTest("nobody else can start the command here")
        caches = self.folder / "caches"
        caches.mkdir()
        if prefix:
            os.chmod(self.folder, 0o755)
            os.chown(caches, 65534, 65534)
        node = self.node("a", "--cache", caches / "tutti", prefix=prefix)
        for name in ("environ", "mem"):
            self.assertEqual(os.stat(f"/proc/{node.process.pid}/{name}").st_uid, 0)


if __name__ == "__main__":
    unittest.main()
