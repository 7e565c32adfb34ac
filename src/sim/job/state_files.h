/* SPDX-License-Identifier: MIT */
/* state_files.h - units that begin in a state of a file, and units whose state is written at the end: --initial-state,
 * --final-state.
 *
 * Such a file has the bytes to which an FMU serialises its state, and nothing else, as those of fmusim. */
#ifndef TT_SIM_JOB_STATE_FILES_H
#define TT_SIM_JOB_STATE_FILES_H

#include "base/options/options.h"
#include "model/system/system.h"

struct tt_initial_state {
    const char *path; /* as it was given; NULL: the unit has none */
    unsigned char *bytes;
    size_t size;
};

struct tt_state_files {
    uint32_t count;                   /* of components; 0: no option asks for any of this */
    struct tt_initial_state *initial; /* per component */
    char **final;                     /* per component: a file, absolute; NULL: none */
};

/* Reads the files of the options; marks components that begin in a state in `system`. `where` returns the location of a
 * file named on the command line; NULL: it must not be read. ARGUMENT, IO. On an error nothing needs to be released. */
TUTTI_CHECKED enum tutti_err tt_state_files_open(struct tt_state_files *states, const struct tutti_run_options *options,
                                                 struct tt_system *system,
                                                 const char *(*where)(const struct tutti_run_options *options,
                                                                      const char *name));
void tt_state_files_fini(struct tt_state_files *states);

/* NULL: the unit begins with an initialisation. */
static inline const struct tt_initial_state *tt_state_files_initial(const struct tt_state_files *states,
                                                                    uint32_t component)
{
    return states->count > 0 && states->initial[component].path ? &states->initial[component] : NULL;
}
/* NULL: it is not asked for. */
static inline const char *tt_state_files_final(const struct tt_state_files *states, uint32_t component)
{
    return states->count > 0 ? states->final[component] : NULL;
}

/* Checks that the files can be written, as far as that is known before. IO. */
TUTTI_CHECKED enum tutti_err tt_state_files_check_writable(const struct tt_state_files *states);
/* The state of a unit, which is to be written: the file is whole, or as it was. IO. */
TUTTI_CHECKED enum tutti_err tt_state_files_write(const struct tt_state_files *states, uint32_t component,
                                                  const void *bytes, size_t size);

#endif
