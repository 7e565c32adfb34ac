/* SPDX-License-Identifier: MIT */
#include "model/system/terminal_join.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct terminal_plug {
    uint32_t item;
    const struct tt_terminals *terminals;
    const struct tt_terminal *terminal;
};

struct terminal_joining {
    struct tt_flat *flat;
    const char *text; /* what stands after --connect */
    size_t joined;    /* pairs of variables so far */
    size_t same_way;  /* pairs that both give, or both take */
};

TUTTI_PRINTF(2, 3)
static enum tutti_err terminal_join_fail(const struct terminal_joining *joining, const char *format, ...)
{
    char words[768];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tt_text_make_printable(words);
    return tt_fail(TUTTI_ERR_ARGUMENT, "--connect %s: %s", joining->text, words);
}

static const char *terminal_join_name_of(const struct terminal_joining *joining, const struct terminal_plug *plug)
{
    return tt_flat_path(joining->flat, plug->item, plug->terminal->path);
}

static const struct tt_terminal_member *terminal_join_member_of(const struct terminal_plug *plug, uint32_t index)
{
    return &plug->terminals->members[plug->terminal->first_member + index];
}

static const struct tt_var *terminal_join_var_of(const struct terminal_joining *joining,
                                                 const struct terminal_plug *plug,
                                                 const struct tt_terminal_member *member)
{
    const struct tt_flat_item *item = tt_flat_item(joining->flat, plug->item);
    return &tt_flat_component(joining->flat, item->component)->fmu->desc->vars[member->variable];
}

static const char *terminal_join_path_of(const struct terminal_joining *joining, const struct terminal_plug *plug,
                                         const struct tt_terminal_member *member)
{
    return tt_flat_path(joining->flat, plug->item, terminal_join_var_of(joining, plug, member)->name);
}

/* ---- two variables ---- */

static bool is_flow_member(enum tt_member_kind kind)
{
    return kind == TUTTI_MEMBER_INFLOW || kind == TUTTI_MEMBER_OUTFLOW;
}

static bool terminal_members_fit(const struct tt_terminal_member *a, const struct tt_terminal_member *b)
{
    if (is_flow_member(a->kind) || is_flow_member(b->kind))
        return is_flow_member(a->kind) && is_flow_member(b->kind);
    if (a->kind == TUTTI_MEMBER_IN_STREAM || a->kind == TUTTI_MEMBER_OUT_STREAM)
        return b->kind == (a->kind == TUTTI_MEMBER_IN_STREAM ? TUTTI_MEMBER_OUT_STREAM : TUTTI_MEMBER_IN_STREAM);
    return strcmp(a->kind_name, b->kind_name) == 0;
}

static const char *mime_of(const struct tt_var *var)
{
    return var->more && var->more->mime_type ? var->more->mime_type : "application/octet-stream";
}

/* Returns true if the node provides values. A time-based clock provides them for triggered clocks only. */
static bool is_source_node(const struct tt_flat *flat, const struct tt_flat_node *node,
                           const struct tt_flat_node *other)
{
    return tt_flat_clock_triggers(flat, node, other) ||
           (node->kind != TUTTI_SSP_INPUT && node->kind != TUTTI_SSP_PARAMETER &&
            node->kind != TUTTI_SSP_STRUCTURAL_PARAMETER);
}

static enum tutti_err terminal_join_add_edge(struct terminal_joining *joining, uint32_t from, uint32_t to, bool negated)
{
    struct tt_flat *flat = joining->flat;
    struct tt_flat_edge edge = {.text = joining->text,
                                .from = {.node = from, .kind = tt_flat_node(flat, from)->kind},
                                .to = {.node = to, .kind = tt_flat_node(flat, to)->kind}};
    if (negated) {
        struct tt_ssp_transformation *transformation = tt_arena_alloc(&flat->arena, sizeof *transformation);
        if (!transformation)
            return tt_fail_memory();
        *transformation = (struct tt_ssp_transformation){.kind = TUTTI_SSP_LINEAR, .factor = -1};
        edge.transformation = transformation;
    }
    joining->joined++;
    return tt_edges_add(flat, &edge);
}

static enum tutti_err check_pair(const struct terminal_joining *joining, const struct terminal_plug *a,
                                 const struct tt_terminal_member *x, const struct terminal_plug *b,
                                 const struct tt_terminal_member *y)
{
    const struct tt_var *left = terminal_join_var_of(joining, a, x), *right = terminal_join_var_of(joining, b, y);
    if (!terminal_members_fit(x, y))
        return terminal_join_fail(joining, "'%s' is of kind %s and '%s' of kind %s, which do not belong together",
                                  terminal_join_path_of(joining, a, x), x->kind_name,
                                  terminal_join_path_of(joining, b, y), y->kind_name);
    if (left->type == TUTTI_TYPE_BINARY && right->type == TUTTI_TYPE_BINARY &&
        strcmp(mime_of(left), mime_of(right)) != 0)
        return terminal_join_fail(joining, "'%s' holds %s and '%s' %s: they do not understand each other",
                                  terminal_join_path_of(joining, a, x), mime_of(left),
                                  terminal_join_path_of(joining, b, y), mime_of(right));
    return TUTTI_OK;
}

/* Both are destinations or both are sources: parameters exchange nothing; on a bus a third terminal may be the other
 * end. */
static enum tutti_err join_same_way(struct terminal_joining *joining, const struct terminal_plug *a,
                                    const struct tt_terminal_member *x, const struct terminal_plug *b,
                                    const struct tt_terminal_member *y)
{
    const struct tt_var *left = terminal_join_var_of(joining, a, x), *right = terminal_join_var_of(joining, b, y);
    bool parameters = left->causality == TUTTI_PARAMETER && right->causality == TUTTI_PARAMETER;
    joining->same_way++;
    if (parameters || a->terminal->matching == TUTTI_MATCHING_BUS)
        return TUTTI_OK;
    return terminal_join_fail(
        joining, "'%s' (%s) and '%s' (%s) cannot be connected: one has to be an output and the other an input",
        terminal_join_path_of(joining, a, x), tt_description_causality_name(left->causality),
        terminal_join_path_of(joining, b, y), tt_description_causality_name(right->causality));
}

static enum tutti_err join_pair(struct terminal_joining *joining, const struct terminal_plug *a,
                                const struct tt_terminal_member *x, const struct terminal_plug *b,
                                const struct tt_terminal_member *y)
{
    TRY(check_pair(joining, a, x, b, y));
    uint32_t left = tt_flat_variable_node(joining->flat, a->item, x->variable);
    uint32_t right = left == TUTTI_NONE ? TUTTI_NONE : tt_flat_variable_node(joining->flat, b->item, y->variable);
    if (left == TUTTI_NONE || right == TUTTI_NONE)
        return tt_fail_memory();
    const struct tt_flat_node *first = tt_flat_node(joining->flat, left), *second = tt_flat_node(joining->flat, right);
    bool from_left = is_source_node(joining->flat, first, second),
         from_right = is_source_node(joining->flat, second, first);
    if (from_left == from_right)
        return join_same_way(joining, a, x, b, y);
    /* FMI 3.0.2, 2.4.9.2.3: flows fulfil Kirchhoff's current law. */
    bool negated = is_flow_member(x->kind) && x->kind == y->kind;
    return terminal_join_add_edge(joining, from_left ? left : right, from_left ? right : left, negated);
}

/* ---- the members of two terminals ---- */

/* Returns the name of the member on the opposite side: an inStream matches the outStream of its pair, Tx matches Rx. */
static const struct tt_terminal_member *counterpart_name(const struct terminal_plug *of,
                                                         const struct tt_terminal_member *member,
                                                         const struct terminal_plug *in)
{
    bool transceiver = of->terminal->matching == TUTTI_MATCHING_TRANSCEIVER;
    bool stream = member->kind == TUTTI_MEMBER_IN_STREAM || member->kind == TUTTI_MEMBER_OUT_STREAM;
    uint32_t index = (uint32_t)(member - terminal_join_member_of(of, 0));
    for (uint32_t i = 0; i < in->terminal->member_count; i++) {
        const struct tt_terminal_member *other = terminal_join_member_of(in, i);
        const char *wanted = member->name, *name = other->name;
        if (stream && index > 0 && member->kind == TUTTI_MEMBER_OUT_STREAM)
            wanted = terminal_join_member_of(of, index - 1)->name; /* the inStream comes before its outStream */
        if (stream && member->kind == TUTTI_MEMBER_IN_STREAM && i > 0 && other->kind == TUTTI_MEMBER_OUT_STREAM)
            name = terminal_join_member_of(in, i - 1)->name;
        if (stream && other->kind == member->kind)
            continue;
        if (!wanted || !name)
            continue;
        bool turned = transceiver && (strncmp(wanted, "Tx_", 3) == 0 || strncmp(wanted, "Rx_", 3) == 0);
        if (turned ? wanted[0] != name[0] && strcmp(wanted + 1, name + 1) == 0 && (name[0] == 'T' || name[0] == 'R')
                   : strcmp(wanted, name) == 0)
            return other;
    }
    return NULL;
}

static enum tutti_err terminal_join_is_missing(const struct terminal_joining *joining, const struct terminal_plug *plug,
                                               const struct tt_terminal_member *member,
                                               const struct terminal_plug *other)
{
    return terminal_join_fail(
        joining, "the member '%s' of '%s' has none to match in '%s'; a terminal of rule '%s' is joined as a whole",
        member->name ? member->name : terminal_join_var_of(joining, plug, member)->name,
        terminal_join_name_of(joining, plug), terminal_join_name_of(joining, other), plug->terminal->rule);
}

static enum tutti_err join_by_name(struct terminal_joining *joining, const struct terminal_plug *a,
                                   const struct terminal_plug *b)
{
    bool whole = a->terminal->matching != TUTTI_MATCHING_BUS;
    for (uint32_t i = 0; i < b->terminal->member_count && whole; i++)
        if (!counterpart_name(b, terminal_join_member_of(b, i), a))
            return terminal_join_is_missing(joining, b, terminal_join_member_of(b, i), a);
    for (uint32_t i = 0; i < a->terminal->member_count; i++) {
        const struct tt_terminal_member *member = terminal_join_member_of(a, i),
                                        *other = counterpart_name(a, member, b);
        if (!other && whole)
            return terminal_join_is_missing(joining, a, member, b);
        if (other)
            TRY(join_pair(joining, a, member, b, other));
    }
    return TUTTI_OK;
}

static enum tutti_err join_by_order(struct terminal_joining *joining, const struct terminal_plug *a,
                                    const struct terminal_plug *b)
{
    if (a->terminal->member_count != b->terminal->member_count)
        return terminal_join_fail(joining,
                                  "'%s' has %u members and '%s' has %u; terminals of rule 'sequence' have as many",
                                  terminal_join_name_of(joining, a), a->terminal->member_count,
                                  terminal_join_name_of(joining, b), b->terminal->member_count);
    for (uint32_t i = 0; i < a->terminal->member_count; i++) {
        const struct tt_terminal_member *x = terminal_join_member_of(a, i), *y = terminal_join_member_of(b, i);
        /* Of a stream the first of the pair is the inStream on both sides. */
        if (x->kind == y->kind && x->kind >= TUTTI_MEMBER_IN_STREAM)
            y = terminal_join_member_of(b, x->kind == TUTTI_MEMBER_IN_STREAM ? i + 1 : i - 1);
        TRY(join_pair(joining, a, x, b, y));
    }
    return TUTTI_OK;
}

/* ---- nested terminals ---- */

/* Returns the child number `index` of a terminal, or the child of this name (NULL: any); NULL if it does not exist. */
static const struct tt_terminal *terminal_child_of(const struct terminal_plug *plug, uint32_t index, const char *name)
{
    uint32_t parent = (uint32_t)(plug->terminal - plug->terminals->items), seen = 0;
    for (uint32_t i = parent + 1; i < plug->terminals->count; i++) {
        const struct tt_terminal *child = &plug->terminals->items[i];
        if (child->parent != parent)
            continue;
        if (name ? strcmp(child->name, name) == 0 : seen++ == index)
            return child;
    }
    return NULL;
}

static enum tutti_err terminal_join_plugs(struct terminal_joining *joining, const struct terminal_plug *a,
                                          const struct terminal_plug *b);

static enum tutti_err join_children(struct terminal_joining *joining, const struct terminal_plug *a,
                                    const struct terminal_plug *b)
{
    bool ordered = a->terminal->matching == TUTTI_MATCHING_SEQUENCE;
    bool whole = ordered || a->terminal->matching == TUTTI_MATCHING_PLUG;
    const struct tt_terminal *child, *other;
    for (uint32_t i = 0; (child = terminal_child_of(b, i, NULL)) && whole; i++)
        if (!terminal_child_of(a, i, ordered ? NULL : child->name))
            return terminal_join_fail(joining, "'%s' has no terminal '%s', which '%s' has",
                                      terminal_join_name_of(joining, a), child->name,
                                      terminal_join_name_of(joining, b));
    for (uint32_t i = 0; (child = terminal_child_of(a, i, NULL)); i++) {
        other = terminal_child_of(b, i, ordered ? NULL : child->name);
        if (!other && whole)
            return terminal_join_fail(joining, "'%s' has no terminal '%s', which '%s' has",
                                      terminal_join_name_of(joining, b), child->name,
                                      terminal_join_name_of(joining, a));
        if (!other)
            continue;
        struct terminal_plug inner = {a->item, a->terminals, child}, outer = {b->item, b->terminals, other};
        TRY(terminal_join_plugs(joining, &inner, &outer));
    }
    return TUTTI_OK;
}

static enum tutti_err check_rules(const struct terminal_joining *joining, const struct terminal_plug *a,
                                  const struct terminal_plug *b)
{
    if (strcmp(a->terminal->rule, b->terminal->rule) != 0)
        return terminal_join_fail(
            joining, "'%s' has the matching rule '%s' and '%s' has '%s'; connect their variables one by one",
            terminal_join_name_of(joining, a), a->terminal->rule, terminal_join_name_of(joining, b), b->terminal->rule);
    if (a->terminal->matching == TUTTI_MATCHING_OTHER)
        return terminal_join_fail(joining,
                                  "the matching rule '%s' of '%s' is not known; connect their variables one by one",
                                  a->terminal->rule, terminal_join_name_of(joining, a));
    if (a->terminal->matching == TUTTI_MATCHING_NONE && a->terminal->member_count > 0)
        return terminal_join_fail(
            joining,
            "'%s' has the matching rule 'none': it is not meant to be joined; connect its variables one "
            "by one",
            terminal_join_name_of(joining, a));
    if (a->terminal->kind && b->terminal->kind && strcmp(a->terminal->kind, b->terminal->kind) != 0)
        tt_log(joining->flat->source->log, TUTTI_LOG_WARNING, joining->flat->system->name,
               "--connect %s: '%s' is a terminal of kind %s and '%s' of kind %s; they are joined by their "
               "matching rule",
               joining->text, terminal_join_name_of(joining, a), a->terminal->kind, terminal_join_name_of(joining, b),
               b->terminal->kind);
    return TUTTI_OK;
}

static enum tutti_err terminal_join_plugs(struct terminal_joining *joining, const struct terminal_plug *a,
                                          const struct terminal_plug *b)
{
    TRY(check_rules(joining, a, b));
    TRY(a->terminal->matching == TUTTI_MATCHING_SEQUENCE ? join_by_order(joining, a, b) : join_by_name(joining, a, b));
    return join_children(joining, a, b);
}

/* ---- names ---- */

/* Finds the terminal `name` in a component whose own name ends after `length` bytes; 0: it is all of the terminal's. */
static enum tutti_err find_terminal_in(const struct terminal_joining *joining, uint32_t index, const char *path,
                                       struct terminal_plug *plug)
{
    const struct tt_flat_item *item = tt_flat_item(joining->flat, index);
    const struct tt_terminals *terminals;
    TRY(tt_fmu_terminals(tt_flat_component(joining->flat, item->component)->fmu, NULL, &terminals));
    uint32_t found = tt_terminals_find(terminals, path);
    if (found != TUTTI_NONE && !plug->terminal)
        *plug = (struct terminal_plug){index, terminals, &terminals->items[found]};
    return TUTTI_OK;
}

/* plug->terminal is NULL if it means none. A longer name of a unit counts before a shorter one. */
static enum tutti_err terminal_join_find(const struct terminal_joining *joining, const char *name,
                                         struct terminal_plug *plug)
{
    const struct tt_flat *flat = joining->flat;
    size_t longest = 0;
    *plug = (struct terminal_plug){0};
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct tt_flat_item *item = tt_flat_item(flat, i);
        size_t length = strlen(item->name);
        if (item->component == TUTTI_NONE)
            continue;
        struct terminal_plug inside = {0};
        if (flat->system->single)
            TRY(find_terminal_in(joining, i, name, &inside));
        if (strncmp(name, item->name, length) == 0 && name[length] == '.')
            TRY(find_terminal_in(joining, i, name + length + 1, &inside));
        if (inside.terminal && (!plug->terminal || length > longest)) {
            *plug = inside;
            longest = length;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tt_terminal_join(struct tt_flat *flat, const char *text, const char *equals, bool *found)
{
    struct terminal_joining joining = {.flat = flat, .text = text};
    struct terminal_plug left = {0}, right = {0};
    char *name = strndup(text, (size_t)(equals - text));
    enum tutti_err err = name ? terminal_join_find(&joining, name, &left) : tt_fail_memory();
    free(name);
    TRY(err);
    if (left.terminal)
        TRY(terminal_join_find(&joining, equals + 1, &right));
    *found = left.terminal && right.terminal;
    if (!*found)
        return TUTTI_OK;
    if (left.terminal == right.terminal && left.item == right.item)
        return terminal_join_fail(&joining, "'%s' is joined to itself", terminal_join_name_of(&joining, &left));
    TRY(terminal_join_plugs(&joining, &left, &right));
    if (joining.joined == 0)
        return terminal_join_fail(&joining, "'%s' and '%s' %s", terminal_join_name_of(&joining, &left),
                                  terminal_join_name_of(&joining, &right),
                                  joining.same_way > 0 ? "match, but none of their pairs is an output and an input"
                                                       : "have no member in common");
    return flat->err;
}
