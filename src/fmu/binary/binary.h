/* SPDX-License-Identifier: MIT */
/* binary.h - the library in an FMU's archive: found for this platform, unpacked, loaded or looked at. */
#ifndef TT_FMU_BINARY_BINARY_H
#define TT_FMU_BINARY_BINARY_H

#include "fmu/archive/archive.h"
#include "base/text.h"
#include "fmu/binary/library.h"

/* Appends the platforms that the FMU has binaries for: "linux64, win64". */
void tt_binary_list_platforms(const struct tt_archive *archive, struct tt_text *out);

/* Where an FMU has its library. */
struct tt_binary_entry {
    const char *name;   /* of the archive's entry; the archive's */
    bool misnamed;      /* it is not that of the model identifier, but the only one */
    const char *keeper; /* as in struct tt_library */
};

/* Finds the library for this platform in an archive, or else for another one that a program of ours runs (platform.h); an error that says which
 * platforms there are if there is none. */
TUTTI_CHECKED enum tutti_err tt_binary_find(const struct tt_archive *archive, const char *file,
                                            const char *model_identifier, struct tt_binary_entry *found);

/* Unpacks if necessary and loads, but for a library that a keeper has to load: its functions and what it can are not known yet
 * (fmu/process/forked.h, tt_forked_probe). Functions that the run cannot do without and that are missing are all named in the
 * error; optional ones that the description claims are warned of, and the capability is taken back. */
TUTTI_CHECKED enum tutti_err tt_binary_load(struct tt_library **out, struct tt_archive *archive, const char *file,
                                            const struct tt_description *desc, enum tt_interface_kind kind,
                                            const struct tutti_log *log);
/* Says what tt_binary_load would, as far as the files tell it, and runs nothing of the FMU. Only loading shows variables and
 * functions that other libraries lack, or have in other versions. */
TUTTI_CHECKED enum tutti_err tt_binary_inspect(struct tt_archive *archive, const char *file,
                                               const struct tt_description *desc, enum tt_interface_kind kind,
                                               const struct tutti_log *log);

#endif
