/* SPDX-License-Identifier: MIT */
#include "federation/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "job/annotation.h"
#include "rti/fom/merge.h"

static const char ROOT[] = "HLAobjectRoot.";

/* One of the two options. */
struct side {
    const char *name; /* "--publish" */
    const char *form; /* what it takes */
    const char *const *given;
    size_t given_count;
    bool out;
    struct tutti_attribute_link *links;
    size_t count;
};

struct reading {
    struct tutti_attribute_links *links;
    const struct tutti_job *job;
    struct side *side;
};

static const char *without_root(const char *class_name)
{
    return strncmp(class_name, ROOT, strlen(ROOT)) == 0 ? class_name + strlen(ROOT) : class_name;
}

struct tutti_attribute_link_text tutti_attribute_link_show(const struct tutti_attribute_link *link)
{
    struct tutti_attribute_link_text shown;
    snprintf(shown.text, sizeof shown.text, "%.80s%s%.80s%s.%.80s", link->class_name, link->object ? "[" : "",
             link->object ? link->object : "", link->object ? "]" : "", link->attribute);
    return shown;
}

bool tutti_attribute_link_takes_class(const struct tutti_attribute_link *link, const char *class_name)
{
    const char *name = without_root(class_name);
    size_t length = strlen(link->class_name);
    return strncmp(name, link->class_name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* ---- texts ---- */

static enum tutti_err refuse(const struct reading *reading, const char *text)
{
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s takes %s, not '%s'", reading->side->name, reading->side->form,
                      tutti_str_show(text).text);
}

/* "Vehicle.Car[left].z" in its three parts. */
static enum tutti_err split_attribute(const struct reading *reading, const char *text, size_t length,
                                      struct tutti_attribute_link *link)
{
    struct tutti_arena *arena = &reading->links->arena;
    char *copy = tutti_arena_text(arena, text, length);
    if (!copy)
        return tutti_fail_memory();
    link->class_name = without_root(copy);
    char *open = strchr(copy, '['), *dot = strrchr(copy, '.');
    if (open) {
        char *close = strstr(open, "].");
        dot = close ? close + 1 : NULL;
        if (!close || close == open + 1)
            return refuse(reading, link->text);
        *open = *close = '\0';
        link->object = open + 1;
    }
    if (!dot || !dot[1] || strpbrk(dot + 1, ".[] ") || !link->class_name[0] || dot == link->class_name ||
        strpbrk(link->class_name, " []"))
        return refuse(reading, link->text);
    *dot = '\0';
    link->attribute = dot + 1;
    return TUTTI_OK;
}

/* Names of variables may have a '='; those of classes and attributes have none. */
static enum tutti_err split(const struct reading *reading, struct tutti_attribute_link *link)
{
    const char *text = link->text, *equals = reading->side->out ? strrchr(text, '=') : strchr(text, '=');
    if (!equals)
        return refuse(reading, text);
    const char *attribute = reading->side->out ? equals + 1 : text;
    size_t length = reading->side->out ? strlen(attribute) : (size_t)(equals - text);
    const char *variable = reading->side->out ? text : equals + 1;
    TRY(split_attribute(reading, attribute, length, link));
    char *name = tutti_arena_text(&reading->links->arena, variable,
                                  reading->side->out ? (size_t)(equals - text) : strlen(variable));
    if (!name)
        return tutti_fail_memory();
    return tutti_system_find(reading->job->system, name, reading->side->name, &link->end.component, &link->end.variable,
                             &link->end.element);
}

/* ---- what makes sense ---- */

static const struct tutti_var *variable_of(const struct reading *reading, const struct tutti_attribute_link *link)
{
    return &reading->job->system->components[link->end.component].fmu->desc->vars[link->end.variable];
}

static enum tutti_err check_input(const struct reading *reading, const struct tutti_attribute_link *link,
                                  const struct tutti_var *var)
{
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--subscribe '%s': that is a %s %s: inputs and tunable parameters can be driven", link->text,
                          tutti_variability_name((enum tutti_variability)var->variability),
                          tutti_causality_name((enum tutti_causality)var->causality));
    if (tutti_structure_find(&reading->job->structure, link->end.component, link->end.variable, false) != TUTTI_NONE)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--subscribe '%s': that is connected: it gets its values from another unit", link->text);
    return TUTTI_OK;
}

static enum tutti_err check_variable(const struct reading *reading, const struct tutti_attribute_link *link)
{
    const struct tutti_var *var = variable_of(reading, link);
    if (!tutti_encoding_usual((enum tutti_type)var->type))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': a %s has no value that others could read",
                          reading->side->name, link->text, tutti_type_name((enum tutti_type)var->type));
    if (var->dimension_count > link->end.element.count)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': that is an array; name its elements, each with an attribute",
                          reading->side->name, link->text);
    return reading->side->out ? TUTTI_OK : check_input(reading, link, var);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_target(const struct side *side, const struct tutti_attribute_link *a,
                        const struct tutti_attribute_link *b)
{
    if (side->out)
        return same_text(a->class_name, b->class_name) && same_text(a->object, b->object) &&
               same_text(a->attribute, b->attribute);
    return a->end.component == b->end.component && a->end.variable == b->end.variable &&
           tutti_indices_compare(&a->end.element, &b->end.element) == 0;
}

static enum tutti_err add(struct reading *reading, const char *text, size_t length)
{
    struct side *side = reading->side;
    struct tutti_attribute_link *link = &side->links[side->count];
    *link = (struct tutti_attribute_link){.text = tutti_arena_text(&reading->links->arena, text, length)};
    if (!link->text)
        return tutti_fail_memory();
    TRY(split(reading, link));
    TRY(check_variable(reading, link));
    for (size_t i = 0; i < side->count; i++)
        if (same_target(side, link, &side->links[i]))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' and '%s' give two values to one %s", side->name,
                              side->links[i].text, link->text, side->out ? "attribute" : "input");
    link->encoding = tutti_encoding_usual((enum tutti_type)variable_of(reading, link)->type);
    link->data_type = tutti_encoding_name(link->encoding);
    side->count++;
    return TUTTI_OK;
}

/* ---- from options and annotation ---- */

static size_t count_parts(const char *text)
{
    size_t count = 1;
    for (const char *at = strstr(text, TUTTI_ANNOTATION_AND); at; at = strstr(at + 1, TUTTI_ANNOTATION_AND))
        count++;
    return count;
}

static enum tutti_err add_word(struct reading *reading, const char *text)
{
    for (const char *at = text, *end; at; at = end ? end + strlen(TUTTI_ANNOTATION_AND) : NULL) {
        end = strstr(at, TUTTI_ANNOTATION_AND);
        TRY(add(reading, at, end ? (size_t)(end - at) : strlen(at)));
    }
    return TUTTI_OK;
}

static enum tutti_err read_side(struct reading *reading)
{
    struct side *side = reading->side;
    const struct tutti_system *system = reading->job->system;
    const char *word = side->name + 2;
    size_t most = side->given_count;
    for (size_t i = 0; i < system->word_count; i++)
        if (strcmp(system->words[i].name, word) == 0)
            most += count_parts(system->words[i].value);
    side->links = tutti_arena_array(&reading->links->arena, most, sizeof *side->links);
    if (!side->links)
        return tutti_fail_memory();
    for (size_t i = 0; i < side->given_count; i++)
        TRY(add(reading, side->given[i], strlen(side->given[i])));
    for (size_t i = 0; i < system->word_count; i++) {
        if (strcmp(system->words[i].name, word) != 0)
            continue;
        enum tutti_err err = add_word(reading, system->words[i].value);
        if (err)
            return tutti_fail_context(err, "%s:%u", system->words_file, system->words[i].line);
    }
    return TUTTI_OK;
}

/* ---- encodings of an object model ---- */

static enum tutti_err take_encoding(const struct reading *reading, const struct tutti_fom *fom,
                                    struct tutti_attribute_link *link)
{
    uint32_t class = tutti_fom_find_class(&fom->objects, link->class_name);
    uint32_t member = class ? tutti_fom_find_member(&fom->objects, class, link->attribute) : 0;
    const struct tutti_fom_member *attribute = tutti_fom_member(&fom->objects, member);
    enum tutti_type type = (enum tutti_type)variable_of(reading, link)->type;
    if (!attribute)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s '%s': the modules of --fom have no %s%s%s", reading->side->name,
                          link->text, class ? "attribute " : "object class ",
                          class ? link->attribute : link->class_name, class ? " there" : "");
    const char *data_type = attribute->data_type ? attribute->data_type : "";
    const struct tutti_encoding *encoding = tutti_encoding_in(fom, data_type);
    if (!encoding || !tutti_encoding_carries(encoding, type))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': %s:%u says '%s', which cannot carry a %s",
                          reading->side->name, link->text, attribute->place.file, attribute->place.line,
                          tutti_str_show(data_type).text, tutti_type_name(type));
    link->encoding = encoding;
    link->data_type = tutti_arena_text(&reading->links->arena, data_type, strlen(data_type));
    return link->data_type ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err take_encodings(struct reading *reading, const struct tutti_fom *fom, struct side sides[2])
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s].count; i++) {
            reading->side = &sides[s];
            TRY(take_encoding(reading, fom, &sides[s].links[i]));
        }
    return TUTTI_OK;
}

static enum tutti_err read_module(const char *path, struct tutti_fom_module **module)
{
    size_t size = 0;
    char *bytes = tutti_fs_read_whole(path, &size);
    if (!bytes)
        return tutti_fail(TUTTI_ERR_IO, "--fom: %s cannot be read", path);
    enum tutti_err err = tutti_fom_module_read_bytes(module, path, bytes, size);
    free(bytes);
    return err;
}

static enum tutti_err read_model(struct reading *reading, struct side sides[2])
{
    const struct tutti_run_options *options = &reading->job->options;
    struct tutti_fom_module **modules = calloc(options->fom_count + 1, sizeof *modules);
    struct tutti_fom *fom = NULL;
    size_t count = 0;
    enum tutti_err err = TUTTI_OK;
    if (!modules)
        return tutti_fail_memory();
    for (; !err && count < options->fom_count; count += !err)
        err = read_module(options->foms[count], &modules[count]);
    if (!err && tutti_fom_make(&fom, modules, count, NULL))
        err = tutti_fail_context(TUTTI_ERR_FORMAT, "--fom");
    if (!err)
        err = take_encodings(reading, fom, sides);
    for (size_t i = 0; i < count; i++)
        tutti_fom_module_free(modules[i]);
    free(modules);
    tutti_fom_free(fom);
    return err;
}

enum tutti_err tutti_attribute_links_read(struct tutti_attribute_links *links, const struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    struct side sides[] = {
        {.name = "--publish",
         .form = "UNIT.VAR=CLASS.ATTRIBUTE or UNIT.VAR=CLASS[OBJECT].ATTRIBUTE",
         .given = options->publishs,
         .given_count = options->publish_count,
         .out = true},
        {.name = "--subscribe",
         .form = "CLASS.ATTRIBUTE=UNIT.VAR or CLASS[OBJECT].ATTRIBUTE=UNIT.VAR",
         .given = options->subscribes,
         .given_count = options->subscribe_count},
    };
    *links = (struct tutti_attribute_links){0};
    struct reading reading = {.links = links, .job = job};
    enum tutti_err err = TUTTI_OK;
    for (int s = 0; s < 2 && !err; s++) {
        reading.side = &sides[s];
        err = read_side(&reading);
    }
    if (!err && options->fom_count > 0)
        err = read_model(&reading, sides);
    links->published = sides[0].links;
    links->published_count = sides[0].count;
    links->subscribed = sides[1].links;
    links->subscribed_count = sides[1].count;
    if (err)
        tutti_attribute_links_fini(links);
    return err;
}

void tutti_attribute_links_fini(struct tutti_attribute_links *links)
{
    tutti_arena_fini(&links->arena);
    *links = (struct tutti_attribute_links){0};
}
