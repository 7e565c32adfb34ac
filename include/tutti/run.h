/* SPDX-License-Identifier: MIT */
/* run.h - simulate an FMU, or a system of FMUs, from start to stop. */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include <tutti/options.h>
#include <tutti/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Simulates. `stats` (may be NULL; of no other run) is filled also when the run fails on its way; the result file then holds everything
 * up to the failure. INTERRUPTED if
 * tutti_options_set_interrupt's flag ended the run. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_run(const struct tutti_run_options *options,
                                                 struct tutti_run_stats *stats);

/* What the output "-" stands for from now on, in all threads: an open descriptor, which stays yours; 1 until then. FMUs may print
 * to standard output. The library leaves that as it is; a program that wants the result alone there duplicates descriptor 1
 * before the run, lets it lead elsewhere, and hands over the duplicate. The command does so. */
TUTTI_API void tutti_set_standard_output(int descriptor);

/* "0.1.0" */
TUTTI_API const char *tutti_version(void);

/* A library that results may depend on, as it was found at run time. */
struct tutti_used_library {
    const char *name; /* "sundials" */
    char version[32]; /* "6.4.1"; "" if it does not tell */
};
/* The one with this number, from 0 on; false: there are fewer. */
TUTTI_API bool tutti_used_library_get(size_t number, struct tutti_used_library *out);

#ifdef __cplusplus
}
#endif
#endif
