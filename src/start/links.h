/* SPDX-License-Identifier: MIT */
/* links.h - what the connections of a system bring from continuous outputs to continuous inputs, number by number: the matrix L of Andersson 2016
 * eq. 5.5, u = L y, as a list. */
#ifndef TUTTI_START_LINKS_H
#define TUTTI_START_LINKS_H

#include "rank/rank.h"

/* `count` values, from one element on: input (to, to_element + e) += factor * output (from, from_element + e). */
struct tutti_signal_link {
    uint32_t from, to; /* nodes of the job's structure */
    size_t from_element, to_element, count;
    double factor;
};

/* A Float64 variable that moves between events. */
bool tutti_signal_is_real(const struct tutti_var *var);
const struct tutti_var *tutti_signal_var(const struct tutti_structure *structure, uint32_t node);

typedef void tutti_signal_link_visit(void *context, const struct tutti_signal_link *link);
/* Of the running system: connections for the start only are none. */
void tutti_links_each(const struct tutti_rank *rank, tutti_signal_link_visit *visit, void *context);

/* UNSUPPORTED, naming it, if something continuous is connected that is neither an input nor an output: it has no place in u and y. */
TUTTI_CHECKED enum tutti_err tutti_links_check(const struct tutti_rank *rank);

#endif
