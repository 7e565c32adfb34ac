#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of the page (tutti web), without a browser: what it answers, what it refuses, and whom."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
import urllib.parse
import zipfile

from command import FMUS, PATIENCE, CommandTest, kit_fmu, wait_until

CAR = pathlib.Path(FMUS).parent / "examples" / "quarter_car" / "quarter_car.ssp"
OTHERS = '<ssd:Annotations><ssc:Annotation type="com.example"><x:note xmlns:x="urn:x" a="1">kept &amp; whole</x:note></ssc:Annotation></ssd:Annotations>'


class Server:
    """A server, from outside."""

    def __init__(self, test, *words, certificate=None):
        self.process = test.start("web", *words, "--no-browser")
        test.addCleanup(self.end)
        found = re.match(rb"https?://(\[?[\d.:a-f]+\]?):(\d+)/\?token=(\w+)\n", line := self.process.stdout.readline())
        test.assertTrue(found, (line, self.process.poll()))
        self.host, self.port, self.token = found[1].decode(), int(found[2]), found[3].decode()
        self.certificate = certificate

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def connect(self):
        if not self.certificate:
            return http.client.HTTPConnection(self.host, self.port, timeout=60)
        context = ssl.create_default_context(cafile=self.certificate)
        context.check_hostname = False
        return http.client.HTTPSConnection(self.host, self.port, timeout=60, context=context)

    def raw(self, method, path, body=None, **headers):
        """Status, headers, bytes. Headers with _ for -; None leaves one out."""
        headers = {"Authorization": f"Bearer {self.token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = self.connect()
        connection.request(method, path, body=body, headers={name: value for name, value in headers.items() if value is not None})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), data

    def ask(self, method, path, body=None, **headers):
        status, _, data = self.raw(method, path, None if body is None else json.dumps(body), **headers)
        return status, json.loads(data)

    def get(self, place, **arguments):
        status, answer = self.ask("GET", place + ("?" + urllib.parse.urlencode(arguments) if arguments else ""))
        assert status == 200, (place, status, answer)
        return answer


class WebTest(CommandTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("models"))
        shutil.copy(CAR, self.path("car.ssp"))
        for name in ("VanDerPol_fmi2", "Feedthrough_fmi3", "ChainMass_fmi2"):
            shutil.copy(pathlib.Path(FMUS) / f"{name}.fmu", self.path(f"models/{name}.fmu"))

    def serve(self, *words, **more):
        return Server(self, self.folder, "--listen", "127.0.0.1:0", *words, **more)

    def refused_by(self, server, status, says, method, path, body=None, **headers):
        given, answer = server.ask(method, path, body, **headers)
        self.assertEqual(given, status, answer)
        self.assertRegex(answer["error"], says)

    def finished(self, server, run):
        wait_until(lambda: server.get(f"/api/runs/{run}")["state"] not in ("starting", "running", "paused"))
        return server.get(f"/api/runs/{run}")


class WhoIsLetIn(WebTest):
    def test_token(self):
        server = self.serve()
        for header in (None, "Bearer", "Bearer " + "0" * 32, f"Basic {server.token}", f"Bearer {server.token}0", f"Bearer {server.token[:-1]}"):
            self.refused_by(server, 401, "token", "GET", "/api/", Authorization=header)
            self.refused_by(server, 401, "token", "GET", f"/api/?token={server.token}", Authorization=header)
            self.refused_by(server, 401, "token", "POST", "/api/runs", {"path": "car.ssp"}, Authorization=header)
            self.assertEqual(server.raw("GET", "/metrics", Authorization=header)[0], 401)
        self.assertEqual(server.get("/api/")["folder"], os.path.realpath(self.folder))

    def test_token_is_kept(self):
        """A server on the same folder knows the pages of the one before; what others may know or have put there is refused."""
        token = self.serve().token
        self.assertEqual(self.serve().token, token)
        self.assertNotEqual(self.serve("--read-only").token, token)
        kept = self.path(".tutti/token")
        self.assertEqual((pathlib.Path(kept).read_text(), os.stat(kept).st_mode & 0o777), (token, 0o600))
        os.chmod(kept, 0o644)
        self.refused("web", self.folder, "--no-browser", status=1, says="other users can read")
        for text in ("", token[:-1], token + "0", "x" * 32):
            with open(os.open(kept, os.O_WRONLY | os.O_TRUNC), "w") as file:
                file.write(text)
            os.chmod(kept, 0o600)
            self.refused("web", self.folder, "--no-browser", status=1, says="does not hold 32 digits")
        os.rename(kept, self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), kept)
        self.refused("web", self.folder, "--no-browser", status=1, says="is a link")
        os.unlink(kept)
        self.assertNotEqual(self.serve().token, token)

    def test_pages_of_others(self):
        server = self.serve()
        here = f"127.0.0.1:{server.port}"
        for host in (f"evil.example:{server.port}", "127.0.0.1:1", f"127.0.0.1.evil.example:{server.port}", "evil.example", "", "[::1", "a" * 300):
            self.refused_by(server, 421, "not called so", "GET", "/api/", Host=host)
        for origin in ("http://evil.example", "null", f"https://{here}", f"http://{here}0", f"http://localhost:{server.port}"):
            self.refused_by(server, 403, "another origin", "POST", "/api/runs", {"path": "car.ssp"}, Origin=origin)
        self.assertEqual(server.ask("GET", "/api/", Origin=f"http://{here}")[0], 200)
        self.assertEqual(server.ask("GET", "/api/", Host=f"localhost:{server.port}")[0], 200)
        self.assertEqual(server.get("/api/runs"), [])

    def test_the_page_is_strict(self):
        status, headers, _ = self.serve().raw("GET", "/", Authorization=None)
        self.assertEqual(status, 200 if shutil.which("npm") else 503)  # without Node.js there is none, and it says so
        self.assertIn("default-src 'none'; script-src 'self'; style-src 'self';", headers["Content-Security-Policy"])
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")

    def test_read_only(self):
        server = self.serve("--read-only")
        document = server.get("/api/system", path="car.ssp")
        for method, path, body in (("PUT", "/api/system?path=new.ssp", document), ("POST", "/api/runs", {"path": "car.ssp"}), ("POST", "/api/files?path=x.fmu", {}),
                                   ("POST", "/api/runs/a/orders", {"stop": True}), ("DELETE", "/api/runs/a", None), ("POST", "/api/system/analyze", {"document": document})):
            self.refused_by(server, 403, "--read-only", method, path, body)
        self.assertEqual(server.ask("POST", "/api/system/look", document)[0], 200)
        self.assertFalse(os.path.exists(self.path(".tutti")))

    def test_beyond_loopback(self):
        self.refused("web", self.folder, "--listen", "0.0.0.0:0", "--no-browser", status=2, says="--tls-cert")
        self.refused("web", self.folder, "--tls-cert", "x.pem", status=2, says="belong together")
        self.refused("web", self.path("nothing"), status=2, says="No such file")
        self.refused("web", self.folder, "--attach", "127.0.0.1:1", status=2, says="no folder")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.path("key.pem"), "-out", self.path("cert.pem"),
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        server = self.serve("--tls-cert", self.path("cert.pem"), "--tls-key", self.path("key.pem"), certificate=self.path("cert.pem"))
        self.assertEqual(server.get("/api/")["readOnly"], False)
        self.refused_by(server, 401, "token", "GET", "/api/", Authorization=None)
        self.refused_by(server, 403, "another origin", "GET", "/api/", Origin=f"http://127.0.0.1:{server.port}")


class TheBrowser(WebTest):
    def test_it_is_opened(self):
        """By a file that leads to the page: other users see with which arguments a program is started, and the address has the token."""
        os.mkdir(self.path("bin"))
        opener = pathlib.Path(self.path("bin/xdg-open"))
        opener.write_text(f"#!/bin/sh\necho \"$*\" >{self.path('asked')}.part\ncat \"$1\" >>{self.path('asked')}.part\nmv {self.path('asked')}.part {self.path('asked')}\n", encoding="utf-8")
        opener.chmod(0o755)
        process = self.start("web", self.path("car.ssp"), env={"PATH": f"{self.path('bin')}:{os.environ['PATH']}"})
        self.addCleanup(lambda: (process.terminate(), process.wait(60)))
        address = process.stdout.readline().decode().strip()
        self.assertTrue(wait_until(lambda: os.path.exists(self.path("asked"))))
        asked, page = pathlib.Path(self.path("asked")).read_text(encoding="utf-8").split("\n", 1)
        self.assertNotIn(re.search(r"token=(\w+)", address)[1], asked)
        self.assertIn(address, page)
        self.assertEqual(os.stat(asked).st_mode & 0o077, 0)


class Files(WebTest):
    OUTSIDE = ("../secret.ssp", "models/../../secret.ssp", "/etc/passwd", "//etc/passwd", "models//VanDerPol_fmi2.fmu", ".tutti/x", "models/.hidden.fmu", "link.fmu", "linked/x.fmu",
               "a\\b.fmu", "x\n.fmu", "models/", "..", "%2e%2e/secret.ssp", "x" * 5000 + ".fmu")

    def test_nothing_leaves_the_folder(self):
        outer = pathlib.Path(self.folder).parent / "secret.ssp"
        shutil.copy(CAR, outer)
        self.addCleanup(outer.unlink)
        os.symlink(outer, self.path("link.fmu"))
        os.symlink(outer.parent, self.path("linked"))
        server = self.serve()
        for name in self.OUTSIDE:
            query = urllib.parse.urlencode({"path": name})
            for method, path, body in (("GET", "/api/files", None), ("GET", "/api/fmu", None), ("GET", "/api/system", None), ("POST", "/api/files", {}), ("PUT", "/api/system", {})):
                with self.subTest(name=name[:40], path=path, method=method):
                    status, answer = server.ask(method, f"{path}?{query}", body)
                    self.assertIn(status, (400, 404), answer)
            self.assertIn(server.ask("POST", "/api/runs", {"path": name})[0], (400, 404))
            self.assertIn(server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"input": name}})[0], (400, 404))
            document = {"name": "x", "path": None, "elements": [{"name": "a", "kind": "fmu", "source": name}]}
            self.assertIn(server.ask("POST", "/api/system/look", document)[0], (400, 404))
        self.assertEqual(server.get("/api/runs"), [])
        self.assertEqual({entry["name"] for entry in server.get("/api/files")["entries"]}, {"models", "car.ssp", "tmp"})

    def test_list_and_fmu(self):
        server = self.serve()
        self.assertEqual({entry["name"]: entry["kind"] for entry in server.get("/api/files")["entries"]}, {"models": "folder", "tmp": "folder", "car.ssp": "ssp"})
        self.assertEqual({entry["kind"] for entry in server.get("/api/files", path="models")["entries"]}, {"fmu"})
        self.assertEqual(server.get("/api/fmu", path="models/VanDerPol_fmi2.fmu")["modelName"], "VanDerPol")

    def test_upload(self):
        server = self.serve()
        data = pathlib.Path(self.path("models/VanDerPol_fmi2.fmu")).read_bytes()
        status, _, answer = server.raw("POST", "/api/files?path=models/new.fmu", data)
        self.assertEqual((status, json.loads(answer)["size"]), (201, len(data)))
        self.assertEqual(pathlib.Path(self.path("models/new.fmu")).read_bytes(), data)
        self.assertEqual(server.raw("POST", "/api/files?path=models/new.fmu", data)[0], 409)
        for name, body, status in (("bad.fmu", b"no archive", 422), ("x.sh", data, 400), ("x.fmu/y.fmu", data, 404), ("bomb.fmu", data[:5000], 422)):
            self.assertEqual(server.raw("POST", f"/api/files?path={name}", body)[0], status, name)
        self.assertEqual(sorted(os.listdir(self.folder)), [".tutti", "car.ssp", "models", "tmp"])
        self.assertEqual(server.raw("POST", "/api/files?path=x.fmu", None, Content_Length=str(1 << 40))[0], 413)
        self.assertEqual(server.raw("POST", "/api/files?path=x.fmu", iter([b"a"]), Transfer_Encoding="chunked")[0], 411)


class Systems(WebTest):
    def texts(self, path):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def test_saving_what_was_opened_changes_nothing(self):
        server = self.serve()
        before = self.texts(self.path("car.ssp"))
        document = server.get("/api/system", path="car.ssp")
        self.assertEqual(server.ask("PUT", "/api/system?path=same.ssp", document)[0], 200)
        after = self.texts(self.path("same.ssp"))
        self.assertEqual(set(before), set(after))
        for name, data in before.items():
            self.assertEqual(data, after[name], name)

    def test_what_others_wrote_stays(self):
        """Comments, layout, annotations and namespaces of others: all lines of the document but those that were changed are as they were, byte for byte."""
        parts = self.texts(self.path("car.ssp"))
        text = parts["SystemStructure.ssd"].decode()
        self.assertIn("</ssd:Component>", text)
        text = text.replace("<ssd:System ", "<!-- by hand: <a> & \"b\" -->\n\t<ssd:System\n      ", 1).replace("<ssd:Connection ", "<!-- a wire -->\r\n<ssd:Connection\n   ", 1) + "<!-- the end -->\n"
        before = text.replace("</ssd:Component>", OTHERS + "</ssd:Component>", 1).splitlines(keepends=True)
        with zipfile.ZipFile(self.path("foreign.ssp"), "w") as archive:
            for name, data in {**parts, "extra/notes.bin": b"\0\1\2"}.items():
                archive.writestr(name, text.replace("</ssd:Component>", OTHERS + "</ssd:Component>", 1) if name == "SystemStructure.ssd" else data)
        server = self.serve()
        document = server.get("/api/system", path="foreign.ssp")
        first = document["elements"][0]
        first.update(name="renamed", x1=1.5, y1=2, x2=101.5, y2=62, parameters={"m": "401.5"}, settings={"rank": "1"})
        for connection in document["connections"]:
            for end in ("from", "to"):
                connection[end] = re.sub(rf"^{first['origin']}\.", "renamed.", connection[end])
        document["connections"][0]["points"] = [[1, 2], [3.5, 4]]
        document["stop"] = 0.25
        status, saved = server.ask("PUT", "/api/system?path=foreign.ssp", document)
        self.assertEqual(status, 200, saved)
        after = self.texts(self.path("foreign.ssp"))
        self.assertEqual(after["extra/notes.bin"], b"\0\1\2")
        text = after["SystemStructure.ssd"].decode()
        lines = text.splitlines(keepends=True)
        changed = [line for line in before if line not in lines]
        self.assertLess(len(changed), 13, changed)
        for line in changed:
            self.assertRegex(line, r"ssd:(Component|Connection|DefaultExperiment|ElementGeometry|System)\b|startElement|endElement|</ssd:|<ssd:Connections", changed)
        for kept in ('<!-- by hand: <a> & "b" -->\n\t<ssd:System\n      ', "<!-- a wire -->\r\n<ssd:Connection\n   ", "<!-- the end -->\n"):
            self.assertIn(kept, text)
        self.assertRegex(text, r'<x:note xmlns:x="urn:x" a="1">kept &amp; whole</x:note>')
        element = saved["elements"][0]
        self.assertEqual((element["name"], element["origin"], element["x2"], element["parameters"], element["settings"]),
                         ("renamed", "renamed", 101.5, {"m": "401.5"}, {"rank": "1"}))
        self.assertEqual((len(saved["connections"]), saved["connections"][0]["points"], saved["stop"]), (len(document["connections"]), [[1, 2], [3.5, 4]], 0.25))
        self.tutti("check", self.path("foreign.ssp"), "--quiet")
        self.refused_by(server, 409, "has been changed", "PUT", "/api/system?path=foreign.ssp", document)

    def test_a_unit_that_moves_takes_along_what_others_wrote(self):
        """Into a nested system and out of it: its annotations, comments inside of it, values, and the connection that scales."""
        parts = self.texts(self.path("car.ssp"))
        text = parts["SystemStructure.ssd"].decode().replace("</ssd:Component>", f"<!-- mine -->{OTHERS}</ssd:Component>", 1)
        with zipfile.ZipFile(self.path("foreign.ssp"), "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, text if name == "SystemStructure.ssd" else data)
        server = self.serve()
        before = self.tutti("run", self.path("foreign.ssp"), "-o", "-", "--quiet").out
        document = server.get("/api/system", path="foreign.ssp")
        unit = document["elements"][0]
        own = unit["name"]
        crossing = [wire for wire in document["connections"] if wire["from"].startswith(f"{own}.") != wire["to"].startswith(f"{own}.")]
        unit["origin"] = [own]
        nested = {"name": "box", "kind": "system", "connectors": [], "elements": [unit], "connections": [], "parameters": {}}
        document["elements"][0] = nested
        for wire in crossing:
            end, goes_out = ("from", True) if wire["from"].startswith(f"{own}.") else ("to", False)
            name = wire[end].split(".", 1)[1]
            origin = [wire["from"], wire["to"]]
            nested["connectors"].append({"name": name, "kind": "output" if goes_out else "input", "type": "Float64"})
            nested["connections"].append({"from": wire[end], "to": f".{name}"} if goes_out else {"from": f".{name}", "to": wire[end], "origin": origin})
            document["connections"][document["connections"].index(wire)] = {**wire, end: f"box.{name}", **({"origin": origin} if goes_out else {})}
        status, saved = server.ask("PUT", "/api/system?path=foreign.ssp", document)
        self.assertEqual(status, 200, saved)
        text = self.texts(self.path("foreign.ssp"))["SystemStructure.ssd"].decode()
        self.assertRegex(text, r'(?s)<ssd:System [^>]*name="box".*<!-- mine -->.*kept &amp; whole.*</ssd:System>')
        after = self.tutti("run", self.path("foreign.ssp"), "-o", "-", "--quiet").out
        self.assertEqual(after.replace("box.", ""), before)
        self.assertEqual(saved["elements"][0]["elements"][0]["parameters"], unit["parameters"])
        self.refused_by(server, 400, "two units come from the same one", "PUT", "/api/system?path=foreign.ssp",
                        {**saved, "elements": [{**saved["elements"][1]}, {**saved["elements"][1], "name": "again", "origin": [saved["elements"][1]["name"]]}], "connections": []})

    def build(self, server, **more):
        masses = [{"name": name, "kind": "fmu", "source": "models/ChainMass_fmi2.fmu", "connectors": [], "parameters": {"v": "1"} if name == "a" else {}} for name in "ab"]
        return {"name": "pair", "path": None, "start": 0, "stop": 1, "settings": {"step": "0.01"}, "elements": masses,
                "connections": [{"from": "a.x", "to": "b.x_left"}, {"from": "b.F", "to": "a.F_right"}], **more}

    def test_a_new_system_runs_as_on_the_command_line(self):
        server = self.serve()
        status, saved = server.ask("PUT", "/api/system?path=pair.ssp", self.build(server))
        self.assertEqual(status, 200, saved)
        self.tutti("new", "other.ssp", "a=models/ChainMass_fmi2.fmu", "b=models/ChainMass_fmi2.fmu", "--connect", "a.x=b.x_left", "--connect", "b.F=a.F_right", "--set", "a.v=1",
                   "--step", "0.01", "--start", "0", "--stop", "1")
        for name in ("pair", "other"):
            self.tutti("run", f"{name}.ssp", "-o", f"{name}.csv", "--quiet")
        self.assertEqual(pathlib.Path(self.path("pair.csv")).read_bytes(), pathlib.Path(self.path("other.csv")).read_bytes())

    def test_refusals(self):
        server = self.serve()
        pair = self.build(server)
        name = "/api/system?path=pair.ssp"
        twice = {**pair, "elements": pair["elements"] + pair["elements"][:1]}
        for says, document in (("two units are called 'a'", twice), ("needs a name", {**pair, "name": ""}), ("no 'c.x' to connect", {**pair, "connections": [{"from": "c.x", "to": "b.x_left"}]}),
                               ("\"from\" and \"to\"", {**pair, "connections": [{}]}), ("character", {**pair, "elements": [{**pair["elements"][0], "name": "a.b"}]}),
                               ("has to be a list", {**pair, "elements": 3}), ("has to be an object", {**pair, "elements": [3]}), ("has to be a number", {**pair, "stop": "x"}),
                               ("is no word", {**pair, "settings": {"<x>": "1"}}), ("has to be a text", {**pair, "elements": [{**pair["elements"][0], "parameters": {"v": 3}}]}),
                               ("a.v=fast", {**pair, "connections": [], "elements": [{**pair["elements"][0], "parameters": {"v": "fast"}}]}), ("name of a file", {**pair, "path": 3})):
            self.refused_by(server, 400, says, "PUT", name, document)
        self.refused_by(server, 400, "NAME.ssp", "PUT", "/api/system?path=pair.txt", pair)
        for body in (b"", b"[", b"[]", b"3", b'{"a":1,"a":2}', b"\xff{}", b"[" * 100000):
            self.assertEqual(server.raw("PUT", name, body)[0], 400, body[:10])
        self.assertEqual(server.raw("PUT", name, None, Content_Length=str(33 << 20))[0], 413)
        self.assertFalse(os.path.exists(self.path("pair.ssp")))

    def test_look(self):
        server = self.serve()
        pair = self.build(server)
        status, look = server.ask("POST", "/api/system/look", pair)
        self.assertEqual((status, look["findings"], look["loops"]), (200, [], []))
        self.assertEqual({step["unit"] for step in look["order"]}, {"a", "b"})
        pair["connections"].append({"from": "b.x", "to": "b.x_left"})
        look = server.ask("POST", "/api/system/look", pair)[1]
        self.assertTrue(any(finding["level"] == "error" and "b" in finding["units"] for finding in look["findings"]), look["findings"])
        self.assertEqual((look["findings"][0]["element"], look["findings"][0]["connector"]), ("b", "x_left"))
        self.assertNotIn(os.path.realpath(self.tmpdir), json.dumps(look["findings"]))
        status, analysis = server.ask("POST", "/api/system/analyze", {"document": self.build(server), "options": {}})
        self.assertEqual((status, analysis["units"]), (200, 2))

    def test_values_of_the_systems_own_parameters(self):
        """They go to what is connected to them, as a value of the unit itself does; on a nested system, too."""
        server = self.serve()
        plain = self.build(server)
        plain["elements"][0]["parameters"] = {"v": "1", "k": "70"}
        inner = {**self.build(server)["elements"][0], "parameters": {"v": "1"}}
        nested = {"name": "box", "kind": "system", "connectors": [{"name": "stiff", "kind": "parameter", "type": "Float64"}, {"name": "x", "kind": "output", "type": "Float64"}, {"name": "F", "kind": "input", "type": "Float64"}],
                  "parameters": {}, "elements": [inner], "connections": [{"from": ".stiff", "to": "a.k"}, {"from": "a.x", "to": ".x"}, {"from": ".F", "to": "a.F_right"}]}
        own = {**self.build(server), "connectors": [{"name": "stiff", "kind": "parameter", "type": "Float64"}]}
        own["connections"] = own["connections"] + [{"from": ".stiff", "to": "a.k"}]
        boxed = {**self.build(server), "elements": [{**nested, "parameters": {"stiff": "70"}}, own["elements"][1]], "connections": [{"from": "box.x", "to": "b.x_left"}, {"from": "b.F", "to": "box.F"}]}
        results = {}
        for name, document in (("plain", plain), ("own", {**own, "parameters": {"stiff": "70"}}), ("boxed", boxed)):
            status, saved = server.ask("PUT", f"/api/system?path={name}.ssp", document)
            self.assertEqual(status, 200, saved)
            results[name] = self.tutti("run", f"{name}.ssp", "--record", "*.x", "-o", "-", "--quiet").out.replace("box.", "")
        self.assertEqual(results["own"], results["plain"])
        self.assertEqual([line.split(",")[:3] for line in results["boxed"].splitlines()][1:], [line.split(",")[:3] for line in results["plain"].splitlines()][1:])
        for name, of in (("own", lambda document: document), ("boxed", lambda document: document["elements"][0])):
            document = server.get("/api/system", path=f"{name}.ssp")
            self.assertEqual(of(document)["parameters"], {"stiff": "70"})
            of(document)["parameters"] = {}
            status, saved = server.ask("PUT", f"/api/system?path={name}.ssp", document)
            self.assertEqual((status, of(saved)["parameters"]), (200, {}), saved)
        self.refused_by(server, 400, "stiff=fast|stiff", "PUT", "/api/system?path=wrong.ssp", {**own, "path": None, "parameters": {"stiff": "fast"}})

    def test_arrays_through_a_nested_system(self):
        shutil.copy(pathlib.Path(FMUS) / "StateSpace_fmi3.fmu", self.path("models/StateSpace_fmi3.fmu"))
        server = self.serve()
        unit = {"kind": "fmu", "source": "models/StateSpace_fmi3.fmu", "connectors": [], "parameters": {}}
        box = {"name": "box", "kind": "system", "connectors": [{"name": "u", "kind": "input", "type": "Float64", "dimensions": [2]}, {"name": "y", "kind": "output", "type": "Float64", "dimensions": [None]}],
               "parameters": {}, "elements": [{**unit, "name": "b"}], "connections": [{"from": ".u", "to": "b.u"}, {"from": "b.y", "to": ".y"}]}
        document = {"name": "arrays", "path": None, "start": 0, "stop": 1, "settings": {"step": "0.1"}, "elements": [{**unit, "name": "a"}, box, {**unit, "name": "c"}],
                    "connections": [{"from": "a.y", "to": "box.u"}, {"from": "box.y", "to": "c.u"}]}
        status, saved = server.ask("PUT", "/api/system?path=arrays.ssp", document)
        self.assertEqual(status, 200, saved)
        text = self.texts(self.path("arrays.ssp"))["SystemStructure.ssd"].decode()
        self.assertRegex(text, r'(?s)name="u" kind="input">\s*<ssc:Real ?/>\s*<ssc:Dimension size="2"/>.*name="y" kind="output">\s*<ssc:Real ?/>\s*<ssc:Dimension ?/>')
        self.assertEqual([[connector.get("dimensions") for connector in element["connectors"] if connector["name"] in "uy"] for element in saved["elements"]], [[[None], [None]], [[2], [None]], [[None], [None]]])
        self.tutti("check", "arrays.ssp", "--quiet")
        self.tutti("new", "flat.ssp", *(f"{name}=models/StateSpace_fmi3.fmu" for name in "abc"), "--connect", "a.y=b.u", "--connect", "b.y=c.u", "--step", "0.1", "--stop", "1")
        rows = [self.tutti("run", name, "-o", "-", "--record", "a.y*", "--record", "c.y*", "--quiet").out for name in ("arrays.ssp", "flat.ssp")]
        self.assertEqual(rows[0], rows[1])
        document["elements"][1]["connectors"][0]["dimensions"] = [-1]
        self.refused_by(server, 400, "whole numbers", "PUT", "/api/system?path=other.ssp", document)

    def test_names_are_plain_text(self):
        server = self.serve()
        name = "<img src=x onerror=alert(1)>"
        pair = self.build(server)
        pair["elements"][0]["name"] = name
        pair["connections"] = [{"from": f"{name}.x", "to": "b.x_left"}]
        status, headers, data = server.raw("PUT", "/api/system?path=odd.ssp", json.dumps({**pair, "elements": [{**e, "name": e["name"].replace("=", "")} for e in pair["elements"]], "connections": []}))
        self.assertEqual((status, headers["Content-Type"], headers["X-Content-Type-Options"]), (200, "application/json", "nosniff"))
        self.assertEqual(json.loads(data)["elements"][0]["name"], name.replace("=", ""))

    def test_import(self):
        folder = pathlib.Path(self.folder)
        (folder / "pair.msim").write_text("tStart 0 s\ntEnd 1 s\nhMin 1e-5 s\nhMax 0.01 s\nhStart 0.01 s\nadjustStepSize no\nMasterMode GAUSS_JACOBI\n"
                                          'simulator 0 0 a #ff0000 "models/ChainMass_fmi2.fmu"\nsimulator 0 0 b #ff0000 "models/ChainMass_fmi2.fmu"\ngraph a.x b.x_left\ngraph b.F a.F_right\n',
                                          encoding="utf-8")
        server = self.serve()
        status, document = server.ask("POST", "/api/import?path=pair.msim", {})
        self.assertEqual(status, 200, document)
        self.assertEqual([element["name"] for element in document["elements"]], ["a", "b"])
        self.assertEqual(server.ask("PUT", "/api/system?path=pair.ssp", document)[0], 200)
        for name in ("pair.ssp", "pair.msim"):
            self.tutti("run", name, "-o", f"{name}.csv", "--quiet")
        self.assertEqual((folder / "pair.ssp.csv").read_bytes(), (folder / "pair.msim.csv").read_bytes())


class Runs(WebTest):
    def test_a_run_and_its_bytes(self):
        server = self.serve()
        document = server.get("/api/system", path="car.ssp")
        status, answer = server.ask("POST", "/api/runs", {"document": document, "options": {"stop": "0.5", "set": ["chassis.m=410"]}, "steps": True})
        self.assertEqual(status, 201, answer)
        run = self.finished(server, answer["id"])
        self.assertEqual((run["state"], run["time"], run["stop"], run["options"]["stop"]), ("done", 0.5, 0.5, "0.5"), run)
        self.assertEqual(run["document"]["name"], document["name"])
        self.assertGreater(run["statistics"]["steps"], 0)
        self.assertEqual({(column["type"], column["held"]) for column in run["columns"]}, {("Float64", False)})
        self.assertNotIn("token=", json.dumps(run))
        self.assertRegex(run["command"], r"^tutti run \S+system\.ssp --stop 0\.5 --set chassis\.m=410 -o \S+result\.h5 --step-log ")
        result = pathlib.Path(self.path(f".tutti/runs/{run['id']}/result.h5"))
        line = run["command"].replace("result.h5", "again.h5").split()[1:]
        self.tutti(*line, "--quiet")
        self.assertEqual(result.read_bytes(), result.with_name("again.h5").read_bytes())
        steps = server.get(f"/api/runs/{run['id']}/steps", points=5)
        self.assertEqual(len(steps["times"]), len(steps["steps"]))

    def test_series_of_a_run_that_grows(self):
        """What is told again and again while it grows is what is told of the whole, to the last number."""
        server = self.serve()
        run = server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"stop": "1000", "step": "0.001", "output-step": "0.01", "realtime": "1"}})[1]["id"]
        place, seen = f"/api/runs/{run}/series", []

        def grown():
            """Rows get to the disk once a second."""
            status, told = server.ask("GET", f"{place}?columns=chassis.x&points=10000")
            if status == 200 and told["rows"] > (seen[-1]["rows"] if seen else 10):
                seen.append(told)
            return len(seen) == 3

        self.assertTrue(wait_until(grown))
        server.ask("POST", f"/api/runs/{run}/orders", {"stop": True})
        self.finished(server, run)
        whole = self.serve().get(place, columns="chassis.x", points=10000)
        line = whole["lines"][0]
        for told in seen:
            self.assertEqual(told["lines"][0], {axis: line[axis][:told["rows"]] for axis in "xy"})
            self.assertEqual((told["to"], told["last"]), (told["lines"][0]["x"][-1], [[told["lines"][0]["y"][-1]]]))

    def test_series_and_exports(self):
        server = self.serve()
        run = server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"stop": "1", "step": "0.0005"}})[1]["id"]
        self.assertEqual(self.finished(server, run)["state"], "done")
        whole = server.get(f"/api/runs/{run}/series", columns="chassis.x;wheel.v", points=10000)
        self.assertEqual(([column["name"] for column in whole["columns"]], whole["rows"], len(whole["lines"])), (["chassis.x", "wheel.v"], 2001, 2))
        times, values = whole["lines"][0]["x"], whole["lines"][0]["y"]
        self.assertEqual((len(times), whole["from"], whole["to"], whole["last"][0]), (2001, times[0], times[-1], [values[-1]]))
        thin = server.get(f"/api/runs/{run}/series", columns="chassis.x", points=7)["lines"][0]
        for piece in range(7):
            def of(times, values):
                return [value for time, value in zip(times, values) if int(7 * (time - 0) / (1 - 0)) == piece]
            rows, kept = of(times, values), of(thin["x"], thin["y"])
            self.assertEqual((kept[0], min(kept), max(kept), kept[-1]), (rows[0], min(rows), max(rows), rows[-1]))
            self.assertLessEqual(len(kept), 4)
        part = server.get(f"/api/runs/{run}/series", columns="chassis.x", points=100, **{"from": 0.25, "to": 0.26})["lines"][0]
        self.assertEqual((part["x"][0], part["x"][-1]), (0.25, 0.26))
        at = server.get(f"/api/runs/{run}/values", columns="chassis.x", times=f"{times[40]!r};{(times[40] + times[41]) / 2!r};-1;2")["values"][0]
        self.assertEqual((at[0], at[2], at[3]), (values[40], None, None))
        self.assertAlmostEqual(at[1], (values[40] + values[41]) / 2, delta=1e-12)
        none = server.get(f"/api/runs/{run}/values", columns="chassis.x", times="0.5", minus=run)
        self.assertEqual(none["values"], [[0]])
        for query in ("points=0", "points=x", "points=99999", "from=nan", "to=a", "minus=x", "minus=../x"):
            self.assertIn(server.ask("GET", f"/api/runs/{run}/series?{query}")[0], (400, 404), query)
        for query in ("", "times=", "times=a", "times=1;;2", "times=nan"):
            self.assertEqual(server.ask("GET", f"/api/runs/{run}/values?{query}")[0], 400, query)
        status, headers, table = server.raw("GET", f"/api/runs/{run}/export?format=csv&columns=chassis.x")
        self.assertEqual((status, headers["Content-Disposition"]), (200, "attachment"))
        rows = [line.split(",") for line in table.decode().splitlines()]
        self.assertEqual((rows[0], [float(row[1]) for row in rows[1:]]), (["time", "chassis.x"], values))
        self.assertEqual(server.raw("GET", f"/api/runs/{run}/export?format=h5")[2], pathlib.Path(self.path(f".tutti/runs/{run}/result.h5")).read_bytes())
        pathlib.Path(self.path("x.mat")).write_bytes(server.raw("GET", f"/api/runs/{run}/export?format=mat&columns=chassis.x")[2])
        pathlib.Path(self.path("x.csv")).write_bytes(table)
        self.tutti("compare", "x.mat", "x.csv", "--rtol", "0", "--strict", "--quiet")
        self.assertIn(b"<svg", server.raw("GET", f"/api/runs/{run}/export?format=svg&columns=chassis.x")[2])
        self.assertEqual(server.ask("GET", f"/api/runs/{run}/export?format=exe")[0], 400)
        self.assertTrue(server.get("/api/compare", a=run, b=run)["agree"])

    def test_discrete_reals_are_held(self):
        """What moves in steps is drawn in steps, whatever its type: a power that a thermostat switches."""
        server = self.serve()
        shutil.copy(FMUS / "Heater_fmi3.fmu", self.path("heater.fmu"))
        run = server.ask("POST", "/api/runs", {"path": "heater.fmu", "options": {"stop": "1000", "record": ["P", "T"]}})[1]["id"]
        columns = self.finished(server, run)["columns"]
        self.assertEqual({column["name"]: (column["type"], column["held"]) for column in columns}, {"T": ("Float64", False), "P": ("Float64", True)})

    def test_watched_steered_and_taken_up(self):
        server = self.serve()
        run = server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"stop": "1000", "realtime": "1"}})[1]["id"]
        wait_until(lambda: server.get(f"/api/runs/{run}")["state"] == "running")
        connection = server.connect()
        connection.request("GET", f"/api/runs/{run}/events?columns=chassis.*", headers={"Authorization": f"Bearer {server.token}"})
        events = connection.getresponse()
        kinds = {events.readline().decode().split(": ")[1].strip()}
        self.assertEqual(kinds, {"run"})
        columns = json.loads(events.readline().decode()[6:])["columns"]
        self.assertEqual({column["name"].split(".")[0] for column in columns}, {"chassis"})
        while "rows" not in kinds and "bars" not in kinds:
            kinds.add(events.readline().decode().partition("event: ")[2].strip())
        self.assertEqual(server.ask("POST", f"/api/runs/{run}/orders", {"pause": True})[0], 202)
        self.refused_by(server, 400, "no order 'jump'", "POST", f"/api/runs/{run}/orders", {"jump": True})
        wait_until(lambda: server.get("/api/runs")[0]["state"] == "paused")
        self.refused_by(server, 409, "goes on", "DELETE", f"/api/runs/{run}")
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        connection.close()
        again = self.serve()
        self.assertEqual((again.get("/api/runs")[0]["id"], again.get("/api/runs")[0]["state"]), (run, "paused"))
        wait_until(lambda: again.get(f"/api/runs/{run}/series", columns="chassis.x", points=10)["rows"] > 0)
        self.assertEqual(again.ask("POST", f"/api/runs/{run}/orders", {"stop": True})[0], 202)
        self.assertEqual(self.finished(again, run)["state"], "interrupted")
        self.assertIn(b"event: end", again.raw("GET", f"/api/runs/{run}/events")[2])
        self.refused_by(again, 409, "is over", "POST", f"/api/runs/{run}/orders", {"pause": True})
        self.assertEqual(again.ask("DELETE", f"/api/runs/{run}"), (200, {}))
        self.assertEqual((again.get("/api/runs"), os.listdir(self.path(".tutti/runs"))), ([], []))

    def test_refusals(self):
        server = self.serve()
        for says, body in (("no option 'output'", {"path": "car.ssp", "options": {"output": "/tmp/x"}}), ("no option 'allow'", {"path": "car.ssp", "options": {"allow": "exec"}}),
                           ("no option 'nonsense'", {"path": "car.ssp", "options": {"nonsense": "1"}}), ("takes a text", {"path": "car.ssp", "options": {"stop": 3}}),
                           ("needs a \"path\"", {}), ("has to be an object", {"path": "car.ssp", "options": []})):
            self.refused_by(server, 400, says, "POST", "/api/runs", body)
        for path in ("/api/runs/x", "/api/runs/x/series", "/api/runs/../x", "/api/runs/x/events", "/api/compare?a=x&b=x", "/api/nothing", "/api/runs/X!"):
            self.assertEqual(server.ask("GET", path)[0], 404, path)
        self.assertEqual(server.ask("GET", "/api/compare?a=../../x&b=x")[0], 400)
        self.assertEqual(server.ask("DELETE", "/api/files", None)[0], 405)
        self.assertEqual(os.listdir(self.path(".tutti/runs")), [])
        run = server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"step": "-1"}})[1]["id"]
        failed = self.finished(server, run)
        self.assertEqual(failed["state"], "failed")
        self.assertRegex(failed["message"], "step")

    def test_attach(self):
        run = self.start("run", self.path("car.ssp"), "--stop", "1000", "--realtime", "1", "--live", "127.0.0.1:0", "--record", "none", "--quiet")
        address = re.search(rb"live at http://(\S+)/\?token=(\w+)", run.stderr.readline())
        server = Server(self, "--attach", address[1].decode(), "--token", address[2].decode())
        self.assertEqual(server.get("/api/")["attached"], address[1].decode())
        wait_until(lambda: server.get("/api/runs")[0]["state"] == "running")
        self.assertIn(server.ask("GET", "/api/files")[0], (400, 404))
        self.assertEqual(server.ask("POST", "/api/runs/attached/orders", {"stop": True})[0], 202)
        run.communicate()


class Abuse(WebTest):
    def test_many_connections(self):
        server = self.serve()
        idle = [socket.create_connection((server.host, server.port)) for _ in range(1000)]
        self.addCleanup(lambda: [connection.close() for connection in idle])
        for connection in idle[::10]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost:")
        self.assertEqual(server.get("/api/")["readOnly"], False)
        slow = idle[0]
        slow.settimeout(PATIENCE)
        self.assertEqual(slow.recv(1), b"")  # a request that does not come to its end is not waited for
        self.assertEqual(server.get("/api/")["readOnly"], False)

    def test_a_viewer_that_does_not_read(self):
        server = self.serve()
        run = server.ask("POST", "/api/runs", {"path": "car.ssp", "options": {"stop": "20", "step": "0.0001"}})[1]["id"]
        wait_until(lambda: server.get(f"/api/runs/{run}")["state"] != "starting")
        deaf = socket.create_connection((server.host, server.port))
        self.addCleanup(deaf.close)
        deaf.sendall(f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        self.assertEqual(self.finished(server, run)["state"], "done")

    def test_metrics(self):
        server = self.serve()
        server.get("/api/")
        server.raw("GET", "/api/", Authorization="Bearer no")
        text = server.raw("GET", "/metrics")[2].decode()
        self.assertRegex(text, r"(?m)^tutti_web_requests_total [1-9]")
        self.assertRegex(text, r"(?m)^tutti_web_refused_total 1$")
        self.assertRegex(text, r"(?m)^tutti_web_runs_going 0$")


if __name__ == "__main__":
    unittest.main()
