/* SPDX-License-Identifier: MIT */
/* fmu.h - an FMU file: archive, description and library together, each made when it is first needed and once only. */
#ifndef TUTTI_FMI_FMU_H
#define TUTTI_FMI_FMU_H

#include "base/log.h"
#include "archive/archive.h"
#include "description/desc.h"
#include "base/findings.h"
#include "description/layers.h"
#include "description/terminals.h"
#include "fmi/library.h"

struct tutti_fmu {
    char *path;        /* as the user wrote it, for messages */
    char *description; /* "PATH/modelDescription.xml", for messages */
    struct tutti_archive *archive;
    struct tutti_desc *desc;
    struct tutti_library
        *libraries[TUTTI_INTERFACE_COUNT]; /* NULL until tutti_fmu_load; 2.0 and 3.0 have one file for all */
    unsigned sharers;                      /* owners beside the first (tutti_fmu_share) */
    struct tutti_terminals *terminals;     /* NULL until tutti_fmu_terminals, or there are none */
    bool terminals_read;
};

/* Opens the archive or folder and reads its description. Findings as in tutti_desc_read. */
TUTTI_CHECKED enum tutti_err tutti_fmu_open(struct tutti_fmu **out, const char *path, struct tutti_findings *findings);
/* The same for a file that people know by another name: messages call it `shown`. */
TUTTI_CHECKED enum tutti_err tutti_fmu_open_as(struct tutti_fmu **out, const char *path, const char *shown,
                                               struct tutti_findings *findings);
/* Another owner, in the same thread: tutti_fmu_free is to be called once more. */
struct tutti_fmu *tutti_fmu_share(struct tutti_fmu *fmu);
/* Unloads the library, removes the temporary folder, once the last owner calls it. All instances must be gone, or idle. */
void tutti_fmu_free(struct tutti_fmu *fmu);

/* Its terminals, read when they are first asked for; *out is NULL if it has no such file. Errors and findings as of tutti_terminals_read:
 * an FMU runs without them all the same. */
TUTTI_CHECKED enum tutti_err tutti_fmu_terminals(struct tutti_fmu *fmu, struct tutti_findings *findings,
                                                 const struct tutti_terminals **out);
/* The manifests of layered standards in it, one after the other: *at is 0 at first, and *found false after the last one. Texts go to the
 * arena. A manifest that cannot be read is a finding, and passed over. */
TUTTI_CHECKED enum tutti_err tutti_fmu_next_layer(struct tutti_fmu *fmu, size_t *at, struct tutti_layer *layer,
                                                  struct tutti_arena *arena, struct tutti_findings *findings,
                                                  bool *found);

/* The program in which its library would live, because it is for another platform (binary/platform.h); NULL: it is for this one, or there is
 * none. */
const char *tutti_fmu_keeper(const struct tutti_fmu *fmu);

/* Unpacks the archive unless it is unpacked. */
TUTTI_CHECKED enum tutti_err tutti_fmu_unpack(struct tutti_fmu *fmu);
/* Loads the library for `kind` unless it is loaded: one extraction and one dlopen, however many instances follow. Several
 * threads may call it at once. */
TUTTI_CHECKED enum tutti_err tutti_fmu_load(struct tutti_fmu *fmu, enum tutti_interface_kind kind,
                                            const struct tutti_log *log);

/* Everything `tutti check` looks at: the description, whose `flaws` no run minds; binary, symbols. Code of the FMU runs only if
 * the library is loaded for it (`loads`). */
TUTTI_CHECKED enum tutti_err tutti_fmu_check(struct tutti_fmu *fmu, bool loads, struct tutti_findings *flaws,
                                             struct tutti_findings *findings);

#endif
