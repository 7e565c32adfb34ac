/* SPDX-License-Identifier: MIT */
#include "fmu/description/builder.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void *tt_builder_push(struct tt_builder *build, struct tt_builder_list *list, const char *what, enum tutti_err *err)
{
    if (list->count == TUTTI_LIST_LIMIT) {
        *err = tt_xml_fail(build->xml, TUTTI_ERR_LIMIT, "more than %d %s", TUTTI_LIST_LIMIT, what);
        return NULL;
    }
    if (!tt_vector_reserve(&list->items, &list->capacity, (size_t)list->count + 1, list->size)) {
        *err = tt_fail_memory();
        return NULL;
    }
    *err = TUTTI_OK;
    return memset((char *)list->items + list->count++ * list->size, 0, list->size);
}

enum tutti_err tt_builder_copy_text(struct tt_builder *build, const char **out, const char *text)
{
    *out = text ? tt_arena_copy_text(&build->desc->arena, text, strlen(text)) : NULL;
    return text && !*out ? tt_fail_memory() : TUTTI_OK;
}

void tt_builder_report_error(struct tt_builder *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_limited_findings_add_v(&build->report, TUTTI_FINDING_ERROR, build->line, build->what, build->name, format, args);
    va_end(args);
}

void tt_builder_report_warning(struct tt_builder *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_limited_findings_add_v(&build->report, TUTTI_FINDING_WARNING, build->line, build->what, build->name, format,
                              args);
    va_end(args);
}

void tt_builder_set_subject(struct tt_builder *build, const char *what, const char *name)
{
    build->what = what;
    build->name = name;
    build->line = tt_xml_line(build->xml);
}

/* The attributes' names are few and known: length and three characters tell nearly all of them apart. */
static unsigned builder_slot_of(const char *name, size_t length)
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

const char *tt_builder_attribute_name(enum tt_builder_attribute id)
{
    return attribute_names[id];
}

static void hash_attributes(struct tt_builder *build)
{
    _Static_assert(ATTR_COUNT < sizeof build->ids / 4, "the table must stay sparse: a search ends at a free slot");
    for (unsigned id = 1; id < ATTR_COUNT; id++) {
        unsigned slot = builder_slot_of(attribute_names[id], strlen(attribute_names[id]));
        while (build->ids[slot])
            slot = (slot + 1) % 512u;
        build->ids[slot] = (uint8_t)id;
    }
}

static enum tt_builder_attribute builder_attribute_id(const struct tt_builder *build, const char *name)
{
    for (unsigned slot = builder_slot_of(name, strlen(name)); build->ids[slot]; slot = (slot + 1) % 512u)
        if (strcmp(attribute_names[build->ids[slot]], name) == 0)
            return build->ids[slot];
    return ATTR_NONE;
}

/* Names with a colon, and xmlns, belong to other vocabularies. */
static bool builder_is_foreign_name(const char *name)
{
    return strchr(name, ':') || strcmp(name, "xmlns") == 0;
}

static void report_unknown(struct tt_builder *build, const struct tt_builder_element *element, const char *attribute)
{
    if (!builder_is_foreign_name(attribute))
        tt_limited_findings_add(&build->report, TUTTI_FINDING_WARNING, tt_xml_line(build->xml), NULL, NULL,
                                "unknown attribute %s of <%s> is ignored", attribute, element->name);
}

static enum tutti_err builder_start_known(struct tt_builder *build, const struct tt_builder_element *element,
                                          const char **attributes)
{
    uint8_t present[TUTTI_XML_ATTRIBUTES];
    unsigned count = 0;
    if (!element->start)
        return TUTTI_OK;
    for (const char **a = attributes; *a; a += 2) {
        enum tt_builder_attribute id = builder_attribute_id(build, a[0]);
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

static enum tutti_err builder_on_start(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct tt_builder *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip++;
        return TUTTI_OK;
    }
    const struct tt_builder_element *parent = build->stack[build->depth];
    for (const struct tt_builder_element *child = parent->children; child && child->name; child++)
        if (child->name[0] == name[0] && strcmp(child->name, name) == 0) {
            build->stack[++build->depth] = child;
            return builder_start_known(build, child, attributes);
        }
    if (build->depth == 0)
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "found <%.64s>, expected <fmiModelDescription>", name);
    if (!parent->foreign && !builder_is_foreign_name(name))
        tt_limited_findings_add(&build->report, TUTTI_FINDING_WARNING, tt_xml_line(xml), NULL, NULL,
                                "unknown element <%s> in <%s> is ignored", name, parent->name);
    build->skip = 1;
    return TUTTI_OK;
}

static enum tutti_err builder_on_end(void *context, struct tt_xml *xml)
{
    struct tt_builder *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip--;
        return TUTTI_OK;
    }
    const struct tt_builder_element *element = build->stack[build->depth--];
    return element->end ? element->end(build) : TUTTI_OK;
}

static enum tutti_err builder_on_text(void *context, struct tt_xml *xml, const char *text, size_t n)
{
    struct tt_builder *build = context;
    if (n > TUTTI_XML_TAG - build->text.length)
        return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "a text larger than %d MiB", TUTTI_XML_TAG / (1024 * 1024));
    tt_text_append_n(&build->text, text, n);
    return build->text.failed ? tt_fail_memory() : TUTTI_OK;
}

const struct tt_xml_handlers tt_builder_handlers = {.start = builder_on_start,
                                                    .end = builder_on_end,
                                                    .text = builder_on_text};

enum tutti_err tt_builder_init(struct tt_builder *build, const char *file, struct tt_findings *findings)
{
    struct tt_builder_description *whole = calloc(1, sizeof *whole);
    if (!whole)
        return tt_fail_memory();
    whole->vars.size = sizeof(struct tt_var);
    whole->aliases.size = sizeof(struct tt_alias);
    whole->units.size = sizeof(struct tt_unit_def);
    whole->displays.size = sizeof(struct tt_display_unit);
    whole->types.size = sizeof(struct tt_type_def);
    whole->categories.size = whole->annotations.size = sizeof(const char *);
    for (int i = 0; i < 5; i++)
        whole->unknowns[i].size = sizeof(struct tt_unknown);
    *build = (struct tt_builder){.whole = whole, .desc = &whole->desc, .report = {.file = file, .findings = findings}};
    build->pending.size = sizeof(struct tt_builder_pending);
    build->names.size = sizeof(struct tt_builder_named_dependency);
    build->items.size = sizeof(struct tt_enum_item);
    build->dimensions.size = sizeof(struct tt_dimension);
    build->strings.size = sizeof(struct tt_bytes);
    build->words.size = sizeof(uint32_t);
    build->document = (struct tt_builder_element){.name = "", .children = build->root};
    build->stack[0] = &build->document;
    hash_attributes(build);
    return TUTTI_OK;
}

void tt_builder_fini(struct tt_builder *build)
{
    tt_map_fini(&build->unit_names);
    tt_map_fini(&build->type_names);
    tt_map_fini(&build->display_names);
    free(build->pending.items);
    free(build->names.items);
    free(build->items.items);
    free(build->dimensions.items);
    free(build->strings.items);
    free(build->words.items);
    tt_text_fini(&build->key);
    tt_text_fini(&build->text);
}
