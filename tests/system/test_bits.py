#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs whose library is for 32 bits: they live in a process of 32 bits, and give what those for 64 bits give."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from command import ROOT, THREAD_SANITIZED, TUTTI, can_confine, kit_fmu
from systems import CoupledTest, connect

COMPILER = "i686-linux-gnu-gcc"
KEEPER = pathlib.Path(TUTTI).parent / "tutti_keeper32"
KIT = ROOT / "kit"
CORE = "can clocks core evaluate exchange guid integrate layout state values model".split()
FACES = {"1cs": ["fmi1"], "1me": ["fmi1"], "2": ["fmi2"], "3": ["fmi3", "fmi3_clocks", "fmi3_values"]}
OURS = {"1cs": "linux64", "1me": "linux64", "2": "linux64", "3": "x86_64-linux"}
THEIRS = {"1cs": "linux32", "1me": "linux32", "2": "linux32", "3": "x86-linux"}


def runs_32_bits():
    """Is there a keeper, and does this system run programs of 32 bits at all?"""
    if not (os.uname().machine == "x86_64" and KEEPER.exists() and shutil.which(COMPILER)):
        return False
    try:
        return subprocess.run([KEEPER], stdin=subprocess.DEVNULL, check=False, capture_output=True).returncode == 2  # "started by hand"
    except OSError:
        return False


@unittest.skipUnless(runs_32_bits(), "no keeper for 32 bits, no compiler, or no system for it")
class Narrow(CoupledTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="tutti_bits."))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)

    def compiled(self, folder, sources, *options):
        """Objects for 32 bits, made once; doubles are computed as for 64 bits."""
        folder = self.made / folder
        if not folder.exists():
            folder.mkdir()
            subprocess.run([COMPILER, "-c", "-fPIC", "-O1", "-w", "-msse2", "-mfpmath=sse", "-ffp-contract=off", "-fvisibility=hidden", *options, f"-I{KIT}",
                            f"-I{ROOT / 'src' / 'fmu'}", *(KIT / f"{name}.c" for name in sources)], cwd=folder, check=True)
        return list(folder.glob("*.o"))

    def library(self, model, version, defines=(), source=None, faults=False):
        """The kit's model as a library for 32 bits."""
        face = [f"-DKIT_MODEL_IDENTIFIER={model}", f"-DKIT_FMI1_{version[1:].upper()}"] if version[0] == "1" else []
        fault = ["-DKIT_FAULTS"] if faults else []
        out = self.made / f"{model}_{version}.so"
        objects = [*self.compiled(f"core{faults}", [*CORE, "fault"] if faults else CORE, *fault),
                   *self.compiled(f"face{version}{model if face else faults}", FACES[version], *face, *fault),
                   *self.compiled(model, [f"models/{source or model}"], *(f"-D{name}" for name in defines))]
        subprocess.run([COMPILER, "-shared", *objects, "-lm", "-o", out], check=True)
        return out.read_bytes()

    def narrow(self, model, version, **how):
        """The kit's FMU with that library in place of its own."""
        return self.altered(kit_fmu(model, version), name=f"{model}_{version}.fmu", drop=(f"binaries/{OURS[version]}/{model}.so",),
                            add={f"binaries/{THEIRS[version]}/{model}.so": self.library(model, version, **how)})

    def test_the_same_numbers(self):
        """Of every version and interface, with events, and by solvers of ours."""
        for version in FACES:
            for model in ("VanDerPol", "BouncingBall"):
                for more in ((), ("--interface", "me")) if version in "23" else ((),):
                    with self.subTest(model=model, version=version, more=more):
                        options = "--stop", "2", "--output-step", "0.125", *more
                        wide = self.run_(kit_fmu(model, version), *options)
                        self.assertEqual(self.run_(self.narrow(model, version), *options).rows, wide.rows)

    def test_all_types_of_values(self):
        for version in ("2", "3"):
            wide = self.run_(kit_fmu("Feedthrough", version), "--stop", "1")
            self.assertEqual(self.run_(self.narrow("Feedthrough", version), "--stop", "1").rows, wide.rows)

    def test_together_with_others(self):
        """One of two, taken back by forking, on every fabric of this machine."""
        for version in ("2", "3"):
            pair = kit_fmu("Saving", version), self.narrow("Saving", version, defines=["LACKING_SAVES"], source="Lacking")
            for way in (("--coupling", "relax"), ("--control", "richardson"), ("--coupling", "newton")):
                tables = [self.run_(f"a={pair[0]}", f"b={fmu}", *connect("a.x=b.u", "b.x=a.u"), "--set", "a.x=2", "--stop", "1", "--step", "0.125", *way,
                                    *fabric).rows
                          for fmu in pair for fabric in ((), ("--threads", "2"), *(() if THREAD_SANITIZED else (("--processes", "2"),)))]
                self.assertTrue(all(rows == tables[0] for rows in tables), (version, way))

    def test_what_is_said_of_it(self):
        narrow = self.narrow("VanDerPol", "2")
        _, _, units = self.with_stats(narrow, "--stop", "1")
        self.assertTrue(all(unit["forked"] for unit in units.values()))
        self.assertIn("linux32", self.tutti("info", narrow).out)
        self.tutti("check", narrow)
        self.tutti("check", "--run", narrow)

    def test_refusals(self):
        clocks = self.altered(kit_fmu("PI", "3"), name="pi.fmu", drop=("binaries/x86_64-linux/PI.so",), add={"binaries/x86-linux/PI.so": self.library("PI", "3")})
        self.refused("run", clocks, "--stop", "1", status=1, says=["clocks", "x86_64-linux"])
        broken = self.altered(kit_fmu("VanDerPol", "2"), name="broken.fmu", drop=("binaries/linux64/VanDerPol.so",), add={"binaries/linux32/VanDerPol.so": b"none"})
        self.refused("run", broken, status=1, says=["broken.fmu", "no shared library"])
        wide = self.altered(kit_fmu("VanDerPol", "2"), name="wide.fmu", rename=lambda entry: entry.replace("linux64", "linux32"))
        self.refused("run", wide, status=1, says=["wide.fmu", "another kind of machine"])

    def test_one_with_a_thread_of_its_own(self):
        """It does not come back by a fork, and runs as one that cannot go back."""
        pair = f"a={kit_fmu('Faulty', '2')}", f"b={self.narrow('Faulty', '2', faults=True)}", *connect("a.x=b.u", "b.x=a.u"), "--stop", "1", "--step", "0.25"
        env = {"KIT_FAULT": "thread Instantiate @b"}
        self.assertEqual(self.run_(*pair, "--coupling", "jacobi", env=env).rows, self.run_(*pair, "--coupling", "jacobi").rows)
        self.refused("run", *pair, "--coupling", "relax", status=1, says=["b", "back"], env=env)
        self.refused("run", *pair, "--coupling", "jacobi", "--rollback", "fork", status=1, says=["b", "it has 2 threads"], env=env)

    def test_without_a_keeper(self):
        """The command alone, without its modules."""
        shutil.copy(TUTTI, self.path("alone"))
        narrow = self.narrow("VanDerPol", "2")
        said = subprocess.run([self.path("alone"), "run", narrow], cwd=self.folder, check=False, capture_output=True, text=True)
        self.assertEqual(said.returncode, 1)
        self.assertRegex(said.stderr, "it has linux32. tutti_keeper32 would run that for x86-linux, .*gcc-i686-linux-gnu")

    @unittest.skipIf(can_confine(), "no confinement here")
    def test_it_is_not_confined(self):
        self.refused("run", f"a={self.narrow('VanDerPol', '2')}", f"b={kit_fmu('VanDerPol', '2')}", "--processes", "2", "--confine", "strict", "--stop", "1",
                     status=1, says=["32 bits", "--confine none"])

    def test_a_crash_is_told(self):
        narrow = self.narrow("Faulty", "2", faults=True)
        self.refused("run", narrow, "--stop", "1", "--step", "0.25", status=1, says=["signal 11", "t = 0.5"], env={"KIT_FAULT": "crash DoStep 0.5"})


if __name__ == "__main__":
    unittest.main()
