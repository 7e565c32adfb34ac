/* SPDX-License-Identifier: MIT */
/* compile_fmu.h - an FMU with a library for this platform, or another one, made from its sources (FMI 2.0 and 3.0) by a compiler. */
#ifndef TT_FMU_BUILD_COMPILE_FMU_H
#define TT_FMU_BUILD_COMPILE_FMU_H

#include "base/log.h"
#include "base/text.h"
#include "fmu/fmu.h"

/* If none is named. */
#define TUTTI_COMPILER "cc"

struct tt_compile_fmu_options {
    const char *compiler;  /* NULL: cc */
    const char *platform;  /* that the compiler makes libraries for, as in binaries/PLATFORM; NULL: this one */
    bool sanitize;         /* with checks of addresses and undefined behaviour */
    double seconds;        /* that all may take; 0: 600 */
    struct tt_text *words; /* what the compiler says after its first error, as lines; NULL: not wanted */
    const struct tutti_log *log;
};

/* Writes the FMU `out`: what `fmu` has, with libraries that were made from its sources in place of those for the platform. The compiler
 * is confined (child.h). ARGUMENT for a platform whose libraries are no shared objects of Linux; LOAD if the compiler makes some for another
 * machine. No code of the FMU runs. LOAD, with the compiler's first error, if the sources do not compile; as
 * tt_recipe_read; as tt_compile_process_run. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu(const struct tt_fmu *fmu, const char *out,
                                            const struct tt_compile_fmu_options *options);

/* If the FMU has no library for this platform, *built is the path of one that has, made now or earlier from the same content, in the
 * user's cache; the caller's (free). NULL: it has one. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu_if_missing(const struct tt_fmu *fmu, const struct tutti_log *log,
                                                       char **built);

#endif
