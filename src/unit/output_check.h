/* SPDX-License-Identifier: MIT */
/* output_check.h - compares the outputs of a unit at several points, to test that a repeated step gives equal results. */
#ifndef TT_UNIT_OUTPUT_CHECK_H
#define TT_UNIT_OUTPUT_CHECK_H

#include "unit/unit.h"

struct tt_output_check {
    uint32_t *variables; /* all outputs but Strings, Binaries and clocks */
    size_t count;
    const struct tt_description *desc;
    struct tt_signals scale; /* of reals: the largest values seen so far */
    double tolerance;        /* reals may differ by this part of their scale: solvers of FMUs may restart */
};

/* Where the unit is, the first point is seen. */
TUTTI_CHECKED enum tutti_err tt_output_check_init(struct tt_output_check *sampling, struct tt_unit *unit,
                                                  double tolerance);
void tt_output_check_fini(struct tt_output_check *sampling); /* a zeroed one is fine */
/* Room for one more point; tt_unit_get fills it. */
TUTTI_CHECKED enum tutti_err tt_output_check_lay_out(const struct tt_output_check *sampling, const struct tt_unit *unit,
                                                     struct tt_signals *point);
/* A point is seen. */
void tt_output_check_update_scale(struct tt_output_check *sampling, const struct tt_signals *point);
/* Returns the name of the first output that differs; NULL: none. */
const char *tt_output_check_find_difference(const struct tt_output_check *sampling, const struct tt_signals *a,
                                            const struct tt_signals *b);

#endif
