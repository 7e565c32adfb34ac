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
