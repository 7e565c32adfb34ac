/* SPDX-License-Identifier: MIT */
/* inbox.h - a conductor in a process that is a rank, too: a thread of its own formats and writes, and the rank only lays down
 * what was reported. */
#ifndef TUTTI_CONDUCT_INBOX_H
#define TUTTI_CONDUCT_INBOX_H

#include "conduct/conductor.h"

struct tutti_inbox;

/* Starts the thread, whose the conductor is from now on. If something fails there, *stop_after becomes 0. Both borrowed. */
TUTTI_CHECKED enum tutti_err tutti_inbox_new(struct tutti_inbox **out, struct tutti_conductor *conductor, int ranks,
                                             _Atomic uint64_t *stop_after);
/* Is there not too much of this rank yet? */
bool tutti_inbox_has_room(struct tutti_inbox *inbox, int rank);
/* Lays down what rank `rank` reported, in order; frames may come in parts. */
TUTTI_CHECKED enum tutti_err tutti_inbox_put(struct tutti_inbox *inbox, int rank, const char *bytes, size_t size);
/* Have all ranks come to their end, and does the conductor know? */
bool tutti_inbox_is_done(const struct tutti_inbox *inbox);
/* Ends the thread; the conductor is the caller's again. Returns the first failure. */
TUTTI_CHECKED enum tutti_err tutti_inbox_free(struct tutti_inbox *inbox);

#endif
