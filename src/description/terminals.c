/* SPDX-License-Identifier: MIT */
#include "description/terminals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "base/vector.h"
#include "base/xml.h"

/* Where the reader is. */
struct reading {
    struct tutti_terminals *terminals;
    const struct tutti_desc *desc;
    struct tutti_findings *findings;
    const char *file;
    struct tutti_xml *xml;
    struct tutti_vector items, members; /* struct tutti_terminal, struct tutti_terminal_member */
    uint32_t *open;                     /* the terminals that it is in, from the outermost on */
    unsigned depth, level;              /* of elements; of terminals */
    unsigned skipped;                   /* depth of the element whose content is left out; 0: none */
    bool in_list;                       /* below Terminals */
};

TUTTI_PRINTF(3, 4)
static void report(const struct reading *reading, enum tutti_severity severity, const char *format, ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tutti_str_make_printable(words);
    tutti_findings_add(reading->findings, severity, reading->file, tutti_xml_line(reading->xml), "%s", words);
}

static enum tutti_err keep(struct reading *reading, const char **out, const char *text)
{
    if (!text)
        return TUTTI_OK;
    if (reading->terminals->arena.total > TUTTI_TERMINALS_BYTES)
        return tutti_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "terminals have more than %d MiB of texts",
                              TUTTI_TERMINALS_BYTES >> 20);
    *out = tutti_arena_text(&reading->terminals->arena, text, strlen(text));
    return *out ? TUTTI_OK : tutti_fail_memory();
}

/* ---- attributes ---- */

static void read_number(const struct reading *reading, const char **attributes, const char *name, double *value)
{
    const char *text = tutti_xml_attribute(attributes, name);
    if (!text || !tutti_number_read_double(text, strlen(text), value))
        report(reading, TUTTI_FINDING_WARNING, "'%s' is not given as a number", name);
}

static void read_extent(const struct reading *reading, const char **attributes, struct tutti_extent *extent)
{
    extent->given = true;
    read_number(reading, attributes, "x1", &extent->x1);
    read_number(reading, attributes, "y1", &extent->y1);
    read_number(reading, attributes, "x2", &extent->x2);
    read_number(reading, attributes, "y2", &extent->y2);
}

static enum tutti_matching matching_of(const char *rule)
{
    static const char *const rules[] = {"plug", "bus", "sequence", "none", "org.fmi-ls-bus.transceiver"};
    unsigned i = 0;
    while (i < sizeof rules / sizeof *rules && strcmp(rules[i], rule) != 0)
        i++;
    return (enum tutti_matching)i;
}

static enum tutti_member_kind kind_of(const char *kind)
{
    static const char *const kinds[] = {"signal", "inflow", "outflow"};
    unsigned i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i], kind) != 0)
        i++;
    return (enum tutti_member_kind)i;
}

/* ---- elements ---- */

static struct tutti_terminal *current(const struct reading *reading)
{
    return reading->level == 0 ? NULL
                               : (struct tutti_terminal *)reading->items.items + reading->open[reading->level - 1];
}

/* "outer.inner"; a name that is there twice leads to the first of the two. */
static enum tutti_err name_terminal(struct reading *reading, struct tutti_terminal *terminal, const char *name)
{
    const char *outer =
        terminal->parent == TUTTI_NONE ? NULL : ((struct tutti_terminal *)reading->items.items)[terminal->parent].path;
    struct tutti_text path = {0};
    int64_t earlier;
    tutti_text_printf(&path, "%s%s%s", outer ? outer : "", outer ? "." : "", name);
    enum tutti_err err = path.failed ? tutti_fail_memory() : TUTTI_OK;
    if (!err && path.length > TUTTI_TERMINALS_PATH)
        err = tutti_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "the name of a terminal has more than %d bytes",
                             TUTTI_TERMINALS_PATH);
    size_t length = path.length;
    if (!err)
        err = keep(reading, &terminal->path, path.text);
    tutti_text_fini(&path);
    TRY(err);
    terminal->name = terminal->path + length - strlen(name);
    TRY(tutti_map_add(&reading->terminals->paths, terminal->path, (int64_t)reading->items.count - 1, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        report(reading, TUTTI_FINDING_ERROR, "there are two terminals '%s'; names of terminals are unique",
               terminal->path);
    return TUTTI_OK;
}

static enum tutti_err start_terminal(struct reading *reading, const char **attributes)
{
    const char *name = tutti_xml_attribute(attributes, "name"), *rule = tutti_xml_attribute(attributes, "matchingRule");
    uint32_t parent = reading->level == 0 ? TUTTI_NONE : reading->open[reading->level - 1];
    if (reading->level == TUTTI_TERMINALS_DEPTH || reading->items.count == TUTTI_TERMINALS_MOST)
        return tutti_xml_fail(reading->xml, TUTTI_ERR_LIMIT,
                              "there are more than %d terminals, or more than %d in each other", TUTTI_TERMINALS_MOST,
                              TUTTI_TERMINALS_DEPTH);
    if (!name || !*name)
        report(reading, TUTTI_FINDING_ERROR, "a terminal has no name");
    if (!rule)
        report(reading, TUTTI_FINDING_ERROR, "the terminal '%s' has no matchingRule; none is taken", name ? name : "");
    struct tutti_terminal *terminal = tutti_vector_push(&reading->items, sizeof *terminal);
    if (!terminal)
        return tutti_fail_memory();
    *terminal = (struct tutti_terminal){.parent = parent, .line = tutti_xml_line(reading->xml)};
    TRY(name_terminal(reading, terminal, name ? name : ""));
    rule = rule ? rule : "none";
    TRY(keep(reading, &terminal->rule, rule));
    TRY(keep(reading, &terminal->kind, tutti_xml_attribute(attributes, "terminalKind")));
    TRY(keep(reading, &terminal->description, tutti_xml_attribute(attributes, "description")));
    terminal->matching = matching_of(rule);
    if (terminal->matching == TUTTI_MATCHING_OTHER && !strchr(rule, '.'))
        report(reading, TUTTI_FINDING_WARNING,
               "the matchingRule '%s' is neither of FMI nor in reverse domain name notation", rule);
    reading->open[reading->level++] = (uint32_t)reading->items.count - 1;
    return TUTTI_OK;
}

static bool is_named_twice(const struct reading *reading, uint32_t terminal, const char *name)
{
    const struct tutti_terminal_member *members = reading->members.items;
    for (size_t i = reading->members.count; i-- > 0 && members[i].terminal >= terminal;)
        if (members[i].terminal == terminal && members[i].name && strcmp(members[i].name, name) == 0)
            return true;
    return false;
}

enum { FEW = 1000 }; /* of so many members names are compared one by one */

/* The variable of this name; TUTTI_NONE, and that is reported: there is none. */
static uint32_t find_variable(const struct reading *reading, const char *name)
{
    uint32_t index = name ? tutti_desc_find(reading->desc, name) : TUTTI_NONE;
    if (index == TUTTI_NONE)
        report(reading, TUTTI_FINDING_ERROR, "a terminal has the variable '%s', which the model does not have",
               name ? name : "");
    return index;
}

static enum tutti_err add_member(struct reading *reading, const char *name, uint32_t variable, const char *kind_name,
                                 enum tutti_member_kind kind)
{
    uint32_t terminal = reading->open[reading->level - 1];
    const struct tutti_terminal *owner = current(reading);
    bool by_name = owner->matching != TUTTI_MATCHING_SEQUENCE && owner->matching != TUTTI_MATCHING_NONE;
    if (!name && by_name)
        report(reading, TUTTI_FINDING_ERROR, "the variable '%s' has no memberName in its terminal",
               reading->desc->vars[variable].name);
    if (name && by_name && kind < TUTTI_MEMBER_IN_STREAM && owner->member_count < FEW &&
        is_named_twice(reading, terminal, name)) {
        report(reading, TUTTI_FINDING_ERROR, "a terminal has two members '%s'; the first one counts", name);
        return TUTTI_OK;
    }
    if (reading->members.count == TUTTI_TERMINALS_MOST_MEMBERS)
        return tutti_xml_fail(reading->xml, TUTTI_ERR_LIMIT, "terminals have more than %d members",
                              TUTTI_TERMINALS_MOST_MEMBERS);
    struct tutti_terminal_member *member = tutti_vector_push(&reading->members, sizeof *member);
    if (!member)
        return tutti_fail_memory();
    *member = (struct tutti_terminal_member){
        .kind = kind, .variable = variable, .terminal = terminal, .line = tutti_xml_line(reading->xml)};
    current(reading)->member_count++;
    TRY(keep(reading, &member->name, name));
    return keep(reading, &member->kind_name, kind_name);
}

static enum tutti_err start_member(struct reading *reading, const char **attributes)
{
    const char *kind = tutti_xml_attribute(attributes, "variableKind");
    if (!kind)
        report(reading, TUTTI_FINDING_ERROR, "a member of a terminal has no variableKind; signal is taken");
    kind = kind ? kind : "signal";
    uint32_t variable = find_variable(reading, tutti_xml_attribute(attributes, "variableName"));
    return variable == TUTTI_NONE
               ? TUTTI_OK
               : add_member(reading, tutti_xml_attribute(attributes, "memberName"), variable, kind, kind_of(kind));
}

/* An inStream, and right after it its outStream. */
static enum tutti_err start_streams(struct reading *reading, const char **attributes)
{
    uint32_t in = find_variable(reading, tutti_xml_attribute(attributes, "inStreamVariableName")),
             out = find_variable(reading, tutti_xml_attribute(attributes, "outStreamVariableName"));
    if (in == TUTTI_NONE || out == TUTTI_NONE)
        return TUTTI_OK;
    TRY(add_member(reading, tutti_xml_attribute(attributes, "inStreamMemberName"), in, "inStream",
                   TUTTI_MEMBER_IN_STREAM));
    return add_member(reading, tutti_xml_attribute(attributes, "outStreamMemberName"), out, "outStream",
                      TUTTI_MEMBER_OUT_STREAM);
}

static enum tutti_err start_picture(struct reading *reading, const char **attributes)
{
    struct tutti_terminal *terminal = current(reading);
    read_extent(reading, attributes, &terminal->extent);
    return keep(reading, &terminal->icon, tutti_xml_attribute(attributes, "iconBaseName"));
}

static enum tutti_err start_root(struct reading *reading, const char *name)
{
    return strcmp(name, "fmiTerminalsAndIcons") == 0
               ? TUTTI_OK
               : tutti_xml_fail(reading->xml, TUTTI_ERR_FORMAT, "found <%s>, expected <fmiTerminalsAndIcons>",
                                tutti_str_show(name).text);
}

/* Inside of a terminal. */
static enum tutti_err start_part(struct reading *reading, const char *name, const char **attributes)
{
    if (strcmp(name, "Terminal") == 0)
        return start_terminal(reading, attributes);
    if (strcmp(name, "TerminalMemberVariable") == 0)
        TRY(start_member(reading, attributes));
    else if (strcmp(name, "TerminalStreamMemberVariable") == 0)
        TRY(start_streams(reading, attributes));
    else if (strcmp(name, "TerminalGraphicalRepresentation") == 0)
        TRY(start_picture(reading, attributes));
    reading->skipped = reading->depth; /* what is in them is annotations */
    return TUTTI_OK;
}

static enum tutti_err start(void *context, struct tutti_xml *xml, const char *name, const char **attributes)
{
    struct reading *reading = context;
    reading->xml = xml;
    reading->depth++;
    if (reading->skipped > 0)
        return TUTTI_OK;
    if (reading->depth == 1)
        return start_root(reading, name);
    if (reading->level > 0)
        return start_part(reading, name, attributes);
    if (strcmp(name, "Terminal") == 0 && reading->in_list)
        return start_terminal(reading, attributes);
    if (strcmp(name, "Terminals") == 0 && reading->depth == 2)
        reading->in_list = true;
    else if (strcmp(name, "CoordinateSystem") == 0 && reading->depth == 3) {
        read_extent(reading, attributes, &reading->terminals->coordinates);
        read_number(reading, attributes, "suggestedScalingFactorTo_mm", &reading->terminals->millimetres);
    } else if (strcmp(name, "Icon") == 0 && reading->depth == 3)
        read_extent(reading, attributes, &reading->terminals->icon);
    else if (strcmp(name, "GraphicalRepresentation") != 0 || reading->depth != 2)
        reading->skipped = reading->depth;
    return TUTTI_OK;
}

/* The element that ends is a terminal if it is as deep as the innermost: terminals are at depth 3 and below, without gaps. */
static enum tutti_err end(void *context, struct tutti_xml *xml)
{
    struct reading *reading = context;
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
static enum tutti_err settle(struct reading *reading)
{
    struct tutti_terminals *terminals = reading->terminals;
    struct tutti_terminal *items = tutti_arena_array(&terminals->arena, reading->items.count, sizeof *items);
    struct tutti_terminal_member *members =
        tutti_arena_array(&terminals->arena, reading->members.count, sizeof *members);
    const struct tutti_terminal_member *read = reading->members.items;
    if (!items || !members)
        return tutti_fail_memory();
    uint32_t at = 0;
    for (size_t i = 0; i < reading->items.count; i++) {
        items[i] = ((struct tutti_terminal *)reading->items.items)[i];
        items[i].first_member = at;
        at += items[i].member_count;
        items[i].member_count = 0;
    }
    for (size_t i = 0; i < reading->members.count; i++) {
        struct tutti_terminal *owner = &items[read[i].terminal];
        members[owner->first_member + owner->member_count++] = read[i];
    }
    terminals->items = items;
    terminals->members = members;
    terminals->count = (uint32_t)reading->items.count;
    terminals->member_count = at;
    return TUTTI_OK;
}

enum tutti_err tutti_terminals_read(struct tutti_terminals **out, const char *file, struct tutti_reader *reader,
                                    const struct tutti_desc *desc, struct tutti_findings *findings)
{
    static const struct tutti_xml_handlers handlers = {.start = start, .end = end};
    uint32_t open[TUTTI_TERMINALS_DEPTH];
    *out = NULL;
    struct tutti_terminals *terminals = calloc(1, sizeof *terminals);
    if (!terminals)
        return tutti_fail_memory();
    struct reading reading = {.terminals = terminals, .desc = desc, .findings = findings, .file = file, .open = open};
    terminals->coordinates = (struct tutti_extent){false, -100, -100, 100, 100};
    terminals->icon = terminals->coordinates;
    terminals->millimetres = 0.1;
    enum tutti_err err = tutti_xml_read(file, reader, &handlers, &reading);
    if (!err)
        err = settle(&reading);
    tutti_vector_fini(&reading.items);
    tutti_vector_fini(&reading.members);
    if (err)
        tutti_terminals_free(terminals);
    else
        *out = terminals;
    return err;
}

void tutti_terminals_free(struct tutti_terminals *terminals)
{
    if (!terminals)
        return;
    tutti_map_fini(&terminals->paths);
    tutti_arena_fini(&terminals->arena);
    free(terminals);
}

uint32_t tutti_terminals_find(const struct tutti_terminals *terminals, const char *path)
{
    int64_t found = terminals ? tutti_map_find(&terminals->paths, path) : TUTTI_MAP_NONE;
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}
