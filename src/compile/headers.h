/* SPDX-License-Identifier: MIT */
/* headers.h - the headers of FMI that sources include: made of fmi/api2.h and fmi/api3.h, under the names that the standard gives them. */
#ifndef TUTTI_COMPILE_HEADERS_H
#define TUTTI_COMPILE_HEADERS_H

#include <stdbool.h>

#include "base/err.h"

/* Is this the file name of one of them, for the version 2 or 3 of FMI? */
bool tt_compile_fmu_has_header(int fmi, const char *name);
/* Writes them all to a folder. IO. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu_write_headers(int fmi, const char *folder);

#endif
