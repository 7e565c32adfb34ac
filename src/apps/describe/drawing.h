/* SPDX-License-Identifier: MIT */
/* drawing.h - a picture that another program draws: Graphviz's `dot`, gnuplot. It gets a script and is run without a shell between; all
 * files are in memory. */
#ifndef TT_APPS_DESCRIBE_DRAWING_H
#define TT_APPS_DESCRIBE_DRAWING_H

#include <stdio.h>
#include <tutti/err.h>

struct tt_drawing {
    FILE *script; /* to be written to */
    FILE *picture, *complaints;
};

/* tt_drawing_fini follows in any case. IO. */
TUTTI_CHECKED enum tutti_err tt_drawing_init(struct tt_drawing *drawing);
void tt_drawing_fini(struct tt_drawing *drawing);

/* Runs the program on the script. *picture belongs to the caller (tutti_tell_free), `size` bytes, followed by a NUL.
 * `package` is Debian's, for the message. UNSUPPORTED if the program is missing; IO, with its message. */
TUTTI_CHECKED enum tutti_err tt_drawing_run(struct tt_drawing *drawing, char *const *command, const char *package,
                                            char **picture, size_t *size);

#endif
