#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tutti.simulate and its results: the numbers of the command, in arrays."""
import contextlib
import csv
import gc
import io
import logging
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

import numpy as np

from common import HAS_HDF5, JOINED, ROOT, TWO, command, kit

import tutti
import tutti._functions


def csv_of(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def last_of(k):
    return float(tutti.simulate(kit("Dahlquist"), stop=1, set={"k": k})["x"][-1])


class Functions(unittest.TestCase):
    """Functions of time become tables that follow them to the tolerance, also fast ones."""

    def test_nets_of_fast_functions(self):
        chance = random.Random(34)
        for case in range(24):
            omega, phase, rtol = 10 ** chance.uniform(0, 3.5), chance.uniform(0, 6), 10 ** chance.uniform(-3.5, -2)
            function = (lambda t, w=omega, p=phase: math.sin(w * t + p), lambda t, w=omega, p=phase: math.sin(w * t * t + p),
                        lambda t, w=omega: math.sin(w * t) * math.exp(-t) + abs(t - 0.3))[case % 3]
            with self.subTest(case=case, omega=omega, rtol=rtol):
                rows = tutti._functions.rows_of("u", function, 0.0, 1.0, None, rtol, False)
                times = np.linspace(1e-7, 1 - 1e-7, 20011)
                values = np.array([function(t) for t in times])
                errors = np.abs(np.interp(times, [t for t, _ in rows], [value for _, value in rows]) - values)
                self.assertLess(np.max(errors), rtol * np.ptp(values))


class Types(unittest.TestCase):
    """Columns keep their types, from a run, from an active simulation, and from files."""

    LONG = 2 ** 53 + 1

    def feed(self, **options):
        given = {"time": [0, 0.5, 1], "int64_in": [1, self.LONG, -self.LONG], "boolean_in": [True, False, True], "string_in": ["a", "b,c", "d"],
                 "int32_in": [1, 2, 3], "float64_in": [0.5, 1.5, 2.5]}
        return tutti.simulate(kit("Feedthrough"), input=given, stop=1, step=0.5, **options)

    def check(self, result, typed=True):
        self.assertEqual(result["int64_out"].dtype, np.int64)
        self.assertEqual(set(result["int64_out"].tolist()), {1, self.LONG, -self.LONG})
        self.assertEqual(set(result["string_out"].tolist()), {"a", "b,c", "d"})
        self.assertEqual(result["float64_out"].dtype, np.float64)
        if typed:
            self.assertEqual((result["boolean_out"].dtype, result["int32_out"].dtype), (np.bool_, np.int32))

    def test_of_a_run(self):
        result = self.feed()
        self.check(result)
        frame = result.to_pandas()
        self.assertEqual([str(frame[name].dtype) for name in ("int64_out", "boolean_out", "int32_out", "float64_out")],
                         ["int64", "bool", "int32", "float64"])
        self.assertEqual(frame["int64_out"].max(), self.LONG)

    def test_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.feed()
            for ending in (".csv", ".jsonl"):
                for write in (lambda path: self.feed(output=path), result.save):
                    with self.subTest(ending=ending, write=write):
                        path = os.path.join(folder, "result" + ending)
                        write(path)
                        self.check(tutti.read(path), typed=False)
                        os.unlink(path)

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_of_hdf5(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.h5")
            result = self.feed(set={"int32_in": 3})
            with self.assertWarnsRegex(UserWarning, "int64_(in|out): integers of 2.53 and more are rounded in .*result.h5"):
                result.save(path)
            with self.assertWarnsRegex(UserWarning, "int64_(in|out): integers of 2.53"):
                read = tutti.read(path)
            self.assertEqual([read[name].dtype for name in ("int64_out", "boolean_out", "int32_out", "float64_out")],
                             [np.int64, np.bool_, np.int32, np.float64])
            self.assertEqual(set(read["int64_out"].tolist()), {1, 2 ** 53, -2 ** 53})
            with self.assertLogs("tutti", "WARNING") as messages:
                self.feed(output=path)
            self.assertRegex(str(messages.output), "int64_.* is an integer of 2.53 or more, which a .h5 file rounds")

    def test_of_a_simulation(self):
        with tutti.Simulation(kit("Feedthrough"), stop=1, step=0.5) as simulation:
            simulation.start()
            simulation["boolean_in"] = 1
            simulation.advance(0.5)
            result = simulation.result
            self.assertEqual(result["boolean_out"].dtype, np.bool_)
            simulation.advance(1)
            self.assertEqual(len(result["boolean_out"]), len(result.time))


class Simulate(unittest.TestCase):
    def test_numbers_are_those_of_the_command(self):
        for model in ("BouncingBall", "VanDerPol", "Stair", "Feedthrough"):
            names, rows = csv_of(command("run", kit(model), "-o", "-", "--quiet"))
            result = tutti.simulate(kit(model))
            self.assertEqual(names[1:], list(result))
            for i, name in enumerate(names):
                values = [row[i] for row in rows]
                shown = result.time if name == "time" else result[name]
                if shown.dtype == object:
                    self.assertEqual(values, list(shown))
                else:
                    self.assertEqual([float(value) for value in values], shown.tolist(), name)

    def test_options_by_name(self):
        result = tutti.simulate(kit("Dahlquist"), stop=2, output_step=0.5, set={"k": 2}, interface="me", solver="dopri5",
                                rtol=1e-9, record=["x"])
        self.assertEqual(result.time.tolist(), [0, 0.5, 1, 1.5, 2])
        np.testing.assert_allclose(result["x"], np.exp(-2 * result.time), rtol=1e-8)
        self.assertEqual(result.statistics["units"][0]["solver"], "dopri5")

    def test_systems(self):
        ways = [JOINED, [f"{a}={b}" for a, b in JOINED], {a: b for a, b in JOINED}, {a: [b] for a, b in JOINED}]
        results = [tutti.simulate(TWO, connect=way, set={"a.x_left": 0.1}, step=0.01, stop=1) for way in ways]
        for result in results:
            self.assertTrue(np.array_equal(result["b.x"], results[0]["b.x"]))
        self.assertGreater(np.abs(results[0]["b.x"]).max(), 0)
        on_two = tutti.simulate(TWO, connect=JOINED, set={"a.x_left": 0.1}, step=0.01, stop=1, threads=2)
        self.assertTrue(np.array_equal(on_two["b.x"], results[0]["b.x"]))

    def test_inputs(self):
        time = np.array([0, 0.5, 0.5, 1])
        table = {"time": time, "float64_in": [0.0, 1.0, 3.0, 4.0]}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "u.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("time,float64_in\n" +
                           "".join(f"{t!r},{u!r}\n" for t, u in zip(time.tolist(), table["float64_in"])))
            by_path, by_dict = (tutti.simulate(kit("Feedthrough"), input=given, stop=1, step=0.25) for given in (path, table))
        name = "float64_out"
        self.assertTrue(np.array_equal(by_path[name], by_dict[name]))
        self.assertEqual(by_dict[name][-1], 4)

    def test_functions_of_time(self):
        result = tutti.simulate(kit("Feedthrough"), input={"float64_in": lambda t: 2 * t}, stop=1, step=0.25)
        self.assertEqual(result["float64_out"].tolist(), [0.0, 0.5, 1.0, 1.5, 2.0])
        held = tutti.simulate(kit("Feedthrough"), input={"float64_in": lambda t: 2 * t}, stop=1, step=0.25, interpolate="hold")
        self.assertIn(held["float64_out"][1], (0.0, 0.5))
        kinds = tutti.simulate(kit("Feedthrough"), input={"boolean_in": lambda t: t > 0.3, "int32_in": lambda t: int(10 * t),
                                                          "string_in": lambda t: "late" if t > 0.7 else "early"}, stop=1, output_step=0.5,
                               record=["boolean_out", "int32_out", "string_out"])
        end = {name: values[-1] for name, values in kinds.items()}
        self.assertEqual((end["boolean_out"], end["int32_out"], end["string_out"]), (1, 10, "late"))
        self.assertTrue(np.any(np.abs(kinds.time - 0.3) < 1e-9))  # where it jumps, a step ends

    def test_functions_are_followed_to_the_tolerance(self):
        class Lag:
            states, inputs = {"x": 0.0}, ["u"]

            def derivatives(self, _t, x):
                return [self.u - x[0]]

        w = 30.0
        for rtol in (1e-3, 1e-5):
            result = tutti.simulate(Lag(), input={"u": lambda t: math.sin(w * t)}, stop=2, rtol=rtol, output_step=0.1)
            t = result.time
            exact = (w * np.exp(-t) + np.sin(w * t) - w * np.cos(w * t)) / (1 + w * w)
            self.assertEqual(len(t), 21)
            self.assertLess(np.abs(result["x"] - exact).max(), rtol)

    def test_functions_in_a_simulation(self):
        asked = []

        def ramp(t):
            asked.append(t)
            return 3 * t

        with tutti.Simulation(kit("Feedthrough"), input={"float64_in": ramp}, stop=1, step=0.25) as simulation:
            self.assertEqual([simulation["float64_out"] for _ in simulation], [0.75, 1.5, 2.25, 3.0])
        self.assertEqual((min(asked), max(asked)), (0, 1))
        told = []
        tutti.simulate(kit("Feedthrough"), input={"float64_in": ramp}, stop=1, step=1e-4, progress=told.append)
        self.assertTrue(told)

    def test_arrays_outlive_their_result(self):
        before = tutti.simulate(kit("VanDerPol"), stop=20)["x0"]
        kept = before.copy()
        gc.collect()
        others = [tutti.simulate(kit("VanDerPol"), stop=20)["x0"] for _ in range(5)]
        self.assertTrue(np.array_equal(before, kept))
        self.assertFalse(before.flags.writeable)
        self.assertTrue(all(np.array_equal(other, kept) for other in others))

    def test_texts_and_units(self):
        result = tutti.simulate(kit("BouncingBall"))
        self.assertEqual(result.units["h"], "m")
        self.assertEqual(len(result), 3)
        self.assertIn("h", result)
        self.assertIn("BouncingBall", str(result.summary))
        self.assertIn("<table>", result._repr_html_())
        texts = tutti.simulate(kit("Feedthrough"), set={"string_in": "hällo <b>"}, stop=1, record="string_*")
        self.assertEqual(set(texts["string_out"]), {"hällo <b>"})

    def test_files(self):
        result = tutti.simulate(kit("BouncingBall"))
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("csv", "mat", "jsonl", "h5"):
                if ending == "h5" and not HAS_HDF5:
                    continue
                path = os.path.join(folder, "r." + ending)
                result.save(path)
                again = tutti.read(path)
                self.assertEqual(list(again), list(result))
                for name in result:
                    np.testing.assert_array_equal(again[name], result[name])
            told = os.path.join(folder, "told.csv")
            command("run", kit("BouncingBall"), "-o", told, "--quiet")
            result.save(os.path.join(folder, "r.csv"))
            with open(told, "rb") as one, open(os.path.join(folder, "r.csv"), "rb") as two:
                self.assertEqual(one.read(), two.read())

    def test_other_forms(self):
        result = tutti.simulate(kit("BouncingBall"))
        try:
            import matplotlib
            import pandas
        except ImportError as error:
            self.skipTest(str(error))
        frame = result.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame["h"].tolist(), result["h"].tolist())
        inputs = pandas.DataFrame({"float64_in": [0.0, 2.0]}, index=[0.0, 1.0])
        moved = tutti.simulate(kit("Feedthrough"), input=inputs, stop=1)
        self.assertEqual(moved["float64_out"][-1], 2)
        matplotlib.use("agg")
        axes = result.plot("h", "v")
        self.assertEqual([place.get_ylabel() for place in axes.ravel()], ["m", "m/s"])

    def test_other_forms_xarray(self):
        try:
            import xarray  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        data = tutti.simulate(kit("BouncingBall")).to_xarray()
        self.assertEqual(data["h"].attrs["units"], "m")

    def test_logging(self):
        with unittest.mock.patch.dict(os.environ, KIT_FAULT="warning DoStep 0.5"):
            with self.assertLogs("tutti", logging.WARNING) as logs:
                tutti.simulate(kit("Faulty"), stop=1)
        self.assertIn("Warning", "".join(logs.output))
        self.assertTrue(all(record.origin for record in logs.records))

    def test_progress(self):
        seen = []
        tutti.simulate(kit("Worker", "2"), stop=0.3, step=0.001, progress=seen.append)
        self.assertTrue(all(0 <= part <= 1 for part in seen))
        self.assertEqual(seen[-1], 1)
        with contextlib.redirect_stderr(io.StringIO()) as told:
            tutti.simulate(kit("Worker", "2"), stop=0.3, step=0.001, progress=True)
        self.assertTrue(told.getvalue().endswith("100%\n"), told.getvalue())

        def refuse(_part):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            tutti.simulate(kit("Worker", "2"), stop=1000, step=0.001, progress=refuse)

    def test_progress_in_a_notebook(self):
        shown = []

        class ProgressBar:
            def __init__(self, total):
                self.total = total

            def display(self):
                shown.append(0)

            def __setattr__(self, name, value):
                super().__setattr__(name, value)
                if name == "progress":
                    shown.append(value / self.total)

        notebook = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=1),
                                         display=types.SimpleNamespace(ProgressBar=ProgressBar))
        with unittest.mock.patch.dict(sys.modules, {"IPython": notebook, "IPython.display": notebook.display}):
            tutti.simulate(kit("Worker", "2"), stop=0.3, step=0.001, progress=True)
        self.assertEqual((shown[0], shown[-1]), (0, 1))

    def test_threads_side_by_side(self):
        results, errors = {}, []

        def work(number):
            try:
                results[number] = tutti.simulate(kit("VanDerPol"), stop=10, set={"mu": number})["x0"]
            except BaseException as error:  # pylint: disable=broad-except
                errors.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        for number, values in results.items():
            self.assertTrue(np.array_equal(values, tutti.simulate(kit("VanDerPol"), stop=10, set={"mu": number})["x0"]))

    def test_interrupt_keeps_the_result(self):
        program = f"""
import sys, threading, os, signal
sys.path.insert(0, {str(ROOT / 'python')!r})
import tutti
import tutti._functions
told = threading.Event()
def progress(part):
    told.set()
def interrupt():
    told.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    tutti.simulate({kit('Worker', '2')!r}, stop=1e6, step=0.001, progress=progress)
except KeyboardInterrupt as error:
    print(type(error).__name__, len(error.result.time) > 0)
"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual(ended.stdout, "Interrupted True\n", ended.stderr)


class Wrong(unittest.TestCase):
    def check(self, kind, words, *arguments, **options):
        with self.assertRaisesRegex(kind, words) as caught:
            tutti.simulate(*arguments, **options)
        return caught.exception

    def test_arguments(self):
        ball = kit("BouncingBall")
        self.check(tutti.FileError, "no-such", "no-such.fmu")
        self.check(tutti.ArgumentError, "no option.*nonsense|nonsense", ball, nonsense=1)
        self.check(tutti.ArgumentError, "stop", ball, stop="soon")
        self.check(tutti.ArgumentError, "rtol", ball, rtol=float("nan"))
        self.check(tutti.ArgumentError, "rtol", ball, rtol=-1)
        self.check(TypeError, "complex", ball, stop=1j)
        self.check(tutti.ArgumentError, "zero character", ball, set={"h": "1\0"})
        self.check(tutti.Error, "no variable|nothing", ball, set={"nothing": 1})
        self.check(ValueError, "has 3 values, 'u' has 2", kit("Feedthrough"), input={"time": [0, 1, 2], "u": [1, 2]})
        self.check(ValueError, 'no "time"', kit("Feedthrough"), input={"u": [1, 2]})
        for times in ([0, float("nan")], [1, 0], [0, float("inf")], ["a", "b"]):
            self.check(ValueError, "finite numbers that do not fall", kit("Feedthrough"), input={"time": times, "float64_in": [1, 2]})
        self.check(TypeError, "input", kit("Feedthrough"), input=3)
        for files in (3, None, [3], {"a": object()}, b"a.fmu"):
            self.check(TypeError, "a path, or an object with step", files)
        for connect in (5, [("a.x",)], [(1, 2)]):
            self.check(TypeError, "connect: pairs", TWO, connect=connect)
        self.check(tutti.FileError, "No such file", "\udcff.fmu")

    def test_functions_that_raise(self):
        def broken(_t):
            raise ZeroDivisionError("of mine")

        self.check(ZeroDivisionError, "of mine", kit("Feedthrough"), input={"float64_in": broken})
        self.check(TypeError, "'float64_in' at t = 0 gives a NoneType", kit("Feedthrough"), input={"float64_in": lambda t: None})
        self.check(ValueError, "same number of values", kit("Feedthrough"), input={"float64_in": lambda t: [t] * (1 + (t > 0.5))})
        random.seed(1)
        with unittest.mock.patch("tutti._functions._MOST", 20000):
            self.check(ValueError, "'float64_in' changes so much", kit("Feedthrough"), input={"float64_in": lambda t: random.random()})
        tutti.simulate(kit("Feedthrough"), input={"float64_in": lambda t: random.random()}, interpolate="hold")
        self.check(tutti.Error, "nothing", kit("Feedthrough"), input={"nothing": lambda t: t})

    def test_values_that_are_no_numbers(self):
        """From the start on models may have them: a warning, and the run continues. What becomes one, and stays so, is an error."""
        for options in ({"set": {"float64_in": float("nan")}}, {"input": {"float64_in": lambda t: float("nan")}}):
            with self.assertLogs("tutti", logging.WARNING) as logged:
                result = tutti.simulate(kit("Feedthrough"), stop=1, **options)
            self.assertTrue(np.isnan(result["float64_out"][-1]))
            self.assertIn("NaN", logged.output[0])
        self.check(tutti.Error, "'float64_out' is not a number \\(NaN\\) from t = ", kit("Feedthrough"), stop=1,
                   input={"time": [0, 1], "float64_in": [0, float("nan")]})

    def test_the_end_of_the_interpreter(self):
        """What is still there then, also in circles, is no reason for words."""
        program = f"""
import tutti
import tutti._functions
simulation = tutti.Simulation({kit('Dahlquist')!r}).start()
class Circle: pass
circle = Circle()
circle.members = circle, simulation, simulation.save(), tutti.simulate({kit('Dahlquist')!r})
"""
        ended = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))

    def test_nothing_is_left(self):
        """Neither files nor descriptors, whatever ends a run."""
        def broken(_t):
            raise ZeroDivisionError("of mine")

        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tempfile, "tempdir", folder), \
                unittest.mock.patch.dict(os.environ, TMPDIR=folder):
            tutti.simulate(kit("Dahlquist"), stop=0.1)
            before = os.listdir("/proc/self/fd")
            for kind, arguments, options in (
                    (ZeroDivisionError, [kit("Feedthrough")], {"input": {"float64_in": broken}}),
                    (ZeroDivisionError, [kit("Dahlquist")], {"equations": {"q": lambda t, p, model: 1 / 0}}),
                    (ZeroDivisionError, [kit("Dahlquist")], {"progress": broken, "step": 1e-6}),
                    (tutti.FileError, [[kit("Dahlquist"), "no-such.fmu"]], {}),
                    (tutti.ArgumentError, [kit("Dahlquist")], {"set": {"nothing": 1}, "input": {"time": [0], "x": [1]}})):
                self.check(kind, "", *arguments, **options)
                gc.collect()
                self.assertEqual(os.listdir(folder), [], options)
            self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))

    def test_where(self):
        forks = "libasan" not in os.environ.get("LD_PRELOAD", "")  # whose lock a forked worker may wait for
        for where in ({}, {"threads": 2}, *([{"processes": 2}] if forks else [])):
            with unittest.mock.patch.dict(os.environ, KIT_FAULT="error DoStep 0.5 @a"):
                error = self.check(tutti.FMUError, "", {"a": kit("Faulty"), "b": kit("Dahlquist")}, stop=1, step=0.1, **where)
            self.assertEqual((error.unit, error.variable, error.time), ("a", None, 0.5), where)
            self.assertGreater(len(error.result.time), 4)

    def test_about(self):
        pair = {"a": kit("Dahlquist"), "b.c": kit("BouncingBall")}
        error = self.check(tutti.ArgumentError, "soon", pair, set={"b.c.h": "soon"})
        self.assertEqual((error.unit, error.variable, error.time), ("b.c", "h", None))
        error = self.check(tutti.ArgumentError, "no variable", pair, set={"a.nothing": 1})
        self.assertEqual((error.unit, error.variable), (None, "a.nothing"))
        error = self.check(tutti.FileError, "", "/nowhere.fmu")
        self.assertEqual((error.unit, error.variable, error.time), (None, None, None))
        with unittest.mock.patch.dict(os.environ, KIT_FAULT="nan GetDerivatives|GetContinuousStateDerivatives 0.5+"):
            error = self.check(tutti.SolverError, "der.* x|'x'", kit("Faulty"), interface="me", solver="cvode", stop=1)
        self.assertEqual((error.unit, error.variable), ("Faulty_fmi3", "x"))
        self.assertGreater(error.time, 0.4)
        with tutti.Simulation(kit("BouncingBall"), stop=1) as simulation:
            with self.assertRaises(tutti.ArgumentError) as caught:
                simulation.start().put("e", [0.5, 0.5])
        self.assertEqual((caught.exception.unit, caught.exception.variable), ("BouncingBall_fmi3", "e"))


class Children(unittest.TestCase):
    def test_fork(self):
        tutti.simulate(kit("Dahlquist"), stop=1)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if len(tutti.simulate(kit("Dahlquist"), stop=1).time) > 1 else 2
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        self.assertEqual(status, 0)

    def test_spawn(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.map(last_of, [1, 2])
        self.assertEqual(found, [last_of(1), last_of(2)])


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
