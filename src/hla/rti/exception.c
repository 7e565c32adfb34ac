/* SPDX-License-Identifier: MIT */
#include "hla/rti/exception.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 1000 }; /* bytes of a message */

const char *tt_exception_name(enum tt_hla exception)
{
    static const char *const names[] = {"",
#define X(name) #name,
                                        TUTTI_HLA_EXCEPTIONS(X)
#undef X
    };
    return names[exception];
}

void tt_exception_set_message(const char *format, ...)
{
    char message[LONGEST];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)tt_fail(TUTTI_ERR_STATE, "%s", message);
}
