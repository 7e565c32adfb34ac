/* SPDX-License-Identifier: MIT */
#include "fmu/process/exit_message.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *tt_exit_message_signal(int number, char *out, size_t size)
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

const char *tt_exit_message_status(int status, char *out, size_t size)
{
    snprintf(out, size, "ended by itself with status %d: an FMU must not call exit", status);
    return out;
}

const char *tt_exit_message_overwritten(char *out, size_t size)
{
    snprintf(out, size,
             "has overwritten memory that it shares with Tutti: ask the FMU's author, with its inputs and parameters");
    return out;
}
