/* SPDX-License-Identifier: MIT */
/* signal_links.h - what the connections of a system bring from continuous outputs to continuous inputs, number by number: the matrix L of Andersson 2016
 * eq. 5.5, u = L y, as a list. */
#ifndef TT_SIM_START_SIGNAL_LINKS_H
#define TT_SIM_START_SIGNAL_LINKS_H

#include "sim/rank.h"

/* `count` values, from one element on: input (to, to_element + e) += factor * output (from, from_element + e). */
struct tt_signal_link {
    uint32_t from, to; /* nodes of the job's structure */
    size_t from_element, to_element, count;
    double factor;
};

/* A Float64 variable that moves between events. */
bool tt_linear_model_is_real(const struct tt_var *var);
const struct tt_var *tt_linear_model_variable(const struct tt_structure *structure, uint32_t node);

typedef void tt_linear_model_visit_link(void *context, const struct tt_signal_link *link);
/* Of the running system: connections for the start only are none. */
void tt_linear_model_each_link(const struct tt_rank *rank, tt_linear_model_visit_link *visit, void *context);

/* UNSUPPORTED, naming it, if something continuous is connected that is neither an input nor an output: it has no place in u and y. */
TUTTI_CHECKED enum tutti_err tt_linear_model_check_links(const struct tt_rank *rank);

#endif
