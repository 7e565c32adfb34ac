#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of other tools crash no command and no route of the server. A seed is a system in another tool's format (OspSystemStructure.xml,
MasterSim's .msim with tables as simulators, SSPs with annotations of other masters), beyond the first ones with words and lines of it moved,
doubled or lost. Each command reads it, and each route of the page that reads files."""
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import urllib.parse

from net import FMUS, TUTTI, main
from command import wait_until
import test_foreign as foreign
import test_ssp_foreign as annotated

MODELS = ("VanDerPol", "Feedthrough", "ChainMass", "Heater", "Tracker")
TABLE = "Time [min]\tshift.u [-]\tother [m]\n0\t1\t5\n1\t61\t5\n"
CRASH = re.compile(r"crash|signal \d+")


def osp(connections="", functions="", step=""):
    return "OspSystemStructure.xml", foreign.OSP.format(connections=connections, functions=functions, step=step)


def msim(text):
    return "project.msim", text


def tables(graph):
    return msim('tEnd 6 s\nhStart 0.5 s\nsimulator 0 0 values #000000 "table.tsv"\nsimulator 1 0 pass #ff8c00 "fmus/Feedthrough.fmu"\n' + graph)


def ssp(inside="", behind=""):
    elements = "".join(annotated.component(name, "fmus/Tracker.fmu", annotated.CONNECTORS) for name in "ab")
    connection = '<ssd:Connection startElement="a" startConnector="y" endElement="b" endConnector="u"/>'
    return "system.ssd", annotated.ssd(elements, connection, inside, behind or annotated.experiment(""))


def links(one, two):
    return foreign.link(foreign.variable(*one), foreign.variable(*two))


FIXTURES = (
    osp(links(("two", "x0"), ("mass", "x_left")), step=' stepSize="0.05"'),
    osp(foreign.signal_link(foreign.variable("one", "x1"), foreign.signal("scale", "in")) +
        foreign.signal_link(foreign.variable("mass", "F_right"), foreign.signal("scale", "out")),
        '<LinearTransformation name="scale" factor="0.5" offset="3"/>'),
    osp(foreign.signal_link(foreign.variable("one", "x0"), foreign.signal("sum", "in[0]")) +
        foreign.signal_link(foreign.signal("sum", "in[1]"), foreign.variable("two", "x0")) +
        foreign.signal_link(foreign.signal("sum", "out"), foreign.variable("pass", "float64_in")), '<Sum name="sum" inputCount="2"/>'),
    osp(links(("one", "x0"), ("none", "u"))),
    msim(foreign.Msim.PROJECT.format(mode="GAUSS_SEIDEL", iterations=4, scale="1.5 -2 0.8 #000000").replace("1 min", "5 s")),
    tables("graph values.shift.u pass.float64_in\n"),
    tables("graph values.none pass.float64_in\n"),
    tables("graph pass.float64_out values.other\n"),
    msim('tEnd 1 s\nsimulator 0 0 values #000000 "table.tsv"\n'),
    msim('tEnd 1 s\nhStart 0.5 s\nMasterMode NEWTON\nmaxIterations 3\nsimulator 0 0 one #000000 "fmus/VanDerPol.fmu"\n'),
    ssp(annotated.oms(annotated.FIXED)),
    ssp(behind=annotated.experiment(annotated.osp('<osp:FixedStepAlgorithm baseStepSize="0.025"/>'))),
)
COMMANDS = (("info", "FILE"), ("check", "FILE"), ("run", "FILE", "-o", "a.csv", "--stop", "2"),
            ("new", "new.ssp", "FILE"), ("new", "new.ssd", "FILE"), ("run", "new.ssp", "-o", "b.csv", "--stop", "2"),
            ("pack", "FILE", "-o", "packed.fmu"), ("graph", "FILE", "-o", "a.dot"), ("analyze", "FILE"), ("linearize", "FILE", "-o", "l.json"),
            ("sweep", "FILE", "--vary", "one.mu=1:2:2", "-o", "sweep.csv", "--stop", "1"),
            ("estimate", "FILE", "--data", "table.tsv", "--fit", "one.mu=1"), ("wrap", "FILE", "-o", "w.fmu"),
            ("compile", "FILE", "-o", "c.fmu"), ("plot", "FILE", "-o", "p.svg"), ("compare", "a.csv", "FILE"), ("compare", "a.csv", "b.csv"))


def damaged(text, seed):
    """Some pieces of a text swapped, doubled, lost or with other numbers."""
    choose = random.Random(seed)
    pieces = re.split(r"(?<=[\n>])", text)
    for _ in range(choose.randint(1, 2)):
        at, other = choose.randrange(len(pieces)), choose.randrange(len(pieces))
        deed = choose.randrange(4)
        if deed == 0:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif deed == 1:
            pieces.insert(at, pieces[other])
        elif deed == 2 and len(pieces) > 1:
            del pieces[at]
        else:
            number = choose.choice(["0", "-1", "1e308", "nan", "18446744073709551616", ""])
            pieces[at] = re.sub(r"\d+(\.\d+)?", lambda _: number, pieces[at], count=1)
    return "".join(pieces)


@contextlib.contextmanager
def served(folder):
    """A server in the folder: a function (method, path, body) that returns status and text."""
    with subprocess.Popen([TUTTI, "web", ".", "--listen", "127.0.0.1:0", "--no-browser"], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        port, token = re.search(rb":(\d+)/\?token=(\w+)", process.stdout.readline()).groups()

        def ask(method, path, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=600)
            connection.request(method, path, None if body is None else json.dumps(body), {"Authorization": "Bearer " + token.decode()})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            connection.close()
            return answer.status, text
        try:
            yield ask
        finally:
            process.terminate()


def routes(name, document):
    """Every route that reads a file or a system."""
    path = "path=" + urllib.parse.quote(name)
    yield from (("GET", f"/api/{route}?{path}", None) for route in ("files", "fmu", "system"))
    yield "POST", f"/api/import?{path}", {}
    if document is not None:
        yield "POST", "/api/system/look", document
        yield "POST", "/api/system/join", {"document": document, "from": "one", "to": "two"}
        yield "POST", "/api/system/analyze", {"document": document, "options": {}}
        yield "PUT", "/api/system?path=saved.ssp", document
        yield "GET", "/api/system?path=saved.ssp", None
    yield "POST", "/api/runs", {"path": name}
    yield "GET", "/api/runs", None
    yield "GET", f"/api/compare?a={urllib.parse.quote(name)}&b=a.csv", None


def await_runs(ask):
    """Runs outlive their server, and write to the folder until they end."""
    return wait_until(lambda: all(run["state"] not in ("starting", "running", "paused") for run in json.loads(ask("GET", "/api/runs")[1])))


def try_server(name, folder):
    with served(folder) as ask:
        status, text = ask("POST", f"/api/import?path={urllib.parse.quote(name)}", {})
        opened = itertools.chain([("POST", "/api/import", None, status, text)],
                                 (call + ask(*call) for call in routes(name, json.loads(text) if status == 200 else None)))
        for method, path, _, status, text in opened:
            if status == 500 or CRASH.search(text):
                yield f"{method} {path}: {status} {text[:300]}"
        if not await_runs(ask):
            yield "a run does not end"


def try_commands(name, folder):
    environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder))
    for words in COMMANDS:
        words = [name if word == "FILE" else word for word in words]
        ended = subprocess.run([TUTTI, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, check=False)
        text = ended.stderr.decode("utf-8", "replace")
        if not 0 <= ended.returncode <= 2 or CRASH.search(text):
            yield f"tutti {' '.join(words)}: status {ended.returncode}: {text.strip()[-300:]}"


def run(seed, folder):
    name, text = FIXTURES[seed % len(FIXTURES)]
    (folder / "fmus").mkdir()
    for model in MODELS:
        shutil.copy(FMUS / f"{model}_fmi2.fmu", folder / "fmus" / f"{model}.fmu")
    (folder / "table.tsv").write_text(TABLE, encoding="utf-8")
    (folder / name).write_text(text if seed < len(FIXTURES) else damaged(text, seed), encoding="utf-8")
    yield from try_commands(name, folder)
    try:
        yield from try_server(name, folder)
    except (ConnectionError, http.client.HTTPException) as error:
        yield f"the server is gone: {error!r}"


if __name__ == "__main__":
    main(run, short=len(FIXTURES), long=400)
