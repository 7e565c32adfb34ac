/* SPDX-License-Identifier: MIT */
/* states.h - units that begin in a state of a file, and units whose state is written at the end: --initial-state, --final-state.
 *
 * Such a file holds the bytes to which an FMU serialises its state, and nothing else; fmusim's are the same. */
#ifndef TUTTI_JOB_STATES_H
#define TUTTI_JOB_STATES_H

#include "options/options.h"
#include "system/system.h"

struct tutti_initial_state {
    const char *path; /* as it was given; NULL: the unit has none */
    unsigned char *bytes;
    size_t size;
};

struct tutti_states {
    uint32_t count;                      /* of components; 0: no option asks for any of this */
    struct tutti_initial_state *initial; /* per component */
    char **final;                        /* per component: a file, absolute; NULL: none */
};

/* Reads what the options ask for; components that begin in a state are marked so in `system`. `where` tells where a file lies that is called so
 * on the command line; NULL: it is not to be read. ARGUMENT, IO. On an error there is nothing to be released. */
TUTTI_CHECKED enum tutti_err tutti_states_open(struct tutti_states *states, const struct tutti_run_options *options,
                                               struct tutti_system *system,
                                               const char *(*where)(const struct tutti_run_options *options,
                                                                    const char *name));
void tutti_states_fini(struct tutti_states *states);

/* NULL: the unit begins with an initialisation. */
static inline const struct tutti_initial_state *tutti_states_initial(const struct tutti_states *states,
                                                                     uint32_t component)
{
    return states->count > 0 && states->initial[component].path ? &states->initial[component] : NULL;
}
/* NULL: it is not asked for. */
static inline const char *tutti_states_final(const struct tutti_states *states, uint32_t component)
{
    return states->count > 0 ? states->final[component] : NULL;
}

/* Can the files be written, as far as that shows before? IO. */
TUTTI_CHECKED enum tutti_err tutti_states_check_places(const struct tutti_states *states);
/* The state of a unit, which is to be written: the file is whole, or as it was. IO. */
TUTTI_CHECKED enum tutti_err tutti_states_write(const struct tutti_states *states, uint32_t component,
                                                const void *bytes, size_t size);

#endif
