#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Open files: the command started without standard input, output or error, whose numbers files must not get, or messages and
what FMUs print would be written into them; and programs that FMUs start, which get none of ours."""
import itertools
import pathlib
import re
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import CommandTest, kit_fmu  # noqa: E402
from fabrics import has_mpi  # noqa: E402
from nodes import NodesTest  # noqa: E402

FAULTS = "warning DoStep; print DoStep"


class Closed(CommandTest):
    def without(self, descriptors, *arguments, **options):
        """Runs the command without these."""
        closed = " ".join(f"{number}>&-" for number in descriptors)
        return self.tutti(*arguments, launcher=("sh", "-c", f'exec "$@" {closed}', "sh"), **options)

    def text(self, name):
        return pathlib.Path(self.path(name)).read_text(encoding="utf-8")

    def test_results_are_whole(self):
        fmu = kit_fmu("Faulty", "2")
        self.tutti("run", fmu, "-o", "whole.csv")
        for count in (1, 2, 3):
            for descriptors in itertools.combinations((0, 1, 2), count):
                for fabric in ((), ("--threads", "1"), ("--processes", "1")):
                    with self.subTest(descriptors=descriptors, fabric=fabric):
                        self.without(descriptors, "run", fmu, "-o", "result.csv", "--stats", "stats.json", *fabric,
                                     env={"KIT_FAULT": FAULTS})
                        self.assertEqual(self.text("result.csv"), self.text("whole.csv"))
                        self.assertEqual(self.text("stats.json")[0], "{")

    def test_a_result_on_closed_output_is_a_failure(self):
        fmu = kit_fmu("Faulty", "2")
        self.assertIn("cannot write to standard output", self.without((1,), "run", fmu, "-o", "-", status=1).err)
        self.assertIn("standard output cannot be written", self.without((1,), "info", fmu, status=1).err)
        self.without((1, 2), "run", fmu, "-o", "-", status=1)

    def test_input_that_is_closed_is_not_read(self):
        self.assertIn("error", self.without((0,), "run", kit_fmu("Faulty", "2"), "--input", "-", status=1).err)


class Inherited(NodesTest):
    """What a program gets that an FMU starts in a step: all files of the run are open, and none of them is its business."""

    def got(self, folder):
        """Number and target of each that is not standard input, output or error, nor the program's own."""
        path = folder / "descriptors.txt"
        found = re.findall(r" (\d+) -> (.*)", path.read_text(encoding="utf-8"))
        path.unlink()
        self.assertGreaterEqual(len(found), 3)
        return [(number, target) for number, target in found
                if int(number) > 2 and not re.fullmatch(r"/proc/\d+/fd", target)]

    def run_and_look(self, *options, folder=None, **more):
        fmu = kit_fmu("Faulty", "2")
        self.tutti("run", f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--stop", "1", "--step", "0.125", "--quiet",
                   "--step-log", "steps.csv", *options, env={"KIT_FAULT": "descriptors DoStep 0.5 @b"}, **more)
        return self.got(folder or self.folder)

    def test_formats(self):
        for extension in ("csv", "mat", "jsonl", "h5"):
            with self.subTest(extension):
                self.assertEqual(self.run_and_look("-o", f"result.{extension}"), [])

    def test_fabrics(self):
        for fabric in ("--threads", "--processes"):
            for extension in ("csv", "h5"):
                with self.subTest(fabric, extension=extension):
                    self.assertEqual(self.run_and_look("-o", f"result.{extension}", fabric, "2"), [])

    def test_nodes(self):
        node = self.node("node", "--confine", "none", env={"KIT_FAULT": "descriptors DoStep 0.5 @b"})
        self.assertEqual(self.run_and_look("-o", "result.csv", *self.on(node, node), folder=node.folder), [])

    def test_mpi(self):
        """MPI and its launcher have their own, which stay open: sockets and pipes, no files."""
        if not has_mpi():
            self.skipTest("no MPI, or one that the thread sanitizer does not know")
        for extension in ("csv", "h5"):
            with self.subTest(extension):
                got = self.run_and_look("-o", f"result.{extension}", launcher=("mpiexec.mpich", "-n", "2"))
                self.assertEqual([target for _, target in got if not re.match(r"(socket|pipe|anon_inode):", target)], [])

    def test_other_commands(self):
        fmu = kit_fmu("Faulty", "2")
        pair = (f"a={fmu}", f"b={fmu}", "--connect", "a.y=b.u", "--connect", "b.y=a.u")
        for command in (("check", "--run", fmu), ("analyze", *pair), ("linearize", "-o", "linear.json", fmu)):
            with self.subTest(command[0]):
                self.tutti(*command, env={"KIT_FAULT": "descriptors EnterInitializationMode"})
                self.assertEqual(self.got(self.folder), [])


if __name__ == "__main__":
    unittest.main()
