/* SPDX-License-Identifier: MIT */
/* detect.h - which events a run looks for inside a macro step, and what it does about them. */
#ifndef TUTTI_MASTER_DETECT_H
#define TUTTI_MASTER_DETECT_H

#include "master/loop.h"

/* How discontinuities are found. Whatever the kind, times that FMUs announce are ends of steps. */
struct tutti_detection {
    const char *name;
    /* A unit that comes back early ends the step for all: the others are taken back, and step to that point. Otherwise it
     * crosses its event by itself and goes on. */
    bool early;
    /* A step in which a discrete output changes is taken back, and the change located. */
    bool outputs;
};

extern const struct tutti_detection tutti_detection_none, tutti_detection_early, tutti_detection_output;

/* By name. ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tutti_detection_find(const char *name, const struct tutti_detection **out);

/* All discrete outputs of a unit: Boolean, integer, Enumeration, String, Binary, discrete Real. */
struct tutti_discretes {
    struct tutti_signals now, start;
    uint32_t *variables; /* of these */
    int in_a_row;        /* steps, however short, in which one has changed */
    bool ignored;        /* they change in every step: no events */
};

/* Lays them out; for units that have none this costs nothing. */
TUTTI_CHECKED enum tutti_err tutti_detect_open(struct run *run);
void tutti_detect_close(struct run *run);
/* Does any unit have some? */
bool tutti_detect_has_outputs(const struct run *run);
/* At the beginning of a macro step: what is there is how it was. Outputs that have not changed are not read again. */
TUTTI_CHECKED enum tutti_err tutti_detect_mark(struct run *run);
/* A change that master.changed_* tells was located at the very start of a step (`at_once`), or later. A unit that does nothing
 * else is not looked at any more, which is told. */
void tutti_detect_count(struct run *run, bool at_once);
/* Events were crossed: they may be others. */
void tutti_detect_forget(struct run *run);
/* *changed becomes true if one is another than at the mark. */
TUTTI_CHECKED enum tutti_err tutti_detect_look(struct run *run, bool *changed);

#endif
