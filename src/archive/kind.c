/* SPDX-License-Identifier: MIT */
#include "archive/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vector.h"

struct tutti_archive *tutti_archive_new(size_t size, const struct tutti_archive_kind *kind, const char *path)
{
    struct tutti_archive *archive = calloc(1, size);
    char *copy = tutti_str_copy(path);
    if (!archive || !copy) {
        free(archive);
        free(copy);
        return NULL;
    }
    archive->kind = kind;
    archive->path = copy;
    return archive;
}

enum tutti_err tutti_archive_add(struct tutti_archive *archive, const char *name,
                                 const struct tutti_archive_entry *entry)
{
    if (archive->count == TUTTI_ARCHIVE_ENTRIES)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s: more than %d files; no FMU and no system needs so many", archive->path,
                          TUTTI_ARCHIVE_ENTRIES);
    const char *copy = tutti_arena_text(&archive->names, name, strlen(name));
    if (!copy || !tutti_vector_reserve(&archive->entries, &archive->room, archive->count + 1, sizeof *entry))
        return tutti_fail_memory();
    archive->entries[archive->count] = *entry;
    archive->entries[archive->count++].name = copy;
    return TUTTI_OK;
}
