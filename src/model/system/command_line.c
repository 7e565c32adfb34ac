/* SPDX-License-Identifier: MIT */
/* Reads a command line: files with names, --connect, --set. */
#include "model/system/command_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/text.h"
#include "model/system/flat.h"
#include "model/system/terminal_join.h"

/* ---- files ---- */

struct file_argument {
    char *name, *path, *variant; /* variant: NULL, the default one */
    bool system, foreign;        /* foreign: in another tool's format */
};

static bool file_exists(struct tt_flat *flat, const char *path)
{
    struct stat st;
    return tt_model_files_find_alias(flat, path) || tt_model_files_find_earlier(flat, path) || stat(path, &st) == 0;
}

/* "dir/ball.fmu" -> "ball" */
static char *file_stem(const char *path)
{
    static const char *const endings[] = {".fmu", ".ssp", ".ssd", ".xml"};
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (end - begin > 4 && strncmp(path + end - 4, endings[i], 4) == 0) {
            end -= 4;
            break;
        }
    return strndup(path + begin, end - begin);
}

/* Parses "NAME=FILE", "FILE", "FILE#VARIANT"; a file that exists is taken literally. False: memory is out. */
static bool read_argument(struct tt_flat *flat, const char *text, struct file_argument *out)
{
    *out = (struct file_argument){0};
    const char *path = text, *equals = file_exists(flat, text) ? NULL : strchr(text, '=');
    if (equals && equals > text) {
        out->name = strndup(text, (size_t)(equals - text));
        path = equals + 1;
    }
    const char *hash = file_exists(flat, path) ? NULL : strrchr(path, '#');
    out->path = hash ? strndup(path, (size_t)(hash - path)) : tt_text_copy(path);
    out->variant = hash ? tt_text_copy(hash + 1) : NULL;
    bool is_named = path != text;
    if (!out->path || (hash && !out->variant) || (is_named && !out->name))
        return false;
    out->system = tt_model_files_is_system(flat, out->path, out->path);
    out->foreign = !out->system && tt_import_is_supported(out->path);
    if (!is_named)
        out->name = file_stem(out->path);
    return out->name != NULL;
}

static enum tutti_err command_line_open_root(struct tt_flat *flat, const struct file_argument *argument)
{
    struct tt_flat_file *file;
    TRY(tt_model_files_open_package(flat, argument->path, argument->path, argument->variant, &file));
    if (tt_hierarchy_add(flat, 0, "") == TUTTI_NONE)
        return tt_fail_memory();
    struct tt_flat_item *root = tt_flat_item(flat, 0);
    root->element = &file->ssd->system;
    root->file = file;
    const char *name = file->ssd->name ? file->ssd->name : argument->name;
    flat->system->name = tt_arena_copy_text(&flat->system->arena, name, strlen(name));
    if (!flat->system->name)
        return tt_fail_memory();
    TRY(tt_hierarchy_read_settings(flat, file));
    return tt_hierarchy_open(flat, 0);
}

/* FMUs, and systems among them, are the elements of a system without a document. */
static enum tutti_err command_line_add_file(struct tt_flat *flat, const struct file_argument *argument, uint32_t index)
{
    struct tt_flat_file *file;
    if (!argument->system) {
        TRY(tt_model_files_open_fmu(flat, argument->path, argument->path, &file));
        tt_flat_item(flat, index)->target = file;
        return tt_hierarchy_add_fmu(flat, index, file->fmu);
    }
    TRY(tt_model_files_open_package(flat, argument->path, argument->path, argument->variant, &file));
    struct tt_flat_item *item = tt_flat_item(flat, index);
    item->element = &file->ssd->system;
    item->file = file;
    return tt_hierarchy_open(flat, index);
}

static enum tutti_err command_line_add_files(struct tt_flat *flat, const struct file_argument *arguments, size_t count)
{
    struct tt_map *names = &flat->system->names; /* for now of what is written; in the end of components */
    if (tt_hierarchy_add(flat, 0, "") == TUTTI_NONE)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        const char *name = tt_arena_copy_text(&flat->arena, arguments[i].name, strlen(arguments[i].name));
        int64_t earlier;
        if (!name || tt_hierarchy_add(flat, 0, name) == TUTTI_NONE)
            return tt_fail_memory();
        TRY(tt_map_add(names, name, (int64_t)i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            return tt_fail(TUTTI_ERR_ARGUMENT, "two files are called '%s'; name them, for instance %s1=%s and %s2=%s",
                           name, name, arguments[earlier].path, name, arguments[i].path);
    }
    tt_map_fini(names);
    tt_flat_item(flat, 0)->first_child = 1;
    tt_flat_item(flat, 0)->child_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        TRY(command_line_add_file(flat, &arguments[i], (uint32_t)i + 1));
    return TUTTI_OK;
}

static enum tutti_err open_arguments(struct tt_flat *flat, const struct file_argument *arguments, size_t count)
{
    struct tt_system *system = flat->system;
    const char *name = count == 1 ? arguments[0].name : "system";
    system->path = tt_arena_copy_text(&system->arena, arguments[0].path, strlen(arguments[0].path));
    system->name = tt_arena_copy_text(&system->arena, name, strlen(name));
    system->single = count == 1 && !arguments[0].system && !arguments[0].foreign;
    if (!system->path || !system->name)
        return tt_fail_memory();
    for (size_t i = 0; i < count && count > 1; i++)
        if (arguments[i].foreign)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s cannot be a part of a larger system; make an SSP of it (tutti new OUT.ssp %s)",
                           arguments[i].path, arguments[i].path);
    if (arguments[0].foreign)
        return tt_imported_open(flat, arguments[0].path);
    if (count == 1 && arguments[0].system)
        return command_line_open_root(flat, &arguments[0]);
    TRY(command_line_add_files(flat, arguments, count));
    if (system->single)
        system->experiment = tt_flat_component(flat, 0)->fmu->desc->experiment;
    return TUTTI_OK;
}

enum tutti_err tt_command_line_open(struct tt_flat *flat)
{
    size_t count = flat->source->file_count, read = 0;
    if (count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "no file to run");
    struct file_argument *arguments = calloc(count, sizeof *arguments);
    if (!arguments)
        return tt_fail_memory();
    while (read < count && read_argument(flat, flat->source->files[read], &arguments[read]))
        read++;
    enum tutti_err err = read < count ? tt_fail_memory() : open_arguments(flat, arguments, count);
    for (size_t i = 0; i < count; i++) {
        free(arguments[i].name);
        free(arguments[i].path);
        free(arguments[i].variant);
    }
    free(arguments);
    return err;
}

/* ---- names ---- */

/* Resolves a name on the command line; for a single FMU its component name may be omitted. */
static enum tutti_err command_line_find(struct tt_flat *flat, const char *name, struct tt_vector *matches)
{
    matches->count = 0;
    if (flat->system->single)
        TRY(tt_flat_find_matches(flat, 1, name, matches));
    return matches->count > 0 ? TUTTI_OK : tt_flat_find_matches(flat, 0, name, matches);
}

static enum tutti_err command_line_fail_unknown(struct tt_flat *flat, const char *option, const char *name)
{
    const char *nearest = tt_flat_nearest(flat, 0, name);
    if (!nearest && flat->system->single)
        nearest = tt_flat_nearest(flat, 1, name);
    if (nearest)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; did you mean '%s'?", option, name,
                       nearest);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; `tutti info --variables` lists all",
                   option, name);
}

/* ---- --connect ---- */

static enum tutti_err command_line_end_of(struct tt_flat *flat, const char *name, const struct tt_flat_match *match,
                                          struct tt_flat_edge_end *end)
{
    const struct tt_flat_item *item = tt_flat_item(flat, match->item);
    *end = (struct tt_flat_edge_end){.inner = match->item == 0, .index_count = match->element.count};
    if (match->element.count > 0) {
        uint64_t *indices = tt_arena_array(&flat->arena, match->element.count, sizeof *indices);
        if (!indices)
            return tt_fail_memory();
        memcpy(indices, match->element.index, match->element.count * sizeof *indices);
        end->indices = indices;
    }
    if (match->connector != TUTTI_NONE) {
        end->node = item->nodes[match->connector];
    } else {
        const struct tt_var *var = &tt_flat_component(flat, item->component)->fmu->desc->vars[match->variable];
        end->node = tt_flat_variable_node(flat, match->item, match->variable);
        if (end->node == TUTTI_NONE)
            return tt_fail_memory();
        if (var->causality == TUTTI_INDEPENDENT)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--connect: '%s' is the time, which cannot be connected", name);
    }
    const struct tt_flat_node *node = tt_flat_node(flat, end->node);
    end->kind = node->kind;
    if (!tt_flat_has_element(flat, node, end->indices, end->index_count))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--connect: there is no element '%s'", name);
    return TUTTI_OK;
}

/* The source of a connection, "a.y" or "a.y*2+1": matches is empty if it names nothing. */
static enum tutti_err command_line_find_source(struct tt_flat *flat, const char *text, size_t length,
                                               struct tt_vector *matches, struct tt_scaled_name *scaled)
{
    *scaled = tt_command_line_unscaled(length);
    do {
        char *name = strndup(text, scaled->length);
        enum tutti_err err = name ? command_line_find(flat, name, matches) : tt_fail_memory();
        free(name);
        TRY(err);
    } while (matches->count == 0 && tt_command_line_next_scaled(text, length, scaled));
    return TUTTI_OK;
}

static enum tutti_err command_line_add_connection(struct tt_flat *flat, const char *text, const struct tt_vector *left,
                                                  const struct tt_scaled_name *scaled, const struct tt_vector *right,
                                                  const char *to)
{
    struct tt_flat_edge edge = {.text = text};
    char *from = strndup(text, scaled->length);
    enum tutti_err err = from ? TUTTI_OK : tt_fail_memory();
    if (!err && (left->count > 1 || right->count > 1))
        err = tt_fail(TUTTI_ERR_ARGUMENT, "--connect %s: '%s' means several variables", text,
                      left->count > 1 ? from : to);
    if (!err)
        err = command_line_end_of(flat, from, left->items, &edge.from);
    if (!err)
        err = command_line_end_of(flat, to, right->items, &edge.to);
    free(from);
    if (!err && (scaled->factor != 1 || scaled->offset != 0)) {
        struct tt_ssp_transformation *transformation = tt_arena_alloc(&flat->arena, sizeof *transformation);
        if (!transformation)
            return tt_fail_memory();
        *transformation = (struct tt_ssp_transformation){
            .kind = TUTTI_SSP_LINEAR, .factor = scaled->factor, .offset = scaled->offset};
        edge.transformation = transformation;
    }
    return err ? err : tt_edges_add(flat, &edge);
}

/* Resolves both names, split at one of the '='; *found is true if both exist. */
static enum tutti_err command_line_connect_at(struct tt_flat *flat, const char *text, const char *equals, bool *found)
{
    struct tt_vector left = {0}, right = {0};
    struct tt_scaled_name scaled;
    enum tutti_err err = command_line_find_source(flat, text, (size_t)(equals - text), &left, &scaled);
    if (!err)
        err = command_line_find(flat, equals + 1, &right);
    *found = !err && left.count > 0 && right.count > 0;
    if (*found)
        err = command_line_add_connection(flat, text, &left, &scaled, &right, equals + 1);
    tt_vector_fini(&left);
    tt_vector_fini(&right);
    return err;
}

static enum tutti_err fail_connect(struct tt_flat *flat, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return tt_fail(TUTTI_ERR_ARGUMENT, "--connect takes A.y=B.u, not '%s'", text);
    struct tt_vector matches = {0};
    struct tt_scaled_name scaled;
    char *from = strndup(text, (size_t)(equals - text));
    enum tutti_err err = from ? command_line_find_source(flat, text, (size_t)(equals - text), &matches, &scaled)
                              : tt_fail_memory();
    if (!err)
        err = command_line_fail_unknown(flat, "--connect", matches.count > 0 ? equals + 1 : from);
    if (from)
        (void)tt_fail_about(err, NULL, matches.count > 0 ? equals + 1 : from, NAN);
    tt_vector_fini(&matches);
    free(from);
    return err;
}

enum tutti_err tt_command_line_connect(struct tt_flat *flat)
{
    for (size_t i = 0; i < flat->source->connect_count; i++) {
        const char *text = flat->source->connect[i];
        bool found = false;
        for (const char *equals = strchr(text, '='); equals && !found; equals = strchr(equals + 1, '='))
            TRY(command_line_connect_at(flat, text, equals, &found));
        for (const char *equals = strchr(text, '='); equals && !found; equals = strchr(equals + 1, '='))
            TRY(tt_terminal_join(flat, text, equals, &found));
        if (!found)
            return fail_connect(flat, text);
    }
    return TUTTI_OK;
}

/* ---- --set ---- */

static enum tutti_err command_line_set_value(struct tt_flat *flat, size_t number, const struct tt_vector *matches,
                                             const char *text)
{
    const char **texts = tt_arena_alloc(&flat->arena, sizeof *texts);
    if (!texts)
        return tt_fail_memory();
    *texts = text;
    struct tt_flat_value value = {
        .rank = TUTTI_RANK_SET + number,
        .origin = flat->source->set[number],
        .texts = true,
        .alone = matches->count == 1 && ((const struct tt_flat_match *)matches->items)->connector == TUTTI_NONE,
        .count = 1,
        .data = texts,
    };
    for (size_t i = 0; i < matches->count; i++)
        TRY(tt_start_values_apply(flat, &value, (const struct tt_flat_match *)matches->items + i, false, NULL));
    return flat->err;
}

enum tutti_err tt_command_line_set(struct tt_flat *flat)
{
    for (size_t i = 0; i < flat->source->set_count; i++) {
        const char *text = flat->source->set[i], *equals = strchr(text, '=');
        if (!equals || equals == text)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--set takes NAME=VALUE, not '%s'", text);
        struct tt_vector matches = {0};
        enum tutti_err err = TUTTI_OK;
        const char *first = NULL;
        for (; equals && !err && matches.count == 0; equals = strchr(equals + 1, '=')) {
            const char *name = tt_arena_copy_text(&flat->arena, text, (size_t)(equals - text));
            first = first ? first : name;
            err = name ? command_line_find(flat, name, &matches) : tt_fail_memory();
            if (!err && matches.count > 0)
                err = command_line_set_value(flat, i, &matches, equals + 1);
        }
        if (!err && matches.count == 0)
            err = tt_fail_about(command_line_fail_unknown(flat, "--set", first), NULL, first, NAN);
        tt_vector_fini(&matches);
        TRY(err);
    }
    return TUTTI_OK;
}

static bool command_line_read_number(const char *text, size_t length, double *number)
{
    return tt_number_read_double(text, length, number) && isfinite(*number);
}

/* "+1", "-0.5" */
static bool command_line_read_offset(const char *text, size_t length, double *offset)
{
    if (length < 2 || (text[0] != '+' && text[0] != '-') || text[1] == '+' || text[1] == '-' ||
        !command_line_read_number(text + 1, length - 1, offset))
        return false;
    *offset = text[0] == '-' ? -*offset : *offset;
    return true;
}

/* "*2", "*1e-3-1", "+1" */
static bool command_line_read_scale(const char *text, size_t length, struct tt_scaled_name *scaled)
{
    *scaled = tt_command_line_unscaled(0);
    if (text[0] != '*')
        return command_line_read_offset(text, length, &scaled->offset);
    if (command_line_read_number(text + 1, length - 1, &scaled->factor))
        return true;
    for (size_t cut = length - 1; cut > 1; cut--)
        if (command_line_read_offset(text + cut, length - cut, &scaled->offset) &&
            command_line_read_number(text + 1, cut - 1, &scaled->factor))
            return true;
    return false;
}

struct tt_scaled_name tt_command_line_unscaled(size_t length)
{
    return (struct tt_scaled_name){.length = length, .factor = 1, .offset = 0};
}

bool tt_command_line_next_scaled(const char *text, size_t length, struct tt_scaled_name *scaled)
{
    for (size_t cut = scaled->length; cut > 1; cut--) {
        char sign = text[cut - 1];
        if ((sign == '*' || sign == '+' || sign == '-') &&
            command_line_read_scale(text + cut - 1, length - cut + 1, scaled)) {
            scaled->length = cut - 1;
            return true;
        }
    }
    return false;
}
