/* SPDX-License-Identifier: MIT */
#include "sim/pending_set.h"

#include <stdlib.h>
#include <string.h>

enum tutti_err tt_pending_set_new(struct tt_pending_set **out, struct tt_pending_sets *pending_sets,
                                  struct tt_rank *rank, uint32_t component, uint32_t variable)
{
    struct tt_pending_set *pending_set = calloc(1, sizeof *pending_set);
    struct tt_unit *unit = rank->members[component].unit;
    if (!pending_set)
        return tt_fail_memory();
    pending_set->component = component;
    pending_set->variable = variable;
    pending_set->next = pending_sets->first;
    pending_sets->first = pending_set;
    TRY(tt_unit_signals(unit, &variable, 1, &pending_set->signals));
    TRY(tt_unit_get(unit, &pending_set->signals));
    *out = pending_set;
    return TUTTI_OK;
}

enum tutti_err tt_pending_set_find(struct tt_pending_set **out, struct tt_pending_sets *pending_sets,
                                   struct tt_rank *rank, uint32_t component, uint32_t variable)
{
    struct tt_pending_set *at = pending_sets->first;
    while (at && (at->component != component || at->variable != variable))
        at = at->next;
    if (!at)
        return tt_pending_set_new(out, pending_sets, rank, component, variable);
    *out = at;
    return TUTTI_OK;
}

enum tutti_err tt_pending_set_refresh(struct tt_pending_set *pending_set, struct tt_rank *rank)
{
    return pending_set->pending ? TUTTI_OK
                                : tt_unit_get(rank->members[pending_set->component].unit, &pending_set->signals);
}

void tt_pending_set_submit(struct tt_pending_set *pending_set, struct tt_rank *rank)
{
    pending_set->pending = true;
    rank->members[pending_set->component].now.has_pending = true;
}

bool tt_pending_set_any_event(const struct tt_pending_sets *pending_sets, const struct tt_member *member)
{
    bool news = false;
    for (const struct tt_pending_set *at = pending_sets->first; at && !news; at = at->next)
        news = at->pending && at->component == member->component && !at->moves;
    return news;
}

enum tutti_err tt_pending_set_apply_all(struct tt_pending_sets *pending_sets, struct tt_member *member)
{
    for (struct tt_pending_set *pending_set = pending_sets->first; pending_set; pending_set = pending_set->next) {
        if (!pending_set->pending || pending_set->component != member->component)
            continue;
        TRY(tt_unit_set(member->unit, &pending_set->signals));
        pending_set->pending = false;
    }
    member->now.has_pending = false;
    return TUTTI_OK;
}

void tt_pending_set_pack_all(const struct tt_pending_sets *pending_sets, struct tt_byte_writer *parcel)
{
    uint32_t count = 0;
    const struct tt_pending_set *first = pending_sets ? pending_sets->first : NULL;
    for (const struct tt_pending_set *at = first; at; at = at->next)
        count += at->pending;
    tt_bytes_put_u32(parcel, count);
    for (const struct tt_pending_set *at = first; at; at = at->next) {
        if (!at->pending)
            continue;
        tt_bytes_put_u32(parcel, at->component);
        tt_bytes_put_u32(parcel, at->variable);
        tt_signals_pack(&at->signals, parcel);
    }
}

enum tutti_err tt_pending_set_unpack_all(struct tt_rank *rank, struct tt_byte_reader *in)
{
    struct tt_pending_sets *all = rank->pending_sets;
    for (struct tt_pending_set *at = all ? all->first : NULL; at; at = at->next) {
        at->pending = false;
        rank->members[at->component].now.has_pending = false;
    }
    for (uint32_t left = tt_bytes_get_u32(in); left > 0 && !in->bad; left--) {
        struct tt_pending_set *pending_set;
        uint32_t component = tt_bytes_get_u32(in), variable = tt_bytes_get_u32(in);
        in->bad = in->bad || !all || component >= rank->member_count ||
                  variable >= rank->members[component].unit->fmu->desc->var_count;
        if (in->bad)
            break;
        TRY(tt_pending_set_find(&pending_set, rank->pending_sets, rank, component, variable));
        TRY(tt_signals_unpack(&pending_set->signals, in));
        tt_pending_set_submit(pending_set, rank);
    }
    return in->bad ? tt_fail(TUTTI_ERR_FORMAT, "values that a program has set are not as they should be") : TUTTI_OK;
}

void tt_pending_set_fini_all(struct tt_pending_sets *pending_sets)
{
    for (struct tt_pending_set *pending_set = pending_sets->first, *next; pending_set; pending_set = next) {
        next = pending_set->next;
        tt_signals_fini(&pending_set->signals);
        free(pending_set);
    }
    pending_sets->first = NULL;
}
