#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nodes confine FMUs that runs bring: what their owner says counts, and a run can only ask for less."""
import os
import pathlib
import re
import socket
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, can_confine, kit_fmu  # noqa: E402
from nodes import NodesTest, children  # noqa: E402

LIMITS = "memory=32M,processes=40,file=1M,scratch=8M"


class ConfinedNodes(NodesTest):
    def setUp(self):
        super().setUp()
        if can_confine():
            self.skipTest(can_confine())
        self.secret = self.write("secret", "secret")

    def attempt(self, node, deed, *options, **parameters):
        """Lets Hostile do it on the node: (did it come through, what was said)."""
        settings = [f"--set=deed={deed}", *(f"--set={name}={value}" for name, value in parameters.items())]
        outcome = self.tutti("run", kit_fmu("Hostile", "2"), *settings, "--stop", "0.3", "-o", "result.csv", *self.on(node), *options)
        return bool(self.result()["succeeded"][-1]), outcome

    def test_strict_is_the_default(self):
        node = self.node("node", "--limits", LIMITS)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        for deed, parameters in (("read_file", {"path": self.secret}), ("read_file", {"path": str(next(iter(self.folder.rglob("cache"))))}),
                                 ("list_folder", {"path": str(node.cache)}), ("create_file", {"path": self.path("new")}),
                                 ("connect_to_port", {"port": port}), ("connect_to_port", {"port": node.address.rpartition(":")[2]}),
                                 ("send_datagram", {"port": port}), ("listen_at_port", {}), ("signal_process", {}), ("signal_group", {}),
                                 ("open_memory", {}), ("open_environment", {}), ("trace_process", {}), ("read_memory", {}),
                                 ("take_descriptor", {}), ("change_limit", {}), ("fork_process", {}), ("run_program", {}),
                                 ("become_program", {}), ("start_threads", {}), ("take_own_memory", {}), ("take_shared_memory", {}),
                                 ("write_large_file", {}), ("write_many_files", {}), ("outlive_parent", {}), ("leave_group", {}),
                                 ("queue_calls", {})):
            with self.subTest(deed):
                done, outcome = self.attempt(node, deed, **parameters)
                self.assertFalse(done)
                if deed not in ("take_own_memory", "write_large_file"):
                    self.assertRegex(outcome.err, "unit 'Hostile_fmi2' tried to .*, which --confine forbids")
        self.assertFalse(os.path.exists(self.path("new")))
        self.assertRegex(node.text(), "run 1: an FMU of rank 0 tried to read .*secret, which --confine forbids")
        for deed in ("nothing", "use_scratch", "use_threads", "look_at_itself"):
            with self.subTest(deed):
                done, outcome = self.attempt(node, deed)
                self.assertTrue(done)
                self.assertEqual(outcome.lines("warning"), [])

    def test_a_run_cannot_have_more(self):
        node = self.node("node", "--permit", f"read:{self.folder},net", "--limits", LIMITS)
        done, _ = self.attempt(node, "read_file", "--confine", "none", path=self.secret)
        self.assertFalse(done)  # what is permitted is not given to those who do not ask for it
        done, _ = self.attempt(node, "read_file", "--allow", f"read:{self.secret}", path=self.secret)
        self.assertTrue(done)
        done, _ = self.attempt(node, "listen_at_port", "--allow", "net")
        self.assertTrue(done)
        done, _ = self.attempt(node, "start_threads", "--limits", "processes=none")
        self.assertFalse(done)
        for allowance in (f"write:{self.folder}", "exec", "read:/etc", "fork"):
            with self.subTest(allowance):
                outcome = self.tutti("run", kit_fmu("Hostile", "2"), "--allow", allowance, *self.on(node), status=1)
                self.assertRegex(outcome.err, "the node does not permit what --allow asks for: .*tutti node --permit")

    def test_a_run_can_have_less(self):
        node = self.node("node", "--confine", "none")
        done, _ = self.attempt(node, "read_file", path=self.secret)
        self.assertTrue(done)
        done, _ = self.attempt(node, "read_file", "--confine", "strict", path=self.secret)
        self.assertFalse(done)
        done, _ = self.attempt(node, "start_threads", "--confine", "strict", "--limits", LIMITS)
        self.assertFalse(done)

    def test_what_the_node_offers(self):
        """It is its owner's; but not in one process with what comes from elsewhere."""
        node = self.node("node", "--offer", kit_fmu("Hostile", "2"))
        outcome = self.tutti("run", "Hostile_fmi2.fmu", "--set=deed=read_file", f"--set=path={self.secret}", "--stop", "0.3", "-o", "result.csv", *self.on(node))
        self.assertEqual(outcome.lines("warning"), [])
        self.assertTrue(self.result()["succeeded"][-1])
        outcome = self.tutti("run", "a=Hostile_fmi2.fmu", f"b={kit_fmu('Tracker', '2')}", "--set=a.deed=read_file",
                             f"--set=a.path={self.secret}", "--step", "0.1", *JACOBI, "-o", "result.csv", *self.on(node))
        self.assertRegex(outcome.err, "unit 'a' tried to read")
        self.assertFalse(self.result()["a.succeeded"][-1])

    def test_results_are_the_same(self):
        """With several ranks, and with keys, which make all connections before FMUs are loaded."""
        system = [*(f"{name}={kit_fmu('Tracker', version)}" for name, version in zip("abcd", ("1cs", "2", "3", "2"))),
                  "--connect=a.y=b.u", "--connect=b.y=c.u", "--connect=c.y=d.u", "--step", "0.1", *JACOBI]
        plain = self.result_bytes(*system)
        one, two = self.node("one"), self.node("two", "--confine", "none")
        for nodes in ((one,), (one, one, one), (one, two), (two, one, two, one)):
            self.assertEqual(self.result_bytes(*system, *self.on(*nodes)), plain)
        system = [f"a={kit_fmu('Lacking', '2')}", f"b={kit_fmu('Tracker', '2')}", "--connect", "b.y=a.u", "--rtol", "1e-4"]
        plain = self.result_bytes(*system)  # one unit is taken back by forking
        for nodes in ((one,), (one, one)):
            self.assertEqual(self.result_bytes(*system, *self.on(*nodes)), plain)

    def test_strangers(self):
        """Who connects to a confined worker is turned away, and does not disturb the run."""
        node = self.node("node")
        process = self.start("run", f"a={kit_fmu('Worker', '2')}", f"b={kit_fmu('Tracker', '2')}", "--realtime", "1", "--stop", "2",
                             "--step", "0.1", *JACOBI, "--quiet", *self.on(node, node))
        port = None
        while process.poll() is None and port is None:
            for worker in node.workers():
                port = port or listening_port(worker)
        self.assertIsNotNone(port)
        for _ in range(20):
            with socket.socket() as stranger:
                stranger.settimeout(1)
                try:
                    stranger.connect(("127.0.0.1", port))
                    stranger.sendall(b"x" * 100)
                    stranger.recv(100)
                except OSError:
                    pass
        outcome = self.finish(process)
        self.assertEqual((outcome.status, outcome.err), (0, ""))

    def test_memory_of_the_node(self):
        """What daemon and workers share can be damaged, but not cut off: the node goes on, whatever became of the run."""
        for confine in ("none", "strict"):
            node = self.node(confine, "--confine", confine)
            for deed in ("cut_descriptors", "damage_memory"):
                self.finish(self.start("run", kit_fmu("Hostile", "2"), f"--set=deed={deed}", "--stop", "0.3", *self.on(node)))
            self.assertTrue(self.attempt(node, "nothing")[0])

    def test_wrong_options(self):
        for options, says in ((("--confine", "loosely"), "--confine"), (("--permit", "everything"), "nothing that can be allowed"),
                              (("--limits", "all"), "is no limit"),
                              (("--confine", "none", "--permit", "net"), "--permit has no effect with --confine none")):
            with self.subTest(options):
                self.refused("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), *options, status=2, says=says)

    def test_nothing_is_left(self):
        """Supervisors end with their workers, also if those are killed."""
        node = self.node("node")
        self.tutti("run", f"a={kit_fmu('Faulty', '2')}", *self.on(node), env={"KIT_FAULT": ""})
        node_of_faults = self.node("faults", env={"KIT_FAULT": "crash DoStep 0.5"})
        self.tutti("run", kit_fmu("Faulty", "2"), *self.on(node_of_faults), status=1)
        for each in (node, node_of_faults):
            self.assertEqual(children(each.process.pid), [])


def listening_port(pid):
    """The TCP port that a process listens at, by its descriptors; None: none."""
    inodes = set()
    try:
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(entry)))
        for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                return int(fields[1].split(":")[1], 16)
    except OSError:
        pass
    return None


if __name__ == "__main__":
    unittest.main()
