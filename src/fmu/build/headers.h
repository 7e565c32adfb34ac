/* SPDX-License-Identifier: MIT */
/* headers.h - the headers of FMI that sources include: made of fmu/api2.h and fmu/api3.h, under the names that the standard gives them. */
#ifndef TT_FMU_BUILD_HEADERS_H
#define TT_FMU_BUILD_HEADERS_H

#include <stdbool.h>

#include "base/fail.h"

/* Is this the file name of one of them, for the version 2 or 3 of FMI? */
bool tt_compile_fmu_has_header(int fmi, const char *name);
/* Writes them all to a folder. IO. */
TUTTI_CHECKED enum tutti_err tt_compile_fmu_write_headers(int fmi, const char *folder);

#endif
