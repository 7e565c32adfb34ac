/* SPDX-License-Identifier: MIT */
/* exposed.h - the variables of the FMU that a system is packed as. */
#ifndef TUTTI_PACK_EXPOSED_H
#define TUTTI_PACK_EXPOSED_H

#include "job/job.h"
#include "pack/table.h"

struct tutti_exposed {
    struct tutti_packed_row row;
    uint32_t component, variable; /* what it stands for; an input of the system: the first of that */
    uint32_t port;                /* of system->inputs or outputs; TUTTI_NONE: it is a variable of a unit */
    const struct tutti_conversion *conversion;
    const struct tutti_unit_def *unit; /* NULL: none */
};

struct tutti_exposed_list {
    struct tutti_exposed *items;
    size_t count, room;
    struct tutti_arena arena;
};

/* As <tutti/pack.h> says. Zeroed before; fini also after a failure. */
TUTTI_CHECKED enum tutti_err tutti_exposed_choose(struct tutti_exposed_list *list, const struct tutti_job *job,
                                                  unsigned fmi, const char *const *patterns, size_t pattern_count);
void tutti_exposed_fini(struct tutti_exposed_list *list);

const struct tutti_var *tutti_exposed_var(const struct tutti_job *job, const struct tutti_exposed *exposed);

/* depends[i] becomes true if the output may follow items[i], an input, at once: through units whose outputs follow their inputs. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_exposed_dependencies(const struct tutti_exposed_list *list,
                                                        const struct tutti_job *job, const struct tutti_exposed *output,
                                                        bool *depends);

#endif
