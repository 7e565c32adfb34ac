#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tutti compile` and `tutti run --compile`: FMUs of sources, for FMI 2.0 and 3.0, with the system's compiler. The models are written here:
x' = -k x by explicit Euler steps, so that the value after n steps is known to the bit."""
import ctypes
import json
import os
import shutil
import subprocess
import unittest
import zipfile

from command import SANITIZED, CommandTest, kit_fmu
from nodes import NodesTest

TOKEN = "{decay}"
FMI2 = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Decay" guid="{TOKEN}" numberOfEventIndicators="0">
  <CoSimulation modelIdentifier="Decay" canHandleVariableCommunicationStepSize="true">@FILES@</CoSimulation>
  <ModelVariables><ScalarVariable name="x" valueReference="1" causality="output" variability="continuous"><Real/></ScalarVariable></ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs><InitialUnknowns><Unknown index="1"/></InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""
FMI3 = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Decay" instantiationToken="{TOKEN}">
  <CoSimulation modelIdentifier="Decay" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Float64 name="x" valueReference="1" causality="output" variability="continuous"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1"/><InitialUnknown valueReference="1"/></ModelStructure>
</fmiModelDescription>
"""
FILES = '<SourceFiles><File name="decay.c"/><File name="rate/rate.c"/></SourceFiles>'
BUILD = """<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="Decay" platform="x86_64-windows"><SourceFileSet><SourceFile name="none.c"/></SourceFileSet></BuildConfiguration>
  <BuildConfiguration modelIdentifier="Decay">
    <SourceFileSet language="C99" @SET@>
      <SourceFile name="decay.c"/>
      <PreprocessorDefinition name="K" value="2"/>
      <PreprocessorDefinition name="WRONG" optional="true"/>
      <IncludeDirectory name="include"/>
    </SourceFileSet>
    <SourceFileSet language="C++11"><SourceFile name="rate/rate.c"/><PreprocessorDefinition name="K" value="2"/></SourceFileSet>
    <Library name="m" external="true"/>
    @MORE@
  </BuildConfiguration>
</fmiBuildDescription>
"""
RATE = """#ifdef __cplusplus
extern "C"
#endif
double rate(void);
"""
RATE_C = """#ifdef __cplusplus
#include <vector>
extern "C" double rate(void);
double rate(void) { return std::vector<double>(3, K)[1]; }
#else
double rate(void) { return 2; }
#endif
"""
DECAY2 = """#define FMI2_FUNCTION_PREFIX Decay_
#include "fmi2Functions.h"
#include <stdlib.h>
double rate(void);
struct decay { double x; };
const char *fmi2GetVersion(void) { return fmi2Version; }
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String where, const fmi2CallbackFunctions *f, fmi2Boolean v, fmi2Boolean l)
{ struct decay *d = calloc(1, sizeof *d); d->x = 1; return d; }
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String l[]) { return fmi2OK; }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean td, fmi2Real t, fmi2Real a, fmi2Boolean sd, fmi2Real s) { return fmi2OK; }
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { ((struct decay *)c)->x = 1; return fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real v[])
{ for (size_t i = 0; i < n; i++) v[i] = ((struct decay *)c)->x; return fmi2OK; }
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real v[]) { return fmi2OK; }
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean n)
{ struct decay *d = c; d->x += h * -rate() * d->x; return fmi2OK; }
"""
DECAY3 = """#include "fmi3Functions.h"
#include <stdlib.h>
#include "rate.h"
#ifdef WRONG
#error optional definitions are for those who want them
#endif
struct decay { double x; };
const char *fmi3GetVersion(void) { return fmi3Version; }
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean v, fmi3Boolean l, fmi3Boolean e, fmi3Boolean r,
 const fmi3ValueReference q[], size_t nq, fmi3InstanceEnvironment env, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback u)
{ struct decay *d = calloc(1, sizeof *d); d->x = K / 2; return d; }
void fmi3FreeInstance(fmi3Instance c) { free(c); }
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String l[]) { return fmi3OK; }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean td, fmi3Float64 t, fmi3Float64 a, fmi3Boolean sd, fmi3Float64 s) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance c) { ((struct decay *)c)->x = 1; return fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 v[], size_t nv)
{ for (size_t i = 0; i < n; i++) v[i] = ((struct decay *)c)->x; return fmi3OK; }
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 v[], size_t nv) { return fmi3OK; }
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean n, fmi3Boolean *ev, fmi3Boolean *term, fmi3Boolean *early, fmi3Float64 *last)
{ struct decay *d = c; d->x += h * -rate() * d->x; *ev = *term = *early = 0; *last = t + h; return fmi3OK; }
"""
SOURCES = {"2": {"decay.c": DECAY2, "rate/rate.c": RATE_C}, "3": {"decay.c": DECAY3, "rate/rate.c": RATE_C, "include/rate.h": RATE}}
PLATFORMS = {"x86_64": {"2": "linux64", "3": "x86_64-linux"}, "aarch64": {"2": "linux64-arm", "3": "aarch64-linux"}}.get(os.uname().machine)
# What the same steps give in Python: x after each of ten.
EXPECTED = [1.0]
for _ in range(10):
    EXPECTED.append(EXPECTED[-1] + 0.125 * -2.0 * EXPECTED[-1])


class Sources(CommandTest):
    def source_fmu(self, version, name="decay.fmu", files=FILES, sources=None, build_set="", more="", **other):
        """An FMU without a binary. `sources` are changed or added; None takes one away."""
        with zipfile.ZipFile(self.path(name), "w") as archive:
            archive.writestr("modelDescription.xml", FMI2.replace("@FILES@", files) if version == "2" else FMI3)
            if version == "3":
                archive.writestr("sources/buildDescription.xml", other.get("build", BUILD).replace("@SET@", build_set).replace("@MORE@", more))
            for entry, text in {**SOURCES[version], **(sources or {})}.items():
                if text is not None:
                    archive.writestr(f"sources/{entry}", text)
        return self.path(name)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Compile(Sources):
    def assert_runs(self, fmu, *options, **more):
        self.assertEqual(self.simulate(fmu, "--step", "0.125", "--stop", "1.25", *options, **more)["x"], EXPECTED)

    def entries(self, name):
        with zipfile.ZipFile(self.path(name)) as archive:
            return archive.namelist()

    def test_a_binary_is_made(self):
        for version in SOURCES:
            with self.subTest(fmi=version):
                fmu = self.source_fmu(version)
                before = self.entries("decay.fmu")
                self.refused("run", fmu, status=1, says=["no binary", "tutti compile"])
                outcome = self.tutti("compile", fmu, "-o", "out.fmu")
                self.assertEqual((outcome.out, outcome.err), ("", ""))
                self.assertEqual(self.entries("decay.fmu"), before)
                if PLATFORMS:
                    self.assertEqual(self.entries("out.fmu"), [*before, f"binaries/{PLATFORMS[version]}/Decay.so"])
                self.assert_runs("out.fmu")
                self.tutti("check", "--run", "out.fmu")
                self.tutti("compile", fmu)  # in place, and once more over the binary that is there then
                self.tutti("compile", fmu)
                self.assertEqual(self.entries("decay.fmu"), self.entries("out.fmu"))
                self.assert_runs(fmu)

    def test_a_binary_that_is_there_is_replaced(self):
        fmu = self.source_fmu("2")
        with zipfile.ZipFile(fmu, "a") as archive:
            for platform in ("x86_64-linux", "aarch64-linux", "win64"):
                archive.writestr(f"binaries/{platform}/Decay.so", b"stale")
        self.tutti("compile", fmu)
        self.assertIn("binaries/win64/Decay.so", self.entries("decay.fmu"))
        self.assert_runs(fmu)

    def test_folders_and_files_that_are_not_listed(self):
        """A folder is read and left as it is; FMI 2.0 without a list: all that is right in sources/."""
        fmu = self.source_fmu("2", files="", sources={"rate/rate.c": None, "rate.c": RATE_C})
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(self.path("folder"))
        self.refused("compile", "folder", status=2, says="-o OUT.fmu")
        self.tutti("compile", "folder", "-o", "out.fmu")
        self.assertFalse(os.path.exists(self.path("folder/binaries")))
        self.assert_runs("out.fmu")
        self.source_fmu("2", files="", sources={"all.c": '#include "decay.c"\n#include "rate/rate.c"\n', "broken.c": "this is not listed"})
        self.tutti("compile", "decay.fmu")
        self.assert_runs("decay.fmu")

    def test_headers_of_the_fmu_come_first(self):
        fmu = self.source_fmu("2", sources={"fmi2Functions.h": '#include "types.h"\n', "types.h": "#error the header of the FMU is used\n"})
        self.refused_with_words(fmu, r"types.h:1:2: error: #error the header of the FMU is used")

    def refused_with_words(self, fmu, *patterns, compiler="cc"):
        outcome = self.tutti("compile", fmu, "-o", "out.fmu", "--compiler", compiler, status=1)
        lines = outcome.err.splitlines()
        for pattern in patterns:
            self.assertRegex(lines[0], pattern)
        self.assertFalse(os.path.exists(self.path("out.fmu")))
        return lines

    def test_sources_that_do_not_compile(self):
        lines = self.refused_with_words(self.source_fmu("2", sources={"rate/rate.c": "#warning soon\nint a = first;\nint b = second;\n"}),
                                        r"^tutti: error: .*decay.fmu: sources/rate/rate.c does not compile: .*rate.c:2:\d+: error: .*first")
        self.assertTrue(any("second" in line for line in lines[1:]))
        self.refused_with_words(self.source_fmu("2", sources={"rate/rate.c": "int other;\n"}),
                                r"Decay.so cannot be linked: .*undefined reference.*rate")
        self.refused_with_words(self.source_fmu("3", more='<Library name="tutti_has_no_such" external="true"/>'), "cannot find -ltutti_has_no_such")

    def test_descriptions_that_do_not_fit(self):
        for name, says in (("../x.c", "not within the sources"), ("/etc/x.c", "not within"), ("a/../../x.c", "not within"), ("..\\x.c", "not within"),
                           ("none.c", "is not in the FMU")):
            with self.subTest(name=name):
                for version, fmu in (("2", {"files": f'<SourceFiles><File name="{name}"/></SourceFiles>'}), ("3", {"build": BUILD.replace("decay.c", name)})):
                    self.refused("compile", self.source_fmu(version, **fmu), status=1, says=[r"\.xml:\d+: ", says])
        for change, says in ((('name="include"', 'name="../include"'), "include folder.*not within"), (("C99", "Fortran"), "language 'Fortran'"),
                             (('name="m"', 'name="-Wl,x"'), "name of a library"), (('name="K"', 'name="K L"'), "name of a preprocessor"),
                             (('modelIdentifier="Decay">', 'modelIdentifier="../Decay">'), "modelIdentifier"),
                             (('Decay">', 'Decay" platform="riscv-linux">'), "no BuildConfiguration for the platform")):
            with self.subTest(change=change):
                self.refused("compile", self.source_fmu("3", build=BUILD.replace(*change)), status=1, says=says)
        for options in ("-fplugin=/tmp/x.so", "-o /tmp/x", "@/etc/passwd", "-Wl,-rpath,/tmp", "-B/tmp", "-specs=x", "-wrapper x"):
            with self.subTest(options=options):
                self.refused("compile", self.source_fmu("3", build_set=f'compilerOptions="{options}"'), status=1, says="compilerOptions has")
        self.tutti("compile", self.source_fmu("3", build_set='compiler="gcc" compilerOptions="-O3 -fno-math-errno"'))
        self.tutti("compile", self.source_fmu("3", build_set='compiler="MSVC" compilerOptions="/O2 /GL"'))

    def test_nothing_to_compile(self):
        self.refused("compile", kit_fmu("Dahlquist", "2"), status=1, says="has no sources")
        self.refused("compile", kit_fmu("Dahlquist", "1cs"), status=1, says="FMI 1.0")
        fmu = self.source_fmu("3")
        self.altered(fmu, name="bare.fmu", drop=["sources/buildDescription.xml"])
        self.refused("compile", "bare.fmu", status=1, says="not sources/buildDescription.xml")
        self.refused("compile", "none.fmu", status=1, says="none.fmu")
        self.refused("compile", fmu, "--compiler", "no-such-compiler", status=1, says=["'no-such-compiler' cannot be started", "--compiler"])
        self.refused("compile", fmu, "--timeout", "0", status=2, says="--timeout takes")

    @unittest.skipUnless(ctypes.CDLL(None).syscall(444, None, 0, 1) > 0, "the kernel has no Landlock")
    def test_sources_reach_nothing_outside(self):
        """The compiler reads no files of the user, and writes none outside of its folder: here one that tries."""
        secret = self.write("secret.h", "int known = 1;\n")
        lines = self.refused_with_words(self.source_fmu("2", sources={"rate/rate.c": f'#include "{secret}"\n{RATE_C}'}), r"secret\.h|does not compile")
        self.assertRegex(lines[0], "Permission denied")
        os.mkdir(self.path("tools"))
        program = self.write("tools/writer", f"#!/bin/sh\necho > {self.path('escaped')} || exit 1\nexec cc \"$@\"\n")
        os.chmod(program, 0o755)
        self.refused_with_words(self.source_fmu("2"), "Permission denied", compiler=program)
        self.assertFalse(os.path.exists(self.path("escaped")))
        self.write("tools/writer", "#!/bin/sh\nexec cc \"$@\"\n")
        self.tutti("compile", self.source_fmu("2"), "--compiler", program)

    def test_a_compiler_without_end(self):
        """A time limit; the compiler is one that never ends. Nothing of it is left."""
        slow = self.write("slow", "#!/bin/sh\nsleep 1000\n")
        os.chmod(slow, 0o755)
        self.refused("compile", self.source_fmu("2"), "--compiler", slow, "--timeout", "0.3", status=1, says="took longer than it may")

    def test_run_compiles_once(self):
        for version in SOURCES:
            with self.subTest(fmi=version):
                fmu = self.source_fmu(version)
                cache = self.home / "tutti" / "compiled"
                shutil.rmtree(cache, ignore_errors=True)
                self.assert_runs(fmu, "--compile")
                made = list(cache.iterdir())
                self.assertEqual(len(made), 1)
                self.assertRegex(made[0].name, r"^[0-9a-f]{64}-[0-9a-f]{16}\.fmu$")
                stamp = made[0].stat().st_mtime_ns
                self.assert_runs(shutil.copy(fmu, self.path("same.fmu")), "--compile", env={"PATH": "/nonexistent"})  # needs no compiler
                self.assertEqual([path.stat().st_mtime_ns for path in cache.iterdir()], [stamp])
                self.source_fmu(version, sources={"rate/rate.c": RATE_C.replace("2", "4").replace("[1]", "[1] + 2")})
                other = self.simulate(fmu, "--compile", "--step", "0.125", "--stop", "0.125")["x"]
                self.assertEqual(other, [1.0, 0.5])
                self.assertEqual(len(list(cache.iterdir())), 2)

    def test_another_compiler_compiles_anew(self):
        fmu = self.source_fmu("2")
        self.assert_runs(fmu, "--compile")
        cache = self.home / "tutti" / "compiled"
        (made,) = cache.iterdir()
        made.rename(made.with_name(made.name[:65] + 16 * "0" + ".fmu"))
        self.assert_runs(fmu, "--compile")
        self.assertIn(made, list(cache.iterdir()))
        self.assertEqual(len(list(cache.iterdir())), 2)

    def test_run_compiles_only_what_is_missing(self):
        """Other FMUs are as they were; a system on several processes gets the binary everywhere."""
        self.tutti("run", kit_fmu("Dahlquist", "2"), "--compile", "--quiet", "-o", "-")
        self.assertFalse((self.home / "tutti" / "compiled").exists())
        system = ("a=decay.fmu", f"b={kit_fmu('Dahlquist', '2')}", "--compile", "--step", "0.125", "--stop", "1.25", "--quiet", "-o", "-")
        self.source_fmu("3")
        alone = self.tutti("run", *system).out
        self.assertEqual(alone, self.tutti("run", *system, "--processes", "2").out)
        self.assertIn("a.x", alone.splitlines()[0])
        self.refused("run", self.source_fmu("2", sources={"rate/rate.c": "int a = first;\n"}), "--compile", status=1, says="rate.c:1:9: error")

    @unittest.skipIf(SANITIZED, "two sanitizers do not fit into one process")
    def test_sanitize(self):
        """A fault that goes unseen otherwise is told, with its line."""
        library = subprocess.run(["cc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        if not os.path.isabs(library):
            self.skipTest("no AddressSanitizer")
        faulty = "#include <stdlib.h>\ndouble rate(void) { double *p = malloc(8 * (size_t)2); volatile int i = 2;\nreturn p[i] * 0 + 2; }\n"
        fmu = self.source_fmu("2", sources={"rate/rate.c": faulty})
        said = self.tutti("compile", fmu, "-o", "out.fmu", "--sanitize").err
        self.assertIn("LD_PRELOAD=$(cc -print-file-name=libasan.so) tutti run out.fmu", said)
        process = self.start("run", "out.fmu", "--quiet", "-o", "-", env={"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"})
        err = process.communicate()[1].decode()
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(err, r"AddressSanitizer: heap-buffer-overflow")
        self.assertRegex(err, r"in rate .*rate\.c:3")


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class OnNodes(Sources, NodesTest):
    def test_nodes_get_the_binary(self):
        """Nodes need neither sources nor a compiler."""
        fmu = self.source_fmu("3")
        one, two = (self.node(name, env={"PATH": "/nonexistent"}) for name in ("one", "two"))
        outcome = self.simulate(f"a={fmu}", f"b={fmu}", "--compile", *self.on(one, two), "--step", "0.125", "--stop", "1.25")
        self.assertEqual((outcome["a.x"], outcome["b.x"]), (EXPECTED, EXPECTED))


# Scheduled Execution: the partition of a clock of 1/10 s does not return at t = 0.3.
ENDLESS = FMI3.replace("<CoSimulation modelIdentifier", "<ScheduledExecution modelIdentifier").replace(' canHandleVariableCommunicationStepSize="true"', "").replace(
    "  </ModelVariables>", """    <Clock name="tick" valueReference="2" causality="input" intervalVariability="constant" intervalDecimal="0.1"/>
  </ModelVariables>""")
ENDLESS_C = """#include "fmi3Functions.h"
static int any;
const char *fmi3GetVersion(void) { return fmi3Version; }
fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean v, fmi3Boolean l, fmi3InstanceEnvironment env,
 fmi3LogMessageCallback log, fmi3ClockUpdateCallback u, fmi3LockPreemptionCallback a, fmi3UnlockPreemptionCallback b) { return &any; }
void fmi3FreeInstance(fmi3Instance c) { }
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String l[]) { return fmi3OK; }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean td, fmi3Float64 t, fmi3Float64 a, fmi3Boolean sd, fmi3Float64 s) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 v[], size_t nv) { for (size_t i = 0; i < n; i++) v[i] = 1; return fmi3OK; }
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 v[], size_t nv) { return fmi3OK; }
fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference vr, fmi3Float64 t) { for (volatile int n = 0; t > 0.25;) n = !n; return fmi3OK; }
"""


# Runs ten steps of an FMI 2.0 library, and prints x after each: a program of the other machine.
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
struct callbacks { void (*log)(void); void *(*allocate)(size_t, size_t); void (*release)(void *); void (*finished)(void); void *environment; };
int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    void *(*instantiate)(const char *, int, const char *, const char *, const struct callbacks *, int, int) = dlsym(library, "fmi2Instantiate");
    int (*enter)(void *) = dlsym(library, "fmi2EnterInitializationMode"), (*leave)(void *) = dlsym(library, "fmi2ExitInitializationMode");
    int (*step)(void *, double, double, int) = dlsym(library, "fmi2DoStep");
    int (*get)(void *, const unsigned *, size_t, double *) = dlsym(library, "fmi2GetReal");
    struct callbacks callbacks = {0};
    unsigned reference = 1;
    double x;
    void *c = instantiate("a", 1, "token", "", &callbacks, 0, 0);
    if (!c || enter(c) || leave(c) || get(c, &reference, 1, &x))
        return 2;
    printf("%a\n", x);
    for (int n = 0; n < 10; n++) {
        if (step(c, 0.125 * n, 0.125, 1) || get(c, &reference, 1, &x))
            return 3;
        printf("%a\n", x);
    }
    return 0;
}
"""
CROSS = "aarch64-linux-gnu-gcc"


@unittest.skipUnless(shutil.which(CROSS) and shutil.which("qemu-aarch64"), "no compiler and no emulator for aarch64")
class OtherMachine(Sources):
    def test_a_library_for_aarch64_runs_there(self):
        """The numbers of this machine, to the bit; its own library stays."""
        self.source_fmu("2")
        self.tutti("compile", "decay.fmu")
        self.tutti("compile", "decay.fmu", "-o", "both.fmu", "--compiler", CROSS, "--platform", "aarch64-linux")
        with zipfile.ZipFile(self.path("both.fmu")) as archive:
            libraries = {name for name in archive.namelist() if name.endswith(".so")}
            archive.extract("binaries/aarch64-linux/Decay.so", self.path("."))
        self.assertEqual(libraries, {f"binaries/{PLATFORMS['2']}/Decay.so", "binaries/aarch64-linux/Decay.so"})
        self.tutti("run", "both.fmu", "--step", "0.125", "--stop", "1.25")
        self.write("loader.c", LOADER)
        subprocess.run([CROSS, "-o", self.path("loader"), self.path("loader.c"), "-ldl"], check=True)
        ran = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", self.path("loader"),
                              self.path("binaries/aarch64-linux/Decay.so")], check=True, capture_output=True, text=True)
        self.assertEqual([float.fromhex(word) for word in ran.stdout.split()], EXPECTED)
        self.assertEqual(self.result()["x"], EXPECTED)

    def test_a_library_for_another_machine_is_not_taken_for_one_of_this(self):
        self.source_fmu("2")
        self.refused("compile", "decay.fmu", "--compiler", CROSS, status=1, says=["another machine", "--platform"])
        self.refused("compile", "decay.fmu", "--platform", "aarch64-linux", status=1, says=["another machine", "cc"])
        self.refused("compile", "decay.fmu", "--platform", "x86_64-windows", status=2, says=["x86_64-windows", "aarch64-linux"])
        self.tutti("compile", "decay.fmu", "-o", "other.fmu", "--compiler", CROSS, "--platform", "aarch64-linux")
        self.refused("run", "other.fmu", status=1, says=["aarch64-linux"])


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Endless(CommandTest):
    def test_a_partition_that_never_returns(self):
        """With --timeout its process is given up, or, where there is none, the run ends; who it was is told, and rows are kept."""
        with zipfile.ZipFile(self.path("endless.fmu"), "w") as archive:
            archive.writestr("modelDescription.xml", ENDLESS)
            archive.writestr("sources/buildDescription.xml", BUILD.replace("@SET@", "").replace("@MORE@", ""))
            for entry, text in {**SOURCES["3"], "decay.c": ENDLESS_C}.items():
                archive.writestr(f"sources/{entry}", text)
        self.tutti("compile", "endless.fmu")
        run = ("run", "a=endless.fmu", f"b={kit_fmu('Dahlquist', '3')}", "--step", "0.1", "--stop", "1", "--timeout", "1", "--quiet")
        where = "instance a .*fmi3ActivateModelPartition for the clock 'tick' at t = 0\\.3; everything recorded so far is kept"
        for fabric in ((), ("--threads", "2")):
            with self.subTest(fabric=fabric):
                self.refused(*run, *fabric, "-o", "kept.csv", "--stats", "stats.json", status=1, says=["not come back for 1 s", where])
                self.assertEqual(self.result("kept.csv").times[-1], 0.3)
                with open(self.path("stats.json"), encoding="utf-8") as file:
                    self.assertRegex(json.load(file)["error"], where)
        self.refused(*run, "--processes", "2", status=1, says=["a.*0\\.3", "--timeout"])
        where = where.split(" at t")[0]  # on a clock, and on threads of its own where the system permits
        for pace in ("1", "100"):
            outcome = self.tutti(*run, "--realtime", pace, "-o", "kept.csv", status=1)
            self.assertRegex(outcome.err, "not come back for 1 s")
            self.assertRegex(outcome.err, where)

    def test_a_slow_run_is_no_hang(self):
        """Many calls that take less each; a wait for the clock."""
        for options in (("--solver", "euler", "--solver-step", "1e-7", "--step", "0.002", "--stop", "0.2"), ("--realtime", "0.1", "--step", "0.2")):
            self.tutti("run", kit_fmu("VanDerPol", "2"), "--interface", "me", "--stop", "0.2", *options, "--timeout", "1", "--record", "none", "--quiet")


if __name__ == "__main__":
    unittest.main()
