/* SPDX-License-Identifier: MIT */
#include "rank/pending_set.h"

#include <stdlib.h>
#include <string.h>

enum tutti_err tutti_pending_set_new(struct tutti_pending_set **out, struct tutti_pending_sets *pending_sets,
                                     struct tutti_rank *rank, uint32_t component, uint32_t variable)
{
    struct tutti_pending_set *pending_set = calloc(1, sizeof *pending_set);
    struct tutti_unit *unit = rank->members[component].unit;
    if (!pending_set)
        return tutti_fail_memory();
    pending_set->component = component;
    pending_set->variable = variable;
    pending_set->next = pending_sets->first;
    pending_sets->first = pending_set;
    TRY(tutti_unit_signals(unit, &variable, 1, &pending_set->signals));
    TRY(tutti_unit_get(unit, &pending_set->signals));
    *out = pending_set;
    return TUTTI_OK;
}

enum tutti_err tutti_pending_set_find(struct tutti_pending_set **out, struct tutti_pending_sets *pending_sets,
                                      struct tutti_rank *rank, uint32_t component, uint32_t variable)
{
    struct tutti_pending_set *at = pending_sets->first;
    while (at && (at->component != component || at->variable != variable))
        at = at->next;
    if (!at)
        return tutti_pending_set_new(out, pending_sets, rank, component, variable);
    *out = at;
    return TUTTI_OK;
}

enum tutti_err tutti_pending_set_renew(struct tutti_pending_set *pending_set, struct tutti_rank *rank)
{
    return pending_set->pending ? TUTTI_OK
                                : tutti_unit_get(rank->members[pending_set->component].unit, &pending_set->signals);
}

void tutti_pending_set_mark(struct tutti_pending_set *pending_set, struct tutti_rank *rank)
{
    pending_set->pending = true;
    rank->members[pending_set->component].now.has_pending = true;
}

bool tutti_pending_sets_are_news(const struct tutti_pending_sets *pending_sets, const struct tutti_member *member)
{
    bool news = false;
    for (const struct tutti_pending_set *at = pending_sets->first; at && !news; at = at->next)
        news = at->pending && at->component == member->component && !at->moves;
    return news;
}

enum tutti_err tutti_pending_sets_hand_over(struct tutti_pending_sets *pending_sets, struct tutti_member *member)
{
    for (struct tutti_pending_set *pending_set = pending_sets->first; pending_set; pending_set = pending_set->next) {
        if (!pending_set->pending || pending_set->component != member->component)
            continue;
        TRY(tutti_unit_set(member->unit, &pending_set->signals));
        pending_set->pending = false;
    }
    member->now.has_pending = false;
    return TUTTI_OK;
}

/* ---- ways back ---- */

struct tutti_pending_sets_kept {
    struct tutti_pending_sets_kept *next;
    struct tutti_pending_set *pending_set;
    bool pending;
    struct tutti_signals signals; /* laid out as the pending_set's */
};

static enum tutti_err copy(struct tutti_signals *to, const struct tutti_signals *from)
{
    struct tutti_block *a = &to->blocks[0];
    const struct tutti_block *b = &from->blocks[0];
    if (a->owned)
        return tutti_owned_copy(a->owned, a->type, b->values, a->values, a->value_count);
    memcpy(a->values, b->values, a->value_count * tutti_type_size(a->type));
    return TUTTI_OK;
}

static enum tutti_err keep(struct tutti_pending_set *pending_set, struct tutti_rank *rank,
                           struct tutti_pending_sets_kept **all)
{
    struct tutti_pending_sets_kept *kept = *all;
    while (kept && kept->pending_set != pending_set)
        kept = kept->next;
    if (!kept) {
        kept = calloc(1, sizeof *kept);
        if (!kept)
            return tutti_fail_memory();
        kept->pending_set = pending_set;
        kept->next = *all;
        *all = kept;
        TRY(tutti_unit_signals(rank->members[pending_set->component].unit, &pending_set->variable, 1, &kept->signals));
    }
    kept->pending = true;
    return copy(&kept->signals, &pending_set->signals);
}

enum tutti_err tutti_pending_sets_keep(struct tutti_rank *rank, struct tutti_pending_sets_kept **all)
{
    for (struct tutti_pending_sets_kept *kept = *all; kept; kept = kept->next)
        kept->pending = false;
    for (struct tutti_pending_set *pending_set = rank->pending_sets->first; pending_set;
         pending_set = pending_set->next)
        if (pending_set->pending)
            TRY(keep(pending_set, rank, all));
    return TUTTI_OK;
}

enum tutti_err tutti_pending_sets_bring_back(struct tutti_rank *rank, const struct tutti_pending_sets_kept *all)
{
    for (struct tutti_pending_set *pending_set = rank->pending_sets->first; pending_set;
         pending_set = pending_set->next) {
        pending_set->pending = false;
        rank->members[pending_set->component].now.has_pending = false;
    }
    for (const struct tutti_pending_sets_kept *kept = all; kept; kept = kept->next) {
        if (!kept->pending)
            continue;
        TRY(copy(&kept->pending_set->signals, &kept->signals));
        tutti_pending_set_mark(kept->pending_set, rank);
    }
    return TUTTI_OK;
}

void tutti_pending_sets_pack(const struct tutti_pending_sets *pending_sets, struct tutti_parcel *parcel)
{
    uint32_t count = 0;
    const struct tutti_pending_set *first = pending_sets ? pending_sets->first : NULL;
    for (const struct tutti_pending_set *at = first; at; at = at->next)
        count += at->pending;
    tutti_parcel_put_u32(parcel, count);
    for (const struct tutti_pending_set *at = first; at; at = at->next) {
        if (!at->pending)
            continue;
        tutti_parcel_put_u32(parcel, at->component);
        tutti_parcel_put_u32(parcel, at->variable);
        tutti_signals_pack(&at->signals, parcel);
    }
}

enum tutti_err tutti_pending_sets_unpack(struct tutti_rank *rank, struct tutti_unparcel *in)
{
    struct tutti_pending_sets *all = rank->pending_sets;
    for (struct tutti_pending_set *at = all ? all->first : NULL; at; at = at->next) {
        at->pending = false;
        rank->members[at->component].now.has_pending = false;
    }
    for (uint32_t left = tutti_unparcel_u32(in); left > 0 && !in->bad; left--) {
        struct tutti_pending_set *pending_set;
        uint32_t component = tutti_unparcel_u32(in), variable = tutti_unparcel_u32(in);
        in->bad = in->bad || !all || component >= rank->member_count ||
                  variable >= rank->members[component].unit->fmu->desc->var_count;
        if (in->bad)
            break;
        TRY(tutti_pending_set_find(&pending_set, rank->pending_sets, rank, component, variable));
        TRY(tutti_signals_unpack(&pending_set->signals, in));
        tutti_pending_set_mark(pending_set, rank);
    }
    return in->bad ? tutti_fail(TUTTI_ERR_FORMAT, "values that a program has set are not as they should be") : TUTTI_OK;
}

void tutti_pending_sets_kept_free(struct tutti_pending_sets_kept *kept)
{
    for (struct tutti_pending_sets_kept *next; kept; kept = next) {
        next = kept->next;
        tutti_signals_fini(&kept->signals);
        free(kept);
    }
}

void tutti_pending_sets_fini(struct tutti_pending_sets *pending_sets)
{
    for (struct tutti_pending_set *pending_set = pending_sets->first, *next; pending_set; pending_set = next) {
        next = pending_set->next;
        tutti_signals_fini(&pending_set->signals);
        free(pending_set);
    }
    pending_sets->first = NULL;
}
