/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_API_SAVE_H
#define TT_APPS_API_SAVE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/tempdir.h"
#include "fmu/archive/zip.h"
#include "model/ssp/ssp.h"

/* The files that a saved system is made of; only for save*.c. */

/* Zeroed, with `output` set, is ready. */
struct tt_save_files {
    const char *output;
    struct tt_zip_part *parts;
    size_t count, room;
    struct tt_map names, paths; /* of entries; of files on the disk -> part */
    struct tt_archive *archive; /* the archive from which entries are copied, or NULL */
    struct tt_tempdir *tempdir; /* for folders that are packed, or NULL */
    struct tt_arena arena;
};
void tt_save_files_fini(struct tt_save_files *files);

/* Adds a document, whose text is borrowed. */
TUTTI_CHECKED enum tutti_err tt_save_files_text(struct tt_save_files *files, const char *name,
                                                const struct tt_text *text);
/* A file, or a folder, which is packed, into resources/, once for however many that use it. *uri becomes its relative
 * reference from the top of the package, in the arena. */
TUTTI_CHECKED enum tutti_err tt_save_files_resource(struct tt_save_files *files, const char *path, const char **uri);
/* All files of a package, with this text for that of the file `replaced` (both NULL: none). */
TUTTI_CHECKED enum tutti_err tt_save_files_copy(struct tt_save_files *files, const char *package, const char *replaced,
                                                const struct tt_text *text);
/* The reference to a file on the disk from the folder of the output; in the arena. */
TUTTI_CHECKED enum tutti_err tt_save_files_relative(struct tt_save_files *files, const char *path, const char **uri);
/* Rewrites all references of a bare document, whose path is `from`, for the output: to resources, or to the files. */
TUTTI_CHECKED enum tutti_err tt_save_files_rewrite_references(struct tt_save_files *files, struct tt_tree *tree,
                                                              const char *from, bool to_resources);

/* Writes them as a package. */
TUTTI_CHECKED enum tutti_err tt_save_files_write(const struct tt_save_files *files);
/* Writes a document alone; it appears whole or not at all. */
TUTTI_CHECKED enum tutti_err tt_save_files_write_text(const char *output, const struct tt_text *text);
/* ARGUMENT if the output is this file. */
TUTTI_CHECKED enum tutti_err tt_save_files_check_input(const char *output, const char *path);

#endif
