/* SPDX-License-Identifier: MIT */
/* save_files.h - the files that a saved system is made of; only for save*.c. */
#ifndef TUTTI_API_SAVE_FILES_H
#define TUTTI_API_SAVE_FILES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/tempdir.h"
#include "ssp/package_write.h"
#include "ssp/ssp.h"

/* Zeroed, with `output` set, is ready. */
struct tutti_save_files {
    const char *output;
    struct tutti_package_part *parts;
    size_t count, room;
    struct tutti_map names, paths; /* of entries; of files on the disk -> part */
    struct tutti_archive *archive; /* whose entries are copied, or NULL */
    struct tutti_tempdir *tempdir; /* for folders that are packed, or NULL */
    struct tutti_arena arena;
};
void tutti_save_files_fini(struct tutti_save_files *files);

/* A document, whose text is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_save_files_text(struct tutti_save_files *files, const char *name,
                                                   const struct tutti_text *text);
/* A file, or a folder, which is packed, into resources/, once for however many that use it. *uri becomes its relative
 * reference from the top of the package, in the arena. */
TUTTI_CHECKED enum tutti_err tutti_save_files_resource(struct tutti_save_files *files, const char *path,
                                                       const char **uri);
/* All files of a package, with this text for that of the file `replaced` (both NULL: none). */
TUTTI_CHECKED enum tutti_err tutti_save_files_copy(struct tutti_save_files *files, const char *package,
                                                   const char *replaced, const struct tutti_text *text);
/* The reference to a file on the disk from the folder of the output; in the arena. */
TUTTI_CHECKED enum tutti_err tutti_save_files_beside(struct tutti_save_files *files, const char *path,
                                                     const char **uri);
/* Rewrites all references of a bare document, whose path is `from`, for the output: to resources, or to where they lie. */
TUTTI_CHECKED enum tutti_err tutti_save_files_move(struct tutti_save_files *files, struct tutti_tree *tree,
                                                   const char *from, bool to_resources);

/* Writes them as a package. */
TUTTI_CHECKED enum tutti_err tutti_save_files_write(const struct tutti_save_files *files);
/* Writes a document alone; it appears whole or not at all. */
TUTTI_CHECKED enum tutti_err tutti_save_files_write_text(const char *output, const struct tutti_text *text);
/* ARGUMENT if the output is this file. */
TUTTI_CHECKED enum tutti_err tutti_save_files_check_input(const char *output, const char *path);

#endif
