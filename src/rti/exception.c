/* SPDX-License-Identifier: MIT */
#include "rti/exception.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 1000 }; /* bytes of a message */

const char *tutti_hla_name(enum tutti_hla exception)
{
    static const char *const names[] = {"",
#define X(name) #name,
                                        TUTTI_HLA_EXCEPTIONS(X)
#undef X
    };
    return names[exception];
}

enum tutti_hla tutti_hla_raise(enum tutti_hla exception, const char *format, ...)
{
    char message[LONGEST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)tutti_fail(TUTTI_ERR_STATE, "%s", message);
    return exception;
}

enum tutti_hla tutti_hla_raise_memory(void)
{
    (void)tutti_fail_memory();
    return TUTTI_HLA_RTIinternalError;
}
