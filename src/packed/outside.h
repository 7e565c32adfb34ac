/* SPDX-License-Identifier: MIT */
/* outside.h - what both versions of FMI show of an instance alike: its name, what it tells its importer, how calls end. */
#ifndef TUTTI_PACKED_OUTSIDE_H
#define TUTTI_PACKED_OUTSIDE_H

#include "packed/equations.h"
#include "packed/instance.h"

/* Of the statuses of both versions, which have the same numbers. */
enum tutti_outside_status {
    TUTTI_OUTSIDE_OK = 0,
    TUTTI_OUTSIDE_WARNING = 1,
    TUTTI_OUTSIDE_DISCARD = 2,
    TUTTI_OUTSIDE_ERROR = 3
};

/* The first member of an instance of either version. */
struct tutti_outside {
    struct tutti_packed *packed;
    char *name;
    bool logging; /* the importer wants to hear of more than warnings and errors */
    /* Hands a message to the importer. */
    void (*tell)(const struct tutti_outside *outside, enum tutti_outside_status status, const char *category,
                 const char *text);
};

/* Makes the packed system, with `tell` and `logging` filled in; close also after a failure. `resources` NULL: the importer named none. `exchange`: for
 * Model Exchange. */
TUTTI_CHECKED enum tutti_err tutti_outside_open(struct tutti_outside *outside, const char *name, const char *token,
                                                const char *resources, bool exchange);
void tutti_outside_close(struct tutti_outside *outside);

/* Functions of Model Exchange: STATE, naming the call, for an instance that is none, or is in another mode. */
TUTTI_CHECKED enum tutti_err tutti_outside_check_exchange(const struct tutti_outside *outside, const char *call);
TUTTI_CHECKED enum tutti_err tutti_outside_enter_event(struct tutti_outside *outside, const char *call);
TUTTI_CHECKED enum tutti_err tutti_outside_update(struct tutti_outside *outside, const char *call,
                                                  struct tutti_equations_update *update);
TUTTI_CHECKED enum tutti_err tutti_outside_leave_event(struct tutti_outside *outside, const char *call);

/* The end of a call: tells what went wrong. */
enum tutti_outside_status tutti_outside_conclude(const struct tutti_outside *outside, enum tutti_err err);
/* A function that packed systems do not have. */
enum tutti_outside_status tutti_outside_refuse(const struct tutti_outside *outside, const char *function);

#endif
