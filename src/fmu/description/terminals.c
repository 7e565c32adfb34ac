/* SPDX-License-Identifier: MIT */
#include "fmu/description/terminals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "base/xml.h"

struct terminals_reading {
    struct tt_terminals *terminals;
    const struct tt_description *desc;
    struct tt_findings *findings;
    const char *file;
    struct tt_xml *xml;
    struct tt_vector items, members; /* struct tt_terminal, struct tt_terminal_member */
    uint32_t *open;                  /* the terminals that it is in, from the outermost on */
    unsigned depth, level;           /* of elements; of terminals */
    unsigned skipped;                /* depth of the element whose content is skipped; 0: none */
    bool in_list;                    /* below Terminals */
};

TUTTI_PRINTF(3, 4)
static void terminals_report(const struct terminals_reading *reading, enum tt_severity severity, const char *format,
                             ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tt_text_make_printable(words);
    tt_findings_add(reading->findings, severity, reading->file, tt_xml_line(reading->xml), "%s", words);
}

static enum tutti_err terminals_copy_text(struct terminals_reading *reading, const char **out, const char *text)
{
    if (!text)
        return TUTTI_OK;
    if (reading->terminals->arena.total > TUTTI_TERMINALS_BYTES)
        return tt_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "terminals have more than %d MiB of texts",
                           TUTTI_TERMINALS_BYTES >> 20);
    *out = tt_arena_copy_text(&reading->terminals->arena, text, strlen(text));
    return *out ? TUTTI_OK : tt_fail_memory();
}

/* ---- attributes ---- */

static void terminals_read_number(const struct terminals_reading *reading, const char **attributes, const char *name,
                                  double *value)
{
    const char *text = tt_xml_attribute(attributes, name);
    if (!text || !tt_number_read_double(text, strlen(text), value))
        terminals_report(reading, TUTTI_FINDING_WARNING, "'%s' is not given as a number", name);
}

static void read_extent(const struct terminals_reading *reading, const char **attributes, struct tt_extent *extent)
{
    extent->given = true;
    terminals_read_number(reading, attributes, "x1", &extent->x1);
    terminals_read_number(reading, attributes, "y1", &extent->y1);
    terminals_read_number(reading, attributes, "x2", &extent->x2);
    terminals_read_number(reading, attributes, "y2", &extent->y2);
}

static enum tt_matching matching_of(const char *rule)
{
    static const char *const rules[] = {"plug", "bus", "sequence", "none", "org.fmi-ls-bus.transceiver"};
    unsigned i = 0;
    while (i < sizeof rules / sizeof *rules && strcmp(rules[i], rule) != 0)
        i++;
    return (enum tt_matching)i;
}

static enum tt_member_kind terminals_kind_of(const char *kind)
{
    static const char *const kinds[] = {"signal", "inflow", "outflow"};
    unsigned i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i], kind) != 0)
        i++;
    return (enum tt_member_kind)i;
}

/* ---- elements ---- */

static struct tt_terminal *innermost_terminal(const struct terminals_reading *reading)
{
    return reading->level == 0 ? NULL : (struct tt_terminal *)reading->items.items + reading->open[reading->level - 1];
}

/* "outer.inner"; a name that is there twice leads to the first of the two. */
static enum tutti_err name_terminal(struct terminals_reading *reading, struct tt_terminal *terminal, const char *name)
{
    const char *outer =
        terminal->parent == TUTTI_NONE ? NULL : ((struct tt_terminal *)reading->items.items)[terminal->parent].path;
    struct tt_text path = {0};
    int64_t earlier;
    tt_text_printf(&path, "%s%s%s", outer ? outer : "", outer ? "." : "", name);
    enum tutti_err err = path.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && path.length > TUTTI_TERMINALS_PATH)
        err = tt_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "the name of a terminal has more than %d bytes",
                          TUTTI_TERMINALS_PATH);
    size_t length = path.length;
    if (!err)
        err = terminals_copy_text(reading, &terminal->path, path.text);
    tt_text_fini(&path);
    TRY(err);
    terminal->name = terminal->path + length - strlen(name);
    TRY(tt_map_add(&reading->terminals->paths, terminal->path, (int64_t)reading->items.count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        terminals_report(reading, TUTTI_FINDING_ERROR, "there are two terminals '%s'; names of terminals are unique",
                         terminal->path);
    return TUTTI_OK;
}

static enum tutti_err start_terminal(struct terminals_reading *reading, const char **attributes)
{
    const char *name = tt_xml_attribute(attributes, "name"), *rule = tt_xml_attribute(attributes, "matchingRule");
    uint32_t parent = reading->level == 0 ? TUTTI_NONE : reading->open[reading->level - 1];
    if (reading->level == TUTTI_TERMINALS_DEPTH || reading->items.count == TUTTI_TERMINALS_MOST)
        return tt_xml_fail(reading->xml, TUTTI_ERR_LIMIT,
                           "there are more than %d terminals, or more than %d in each other", TUTTI_TERMINALS_MOST,
                           TUTTI_TERMINALS_DEPTH);
    if (!name || !*name)
        terminals_report(reading, TUTTI_FINDING_ERROR, "a terminal has no name");
    if (!rule)
        terminals_report(reading, TUTTI_FINDING_ERROR, "the terminal '%s' has no matchingRule; none is taken",
                         name ? name : "");
    struct tt_terminal *terminal = tt_vector_push(&reading->items, sizeof *terminal);
    if (!terminal)
        return tt_fail_memory();
    *terminal = (struct tt_terminal){.parent = parent, .line = tt_xml_line(reading->xml)};
    TRY(name_terminal(reading, terminal, name ? name : ""));
    rule = rule ? rule : "none";
    TRY(terminals_copy_text(reading, &terminal->rule, rule));
    TRY(terminals_copy_text(reading, &terminal->kind, tt_xml_attribute(attributes, "terminalKind")));
    TRY(terminals_copy_text(reading, &terminal->description, tt_xml_attribute(attributes, "description")));
    terminal->matching = matching_of(rule);
    if (terminal->matching == TUTTI_MATCHING_OTHER && !strchr(rule, '.'))
        terminals_report(reading, TUTTI_FINDING_WARNING,
                         "the matchingRule '%s' is neither of FMI nor in reverse domain name notation", rule);
    reading->open[reading->level++] = (uint32_t)reading->items.count - 1;
    return TUTTI_OK;
}

static bool is_named_twice(const struct terminals_reading *reading, uint32_t terminal, const char *name)
{
    const struct tt_terminal_member *members = reading->members.items;
    for (size_t i = reading->members.count; i-- > 0 && members[i].terminal >= terminal;)
        if (members[i].terminal == terminal && members[i].name && strcmp(members[i].name, name) == 0)
            return true;
    return false;
}

enum { FEW = 1000 }; /* up to this number of members names are compared one by one */

/* Finds the variable of this name; if it does not exist, reports it and returns TUTTI_NONE. */
static uint32_t terminals_find_variable(const struct terminals_reading *reading, const char *name)
{
    uint32_t index = name ? tt_description_find(reading->desc, name) : TUTTI_NONE;
    if (index == TUTTI_NONE)
        terminals_report(reading, TUTTI_FINDING_ERROR,
                         "a terminal has the variable '%s', which the model does not have", name ? name : "");
    return index;
}

static enum tutti_err terminals_add_member(struct terminals_reading *reading, const char *name, uint32_t variable,
                                           const char *kind_name, enum tt_member_kind kind)
{
    uint32_t terminal = reading->open[reading->level - 1];
    const struct tt_terminal *owner = innermost_terminal(reading);
    bool by_name = owner->matching != TUTTI_MATCHING_SEQUENCE && owner->matching != TUTTI_MATCHING_NONE;
    if (!name && by_name)
        terminals_report(reading, TUTTI_FINDING_ERROR, "the variable '%s' has no memberName in its terminal",
                         reading->desc->vars[variable].name);
    if (name && by_name && kind < TUTTI_MEMBER_IN_STREAM && owner->member_count < FEW &&
        is_named_twice(reading, terminal, name)) {
        terminals_report(reading, TUTTI_FINDING_ERROR, "a terminal has two members '%s'; the first one counts", name);
        return TUTTI_OK;
    }
    if (reading->members.count == TUTTI_TERMINALS_MOST_MEMBERS)
        return tt_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "terminals have more than %d members",
                           TUTTI_TERMINALS_MOST_MEMBERS);
    struct tt_terminal_member *member = tt_vector_push(&reading->members, sizeof *member);
    if (!member)
        return tt_fail_memory();
    *member = (struct tt_terminal_member){
        .kind = kind, .variable = variable, .terminal = terminal, .line = tt_xml_line(reading->xml)};
    innermost_terminal(reading)->member_count++;
    TRY(terminals_copy_text(reading, &member->name, name));
    return terminals_copy_text(reading, &member->kind_name, kind_name);
}

static enum tutti_err start_member(struct terminals_reading *reading, const char **attributes)
{
    const char *kind = tt_xml_attribute(attributes, "variableKind");
    if (!kind)
        terminals_report(reading, TUTTI_FINDING_ERROR, "a member of a terminal has no variableKind; signal is taken");
    kind = kind ? kind : "signal";
    uint32_t variable = terminals_find_variable(reading, tt_xml_attribute(attributes, "variableName"));
    return variable == TUTTI_NONE ? TUTTI_OK
                                  : terminals_add_member(reading, tt_xml_attribute(attributes, "memberName"), variable,
                                                         kind, terminals_kind_of(kind));
}

/* An inStream, and right after it its outStream. */
static enum tutti_err start_streams(struct terminals_reading *reading, const char **attributes)
{
    uint32_t in = terminals_find_variable(reading, tt_xml_attribute(attributes, "inStreamVariableName")),
             out = terminals_find_variable(reading, tt_xml_attribute(attributes, "outStreamVariableName"));
    if (in == TUTTI_NONE || out == TUTTI_NONE)
        return TUTTI_OK;
    TRY(terminals_add_member(reading, tt_xml_attribute(attributes, "inStreamMemberName"), in, "inStream",
                             TUTTI_MEMBER_IN_STREAM));
    return terminals_add_member(reading, tt_xml_attribute(attributes, "outStreamMemberName"), out, "outStream",
                                TUTTI_MEMBER_OUT_STREAM);
}

/* Inside of a terminal. */
static enum tutti_err terminals_start_part(struct terminals_reading *reading, const char *name, const char **attributes)
{
    if (strcmp(name, "Terminal") == 0)
        return start_terminal(reading, attributes);
    if (strcmp(name, "TerminalMemberVariable") == 0)
        TRY(start_member(reading, attributes));
    else if (strcmp(name, "TerminalStreamMemberVariable") == 0)
        TRY(start_streams(reading, attributes));
    else if (strcmp(name, "TerminalGraphicalRepresentation") == 0) {
        struct tt_terminal *terminal = innermost_terminal(reading);
        read_extent(reading, attributes, &terminal->extent);
        TRY(terminals_copy_text(reading, &terminal->icon, tt_xml_attribute(attributes, "iconBaseName")));
    }
    reading->skipped = reading->depth; /* what is in them is annotations */
    return TUTTI_OK;
}

static enum tutti_err terminals_start_element(void *context, struct tt_xml *xml, const char *name,
                                              const char **attributes)
{
    struct terminals_reading *reading = context;
    reading->xml = xml;
    reading->depth++;
    if (reading->skipped > 0)
        return TUTTI_OK;
    if (reading->depth == 1)
        return strcmp(name, "fmiTerminalsAndIcons") == 0
                   ? TUTTI_OK
                   : tt_xml_fail(reading->xml, TUTTI_ERR_FORMAT, "found <%s>, expected <fmiTerminalsAndIcons>",
                                 tt_text_excerpt(name).text);
    if (reading->level > 0)
        return terminals_start_part(reading, name, attributes);
    if (strcmp(name, "Terminal") == 0 && reading->in_list)
        return start_terminal(reading, attributes);
    if (strcmp(name, "Terminals") == 0 && reading->depth == 2)
        reading->in_list = true;
    else if (strcmp(name, "CoordinateSystem") == 0 && reading->depth == 3) {
        read_extent(reading, attributes, &reading->terminals->coordinates);
        terminals_read_number(reading, attributes, "suggestedScalingFactorTo_mm", &reading->terminals->millimetres);
    } else if (strcmp(name, "Icon") == 0 && reading->depth == 3)
        read_extent(reading, attributes, &reading->terminals->icon);
    else if (strcmp(name, "GraphicalRepresentation") != 0 || reading->depth != 2)
        reading->skipped = reading->depth;
    return TUTTI_OK;
}

/* The element that ends is a terminal if it is as deep as the innermost: terminals are at depth 3 and below, without gaps. */
static enum tutti_err terminals_end_element(void *context, struct tt_xml *xml)
{
    struct terminals_reading *reading = context;
    (void)xml;
    if (reading->skipped == reading->depth)
        reading->skipped = 0;
    else if (reading->skipped == 0 && reading->level > 0 && reading->depth == reading->level + 2)
        reading->level--;
    else if (reading->skipped == 0 && reading->depth == 2)
        reading->in_list = false;
    reading->depth--;
    return TUTTI_OK;
}

/* ---- all of it ---- */

/* Members lie terminal by terminal. */
static enum tutti_err group_members_by_terminal(struct terminals_reading *reading)
{
    struct tt_terminals *terminals = reading->terminals;
    struct tt_terminal *items = tt_arena_array(&terminals->arena, reading->items.count, sizeof *items);
    struct tt_terminal_member *members = tt_arena_array(&terminals->arena, reading->members.count, sizeof *members);
    const struct tt_terminal_member *read = reading->members.items;
    if (!items || !members)
        return tt_fail_memory();
    uint32_t at = 0;
    for (size_t i = 0; i < reading->items.count; i++) {
        items[i] = ((struct tt_terminal *)reading->items.items)[i];
        items[i].first_member = at;
        at += items[i].member_count;
        items[i].member_count = 0;
    }
    for (size_t i = 0; i < reading->members.count; i++) {
        struct tt_terminal *owner = &items[read[i].terminal];
        members[owner->first_member + owner->member_count++] = read[i];
    }
    terminals->items = items;
    terminals->members = members;
    terminals->count = (uint32_t)reading->items.count;
    terminals->member_count = at;
    return TUTTI_OK;
}

enum tutti_err tt_terminals_read(struct tt_terminals **out, const char *file, struct tt_byte_source *reader,
                                 const struct tt_description *desc, struct tt_findings *findings)
{
    static const struct tt_xml_handlers handlers = {.start = terminals_start_element, .end = terminals_end_element};
    uint32_t open[TUTTI_TERMINALS_DEPTH];
    *out = NULL;
    struct tt_terminals *terminals = calloc(1, sizeof *terminals);
    if (!terminals)
        return tt_fail_memory();
    struct terminals_reading reading = {
        .terminals = terminals, .desc = desc, .findings = findings, .file = file, .open = open};
    terminals->coordinates = (struct tt_extent){false, -100, -100, 100, 100};
    terminals->icon = terminals->coordinates;
    terminals->millimetres = 0.1;
    enum tutti_err err = tt_xml_read(file, reader, &handlers, &reading);
    if (!err)
        err = group_members_by_terminal(&reading);
    tt_vector_fini(&reading.items);
    tt_vector_fini(&reading.members);
    if (err)
        tt_terminals_free(terminals);
    else
        *out = terminals;
    return err;
}

void tt_terminals_free(struct tt_terminals *terminals)
{
    if (!terminals)
        return;
    tt_map_fini(&terminals->paths);
    tt_arena_fini(&terminals->arena);
    free(terminals);
}

uint32_t tt_terminals_find(const struct tt_terminals *terminals, const char *path)
{
    int64_t found = terminals ? tt_map_find(&terminals->paths, path) : TUTTI_MAP_NONE;
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}
