/* SPDX-License-Identifier: MIT */
#include "conduct/lost.h"

#include <stdio.h>

#include "base/number.h"

const char *tutti_lost_by_silence(double seconds, char *out, size_t size)
{
    snprintf(out, size, "has given no sign of life for %s s: raise --timeout if the FMU may take that long",
             NUMBER(seconds));
    return out;
}

enum tutti_err tutti_lost_worker(const struct tutti_system *system, int rank, const struct tutti_heartbeat *heartbeat,
                                 const char *how)
{
    char where[1024] = "in no FMU";
    uint32_t component = atomic_load(&heartbeat->component);
    double t = atomic_load(&heartbeat->t);
    if (component < system->component_count)
        snprintf(where, sizeof where, "unit '%s', %s", system->components[component].name,
                 system->components[component].fmu->path);
    return tutti_fail(TUTTI_ERR_LOST, "worker %d (%s, t = %s) %s; everything computed before is kept", rank, where,
                      TIME(t), how);
}

const char *tutti_lost_last_words(struct tutti_conductor *conductor, int rank, char *out, size_t size)
{
    const char *words = tutti_conductor_last_words(conductor, rank);
    *out = '\0';
    if (!*words)
        return out;
    snprintf(out, size, "; its last words: %s", words);
    for (char *at = out; *at; at++)
        if (*at == '\n')
            *at = at[1] ? '|' : ' ';
    return out;
}
