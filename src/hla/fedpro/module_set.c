/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/module_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/vector.h"

enum { MOST_ENTRIES = 16, NAME = 200 };

void tt_module_set_fini(struct tt_module_set *modules)
{
    for (size_t i = 0; i < modules->count; i++)
        tt_fom_module_free(modules->items[i]);
    free(modules->items);
    *modules = (struct tt_module_set){0};
}

/* Takes the module. */
static enum tt_hla module_set_append(struct tt_module_set *modules, struct tt_fom_module *module)
{
    if (!tt_vector_reserve(&modules->items, &modules->room, modules->count + 1, sizeof *modules->items)) {
        tt_fom_module_free(module);
        return tt_exception_raise_memory();
    }
    modules->items[modules->count++] = module;
    return TUTTI_HLA_OK;
}

static enum tt_hla add_module_bytes(struct tt_module_set *modules, const char *name, const void *bytes, size_t size)
{
    struct tt_fom_module *module = NULL;
    struct tt_text_excerpt shown = tt_text_excerpt(name[0] ? name : "a module without a name");
    if (size > TUTTI_FEDPRO_MODULE_MOST)
        return RAISE(ErrorReadingFOM, "%s has %zu bytes; at most %d are read", shown.text, size,
                     TUTTI_FEDPRO_MODULE_MOST);
    if (tt_fom_module_read_bytes(&module, shown.text, bytes, size))
        return TUTTI_HLA_ErrorReadingFOM; /* the message is there */
    return module_set_append(modules, module);
}

static enum tutti_err module_set_read_file(void *context, void *buffer, size_t size, size_t *got)
{
    FILE *file = context;
    *got = fread(buffer, 1, size, file);
    return ferror(file) ? tt_fail(TUTTI_ERR_IO, "reading failed: %s", strerror(errno)) : TUTTI_OK;
}

static enum tt_hla module_set_add_path(struct tt_module_set *modules, const char *path)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return RAISE(CouldNotOpenFOM, "%s cannot be opened: %s", path, strerror(errno));
    struct tt_byte_source reader = {module_set_read_file, file};
    struct tt_fom_module *module = NULL;
    enum tutti_err err = tt_fom_module_read(&module, path, &reader);
    fclose(file);
    return err ? TUTTI_HLA_ErrorReadingFOM : module_set_append(modules, module);
}

static enum tt_hla add_module_url(struct tt_module_set *modules, const char *url, const struct tt_module_files *shelf)
{
    const char *path = strncasecmp(url, "file://", 7) == 0 ? url + 7 : url;
    for (size_t i = 0; i < shelf->count; i++) {
        const char *slash = strrchr(shelf->paths[i], '/');
        if (strcmp(path, shelf->paths[i]) == 0 || strcmp(path, slash ? slash + 1 : shelf->paths[i]) == 0)
            return module_set_add_path(modules, shelf->paths[i]);
    }
    return RAISE(CouldNotOpenFOM,
                 "%s: the RTI opens only FOM modules that it was started with (--fom FILE); or send the module itself",
                 tt_text_excerpt(url).text);
}

/* Finds the only entry that is not a folder; -1 after a message. */
static zip_int64_t module_set_find_entry(zip_t *archive)
{
    zip_int64_t count = zip_get_num_entries(archive, 0), found = -1;
    for (zip_int64_t i = 0; i < count && count <= MOST_ENTRIES; i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        if (!name || name[0] == '\0' || name[strlen(name) - 1] == '/')
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static enum tt_hla module_set_unpack(struct tt_module_set *modules, zip_t *archive)
{
    zip_int64_t entry = module_set_find_entry(archive);
    if (entry < 0)
        return RAISE(ErrorReadingFOM, "a zipped module is an archive with one file");
    char name[NAME];
    snprintf(name, sizeof name, "%s", zip_get_name(archive, (zip_uint64_t)entry, 0));
    zip_file_t *file = zip_fopen_index(archive, (zip_uint64_t)entry, 0);
    char *bytes = NULL;
    size_t room = 0, count = 0;
    zip_int64_t got = file ? 1 : -1;
    while (got > 0 && count <= TUTTI_FEDPRO_MODULE_MOST) {
        if (!tt_vector_reserve(&bytes, &room, count + 65536, 1)) {
            got = -1;
            break;
        }
        got = zip_fread(file, bytes + count, room - count);
        count += got > 0 ? (size_t)got : 0;
    }
    enum tt_hla hla = TUTTI_HLA_OK;
    if (got < 0)
        hla = RAISE(ErrorReadingFOM, "%s: the zipped module is broken", tt_text_excerpt(name).text);
    else
        hla = add_module_bytes(modules, name, bytes, count);
    free(bytes);
    if (file)
        zip_fclose(file);
    return hla;
}

static enum tt_hla add_zipped_module(struct tt_module_set *modules, ProtobufCBinaryData data)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(data.data, data.len, 0, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
    if (!archive) {
        zip_source_free(source);
        enum tt_hla hla = RAISE(ErrorReadingFOM, "a zipped module is no ZIP archive: %s", zip_error_strerror(&error));
        zip_error_fini(&error);
        return hla;
    }
    enum tt_hla hla = module_set_unpack(modules, archive);
    zip_discard(archive);
    zip_error_fini(&error);
    return hla;
}

enum tt_hla tt_module_set_add(struct tt_module_set *modules, const Fedpro__Module *module,
                              const struct tt_module_files *shelf)
{
    switch (module ? module->form_case : FEDPRO__MODULE__FORM__NOT_SET) {
    case FEDPRO__MODULE__FORM_FILE:
        return add_module_bytes(modules, module->file->name, module->file->content.data, module->file->content.len);
    case FEDPRO__MODULE__FORM_ZIPPED: return add_zipped_module(modules, module->zipped);
    case FEDPRO__MODULE__FORM_URL: return add_module_url(modules, module->url, shelf);
    default: return RAISE(CouldNotOpenFOM, "a FOM module is empty: it has neither a file nor a URL");
    }
}

enum tt_hla tt_module_set_add_all(struct tt_module_set *modules, const Fedpro__Modules *set,
                                  const struct tt_module_files *shelf)
{
    for (size_t i = 0; set && i < set->n_item; i++)
        HLA_TRY(tt_module_set_add(modules, set->item[i], shelf));
    return TUTTI_HLA_OK;
}
