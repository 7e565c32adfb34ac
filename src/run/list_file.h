/* SPDX-License-Identifier: MIT */
/* list_file.h - lists that people write: text files with an entry per line. */
#ifndef TT_RUN_LIST_FILE_H
#define TT_RUN_LIST_FILE_H

#include "base/fail.h"

struct tt_list_file {
    const char *option; /* that names the file: "--nodes" */
    const char *form;   /* "a line is HOST:PORT PUBLICKEY ranks=N" */
    /* An entry, without white space around it and without what follows a #; it may be changed. `place` is "FILE:LINE". */
    enum tutti_err (*take)(void *context, char *line, const char *place);
    void *context;
};

/* Parses one line; empty lines and comments have no words. */
TUTTI_CHECKED enum tutti_err tt_list_file_parse_line(const struct tt_list_file *lines, char *line, const char *place);
/* Reads a whole file. ARGUMENT if it cannot be read, or is not a list; or the error of `take`. */
TUTTI_CHECKED enum tutti_err tt_list_file_read(const struct tt_list_file *lines, const char *path);

#endif
