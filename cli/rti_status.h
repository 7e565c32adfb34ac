/* SPDX-License-Identifier: MIT */
/* rti_status.h - `tutti rti status`: how an RTI stands. */
#ifndef TUTTI_CLI_RTI_STATUS_H
#define TUTTI_CLI_RTI_STATUS_H

#include "options.h"

/* Queries the RTI at the address with `key` (NULL: none), and prints its answer. Returns the exit status. */
int rti_status(const struct arguments *arguments, const char *address, const char *key);

#endif
