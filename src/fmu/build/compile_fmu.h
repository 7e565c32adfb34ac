/* SPDX-License-Identifier: MIT */
/* compile_fmu.h - an FMU with a library for this platform, or another one, made from its sources (FMI 2.0 and 3.0) by a compiler. */
#ifndef TT_FMU_BUILD_COMPILE_FMU_H
#define TT_FMU_BUILD_COMPILE_FMU_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "fmu/fmu.h"

/* If none is named. */
#define TUTTI_COMPILER "cc"

struct tt_compile_fmu_options {
    const char *compiler;  /* NULL: cc */
    const char *platform;  /* target platform of the compiler, as in binaries/PLATFORM; NULL: this platform */
    bool sanitize;         /* with checks of addresses and undefined behaviour */
    double seconds;        /* that all may take; 0: 600 */
    struct tt_text *words; /* receives the compiler's output after its first error, as lines; NULL: not needed */
    const struct tutti_log *log;
};

/* Writes the FMU `out`: the content of `fmu`, with libraries compiled from its sources in place of those for the
 * platform. The compiler is confined (child.h). ARGUMENT for a platform whose libraries are not shared objects of
 * Linux; LOAD if the compiler targets a different machine. No code of the FMU runs. LOAD, with the compiler's first
 * error, if the sources do not compile; otherwise as tt_recipe_read and tt_compile_process_run. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu(const struct tt_fmu *fmu, const char *out,
                                            const struct tt_compile_fmu_options *options);

/* If the FMU has no library for this platform, *built is the path of one that has, made now or earlier from the same content, in the
 * user's cache; the caller's (free). NULL: it has one. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu_if_missing(const struct tt_fmu *fmu, const struct tutti_log *log,
                                                       char **built);

/* The headers of FMI that sources include: made of fmu/api2.h and fmu/api3.h, under the names that the standard gives them. */

/* Returns true if this is the file name of an FMI header for the version 2 or 3 of FMI. */
bool tt_compile_fmu_has_header(int fmi, const char *name);
/* Writes them all to a folder. IO. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu_write_headers(int fmi, const char *folder);

#endif
