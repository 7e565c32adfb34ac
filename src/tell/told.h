/* SPDX-License-Identifier: MIT */
/* told.h - a text that is written like a file, and becomes the caller's. */
#ifndef TUTTI_TELL_TOLD_H
#define TUTTI_TELL_TOLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <tutti/err.h>

struct tutti_told {
    FILE *out;
    char *text;
    size_t size;
};

/* `told->out` can be written to. tutti_told_take follows on success. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_told_open(struct tutti_told *told);
/* Ends it. *text is the caller's (tutti_tell_free) if `err` is 0, which it returns otherwise; MEMORY if not all of it could be kept. */
TUTTI_CHECKED enum tutti_err tutti_told_take(struct tutti_told *told, enum tutti_err err, char **text);
/* All of a JSON value, which it takes (NULL: memory was not enough), with a line end; `flags` are Jansson's. */
TUTTI_CHECKED enum tutti_err tutti_told_json(json_t *json, size_t flags, char **text);

#endif
