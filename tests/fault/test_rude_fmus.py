#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMUs that treat the process as their own: they leave it, change its folder, overflow its stack.

Each is Tracker with a library before its own that does something rude first."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import JACOBI, SANITIZED, THREAD_SANITIZED, CommandTest, kit_fmu  # noqa: E402

PRELUDE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void rude(void);
static int pending; /* for those who want it */
"""


class Rude(CommandTest):
    def rude(self, deed, result="next(c, t, h, flag)"):
        """Tracker with an fmi2DoStep that does the deed once, in the step from 0.4 on, and then its work, for the result."""
        with zipfile.ZipFile(kit_fmu("Tracker", "2")) as archive:
            library = next(name for name in archive.namelist() if name.endswith(".so"))
            inner = self.folder / "inner.so"
            inner.write_bytes(archive.read(library))
        source = PRELUDE + f"""
int fmi2DoStep(void *c, double t, double h, int flag)
{{
    if (t < 0.45 && 0.45 < t + h)
        rude();
    int (*next)(void *, double, double, int) = 0;
    void *address = dlsym(dlopen("{inner}", RTLD_NOW | RTLD_NOLOAD), "fmi2DoStep");
    memcpy(&next, &address, sizeof next);
    return {result};
}}
{deed}
"""
        subprocess.run(["cc", "-shared", "-fPIC", "-O0", "-o", self.path("rude.so"), self.write("rude.c", source),
                        "-Wl,--no-as-needed", inner, "-ldl"], check=True)
        return self.altered(kit_fmu("Tracker", "2"), drop=[library],
                            add={library: pathlib.Path(self.path("rude.so")).read_bytes()})

    def test_it_is_polite_without_a_deed(self):
        fmu = self.rude("static void rude(void) { }")
        self.assertEqual(self.simulate(fmu).rows, self.simulate(kit_fmu("Tracker", "2")).rows)

    def test_exit(self):
        """The process cannot be saved; what was recorded can, and nobody may think that all went well."""
        outcome = self.tutti("run", self.rude("static void rude(void) { exit(0); }"), status=1)
        self.assertRegex(outcome.err, "(?m)^tutti: error: .*altered .*fmi2DoStep")
        self.assertEqual(len(self.result()), 5)

    def test_abort(self):
        outcome = self.tutti("run", self.rude("static void rude(void) { abort(); }"), status=1)
        self.assertRegex(outcome.err, "tutti: error: crash, abort .SIGABRT., in code of the FMU: .*fmi2DoStep")
        self.assertEqual(len(self.result()), 5)

    def test_stack_overflow(self):
        fmu = self.rude("static int deep(volatile char *p) { volatile char a[99]; a[0] = *p; return deep(a) + *a; }\n"
                        "static void rude(void) { char c = 0; deep(&c); }")
        outcome = self.tutti("run", fmu, status=1)
        self.assertRegex(outcome.err, "tutti: error: crash, .*in code of the FMU: .*fmi2DoStep")
        self.assertEqual(len(self.result()), 5)

    def test_crash_in_a_thread(self):
        fmu = self.rude("static void *work(void *p) { *(volatile int *)8 = 1; return p; }\n"
                        "static void rude(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); }")
        outcome = self.tutti("run", fmu, status=1)
        self.assertRegex(outcome.err, "tutti: error: crash, ")
        self.assertNotIn("Please report it", outcome.err)
        self.assertEqual(len(self.result()), 5)

    def test_environments_that_are_none(self):
        """Of the logger: numbers, objects of the FMU's own, pointers that lead nowhere."""
        fmu = self.rude("""
struct callbacks { void (*log)(void *, const char *, int, const char *, const char *, ...); };
static const struct callbacks *callbacks;
void *fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const struct callbacks *c, int v, int l)
{
    void *(*next)(const char *, int, const char *, const char *, const struct callbacks *, int, int) = 0;
    void *address = dlsym(dlopen("INNER", RTLD_NOW | RTLD_NOLOAD), "fmi2Instantiate");
    callbacks = c;
    callbacks->log((void *)2, "it", 0, "status", "number two");
    memcpy(&next, &address, sizeof next);
    return next(name, type, guid, place, c, v, l);
}
static void *work(void *p)
{
    callbacks->log((void *)1, "it", 1, "status", "from a thread");
    return p;
}
static void rude(void)
{
    pthread_t thread;
    callbacks->log((void *)1, "it", 1, "status", "number one");
    callbacks->log((void *)0x1111222233334444, "it", 1, "status", "nowhere");
    callbacks->log(&callbacks, "it", 1, "status", "an object");
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
""".replace("INNER", self.path("inner.so")))
        for fabric in ((), ("--threads", "1"), ("--processes", "1"), ("--rollback", "fork")):
            with self.subTest(fabric=fabric):
                outcome = self.tutti("run", fmu, *fabric)
                for text in ("number one", "nowhere", "an object"):
                    self.assertIn(text, outcome.err)
                self.assertNotIn("crash", outcome.err)

    def test_whose_crash(self):
        """The message follows the instruction, not the call that the thread was in."""
        log = """
void *fmi2Instantiate(const char *name, int type, const char *guid, const char *place, void **c, int v, int l)
{
    void *(*next)(const char *, int, const char *, const char *, void **, int, int) = 0;
    void *address = dlsym(dlopen("INNER", RTLD_NOW | RTLD_NOLOAD), "fmi2Instantiate");
    memcpy(&log_message, c, sizeof log_message);
    memcpy(&next, &address, sizeof next);
    return next(name, type, guid, place, c, v, l);
}
static void rude(void) { log_message(0, "it", 1, "status", "%s", (char *)8); }
"""
        for deed, says in (
                ("static void rude(void) { *(volatile int *)8 = 1; }", r"in code of the FMU: instance altered .* t = 0\.4[^;]*; everything"),
                ("static void rude(void) { void (*volatile nothing)(void) = 0; nothing(); }",
                 "in code of the FMU: .*fmi2DoStep.*; it jumped to an address that has no code; everything"),
                ("static void rude(void) { size_t (*volatile length)(const char *) = strlen; length((char *)8); }",
                 r"in code of the FMU: .*fmi2DoStep.*; the instruction is in libc\.so\S*; everything"),
                ("static void (*log_message)(void *, const char *, int, const char *, const char *, ...);" + log,
                 r"in code of Tutti that the FMU called: .*fmi2DoStep.*; the instruction is in libc\.so\S*; .*invalid argument to a callback"),
                ("static void *work(void *p) { *(volatile int *)8 = 1; return p; }\n"
                 "static void rude(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); }",
                 r"in a thread that an FMU or a library started; the instruction is in \w+\.so; everything")):
            with self.subTest(says=says):
                outcome = self.tutti("run", self.rude(deed.replace("INNER", self.path("inner.so"))), status=1)
                self.assertRegex(outcome.err, "tutti: error: crash, .*" + says)
                self.assertEqual(len(self.result()), 5)

    def test_crash_in_a_thread_of_ours(self):
        """Which writes rows, or takes signals. No FMU is named, and nobody is told for sure whose fault it is."""
        fmu = self.rude("""
#include <dirent.h>
#include <signal.h>
static int crash_others(void)
{
    struct dirent *entry;
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    while (threads && (entry = readdir(threads))) {
        char path[300], name[20] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && !strcmp(name, "tutti-own\\n"))
            count += tgkill(getpid(), atoi(entry->d_name), SIGSEGV) == 0;
        if (file)
            fclose(file);
    }
    closedir(threads);
    return count;
}
static void rude(void)
{
    while (!crash_others()) /* it may only be starting */
        usleep(1000);
    for (;;)
        pause();
}
""")
        outcome = self.tutti("run", fmu, status=1)
        self.assertRegex(outcome.err, "tutti: error: crash, .* outside of the code of FMUs; .* memory that is not its own")
        self.assertNotIn("fmi2DoStep", outcome.err)
        self.assertEqual(len(self.result()), 5)

    def test_crashes_together(self):
        """The first to crash tells; the others wait for the end, which saves the rows."""
        fmu = kit_fmu("Faulty", "2")
        for _ in range(5):
            outcome = self.tutti("run", f"a={fmu}", f"b={fmu}", "--threads", "2", "--step", "0.1", "--stop", "1", *JACOBI,
                                 env={"KIT_FAULT": "crash DoStep 0.45"}, status=1)
            self.assertEqual(len(outcome.lines("error")), 1, outcome.err)
            self.assertRegex(outcome.err, "crash, .*in code of the FMU: instance [ab] .*fmi2DoStep at t = 0.4")
            self.assertEqual(len(self.result()), 5)

    def test_next_event_that_is_no_time(self):
        fmu = self.rude("static void rude(void) { }\nint fmi2NewDiscreteStates(void *c, int *info) "
                        "{ memset(info, 0, 32); info[4] = 1; *(double *)(info + 6) = 0.0 / 0.0; return 0; }")
        outcome = self.tutti("run", fmu, "--interface", "me", status=1)
        self.assertRegex(outcome.err, r"altered .*fmi2NewDiscreteStates announces the next event for a time that is not a number "
                         r"\(NaN\) at t = 0")

    def test_infinity(self):
        """The first one is told, with its variable and its time."""
        fmu = self.rude("static int odd;\nstatic void rude(void) { odd = 1; }\n"
                        "int fmi2GetReal(void *c, const unsigned *r, size_t n, double *v) "
                        "{ for (size_t i = 0; i < n; i++) v[i] = odd ? 1 / 0.0 : 1; return 0; }")
        outcome = self.tutti("run", fmu, "--step", "0.1", "--stop", "1", status=1)
        self.assertRegex(outcome.err, r"(?m)^tutti: warning: altered: '.*' is infinite at t = 0\.5")
        self.assertRegex(outcome.err, r"(?m)^tutti: error: '.*' is infinite from t = 0\.5 to the end of the run, t = 1")

    def test_another_folder(self):
        """Files named on the command line stay where they were meant to be, whenever the FMU moves."""
        for when, attribute in (("step", ""), ("load", "__attribute__((constructor)) ")):
            with self.subTest(when=when):
                elsewhere = self.folder / f"at {when}"
                elsewhere.mkdir()
                fmu = self.rude(f'{attribute}static void rude(void) {{ if (chdir("{elsewhere}")) abort(); }}')
                self.tutti("run", fmu, "-o", f"{when}.csv", "--stats", f"{when}.json")
                self.assertEqual(os.listdir(elsewhere), [])
                self.assertEqual(len(self.result(f"{when}.csv")), 51)

    @unittest.skipIf(SANITIZED, "a sanitizer ends the process itself")
    def test_memory_damaged_when_it_is_freed(self):
        """After a double free nothing that needs memory works: everything is told before."""
        fmu = self.rude("static void rude(void) { }\n"
                        "void fmi2FreeInstance(void *c) { char *p = malloc(3000), *q = malloc(3000); free(p); free(p); free(q); }")
        outcome = self.tutti("run", fmu, "--stats", "-")
        self.assertRegex(outcome.err, "(?m)^tutti: warning: crash, .* when its work was done: .*fmi2FreeInstance")
        self.assertEqual(json.loads(outcome.out)["steps"], 50)
        self.assertEqual(len(self.result()), 51)

    def test_printing(self):
        """Whatever way it prints, at its step or when it is loaded: results on standard output stay whole, and what it printed
        comes where the log is. The last words have no line end, and a megabyte must not stop anybody."""
        deed = """
static void *work(void *p) {{ puts("by a thread"); return p; }}
{attribute}static void rude(void)
{{
    pthread_t t;
    printf("by printf\\n");
    if (write(1, "by write\\n", 9) != 9 || system("echo by a child") != 0)
        abort();
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    for (int i = 0; i < 16384; i++)
        puts("sixty-four bytes, again and again, until it is a whole megabyte");
    printf("by printf, in the end");
}}
"""
        said = ("by printf\n", "by write\n", "by a child\n", "by a thread\n", "whole megabyte\n", "by printf, in the end")
        polite = self.tutti("run", kit_fmu("Tracker", "2"), "-o", "-", "--quiet").out
        for when, attribute in (("step", ""), ("load", "__attribute__((constructor)) ")):
            fmu = self.rude(deed.format(attribute=attribute))
            workers = [] if THREAD_SANITIZED else [("--processes", "1")]  # it knows no thread of a process that was forked beside one
            for fabric in ((), ("--threads", "1"), *workers):
                with self.subTest(when=when, fabric=fabric):
                    outcome = self.tutti("run", fmu, "-o", "-", "--quiet", *fabric)
                    self.assertEqual(outcome.out, polite)
                    for words in said:
                        self.assertIn(words, outcome.err)
            outcome = self.tutti("run", fmu, "--stats", "-", "--quiet")
            self.assertEqual(json.loads(outcome.out)["steps"], 50)
        for command in (("analyze", fmu, "--json"), ("linearize", fmu, "-o", "-")):
            with self.subTest(command=command):
                outcome = self.tutti(*command)
                json.loads(outcome.out)
                self.assertIn("by write\n", outcome.err)

    @unittest.skipIf(SANITIZED, "a sanitizer does not know frames that pthread_exit() leaves")
    def test_thread_exit(self):
        fmu = self.rude("static void rude(void) { pthread_exit(0); }")
        outcome = self.tutti("run", fmu, status=1)
        self.assertRegex(outcome.err, r"tutti: error: code of the FMU ended the thread .*\(pthread_exit\): .*altered .*fmi2DoStep")
        self.assertEqual(len(self.result()), 5)
        outcome = self.tutti("run", f"a={fmu}", f"b={kit_fmu('Tracker', '2')}", "--threads", "2", status=1)
        self.assertRegex(outcome.err, r"code of the FMU ended the thread .*\(pthread_exit\): instance a .*fmi2DoStep")
        self.assertEqual(len(self.result()), 5)

    def ended(self, fmu, *options):
        """Asks for the end until it comes: with the first signal of all that an FMU lets through, or the second."""
        process = self.start("run", fmu, *options)
        self.await_print(process)
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)  # and once more
        outcome = self.finish(process)
        self.assertEqual(outcome.status, 128 + signal.SIGTERM)
        self.assertEqual(len(self.result()), 5)
        return outcome

    HANGING = """
#include <signal.h>
static void rude(void)
{
    %s
    fprintf(stderr, "prints\\n");
    for (;;)
        pause();
}
"""

    def test_hanging_with_signals_blocked(self):
        """In the thread that it was called in, or for all: the second signal ends the run, with all rows."""
        for deed in ("sigset_t all; sigfillset(&all); pthread_sigmask(SIG_SETMASK, &all, 0);", "signal(SIGTERM, SIG_IGN);", ""):
            for fabric in ((), ("--threads", "1")):
                with self.subTest(deed=deed, fabric=fabric):
                    outcome = self.ended(self.rude(self.HANGING % deed), *fabric)
                    self.assertIn("stopped at once", outcome.err)

    def test_pending_for_ever(self):
        """fmi2Pending (5), and the status says so for ever."""
        fmu = self.rude("static void rude(void) { fprintf(stderr, \"prints\\n\"); pending = 5; }\n"
                        "int fmi2GetStatus(void *c, int kind, int *value) { *value = 5; return 0; }",
                        result="pending ? pending : next(c, t, h, flag)")
        self.ended(fmu)

    def test_check_runs_nothing(self):
        """What people do first with a file that they do not trust; info and graph as well."""
        fmu = self.rude(f'__attribute__((constructor)) static void rude(void) {{ creat("{self.path("ran")}", 0666); }}')
        for command in (("check", fmu), ("info", fmu), ("graph", fmu, "-o", "graph.dot")):
            with self.subTest(command=command):
                self.tutti(*command)
                self.assertFalse(os.path.exists(self.path("ran")))
        self.tutti("check", "--run", fmu)
        self.assertTrue(os.path.exists(self.path("ran")))

    def test_descriptors_closed(self):
        """As programs do that become daemons, up to some number: ours are above it."""
        fmu = self.rude("static void rude(void) { for (int i = 3; i < 256; i++) close(i); }")
        polite = self.tutti("run", kit_fmu("Tracker", "2"), "-o", "-", "--quiet").out
        self.assertEqual(self.tutti("run", fmu, "-o", "-", "--quiet").out, polite)
        for fabric in ((), ("--threads", "1")):
            with self.subTest(fabric=fabric):
                self.tutti("run", fmu, "-o", "result.csv", *fabric)
                self.assertEqual(pathlib.Path(self.path("result.csv")).read_text(encoding="utf-8"), polite)

    GRAB = """
static void rude(void)
{
    close_range(3, ~0U, 0);
    int most = getdtablesize() < 1100 ? getdtablesize() - 8 : 1100;
    for (int i = 3; i < most && open("grabbed.txt", O_RDWR | O_CREAT, 0666) >= 0; i++)
        ;
}
"""

    def test_descriptors_taken(self):
        """It closes all descriptors and has files of its own under their numbers: nothing of ours is written there. A file that
        has a name is opened again."""
        fmu = self.rude(self.GRAB)
        polite = kit_fmu("Tracker", "2")
        self.tutti("run", f"a={polite}", f"b={polite}", "--step-log", "polite.log", "-o", "polite.csv", *JACOBI)
        log = pathlib.Path(self.path("polite.log")).read_text(encoding="utf-8")
        for name in ("result.csv", "result.mat"):
            for options in ((), ("--threads", "1")):
                for limit in (64, 2048):
                    with self.subTest(name=name, options=options, limit=limit):
                        self.tutti("run", f"a={fmu}", f"b={polite}", "-o", name, "--step-log", "log.csv", *JACOBI, *options,
                                   launcher=("prlimit", f"--nofile={limit}"))
                        self.tutti("compare", name, "polite.csv", "--rtol", "0", "--atol", "0")
                        self.assertEqual(pathlib.Path(self.path("log.csv")).read_text(encoding="utf-8"), log)
                        self.assertEqual(os.path.getsize(self.path("grabbed.txt")), 0)

    def test_descriptors_taken_for_good(self):
        """Standard output cannot be opened again, nor can a file that HDF5 has open."""
        fmu = self.rude(self.GRAB)
        for name in ("-", "result.h5"):
            with self.subTest(name=name):
                outcome = self.tutti("run", fmu, "-o", name, status=1)
                self.assertRegex(outcome.err, "(?m)^tutti: error: cannot write .*: code of an FMU has closed the file")
                self.assertEqual(os.path.getsize(self.path("grabbed.txt")), 0)

    def test_result_cut(self):
        """What something else does to the file is seen: a result with a hole in it is none."""
        for name in ("result.csv", "result.mat"):
            with self.subTest(name=name):
                fmu = self.rude(f'static void rude(void) {{ if (truncate("{name}", 3)) abort(); }}')
                outcome = self.tutti("run", fmu, "-o", name, status=1)
                self.assertRegex(outcome.err, f"(?m)^tutti: error: cannot write .*{name}: something else has written")

    def test_standard_output_closed(self):
        outcome = self.tutti("run", self.rude("static void rude(void) { fclose(stdout); }"))
        self.assertEqual(outcome.lines("error"), [])
        self.assertEqual(len(self.result()), 51)


if __name__ == "__main__":
    unittest.main()
