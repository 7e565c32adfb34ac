#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that compute steps on threads of their own (canRunAsynchronuously, fmi2Pending) do so at the same time, on one rank, too. The threads of
the FMU here wait for each other: a master that lets one end before it begins the next makes them wait in vain, and they say so."""
import shutil
import struct
import unittest
import zipfile

from command import CommandTest, kit_fmu

TOKEN = "{overlap}"
DESCRIPTION = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Slow" guid="{TOKEN}">
  <CoSimulation modelIdentifier="Slow" canHandleVariableCommunicationStepSize="true" canRunAsynchronuously="true">
    <SourceFiles><File name="slow.c"/></SourceFiles>
  </CoSimulation>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="1" causality="output" variability="continuous" initial="exact"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="u" valueReference="2" causality="input" variability="continuous"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="wanted" valueReference="3" causality="parameter" variability="fixed"><Real start="2"/></ScalarVariable>
    <ScalarVariable name="fails" valueReference="4" causality="parameter" variability="fixed"><Real start="1e9"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"""
# The file that OVERLAP names has four numbers: FMUs that compute now, steps that began, the most at a time, those that waited in vain.
SLOW = r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "fmi2Functions.h"
struct shared { _Atomic int now, begun, most, vain; };
struct slow { double v[5], t, h; pthread_t thread; int running; _Atomic int done; struct shared *shared; };
const char *fmi2GetVersion(void) { return fmi2Version; }
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String where, const fmi2CallbackFunctions *f, fmi2Boolean v, fmi2Boolean l)
{
    struct slow *m = calloc(1, sizeof *m);
    int file = open(getenv("OVERLAP"), O_RDWR);
    m->shared = mmap(NULL, sizeof *m->shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    m->v[1] = 1; m->v[3] = 2; m->v[4] = 1e9;
    return m;
}
static void join(struct slow *m) { if (m->running) pthread_join(m->thread, NULL); m->running = 0; }
void fmi2FreeInstance(fmi2Component c) { struct slow *m = c; join(m); munmap(m->shared, sizeof *m->shared); free(m); }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String l[]) { return fmi2OK; }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean td, fmi2Real t, fmi2Real a, fmi2Boolean sd, fmi2Real s) { return fmi2OK; }
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real v[])
{ for (size_t i = 0; i < n; i++) v[i] = ((struct slow *)c)->v[vr[i]]; return ((struct slow *)c)->running ? fmi2Error : fmi2OK; }
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real v[])
{ for (size_t i = 0; i < n; i++) ((struct slow *)c)->v[vr[i]] = v[i]; return ((struct slow *)c)->running ? fmi2Error : fmi2OK; }
static void *compute(void *context)
{
    struct slow *m = context;
    struct timespec moment = {.tv_nsec = 1000000};
    int begun = ++m->shared->begun, now = ++m->shared->now, wanted = (int)m->v[3];
    if (now > m->shared->most) m->shared->most = now;
    int last = (begun + wanted - 1) / wanted * wanted; /* all that belong to this step */
    int patience = 300000;
    while (m->shared->begun < last && patience-- > 0) nanosleep(&moment, NULL);
    m->shared->vain += patience < 0;
    m->v[1] += m->h * (m->v[2] - m->v[1]);
    m->shared->now--;
    m->done = 1;
    return NULL;
}
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean n)
{
    struct slow *m = c;
    if (m->running || t >= m->v[4]) return fmi2Error;
    m->t = t; m->h = h; m->done = 0; m->running = 1;
    return pthread_create(&m->thread, NULL, compute, m) ? fmi2Error : fmi2Pending;
}
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *status)
{
    struct slow *m = c;
    *status = m->done ? fmi2OK : fmi2Pending;
    if (m->done) join(m);
    return fmi2OK;
}
fmi2Status fmi2CancelStep(fmi2Component c) { return fmi2Error; }
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind k, fmi2Real *v) { return fmi2Discard; }
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind k, fmi2Integer *v) { return fmi2Discard; }
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind k, fmi2Boolean *v) { return fmi2Discard; }
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind k, fmi2String *v) { return fmi2Discard; }
"""


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Overlap(CommandTest):
    def setUp(self):
        super().setUp()
        with zipfile.ZipFile(self.path("slow.fmu"), "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION)
            archive.writestr("sources/slow.c", SLOW)
        self.tutti("compile", "slow.fmu", "--quiet")

    def counts(self):
        with open(self.path("shared"), "rb") as file:
            return struct.unpack("4i", file.read(16))

    def ran(self, *arguments, status=0):
        with open(self.path("shared"), "wb") as file:
            file.write(bytes(4096))
        return self.tutti("run", *arguments, "--stop", "1", status=status, env={"OVERLAP": self.path("shared")})

    def test_steps_overlap(self):
        """Three of them, with one between that computes at once: each step of all three is one; results are those of Jacobi by hand."""
        units = [f"{name}=slow.fmu" for name in "abc"]
        wanted = [word for name in "abc" for word in ("--set", f"{name}.wanted=3")]
        ring = ("--connect", "a.x=b.u", "--connect", "b.x=c.u", "--connect", "c.x=a.u", "--set", "a.x=2")
        self.ran(*units, f"d={kit_fmu('Dahlquist', '2')}", *wanted, *ring, "--step", "0.125", "--coupling", "jacobi", "--extrapolate", "0")
        self.assertEqual(self.counts(), (0, 24, 3, 0))
        x = [2.0, 1.0, 1.0]
        for _ in range(8):
            x = [x[i] + 0.125 * (x[i - 1] - x[i]) for i in range(3)]
        result = self.result()
        self.assertEqual([result[f"{name}.x"][-1] for name in "abc"], x)

    def test_units_that_do_not_wait_for_each_other(self):
        """Gauss-Seidel: two that follow a third."""
        self.ran(f"d={kit_fmu('Dahlquist', '2')}", "b=slow.fmu", "c=slow.fmu", "--connect", "d.x=b.u", "--connect", "d.x=c.u", "--step", "0.125",
                 "--coupling", "seidel", "--extrapolate", "0")
        self.assertEqual(self.counts(), (0, 16, 2, 0))
        result = self.result()
        x = 1.0
        for u in result["d.x"][1:]:
            x += 0.125 * (u - x)
        self.assertEqual([result["b.x"][-1], result["c.x"][-1]], [x, x])

    def test_one_that_fails(self):
        """The others are waited for before they are freed, and the one that failed is named."""
        units = [f"{name}=slow.fmu" for name in "ab"]
        outcome = self.ran(*units, "--set", "b.fails=0.5", "--set", "a.wanted=1", "--set", "b.wanted=1", "--step", "0.25", "--coupling", "jacobi", status=1)
        self.assertRegex(outcome.err, "b.*fmi2DoStep")
        self.assertEqual(self.counts()[:2], (0, 5))


if __name__ == "__main__":
    unittest.main()
