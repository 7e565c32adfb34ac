/* SPDX-License-Identifier: MIT */
/* binary.h - the library in an FMU's archive: found for this platform, unpacked, loaded or looked at. */
#ifndef TT_FMU_BINARY_BINARY_H
#define TT_FMU_BINARY_BINARY_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/text.h"
#include "fmu/archive/archive.h"
#include "fmu/binary/library.h"

/* Appends the platforms that the FMU has binaries for: "linux64, win64". */
void tt_binary_list_platforms(const struct tt_archive *archive, struct tt_text *out);

/* Where an FMU has its library. */
struct tt_binary_entry {
    const char *name;   /* of the archive's entry; the archive's */
    bool misnamed;      /* it is not that of the model identifier, but the only one */
    const char *keeper; /* as in struct tt_library */
};

/* Finds the library for this platform in an archive, otherwise one for a platform that a program of Tutti can run
 * (binary.h). If there is none, the error lists the platforms that the archive has. */
TUTTI_CHECKED enum tutti_err tt_binary_find(const struct tt_archive *archive, const char *file,
                                            const char *model_identifier, struct tt_binary_entry *found);

/* Unpacks if necessary and loads, except for a library that a keeper must load: its functions and capabilities are not
 * known yet (fmu/process/forked.h, tt_forked_probe). The error names all missing functions that the run needs; missing
 * optional ones that the description declares give a warning, and the capability is removed. */
TUTTI_CHECKED enum tutti_err tt_binary_load(struct tt_library **out, struct tt_archive *archive, const char *file,
                                            const struct tt_description *desc, enum tt_interface_kind kind,
                                            const struct tutti_log *log);
/* Predicts the outcome of tt_binary_load from the files, without running code of the FMU. Only loading detects
 * variables and functions that other libraries lack or have in different versions. */
TUTTI_CHECKED enum tutti_err tt_binary_inspect(struct tt_archive *archive, const char *file,
                                               const struct tt_description *desc, enum tt_interface_kind kind,
                                               const struct tutti_log *log);

/* Finds the libraries that a library needs, as the loader would, but without loading or running any of them. */

enum { TUTTI_NEEDED_NAME = 256 };

/* A library that is needed and would not be found. */
struct tt_needed_missing {
    char name[TUTTI_NEEDED_NAME]; /* empty: none is */
    bool is_nameless;             /* it is beside the library, but its own name differs, or is missing */
};

/* Visits the library at `path`, which is an FMU's, and all that it needs, directly or not, each once. */
TUTTI_CHECKED enum tutti_err tt_binary_each_needed(const char *path, void (*visit)(void *context, const char *path),
                                                   void *context, struct tt_needed_missing *missing);

/* The binaries that this machine can run: those of this process' platform, and those that a program of Tutti runs in a
 * process of a different platform (fmu/process/, fmu/fork_server/). */

enum { TUTTI_MOST_FOLDERS = 4 };

struct tt_binary_platform {
    /* Names under binaries/, by preference, ended by NULL: the name of FMI 3.0 and that of FMI 1.0 and 2.0; some FMUs
     * use the name of the wrong version. */
    const char *folders[TUTTI_MOST_FOLDERS];
    const char *keeper;  /* the program; NULL: this process loads them */
    const char *package; /* of Debian, that has a compiler for it */
};

/* This process' own first; ended by one without folders. */
const struct tt_binary_platform *tt_binary_platforms(void);

#endif
