#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti web` survives a crash of the code that reads files that users bring: the answer reports it, and the server continues."""
import json
import os
import pathlib
import shutil
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from shim import ShimTest  # noqa: E402
from command import kit_fmu  # noqa: E402
from test_web import CAR, Server  # noqa: E402

CRASHED = r"reading this crashed \(signal \d+, .*\); please report the file"


class Reading(ShimTest):
    def setUp(self):
        super().setUp()
        shutil.copy(CAR, self.path("car.ssp"))
        shutil.copy(CAR, self.path("bad.ssp"))
        shutil.copy(kit_fmu("VanDerPol", "2"), self.path("bad.fmu"))
        shutil.copy(kit_fmu("VanDerPol", "2"), self.path("good.fmu"))

    def serve(self, **wishes):
        environment = self.shim(**wishes)
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            return Server(self, self.folder, "--listen", "127.0.0.1:0")
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def crashes(self, server, *request):
        status, answer = server.ask(*request)
        self.assertEqual(status, 502, answer)
        self.assertRegex(answer["error"], CRASHED)

    def test_systems_and_fmus(self):
        server = self.serve(crash="bad.ssp")
        document = server.get("/api/system", path="car.ssp")
        self.crashes(server, "GET", "/api/system?path=bad.ssp")
        self.crashes(server, "POST", "/api/import?path=bad.ssp")
        broken = {**document, "path": "bad.ssp"}
        for route in ("/api/system/look", "/api/system/join", "/api/system/analyze"):
            self.crashes(server, "POST", route, broken if route.endswith("look") else {"document": broken, "from": "a", "to": "b"})
        self.crashes(server, "PUT", "/api/system?path=new.ssp", broken)
        self.crashes(server, "POST", "/api/runs", {"document": broken})
        self.assertEqual(server.get("/api/runs"), [])
        self.assertEqual(os.listdir(self.path(".tutti/runs")), [])
        self.assertEqual(server.get("/api/system", path="car.ssp"), document)

    def test_fmus(self):
        server = self.serve(crash="bad.fmu")
        self.crashes(server, "GET", "/api/fmu?path=bad.fmu")
        good = server.get("/api/fmu", path="good.fmu")
        data = pathlib.Path(self.path("good.fmu")).read_bytes()
        os.mkdir(self.path("sub"))
        status, _, answer = server.raw("POST", "/api/files?path=sub/bad.fmu", data)
        self.assertEqual(status, 502)
        self.assertRegex(json.loads(answer)["error"], CRASHED)
        self.assertEqual(os.listdir(self.path("sub")), [])
        self.assertEqual(server.raw("POST", "/api/files?path=sub/good.fmu", data)[0], 201)
        self.assertEqual(server.get("/api/fmu", path="good.fmu"), good)

    def test_nothing_is_left_behind(self):
        server = self.serve(crash="SystemStructure.ssd")  # the package is unpacked by then
        self.crashes(server, "GET", "/api/system?path=car.ssp")
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.process.wait(60), 0)  # and CommandTest looks for processes and folders that are left


if __name__ == "__main__":
    unittest.main()
