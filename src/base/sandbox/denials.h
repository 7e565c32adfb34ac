/* SPDX-License-Identifier: MIT */
/* denials.h - what confined code has tried in vain: written by the supervisor of a worker, read by those who tell people, in memory
 * that both see. The worker sees it, too, so that a reader takes nothing in it for granted. */
#ifndef TT_BASE_SANDBOX_DENIALS_H
#define TT_BASE_SANDBOX_DENIALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TUTTI_DENIALS_MOST = 64, TUTTI_DENIAL_TEXT = 300 };

/* What was tried, and what --allow would have to say for it: "" if nothing would do. */
struct tt_denial {
    uint32_t component; /* whose FMU the worker was in; UINT32_MAX: none */
    char what[TUTTI_DENIAL_TEXT];
    char allow[TUTTI_DENIAL_TEXT];
};

/* Each of them once. Zeroed is empty. */
struct tt_denials {
    _Atomic uint32_t count; /* of those that are whole */
    struct tt_denial list[TUTTI_DENIALS_MOST];
};

/* For the supervisor: adds it, unless it is there or there is no room. */
void tt_supervisor_add_denial(struct tt_denials *denials, const struct tt_denial *denial);
/* For readers: copies number `next`, made printable; false if there is none yet. */
bool tt_supervisor_read_denial(const struct tt_denials *denials, uint32_t next, struct tt_denial *out);

#endif
