/* SPDX-License-Identifier: MIT */
#include "conduct/lost.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

const char *tutti_lost_by_signal(int number, char *out, size_t size)
{
    if (number == SIGKILL)
        snprintf(out, size, "was ended by signal 9 (Killed): by a person, or by the system because memory ran out");
    else if (number == SIGXCPU)
        snprintf(out, size, "has used the processor time that --limits cpu= allows, and was ended");
    else
        snprintf(out, size, "was ended by signal %d (%s): ask the FMU's author, with its inputs and parameters", number,
                 strsignal(number));
    return out;
}

const char *tutti_lost_by_exit(int status, char *out, size_t size)
{
    snprintf(out, size, "ended by itself with status %d: an FMU must not call exit", status);
    return out;
}

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
