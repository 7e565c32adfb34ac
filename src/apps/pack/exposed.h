/* SPDX-License-Identifier: MIT */
/* exposed.h - the variables of the FMU that a system is packed as. */
#ifndef TT_APPS_PACK_EXPOSED_H
#define TT_APPS_PACK_EXPOSED_H

#include "apps/pack/packed_table.h"
#include "sim/job/job.h"

struct tt_exposed {
    struct tt_packed_row row;
    uint32_t component, variable; /* the component's variable; for an input of the system: the first destination */
    size_t element;               /* of an array, counted from 0; SIZE_MAX: all of it */
    uint32_t port;                /* of system->inputs or outputs; TUTTI_NONE: it is a variable of a unit */
    const struct tt_conversion *conversion;
    const struct tt_unit_def *unit; /* NULL: none */
    bool local;                     /* only Model Exchange asks for it (exposed.h) */
    size_t derivative_of;           /* the index of its state; SIZE_MAX: not a derivative */
};

struct tt_exposed_list {
    struct tt_exposed *items;
    size_t count, room;
    /* Of a system that is packed for Model Exchange, too (exposed.h). */
    bool exchange;
    size_t *derivatives; /* the places of all derivatives, in the order of the states */
    size_t derivative_count, derivative_room;
    size_t states, indicators; /* numbers, elements of arrays one by one */
    struct tt_arena arena;
};

/* Chooses the variables as <tutti/pack.h> defines. The list is zeroed before; fini also after a failure. */
TUTTI_CHECKED enum tutti_err tt_exposed_choose(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                               const char *const *patterns, size_t pattern_count);
void tt_exposed_fini(struct tt_exposed_list *list);

const struct tt_var *tt_exposed_var(const struct tt_job *job, const struct tt_exposed *exposed);

/* ARGUMENT if two of them have one name. */
TUTTI_CHECKED enum tutti_err tt_exposed_check_names(const struct tt_exposed_list *list, unsigned fmi);

/* Adds a variable of a unit as one item or, for FMI 2.0, an array as one item per element. *first is the index of the
 * first. UNSUPPORTED for a variable that an FMU of this version cannot have. */
TUTTI_CHECKED enum tutti_err tt_exposed_add(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                            uint32_t component, uint32_t variable, enum tt_packed_role role,
                                            size_t *first);
/* Where an element lies among the values of its variable, by the extents that the system gives it. */
size_t tt_exposed_index(const struct tt_job *job, const struct tt_end *end);
/* The place of a variable of a unit (its first element); SIZE_MAX: it is not there. */
size_t tt_exposed_find(const struct tt_exposed_list *list, uint32_t component, uint32_t variable);

/* The additional content of a packed system for Model Exchange: the states of its units and their derivatives, as local
 * variables, and for FMI 3.0 event indicators.
 *
 * A system supports Model Exchange if all its units run by Model Exchange and it has no further equations: the
 * importer's solver then has all states in one vector, as `--coupling strong` does. Their order is that of
 * sim/coupling/joint_units.h: units by name. */

/* Adds them, if it is one (list->exchange). */
TUTTI_CHECKED enum tutti_err tt_exposed_add_states(struct tt_exposed_list *list, const struct tt_job *job,
                                                   unsigned fmi);

/* The kind of unit that a component becomes, and its own step; 0: none. */
TUTTI_CHECKED enum tutti_err tt_exposed_find_kind(const struct tt_job *job, uint32_t component,
                                                  const struct tt_unit_kind **kind, double *step);

/* Averages are over the importer's steps: ARGUMENT for several components with a control that makes other steps. */
TUTTI_CHECKED enum tutti_err tt_exposed_check_averages(const struct tt_job *job);

#endif
