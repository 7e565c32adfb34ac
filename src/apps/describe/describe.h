/* SPDX-License-Identifier: MIT */
/* describe.h - a text that is written like a file, and becomes the caller's. */
#ifndef TT_APPS_DESCRIBE_DESCRIBE_H
#define TT_APPS_DESCRIBE_DESCRIBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <tutti/err.h>

struct tt_text_stream {
    FILE *out;
    char *text;
    size_t size;
};

/* `told->out` can be written to. tt_describe_close_text follows on success. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_describe_open_text(struct tt_text_stream *told);
/* Ends it. *text is the caller's (tutti_tell_free) if `err` is 0, which it returns otherwise; MEMORY if not all of it could be kept. */
TUTTI_CHECKED enum tutti_err tt_describe_close_text(struct tt_text_stream *told, enum tutti_err err, char **text);
/* All of a JSON value, which it takes (NULL: memory was not enough), with a line end; `flags` are Jansson's. */
TUTTI_CHECKED enum tutti_err tt_describe_write_json(json_t *json, size_t flags, char **text);

#endif
