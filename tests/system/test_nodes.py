#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti node` and `tutti run --nodes` on this machine: the same results as without, in every form that files can have; keys; what
nodes offer; what they keep."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import stat
import unittest
import zipfile

from command import kit_fmu, test_fmu
from nodes import NodesTest, wait_until
from systems import component, connect, connection, inputs, outputs, ssd, system

DAHLQUIST, TRACKER, HEATER = (kit_fmu(name, "2") for name in ("Dahlquist", "Tracker", "Heater"))
BALL, VAN_DER_POL, FEEDTHROUGH = (kit_fmu(name, "3") for name in ("BouncingBall", "VanDerPol", "Feedthrough"))
SHORT = ("--stop", "1", "--step", "0.1")
CHAIN = (f"a={DAHLQUIST}", f"b={TRACKER}", f"c={TRACKER}", f"ball={BALL}", f"pol={VAN_DER_POL}",
         *connect("a.x=b.u", "b.y=c.u"))
PAIR = ssd(system(component("a", "resources/Dahlquist_fmi2.fmu", outputs("x")),
                  component("b", "resources/Tracker_fmi2.fmu", inputs("u"), outputs("y")),
                  connect=connection("a.x", "b.u")))


class Runs(NodesTest):
    def test_same_bytes(self):
        """On one to three nodes, and several ranks on one."""
        plain = self.result_bytes(*CHAIN, *SHORT)
        a, b, c = (self.node(name) for name in "abc")
        for nodes in ((a,), (a, b), (a, b, c), (b, b, b, a)):
            with self.subTest(nodes=[node.name for node in nodes]):
                self.assertEqual(self.result_bytes(*CHAIN, *SHORT, *self.on(*nodes)), plain)

    def test_masters(self):
        """Steps that are taken back, events that are located, solvers of ours."""
        a, b = self.node("a"), self.node("b")
        for options in (("--coupling", "relax", "--control", "converge", "--rtol", "1e-4"),
                        ("--control", "richardson", "--rtol", "1e-4"), ("--interface", "me", "--solver", "bdf"),
                        ("--mode", "prudent"), ("--record", "b.*"), ("--record", "none")):
            with self.subTest(options=options):
                arguments = (*CHAIN[:3], *CHAIN[5:], *SHORT, *options)
                if options[-1] == "none":
                    self.tutti("run", *arguments, *self.on(a, b), "--quiet")
                    self.assertFalse(os.path.exists(self.path("result.csv")))
                else:
                    self.assertEqual(self.result_bytes(*arguments, *self.on(a, b)), self.result_bytes(*arguments))

    def test_statistics_and_step_log(self):
        a, b = self.node("a"), self.node("b")
        found = []
        for more in ((), self.on(a, b)):
            self.tutti("run", *CHAIN, *SHORT, *more, "--control", "richardson", "--rtol", "1e-3", "--stats",
                       self.path("stats.json"), "--step-log", self.path("log.csv"), "--quiet")
            stats = json.loads(pathlib.Path(self.path("stats.json")).read_text("utf-8"))
            self.assertEqual((stats["fabric"], stats["ranks"]), ("tcp", 2) if more else ("local", 1))
            units = [{key: unit[key] for key in ("name", "fmu", "do_steps", "accepted", "rejected")}
                     for unit in stats["units"]]
            found.append((stats["steps"], units, pathlib.Path(self.path("log.csv")).read_bytes()))
        self.assertEqual(*found)

    def test_messages(self):
        """What FMUs and masters have to say comes from wherever they are, under the names that the person gave."""
        a, b = self.node("a", env={"KIT_FAULT": "warning DoStep 0.5"}), self.node("b")
        shutil.copy(kit_fmu("Faulty", "2"), self.folder)
        outcome = self.tutti("run", "f=Faulty_fmi2.fmu", f"d={DAHLQUIST}", *SHORT, *self.on(a, b), "--place", "f=0")
        self.assertRegex(outcome.err, r"tutti: warning: f: ")
        self.assertRegex(outcome.err, r"result +result.csv \(11 rows, ")

    def test_several_runs_at_once(self):
        a, b = self.node("a"), self.node("b")
        plain = self.result_bytes(*CHAIN, *SHORT)
        runs = [self.start("run", *CHAIN, *SHORT, *self.on(a, b), "-o", self.path(f"{i}.csv"), "--quiet")
                for i in range(4)]
        for run in runs:  # they share the folder for temporary files: it is looked at when all have ended
            run.wait()
        for i, run in enumerate(runs):
            self.assertEqual(self.finish(run).status, 0)
            self.assertEqual(pathlib.Path(self.path(f"{i}.csv")).read_bytes(), plain)
        self.assertTrue(wait_until(lambda: a.text().count("over after") == 4), a.text())

    def test_more_ranks_than_units(self):
        nodes = [self.node(name) for name in "abc"]
        self.assertEqual(self.result_bytes(DAHLQUIST, *SHORT, *self.on(*nodes)), self.result_bytes(DAHLQUIST, *SHORT))


class Files(NodesTest):
    """Nodes run in folders of their own: whatever they use was sent to them."""

    def compare(self, *arguments):
        a, b = self.node("a"), self.node("b")
        self.assertEqual(self.result_bytes(*arguments, *SHORT, *self.on(a, b)), self.result_bytes(*arguments, *SHORT))
        return a, b

    def package(self, name, **more):
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for entry, text in {"SystemStructure.ssd": PAIR, **more}.items():
                archive.writestr(entry, text)
            for fmu in (DAHLQUIST, TRACKER):
                archive.write(fmu, "resources/" + pathlib.Path(fmu).name)
        return name

    def test_relative(self):
        os.mkdir(self.path("dir"))
        shutil.copy(DAHLQUIST, self.path("dir"))
        self.compare("dir/Dahlquist_fmi2.fmu", f"b={TRACKER}", *connect("Dahlquist_fmi2.x=b.u"))

    def test_ssp(self):
        """FMUs of a package travel by themselves: a change of a document sends none of them again."""
        a, b = self.compare(self.package("car.ssp"))
        before = set(a.files())
        self.assertIn(self.hash_of(DAHLQUIST), before)
        self.package("car.ssp", **{"extra/notes.txt": "changed"})
        self.assertEqual(self.result_bytes("car.ssp", *SHORT, *self.on(a, b)), self.result_bytes("car.ssp", *SHORT))
        new = [a.files()[name].stat().st_size for name in set(a.files()) - before]
        self.assertEqual(len(new), 1)
        self.assertLess(new[0], 10000)

    def test_variant_and_folder(self):
        with zipfile.ZipFile(self.path(self.package("car.ssp", **{"Other.ssd": PAIR}))) as archive:
            archive.extractall(self.path("folder"))
        for file in ("car.ssp#Other.ssd", "folder"):
            with self.subTest(file=file):
                a, b = self.node(f"a{len(file)}"), self.node(f"b{len(file)}")
                self.assertEqual(self.result_bytes(file, *SHORT, *self.on(a, b)), self.result_bytes(file, *SHORT))

    def test_ssd_beside_fmus(self):
        os.mkdir(self.path("here"))
        os.mkdir(self.path("here/resources"))
        for fmu in (DAHLQUIST, TRACKER):
            shutil.copy(fmu, self.path("here/resources"))
        self.write("here/values.ssv", '<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/'
                   'SystemStructureParameterValues" version="1.0" name="v"><ssv:Parameters>'
                   '<ssv:Parameter name="T"><ssv:Real value="0.3"/></ssv:Parameter></ssv:Parameters></ssv:ParameterSet>')
        binding = '<ssd:ParameterBindings><ssd:ParameterBinding source="values.ssv"/></ssd:ParameterBindings>'
        self.write("here/car.ssd", ssd(system(
            component("a", "resources/Dahlquist_fmi2.fmu", outputs("x")),
            component("b", "resources/Tracker_fmi2.fmu", inputs("u"), outputs("y"), inside=binding),
            connect=connection("a.x", "b.u"))))
        self.compare("here/car.ssd")

    def test_package_in_package(self):
        self.package("inner.ssp")
        outer = ssd(system(component("in", "resources/inner.ssp", type="application/x-ssp-package"),
                           component("d", "resources/Dahlquist_fmi2.fmu", outputs("x"))))
        with zipfile.ZipFile(self.path("outer.ssp"), "w") as archive:
            archive.writestr("SystemStructure.ssd", outer)
            archive.write(self.path("inner.ssp"), "resources/inner.ssp")
            archive.write(DAHLQUIST, "resources/Dahlquist_fmi2.fmu")
        self.compare("outer.ssp")

    def test_unpacked_fmu(self):
        with zipfile.ZipFile(kit_fmu("Resource", "2")) as archive:
            archive.extractall(self.path("unpacked"))
        self.compare("r=unpacked", f"d={DAHLQUIST}")

    def test_input(self):
        self.write("input.csv", "time,b.u\n0,0\n0.5,1\n1,0\n")
        self.compare(f"a={DAHLQUIST}", f"b={TRACKER}", "--input", "input.csv")

    def test_same_content_twice(self):
        """Two files of the same bytes stay two."""
        shutil.copy(DAHLQUIST, self.path("one.fmu"))
        shutil.copy(DAHLQUIST, self.path("two.fmu"))
        a, _ = self.compare("one.fmu", "two.fmu")
        self.assertEqual(len(a.files()), 1)

    def test_sent_once(self):
        a, b = self.node("a"), self.node("b")
        self.result_bytes(*CHAIN, *SHORT, *self.on(a, b))
        before = {name: path.stat().st_ino for name, path in a.files().items()}  # a file that is sent again is another one
        self.assertEqual(len(before), 4)
        self.result_bytes(*CHAIN, *SHORT, *self.on(a, b))
        self.assertEqual({name: path.stat().st_ino for name, path in a.files().items()}, before)
        for path in a.files().values():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o400)

    def test_cut_file_in_the_cache(self):
        """One that has not its size any more is sent again."""
        a = self.node("a")
        plain = self.result_bytes(DAHLQUIST, *SHORT, *self.on(a))
        path, = a.files().values()
        os.chmod(path, 0o600)
        os.truncate(path, 100)
        self.assertEqual(self.result_bytes(DAHLQUIST, *SHORT, *self.on(a)), plain)

    def test_altered_file_in_the_cache(self):
        """One that is not what its name says is sent again: FMUs run as the user who owns the cache."""
        a = self.node("a")
        plain = self.result_bytes(DAHLQUIST, *SHORT, *self.on(a))
        path, = a.files().values()
        data = path.read_bytes()
        os.chmod(path, 0o600)
        path.write_bytes(bytes(len(data)))
        self.assertEqual(self.result_bytes(DAHLQUIST, *SHORT, *self.on(a)), plain)
        self.assertEqual(path.read_bytes(), data)

    def test_cache_size(self):
        """What was not used for longest goes first; what a run needs stays until it has it."""
        sizes = {fmu: os.stat(fmu).st_size for fmu in (DAHLQUIST, TRACKER)}
        a = self.node("a", "--cache-size", max(sizes.values()) + 10)
        for fmu in (DAHLQUIST, TRACKER):
            self.result_bytes(fmu, *SHORT, *self.on(a))
            self.assertEqual(list(a.files()), [self.hash_of(fmu)])
        both = (f"a={DAHLQUIST}", f"b={TRACKER}", *connect("a.x=b.u"), *SHORT)
        self.assertEqual(self.result_bytes(*both, *self.on(a)), self.result_bytes(*both))
        self.result_bytes(TRACKER, *SHORT, *self.on(a))
        self.assertEqual(list(a.files()), [self.hash_of(TRACKER)])
        b = self.node("b", "--cache-size", "1K")
        self.refused("run", DAHLQUIST, *SHORT, *self.on(b), "--quiet", status=1,
                     says=(f"{sizes[DAHLQUIST]} bytes", "no more than 1000", "--cache-size"))
        self.assertEqual(b.files(), {})
        for size in ("", "x", "-1", "5X", "G", "nan"):
            self.refused("node", "--listen", "127.0.0.1:0", "--cache-size", size, status=2, says="--cache-size")

    def hash_of(self, path):
        import hashlib
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Keys(NodesTest):
    def setUp(self):
        super().setUp()
        self.own, self.own_public = self.keys("own")
        self.host, self.host_public = self.keys("host")

    def secured(self, name="secured", allow="own.pub"):
        return self.node(name, "--key", self.host, "--allow", self.path(allow))

    def test_files(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.own).st_mode), 0o600)
        secret, public = (pathlib.Path(self.own + end).read_text() for end in ("", ".pub"))
        self.assertEqual(public.strip(), self.own_public)
        self.assertRegex(secret, r"^[0-9a-f]{64}\n$")
        self.assertNotEqual(secret, public)
        self.refused("node", "--keygen", self.own, status=1, says="is there already")
        os.unlink(self.own + ".pub")
        self.refused("node", "--keygen", self.own, status=1, says="is there already")
        self.assertEqual(pathlib.Path(self.own).read_text(), secret)

    def test_run(self):
        a, b = self.secured("a"), self.secured("b")
        lines = self.list("nodes", f"{a.address} {self.host_public}  # one", "", "# another",
                          f"{b.address} {self.host_public} ranks=2")
        self.assertEqual(self.result_bytes(*CHAIN, *SHORT, "--nodes", lines, "--key", self.own),
                         self.result_bytes(*CHAIN, *SHORT))
        self.assertIn("2 of 3 ranks, for own.pub", b.text())

    def test_folder_of_keys(self):
        users = self.folder / "users"
        users.mkdir()
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--key", self.host, "--allow", str(users))
        self.refused(*node, status=2, says="no key .* in the folder")
        other, _ = self.keys("other")
        for name in (self.own, other):
            shutil.copy(name + ".pub", users)
        shutil.copy(self.own, users / "not-a-key")
        secured = self.node("node", "--key", self.host, "--allow", users)
        lines = self.list("nodes", f"{secured.address} {self.host_public}")
        for name in (self.own, other):
            self.tutti("run", DAHLQUIST, *SHORT, "--nodes", lines, "--key", name, "--quiet")

    def test_wrong_keys(self):
        node, plain = self.secured(), self.node("plain")
        other, other_public = self.keys("other")
        cases = {
            "does not let this key in": (f"{node.address} {self.host_public}", other),
            "has another key": (f"{node.address} {other_public}", self.own),
            "or was started without a key": (f"{plain.address} {self.host_public}", self.own),
        }
        for says, (line, key) in cases.items():
            with self.subTest(says):
                self.refused("run", DAHLQUIST, "--nodes", self.list("nodes", line), "--key", key, status=1,
                             says=(says, line.split()[0]))
        self.refused("run", DAHLQUIST, *self.on(node), status=1, says="was started with a key")
        self.assertEqual(node.files(), {})
        self.assertNotIn("run 1", node.text())

    def test_command_lines(self):
        os.chmod(self.path("own.pub"), 0o644)
        shutil.copy(self.own, self.path("open"))
        os.chmod(self.path("open"), 0o644)
        good = f"127.0.0.1:9 {self.host_public}"
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"))
        cases = [
            ((*node[:2], "0.0.0.0:0", "--cache", self.path("cache")), "can be reached from other machines"),
            ((*node[:2], "0.0.0.0:0", "--key", self.own), "can be reached from other machines"),
            ((*node, "--key", self.own), "lets no user in"),
            ((*node, "--allow", self.path("own.pub")), "needs the node's own key"),
            ((*node, "--key", self.path("open"), "--allow", self.path("own.pub")), "chmod 600"),
            (("node", "--listen", "127.0.0.1"), "HOST:PORT"),
            (("node",), "--listen HOST:PORT is missing"),
            (("run", DAHLQUIST, "--nodes", self.list("1", good)), "--key FILE"),
            (("run", DAHLQUIST, "--nodes", "10.0.0.1:7000"), "the public key of 10.0.0.1:7000 is missing"),
            (("run", DAHLQUIST, "--nodes", self.list("2", good, "10.0.0.1:1 " + self.host_public)), "by a name"),
            (("run", DAHLQUIST, "--nodes", self.list("3", good, good + " ranks=x")), "3:2: .*ranks=N"),
            (("run", DAHLQUIST, "--nodes", self.list("4", "# nothing")), "there is no node"),
            (("run", DAHLQUIST, "--nodes", "missing"), "cannot read"),
            (("run", DAHLQUIST, "--nodes", "host"), "4|HOST:PORT|host"),
        ]
        for arguments, says in cases:
            with self.subTest(arguments):
                self.refused(*arguments, status=2, says=says)

    def test_not_there(self):
        self.refused("run", DAHLQUIST, "--nodes", "127.0.0.1:9", status=1,
                     says="node at 127.0.0.1:9 cannot be reached .*tutti node --listen.*firewall")


class Offers(NodesTest):
    def setUp(self):
        super().setUp()
        (self.folder / "home").mkdir()
        self.engine = self.folder / "home" / "engine.fmu"
        shutil.copy(TRACKER, self.engine)

    def offering(self):
        return self.node("owner", "--offer", self.engine), self.node("other")

    def library(self):
        """The bytes of the FMU that must not be anywhere else."""
        with zipfile.ZipFile(TRACKER) as archive:
            name, = (name for name in archive.namelist() if name.endswith(".so"))
            return archive.read(name)

    def assert_stays_at_home(self, *nodes):
        for node in nodes:
            for path in node.files().values():
                if zipfile.is_zipfile(path):
                    with zipfile.ZipFile(path) as archive:
                        for entry in archive.namelist():
                            self.assertNotEqual(archive.read(entry), self.library(), f"{path} of {node.name}")
                self.assertNotEqual(path.read_bytes(), self.engine.read_bytes())

    def test_command_line(self):
        owner, other = self.offering()
        arguments = (f"car={DAHLQUIST}", "drive={}", *connect("car.x=drive.u"), *SHORT, "--set", "drive.T=0.2")
        plain = self.result_bytes(*(word.format(self.engine) for word in arguments))
        for nodes in ((owner, other), (other, owner)):
            offered = [word.format("engine.fmu") for word in arguments]
            self.assertEqual(self.result_bytes(*offered, *self.on(*nodes)), plain)
        self.assert_stays_at_home(owner, other)
        self.assertEqual(len(other.files()), 2)
        stand_in, = (path for path in other.files().values() if len(zipfile.ZipFile(path).namelist()) == 1)
        self.assertEqual(zipfile.ZipFile(stand_in).namelist(), ["modelDescription.xml"])

    def test_in_a_system(self):
        owner, other = self.offering()
        text = PAIR.replace("resources/Tracker_fmi2.fmu", "resources/engine.fmu")
        for name, fmus in (("whole.ssp", (DAHLQUIST, self.engine)), ("open.ssp", (DAHLQUIST,))):
            with zipfile.ZipFile(self.path(name), "w") as archive:
                archive.writestr("SystemStructure.ssd", text)
                for fmu in fmus:
                    archive.write(fmu, "resources/" + pathlib.Path(fmu).name)
        self.assertEqual(self.result_bytes("open.ssp", *SHORT, *self.on(other, owner)),
                         self.result_bytes("whole.ssp", *SHORT))
        self.assert_stays_at_home(owner, other)

    def test_place(self):
        owner, other = self.offering()
        run = ("run", f"car={DAHLQUIST}", "drive=engine.fmu", *SHORT, *self.on(other, owner))
        self.tutti(*run, "--place", "drive=1", "--quiet")
        self.refused(*run, "--place", "drive=0", status=2, says=("drive", "stays with the node", "rank 1"))

    def test_wrong_ones(self):
        node = ("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"))
        self.refused(*node, "--offer", self.path("home"), status=2, says="not a plain file")
        self.refused(*node, "--offer", self.path("missing.fmu"), status=1, says="missing.fmu")
        self.refused(*node, "--offer", self.engine, "--offer", self.engine, status=2, says="two files are called")
        self.refused(*node, "--offer", self.write("text.fmu", "no FMU"), status=1, says="not a ZIP archive")

    def test_two_owners(self):
        """The same FMU at two nodes is fine, another one of the same name is not."""
        owner, twin = self.offering()[0], self.node("twin", "--offer", self.engine)
        run = ("run", "engine.fmu", *SHORT, "--quiet")
        self.tutti(*run, *self.on(owner, twin))
        (self.folder / "elsewhere").mkdir()
        shutil.copy(VAN_DER_POL, self.folder / "elsewhere" / "engine.fmu")
        stranger = self.node("stranger", "--offer", self.folder / "elsewhere" / "engine.fmu")
        self.refused(*run, *self.on(owner, stranger), status=2, says=("both offer engine.fmu", stranger.address))

    def test_changed(self):
        owner, other = self.offering()
        shutil.copy(DAHLQUIST, self.engine)
        self.refused("run", "engine.fmu", *SHORT, "--quiet", *self.on(owner), status=1,
                     says="engine.fmu has changed since the node")
        self.assertIn("was refused", owner.text())
        self.assertEqual(other.workers(), [])


class Ports(NodesTest):
    def free_ports(self, count):
        """The first of so many in a row that nobody has, where the system gives none by itself."""
        for _ in range(1000):
            first = random.randrange(20000, 32000)
            with contextlib.ExitStack() as stack:
                try:
                    for port in range(first, first + count):
                        stack.enter_context(socket.create_server(("127.0.0.1", port)))
                    return first
                except OSError:
                    continue
        self.skipTest("no ports are free")

    def test_range(self):
        """A node and its ranks listen there and nowhere else."""
        first = self.free_ports(3)
        node = self.node("a", "--ports", f"{first}-{first + 2}")
        self.assertIn(int(node.address.rpartition(":")[2]), range(first, first + 3))
        pair = (f"a={DAHLQUIST}", f"b={TRACKER}", *SHORT)
        self.assertEqual(self.result_bytes(*pair, *self.on(node, node)), self.result_bytes(*pair))
        self.assertTrue(wait_until(lambda: "over after" in node.text()))
        outcome = self.tutti("run", *pair, f"c={TRACKER}", *self.on(node, node, node), "--quiet", status=1)
        self.assertIn(f"none of the ports {first} to {first + 2} is free (--ports)", outcome.err)

    def test_command_lines(self):
        for ports in ("", "x", "5000-", "-5000", "5100-5000", "0-10", "1-70000", "5000-5100-5200"):
            self.refused("node", "--listen", "127.0.0.1:0", "--cache", self.path("cache"), "--ports", ports, status=2,
                         says="--ports: '.*' is no range of ports")


if __name__ == "__main__":
    unittest.main()
