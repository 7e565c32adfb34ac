#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that others watch and steer (--live), by HTTP and by `tutti watch`."""
import http.client
import json
import os
import re
import unittest

from command import CommandTest, kit_fmu, wait_until
from fabrics import LOCAL, FabricTest

FEEDTHROUGH, VAN_DER_POL = kit_fmu("Feedthrough", "3"), kit_fmu("VanDerPol", "2")
PAIR = (f"a={FEEDTHROUGH}", f"b={FEEDTHROUGH}", "--connect", "a.float64_out=b.float64_in")


class Live:
    """A run that is watched, from outside."""

    def __init__(self, test, process):
        self.test, self.process, self.said = test, process, []
        while not (found := re.search(rb"live at http://([\d.]+):(\d+)/\?token=(\w+)", line := process.stderr.readline())):
            test.assertTrue(line, f"it has ended: {self.said}")
            self.said.append(line)
        self.host, self.port, self.token = found[1].decode(), int(found[2]), found[3].decode()
        self.address = f"{self.host}:{self.port}"
        self.events = self.last = None

    def ask(self, method, path, body=None, token=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.request(method, path, body=body, headers={"Authorization": f"Bearer {token or self.token}"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def order(self, **order):
        status, text = self.ask("POST", "/orders", json.dumps(order))
        self.test.assertEqual((status, text), (202, "{}\n"))

    def refused(self, says, **order):
        status, text = self.ask("POST", "/orders", json.dumps(order))
        self.test.assertEqual(status, 400)
        self.test.assertRegex(json.loads(text)["error"], says)

    def watch(self, columns=None, past=""):
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        self.connection.request("GET", f"/events?past={past}" + (f"&columns={columns}" if columns else ""), headers={"Authorization": f"Bearer {self.token}"})
        self.events = self.connection.getresponse()
        self.test.addCleanup(self.connection.close)

    def event(self):
        """The next one: its kind and its data; None: there are no more."""
        kind = None
        while line := self.events.readline().decode():
            if line.startswith("event: "):
                kind = line[7:].strip()
            elif line.startswith("data: "):
                return kind, json.loads(line[6:])
        return None

    def await_event(self, wanted, fits=lambda data: True):
        while event := self.event():
            if event[0] == wanted and fits(event[1]):
                return event[1]
        self.test.fail(f"no event {wanted}")

    def state(self):
        return json.loads(self.ask("GET", "/")[1])["state"]

    def steps(self):
        return int(re.search(r"^tutti_run_steps (\d+)$", self.ask("GET", "/metrics")[1], re.M)[1])

    def await_state(self, state):
        self.test.assertTrue(wait_until(lambda: self.state() == state))


class Steered(FabricTest):
    """On every fabric the same."""

    def steer(self, fabric):
        live = Live(self, self.start("run", *PAIR, "--stop", "1e6", "--step", "0.001", "--realtime", "1", "-o", "result.csv", "--live", "127.0.0.1:0",
                                     "--quiet", *fabric.options, launcher=fabric.launcher))
        live.watch("b.float64_out;a.float64_in")
        self.assertEqual([column["name"] for column in live.await_event("run")["columns"]], ["b.float64_out"])
        live.await_event("rows")
        self.look_at_loads(live)
        live.order(pause=True)
        live.await_event("state", lambda data: data["state"] == "paused")
        self.assertTrue(wait_until(lambda: live.state() == "paused"))
        before = live.steps()
        live.order(set={"a.float64_in": 2.5})
        live.order(step=3)
        self.assertTrue(wait_until(lambda: live.steps() == before + 3))
        live.await_event("rows", lambda data: 2.5 in data["values"][0])
        live.order(go=True)
        live.await_state("running")
        self.assertTrue(wait_until(lambda: live.steps() > before + 3))
        live.refused("'b.float64_in' is connected", set={"b.float64_in": 1})
        live.order(stop=True)
        end = live.await_event("end")
        outcome = self.finish(live.process)
        self.assertEqual(end["state"], "interrupted")
        self.assertRegex(end["message"], r"stopped at t = \S+ by one who watches the run; everything up to there is kept")
        self.assertIn("stopped at t =", outcome.err)
        rows = self.result()["b.float64_out"]
        self.assertEqual((rows[0], rows[-1], sorted(set(rows))), (0, 2.5, [0, 2.5]))
        self.assertGreaterEqual(len(rows), before + 4)

    def look_at_loads(self, live):
        """While somebody watches, every rank tells what its units take, and the first one which steps were made."""
        units, ranks, steps = {}, set(), None
        while not steps or len(units) < 2 or not all(unit["do_steps"] for unit in units.values()):
            kind, data = live.event()
            if kind == "load":
                ranks.add(data["rank"])
                units.update({unit["name"]: unit for unit in data["units"]})
            steps = data if kind == "steps" else steps
        self.assertEqual(sorted(units), ["a", "b"])
        self.assertEqual(ranks, set(range(max(ranks) + 1)))
        self.assertTrue(all(unit["seconds"] >= 0 for unit in units.values()))
        self.assertAlmostEqual(steps["least"][0], 0.001, places=9)
        self.assertAlmostEqual(steps["to"][0] - steps["from"][0], 0.001 * steps["count"][0], places=6)
        self.assertEqual((steps["error"], steps["rejected"], steps["events"]), ([None], 0, []))

    def test_local(self):
        self.steer(LOCAL)

    def test_fabrics(self):
        for fabric in self.fabrics():
            with self.subTest(fabric=str(fabric)):
                self.steer(fabric)

    def test_same_bytes(self):
        """A run is what it is without those who watch it."""
        for fabric in (LOCAL, *self.fabrics()):
            with self.subTest(fabric=str(fabric)):
                self.same(VAN_DER_POL, "--interface", "me", "--stop", "2", fabrics=[fabric])
                plain = self.ran(VAN_DER_POL, "--stop", "2").files["result.csv"]
                watched = self.ran(VAN_DER_POL, "--stop", "2", "--live", "127.0.0.1:0", fabric=fabric)
                self.assertEqual(watched.files["result.csv"], plain)


class Watched(CommandTest):
    def live(self, *arguments, **more):
        return Live(self, self.start("run", *arguments, "--live", "127.0.0.1:0", "--quiet", **more))

    def endless(self, *more):
        live = self.live(VAN_DER_POL, "--stop", "1e6", "--step", "0.001", "--realtime", "1", *more)
        live.await_state("running")  # it is live before it has begun
        return live

    def stop(self, live):
        live.order(stop=True)
        return self.finish(live.process)

    def test_rows_when_somebody_comes(self):
        """Without a result nothing is recorded before; all that is seen is whole."""
        live = self.endless("--record", "none")
        self.assertTrue(wait_until(lambda: live.steps() > 20))
        live.watch()
        rows = live.await_event("rows")
        self.assertEqual(rows["first"], 0)
        self.assertGreater(rows["time"][0], 0.01)
        self.assertTrue(wait_until(lambda: live.steps() > 100))
        numbers = rows["first"] + len(rows["time"])
        after = live.await_event("rows")
        self.assertEqual(after["first"], numbers)
        self.stop(live)

    def test_rows_while_a_unit_computes(self):
        """Rows do not wait for the ones after them: a unit that does not return has its last row shown."""
        os.mkfifo(self.path("door"))
        live = self.live(kit_fmu("Hostile", "2"), "--set", "Hostile_fmi2.deed=read_file", "--set", f"Hostile_fmi2.path={self.path('door')}",
                         "--step", "0.1", "--stop", "0.5", "-o", "result.csv")
        live.watch(past="rows")
        self.assertEqual(live.await_event("rows")["time"], [0])
        with open(self.path("door"), "w", encoding="utf-8") as door:
            door.write("now it returns")
        self.assertEqual(live.await_event("end")["state"], "done")
        self.finish(live.process)

    def test_past(self):
        """One who comes later is told all from the start, thinned, and each row once; steps with their errors and events."""
        live = self.live(*PAIR, "--stop", "1e6", "--control", "richardson", "--step", "0.01", "--h-max", "0.02", "--realtime", "1", "-o", "result.csv")
        live.watch()
        first = live.await_event("steps")
        self.assertTrue(wait_until(lambda: live.steps() > 60))
        live.connection.close()
        live.watch(past="rows;steps")
        past = live.await_event("steps")
        self.assertEqual(past["from"][0], first["from"][0])
        kind, rows = live.event()
        while kind not in ("rows", "bars"):
            kind, rows = live.event()
        times, count = (rows["from"], sum(rows["rows"])) if kind == "bars" else (rows["time"], len(rows["time"]))
        self.assertEqual((rows["first"], times[0]), (0, 0))
        kind, more = live.event()
        while kind not in ("rows", "bars"):
            kind, more = live.event()
        self.assertEqual(more["first"], count)
        live.await_event("steps", lambda data: data["error"][0] is not None and data["error"][0] <= 1)
        self.stop(live)

    def test_two_and_one_that_leaves(self):
        live = self.endless()
        other = Live.__new__(Live)
        other.__dict__.update(live.__dict__)
        live.watch("x0")
        other.watch()
        self.assertEqual(len(live.await_event("run")["columns"]), 1)
        self.assertGreater(len(other.await_event("run")["columns"]), 1)
        live.await_event("rows")
        other.await_event("rows")
        other.connection.sock.close() if other.connection.sock else other.events.close()
        live.await_event("rows")
        live.await_event("rows")
        self.stop(live)

    def test_command(self):
        live = self.endless("-o", "result.csv")
        watching = self.start("watch", live.address, "--json", "-v", "x0")
        while b'"rows"' not in (line := watching.stdout.readline()):
            self.assertTrue(line, "it has ended")
        self.stop(live)
        out = self.finish(watching).out
        last = json.loads(out.splitlines()[-1])
        self.assertEqual((last["event"], last["state"]), ("end", "interrupted"))
        plain = self.live(VAN_DER_POL, "--stop", "3", "--realtime", "1")
        outcome = self.finish(self.start("watch", plain.address), os.listdir(self.tmpdir))
        self.assertRegex(outcome.out, r"done at t = 3\n")
        self.assertEqual(self.finish(plain.process).status, 0)

    def test_failure(self):
        live = self.live(kit_fmu("Faulty", "2"), "--stop", "1e6", "--step", "0.01", "--realtime", "1", env={"KIT_FAULT": "error DoStep 0.3"})
        live.watch()
        end = live.await_event("end")
        self.assertEqual(end["state"], "failed")
        self.assertIn("DoStep", end["message"])
        self.assertEqual(self.finish(live.process).status, 1)

    def test_refusals(self):
        live = self.endless()
        self.assertEqual(live.ask("GET", "/", token="0" * 32)[0], 401)
        live.refused("there is no|no unit|no variable", set={"nothing": 1})
        live.refused("is a .*: while a run goes on", set={"x0": 1})
        left = os.listdir(self.tmpdir)  # the run's own
        self.assertEqual(self.finish(self.start("watch", live.address, "--token", "wrong"), left).status, 1)
        self.stop(live)
        outcome = self.tutti("watch", live.address, status=1)
        self.assertIn("no run of this user on this machine is live", outcome.err)
        self.refused("run", VAN_DER_POL, "--live", "0.0.0.0:0", status=2, says="would not be encrypted")
        self.refused("run", VAN_DER_POL, "--live", "here", status=2, says="HOST:PORT")

    def test_sets_of_fmi2(self):
        """FMI 2.0 forbids to read between a set and the step: several sets, rows and other orders may come between two steps."""
        live = self.live(f"heater={kit_fmu('Heater', '2')}", f"other={VAN_DER_POL}", "--coupling", "seidel", "--stop", "1e6", "--step", "0.01", "--realtime", "1", "-o", "result.csv")
        live.watch()
        live.await_event("rows")
        live.order(set={"heater.T_set": 300})
        live.order(pause=True)
        live.await_state("paused")
        live.order(set={"heater.T_set": 301})
        live.order(set={"heater.T_outside": 250})
        live.order(set={"heater.T_set": 302})
        before = live.steps()
        live.order(step=2)
        self.assertTrue(wait_until(lambda: live.steps() == before + 2))
        live.order(set={"heater.T_set": 303})
        outcome = self.stop(live)
        self.assertIn("stopped at t =", outcome.err)

    def test_checkpoint(self):
        """Those who watch, and checkpoints: both look between steps, and an interrupt writes one."""
        live = self.endless("-o", "result.csv", "--checkpoint", "run.point")
        live.watch()
        live.await_event("rows")
        self.interrupt(live.process)
        self.assertIn("with a checkpoint there", self.finish(live.process).err)


if __name__ == "__main__":
    unittest.main()
