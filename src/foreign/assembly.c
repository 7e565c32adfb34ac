/* SPDX-License-Identifier: MIT */
#include "foreign/assembly.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "foreign/formats.h"

/* Capacities are powers of two, so the count tells when there is no room. */
static void *grow(struct tutti_arena *arena, void **items, size_t *count, size_t size)
{
    if ((*count & (*count - 1)) == 0) {
        char *more = tutti_arena_array(arena, *count ? 2 * *count : 1, size);
        if (!more)
            return NULL;
        if (*count > 0)
            memcpy(more, *items, *count * size);
        *items = more;
    }
    return (char *)*items + (*count)++ * size;
}

#define GROW(assembly, what)                                                                                           \
    grow(&(assembly)->arena, (void **)&(assembly)->what##s, &(assembly)->what##_count, sizeof *(assembly)->what##s)

struct tutti_assembly_unit *tutti_assembly_add_unit(struct tutti_assembly *assembly)
{
    return GROW(assembly, unit);
}

struct tutti_assembly_function *tutti_assembly_add_function(struct tutti_assembly *assembly)
{
    return GROW(assembly, function);
}

struct tutti_assembly_link *tutti_assembly_add_link(struct tutti_assembly *assembly)
{
    return GROW(assembly, link);
}

struct tutti_assembly_value *tutti_assembly_add_value(struct tutti_assembly *assembly)
{
    return GROW(assembly, value);
}

enum tutti_err tutti_assembly_set(struct tutti_assembly *assembly, const char *name, const char *value, unsigned line)
{
    struct tutti_assembly_setting *setting = GROW(assembly, setting);
    const char *text = tutti_arena_text(&assembly->arena, value, strlen(value));
    if (!setting || !text)
        return tutti_fail_memory();
    *setting = (struct tutti_assembly_setting){name, text, line};
    return TUTTI_OK;
}

enum tutti_err tutti_assembly_set_number(struct tutti_assembly *assembly, const char *name, double value, unsigned line)
{
    return tutti_assembly_set(assembly, name, NUMBER(value), line);
}

enum tutti_err tutti_assembly_fail(const struct tutti_assembly *assembly, unsigned line, const char *format, ...)
{
    char words[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: %s", assembly->file, line, words);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static bool is_msim(const char *path)
{
    return ends_with(path, ".msim");
}

bool tutti_assembly_is(const char *path)
{
    static const char osp[] = "OspSystemStructure";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return is_msim(path) || (strncasecmp(name, osp, sizeof osp - 1) == 0 && ends_with(name, ".xml"));
}

enum tutti_err tutti_assembly_read(struct tutti_assembly **out, const char *file, struct tutti_reader *reader,
                                   struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_assembly *assembly = calloc(1, sizeof *assembly);
    if (!assembly)
        return tutti_fail_memory();
    assembly->file = tutti_arena_text(&assembly->arena, file, strlen(file));
    enum tutti_err err = !assembly->file ? tutti_fail_memory()
                         : is_msim(file) ? tutti_msim_read(assembly, reader, findings)
                                         : tutti_osp_read(assembly, reader, findings);
    if (err == TUTTI_OK)
        *out = assembly;
    else
        tutti_assembly_free(assembly);
    return err;
}

void tutti_assembly_free(struct tutti_assembly *assembly)
{
    if (!assembly)
        return;
    tutti_arena_fini(&assembly->arena);
    free(assembly);
}
