/* SPDX-License-Identifier: MIT */
/* stalls.h - federations in which federates wait, and none is granted anything for some time: told once for each time, with who waits for whom. */
#ifndef TUTTI_FEDPRO_STALLS_H
#define TUTTI_FEDPRO_STALLS_H

#include "base/log.h"
#include "rti/rti.h"

/* Zeroed, it knows of none. */
struct tutti_fedpro_stalls {
    struct tutti_fedpro_watched *items; /* one for each federation */
    size_t count;
};

void tutti_fedpro_stalls_fini(struct tutti_fedpro_stalls *stalls);
/* From time to time. A federation that stands for `patience` seconds at `now` goes to the log as a warning; 0: none does. */
void tutti_fedpro_stalls_look(struct tutti_fedpro_stalls *stalls, const struct tutti_rti *rti, double now,
                              double patience, const struct tutti_log *log);

#endif
