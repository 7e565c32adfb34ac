/* SPDX-License-Identifier: MIT */
/* binary.h - the library in an FMU's archive: found for this platform, unpacked, loaded or looked at. */
#ifndef TUTTI_FMI_BINARY_BINARY_H
#define TUTTI_FMI_BINARY_BINARY_H

#include "archive/archive.h"
#include "base/str.h"
#include "fmi/library.h"

/* Appends the platforms that the FMU has binaries for: "linux64, win64". */
void tutti_binary_list_platforms(const struct tutti_archive *archive, struct tutti_text *out);

/* Where an FMU has its library. */
struct tutti_binary_entry {
    const char *name;   /* of the archive's entry; the archive's */
    bool misnamed;      /* it is not that of the model identifier, but the only one */
    const char *keeper; /* as in struct tutti_library */
};

/* Finds the library for this platform in an archive, or else for another one that a program of ours runs (platform.h); an error that says which
 * platforms there are if there is none. */
TUTTI_CHECKED enum tutti_err tutti_binary_find(const struct tutti_archive *archive, const char *file,
                                               const char *model_identifier, struct tutti_binary_entry *found);

/* Unpacks if necessary and loads, but for a library that a keeper has to load: its functions and what it can are not known yet
 * (forked/forked.h, tutti_forked_probe). Functions that the run cannot do without and that are missing are all named in the
 * error; optional ones that the description claims are warned of, and the capability is taken back. */
TUTTI_CHECKED enum tutti_err tutti_binary_load(struct tutti_library **out, struct tutti_archive *archive,
                                               const char *file, const struct tutti_desc *desc,
                                               enum tutti_interface_kind kind, const struct tutti_log *log);
/* Says what tutti_binary_load would, as far as the files tell it, and runs nothing of the FMU. Only loading shows variables and
 * functions that other libraries lack, or have in other versions. */
TUTTI_CHECKED enum tutti_err tutti_binary_inspect(struct tutti_archive *archive, const char *file,
                                                  const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                                  const struct tutti_log *log);

#endif
