/* SPDX-License-Identifier: MIT */
#include "system/terminal/join.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* A terminal of a unit. */
struct plug {
    uint32_t item;
    const struct tutti_terminals *terminals;
    const struct tutti_terminal *terminal;
};

struct joining {
    struct flat *flat;
    const char *text; /* what stands after --connect */
    size_t joined;    /* pairs of variables so far */
    size_t same_way;  /* pairs that both give, or both take */
};

TUTTI_PRINTF(2, 3) static enum tutti_err refuse(const struct joining *joining, const char *format, ...)
{
    char words[768];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tutti_str_make_printable(words);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "--connect %s: %s", joining->text, words);
}

static const struct tutti_desc *desc_of(const struct joining *joining, const struct plug *plug)
{
    return tutti_flat_component(joining->flat, tutti_flat_item(joining->flat, plug->item)->component)->fmu->desc;
}

static const char *name_of(const struct joining *joining, const struct plug *plug)
{
    return tutti_flat_path(joining->flat, plug->item, plug->terminal->path);
}

static const struct tutti_terminal_member *member_of(const struct plug *plug, uint32_t index)
{
    return &plug->terminals->members[plug->terminal->first_member + index];
}

static const struct tutti_var *var_of(const struct joining *joining, const struct plug *plug,
                                      const struct tutti_terminal_member *member)
{
    return &desc_of(joining, plug)->vars[member->variable];
}

static const char *path_of(const struct joining *joining, const struct plug *plug,
                           const struct tutti_terminal_member *member)
{
    return tutti_flat_path(joining->flat, plug->item, var_of(joining, plug, member)->name);
}

/* ---- two variables ---- */

static bool is_flow(enum tutti_member_kind kind)
{
    return kind == TUTTI_MEMBER_INFLOW || kind == TUTTI_MEMBER_OUTFLOW;
}

static bool fits(const struct tutti_terminal_member *a, const struct tutti_terminal_member *b)
{
    if (is_flow(a->kind) || is_flow(b->kind))
        return is_flow(a->kind) && is_flow(b->kind);
    if (a->kind == TUTTI_MEMBER_IN_STREAM || a->kind == TUTTI_MEMBER_OUT_STREAM)
        return b->kind == (a->kind == TUTTI_MEMBER_IN_STREAM ? TUTTI_MEMBER_OUT_STREAM : TUTTI_MEMBER_IN_STREAM);
    return strcmp(a->kind_name, b->kind_name) == 0;
}

static const char *mime_of(const struct tutti_var *var)
{
    return var->more && var->more->mime_type ? var->more->mime_type : "application/octet-stream";
}

/* Do values come out of it? Of a clock by time for triggered ones only. */
static bool gives(const struct flat *flat, const struct node *node, const struct node *other)
{
    return tutti_flat_clock_leads(flat, node, other) ||
           (node->kind != TUTTI_SSP_INPUT && node->kind != TUTTI_SSP_PARAMETER &&
            node->kind != TUTTI_SSP_STRUCTURAL_PARAMETER);
}

static enum tutti_err negate(struct joining *joining, struct edge *edge)
{
    struct tutti_ssp_transformation *transformation = tutti_arena_alloc(&joining->flat->arena, sizeof *transformation);
    if (!transformation)
        return tutti_fail_memory();
    *transformation = (struct tutti_ssp_transformation){.kind = TUTTI_SSP_LINEAR, .factor = -1};
    edge->transformation = transformation;
    return TUTTI_OK;
}

static enum tutti_err add_edge(struct joining *joining, uint32_t from, uint32_t to, bool negated)
{
    struct flat *flat = joining->flat;
    struct edge edge = {.text = joining->text,
                        .from = {.node = from, .kind = tutti_flat_node(flat, from)->kind},
                        .to = {.node = to, .kind = tutti_flat_node(flat, to)->kind}};
    if (negated)
        TRY(negate(joining, &edge));
    joining->joined++;
    return tutti_edge_add(flat, &edge);
}

static enum tutti_err check_pair(const struct joining *joining, const struct plug *a,
                                 const struct tutti_terminal_member *x, const struct plug *b,
                                 const struct tutti_terminal_member *y)
{
    const struct tutti_var *left = var_of(joining, a, x), *right = var_of(joining, b, y);
    if (!fits(x, y))
        return refuse(joining, "'%s' is of kind %s and '%s' of kind %s, which do not belong together",
                      path_of(joining, a, x), x->kind_name, path_of(joining, b, y), y->kind_name);
    if (left->type == TUTTI_TYPE_BINARY && right->type == TUTTI_TYPE_BINARY &&
        strcmp(mime_of(left), mime_of(right)) != 0)
        return refuse(joining, "'%s' holds %s and '%s' %s: they do not understand each other", path_of(joining, a, x),
                      mime_of(left), path_of(joining, b, y), mime_of(right));
    return TUTTI_OK;
}

/* Neither gives, or both do: between parameters nothing flows, and on a bus others may be the other end. */
static enum tutti_err join_same_way(struct joining *joining, const struct plug *a,
                                    const struct tutti_terminal_member *x, const struct plug *b,
                                    const struct tutti_terminal_member *y)
{
    const struct tutti_var *left = var_of(joining, a, x), *right = var_of(joining, b, y);
    bool parameters = left->causality == TUTTI_PARAMETER && right->causality == TUTTI_PARAMETER;
    joining->same_way++;
    if (parameters || a->terminal->matching == TUTTI_MATCHING_BUS)
        return TUTTI_OK;
    return refuse(joining,
                  "'%s' (%s) and '%s' (%s) cannot be connected: one has to be an output and the other an input",
                  path_of(joining, a, x), tutti_causality_name(left->causality), path_of(joining, b, y),
                  tutti_causality_name(right->causality));
}

static enum tutti_err join_pair(struct joining *joining, const struct plug *a, const struct tutti_terminal_member *x,
                                const struct plug *b, const struct tutti_terminal_member *y)
{
    TRY(check_pair(joining, a, x, b, y));
    uint32_t left = tutti_flat_variable_node(joining->flat, a->item, x->variable);
    uint32_t right = left == TUTTI_NONE ? TUTTI_NONE : tutti_flat_variable_node(joining->flat, b->item, y->variable);
    if (left == TUTTI_NONE || right == TUTTI_NONE)
        return tutti_fail_memory();
    const struct node *first = tutti_flat_node(joining->flat, left), *second = tutti_flat_node(joining->flat, right);
    bool from_left = gives(joining->flat, first, second), from_right = gives(joining->flat, second, first);
    if (from_left == from_right)
        return join_same_way(joining, a, x, b, y);
    /* FMI 3.0.2, 2.4.9.2.3: flows fulfil Kirchhoff's current law. */
    bool negated = is_flow(x->kind) && x->kind == y->kind;
    return add_edge(joining, from_left ? left : right, from_left ? right : left, negated);
}

/* ---- the members of two terminals ---- */

/* What the member of this name is called on the other side: an inStream belongs to the outStream of the same pair, Tx to Rx. */
static const struct tutti_terminal_member *counterpart(const struct plug *of,
                                                       const struct tutti_terminal_member *member,
                                                       const struct plug *in)
{
    bool transceiver = of->terminal->matching == TUTTI_MATCHING_TRANSCEIVER;
    bool stream = member->kind == TUTTI_MEMBER_IN_STREAM || member->kind == TUTTI_MEMBER_OUT_STREAM;
    uint32_t index = (uint32_t)(member - member_of(of, 0));
    for (uint32_t i = 0; i < in->terminal->member_count; i++) {
        const struct tutti_terminal_member *other = member_of(in, i);
        const char *wanted = member->name, *name = other->name;
        if (stream && index > 0 && member->kind == TUTTI_MEMBER_OUT_STREAM)
            wanted = member_of(of, index - 1)->name; /* the inStream comes before its outStream */
        if (stream && member->kind == TUTTI_MEMBER_IN_STREAM && i > 0 && other->kind == TUTTI_MEMBER_OUT_STREAM)
            name = member_of(in, i - 1)->name;
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

static enum tutti_err is_missing(const struct joining *joining, const struct plug *plug,
                                 const struct tutti_terminal_member *member, const struct plug *other)
{
    return refuse(joining,
                  "the member '%s' of '%s' has none to match in '%s'; a terminal of rule '%s' is joined as a whole",
                  member->name ? member->name : var_of(joining, plug, member)->name, name_of(joining, plug),
                  name_of(joining, other), plug->terminal->rule);
}

static enum tutti_err join_by_name(struct joining *joining, const struct plug *a, const struct plug *b)
{
    bool whole = a->terminal->matching != TUTTI_MATCHING_BUS;
    for (uint32_t i = 0; i < b->terminal->member_count && whole; i++)
        if (!counterpart(b, member_of(b, i), a))
            return is_missing(joining, b, member_of(b, i), a);
    for (uint32_t i = 0; i < a->terminal->member_count; i++) {
        const struct tutti_terminal_member *member = member_of(a, i), *other = counterpart(a, member, b);
        if (!other && whole)
            return is_missing(joining, a, member, b);
        if (other)
            TRY(join_pair(joining, a, member, b, other));
    }
    return TUTTI_OK;
}

static enum tutti_err join_by_order(struct joining *joining, const struct plug *a, const struct plug *b)
{
    if (a->terminal->member_count != b->terminal->member_count)
        return refuse(joining, "'%s' has %u members and '%s' has %u; terminals of rule 'sequence' have as many",
                      name_of(joining, a), a->terminal->member_count, name_of(joining, b), b->terminal->member_count);
    for (uint32_t i = 0; i < a->terminal->member_count; i++) {
        const struct tutti_terminal_member *x = member_of(a, i), *y = member_of(b, i);
        /* Of a stream the first of the pair is the inStream on both sides. */
        if (x->kind == y->kind && x->kind >= TUTTI_MEMBER_IN_STREAM)
            y = member_of(b, x->kind == TUTTI_MEMBER_IN_STREAM ? i + 1 : i - 1);
        TRY(join_pair(joining, a, x, b, y));
    }
    return TUTTI_OK;
}

/* ---- terminals inside of terminals ---- */

/* The child number `index` of a terminal, or the one of this name (NULL: any); NULL: there is none. */
static const struct tutti_terminal *child_of(const struct plug *plug, uint32_t index, const char *name)
{
    uint32_t parent = (uint32_t)(plug->terminal - plug->terminals->items), seen = 0;
    for (uint32_t i = parent + 1; i < plug->terminals->count; i++) {
        const struct tutti_terminal *child = &plug->terminals->items[i];
        if (child->parent != parent)
            continue;
        if (name ? strcmp(child->name, name) == 0 : seen++ == index)
            return child;
    }
    return NULL;
}

static enum tutti_err join(struct joining *joining, const struct plug *a, const struct plug *b);

static enum tutti_err join_children(struct joining *joining, const struct plug *a, const struct plug *b)
{
    bool ordered = a->terminal->matching == TUTTI_MATCHING_SEQUENCE;
    bool whole = ordered || a->terminal->matching == TUTTI_MATCHING_PLUG;
    const struct tutti_terminal *child, *other;
    for (uint32_t i = 0; (child = child_of(b, i, NULL)) && whole; i++)
        if (!child_of(a, i, ordered ? NULL : child->name))
            return refuse(joining, "'%s' has no terminal '%s', which '%s' has", name_of(joining, a), child->name,
                          name_of(joining, b));
    for (uint32_t i = 0; (child = child_of(a, i, NULL)); i++) {
        other = child_of(b, i, ordered ? NULL : child->name);
        if (!other && whole)
            return refuse(joining, "'%s' has no terminal '%s', which '%s' has", name_of(joining, b), child->name,
                          name_of(joining, a));
        if (!other)
            continue;
        struct plug inner = {a->item, a->terminals, child}, outer = {b->item, b->terminals, other};
        TRY(join(joining, &inner, &outer));
    }
    return TUTTI_OK;
}

static enum tutti_err check_rules(const struct joining *joining, const struct plug *a, const struct plug *b)
{
    if (strcmp(a->terminal->rule, b->terminal->rule) != 0)
        return refuse(joining, "'%s' has the matching rule '%s' and '%s' has '%s'; connect their variables one by one",
                      name_of(joining, a), a->terminal->rule, name_of(joining, b), b->terminal->rule);
    if (a->terminal->matching == TUTTI_MATCHING_OTHER)
        return refuse(joining, "the matching rule '%s' of '%s' is not known; connect their variables one by one",
                      a->terminal->rule, name_of(joining, a));
    if (a->terminal->matching == TUTTI_MATCHING_NONE && a->terminal->member_count > 0)
        return refuse(joining,
                      "'%s' has the matching rule 'none': it is not meant to be joined; connect its variables one "
                      "by one",
                      name_of(joining, a));
    if (a->terminal->kind && b->terminal->kind && strcmp(a->terminal->kind, b->terminal->kind) != 0)
        tutti_log_printf(joining->flat->source->log, TUTTI_LOG_WARNING, joining->flat->system->name,
                         "--connect %s: '%s' is a terminal of kind %s and '%s' of kind %s; they are joined by their "
                         "matching rule",
                         joining->text, name_of(joining, a), a->terminal->kind, name_of(joining, b), b->terminal->kind);
    return TUTTI_OK;
}

static enum tutti_err join(struct joining *joining, const struct plug *a, const struct plug *b)
{
    TRY(check_rules(joining, a, b));
    TRY(a->terminal->matching == TUTTI_MATCHING_SEQUENCE ? join_by_order(joining, a, b) : join_by_name(joining, a, b));
    return join_children(joining, a, b);
}

/* ---- names ---- */

/* The terminal that `name` means in a unit whose own name ends after `length` bytes; 0: the name is all of the terminal's. */
static enum tutti_err look_in(const struct joining *joining, uint32_t index, const char *path, struct plug *plug)
{
    const struct item *item = tutti_flat_item(joining->flat, index);
    const struct tutti_terminals *terminals;
    TRY(tutti_fmu_terminals(tutti_flat_component(joining->flat, item->component)->fmu, NULL, &terminals));
    uint32_t found = tutti_terminals_find(terminals, path);
    if (found != TUTTI_NONE && !plug->terminal)
        *plug = (struct plug){index, terminals, &terminals->items[found]};
    return TUTTI_OK;
}

/* plug->terminal is NULL if it means none. A longer name of a unit counts before a shorter one. */
static enum tutti_err find(const struct joining *joining, const char *name, struct plug *plug)
{
    const struct flat *flat = joining->flat;
    size_t longest = 0;
    *plug = (struct plug){0};
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct item *item = tutti_flat_item(flat, i);
        size_t length = strlen(item->name);
        if (item->component == TUTTI_NONE)
            continue;
        struct plug inside = {0};
        if (flat->system->single)
            TRY(look_in(joining, i, name, &inside));
        if (strncmp(name, item->name, length) == 0 && name[length] == '.')
            TRY(look_in(joining, i, name + length + 1, &inside));
        if (inside.terminal && (!plug->terminal || length > longest)) {
            *plug = inside;
            longest = length;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tutti_join_terminals(struct flat *flat, const char *text, const char *equals, bool *found)
{
    struct joining joining = {.flat = flat, .text = text};
    struct plug left = {0}, right = {0};
    char *name = strndup(text, (size_t)(equals - text));
    enum tutti_err err = name ? find(&joining, name, &left) : tutti_fail_memory();
    free(name);
    TRY(err);
    if (left.terminal)
        TRY(find(&joining, equals + 1, &right));
    *found = left.terminal && right.terminal;
    if (!*found)
        return TUTTI_OK;
    if (left.terminal == right.terminal && left.item == right.item)
        return refuse(&joining, "'%s' is joined to itself", name_of(&joining, &left));
    TRY(join(&joining, &left, &right));
    if (joining.joined == 0)
        return refuse(&joining, "'%s' and '%s' %s", name_of(&joining, &left), name_of(&joining, &right),
                      joining.same_way > 0 ? "match, but none of their pairs is an output and an input"
                                           : "have no member in common");
    return flat->err;
}
