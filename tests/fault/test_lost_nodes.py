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
import struct
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import PATIENCE, kit_fmu, wait_until  # noqa: E402
from nodes import NodesTest  # noqa: E402
from systems import connect  # noqa: E402

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
        a, b = self.node("a"), self.node("b")
        process = self.under_way(a, b, options=("--timeout", "2"))  # the connection is given up after 3 s
        worker, = b.workers()
        os.kill(worker, signal.SIGSTOP)
        self.ended(process, r"worker 1 at .* has given no sign of life for 2 s: raise --timeout")
        self.assert_alive(a, b)

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
        self.assertTrue(wait_until(lambda: self.result_path.exists()))
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


def frame(body, flags=0):
    return (bytes([flags, len(body)]) if len(body) < 256 else struct.pack(">BQ", flags | 2, len(body))) + body


GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


class Peer:
    """The least of ZeroMQ's protocol (ZMTP 3.0, RFC 23), to say what Tutti would not."""

    def __init__(self, connection, kind):
        self.socket = connection
        connection.settimeout(PATIENCE)
        connection.sendall(GREETING)
        self.read(64)
        ready = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
        connection.sendall(frame(ready, 4))
        self.receive(4)

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def receive(self, wanted=0):
        """The body of the next message, or command; those that only ask whether we live are passed over."""
        while True:
            flags = self.read(1)[0]
            size = struct.unpack(">Q", self.read(8))[0] if flags & 2 else self.read(1)[0]
            body = self.read(size)
            if flags & 4 == wanted:
                return body

    def send(self, body):
        self.socket.sendall(frame(body))


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

    def connect(self, node):
        host, _, port = node.address.rpartition(":")
        connection = socket.create_connection((host, int(port)))
        self.addCleanup(connection.close)
        return connection

    def hello(self, protocol=1, version=None, order=ORDER, magic="tutti"):
        return number(HELLO) + text(magic) + number(protocol) + text(version or self.version) + order

    def asked(self, node, *messages):
        """What the node answers to the last of these."""
        peer = Peer(self.connect(node), b"DEALER")
        for message in messages:
            peer.send(message)
            answer = peer.receive()
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
        peer = Peer(self.connect(node), b"DEALER")
        peer.socket.sendall(struct.pack(">BQ", 2, 2**40))
        with self.assertRaises((EOFError, ConnectionError)):
            peer.receive()
        self.assert_serves(node)

    def test_many_connections(self):
        node = self.node("a")
        held = [self.connect(node) for _ in range(100)]
        peers = [Peer(self.connect(node), b"DEALER") for _ in range(20)]
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
            end = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < end:
                server.settimeout(0.2)
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection if serve.__name__ != "be_silent" else contextlib.nullcontext():
                    with contextlib.suppress(OSError, EOFError):
                        serve(connection)
            outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        message, = outcome.lines("error")
        self.assertIn(address, message)
        return message

    def test_no_node_there(self):
        def refuse(connection):
            peer = Peer(connection, b"ROUTER")
            peer.receive()
            peer.send(number(REFUSED) + number(3) + text("the node runs Tutti 7.0 (protocol 3)"))
            peer.receive()

        def answer_nonsense(connection):
            peer = Peer(connection, b"ROUTER")
            peer.receive()
            peer.send(b"what?")
            peer.receive()

        def talk_http(connection):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b" " * 100)
            connection.close()

        def be_silent(connection):
            self.addCleanup(connection.close)

        self.assertIn("refuses: the node runs Tutti 7.0", self.at_port(refuse))
        self.assertIn("says what no node", self.at_port(answer_nonsense))
        self.assertRegex(self.at_port(talk_http), "does not answer as a node does|says what no node")
        self.assertIn("does not answer as a node does", self.at_port(be_silent))


if __name__ == "__main__":
    unittest.main()
