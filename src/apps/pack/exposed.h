/* SPDX-License-Identifier: MIT */
/* exposed.h - the variables of the FMU that a system is packed as. */
#ifndef TT_APPS_PACK_EXPOSED_H
#define TT_APPS_PACK_EXPOSED_H

#include "sim/job/job.h"
#include "apps/pack/packed_table.h"

struct tt_exposed {
    struct tt_packed_row row;
    uint32_t component, variable; /* what it stands for; an input of the system: the first of that */
    size_t element;               /* of an array, counted from 0; SIZE_MAX: all of it */
    uint32_t port;                /* of system->inputs or outputs; TUTTI_NONE: it is a variable of a unit */
    const struct tt_conversion *conversion;
    const struct tt_unit_def *unit; /* NULL: none */
    bool local;                     /* only Model Exchange asks for it (exposed_states.h) */
    size_t derivative_of;           /* the place of a state; SIZE_MAX: it is none of one */
};

struct tt_exposed_list {
    struct tt_exposed *items;
    size_t count, room;
    /* Of a system that is packed for Model Exchange, too (exposed_states.h). */
    bool exchange;
    size_t *derivatives; /* the places of all derivatives, in the order of the states */
    size_t derivative_count, derivative_room;
    size_t states, indicators; /* numbers, elements of arrays one by one */
    struct tt_arena arena;
};

/* As <tutti/pack.h> says. Zeroed before; fini also after a failure. */
TUTTI_CHECKED enum tutti_err tt_exposed_choose(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                               const char *const *patterns, size_t pattern_count);
void tt_exposed_fini(struct tt_exposed_list *list);

const struct tt_var *tt_exposed_var(const struct tt_job *job, const struct tt_exposed *exposed);

/* ARGUMENT if two of them have one name. */
TUTTI_CHECKED enum tutti_err tt_exposed_check_names(const struct tt_exposed_list *list, unsigned fmi);

/* For those who add variables of units: as one item, or, by FMI 2.0, an array as one for each element. *first is the place of the first. UNSUPPORTED
 * for what an FMU of this version cannot have. */
TUTTI_CHECKED enum tutti_err tt_exposed_add(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                            uint32_t component, uint32_t variable, enum tt_packed_role role,
                                            size_t *first);
/* Where an element lies among the values of its variable, by the extents that the system gives it. */
size_t tt_exposed_index(const struct tt_job *job, const struct tt_end *end);
/* The place of a variable of a unit (its first element); SIZE_MAX: it is not there. */
size_t tt_exposed_find(const struct tt_exposed_list *list, uint32_t component, uint32_t variable);

#endif
