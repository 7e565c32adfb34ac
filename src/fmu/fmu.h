/* SPDX-License-Identifier: MIT */
/* fmu.h - an FMU file: archive, description and library together, each made when it is first needed and once only. */
#ifndef TT_FMU_FMU_H
#define TT_FMU_FMU_H

#include "base/log.h"
#include "fmu/archive/archive.h"
#include "fmu/description/description.h"
#include "base/findings.h"
#include "fmu/description/layer.h"
#include "fmu/description/terminals.h"
#include "fmu/binary/library.h"

struct tt_fmu {
    char *path;        /* as the user wrote it, for messages */
    char *description; /* "PATH/modelDescription.xml", for messages */
    struct tt_archive *archive;
    struct tt_description *desc;
    struct tt_library *libraries[TUTTI_INTERFACE_COUNT]; /* NULL until tt_fmu_load; 2.0 and 3.0 have one file for all */
    unsigned sharers;                                    /* owners beside the first (tt_fmu_share) */
    struct tt_terminals *terminals;                      /* NULL before tt_fmu_terminals, or without terminals */
    bool terminals_read;
};

/* Opens the archive or folder and reads its description. Findings as in tt_description_read. */
TUTTI_CHECKED enum tutti_err tt_fmu_open(struct tt_fmu **out, const char *path, struct tt_findings *findings);
/* As above with a displayed name: messages call the file `shown`. */
TUTTI_CHECKED enum tutti_err tt_fmu_open_as(struct tt_fmu **out, const char *path, const char *shown,
                                            struct tt_findings *findings);
/* Adds an owner, in this thread: tt_fmu_free must be called once more. */
struct tt_fmu *tt_fmu_share(struct tt_fmu *fmu);
/* Unloads the library, removes the temporary folder, once the last owner calls it. All instances must be gone, or idle. */
void tt_fmu_free(struct tt_fmu *fmu);

/* Returns its terminals, read on first use; *out is NULL without such a file. Errors and findings as of
 * tt_terminals_read: they do not prevent a run. */
TUTTI_CHECKED enum tutti_err tt_fmu_terminals(struct tt_fmu *fmu, struct tt_findings *findings,
                                              const struct tt_terminals **out);
/* Iterates over the manifests of layered standards: *at is 0 at first, and *found is false after the last manifest.
 * Texts go to the arena. An unreadable manifest is a finding and is skipped. */
TUTTI_CHECKED enum tutti_err tt_fmu_next_layer(struct tt_fmu *fmu, size_t *at, struct tt_layer *layer,
                                               struct tt_arena *arena, struct tt_findings *findings, bool *found);

/* Returns the program that would run its library because it is for a different platform (fmu/binary/binary.h); NULL if
 * it is for this platform or no such program exists. */
const char *tt_fmu_fork_server(const struct tt_fmu *fmu);

/* Unpacks the archive unless it is unpacked. */
TUTTI_CHECKED enum tutti_err tt_fmu_unpack(struct tt_fmu *fmu);
/* Loads the library for `kind` unless it is loaded: one extraction and one dlopen, however many instances follow. Several
 * threads may call it at once. */
TUTTI_CHECKED enum tutti_err tt_fmu_load(struct tt_fmu *fmu, enum tt_interface_kind kind, const struct tutti_log *log);

/* Makes all checks of `tutti check`: the description, whose `flaws` do not affect a run; binary, symbols. Code of the
 * FMU runs only if the library is loaded for it (`loads`). */
TUTTI_CHECKED enum tutti_err tt_fmu_check(struct tt_fmu *fmu, bool loads, struct tt_findings *flaws,
                                          struct tt_findings *findings);

#endif
