/* SPDX-License-Identifier: MIT */
/* delegate.h - the federate of a run: its objects, the values it sends and receives. Only one rank has it. */
#ifndef TT_RUN_FEDERATE_DELEGATE_H
#define TT_RUN_FEDERATE_DELEGATE_H

#include <tutti/federate.h>

#include "run/federate/attribute_links.h"
#include "sim/rank.h"

/* The newest value of a link that has come. */
struct tt_delegate_arrival {
    struct tt_byte_writer bytes;
    bool fresh;      /* since the last look */
    uint32_t source; /* the object that provides it; 0: none at present */
};

struct tt_delegate_object;

struct tt_delegate {
    const struct tt_attribute_links *links; /* borrowed, as is the rank */
    struct tt_rank *rank;
    struct tutti_federate_client *client;
    struct tt_delegate_object *objects; /* its own */
    size_t object_count;
    uint32_t *object_of;                  /* per published link: its place among these */
    struct tt_delegate_arrival *arrivals; /* per subscribed link */
    struct tutti_federate_value *values;  /* room for those of one update */
    bool wanted;                          /* its values were requested */
};

/* Joins the federation that the options name, which is created with the options' modules, or one made of the links; declares what it sends and
 * receives, and takes part in time, with a lookahead of 0. STATE if the federation's time is beyond `start` already. `*delegate` is the caller's,
 * also after an error. */
TUTTI_CHECKED enum tutti_err tt_delegate_join(struct tt_delegate **delegate, const struct tt_attribute_links *links,
                                              struct tt_rank *rank, double start);
/* Registers its objects, and waits for other federates, as the options specify. */
TUTTI_CHECKED enum tutti_err tt_delegate_gather(struct tt_delegate *delegate);
/* Resigns. NULL is fine. */
void tt_delegate_leave(struct tt_delegate *delegate);

/* Sends values at a time; bytes[i] is that of published link i; those with send[i] (NULL: all). */
TUTTI_CHECKED enum tutti_err tt_delegate_send(struct tt_delegate *delegate, const struct tt_byte_writer *bytes,
                                              const bool *send, double stamp);
/* Requests an advance of time, and waits; values received meanwhile go to `arrivals`. INTERRUPTED if the run is. */
TUTTI_CHECKED enum tutti_err tt_delegate_advance(struct tt_delegate *delegate, enum tutti_federate_advance how,
                                                 double t, double *granted);

#endif
