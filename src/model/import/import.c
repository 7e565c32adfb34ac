/* SPDX-License-Identifier: MIT */
#include "model/import/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

/* Capacities are powers of two, so the count implies when the array is full. */
static void *import_grow(struct tt_arena *arena, void **items, size_t *count, size_t size)
{
    if ((*count & (*count - 1)) == 0) {
        char *more = tt_arena_array(arena, *count ? 2 * *count : 1, size);
        if (!more)
            return NULL;
        if (*count > 0)
            memcpy(more, *items, *count * size);
        *items = more;
    }
    return (char *)*items + (*count)++ * size;
}

#define GROW(assembly, what)                                                                                           \
    import_grow(&(assembly)->arena, (void **)&(assembly)->what##s, &(assembly)->what##_count,                          \
                sizeof *(assembly)->what##s)

struct tt_import_component *tt_import_add_component(struct tt_import *assembly)
{
    return GROW(assembly, unit);
}

struct tt_import_function *tt_import_add_function(struct tt_import *assembly)
{
    return GROW(assembly, function);
}

struct tt_import_connection *tt_import_add_connection(struct tt_import *assembly)
{
    return GROW(assembly, link);
}

struct tt_import_value *tt_import_add_value(struct tt_import *assembly)
{
    return GROW(assembly, value);
}

enum tutti_err tt_import_set(struct tt_import *assembly, const char *name, const char *value, unsigned line)
{
    struct tt_import_setting *setting = GROW(assembly, setting);
    const char *text = tt_arena_copy_text(&assembly->arena, value, strlen(value));
    if (!setting || !text)
        return tt_fail_memory();
    *setting = (struct tt_import_setting){name, text, line};
    return TUTTI_OK;
}

enum tutti_err tt_import_set_number(struct tt_import *assembly, const char *name, double value, unsigned line)
{
    return tt_import_set(assembly, name, NUMBER(value), line);
}

enum tutti_err tt_import_fail(const struct tt_import *assembly, unsigned line, const char *format, ...)
{
    char words[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: %s", assembly->file, line, words);
}

static bool import_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static bool is_msim(const char *path)
{
    return import_ends_with(path, ".msim");
}

bool tt_import_is_supported(const char *path)
{
    static const char osp[] = "OspSystemStructure";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return is_msim(path) || (strncasecmp(name, osp, sizeof osp - 1) == 0 && import_ends_with(name, ".xml"));
}

enum tutti_err tt_import_read(struct tt_import **out, const char *file, struct tt_byte_source *reader,
                              struct tt_findings *findings)
{
    *out = NULL;
    struct tt_import *assembly = calloc(1, sizeof *assembly);
    if (!assembly)
        return tt_fail_memory();
    assembly->file = tt_arena_copy_text(&assembly->arena, file, strlen(file));
    enum tutti_err err = !assembly->file ? tt_fail_memory()
                         : is_msim(file) ? tt_msim_read(assembly, reader, findings)
                                         : tt_osp_read(assembly, reader, findings);
    if (err == TUTTI_OK)
        *out = assembly;
    else
        tt_import_free(assembly);
    return err;
}

void tt_import_free(struct tt_import *assembly)
{
    if (!assembly)
        return;
    tt_arena_fini(&assembly->arena);
    free(assembly);
}
