/* SPDX-License-Identifier: MIT */
#include "run/federate/attribute_links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "hla/fom/fom.h"
#include "sim/job/annotation.h"

static const char ROOT[] = "HLAobjectRoot.";

struct link_side {
    const char *name; /* "--publish" */
    const char *form; /* what it takes */
    const char *const *given;
    size_t given_count;
    bool out;
    struct tt_attribute_link *links;
    size_t count;
};

struct link_reading {
    struct tt_attribute_links *links;
    const struct tt_job *job;
    struct link_side *side;
};

static const char *without_root(const char *class_name)
{
    return strncmp(class_name, ROOT, strlen(ROOT)) == 0 ? class_name + strlen(ROOT) : class_name;
}

struct tt_attribute_link_text tt_attribute_links_show_link(const struct tt_attribute_link *link)
{
    struct tt_attribute_link_text shown;
    snprintf(shown.text, sizeof shown.text, "%.80s%s%.80s%s.%.80s", link->class_name, link->object ? "[" : "",
             link->object ? link->object : "", link->object ? "]" : "", link->attribute);
    return shown;
}

bool tt_attribute_links_match_class(const struct tt_attribute_link *link, const char *class_name)
{
    const char *name = without_root(class_name);
    size_t length = strlen(link->class_name);
    return strncmp(name, link->class_name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* ---- texts ---- */

static enum tutti_err attribute_links_reject(const struct link_reading *reading, const char *text)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s takes %s, not '%s'", reading->side->name, reading->side->form,
                   tt_text_excerpt(text).text);
}

/* "Vehicle.Car[left].z" in its three parts. */
static enum tutti_err split_attribute(const struct link_reading *reading, const char *text, size_t length,
                                      struct tt_attribute_link *link)
{
    struct tt_arena *arena = &reading->links->arena;
    char *copy = tt_arena_copy_text(arena, text, length);
    if (!copy)
        return tt_fail_memory();
    link->class_name = without_root(copy);
    char *open = strchr(copy, '['), *dot = strrchr(copy, '.');
    if (open) {
        char *close = strstr(open, "].");
        dot = close ? close + 1 : NULL;
        if (!close || close == open + 1)
            return attribute_links_reject(reading, link->text);
        *open = *close = '\0';
        link->object = open + 1;
    }
    if (!dot || !dot[1] || strpbrk(dot + 1, ".[] ") || !link->class_name[0] || dot == link->class_name ||
        strpbrk(link->class_name, " []"))
        return attribute_links_reject(reading, link->text);
    *dot = '\0';
    link->attribute = dot + 1;
    return TUTTI_OK;
}

/* Names of variables may have a '='; those of classes and attributes have none. */
static enum tutti_err attribute_links_parse(const struct link_reading *reading, struct tt_attribute_link *link)
{
    const char *text = link->text, *equals = reading->side->out ? strrchr(text, '=') : strchr(text, '=');
    if (!equals)
        return attribute_links_reject(reading, text);
    const char *attribute = reading->side->out ? equals + 1 : text;
    size_t length = reading->side->out ? strlen(attribute) : (size_t)(equals - text);
    const char *variable = reading->side->out ? text : equals + 1;
    TRY(split_attribute(reading, attribute, length, link));
    char *name = tt_arena_copy_text(&reading->links->arena, variable,
                                    reading->side->out ? (size_t)(equals - text) : strlen(variable));
    if (!name)
        return tt_fail_memory();
    return tt_system_find(reading->job->system, name, reading->side->name, &link->end.component, &link->end.variable,
                          &link->end.element);
}

/* ---- what makes sense ---- */

static const struct tt_var *attribute_links_variable(const struct link_reading *reading,
                                                     const struct tt_attribute_link *link)
{
    return &reading->job->system->components[link->end.component].fmu->desc->vars[link->end.variable];
}

static enum tutti_err attribute_links_check_input(const struct link_reading *reading,
                                                  const struct tt_attribute_link *link, const struct tt_var *var)
{
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--subscribe '%s': that is a %s %s: inputs and tunable parameters can be driven", link->text,
                       tt_description_variability_name((enum tt_variability)var->variability),
                       tt_description_causality_name((enum tt_causality)var->causality));
    if (tt_structure_find(&reading->job->structure, link->end.component, link->end.variable, false) != TUTTI_NONE)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--subscribe '%s': that is connected: it gets its values from another unit",
                       link->text);
    return TUTTI_OK;
}

static enum tutti_err check_variable(const struct link_reading *reading, const struct tt_attribute_link *link)
{
    const struct tt_var *var = attribute_links_variable(reading, link);
    if (!tt_encoding_default((enum tt_type)var->type))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': a %s has no value that others could read", reading->side->name,
                       link->text, tt_type_name((enum tt_type)var->type));
    if (var->dimension_count > link->end.element.count)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': that is an array; name its elements, each with an attribute",
                       reading->side->name, link->text);
    return reading->side->out ? TUTTI_OK : attribute_links_check_input(reading, link, var);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_target(const struct link_side *side, const struct tt_attribute_link *a,
                        const struct tt_attribute_link *b)
{
    if (side->out)
        return same_text(a->class_name, b->class_name) && same_text(a->object, b->object) &&
               same_text(a->attribute, b->attribute);
    return a->end.component == b->end.component && a->end.variable == b->end.variable &&
           tt_setting_compare_indices(&a->end.element, &b->end.element) == 0;
}

static enum tutti_err attribute_links_add(struct link_reading *reading, const char *text, size_t length)
{
    struct link_side *side = reading->side;
    struct tt_attribute_link *link = &side->links[side->count];
    *link = (struct tt_attribute_link){.text = tt_arena_copy_text(&reading->links->arena, text, length)};
    if (!link->text)
        return tt_fail_memory();
    TRY(attribute_links_parse(reading, link));
    TRY(check_variable(reading, link));
    for (size_t i = 0; i < side->count; i++)
        if (same_target(side, link, &side->links[i]))
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' and '%s' give two values to one %s", side->name,
                           side->links[i].text, link->text, side->out ? "attribute" : "input");
    link->encoding = tt_encoding_default((enum tt_type)attribute_links_variable(reading, link)->type);
    link->data_type = tt_encoding_name(link->encoding);
    side->count++;
    return TUTTI_OK;
}

/* ---- from options and annotation ---- */

static enum tutti_err attribute_links_add_item(struct link_reading *reading, const char *text)
{
    for (const char *at = text, *end; at; at = end ? end + strlen(TUTTI_ANNOTATION_AND) : NULL) {
        end = strstr(at, TUTTI_ANNOTATION_AND);
        TRY(attribute_links_add(reading, at, end ? (size_t)(end - at) : strlen(at)));
    }
    return TUTTI_OK;
}

static enum tutti_err attribute_links_read_side(struct link_reading *reading)
{
    struct link_side *side = reading->side;
    const struct tt_system *system = reading->job->system;
    const char *word = side->name + 2;
    size_t most = side->given_count;
    for (size_t i = 0; i < system->word_count; i++) {
        if (strcmp(system->words[i].name, word) != 0)
            continue;
        most++;
        for (const char *at = system->words[i].value; (at = strstr(at, TUTTI_ANNOTATION_AND)); at++)
            most++;
    }
    side->links = tt_arena_array(&reading->links->arena, most, sizeof *side->links);
    if (!side->links)
        return tt_fail_memory();
    for (size_t i = 0; i < side->given_count; i++)
        TRY(attribute_links_add(reading, side->given[i], strlen(side->given[i])));
    for (size_t i = 0; i < system->word_count; i++) {
        if (strcmp(system->words[i].name, word) != 0)
            continue;
        enum tutti_err err = attribute_links_add_item(reading, system->words[i].value);
        if (err)
            return tt_fail_context(err, "%s:%u", system->words_file, system->words[i].line);
    }
    return TUTTI_OK;
}

/* ---- encodings of an object model ---- */

static enum tutti_err choose_link_encoding(const struct link_reading *reading, const struct tt_fom *fom,
                                           struct tt_attribute_link *link)
{
    uint32_t class = tt_fom_find_class(&fom->objects, link->class_name);
    uint32_t member = class ? tt_fom_find_member(&fom->objects, class, link->attribute) : 0;
    const struct tt_fom_member *attribute = tt_fom_member(&fom->objects, member);
    enum tt_type type = (enum tt_type)attribute_links_variable(reading, link)->type;
    if (!attribute)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%s': the modules of --fom have no %s%s%s", reading->side->name,
                       link->text, class ? "attribute " : "object class ", class ? link->attribute : link->class_name,
                       class ? " there" : "");
    const char *data_type = attribute->data_type ? attribute->data_type : "";
    const struct tt_encoding *encoding = tt_encoding_find_in_model(fom, data_type);
    if (!encoding || !tt_encoding_supports(encoding, type))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s '%s': %s:%u says '%s', which cannot carry a %s", reading->side->name,
                       link->text, attribute->place.file, attribute->place.line, tt_text_excerpt(data_type).text,
                       tt_type_name(type));
    link->encoding = encoding;
    link->data_type = tt_arena_copy_text(&reading->links->arena, data_type, strlen(data_type));
    return link->data_type ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err attribute_links_read_module(const char *path, struct tt_fom_module **module)
{
    size_t size = 0;
    char *bytes = tt_fs_read_whole(path, &size);
    if (!bytes)
        return tt_fail(TUTTI_ERR_IO, "--fom: %s cannot be read", path);
    enum tutti_err err = tt_fom_module_read_bytes(module, path, bytes, size);
    free(bytes);
    return err;
}

static enum tutti_err read_model(struct link_reading *reading, struct link_side sides[2])
{
    const struct tutti_run_options *options = &reading->job->options;
    struct tt_fom_module **modules = calloc(options->fom_count + 1, sizeof *modules);
    struct tt_fom *fom = NULL;
    size_t count = 0;
    enum tutti_err err = TUTTI_OK;
    if (!modules)
        return tt_fail_memory();
    for (; !err && count < options->fom_count; count += !err)
        err = attribute_links_read_module(options->foms[count], &modules[count]);
    if (!err && tt_fom_merge_modules(&fom, modules, count, NULL))
        err = tt_fail_context(TUTTI_ERR_FORMAT, "--fom");
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; !err && i < sides[s].count; i++) {
            reading->side = &sides[s];
            err = choose_link_encoding(reading, fom, &sides[s].links[i]);
        }
    for (size_t i = 0; i < count; i++)
        tt_fom_module_free(modules[i]);
    free(modules);
    tt_fom_free(fom);
    return err;
}

enum tutti_err tt_attribute_links_read(struct tt_attribute_links *links, const struct tt_job *job)
{
    const struct tutti_run_options *options = &job->options;
    struct link_side sides[] = {
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
    *links = (struct tt_attribute_links){0};
    struct link_reading reading = {.links = links, .job = job};
    enum tutti_err err = TUTTI_OK;
    for (int s = 0; s < 2 && !err; s++) {
        reading.side = &sides[s];
        err = attribute_links_read_side(&reading);
    }
    if (!err && options->fom_count > 0)
        err = read_model(&reading, sides);
    links->published = sides[0].links;
    links->published_count = sides[0].count;
    links->subscribed = sides[1].links;
    links->subscribed_count = sides[1].count;
    if (err)
        tt_attribute_links_fini(links);
    return err;
}

void tt_attribute_links_fini(struct tt_attribute_links *links)
{
    tt_arena_fini(&links->arena);
    *links = (struct tt_attribute_links){0};
}

enum { DEPTH = 4 }; /* spaces of the first class below the root */

static void append_element(struct tt_text *text, const char *name, const char *plain, size_t length)
{
    tt_text_printf(text, "<%s>", name);
    for (size_t i = 0; i < length; i++)
        if (plain[i] == '&' || plain[i] == '<' || plain[i] == '>')
            tt_text_printf(text, "&#%d;", plain[i]);
        else
            tt_text_append_n(text, plain + i, 1);
    tt_text_printf(text, "</%s>", name);
}

/* Published ones first, then those that are subscribed to. */
static const struct tt_attribute_link *link_at(const struct tt_attribute_links *links, size_t i)
{
    return i < links->published_count ? &links->published[i] : &links->subscribed[i - links->published_count];
}

static size_t attribute_links_count(const struct tt_attribute_links *links)
{
    return links->published_count + links->subscribed_count;
}

static void append_attributes(struct tt_text *text, const struct tt_attribute_links *links, const char *class_name,
                              size_t length, int depth)
{
    for (size_t i = 0; i < attribute_links_count(links); i++) {
        const struct tt_attribute_link *link = link_at(links, i);
        bool mine = strlen(link->class_name) == length && strncmp(link->class_name, class_name, length) == 0;
        for (size_t j = 0; j < i && mine; j++) /* each attribute once */
            mine = strcmp(link->class_name, link_at(links, j)->class_name) != 0 ||
                   strcmp(link->attribute, link_at(links, j)->attribute) != 0;
        if (!mine)
            continue;
        tt_text_printf(text, "%*s<attribute>", depth, "");
        append_element(text, "name", link->attribute, strlen(link->attribute));
        append_element(text, "dataType", link->data_type, strlen(link->data_type));
        tt_text_printf(text,
                       "<updateType>Periodic</updateType>\n%*s<ownership>NoTransfer</ownership>"
                       "<sharing>PublishSubscribe</sharing>\n%*s<transportation>HLAreliable</transportation>"
                       "<order>TimeStamp</order></attribute>\n",
                       depth + 2, "", depth + 2, "");
    }
}

/* If the link's class lies below the class in the first `length` bytes of `class_name`, returns the end of its name one
 * level below; otherwise 0. */
static size_t class_level_end(const struct tt_attribute_link *link, const char *class_name, size_t length)
{
    const char *name = link->class_name;
    size_t begin = length > 0 ? length + 1 : 0;
    if (strlen(name) <= begin || strncmp(name, class_name, length) != 0 || (length > 0 && name[length] != '.'))
        return 0;
    return begin + strcspn(name + begin, ".");
}

/* Classes below the one with the first `length` bytes of `class_name`. */
static void append_classes(struct tt_text *text, const struct tt_attribute_links *links, const char *class_name,
                           size_t length, int depth)
{
    for (size_t i = 0; i < attribute_links_count(links); i++) {
        const char *name = link_at(links, i)->class_name;
        size_t end = class_level_end(link_at(links, i), class_name, length), begin = length > 0 ? length + 1 : 0;
        bool first = end > 0;
        for (size_t j = 0; j < i && first; j++)
            first = class_level_end(link_at(links, j), class_name, length) != end ||
                    strncmp(link_at(links, j)->class_name, name, end) != 0;
        if (!first)
            continue;
        tt_text_printf(text, "%*s<objectClass>", depth, "");
        append_element(text, "name", name + begin, end - begin);
        tt_text_append(text, "<sharing>PublishSubscribe</sharing>\n");
        append_attributes(text, links, name, end, depth + 2);
        append_classes(text, links, name, end, depth + 2);
        tt_text_printf(text, "%*s</objectClass>\n", depth, "");
    }
}

enum tutti_err tt_attribute_links_write_module(const struct tt_attribute_links *links, const char *name,
                                               const char *path)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">\n"
                          "  <modelIdentification>");
    append_element(&text, "name", name, strlen(name));
    tt_text_append(&text, "<type>FOM</type><version>1.0</version></modelIdentification>\n"
                          "  <objects><objectClass><name>HLAobjectRoot</name>\n");
    append_classes(&text, links, "", 0, DEPTH);
    tt_text_append(
        &text, "  </objectClass></objects>\n"
               "  <interactions><interactionClass><name>HLAinteractionRoot</name></interactionClass></interactions>\n"
               "  <dataTypes/>\n</objectModel>\n");
    enum tutti_err err = text.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && !tt_fs_replace_result(path, text.text, text.length))
        err = tt_fail(TUTTI_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    tt_text_fini(&text);
    return err;
}
