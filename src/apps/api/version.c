/* SPDX-License-Identifier: MIT */
#include <tutti/run.h>

const char *tutti_version(void)
{
    return TUTTI_VERSION;
}
