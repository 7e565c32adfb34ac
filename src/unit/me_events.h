/* SPDX-License-Identifier: MIT */
/* me_events.h - state events of a Model Exchange FMU: where event indicators leave their domain.
 *
 * FMI: an indicator is in one of two domains, z > 0 or z <= 0, and an event happens where it changes to the other. The
 * FMU keeps the domain of its last event; so does this module (`positive`), which checks at the end of every step of
 * the solver whether an indicator is in the opposite domain. If so, the first such time in the step is bracketed in the
 * dense output until its ends are neighbouring numbers, and the event takes place at the right end, where the FMU
 * detects the change, too.
 *
 * After an event the sign that an indicator takes counts: one that is 0, or just below, and rises (a ball that bounces)
 * may come back within the first step of the solver, without being seen above 0. Then sinking below its earlier value
 * is an event, too.
 *
 * Against chatter by rounding, a domain of z <= 0 is left only at z > HYSTERESIS times the largest |z| seen. Any
 * remaining chatter is a property of the model: after too many state events in a short time the run ends, naming the
 * indicator. */
#ifndef TT_UNIT_ME_EVENTS_H
#define TT_UNIT_ME_EVENTS_H

#include "solve/crossing.h"
#include "unit/me_solution.h"

enum { ME_CHATTER_EVENTS = 200 };

struct tt_me_events {
    struct tt_me_solution *solution; /* borrowed */
    size_t count;                    /* of indicators */
    double *z, *z_scale;
    struct tt_crossing crossing;
    bool *positive; /* the domain that was reported to the FMU: z > 0 */
    /* domain z <= 0: if the last event has left it rising, it must not sink below this without a new event; otherwise
     * -INFINITY */
    double *floor;
    size_t sunk;      /* state events in a row that came of this */
    bool near_zero;   /* one of them, at the last event; until the step after it is looked at */
    double at;        /* indicators were looked at up to solution->front: the first event after t, or INFINITY */
    size_t indicator; /* one that changed there */
    double *recent;   /* times of the last ME_CHATTER_EVENTS state events, a ring, to detect chattering */
    size_t recent_count;
};

TUTTI_CHECKED enum tutti_err tt_me_events_init(struct tt_me_events *events, struct tt_me_solution *solution,
                                               size_t count);
/* Zeroed is fine, too. */
void tt_me_events_fini(struct tt_me_events *events);
/* The domains where the FMU stands now. */
TUTTI_CHECKED enum tutti_err tt_me_events_reset(struct tt_me_events *events);
/* How far each is on the way out of its domain where the FMU stands (crossing.h); *bad is the first without a value, or
 * `count`. */
TUTTI_CHECKED enum tutti_err tt_me_events_excess(struct tt_me_events *events, double *excess, size_t *bad);
/* The error for that one. */
TUTTI_CHECKED enum tutti_err tt_me_events_fail_no_value(const struct tt_me_events *events, double t, size_t bad);
/* Checks whether indicators have left their domains at the FMU's current point (inputs changed). */
TUTTI_CHECKED enum tutti_err tt_me_events_check_here(struct tt_me_events *events, bool *event);
/* Looks for the first event in (left, right] of the solver's last step: sets `at`. Moves the FMU. */
TUTTI_CHECKED enum tutti_err tt_me_events_search(struct tt_me_events *events, double left, double right);
/* A state event at t is entered; an error if they come too thick (chattering). */
TUTTI_CHECKED enum tutti_err tt_me_events_record(struct tt_me_events *events, double t);

struct tt_me_events_saved {
    double at;
    size_t indicator;
    bool near_zero, *positive;
    double *floor;
    size_t sunk;
    double *z_scale, *recent; /* distinguish events from rounding and from chatter */
    size_t recent_count;
};
/* tt_me_events_saved_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_me_events_saved_init(struct tt_me_events_saved *saved,
                                                     const struct tt_me_events *events);
void tt_me_events_saved_fini(struct tt_me_events_saved *saved);
void tt_me_events_save(const struct tt_me_events *events, struct tt_me_events_saved *saved);
/* `is_ahead`: with the event that was found ahead of the unit (the solution is restored with the part ahead, too). */
void tt_me_events_restore(struct tt_me_events *events, const struct tt_me_events_saved *saved, bool is_ahead);
/* Packs events as bytes, and unpacks them into events created for the FMU. The parcel records failures. */
void tt_me_events_pack(const struct tt_me_events *events, const struct tt_me_events_saved *saved,
                       struct tt_byte_writer *parcel);
void tt_me_events_unpack(const struct tt_me_events *events, struct tt_byte_reader *in,
                         struct tt_me_events_saved *saved);

#endif
