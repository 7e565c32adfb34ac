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

/* ---- ways back ---- */

struct tt_pending_sets_saved {
    struct tt_pending_sets_saved *next;
    struct tt_pending_set *pending_set;
    bool pending;
    struct tt_signals signals; /* laid out as the pending_set's */
};

static enum tutti_err pending_set_copy(struct tt_signals *to, const struct tt_signals *from)
{
    struct tt_block *a = &to->blocks[0];
    const struct tt_block *b = &from->blocks[0];
    if (a->owned)
        return tt_signals_owned_copy(a->owned, a->type, b->values, a->values, a->value_count);
    memcpy(a->values, b->values, a->value_count * tt_type_size(a->type));
    return TUTTI_OK;
}

static enum tutti_err pending_set_save(struct tt_pending_set *pending_set, struct tt_rank *rank,
                                       struct tt_pending_sets_saved **all)
{
    struct tt_pending_sets_saved *kept = *all;
    while (kept && kept->pending_set != pending_set)
        kept = kept->next;
    if (!kept) {
        kept = calloc(1, sizeof *kept);
        if (!kept)
            return tt_fail_memory();
        kept->pending_set = pending_set;
        kept->next = *all;
        *all = kept;
        TRY(tt_unit_signals(rank->members[pending_set->component].unit, &pending_set->variable, 1, &kept->signals));
    }
    kept->pending = true;
    return pending_set_copy(&kept->signals, &pending_set->signals);
}

enum tutti_err tt_pending_set_save_all(struct tt_rank *rank, struct tt_pending_sets_saved **all)
{
    for (struct tt_pending_sets_saved *kept = *all; kept; kept = kept->next)
        kept->pending = false;
    for (struct tt_pending_set *pending_set = rank->pending_sets->first; pending_set; pending_set = pending_set->next)
        if (pending_set->pending)
            TRY(pending_set_save(pending_set, rank, all));
    return TUTTI_OK;
}

enum tutti_err tt_pending_set_restore_all(struct tt_rank *rank, const struct tt_pending_sets_saved *all)
{
    for (struct tt_pending_set *pending_set = rank->pending_sets->first; pending_set; pending_set = pending_set->next) {
        pending_set->pending = false;
        rank->members[pending_set->component].now.has_pending = false;
    }
    for (const struct tt_pending_sets_saved *kept = all; kept; kept = kept->next) {
        if (!kept->pending)
            continue;
        TRY(pending_set_copy(&kept->pending_set->signals, &kept->signals));
        tt_pending_set_submit(kept->pending_set, rank);
    }
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

void tt_pending_set_saved_free(struct tt_pending_sets_saved *kept)
{
    for (struct tt_pending_sets_saved *next; kept; kept = next) {
        next = kept->next;
        tt_signals_fini(&kept->signals);
        free(kept);
    }
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
