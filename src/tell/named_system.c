/* SPDX-License-Identifier: MIT */
#include "tell/named_system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum tutti_err tutti_named_system_split(struct tutti_named_system *file, const char *text)
{
    const char *hash = access(text, F_OK) == 0 ? NULL : strrchr(text, '#');
    *file = (struct tutti_named_system){0};
    file->path = hash ? strndup(text, (size_t)(hash - text)) : tutti_str_copy(text);
    file->variant = hash ? tutti_str_copy(hash + 1) : NULL;
    return file->path && (!hash || file->variant) ? TUTTI_OK : tutti_fail_memory();
}

bool tutti_named_system_is(const char *text)
{
    struct tutti_named_system file;
    bool is = tutti_named_system_split(&file, text) == TUTTI_OK && tutti_package_is(file.path);
    tutti_named_system_close(&file);
    return is;
}

static enum tutti_err read_ssd(struct tutti_named_system *file)
{
    struct tutti_place place = {0};
    struct tutti_reader reader = {0};
    TRY(tutti_package_ssd(file->package, file->variant, &place));
    enum tutti_err err = tutti_place_begin_read(&place, &reader);
    if (!err)
        err = tutti_ssd_read(&file->ssd, place.shown, &reader, NULL);
    tutti_place_end_read(&reader);
    tutti_place_fini(&place);
    return err;
}

enum tutti_err tutti_named_system_open(struct tutti_named_system *file, const char *text)
{
    struct tutti_findings findings = {0};
    struct tutti_system_source source = {.files = &text, .file_count = 1};
    TRY(tutti_named_system_split(file, text));
    TRY(tutti_package_open(&file->package, file->path, file->path));
    TRY(read_ssd(file));
    TRY(tutti_system_load(&file->system, &source, &findings));
    file->errors = findings.errors;
    return TUTTI_OK;
}

void tutti_named_system_close(struct tutti_named_system *file)
{
    tutti_system_free(file->system);
    tutti_ssd_free(file->ssd);
    tutti_package_free(file->package);
    free(file->path);
    free(file->variant);
}
