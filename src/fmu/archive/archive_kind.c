/* SPDX-License-Identifier: MIT */
#include "fmu/archive/archive_kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

struct tt_archive *tt_archive_new(size_t size, const struct tt_archive_kind *kind, const char *path)
{
    struct tt_archive *archive = calloc(1, size);
    char *copy = tt_text_copy(path);
    if (!archive || !copy) {
        free(archive);
        free(copy);
        return NULL;
    }
    archive->kind = kind;
    archive->path = copy;
    return archive;
}

enum tutti_err tt_archive_add(struct tt_archive *archive, const char *name, const struct tt_archive_entry *entry)
{
    if (archive->count == TUTTI_ARCHIVE_ENTRIES)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: more than %d files; no FMU and no system needs so many", archive->path,
                       TUTTI_ARCHIVE_ENTRIES);
    const char *copy = tt_arena_copy_text(&archive->names, name, strlen(name));
    if (!copy || !tt_vector_reserve(&archive->entries, &archive->room, archive->count + 1, sizeof *entry))
        return tt_fail_memory();
    archive->entries[archive->count] = *entry;
    archive->entries[archive->count++].name = copy;
    return TUTTI_OK;
}
