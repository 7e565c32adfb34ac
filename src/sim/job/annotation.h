/* SPDX-License-Identifier: MIT */
/* annotation.h - options of a run as words: an SSP's annotation org.tutti has the meaning of the command line. */
#ifndef TT_SIM_JOB_ANNOTATION_H
#define TT_SIM_JOB_ANNOTATION_H

#include "base/options/options.h"
#include "model/system/system.h"

/* Between the values of an option that may be given again, in one word of an annotation: " | ". */
#define TUTTI_ANNOTATION_AND " | "

/* Fills in missing options; words that add to given ones (--tlm, --constrain) are read with the system. Texts belong to
 * the system. FORMAT with file and line for an unknown word, or one that a component cannot have. */
TUTTI_CHECKED enum tutti_err tt_annotation_apply_system(struct tutti_run_options *options,
                                                        const struct tt_system *system);
/* As above for one component, whose `implementation` precedes its words; *step becomes its separate step, if any. */
TUTTI_CHECKED enum tutti_err tt_annotation_apply_component(struct tutti_run_options *options,
                                                           const struct tt_system *system,
                                                           const struct tt_component *component, double *step);

/* The rank that the component's words ask for; -1: none. FORMAT as above. */
TUTTI_CHECKED enum tutti_err tt_annotation_read_rank(const struct tt_component *component, int32_t *rank);

/* The other way round: the words that `options` give, for an annotation. `list` has room for all, TUTTI_ANNOTATION_MOST; numbers
 * become texts in the arena. */
enum { TUTTI_ANNOTATION_MOST = TUTTI_OPTIONS_TOTAL };
TUTTI_CHECKED enum tutti_err tt_annotation_list_given(const struct tutti_run_options *options, struct tt_arena *arena,
                                                      struct tt_run_setting *list, size_t *count);

/* Reports every unknown word, or wrong value, as a finding with file and line. */
void tt_annotation_check(const struct tt_system *system, struct tt_findings *findings);

#endif
