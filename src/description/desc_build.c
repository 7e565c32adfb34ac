/* SPDX-License-Identifier: MIT */
#include "description/desc_build.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void *tutti_build_push(struct tutti_build *build, struct tutti_list *list, const char *what, enum tutti_err *err)
{
    if (list->count == TUTTI_LIST_LIMIT) {
        *err = tutti_xml_fail(build->xml, TUTTI_ERR_LIMIT, "more than %d %s", TUTTI_LIST_LIMIT, what);
        return NULL;
    }
    if (!tutti_vector_reserve(&list->items, &list->capacity, (size_t)list->count + 1, list->size)) {
        *err = tutti_fail_memory();
        return NULL;
    }
    *err = TUTTI_OK;
    return memset((char *)list->items + list->count++ * list->size, 0, list->size);
}

enum tutti_err tutti_build_text(struct tutti_build *build, const char **out, const char *text)
{
    *out = text ? tutti_arena_text(&build->desc->arena, text, strlen(text)) : NULL;
    return text && !*out ? tutti_fail_memory() : TUTTI_OK;
}

void tutti_build_error(struct tutti_build *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tutti_desc_report_add_v(&build->report, TUTTI_FINDING_ERROR, build->line, build->what, build->name, format, args);
    va_end(args);
}

void tutti_build_warning(struct tutti_build *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tutti_desc_report_add_v(&build->report, TUTTI_FINDING_WARNING, build->line, build->what, build->name, format, args);
    va_end(args);
}

void tutti_build_subject(struct tutti_build *build, const char *what, const char *name)
{
    build->what = what;
    build->name = name;
    build->line = tutti_xml_line(build->xml);
}

/* The attributes' names are few and known: length and three characters tell nearly all of them apart. */
static unsigned slot_of(const char *name, size_t length)
{
    unsigned hash = (unsigned)length * 7u + (unsigned char)name[0] * 31u + (unsigned char)name[length / 2] * 17u +
                    (unsigned char)name[length - 1] * 5u;
    return hash % 512u;
}

static const char *const attribute_names[ATTR_COUNT] = {"",
#define X(name) #name,
                                                        TUTTI_ATTRIBUTES(X)
#undef X
};

const char *tutti_attribute_name(enum tutti_attribute id)
{
    return attribute_names[id];
}

static void hash_attributes(struct tutti_build *build)
{
    _Static_assert(ATTR_COUNT < sizeof build->ids / 4, "the table must stay sparse: a search ends at a free slot");
    for (unsigned id = 1; id < ATTR_COUNT; id++) {
        unsigned slot = slot_of(attribute_names[id], strlen(attribute_names[id]));
        while (build->ids[slot])
            slot = (slot + 1) % 512u;
        build->ids[slot] = (uint8_t)id;
    }
}

static enum tutti_attribute attribute_id(const struct tutti_build *build, const char *name)
{
    for (unsigned slot = slot_of(name, strlen(name)); build->ids[slot]; slot = (slot + 1) % 512u)
        if (strcmp(attribute_names[build->ids[slot]], name) == 0)
            return build->ids[slot];
    return ATTR_NONE;
}

/* Names with a colon, and xmlns, belong to other vocabularies. */
static bool is_foreign(const char *name)
{
    return strchr(name, ':') || strcmp(name, "xmlns") == 0;
}

static void report_unknown(struct tutti_build *build, const struct tutti_element *element, const char *attribute)
{
    if (!is_foreign(attribute))
        tutti_desc_report_add(&build->report, TUTTI_FINDING_WARNING, tutti_xml_line(build->xml), NULL, NULL,
                              "unknown attribute %s of <%s> is ignored", attribute, element->name);
}

static enum tutti_err start_known(struct tutti_build *build, const struct tutti_element *element,
                                  const char **attributes)
{
    uint8_t present[TUTTI_XML_ATTRIBUTES];
    unsigned count = 0;
    if (!element->start)
        return TUTTI_OK;
    for (const char **a = attributes; *a; a += 2) {
        enum tutti_attribute id = attribute_id(build, a[0]);
        if (id == ATTR_NONE) {
            report_unknown(build, element, a[0]);
        } else {
            build->values[id] = a[1];
            present[count++] = (uint8_t)id;
        }
    }
    enum tutti_err err = element->start(build, element->tag);
    for (unsigned i = 0; i < count; i++)
        if (build->values[present[i]]) {
            report_unknown(build, element, attribute_names[present[i]]);
            build->values[present[i]] = NULL;
        }
    return err;
}

static enum tutti_err on_start(void *context, struct tutti_xml *xml, const char *name, const char **attributes)
{
    struct tutti_build *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip++;
        return TUTTI_OK;
    }
    const struct tutti_element *parent = build->stack[build->depth];
    for (const struct tutti_element *child = parent->children; child && child->name; child++)
        if (child->name[0] == name[0] && strcmp(child->name, name) == 0) {
            build->stack[++build->depth] = child;
            return start_known(build, child, attributes);
        }
    if (build->depth == 0)
        return tutti_xml_fail(xml, TUTTI_ERR_FORMAT, "found <%.64s>, expected <fmiModelDescription>", name);
    if (!parent->foreign && !is_foreign(name))
        tutti_desc_report_add(&build->report, TUTTI_FINDING_WARNING, tutti_xml_line(xml), NULL, NULL,
                              "unknown element <%s> in <%s> is ignored", name, parent->name);
    build->skip = 1;
    return TUTTI_OK;
}

static enum tutti_err on_end(void *context, struct tutti_xml *xml)
{
    struct tutti_build *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip--;
        return TUTTI_OK;
    }
    const struct tutti_element *element = build->stack[build->depth--];
    return element->end ? element->end(build) : TUTTI_OK;
}

static enum tutti_err on_text(void *context, struct tutti_xml *xml, const char *text, size_t n)
{
    struct tutti_build *build = context;
    if (n > TUTTI_XML_TAG - build->text.length)
        return tutti_xml_fail(xml, TUTTI_ERR_LIMIT, "a text larger than %d MiB", TUTTI_XML_TAG / (1024 * 1024));
    tutti_text_append_n(&build->text, text, n);
    return build->text.failed ? tutti_fail_memory() : TUTTI_OK;
}

const struct tutti_xml_handlers tutti_build_handlers = {.start = on_start, .end = on_end, .text = on_text};

enum tutti_err tutti_build_init(struct tutti_build *build, const char *file, struct tutti_findings *findings)
{
    struct tutti_desc_whole *whole = calloc(1, sizeof *whole);
    if (!whole)
        return tutti_fail_memory();
    whole->vars.size = sizeof(struct tutti_var);
    whole->aliases.size = sizeof(struct tutti_alias);
    whole->units.size = sizeof(struct tutti_unit_def);
    whole->displays.size = sizeof(struct tutti_display_unit);
    whole->types.size = sizeof(struct tutti_type_def);
    whole->categories.size = whole->annotations.size = sizeof(const char *);
    for (int i = 0; i < 5; i++)
        whole->unknowns[i].size = sizeof(struct tutti_unknown);
    *build = (struct tutti_build){.whole = whole, .desc = &whole->desc, .report = {.file = file, .findings = findings}};
    build->pending.size = sizeof(struct tutti_pending);
    build->names.size = sizeof(struct tutti_named_dependency);
    build->items.size = sizeof(struct tutti_enum_item);
    build->dimensions.size = sizeof(struct tutti_dimension);
    build->strings.size = sizeof(struct tutti_bytes);
    build->words.size = sizeof(uint32_t);
    build->document = (struct tutti_element){.name = "", .children = build->root};
    build->stack[0] = &build->document;
    hash_attributes(build);
    return TUTTI_OK;
}

void tutti_build_fini(struct tutti_build *build)
{
    tutti_map_fini(&build->unit_names);
    tutti_map_fini(&build->type_names);
    tutti_map_fini(&build->display_names);
    free(build->pending.items);
    free(build->names.items);
    free(build->items.items);
    free(build->dimensions.items);
    free(build->strings.items);
    free(build->words.items);
    tutti_text_fini(&build->key);
    tutti_text_fini(&build->text);
}
