#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several machines, as network namespaces that are joined by a switch: nodes with keys beyond loopback, which do not see the files of
whoever starts the run; lines that are slow and lose packets; cables that are cut. Needs root, ip and tc; says so and is skipped
where they are not permitted."""
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from command import kit_fmu, wait_until
from nodes import NodesTest
from systems import connect

SHORT = ("--stop", "1", "--step", "0.05")
ENDLESS = ("--stop", "1", "--step", "1e-7", "--output-step", "1e-4", "--coupling", "jacobi")


def attempt(*words):
    """Runs a tool; None, or what it said when it failed."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip() or f"{words[0]} failed"


class Hosts(NodesTest):
    """desk, from where runs are started, and hosts a, b: 10.77.0.1 to .3, and fd77::1 to ::3."""

    NAMES = ("desk", "a", "b")
    prefix = ()  # the command that puts a run on the desk

    def start(self, *arguments, **options):
        return super().start(*arguments, launcher=self.prefix, **options)

    def setUp(self):
        super().setUp()
        self.switch = self.space("switch")
        self.tool("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        self.tool("ip", "-n", self.switch, "link", "set", "bridge", "up")
        self.spaces = {name: self.host(name, i + 1) for i, name in enumerate(self.NAMES)}
        self.prefix = ("ip", "netns", "exec", self.spaces["desk"])
        files = self.folder / "files"
        files.mkdir()
        for name in ("Dahlquist", "Tracker", "BouncingBall"):
            shutil.copy(kit_fmu(name, "2"), files / f"{name}.fmu")
        self.chain = ("a=files/Dahlquist.fmu", "b=files/Tracker.fmu", "c=files/Tracker.fmu", "d=files/BouncingBall.fmu",
                      *connect("a.x=b.u", "b.y=c.u"))
        self.prefix, prefix = (), self.prefix
        self.own, self.public = self.keys("own")
        self.secret, self.host_public = self.keys("host")
        self.prefix = prefix

    def space(self, name):
        full = f"tutti-{os.getpid()}-{name}"
        said = attempt("ip", "netns", "add", full)
        if said:
            self.skipTest(f"network namespaces are not permitted here: {said}")
        self.addCleanup(attempt, "ip", "netns", "delete", full)
        return full

    def tool(self, *words):
        """Runs one; those that need a part of the kernel may be missing."""
        said = attempt(*words)
        if said and any(part in words for part in ("bridge", "veth", "netem")) and "add" in words:
            self.skipTest(f"{' '.join(words)} is not permitted here: {said}")
        self.assertIsNone(said, words)

    def host(self, name, number):
        full = self.space(name)
        self.tool("ip", "link", "add", "eth0", "netns", full, "type", "veth", "peer", "name", name, "netns", self.switch)
        self.tool("ip", "-n", self.switch, "link", "set", "dev", name, "master", "bridge", "up")
        for words in (("addr", "add", f"10.77.0.{number}/24", "dev", "eth0"),
                      ("addr", "add", f"fd77::{number}/64", "dev", "eth0", "nodad"), ("link", "set", "eth0", "up"),
                      ("link", "set", "lo", "up")):
            self.tool("ip", "-n", full, *words)
        return full

    def on_host(self, name, listen, *options):
        """A node that does not see the folder with the files."""
        hide = f'mount -t tmpfs none "{self.folder}/files" && exec "$@"'
        return self.node(name, "--key", self.secret, "--allow", self.path("own.pub"), *options, host=listen,
                         prefix=("ip", "netns", "exec", self.spaces[name], "sh", "-c", hide, "sh"))

    def both(self):
        """Nodes on a and b, and the options for a run on them; one listens at its address, one at all."""
        nodes = self.on_host("a", "10.77.0.2"), self.on_host("b", "0.0.0.0")
        lines = [f"10.77.0.{i + 2}:{node.address.rpartition(':')[2]} {self.host_public}"
                 for i, node in enumerate(nodes)]
        return (*nodes, ("--nodes", self.list("nodes", *lines), "--key", self.own))

    def plain(self, *options):
        self.prefix, prefix = (), self.prefix
        data = self.result_bytes(*self.chain, *SHORT, *options)
        self.prefix = prefix
        return data

    def test_same_bytes(self):
        _, b, nodes = self.both()
        for options in ((), ("--control", "richardson", "--rtol", "1e-4"), ("--coupling", "relax")):
            with self.subTest(options=options):
                self.assertEqual(self.result_bytes(*self.chain, *SHORT, *options, *nodes), self.plain(*options))
        self.assertIn("for own.pub at 10.77.0.1", b.text())

    def test_ipv6(self):
        nodes = self.on_host("a", "[fd77::2]"), self.on_host("b", "[::]")
        lines = [f"[fd77::{i + 2}]:{node.address.rpartition(':')[2]} {self.host_public}"
                 for i, node in enumerate(nodes)]
        self.assertEqual(self.result_bytes(*self.chain, *SHORT, "--nodes", self.list("nodes", *lines), "--key", self.own),
                         self.plain())

    def test_slow_and_lossy_lines(self):
        """Delays, and packets that come late, twice, in another order, or not at all, are TCP's affair."""
        for name in ("a", "b"):
            self.tool("tc", "-n", self.switch, "qdisc", "add", "dev", name, "root", "netem", "delay", "10ms", "5ms", "loss",
                      "3%", "duplicate", "2%", "reorder", "10%")
        _, _, nodes = self.both()
        self.assertEqual(self.result_bytes(*self.chain, *SHORT, *nodes), self.plain())

    def under_way(self, nodes):
        result = pathlib.Path(self.path("result.csv"))
        process = self.start("run", *self.chain, *ENDLESS, "--place", "a=0", "--place", "b=1", *nodes, "--quiet")
        self.assertTrue(wait_until(lambda: result.exists() and result.stat().st_size > 300 or
                                   process.poll() is not None))
        self.assertIsNone(process.poll(), process.poll() is not None and process.communicate())
        return process

    def test_cut_cable(self):
        """The run ends and says whom it lost; the node on the other side ends its workers; both are good for another run."""
        a, b, nodes = self.both()
        process = self.under_way(nodes)
        self.tool("ip", "-n", self.switch, "link", "set", "dev", "b", "down")
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)
        message, = outcome.lines("error")
        self.assertRegex(message, r"node at 10\.77\.0\.3:\d+ is lost: .*the network is cut.* kept")
        times = self.result().times
        self.assertEqual(times, [n * 1e-4 for n in range(len(times))])
        self.assertGreater(len(times), 2)
        self.assertTrue(wait_until(lambda: not a.workers() and not b.workers()), b.text())
        self.tool("ip", "-n", self.switch, "link", "set", "dev", "b", "up")
        self.assertEqual(self.result_bytes(*self.chain, *SHORT, *nodes), self.plain())

    def test_cut_at_the_desk(self):
        """Both nodes see that the one who started the run is gone."""
        a, b, nodes = self.both()
        process = self.under_way(nodes)
        self.tool("ip", "-n", self.switch, "link", "set", "dev", "desk", "down")
        self.assertTrue(wait_until(lambda: not a.workers() and not b.workers()), a.text() + b.text())
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)

    def test_nobody_there(self):
        self.tool("ip", "-n", self.switch, "link", "set", "dev", "b", "down")
        for address in ("10.77.0.3:7000", "10.77.0.2:7000"):  # no such host; a host without a node
            lines = self.list("nodes", f"{address} {self.host_public}")
            self.refused("run", "files/Dahlquist.fmu", "--nodes", lines, "--key", self.own, status=1,
                         says=rf"the node at {address} cannot be reached \(.*\); .*firewall let port 7000 through")

    def test_without_keys(self):
        """A node at a loopback address is not seen by others; one elsewhere is not started without keys."""
        self.on_host("a", "127.0.0.1")
        self.refused("run", "files/Dahlquist.fmu", "--nodes", "10.77.0.2:7000", status=2, says="public key .* is missing")
        outcome = self.tutti("node", "--listen", "10.77.0.1:0", "--cache", self.path("cache"), status=2)
        self.assertIn("can be reached from other machines", outcome.err)

    def test_offer(self):
        """The file is nowhere but on its owner's machine."""
        home = self.folder / "home"
        home.mkdir()
        shutil.copy(kit_fmu("Tracker", "2"), home / "engine.fmu")
        a, b = self.on_host("a", "10.77.0.2", "--offer", home / "engine.fmu"), self.on_host("b", "10.77.0.3")
        lines = self.list("nodes", *(f"{node.address} {self.host_public}" for node in (b, a)))
        run = ("car=files/Dahlquist.fmu", *connect("car.x=drive.u"), *SHORT)
        plain = self.result_bytes(f"drive={home}/engine.fmu", *run)
        self.assertEqual(self.result_bytes("drive=engine.fmu", *run, "--nodes", lines, "--key", self.own), plain)
        engine = (home / "engine.fmu").read_bytes()
        for node in (a, b):
            for path in node.files().values():
                self.assertNotEqual(path.read_bytes(), engine)
        self.assertEqual(a.end(signal.SIGTERM), None)


if __name__ == "__main__":
    unittest.main()
