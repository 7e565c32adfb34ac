/* SPDX-License-Identifier: MIT */
#include "rank/pending_set.h"

#include <stdlib.h>
#include <string.h>

enum tutti_err tutti_poke_new(struct tutti_poke **out, struct tutti_pokes *pokes, struct tutti_rank *rank,
                              uint32_t component, uint32_t variable)
{
    struct tutti_poke *poke = calloc(1, sizeof *poke);
    struct tutti_unit *unit = rank->members[component].unit;
    if (!poke)
        return tutti_fail_memory();
    poke->component = component;
    poke->variable = variable;
    poke->next = pokes->first;
    pokes->first = poke;
    TRY(tutti_unit_signals(unit, &variable, 1, &poke->signals));
    TRY(tutti_unit_get(unit, &poke->signals));
    *out = poke;
    return TUTTI_OK;
}

enum tutti_err tutti_poke_renew(struct tutti_poke *poke, struct tutti_rank *rank)
{
    return poke->pending ? TUTTI_OK : tutti_unit_get(rank->members[poke->component].unit, &poke->signals);
}

void tutti_poke_mark(struct tutti_poke *poke, struct tutti_rank *rank)
{
    poke->pending = true;
    rank->members[poke->component].poked = true;
}

enum tutti_err tutti_pokes_hand_over(struct tutti_pokes *pokes, struct tutti_member *member)
{
    for (struct tutti_poke *poke = pokes->first; poke; poke = poke->next) {
        if (!poke->pending || poke->component != member->component)
            continue;
        TRY(tutti_unit_set(member->unit, &poke->signals));
        poke->pending = false;
    }
    member->poked = false;
    return TUTTI_OK;
}

/* ---- ways back ---- */

struct tutti_pokes_kept {
    struct tutti_pokes_kept *next;
    struct tutti_poke *poke;
    bool pending;
    struct tutti_signals signals; /* laid out as the poke's */
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

static enum tutti_err keep(struct tutti_poke *poke, struct tutti_rank *rank, struct tutti_pokes_kept **all)
{
    struct tutti_pokes_kept *kept = *all;
    while (kept && kept->poke != poke)
        kept = kept->next;
    if (!kept) {
        kept = calloc(1, sizeof *kept);
        if (!kept)
            return tutti_fail_memory();
        kept->poke = poke;
        kept->next = *all;
        *all = kept;
        TRY(tutti_unit_signals(rank->members[poke->component].unit, &poke->variable, 1, &kept->signals));
    }
    kept->pending = true;
    return copy(&kept->signals, &poke->signals);
}

enum tutti_err tutti_pokes_keep(struct tutti_rank *rank, struct tutti_pokes_kept **all)
{
    for (struct tutti_pokes_kept *kept = *all; kept; kept = kept->next)
        kept->pending = false;
    for (struct tutti_poke *poke = rank->pokes->first; poke; poke = poke->next)
        if (poke->pending)
            TRY(keep(poke, rank, all));
    return TUTTI_OK;
}

enum tutti_err tutti_pokes_bring_back(struct tutti_rank *rank, const struct tutti_pokes_kept *all)
{
    for (struct tutti_poke *poke = rank->pokes->first; poke; poke = poke->next) {
        poke->pending = false;
        rank->members[poke->component].poked = false;
    }
    for (const struct tutti_pokes_kept *kept = all; kept; kept = kept->next) {
        if (!kept->pending)
            continue;
        TRY(copy(&kept->poke->signals, &kept->signals));
        tutti_poke_mark(kept->poke, rank);
    }
    return TUTTI_OK;
}

void tutti_pokes_kept_free(struct tutti_pokes_kept *kept)
{
    for (struct tutti_pokes_kept *next; kept; kept = next) {
        next = kept->next;
        tutti_signals_fini(&kept->signals);
        free(kept);
    }
}

void tutti_pokes_fini(struct tutti_pokes *pokes)
{
    for (struct tutti_poke *poke = pokes->first, *next; poke; poke = next) {
        next = poke->next;
        tutti_signals_fini(&poke->signals);
        free(poke);
    }
    pokes->first = NULL;
}
