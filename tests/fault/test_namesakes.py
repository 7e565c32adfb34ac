#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that bring functions with the names of libraries that the command has loaded, too (tests/unit/kit/Namesake.c): everybody
calls his own."""
import math
import pathlib
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import ME_VERSIONS, SANITIZED, TUTTI, VERSIONS, CommandTest, kit_fmu, test_fmu  # noqa: E402

# Stands before the C library's, as allocators do that people preload.
ALLOCATOR = """
#define _GNU_SOURCE
#include <stddef.h>
extern void *__libc_malloc(size_t size);
void *malloc(size_t size) { return __libc_malloc(size); }
"""


@unittest.skipIf(SANITIZED, "names cannot be kept apart under sanitizers")
class Namesakes(CommandTest):
    def test_each_calls_its_own(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                table = self.simulate(test_fmu("Namesake1", version))
                self.assertEqual(set(table["own"]), {8})

    def test_solvers_call_ours(self):
        """Tutti's solvers work on such an FMU: theirs would end the process."""
        for version in ME_VERSIONS:
            for solver in ("cvode", "bdf", "radau5", "dirk"):
                with self.subTest(version=version, solver=solver):
                    table = self.simulate(test_fmu("Namesake2", version), "--interface", "me", "--solver", solver,
                                          "--rtol", "1e-6")
                    self.assertEqual(set(table["own"]), {16})
                    self.assert_near(table["x"][-1:], [math.exp(-1)], 1e-4)

    def test_two_of_them(self):
        """In a loop, which takes Newton's method; with another FMU, and on every fabric."""
        files = [f"a={test_fmu('Namesake1', '2')}", f"b={test_fmu('Namesake2', '3')}", f"c={kit_fmu('Dahlquist', '3')}",
                 "--connect", "a.x=b.u", "--connect", "b.x=a.u"]
        for ranks in ((), ("--threads", "2"), ("--processes", "2")):
            with self.subTest(ranks=ranks):
                outcome = self.tutti("run", *files, "-o", "-", "--quiet", *ranks)
                last = dict(zip(outcome.out.splitlines()[0].split(","), outcome.out.splitlines()[-1].split(",")))
                self.assertEqual((last["a.own"], last["b.own"]), ("8", "16"))

    def test_where_they_cannot_be_kept_apart(self):
        """With another allocator for all, its names must reach that one; then a warning says what may come, and a crash is not
        called the FMU's fault."""
        library = self.path("allocator.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, self.write("allocator.c", ALLOCATOR)], check=True)
        preload = {"LD_PRELOAD": library}
        outcome = self.tutti("run", test_fmu("Namesake1", "2"), status=None, env=preload)
        self.assertRegex(outcome.lines("warning")[0], r"\((\w+, ){2}\w+ and 5 more\).*'malloc'")
        self.assertNotIn("Ask the FMU's author", outcome.err)
        outcome = self.tutti("run", kit_fmu("Dahlquist", "2"), env=preload)
        self.assertEqual(outcome.lines("warning"), [])

    def test_the_command_has_no_copies_of_variables(self):
        """Else an FMU that uses environ, say, could not be kept apart."""
        out = subprocess.run(["readelf", "-rW", TUTTI], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("_COPY ", out)


class Streams(CommandTest):
    def test_cplusplus_inside(self):
        """Exceptions, streams and the C++ library's own variables work in an FMU as in a program."""
        for version in ("2", "3"):
            with self.subTest(version=version):
                self.tutti("run", test_fmu("Streams", version), "--quiet", "-o", "result.csv")
                self.assert_near(self.result()["y"][-1:], [math.exp(-1)], 1e-3)


if __name__ == "__main__":
    unittest.main()
