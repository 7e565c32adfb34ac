/* SPDX-License-Identifier: MIT */
/* package.h - where the files of a system lie: an .ssp archive, a folder of the same form, or a bare .ssd with what lies
 * around it. Archives are read as hostile as an FMU's (archive/archive.h) and unpacked once into a temporary folder. */
#ifndef TUTTI_SSP_PACKAGE_H
#define TUTTI_SSP_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/reader.h"

struct tutti_package;

/* A file of a package; both texts are the caller's (tutti_place_fini). */
struct tutti_place {
    char *path;     /* on the disk; absolute */
    char *shown;    /* for messages: "car.ssp/resources/wheel.fmu" */
    char *fragment; /* after '#', or NULL */
};
void tutti_place_fini(struct tutti_place *place);

/* Opens `path`, which messages call `shown`. IO, FORMAT (with the files that are there instead) and LIMIT. */
TUTTI_CHECKED enum tutti_err tutti_package_open(struct tutti_package **out, const char *path, const char *shown);
/* Another owner, in the same thread: tutti_package_free is to be called once more. */
struct tutti_package *tutti_package_share(struct tutti_package *package);
void tutti_package_free(struct tutti_package *package);
/* Does `path` look like a system: an .ssp, an .ssd, a folder with a SystemStructure.ssd? (else: an FMU) */
bool tutti_package_is(const char *path);

/* Is it a bare .ssd with what lies around it? */
bool tutti_package_is_bare(const struct tutti_package *package);

/* The SSD to begin with: `variant` ("VariantB.ssd", or the name attribute of an SSD), NULL for the default one. ARGUMENT,
 * listing the variants, if there is none of that name. */
TUTTI_CHECKED enum tutti_err tutti_package_ssd(struct tutti_package *package, const char *variant,
                                               struct tutti_place *place);
/* The .ssd files at the root, sorted, the default one first; borrowed. */
size_t tutti_package_variant_count(const struct tutti_package *package);
const char *tutti_package_variant(const struct tutti_package *package, size_t index);

/* A relative URI (percent-encoded; "file:" with an absolute path is taken, too, from a bare .ssd) against the file
 * `base` of the package. Other schemes, and for packages whatever leads out of them, are ARGUMENT with a way out. The
 * file need not exist. */
TUTTI_CHECKED enum tutti_err tutti_package_resolve(const struct tutti_package *package, const struct tutti_place *base,
                                                   const char *uri, struct tutti_place *place);

/* A file on the disk as a stream; IO, naming `shown`. tutti_place_end_read follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_place_begin_read(const struct tutti_place *place, struct tutti_reader *reader);
void tutti_place_end_read(struct tutti_reader *reader);

#endif
