/* SPDX-License-Identifier: MIT */
/* lines.h - lists that people write: text files with an entry per line. */
#ifndef TUTTI_CONDUCT_LINES_H
#define TUTTI_CONDUCT_LINES_H

#include "base/err.h"

struct tutti_lines {
    const char *option; /* that names the file: "--nodes" */
    const char *form;   /* "a line is HOST:PORT PUBLICKEY ranks=N" */
    /* An entry, without white space around it and without what follows a #; it may be changed. `place` is "FILE:LINE". */
    enum tutti_err (*take)(void *context, char *line, const char *place);
    void *context;
};

/* One line, or another text of that kind; one that is empty, or a comment, is none. */
TUTTI_CHECKED enum tutti_err tutti_lines_take(const struct tutti_lines *lines, char *line, const char *place);
/* All of a file. ARGUMENT if it cannot be read, or is no list; or what `take` returns. */
TUTTI_CHECKED enum tutti_err tutti_lines_read(const struct tutti_lines *lines, const char *path);

#endif
