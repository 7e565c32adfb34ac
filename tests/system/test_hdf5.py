#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results in HDF5, read by h5py: the same numbers as in CSV, names and units; while the run goes on, and after it was killed."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import unittest

import h5py
import numpy

from command import JACOBI, PATIENCE, SANITIZED, TUTTI, CommandTest, kit_fmu, wait_until

MODULE = "tutti_hdf5.so"
BALL = (kit_fmu("BouncingBall", "3"), "--stop", "3", "--step", "0.01")
FEEDTHROUGH = kit_fmu("Feedthrough", "3")
CHAIN = (*(f"m{i}={kit_fmu('ChainMass', '2')}" for i in range(4)),
         *(f"--connect={a}" for i in range(3) for a in (f"m{i}.x=m{i + 1}.x_left", f"m{i}.v=m{i + 1}.v_left",
                                                       f"m{i + 1}.F=m{i}.F_right")), "--set", "m0.x_left=0.1")


class Hdf5Test(CommandTest):
    """Files that the command wrote, and what is in them."""

    def file(self, name="result.h5", **options):
        file = h5py.File(self.path(name), "r", **options)
        self.addCleanup(file.close)
        return file

    def table(self, name="result.h5"):
        """The three lines that the documentation shows, and the time."""
        file = self.file(name)
        table = dict(zip(file["values"].attrs["names"], file["values"][:].T))
        return {"time": file["time"][:], **table}

    def assert_same(self, name, csv):
        """To the bit, as far as CSV has it: shortest digits that read back to the same number."""
        table, expected = self.table(name), self.result(csv)
        self.assertEqual(list(table), expected.header)
        for column in expected.header:
            wanted = numpy.array(expected[column])
            self.assertTrue(numpy.array_equal(table[column], wanted, equal_nan=True), column)


class Values(Hdf5Test):
    def test_the_values_of_csv(self):
        for name, arguments in (("ball", BALL), ("types", (FEEDTHROUGH, "--stop", "1")),
                                ("chain", (*CHAIN, "--stop", "10", "--step", "1e-3", *JACOBI))):
            with self.subTest(name=name):
                self.tutti("run", *arguments, "-o", f"{name}.csv", "--quiet")
                self.tutti("run", *arguments, "-o", f"{name}.h5", "--quiet")
                if name == "types":  # its texts are left out
                    table, expected = self.table("types.h5"), self.result("types.csv")
                    numbers = [name for name in expected.header if not name.startswith(("string", "binary"))]
                    self.assertEqual(list(table), numbers)
                    for column in numbers:
                        self.assertEqual(list(table[column]), expected[column])
                else:
                    self.assert_same(f"{name}.h5", f"{name}.csv")

    def test_attributes(self):
        self.tutti("run", *CHAIN, "--stop", "0.1", "--step", "0.01", "-o", "result.h5", "--quiet")
        file = self.file()
        values, when = file["values"], file["time"]
        self.assertEqual(list(values.attrs["names"][:3]), ["m0.x", "m0.v", "m0.F"])
        self.assertEqual(list(values.attrs["units"][:3]), ["m", "m/s", "N"])
        self.assertEqual(values.attrs["descriptions"][2], "force on the left neighbour")
        self.assertEqual(set(values.attrs["types"]), {"Float64"})
        self.assertEqual(set(values.attrs["variabilities"]), {"continuous"})
        self.assertEqual(when.attrs["unit"], "s")
        self.assertRegex(file.attrs["creator"], r"^Tutti \d")
        self.assertEqual((values.shape, values.dtype), ((11, 12), numpy.float64))
        self.assertEqual((when.shape, values.maxshape), ((11,), (None, 12)))
        self.assertEqual((values.compression, values.shuffle), ("gzip", True))

    @unittest.skipIf(SANITIZED, "rows that come slowly are stored in smaller pieces")
    def test_it_is_smaller_than_its_numbers(self):
        """What rests and what repeats takes next to no room; what is computed, less than its bytes."""
        self.tutti("run", kit_fmu("Stair", "3"), "--stop", "100", "--step", "0.001", "-o", "stair.h5", "--quiet")
        self.tutti("run", *CHAIN, "--stop", "30", "--step", "1e-3", "-o", "chain.h5", *JACOBI, "--quiet")
        for name, share in (("stair", 0.45), ("chain", 0.95)):
            file = self.file(f"{name}.h5")
            stored = sum(file[part].id.get_storage_size() for part in ("time", "values"))
            self.assertLess(stored, share * 8 * (file["values"].size + file["time"].size), name)

    def test_ranks(self):
        arguments = ("run", *CHAIN, "--stop", "2", "--step", "1e-3", *JACOBI, "--quiet")
        self.tutti(*arguments, "-o", "plain.csv")
        for fabric in ("--threads", "--processes"):
            with self.subTest(fabric=fabric):
                self.tutti(*arguments, fabric, "2", "-o", f"ranks{fabric}.h5")
                self.assert_same(f"ranks{fabric}.h5", "plain.csv")

    def test_nothing_recorded(self):
        self.tutti("run", *BALL, "--record", "none", "-o", "result.h5", "--quiet")
        self.assertFalse(os.path.exists(self.path("result.h5")))

    def test_a_text_is_left_out_with_a_word(self):
        outcome = self.tutti("run", FEEDTHROUGH, "--stop", "1", "-o", "result.h5")
        self.assertRegex(outcome.err, r"warning: .*texts?, which a \.h5 file cannot hold")


class Growing(Hdf5Test):
    """A file that is looked at while it grows. The run is stopped for the time of a look, or killed."""

    def start_slow(self, *more):
        """A run that never ends, at about a thousand rows a second."""
        return self.start("run", *CHAIN, "--stop", "1e6", "--step", "1e-3", "--realtime", "1", "-o", "result.h5", "--quiet",
                          *JACOBI, *more)

    def start_fast(self):
        return self.start("run", *CHAIN, "--stop", "1e6", "--step", "1e-3", "-o", "result.h5", "--quiet", *JACOBI)

    def rows(self):
        """How many rows a person sees who opens the file now; 0 while there is nothing to open."""
        try:
            with h5py.File(self.path("result.h5"), "r") as file:
                return min(len(file["time"]), len(file["values"]))
        except OSError:
            return 0

    def await_rows(self, process, count):
        self.assertTrue(wait_until(lambda: self.rows() >= count or process.poll() is not None))
        self.assertIsNone(process.poll())

    def end(self, process, how=signal.SIGKILL):
        process.send_signal(how)
        process.communicate()
        shutil.rmtree(self.tmpdir)  # of a run that was killed, temporary folders are left
        self.tmpdir.mkdir()

    def check(self, file):
        """Every row that is to be seen is right: the times, and values that are those of another run."""
        count, known = min(len(file["time"]), len(file["values"])), len(self.expected)
        for first, end in ((0, min(count, known)), (max(0, count - known), count)):
            times, values = file["time"][first:end], file["values"][first:end]
            self.assertTrue(numpy.array_equal(times, numpy.arange(first, end) * 1e-3))
            self.assertTrue(numpy.isfinite(values).all())
            if first == 0:
                self.assertTrue(numpy.array_equal(values, self.expected[:end]))
        return count

    def setUp(self):
        super().setUp()
        self.tutti("run", *CHAIN, "--stop", "10", "--step", "1e-3", "-o", "expected.h5", "--quiet", *JACOBI)
        self.expected = self.file("expected.h5")["values"][:]

    def test_a_look_at_a_run(self):
        """Plainly, and as a reader who stays and looks again."""
        process = self.start_slow()
        self.await_rows(process, 100)
        with h5py.File(self.path("result.h5"), "r") as file:
            self.assertGreaterEqual(self.check(file), 100)
        staying = self.file(swmr=True)
        before = self.check(staying)
        def has_more():
            for name in ("values", "time"):
                staying[name].id.refresh()
            return self.check(staying) >= before + 500
        self.assertTrue(wait_until(has_more))
        staying.close()
        self.end(process)
        self.assertGreater(self.check(self.file()), before)

    def test_looks_at_a_fast_run(self):
        """Whoever comes, at any moment, sees whole rows."""
        process = self.start_fast()
        self.await_rows(process, 1)
        seen = set()
        for swmr in (False, True) * 20:
            with h5py.File(self.path("result.h5"), "r", swmr=swmr) as file:
                seen.add(self.check(file))
        self.await_rows(process, max(seen) + 1)
        self.end(process)
        self.assertGreater(self.check(self.file()), min(seen))

    def test_a_run_that_is_interrupted(self):
        process = self.start_slow()
        self.await_rows(process, 1)
        process.send_signal(signal.SIGINT)
        outcome = self.finish(process)
        self.assertIn("interrupted", outcome.err)
        self.check(self.file())

    def test_an_fmu_that_hangs(self):
        """The rows before it are there to be seen, and stay if the run is killed."""
        units = (f"A={kit_fmu('Faulty', '2')}", f"B={kit_fmu('Faulty', '3')}")
        for fabric in ((), ("--threads", "2"), ("--processes", "2")):
            with self.subTest(fabric=fabric):
                process = self.start("run", *units, "--step", "0.01", "--stop", "1", "-o", "result.h5", "--quiet", *fabric,
                                     env={"KIT_FAULT": "hang DoStep 0.5 @B"})
                self.await_rows(process, 51)
                self.end(process)
                with h5py.File(self.path("result.h5"), "r") as file:
                    self.assertTrue(numpy.array_equal(file["time"][:], numpy.arange(51) * 0.01))
                    self.assertEqual(len(file["values"]), 51)

    def test_many_flushes_do_not_let_it_grow(self):
        """Every second the file gets what there is by then, and a block that is in it grows where it is."""
        process = self.start_slow("--output-step", "0.02")
        sizes = {}
        for rows in (25, 75, 125):
            self.await_rows(process, rows)
            sizes[rows] = os.path.getsize(self.path("result.h5"))
        self.end(process)
        self.assertEqual(len(set(sizes.values())), 1, sizes)


class Ends(Hdf5Test):
    def test_an_fmu_that_crashes(self):
        """Also the rows since the last flush are there."""
        for fabric in ((), ("--threads", "2"), ("--processes", "2")):
            with self.subTest(fabric=fabric):
                name = f"result{''.join(fabric)}.h5"  # HDF5 would remember one that is open
                outcome = self.tutti("run", f"A={kit_fmu('Faulty', '2')}", f"B={kit_fmu('Faulty', '3')}", "--step", "0.01",
                                     "--stop", "1", "-o", name, "--quiet", *fabric,
                                     env={"KIT_FAULT": "crash DoStep 0.5 @B"}, status=1)
                self.assertRegex(outcome.err, "crash|signal 11")
                self.assertEqual(self.file(name)["time"][-1], 0.5)
                self.assertEqual(len(self.file(name)["values"]), 51)

    def test_a_limit_on_files(self):
        process = self.start("run", *CHAIN, "--stop", "100", "--step", "1e-3", "-o", "result.h5", "--quiet", *JACOBI,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000000, 1000000)))
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 1)
        self.assertRegex(outcome.err, r"cannot write .*result\.h5: File too large; the rows before are kept; raise the limit")
        times = self.file()["time"][:]
        self.assertGreater(len(times), 1000)
        self.assertTrue(numpy.array_equal(times, numpy.arange(len(times)) * 1e-3))
        self.assertEqual(len(self.file()["values"]), len(times))

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path("folder.h5"))
        for path, says in (("missing/result.h5", "there is no folder .*missing; make it"), ("folder.h5", "it is a folder"),
                           ("/proc/result.h5", "name another file")):
            with self.subTest(path=path):
                self.refused("run", *BALL, "-o", path, "--quiet", status=1, says=["cannot write", says])

    def test_without_the_module(self):
        """The command says what is missing and where it comes from, and writes other formats."""
        alone = self.folder / "bin" / "tutti"
        alone.parent.mkdir()
        shutil.copy(TUTTI, alone)
        ended = subprocess.run([alone, "run", *BALL, "-o", "result.h5", "--quiet"], cwd=self.folder, env=self.environment(),
                               capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, rf"^tutti: error: cannot write \S*result\.h5: {MODULE} is neither beside this program nor "
                                       r"in lib/tutti: .*HDF5.*libhdf5-dev\)\n$")
        self.assertFalse(os.path.exists(self.path("result.h5")))
        subprocess.run([alone, "run", *BALL, "--quiet"], cwd=self.folder, env=self.environment(), check=True, timeout=PATIENCE)
        self.assertEqual(len(self.result().times) > 300, True)


class Strangers(Hdf5Test):
    """HDF5 files that are no results, or broken: the command says which and what is wrong."""

    def make(self, times=numpy.arange(5.0), values=numpy.ones((5, 2)), names=("a", "b"), **attributes):
        with h5py.File(self.path("result.h5"), "w") as file:
            file["time"], file["values"] = times, values
            for key, texts in {"names": names, **attributes}.items():
                if texts is not None:
                    file["values"].attrs[key] = numpy.array(texts, dtype=h5py.string_dtype())

    def assert_refused(self, says):
        self.refused("compare", "result.h5", "result.h5", status=1, says=[r"result\.h5: ", says])

    def test_results_of_other_programs(self):
        self.make()
        self.tutti("compare", "result.h5", "result.h5")
        self.make(times=numpy.arange(5), values=numpy.ones((5, 2), dtype=numpy.float32))
        self.tutti("compare", "result.h5", "result.h5")
        with h5py.File(self.path("bytes.h5"), "w") as file:
            file["time"], file["values"] = numpy.arange(5.0), numpy.ones((5, 2))
            file["values"].attrs["names"] = numpy.array([b"a", b"bcd"])
        self.assertIn("bcd", self.tutti("compare", "bytes.h5", "bytes.h5").out)

    def test_what_does_not_fit(self):
        for says, parts in (("no attribute 'names'.*a result in HDF5 has", {"names": None}),
                            ("the attribute 'names' has 1 texts, which should be 2", {"names": ["a"]}),
                            ("the attribute 'units' has 3 texts, which should be 2", {"units": ["m", "m", "m"]}),
                            ("have the same name 'a'", {"names": ["a", "a"]}),
                            ("variable 2 has no name", {"names": ["a", ""]}),
                            ("time runs backwards from 2 to 1 at row 4", {"times": [0.0, 1, 2, 1, 3]}),
                            ("the time of row 2 is not a finite number", {"times": [0.0, numpy.nan, 2, 3, 4]}),
                            ("'time' is something else", {"times": numpy.ones((5, 1))}),
                            ("'values' is something else", {"values": numpy.ones(5)})):
            with self.subTest(says=says):
                self.make(**parts)
                self.assert_refused(says)
        with h5py.File(self.path("result.h5"), "w") as file:
            file["other"] = 1
        self.assert_refused("another kind of HDF5 file; a result in HDF5 has a dataset 'time'")
        self.write("result.h5", "time,x\n0,1\n")
        self.assert_refused("HDF5 says 'file signature not found'")

    def test_more_than_there_is(self):
        """Few bytes that claim to be much, or to be elsewhere."""
        with h5py.File(self.path("result.h5"), "w") as file:
            file.create_dataset("time", shape=(2**40,), chunks=(1000,))
            file.create_dataset("values", shape=(2**40, 2), chunks=(1000, 2)).attrs["names"] = ["a", "b"]
        self.assert_refused("1099511627776 rows, but has no bytes for them")
        with h5py.File(self.path("result.h5"), "w") as file:
            file["time"] = numpy.arange(5.0)
            file.create_dataset("values", shape=(5, 2), maxshape=(None, 2), chunks=(2**25, 2)).attrs["names"] = ["a", "b"]
        self.assert_refused("a chunk of 536870912 bytes is larger than Tutti reads")
        with h5py.File(self.path("result.h5"), "w") as file:
            file["time"], file["values"] = numpy.arange(5.0), h5py.ExternalLink("/etc/passwd", "/x")
        self.assert_refused("another kind of HDF5 file")

    def test_a_folder_that_is_broken(self):
        """That is not another kind of file."""
        self.tutti("run", *BALL, "-o", "whole.h5", "--quiet")
        whole = pathlib.Path(self.path("whole.h5")).read_bytes()
        self.assertIn(b"values", whole)
        pathlib.Path(self.path("result.h5")).write_bytes(whole.replace(b"values", b"valuez", 1))
        self.assert_refused("HDF5 says '.*checksum")

    def test_a_heap_of_strings_that_is_broken(self):
        """HDF5 itself comes to grief there: it runs away, or does not come back."""
        self.tutti("run", *BALL, "-o", "whole.h5", "--quiet")
        whole = pathlib.Path(self.path("whole.h5")).read_bytes()
        heap = whole.find(b"GCOL")
        self.assertGreater(heap, 0)
        for size in (0, 999, 2**40, 2**64 - 16):  # of the first string
            broken = whole[:heap + 24] + size.to_bytes(8, "little") + whole[heap + 32:]
            pathlib.Path(self.path("result.h5")).write_bytes(broken)
            self.assert_refused("broken|HDF5 says|has no name")


if __name__ == "__main__":
    unittest.main()
