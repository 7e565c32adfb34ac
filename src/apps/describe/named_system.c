/* SPDX-License-Identifier: MIT */
#include "apps/describe/named_system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum tutti_err tt_info_split_name(struct tt_named_system *file, const char *text)
{
    const char *hash = access(text, F_OK) == 0 ? NULL : strrchr(text, '#');
    *file = (struct tt_named_system){0};
    file->path = hash ? strndup(text, (size_t)(hash - text)) : tt_text_copy(text);
    file->variant = hash ? tt_text_copy(hash + 1) : NULL;
    return file->path && (!hash || file->variant) ? TUTTI_OK : tt_fail_memory();
}

bool tt_info_is_system(const char *text)
{
    struct tt_named_system file;
    bool is = tt_info_split_name(&file, text) == TUTTI_OK && tt_package_is_system(file.path);
    tt_info_close_system(&file);
    return is;
}

static enum tutti_err named_system_read_ssd(struct tt_named_system *file)
{
    struct tt_package_place place = {0};
    struct tt_byte_source reader = {0};
    TRY(tt_package_find_ssd(file->package, file->variant, &place));
    enum tutti_err err = tt_package_open_file(&place, &reader);
    if (!err)
        err = tt_ssd_read(&file->ssd, place.shown, &reader, NULL);
    tt_package_close_file(&reader);
    tt_package_place_fini(&place);
    return err;
}

enum tutti_err tt_info_open_system(struct tt_named_system *file, const char *text)
{
    struct tt_findings findings = {0};
    struct tt_system_source source = {.files = &text, .file_count = 1};
    TRY(tt_info_split_name(file, text));
    TRY(tt_package_open(&file->package, file->path, file->path));
    TRY(named_system_read_ssd(file));
    TRY(tt_system_load(&file->system, &source, &findings));
    file->errors = findings.errors;
    return TUTTI_OK;
}

void tt_info_close_system(struct tt_named_system *file)
{
    tt_system_free(file->system);
    tt_ssd_free(file->ssd);
    tt_package_free(file->package);
    free(file->path);
    free(file->variant);
}
