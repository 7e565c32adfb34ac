#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMI 3.0 FMUs that are legal but odd, or nearly legal: they tell impossible times, log strangely, lack what hardly
anybody calls.

Each is written here, of one frame with a few lines that are its own, and tells on standard error what is called."""
import pathlib
import re
import subprocess
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import DESCRIPTION, ROOT, CommandTest, kit_fmu  # noqa: E402

FRAME = """
#include "fmu/api3.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define TELL(...) fprintf(stderr, "[" __VA_ARGS__)
static fmi3LogMessageCallback say;
static fmi3InstanceEnvironment whom;
static fmi3IntermediateUpdateCallback update;
static int steps;
static double next_event = INFINITY;
typedef const fmi3ValueReference references[];

const char *fmi3GetVersion(void) { return "3.0"; }
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, bool visible,
    bool logging, bool event_mode, bool early, references required, size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate)
{
    TELL("early %d]\\n", early);
    say = log;
    whom = environment;
    update = intermediate;
    return &steps;
}
void fmi3FreeInstance(fmi3Instance c) { TELL("free]\\n"); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, bool has_tolerance, double tolerance, double start,
    bool has_stop, double stop) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance c) { TELL("terminate]\\n"); return fmi3OK; }
fmi3Status fmi3EnterEventMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3EnterStepMode(fmi3Instance c) { return fmi3OK; }
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, bool *again, bool *terminate, bool *nominals, bool *states,
    bool *defined, double *next)
{
    *again = *terminate = *nominals = *states = false;
    *defined = steps == 0 && next_event < INFINITY;
    *next = next_event;
    return fmi3OK;
}
fmi3Status fmi3GetFloat64(fmi3Instance c, references r, size_t n, double *v, size_t count)
{
    for (size_t i = 0; i < n; i++)
        TELL("get %u]\\n", r[i]);
    for (size_t i = 0; i < count; i++)
        v[i] = steps;
    return fmi3OK;
}
fmi3Status fmi3GetUInt64(fmi3Instance c, references r, size_t n, uint64_t *v, size_t count) { v[0] = 0; return 0; }
fmi3Status fmi3DoStep(fmi3Instance c, double t, double h, bool forever, bool *event, bool *terminate, bool *early,
    double *reached)
{
    steps++;
    *event = *terminate = *early = false;
    *reached = t + h;
    TELL("step %.17g %.17g]\\n", t, h);
    STEP
    return fmi3OK;
}
"""
SET = "fmi3Status fmi3SetFloat64(fmi3Instance c, references r, size_t n, const double *v, size_t count) { SET }\n"
LOGGING = "fmi3Status fmi3SetDebugLogging(fmi3Instance c, bool on, size_t n, const fmi3String names[]) { return 0; }\n"
GET_BINARY = "fmi3Status fmi3GetBinary(fmi3Instance c, references r, size_t n, size_t *sizes, fmi3Binary *v, " \
             "size_t count) { TELL(\"binary %zu]\\n\", count); GET }\n"

FMU_XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="odd" instantiationToken="x">
<CoSimulation modelIdentifier="odd" FLAGS/>
<LogCategories><Category name="logStatusError"/></LogCategories>
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.1"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
<Float64 name="y" valueReference="1" causality="output"/>
<Float64 name="u" valueReference="2" causality="input" start="0" intermediateUpdate="true"/>
MORE
</ModelVariables>
<ModelStructure><Output valueReference="1"/></ModelStructure>
</fmiModelDescription>
"""
VARIABLE = 'canHandleVariableCommunicationStepSize="true"'
BINARY_ARRAY = '<Binary name="b" valueReference="4" causality="local"><Dimension {}/></Binary>'
JUMP = "time,u\n0,0\n{0},0\n{0},1\n"


class Odd(CommandTest):
    """The frame compiled with what a test adds."""

    def odd(self, step="", functions="", flags=VARIABLE, more="", set_u="return fmi3OK;", logging=LOGGING):
        """An FMU: lines at the end of its do-step, further functions, capabilities, variables, lines that set."""
        source = FRAME.replace("STEP", step) + SET.replace("SET }", f"{set_u} }}") + logging + functions
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("odd.so"), self.write("odd.c", source),
                        f"-I{ROOT / 'src'}", "-lm"], check=True)
        with zipfile.ZipFile(self.path("odd.fmu"), "w") as archive:
            archive.writestr(DESCRIPTION, FMU_XML.replace("FLAGS", flags).replace("MORE", more))
            archive.write(self.path("odd.so"), "binaries/x86_64-linux/odd.so")
        return self.path("odd.fmu")

    def steps(self, outcome):
        """Start and size of every step that the FMU was asked for."""
        return [(float(t), float(h)) for t, h in re.findall(r"^\[step (\S+) (\S+)\]$", outcome.err, re.MULTILINE)]

    def told(self, outcome):
        """What the FMU told, in its order."""
        return re.findall(r"^\[(.*)\]$", outcome.err, re.MULTILINE)


class Times(Odd):
    def test_steps_that_end_nowhere(self):
        """Not a number, before the step, or beyond it: such a run cannot go on, and must not go on for ever."""
        for reached, said in (("NAN", "nan"), ("t - h", r"0\.09999\d*|0\.1\d*"), ("t + 2 * h", r"0\.4\d*"),
                              ("INFINITY", "inf"), ("-INFINITY", "-inf")):
            for flag in ("early", "event", "terminate"):
                with self.subTest(reached=reached, flag=flag):
                    fmu = self.odd(f"if (steps == 3) {{ *{flag} = true; *reached = {reached}; }}",
                                   flags=f'{VARIABLE} hasEventMode="true"')
                    outcome = self.tutti("run", fmu, status=1)
                    message, = outcome.lines("error")
                    self.assertRegex(message, rf"step from t = 0\.2\d* to 0\.3\d* came to ({said}), which is not between; .* use --step")
                    self.assertEqual(len(self.steps(outcome)), 3)
                    self.assertEqual(len(self.result()), 3)

    def test_end_within_rounding(self):
        """An ulp beside the end, or before the beginning, is nothing."""
        for reached in ("nextafter(t + h, INFINITY)", "nextafter(t + h, 0)"):
            outcome = self.tutti("run", self.odd(f"*early = true; *reached = {reached};"))
            self.assertEqual(len(self.steps(outcome)), 10)
            self.assertEqual(self.result().times, [n * 0.1 for n in range(10)] + [1])

    def test_discard_with_a_time_that_is_none(self):
        """FMI 2.0: where the FMU came to is for the message only; nonsense counts as the start of the step."""
        with zipfile.ZipFile(kit_fmu("Tracker", "2")) as archive:
            library = next(name for name in archive.namelist() if name.endswith(".so"))
            pathlib.Path(self.path("inner.so")).write_bytes(archive.read(library))
        for last in ("NAN", "-7.5", "1e9"):
            with self.subTest(last=last):
                source = f"""
#include <math.h>
int fmi2DoStep(void *c, double t, double h, int flag) {{ return t < 0.15 ? 0 : 2; }}
int fmi2GetRealStatus(void *c, int kind, double *value) {{ *value = {last}; return 0; }}
int fmi2GetBooleanStatus(void *c, int kind, int *value) {{ *value = 0; return 0; }}
"""
                subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("odd.so"), self.write("odd.c", source),
                                "-Wl,--no-as-needed", self.path("inner.so")], check=True)
                fmu = self.altered(kit_fmu("Tracker", "2"), drop=[library],
                                   add={library: pathlib.Path(self.path("odd.so")).read_bytes()})
                self.refused("run", fmu, status=1, says=r"step from t = 0\.2 to 0\.3\d*; it came as far as 0\.2\.")

    def test_event_beside_an_event(self):
        """The FMU announces 0.3, the input jumps one ulp later (and 0.3 is a recorded point): one point for all."""
        fmu = self.odd(flags=f'{VARIABLE} hasEventMode="true"',
                       functions="__attribute__((constructor)) static void plan(void) { next_event = 0.3; }")
        trajectory = self.write("input.csv", JUMP.format("0.30000000000000004"))
        for options in ((), ("--step", "0.25"), ("--output-step", "0.05")):
            with self.subTest(options=options):
                outcome = self.tutti("run", fmu, "--input", trajectory, *options)
                self.assertGreater(min(h for _, h in self.steps(outcome)), 0.01)
                self.assertLessEqual(len([t for t in self.result().times if abs(t - 0.3) < 1e-9]), 2)

    def test_early_return_of_a_uniform_fmu(self):
        """It could not come back to the grid: so it may not leave it."""
        self.assertIn("early 0", self.told(self.tutti("run", self.odd(flags=""))))
        self.assertIn("early 1", self.told(self.tutti("run", self.odd())))

    def test_uniform_fmu_is_never_driven_past_the_end(self):
        """Even if it returns early although it may not."""
        outcome = self.tutti("run", self.odd("if (steps == 3) { *early = true; *reached = t + h / 2; }", flags=""),
                             status=None)
        self.assertLess(max(t + h for t, h in self.steps(outcome)), 1 + 1e-9)


class Calls(Odd):
    def test_fatal_in_an_intermediate_update(self):
        """After Fatal nothing of the FMU is called, whatever its do-step returns then."""
        flags = f'{VARIABLE} providesIntermediateUpdate="true"'
        trajectory = self.write("input.csv", "time,u\n0,0\n1,1\n")
        for result in ("fmi3OK", "fmi3Error", "fmi3Fatal"):
            with self.subTest(result=result):
                step = "bool asked; double at; if (steps == 3) {" \
                       " update(whom, t + h / 2, true, true, false, true, &asked, &at);" \
                       f" TELL(\"asked to return %d]\\n\", asked); return {result}; }}"
                fmu = self.odd(step, flags=flags, set_u="TELL(\"set]\\n\"); return steps == 3 ? fmi3Fatal : fmi3OK;")
                outcome = self.tutti("run", fmu, "--input", trajectory, status=1)
                self.assertRegex(outcome.lines("error")[0], "fmi3SetFloat64 returned Fatal")
                self.assertEqual(self.told(outcome)[-2:], ["set", "asked to return 1"])
                self.assertEqual(len(self.result()), 3)

    def test_function_for_logging_is_not_needed(self):
        """Who has log categories should have fmi3SetDebugLogging; a missing one is no reason for a word."""
        for options in ((), ("--verbose",)):
            self.assertEqual(self.tutti("run", self.odd(logging=""), *options).lines("error"), [])

    def test_error_that_is_told_in_a_call_that_succeeds(self):
        """It is logged as what it is, once; what the FMU said after it is no error."""
        for when in ("steps == 2", "steps > 1", "1"):
            with self.subTest(when=when):
                step = f'if ({when}) {{ say(whom, fmi3Error, "logStatusError", "it BROKE");' \
                       ' say(whom, fmi3OK, "logStatusError", "all is fine"); }'
                outcome = self.tutti("run", self.odd(step))
                self.assertEqual(outcome.lines("error"), ["tutti: error: odd: it BROKE"])
                self.assertNotIn("all is fine", outcome.err)
                outcome = self.tutti("run", self.odd(step), "--log-level", "info")
                self.assertEqual(outcome.lines("error"), ["tutti: error: odd: it BROKE"])
                self.assertEqual(outcome.err.count("all is fine"), 1)


class Arrays(Odd):
    def test_binaries_without_extent(self):
        more = '<UInt64 name="n" valueReference="3" causality="structuralParameter" variability="fixed" start="0"/>' \
               + BINARY_ARRAY.format('valueReference="3"')
        fmu = self.odd(functions=GET_BINARY.replace("GET", "return count == 0 ? fmi3OK : fmi3Error;"), more=more)
        self.tutti("run", fmu, "--record", "*", "--stop", "0.2")
        table = self.result()
        self.assertEqual((table.header, len(table)), (["time", "y", "u", "n"], 3))

    def test_only_arrays_that_may_be_meant_are_read(self):
        """An element is asked for: other arrays are not read, and one that cannot be does no harm."""
        more = BINARY_ARRAY.format('start="2"') + "".join(
            f'<Float64 name="{name}" valueReference="{reference}" causality="local"><Dimension start="3"/></Float64>'
            for name, reference in (("a", 5), ("ab", 6), ("other", 7)))
        fmu = self.odd(functions=GET_BINARY.replace("GET", "return fmi3Error;"), more=more)
        for pattern, header, read in (("a[1]", ["a[1]"], {5}), ("odd.a[2]", ["a[2]"], {5}),
                                      ("a?[3]", ["ab[3]"], {6}), ("a*[1]", ["a[1]", "ab[1]"], {5, 6})):
            with self.subTest(pattern=pattern):
                outcome = self.tutti("run", fmu, "--record", pattern)
                self.assertEqual(self.result().header, ["time", *header])
                self.assertEqual({int(word[4:]) for word in self.told(outcome) if word.startswith("get ")} - {1}, read)  # y is an output
                self.assertFalse([word for word in self.told(outcome) if word.startswith("binary")])
        self.assertRegex(self.tutti("run", fmu, "--record", "b[1]").err, "'b' cannot be read.* not recorded")

    def test_many_columns_for_one_array(self):
        """The time that half a million columns take grows with their number: if it grew with its square, this would take hours."""
        more = '<Float64 name="v" valueReference="7" causality="input" start="0"><Dimension start="500000"/></Float64>'
        names, values = ",".join(f"v[{n}]" for n in range(1, 500001)), ",".join(["1"] * 500000)
        trajectory = self.write("input.csv", f"time,{names},nobody\n0,{values},0\n")  # the last column is wrong: nothing is simulated
        self.assertIn("nobody", self.tutti("run", self.odd(more=more), "--input", trajectory, status=2).err)


if __name__ == "__main__":
    unittest.main()
