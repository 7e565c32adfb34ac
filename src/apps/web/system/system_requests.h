/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_WEB_SYSTEM_SYSTEM_REQUESTS_H
#define TT_APPS_WEB_SYSTEM_SYSTEM_REQUESTS_H

#include <jansson.h>

#include "base/fail.h"

/* Descriptions of a system without running it, attached to the places of the document. */

/* Of the system in the file `path`, which lies in the folder `root`: findings, conversions, loops, order, graph. *json is the caller's. */
TUTTI_CHECKED enum tutti_err tt_system_requests_inspect(const char *path, const char *root, json_t **json);

/* The connections that two terminals ("unit.terminal") make if they are joined by their matching rules, as a list of {"from", "to"} and, for flows that
 * count the same way, "factor": -1. *out is the caller's. ARGUMENT with the reason if they cannot be joined. */
TUTTI_CHECKED enum tutti_err tt_system_requests_join_terminals(const char *path, const char *from, const char *to,
                                                               json_t **out);

#endif
