/* SPDX-License-Identifier: MIT */
/* package.h - the files of a system: an .ssp archive, a folder with its content, or a bare .ssd with the files around
 * it. Archives are untrusted as those of FMUs (fmu/archive/archive.h) and unpacked once into a temporary folder. */
#ifndef TT_MODEL_SSP_PACKAGE_H
#define TT_MODEL_SSP_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/fail.h"

struct tt_package;

/* A file of a package; both texts are the caller's (tt_package_place_fini). */
struct tt_package_place {
    char *path;     /* on the disk; absolute */
    char *shown;    /* for messages: "car.ssp/resources/wheel.fmu" */
    char *fragment; /* after '#', or NULL */
};
void tt_package_place_fini(struct tt_package_place *place);

/* Opens `path`, which messages call `shown`. IO, FORMAT (with the files that are there instead) and LIMIT. */
TUTTI_CHECKED enum tutti_err tt_package_open(struct tt_package **out, const char *path, const char *shown);
/* Adds an owner, in this thread: tt_package_free must be called once more. */
struct tt_package *tt_package_share(struct tt_package *package);
void tt_package_free(struct tt_package *package);
/* Returns true if `path` looks like a system: an .ssp, an .ssd, or a folder with a SystemStructure.ssd. (Otherwise it
 * is an FMU.) */
bool tt_package_is_system(const char *path);

/* Returns true if it is a plain .ssd with the files around it. */
bool tt_package_is_bare(const struct tt_package *package);

/* Finds the top-level SSD: `variant` ("VariantB.ssd", or the name attribute of an SSD), NULL for the default. ARGUMENT,
 * listing the variants, if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_package_find_ssd(struct tt_package *package, const char *variant,
                                                 struct tt_package_place *place);
/* The .ssd files at the root, sorted, the default one first; borrowed. */
size_t tt_package_variant_count(const struct tt_package *package);
const char *tt_package_variant(const struct tt_package *package, size_t index);

/* A relative URI (percent-encoded; "file:" with an absolute path is taken, too, from a bare .ssd) against the file
 * `base` of the package. Other schemes, and for packages whatever leads out of them, are ARGUMENT with a way out. The
 * file need not exist. */
TUTTI_CHECKED enum tutti_err tt_package_resolve(const struct tt_package *package, const struct tt_package_place *base,
                                                const char *uri, struct tt_package_place *place);

/* A file on the disk as a stream; IO, naming `shown`. tt_package_close_file follows in any case. */
TUTTI_CHECKED enum tutti_err tt_package_open_file(const struct tt_package_place *place, struct tt_byte_source *reader);
void tt_package_close_file(struct tt_byte_source *reader);

#endif
