/* SPDX-License-Identifier: MIT */
/* sampling.h - the outputs of a unit, read at several points, to tell whether a step that is repeated gives the same. */
#ifndef TUTTI_UNIT_SAMPLING_H
#define TUTTI_UNIT_SAMPLING_H

#include "unit/unit.h"

struct tutti_sampling {
    uint32_t *variables; /* all outputs but Strings, Binaries and clocks */
    size_t count;
    const struct tutti_desc *desc;
    struct tutti_signals scale; /* of reals: the largest values seen so far */
    double tolerance;           /* reals may differ by so much of their scale: solvers of FMUs may begin anew */
};

/* Where the unit is, the first point is seen. */
TUTTI_CHECKED enum tutti_err tutti_sampling_init(struct tutti_sampling *sampling, struct tutti_unit *unit,
                                                 double tolerance);
void tutti_sampling_fini(struct tutti_sampling *sampling); /* a zeroed one is fine */
/* Room for one more point; tutti_unit_get fills it. */
TUTTI_CHECKED enum tutti_err tutti_sampling_lay_out(const struct tutti_sampling *sampling,
                                                    const struct tutti_unit *unit, struct tutti_signals *point);
/* A point is seen. */
void tutti_sampling_see(struct tutti_sampling *sampling, const struct tutti_signals *point);
/* The name of the first output that is another; NULL: none is. */
const char *tutti_sampling_differ(const struct tutti_sampling *sampling, const struct tutti_signals *a,
                                  const struct tutti_signals *b);

#endif
