#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results as .mat files: what SciPy reads in them is what the CSV result of the same run has."""
import math
import os
import pathlib
import re
import shutil
import struct
import unittest

import numpy
import scipy.io

from command import CommandTest, description, kit_fmu, kit_fmus, wait_until

MATRICES = ("Aclass", "name", "description", "dataInfo", "data_1", "data_2")
ALL = ("--record", "*")


class Mat:
    """A file as docs/formats.md says it is read."""

    def __init__(self, path, rest=False):
        """`rest`: there may be bytes behind the last matrix."""
        matrices = scipy.io.loadmat(path, chars_as_strings=False, variable_names=list(MATRICES) if rest else None)
        self.aclass = ["".join(line).rstrip() for line in matrices["Aclass"]]
        names, descriptions = ([bytes(map(ord, "".join(column))).decode().rstrip() for column in matrices[matrix].T]
                               for matrix in ("name", "description"))
        self.names = names
        self.descriptions = dict(zip(names, descriptions))
        self.info = {name: [int(number) for number in column] for name, column in zip(names, matrices["dataInfo"].T)}
        self.data = {1: matrices["data_1"], 2: matrices["data_2"]}
        assert list(matrices) == list(MATRICES) or rest, list(matrices)

    def __getitem__(self, name):
        matrix, row = self.info[name][:2]
        return math.copysign(1, row) * self.data[1 if matrix == 1 else 2][abs(row) - 1]


class MatTest(CommandTest):
    def mat(self, *arguments, name="result.mat", warnings=0, **options):
        outcome = self.tutti("run", *arguments, "-o", name, **options)
        self.assertEqual(len(outcome.lines("warning")), warnings, outcome.err)
        return Mat(self.path(name))

    def both(self, *arguments, texts=(), **options):
        """The same run twice. `texts` is what a .mat file has no room for."""
        self.tutti("run", *arguments, "-o", "result.csv", **options)
        table, mat = self.result(), self.mat(*arguments, warnings=bool(texts), **options)
        self.assertEqual(mat.names, [name for name in table.header if name not in texts])
        for name in mat.names:
            with self.subTest(name=name):
                self.assert_same(mat, table, name)
        return mat, table

    def assert_same(self, mat, table, name):
        expected = [float(text) for text in table.texts(name)]
        values = mat[name]
        if mat.info[name][0] == 1:
            self.assertEqual(len(set(expected)), 1)
            self.assertEqual(values.tolist(), [expected[0]] * 2)
        elif not numpy.array_equal(values, expected, equal_nan=True):  # a Float32 has less digits as text
            self.assertEqual(numpy.float32(values).tolist(), numpy.float32(expected).tolist())
            self.assertEqual(numpy.float32(values).tolist(), values.tolist())


class Contents(MatTest):
    def test_every_model(self):
        for fmu in kit_fmus("*_fmi[123]*"):
            if not fmu.name.startswith(("BouncingBall", "Heater", "StateSpace")):
                continue
            with self.subTest(fmu=fmu.name):
                mat, table = self.both(fmu, *ALL)
                self.assertEqual(mat.aclass, ["Atrajectory", "1.1", "", "binTrans"])
                self.assertEqual(mat.info["time"], [0, 1, 0, -1])
                self.assertEqual(mat["time"].tolist(), table.times)
                self.assertEqual(mat.data[1][0].tolist(), [table.times[0], table.times[-1]])

    def test_every_type(self):
        texts = ("string_out", "binary_out", "strings_out[1]", "strings_out[2]", "string_in", "string_parameter", "binary_in",
                 "strings_in[1]", "strings_in[2]")
        outcome = self.tutti("run", kit_fmu("Feedthrough", "3"), *ALL, "-o", "x.mat")
        self.assertRegex(outcome.lines("warning")[0], "'string_in' and [0-9]+ more are texts, which a .mat file cannot hold")
        header = self.simulate(kit_fmu("Feedthrough", "3"), *ALL, "--stop", "0.01").header
        mat, _ = self.both(kit_fmu("Feedthrough", "3"), *ALL, "--set", "float32_in=0.1", "--set", "int64_in=-5", "--set",
                           "boolean_in=true", "--set", "float64_in=1e300",
                           texts=[name for name in header if name.startswith(tuple(text.split("[")[0] for text in texts))])
        self.assertEqual(mat["float32_out"][-1], float(numpy.float32(0.1)))
        self.assertEqual(mat["int64_out"][-1], -5)
        self.assertEqual(mat["boolean_out"][-1], 1)

    def test_units_are_in_descriptions(self):
        for version in ("1cs", "2", "3"):
            mat = self.mat(kit_fmu("BouncingBall", version), *ALL)
            self.assertEqual(mat.descriptions["time"], "Simulation time [s]")
            self.assertEqual(mat.descriptions["h"], "height of the ball [m]")
            self.assertEqual(mat.descriptions["der(v)"], "[m/s2]")
            self.assertEqual(mat.descriptions["e"], "part of the speed left after a bounce")
        fmu = self.altered(kit_fmu("BouncingBall", "2"), ("height of the ball", "Höhe über dem Boden"))
        self.assertEqual(self.mat(fmu).descriptions["h"], "Höhe über dem Boden [m]")

    def test_parameters_and_constants_are_stored_once(self):
        for version in ("1cs", "2", "3"):
            mat = self.mat(kit_fmu("BouncingBall", version), *ALL, "--set", "e=0.5")
            self.assertEqual([name for name in mat.names if mat.info[name][0] == 1], ["g", "e", "v_min"])
            self.assertEqual(mat["e"].tolist(), [0.5, 0.5])
            self.assertEqual(mat.data[1].shape, (4, 2))
            self.assertEqual(mat.info["g"][2:], [0, 0])
            self.assertEqual(mat.info["h"][2:], [0, -1])
        mat = self.mat(kit_fmu("Feedthrough", "3"), "--record", "*gain", "--record", "constant")
        self.assertEqual({name: mat.info[name][0] for name in mat.names},
                         {"time": 0, "gain": 1, "tunable_gain": 2, "constant": 1})

    def test_aliases_of_fmi_1(self):
        """Also where the first one is the negated one, and where the other is not recorded."""
        fmu = kit_fmu("BouncingBall", "1cs")
        line = next(line for line in description(fmu).splitlines() if 'name="v"' in line)
        alias = line.replace('name="v"', 'name="{0}"').replace("causality=", 'alias="{1}" causality=').replace(' start="0"', "")
        fmu = self.altered(fmu, (line, "\n".join((alias.format("down", "negatedAlias"), line, alias.format("again", "alias")))))
        mat, table = self.both(fmu)
        self.assertEqual(mat.info["down"][:2], [2, -mat.info["v"][1]])
        self.assertEqual(mat.info["again"], mat.info["v"])
        self.assertEqual(len(mat.data[2]), len(mat.names) - 2)
        self.assertEqual(table["down"], [0 - v for v in table["v"]])
        self.assertGreater(max(mat["down"]), 1)
        mat, _ = self.both(fmu, "--record", "down")
        self.assertEqual(mat.info["down"][:2], [2, -2])

    def test_aliases_of_fmi_2_and_3(self):
        mat, _ = self.both(kit_fmu("Feedthrough", "3"), "--record", "float64_*", "--set", "float64_in=3")
        self.assertEqual(mat.info["float64_alias"], mat.info["float64_out"])
        self.assertEqual(mat["float64_alias"][-1], 3)
        fmu = kit_fmu("BouncingBall", "2")
        line = re.search(r" *<ScalarVariable name=\"h\".*?</ScalarVariable>\n", description(fmu), re.DOTALL)[0]
        alias = line.replace('name="h"', 'name="height"').replace(' start="1"', "").replace(' initial="exact"', "") \
            .replace(' reinit="true"', "").replace('causality="output"', 'causality="local"')
        fmu = self.altered(fmu, ("  </ModelVariables>", alias + "  </ModelVariables>"))
        mat, _ = self.both(fmu, "--record", "h*")
        self.assertEqual(mat.info["height"], mat.info["h"])
        self.assertEqual(mat.data[2].shape[0], 2)

    def test_events_give_two_points(self):
        mat, table = self.both(kit_fmu("BouncingBall", "3"))
        times = mat["time"].tolist()
        self.assertEqual(times, table.times)
        self.assertGreater(len(times) - len(set(times)), 10)

    def test_compare_sees_no_difference(self):
        """`tutti compare` reads both, with events, constants and aliases."""
        for version in ("1cs", "2", "3"):
            self.both(kit_fmu("BouncingBall", version), *ALL)
            for files in (("result.mat", "result.csv"), ("result.csv", "result.mat")):
                self.tutti("compare", *files)
            self.tutti("run", kit_fmu("BouncingBall", version), *ALL, "--set", "g=9.9", "-o", "other.mat")
            self.tutti("compare", "other.mat", "result.csv", status=1)

    def test_only_a_constant(self):
        mat = self.mat(kit_fmu("BouncingBall", "2"), "--record", "g")
        self.assertEqual(mat.names, ["time", "g"])
        self.assertEqual(len(mat.data[2]), 1)


class Systems(MatTest):
    def system(self):
        return (f"a={kit_fmu('Dahlquist', '2')}", f"b={kit_fmu('Tracker', '3')}", f"c={kit_fmu('Tracker', '1cs')}", "--connect",
                "a.x=b.u", "--connect", "b.y=c.u", "--stop", "2", "--step", "0.01", *ALL)

    def test_all_fabrics_write_the_same_bytes(self):
        mat, _ = self.both(*self.system())
        self.assertIn("c.u", mat.names)
        self.assertTrue(any(mat.info[name][0] == 1 for name in mat.names))
        expected = pathlib.Path(self.path("result.mat")).read_bytes()
        for fabric in (("--threads", "3"), ("--processes", "2"), ("--processes", "3")):
            with self.subTest(fabric=fabric):
                self.mat(*self.system(), *fabric, name="other.mat")
                self.assertEqual(pathlib.Path(self.path("other.mat")).read_bytes(), expected)


class Failures(MatTest):
    def long_run(self, *options):
        return self.start("run", kit_fmu("Dahlquist", "2"), "--stop", "1e7", "--step", "0.01", "-o", "result.mat", *options)

    def wait_for(self, size):
        path = self.path("result.mat")
        self.assertTrue(wait_until(lambda: os.path.exists(path) and os.path.getsize(path) >= size), "no result")

    def test_killed(self):
        """Up to the last flush; what was not counted any more lies behind the last matrix."""
        for size in (1, 1_000_000):
            process = self.long_run()
            self.wait_for(size)
            process.kill()
            process.communicate()
            shutil.rmtree(self.tmpdir)
            self.tmpdir.mkdir()
            mat = Mat(self.path("result.mat"), rest=True)
            times = mat["time"]
            self.assertEqual(times.tolist(), [i * 0.01 for i in range(len(times))])
            self.assertGreater(len(times) * 16 + 300, size - 131072)
            self.assertTrue(numpy.allclose(mat["x"], numpy.exp(-times), atol=1e-3))
            os.unlink(self.path("result.mat"))

    def test_interrupted(self):
        process = self.long_run()
        self.wait_for(300_000)
        process.terminate()
        self.assertEqual(self.finish(process).status, 143)
        mat = Mat(self.path("result.mat"))
        self.assertEqual(mat["time"].tolist(), [i * 0.01 for i in range(len(mat["time"]))])
        self.assertEqual(mat.data[1][0, 1], mat["time"][-1])

    def test_crash_of_an_fmu(self):
        self.tutti("run", kit_fmu("Faulty", "2"), "-o", "result.mat", env={"KIT_FAULT": "crash DoStep 0.5"}, status=1)
        times = Mat(self.path("result.mat"))["time"].tolist()
        self.assertGreater(len(times), 1)
        self.assertEqual(times[0], 0)
        self.assertLessEqual(times[-1], 0.5 + 1e-9)

    def test_read_only_folder(self):
        os.mkdir(self.path("closed"), 0o500)
        self.addCleanup(os.chmod, self.path("closed"), 0o700)
        if os.geteuid() == 0:  # may write anywhere but there
            self.refused("run", kit_fmu("Dahlquist", "2"), "-o", "/proc/result.mat", status=1, says="cannot write /proc/result.mat")
        else:
            self.refused("run", kit_fmu("Dahlquist", "2"), "-o", "closed/result.mat", status=1,
                         says="cannot write closed/result.mat: Permission denied")

    def test_no_pipe(self):
        os.mkfifo(self.path("pipe.mat"))
        self.refused("run", kit_fmu("Dahlquist", "2"), "-o", "pipe.mat", status=1, says="pipe.mat: .*a file on a disk")

    def test_an_older_result_stays_whole(self):
        self.mat(kit_fmu("Dahlquist", "2"))
        before = pathlib.Path(self.path("result.mat")).read_bytes()
        self.refused("run", kit_fmu("Dahlquist", "2"), "-o", "result.mat", "--set", "nobody=1", status=2, says="nobody")
        self.assertEqual(pathlib.Path(self.path("result.mat")).read_bytes(), before)
        self.mat(kit_fmu("Dahlquist", "2"), "--stop", "0.1")  # shorter
        self.assertLess(os.path.getsize(self.path("result.mat")), len(before))

    def test_the_head_counts_the_points(self):
        self.tutti("run", kit_fmu("Dahlquist", "2"), "--stop", "1000", "--step", "0.01", "-o", "long.mat")
        with open(self.path("long.mat"), "rb") as file:
            data = file.read()
        head = data.index(b"data_2\0") - 20
        self.assertEqual(struct.unpack_from("<5i", data, head), (0, 2, 100001, 0, 7))
        self.assertEqual(len(data), head + 27 + 2 * 8 * 100001)


if __name__ == "__main__":
    unittest.main()
