/* SPDX-License-Identifier: MIT */
/* run_federate.h - connects a run to a federation as one federate: it sends computed values at points, and advances
 * when time is granted.
 *
 * With T the time that was granted last and L the lookahead:
 *
 *     tar    steps are made first. At the first point from T + L on (which a step ends at, if several lead there) it sends the values there, at
 *            that time, and asks for it by TAR. Values received until the grant apply from there on.
 *     tara   the same with L = 0, and twice: TARA; units with event mode receive the new values; outputs that change are sent, too; TAR.
 *     nmr    time is asked for first, up to the end of the next step, which ends where it is granted. Units receive the new values there; their changed outputs are sent at T + L.
 *     nmra   the same, also with L = 0. More may come at a time that was granted: it is granted again.
 *
 * Invariants:
 *  U1  Only accepted points are sent; rejected ones stay inside the run.
 *  U2  The first rank communicates with the RTI. All ranks get equal bytes from it, and decide alike.
 *  U3  Units are read before they are set (R3); those with event mode once more after it. */
#ifndef TT_RUN_FEDERATE_RUN_FEDERATE_H
#define TT_RUN_FEDERATE_RUN_FEDERATE_H

#include "base/bytes.h"
#include "run/federate/attribute_links.h"
#include "sim/execution.h"
#include "sim/rank.h"

/* Creates the run extension for a job whose options have `join`. */
struct tt_run_federate {
    struct tt_run_extension companion;
    struct tt_attribute_links links;
};

/* Checks that the options are consistent, as far as they show. ARGUMENT, UNSUPPORTED. */
TUTTI_CHECKED enum tutti_err tt_run_federate_check(const struct tutti_run_options *options);
/* `along` is zeroed, and must not be moved; it is attached to the job. No effect if the options do not request it.
 * ARGUMENT, UNSUPPORTED for a contradictory combination. */
TUTTI_CHECKED enum tutti_err tt_run_federate_open(struct tt_run_federate *along, struct tt_job *job);
void tt_run_federate_close(struct tt_run_federate *along);

/* Bytes that one rank has become those of all. */

/* Room that is used again; zeroed is empty. */
struct tt_broadcast_buffer {
    double *numbers;
    size_t room;
};

/* Collective. parcels[i] is known on the rank where mine[i] is true, which is one; afterwards on all. */
TUTTI_CHECKED enum tutti_err tt_run_federate_broadcast(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                                       struct tt_byte_writer *parcels, const bool *mine, size_t count);
void tt_run_federate_free_broadcast(struct tt_broadcast_buffer *spread);

#endif
