/* SPDX-License-Identifier: MIT */
/* run.h - simulate an FMU, or a system of FMUs, from start to stop. */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include <tutti/options.h>
#include <tutti/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a simulation. `stats` may be NULL; it must not belong to a different run. It is filled even if the run fails
 * midway; the result file then contains everything up to the failure. INTERRUPTED if the flag of
 * tutti_options_set_interrupt ended the run. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_run(const struct tutti_run_options *options,
                                                 struct tutti_run_stats *stats);

/* Selects the open descriptor that the output "-" is written to, in all threads; the caller keeps it. Default: 1. FMUs
 * may print to standard output, which the library leaves unchanged. A program whose standard output must contain only
 * the result duplicates descriptor 1 before the run, redirects descriptor 1, and passes the duplicate, as the command
 * does. */
TUTTI_API void tutti_set_standard_output(int descriptor);

/* "0.1.0" */
TUTTI_API const char *tutti_version(void);

/* A library that results may depend on, as found at run time. */
struct tutti_used_library {
    const char *name; /* "sundials" */
    char version[32]; /* "6.4.1"; "" if it does not report its version */
};
/* Describes the library `number`, counted from 0; false if there are fewer. */
TUTTI_API bool tutti_used_library_get(size_t number, struct tutti_used_library *out);

#ifdef __cplusplus
}
#endif
#endif
