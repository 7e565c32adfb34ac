/* SPDX-License-Identifier: MIT */
/* look.h - what can be told of a system without running anything of it, at the places of the document that it is about. */
#ifndef TUTTI_WEB_LOOK_H
#define TUTTI_WEB_LOOK_H

#include <jansson.h>

#include "base/err.h"

/* Of the system in the file `path`, which lies in the folder `root`: findings, conversions, loops, order, graph. *json is the caller's. */
TUTTI_CHECKED enum tutti_err tutti_web_look(const char *path, const char *root, json_t **json);

#endif
