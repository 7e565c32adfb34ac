#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nodes, workers and runners that crash, are killed, stop, or talk nonsense: everybody else goes on or ends with a word, and
everything computed is kept."""
import contextlib
import os
import pathlib
import random
import signal
import socket
import stat
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import PATIENCE, await_guest, kit_fmu, wait_until  # noqa: E402
from nodes import PROTOCOL, NodesTest, children  # noqa: E402
from systems import connect  # noqa: E402
from zmq_peer import DEALER, RCVTIMEO, ROUTER, Socket, public_key, read_key  # noqa: E402

DAHLQUIST, TRACKER, FAULTY = kit_fmu("Dahlquist", "2"), kit_fmu("Tracker", "2"), kit_fmu("Faulty", "2")
PLACED = (f"a={DAHLQUIST}", f"b={FAULTY}", *connect("a.x=b.u"), "--place", "a=0", "--place", "b=1")
ENDLESS = ("--stop", "1", "--step", "1e-7", "--output-step", "1e-4", "--coupling", "jacobi")


class Lost(NodesTest):
    def setUp(self):
        super().setUp()
        self.result_path = pathlib.Path(self.path("result.csv"))

    def under_way(self, *nodes, options=()):
        """A run that goes on for ever, and has written some rows."""
        process = self.start("run", *PLACED, *ENDLESS, *self.on(*nodes), "--quiet", *options)
        self.assertTrue(wait_until(lambda: self.result_path.exists() and self.result_path.stat().st_size > 300 or
                                   process.poll() is not None))
        self.assertIsNone(process.poll(), process.poll() is not None and process.communicate())
        return process

    def ended(self, process, *says, status=1):
        """The run ends by itself, with a message and with what it had computed."""
        outcome = self.finish(process)
        self.assertEqual(outcome.status, status, outcome.err)
        message, = outcome.lines("error")
        for pattern in says:
            self.assertRegex(message, pattern)
        times = self.result().times
        self.assertEqual(times, [n * 1e-4 for n in range(len(times))])
        self.assertGreater(len(times), 2)
        return message

    def assert_alive(self, *nodes):
        """The nodes serve the next one."""
        self.assertTrue(wait_until(lambda: not any(node.workers() for node in nodes)))
        self.tutti("run", *PLACED, "--stop", "1", "--step", "0.1", *self.on(*nodes), "--quiet", "-o",
                   self.path("next.csv"))

    def test_killed_worker(self):
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        worker, = b.workers()
        os.kill(worker, signal.SIGKILL)
        self.ended(process, rf"worker 1 at {b.address} \(.*t = .*\) was ended by signal 9 \(Killed\)", "kept")
        self.assertIn("the worker of rank 1 was ended by signal 9", b.text())
        self.assert_alive(a, b)

    def test_crash_in_an_fmu(self):
        a, b = self.node("a"), self.node("b", env={"KIT_FAULT": "warning DoStep 0.5; crash DoStep 0.8"})
        outcome = self.tutti("run", *PLACED, "--stop", "1", "--step", "0.1", *self.on(a, b), status=1)
        message, = outcome.lines("error")
        self.assertRegex(message, rf"worker 1 at {b.address} \(unit 'b', .*Faulty_fmi2.fmu, t = 0.[78]\S*\) was ended "
                                  r"by signal 11 \(Segmentation fault\): ask .*kept; its last words: .*0.5")
        times = self.result().times
        self.assertEqual(times, [n * 0.1 for n in range(len(times))])
        self.assertEqual(len(times), 9)

    def test_error_of_an_fmu(self):
        a, b = self.node("a"), self.node("b", env={"KIT_FAULT": "error DoStep 0.5"})
        outcome = self.tutti("run", *PLACED, "--stop", "1", "--step", "0.1", *self.on(a, b), status=1)
        message, = outcome.lines("error")
        self.assertRegex(message, r"\bb\b.*DoStep")
        self.assertEqual(len(self.result()), 6)

    def test_stopped_worker(self):
        """Its connection is given up after 3 s: which of the two is seen first is up to the machine's load (test_hanging_fmu has
        the one without the other)."""
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b, options=("--timeout", "2"))
        worker, = b.workers()
        os.kill(worker, signal.SIGSTOP)
        self.ended(process, r"worker 1 at .* has given no sign of life for 2 s: raise --timeout|"
                            r"rank 1 at .* is lost: .*nothing has come from it")
        self.assert_alive(a, b)

    def test_stopped_at_its_beginning(self):
        """Before it is ready, as often as this test is fast enough."""
        node = self.node("a")
        process = self.start("run", f"b={FAULTY}", *ENDLESS[:6], *self.on(node), "--quiet", "--timeout", "1")
        self.assertTrue(wait_until(lambda: any(map(children, children(node.process.pid)))))
        os.kill(node.workers()[0], signal.SIGSTOP)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1, outcome.err)
        self.assertRegex(outcome.err, "has given no sign of life for 1 s|is lost: .*nothing has come from it")

    def test_hanging_fmu(self):
        """Who waits for it lives: the one that hangs is named."""
        a, b = self.node("a"), self.node("b", env={"KIT_FAULT": "hang DoStep 0.5"})
        outcome = self.tutti("run", *PLACED, "--stop", "1", "--step", "0.1", *self.on(a, b), "--timeout", "3", status=1)
        message, = outcome.lines("error")
        self.assertRegex(message, r"worker 1 at .* \(unit 'b', .*, t = 0.[45]\d*\) has given no sign of life for 3 s")
        self.assertEqual(len(self.result()), 6)

    def test_killed_node(self):
        """Its workers go with it; the runner says which one it was."""
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        worker, = b.workers()
        b.end(signal.SIGKILL)
        self.ended(process, rf"the connection to the node at {b.address} is lost", "kept")
        self.assertTrue(wait_until(lambda: not os.path.exists(f"/proc/{worker}")))
        self.assert_alive(a, a)

    def test_ended_node(self):
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        b.end()
        self.ended(process, rf"the connection to the node at {b.address} is lost|worker 1 at {b.address}")

    def test_stopped_node(self):
        """A daemon that does not answer any more is lost, too."""
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        os.kill(b.process.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, b.process.pid, signal.SIGCONT)
        self.ended(process, rf"node at {b.address} is lost")
        os.kill(b.process.pid, signal.SIGCONT)

    def test_killed_runner(self):
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        process.kill()
        process.communicate()
        for node in (a, b):
            self.assertTrue(wait_until(lambda n=node: not n.workers()), node.text())
            self.assertTrue(wait_until(lambda n=node: "run 1: over" in n.text()), node.text())
        for entry in self.tmpdir.iterdir():  # a kill -9 leaves its folder to the next run, which finds it too young
            self.assertTrue(entry.name.startswith(f"tutti-{process.pid}-"))
            os.system(f"rm -r '{entry}'")
        self.assert_alive(a, b)

    def test_interrupted(self):
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b)
        process.send_signal(signal.SIGINT)
        self.ended(process, r"interrupted at t = ", status=130)
        self.assert_alive(a, b)

    def test_interrupted_in_a_long_step(self):
        """One communication step is ten billion of the solver, on a node."""
        a, b = self.node("a"), self.node("b")
        process = self.start("run", *PLACED, "--interface", "me", "--solver", "rk4", "--solver-step", "1e-10", "--stop",
                             "1", "--step", "1", *self.on(a, b), "--quiet")
        self.assertTrue(wait_until(lambda: a.has_computed(1) or b.has_computed(1)))  # more than a start takes
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 130, outcome.err)

    def test_kept_files_of_a_killed_node(self):
        """What it had on its way is swept by the next one, once it is old enough."""
        a = self.node("a")
        process = self.under_way(a, a)
        a.end(signal.SIGKILL)
        self.finish(process)
        left, = a.cache.glob("work-*")
        os.utime(left, (1e9, 1e9))
        again = self.node("again", "--cache", a.cache)
        self.assertFalse(left.exists())
        self.tutti("run", *PLACED, "--stop", "1", "--step", "0.1", *self.on(again, again), "--quiet")
        again.end()


class Helpers(NodesTest):
    """FMUs that start processes of their own, which outlive the FMU: they end with the run, and hold nobody up."""

    def helpers(self, node):
        """Processes that run in the node's folder, other than the node and its workers."""
        found = []
        for task in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (os.readlink(task / "cwd") == str(node.folder) and int(task.name) != node.process.pid and
                        (task / "cmdline").read_bytes().startswith(b"sleep")):
                    found.append(int(task.name))
        return found

    def run_with(self, fault, *options):
        node = self.node(fault.split()[0], "--confine", "none", env={"KIT_FAULT": fault})
        return node, self.start("run", f"b={FAULTY}", *options, *self.on(node), "--quiet")

    def test_run_ends(self):
        for kind in ("helper", "daemon"):
            with self.subTest(kind):
                node, process = self.run_with(f"{kind} DoStep 0.5", "--stop", "1", "--step", "0.1")
                self.assertEqual(self.finish(process).status, 0)
                self.assertTrue(wait_until(lambda: "over after" in node.text()), node.text())
                self.assertTrue(wait_until(lambda: not self.helpers(node)))
                self.tutti("run", DAHLQUIST, "--stop", "1", "--step", "0.1", *self.on(node), "--quiet")

    def test_crash(self):
        """The worker dies, and its helpers with it."""
        for kind in ("helper", "daemon"):
            with self.subTest(kind):
                node, process = self.run_with(f"{kind} DoStep 0.3; crash DoStep 0.5", "--stop", "1", "--step", "0.1")
                outcome = self.finish(process)
                self.assertEqual(outcome.status, 1)
                self.assertIn("signal 11", outcome.err)
                self.assertTrue(wait_until(lambda: not self.helpers(node)))

    def test_node_is_killed(self):
        node, process = self.run_with("helper DoStep 0.3; daemon DoStep 0.3; hang DoStep 0.5", "--stop", "1", "--step", "0.1")
        self.assertTrue(wait_until(lambda: len(self.helpers(node)) == 2 or process.poll() is not None))
        node.end(signal.SIGKILL)
        self.assertEqual(self.finish(process).status, 1)
        self.assertTrue(wait_until(lambda: not self.helpers(node)))

    def test_node_ends(self):
        node, process = self.run_with("helper DoStep 0.3; daemon DoStep 0.3; hang DoStep 0.5", "--stop", "1", "--step", "0.1")
        self.assertTrue(wait_until(lambda: len(self.helpers(node)) == 2 or process.poll() is not None))
        helpers = self.helpers(node)
        for pid in helpers:  # none of ours: neither the worker's socket, nor its memory, nor its port
            self.assertEqual({int(path.name) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir()}, {0, 1, 2})
        node.end()
        self.assertEqual(self.finish(process).status, 1)
        self.assertEqual(self.helpers(node), [])


def frame(body, flags=0):
    """Of ZeroMQ's protocol (ZMTP 3.0, RFC 23)."""
    return bytes([flags, len(body)]) + body


GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


def text(words):
    data = words.encode() + b"\0"
    return struct.pack("<Q", len(data)) + data


def number(value):
    return struct.pack("<I", value)


HELLO, ASK, PUT, START, PEERS, WELCOME, REFUSED = 1, 3, 4, 5, 6, 100, 101
ORDER = struct.pack("=Q", 0x0102030405060708)


class Strangers(NodesTest):
    """What comes to a node's port, and what may be where a node should be."""

    def setUp(self):
        super().setUp()
        self.version = self.tutti("--version").out.split()[1]
        self.local = self.folder / "caches" / "tutti" / "local.key"

    def connect(self, node):
        host, _, port = node.address.rpartition(":")
        connection = socket.create_connection((host, int(port)))
        self.addCleanup(connection.close)
        return connection

    def hello(self, protocol=PROTOCOL, version=None, order=ORDER, magic="tutti"):
        return number(HELLO) + text(magic) + number(protocol) + text(version or self.version) + order

    def peer(self, node):
        """A program that has the user's key."""
        secret = read_key(self.local)
        peer = Socket(DEALER, secret, PATIENCE)
        self.addCleanup(peer.close)
        peer.connect(node.address, public_key(secret))
        return peer

    def asked(self, node, *messages):
        """What the node answers to the last of these."""
        peer = self.peer(node)
        for message in messages:
            peer.send(message)
            answer = peer.receive()
        peer.close()
        return answer

    def assert_serves(self, node):
        self.tutti("run", DAHLQUIST, "--stop", "1", "--step", "0.1", *self.on(node), "--quiet")

    def test_garbage(self):
        """Bytes of anything but ZeroMQ, half greetings, connections that say nothing, port scans."""
        node = self.node("a")
        source = random.Random(6)
        silent = self.connect(node)
        for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", GREETING[:30], GREETING,
                     GREETING + frame(b"\x05READY", 4), bytes(100000), b"\xff" * 100000, b"",
                     *(source.randbytes(source.randrange(1, 5000)) for _ in range(50))):
            connection = self.connect(node)
            try:
                connection.sendall(data)
            except OSError:
                pass  # it hung up before the end
            connection.close()
        self.assert_serves(node)
        silent.close()

    def test_nonsense(self):
        """Messages that no runner sends: refused with a sentence, and the node lives."""
        node = self.node("a")
        source = random.Random(7)
        content = bytes(32) + struct.pack("<Q", 5)
        after_hello = [
            b"", number(99), number(HELLO), number(ASK), number(ASK) + number(2**32 - 1), number(PUT) + content,
            number(PUT) + bytes(32) + struct.pack("<Q", 2**63) + bytes(16),
            number(PUT) + content + struct.pack("<QQ", 7, 0),
            number(PUT) + content + struct.pack("<QQ", 0, 6) + b"abcdef",
            number(PUT) + content + struct.pack("<QQ", 0, 5) + b"abcde",  # not what its hash says
            number(START), number(PEERS) + bytes(100), number(2) + number(7) + bytes(8),
            number(START) + bytes(16) + b"\0" + struct.pack("<d", float("nan")) + number(1),
            number(START) + bytes(16) + b"\0" + bytes(8) + number(4) + number(2) + number(1) + number(1),
            number(START) + bytes(16) + b"\0" + bytes(8) + number(1) + number(1) + number(0) + number(1) + b"\0" + content,
            number(START) + bytes(16) + b"\0" + bytes(8) + number(1) + number(1) + number(0) + number(1) + b"\1" + number(0),
            *(source.randbytes(source.randrange(1, 300)) for _ in range(30)),
            *(number(source.randrange(1, 9)) + b"?" + source.randbytes(source.randrange(300)) for _ in range(100)),
        ]
        for message in after_hello:
            with self.subTest(message):
                answer = self.asked(node, self.hello(), message)
                kind = struct.unpack("<I", answer[:4])[0]
                self.assertGreaterEqual(kind, 100)
        self.assertEqual(struct.unpack("<I", self.asked(node, number(ASK) + number(0))[:4])[0], REFUSED)
        self.assertEqual(node.files(), {})
        self.assertTrue(wait_until(lambda: not node.workers()))
        self.assert_serves(node)

    def test_a_job_that_is_none(self):
        """A worker that cannot read what it is to do says so, and ends."""
        node = self.node("a")
        start = number(START) + bytes(16) + b"\0" + bytes(8) + number(1) + number(1) + number(0) + number(0)
        for job in (b"", b"\0" * 50, random.Random(8).randbytes(500)):
            answer = self.asked(node, self.hello(), start + struct.pack("<Q", len(job)) + job)
            self.assertEqual(struct.unpack("<I", answer[:4])[0], 106)
            self.assertIn(b"damaged", answer)
        self.assert_serves(node)

    def test_too_large(self):
        """A message that says it is larger than any of ours is cut off before memory is taken."""
        node = self.node("a")
        peer = self.peer(node)
        peer.send(self.hello())
        peer.receive()
        peer.set(RCVTIMEO, 2000)
        peer.send(bytes(2**26 + 1))
        with self.assertRaises(EOFError):
            peer.receive()
        self.assert_serves(node)

    def test_many_connections(self):
        node = self.node("a")
        held = [self.connect(node) for _ in range(100)]
        peers = [self.peer(node) for _ in range(20)]
        for peer in peers:
            peer.send(self.hello())
        for peer in peers:
            self.assertEqual(struct.unpack("<I", peer.receive()[:4])[0], WELCOME)
        self.assert_serves(node)
        for connection in held:
            connection.close()

    def test_wrong_version(self):
        node = self.node("a")
        for hello, says in ((self.hello(protocol=2), "protocol 2"), (self.hello(version="9.9"), "this is Tutti 9.9"),
                            (self.hello(order=ORDER[::-1]), "byte order"), (self.hello(magic="x"), "no greeting")):
            with self.subTest(says):
                answer = self.asked(node, hello)
                self.assertEqual(struct.unpack("<I", answer[:4])[0], REFUSED)
                self.assertIn(says.encode(), answer)
        self.assertIn("was refused", node.text())

    def at_port(self, serve):
        """A run whose node is this function, on a connection."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = "127.0.0.1:%d" % server.getsockname()[1]
            process = self.start("run", DAHLQUIST, "--nodes", address, "--quiet")
            while connection := await_guest(server, process):
                with connection if serve.__name__ != "be_silent" else contextlib.nullcontext():
                    with contextlib.suppress(OSError, EOFError):
                        serve(connection)
            outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        message, = outcome.lines("error")
        self.assertIn(address, message)
        return message

    def as_node(self, *answers):
        """The message of a run whose node has the right key, and answers this to what is said first."""
        self.tutti("run", DAHLQUIST, "--nodes", "127.0.0.1:9", status=1)  # which makes the key
        server = Socket(ROUTER, read_key(self.local), PATIENCE)
        self.addCleanup(server.close)
        process = self.start("run", DAHLQUIST, "--nodes", server.bind(), "--quiet")
        who, _ = server.receive(), server.receive()
        for answer in answers:
            server.send(who, more=True)
            server.send(answer)
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        message, = outcome.lines("error")
        return message

    def test_no_node_there(self):
        def talk_http(connection):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b" " * 100)
            connection.close()

        def have_no_key(connection):
            connection.sendall(GREETING)
            connection.recv(64)

        def be_silent(connection):
            self.addCleanup(connection.close)

        for serve in (talk_http, have_no_key, be_silent):
            self.assertIn("does not answer as a node of this user does", self.at_port(serve))

    def test_nodes_that_talk_nonsense(self):
        refused = number(REFUSED) + number(3) + text("the node runs Tutti 7.0 (protocol 3)")
        self.assertIn("refuses: the node runs Tutti 7.0", self.as_node(refused))
        self.assertIn("says what no node", self.as_node(b"what?"))

    def test_other_users(self):
        """A node without keys works for the user who started it: whoever cannot read that user's key is turned away."""
        node = self.node("a")
        self.assertEqual(stat.S_IMODE(self.local.stat().st_mode), 0o600)
        self.refused("run", DAHLQUIST, *self.on(node), status=1, env={"XDG_CACHE_HOME": self.path("another")},
                     says=(node.address, "another user's", "--key FILE", "--allow"))
        connection = self.connect(node)  # one that shows no key
        connection.settimeout(PATIENCE)
        connection.sendall(GREETING + frame(b"\x05READY\x0bSocket-Type\0\0\0\x06DEALER", 4) + frame(self.hello()))
        said = b""
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(4096):
                said += more
        self.assertNotIn(self.version.encode(), said)
        self.assert_serves(node)

    def test_key_of_the_user(self):
        """One that others can read, or that is no key, is not used."""
        self.assert_serves(self.node("a"))
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"))
        os.chmod(self.local, 0o644)
        self.refused(*node, status=2, says="chmod 600")
        self.refused("run", DAHLQUIST, "--nodes", "127.0.0.1:9", status=2, says="chmod 600")
        os.chmod(self.local, 0o600)
        self.local.write_text("x")
        self.refused(*node, status=1, says="not a key")
        self.local.unlink()
        self.local.mkdir()
        self.refused(*node, status=1, says="not a file of this user")


if __name__ == "__main__":
    unittest.main()
