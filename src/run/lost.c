/* SPDX-License-Identifier: MIT */
#include "run/lost.h"

#include <stdio.h>

#include "base/number.h"

const char *tt_supervision_describe_silence(double seconds, char *out, size_t size)
{
    snprintf(out, size, "has given no sign of life for %s s: raise --timeout if the FMU may take that long",
             NUMBER(seconds));
    return out;
}

enum tutti_err tt_supervision_describe_loss(const struct tt_system *system, int rank,
                                            const struct tt_heartbeat *heartbeat, const char *how)
{
    char where[1024] = "in no FMU";
    uint32_t component = atomic_load(&heartbeat->component);
    double t = atomic_load(&heartbeat->t);
    if (component < system->component_count)
        snprintf(where, sizeof where, "unit '%s', %s", system->components[component].name,
                 system->components[component].fmu->path);
    return tt_fail(TUTTI_ERR_LOST, "worker %d (%s, t = %s) %s; everything computed before is kept", rank, where,
                   TIME(t), how);
}

const char *tt_supervision_last_log_lines(struct tt_conductor *conductor, int rank, char *out, size_t size)
{
    const char *words = tt_conductor_last_log_lines(conductor, rank);
    *out = '\0';
    if (!*words)
        return out;
    snprintf(out, size, "; its last words: %s", words);
    for (char *at = out; *at; at++)
        if (*at == '\n')
            *at = at[1] ? '|' : ' ';
    return out;
}
