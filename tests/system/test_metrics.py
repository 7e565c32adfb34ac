#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""/metrics and /health of a node: what they say, and who cannot bring them, or the node, down."""
import http.client
import os
import re
import select
import signal
import socket
import unittest

from command import kit_fmu, wait_until
from nodes import NodesTest

DAHLQUIST = kit_fmu("Dahlquist", "2")


class MetricsTest(NodesTest):
    def metered(self, name, *options, **more):
        """A node with --metrics, and the address where it is asked."""
        node = self.node(name, "--metrics", "0", *options, **more)
        self.address = re.search(r"metrics at http://([\d.]+):(\d+)/metrics", node.text()).groups()
        return node

    def ask(self, path, method="GET", body=None):
        """Status, type and text of an answer."""
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        connection.request(method, path, body=body)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.getheader("Content-Type"), text

    def metrics(self):
        """The samples by name, without "tutti_node_"."""
        status, kind, text = self.ask("/metrics")
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        described, samples = set(), {}
        for line in text.splitlines():
            if line.startswith("# "):
                described.add(re.fullmatch(r"# (?:HELP tutti_node_(\w+) .+\.|TYPE tutti_node_(\w+) (?:counter|gauge))", line)[0].split()[2])
            else:
                name, labels, value = re.fullmatch(r"(tutti_node_\w+)(\{\w+=\"[^\"]*\"\})? (\S+)", line).groups()
                self.assertIn(name, described)
                samples[name.removeprefix("tutti_node_") + (labels or "")] = float(value)
        return samples

    def connection(self):
        connection = socket.create_connection((self.address[0], int(self.address[1])), timeout=60)
        self.addCleanup(connection.close)
        return connection


class Answers(MetricsTest):
    def test_runs(self):
        node = self.metered("node", "--max-ranks", "1", env={"KIT_FAULT": "crash DoStep 0.5 @bad"})
        before = self.metrics()
        self.assertEqual((before["runs"], before["ranks"], before["runs_started_total"], before["cache_bytes"]), (0, 0, 0, 0))
        self.assertIn('build_info{version="0.1.0"}', {re.sub(r'"[\d.]+"', '"0.1.0"', name) for name in before})
        for _ in range(2):
            self.tutti("run", DAHLQUIST, *self.on(node), "--quiet")
        self.tutti("run", f"bad={kit_fmu('Faulty', '2')}", *self.on(node), "--quiet", status=1)
        self.tutti("run", f"a={DAHLQUIST}", f"b={DAHLQUIST}", *self.on(node, node), "--quiet", status=1)
        self.assertTrue(wait_until(lambda: self.metrics()["sessions"] == 0))
        after = self.metrics()
        expected = {"runs_started_total": 3, "runs_completed_total": 2, "runs_failed_total": 1, "runs_aborted_total": 0,
                    "workers_lost_total": 1, "cache_hits_total": 2, "cache_misses_total": 2, "cache_files": 2, "runs": 0,
                    "cache_evictions_total": 0, 'refused_total{reason="limit"}': 1, 'refused_total{reason="key"}': 0}
        self.assertEqual({name: after[name] for name in expected}, expected)
        held = os.path.getsize(DAHLQUIST) + os.path.getsize(kit_fmu("Faulty", "2"))
        self.assertEqual(after["cache_bytes"], held)
        self.assertGreater(after["received_bytes_total"], held)
        self.assertGreater(after["sent_bytes_total"], 0)
        self.assertGreaterEqual(after["uptime_seconds"], before["uptime_seconds"])

    def test_at_work_and_draining(self):
        node = self.metered("node")
        self.assertEqual(self.ask("/health"), (200, "text/plain; charset=utf-8", "ok\n"))
        process = self.start("run", DAHLQUIST, "--stop", "1000", "--realtime", "1", "--record", "none", *self.on(node), "--quiet")
        self.assertTrue(wait_until(lambda: (self.metrics()["runs"], self.metrics()["ranks"]) == (1, 1)))
        node.process.send_signal(signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: self.ask("/health")[0] == 503))
        self.assertEqual(self.ask("/health")[2], "draining\n")
        self.assertEqual(self.metrics()["draining"], 1)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(node.process.wait(60), 0)

    def test_keys(self):
        own, key = self.keys("own.key")
        mine, _ = self.keys("mine.key")
        stranger, _ = self.keys("stranger.key")
        node = self.metered("node", "--key", own, "--allow", mine + ".pub")
        nodes = self.list("nodes.txt", f"{node.address} {key}")
        self.tutti("run", DAHLQUIST, "--nodes", nodes, "--key", stranger, "--quiet", status=1)
        self.assertGreater(self.metrics()['refused_total{reason="key"}'], 0)

    def test_nothing_else(self):
        self.metered("node")
        for path in ("/", "/metrics/", "/../../etc/passwd", "//metrics"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/metrics", "HEAD")[::2], (200, ""))
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.ask("/metrics", method, b"x" * 1000)[0], 405, method)

    def test_command_lines(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--quiet", "--metrics")
        self.refused(*node, str(port), status=1, says=f"--metrics: cannot listen at 127.0.0.1:{port}: Address already in use")
        for where in ("", "x", "70000", ":"):
            self.refused(*node, where, status=2, says="--metrics: '.*' is not HOST:PORT")


class Abuse(MetricsTest):
    """A node whose --metrics is attacked goes on with runs, and answers again."""

    def setUp(self):
        super().setUp()
        self.node_ = self.metered("node")

    def assert_well(self):
        self.assertTrue(wait_until(lambda: self.ask_or_none("/health") == 200))
        self.tutti("run", DAHLQUIST, *self.on(self.node_), "--quiet")

    def ask_or_none(self, path):
        try:
            return self.ask(path)[0]
        except (OSError, http.client.HTTPException):
            return None

    def read_all(self, connection):
        """What comes until the node closes."""
        data = b""
        try:
            while more := connection.recv(65536):
                data += more
        except ConnectionResetError:
            pass
        return data

    def test_slow_clients(self):
        """Many that send a byte now and then, which begins every time-out anew: they are cut, and nobody waits for them."""
        slow = [self.connection() for _ in range(100)]
        for connection in slow:
            connection.sendall(b"GET /metrics HTTP/1.1\r\n")
        def send_a_byte_each():
            for connection in list(slow):
                try:
                    connection.sendall(b"X")
                    connection.setblocking(False)
                    if connection.recv(1000) == b"":
                        raise ConnectionResetError
                except BlockingIOError:
                    connection.setblocking(True)
                except OSError:
                    slow.remove(connection)
                    connection.close()
            select.select(slow, [], [], 0.2)  # until one is cut; if none is, they send once more
            return not slow
        self.assertTrue(wait_until(send_a_byte_each), f"{len(slow)} are not cut")
        self.assert_well()

    def test_what_is_no_request(self):
        for data in (b"\0" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET /metrics HTTP/1.1\r\nHost:\r\n" * 5):
            connection = self.connection()
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            self.read_all(connection)
        self.assert_well()

    def test_too_much(self):
        for data in (b"GET /" + b"x" * 1000000, b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 100000,
                     b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1000000):
            connection = self.connection()
            try:
                connection.sendall(data)
            except OSError:
                pass  # it does not listen that long
            self.assertNotIn(b"200 OK", self.read_all(connection))
        self.assert_well()

    def test_those_who_do_not_read(self):
        connections = [self.connection() for _ in range(30)]
        for connection in connections:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        self.assert_well()


if __name__ == "__main__":
    unittest.main()
