#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long `tutti web` takes to tell curves of many points, in at most 2000 pieces: all of them and a part, while the run goes on and after it.

    bench_series.py BUILD [ROWS]"""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROWS, STEP, MOST = 10_000_000, 0.001, 0.1


class Server:
    def __init__(self, build, folder):
        self.process = subprocess.Popen([os.path.join(build, "tutti"), "web", folder, "--no-browser"], stdout=subprocess.PIPE, text=True)
        self.host, self.token = re.search(r"http://(\S+)/\?token=(\w+)", self.process.stdout.readline()).groups()

    def ask(self, method, path, body=None):
        """The answer, and the seconds that it took."""
        connection = http.client.HTTPConnection(self.host)
        begin = time.perf_counter()
        connection.request(method, f"/api/{path}", body=body and json.dumps(body), headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        text = connection.getresponse().read()
        seconds = time.perf_counter() - begin
        connection.close()
        return json.loads(text), seconds

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def measure(server, rows):
    fmu = {"name": "v", "kind": "fmu", "source": "VanDerPol_fmi2.fmu", "connectors": [], "parameters": {}}
    document = {"name": "long", "path": None, "settings": {}, "connectors": [], "elements": [fmu], "connections": []}
    run = server.ask("POST", "runs", {"document": document, "options": {"stop": repr(rows * STEP), "step": repr(STEP)}})[0]["id"]
    series, growing = f"runs/{run}/series?points=2000", []
    while (state := server.ask("GET", f"runs/{run}")[0]["state"]) in ("starting", "running"):
        growing.append(server.ask("GET", series)[1])
        time.sleep(0.5)
    if state != "done":
        raise RuntimeError(f"the run is {state}")
    time.sleep(1)
    (told, first), (_, again) = server.ask("GET", series), server.ask("GET", series)
    middle, width = rows * STEP / 2, rows * STEP / 100
    part = max(server.ask("GET", f"{series}&from={middle + i * width}&to={middle + (i + 1) * width}")[1] for i in range(10))
    return told["rows"], max(growing, default=0), first, again, part


def main():
    build, rows = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(build, "fmus", "VanDerPol_fmi2.fmu"), folder)
        server = Server(build, folder)
        try:
            count, growing, first, again, part = measure(server, rows)
        finally:
            server.stop()
    print(f"series      2 curves of {count} points      while it runs, at most {growing * 1e3:6.0f} ms    first {first * 1e3:6.0f} ms    all {again * 1e3:6.1f} ms    a hundredth {part * 1e3:6.1f} ms   (at most {MOST * 1e3:.0f})")
    return 0 if max(again, part) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
