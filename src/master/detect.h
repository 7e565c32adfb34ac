/* SPDX-License-Identifier: MIT */
/* detect.h - which events a run looks for inside a macro step, and what it does about them. */
#ifndef TUTTI_MASTER_DETECT_H
#define TUTTI_MASTER_DETECT_H

#include "base/remembered.h"
#include "options/words.h"
#include "rank/rank.h"

/* How discontinuities are found. Whatever the kind, times that FMUs announce are ends of steps. */
struct tutti_detection {
    const char *name;
    /* A unit that comes back early ends the step for all: the others are taken back, and step to that point. Otherwise it
     * crosses its event by itself and goes on. */
    bool early;
    /* A step in which a discrete output changes is taken back, and the change located. */
    bool outputs;
};

#define TUTTI_DECLARE_DETECTION(name, word, meaning) extern const struct tutti_detection tutti_detection_##name;
TUTTI_DETECTIONS(TUTTI_DECLARE_DETECTION)
#undef TUTTI_DECLARE_DETECTION

/* By name; NULL for "auto". ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tutti_detection_find(const char *name, const struct tutti_detection **out);

/* All discrete outputs of a unit: Boolean, integer, Enumeration, String, Binary, discrete Real. */
struct tutti_discretes {
    struct tutti_signals now, start;
    uint32_t *variables; /* of these */
};

/* What was learned of them. */
struct tutti_restless {
    int in_a_row; /* steps, however short, in which one has changed */
    bool ignored; /* they change in every step: no events */
};

/* What a run knows of them. Zeroed: nothing is looked for. */
struct tutti_detector {
    struct tutti_rank *rank;
    struct tutti_discretes *discretes; /* per member; NULL: changes are not looked for */
    struct tutti_restless *restless;   /* likewise */
    bool known;                        /* they are still what they were at the mark */
    uint32_t changed_member;           /* the last change that was seen */
    uint32_t changed_variable;
};

/* Lays them out; for units that have none this costs nothing. */
TUTTI_CHECKED enum tutti_err tutti_detector_open(struct tutti_detector *detector, struct tutti_rank *rank);
void tutti_detector_close(struct tutti_detector *detector);
/* What counts for the steps that follow. */
TUTTI_CHECKED enum tutti_err tutti_detector_remember(struct tutti_detector *detector,
                                                     struct tutti_remembered *remembered);
/* Does any unit of a rank have discrete outputs? */
bool tutti_detector_finds_outputs(const struct tutti_rank *rank);
/* At the beginning of a macro step: what is there is how it was. Outputs that have not changed are not read again. */
TUTTI_CHECKED enum tutti_err tutti_detector_mark(struct tutti_detector *detector);
/* The last change that was seen was located at the very start of a step (`at_once`), or later. A unit that does nothing
 * else is not looked at any more, which is told. */
void tutti_detector_count(struct tutti_detector *detector, bool at_once);
/* Events were crossed: they may be others. */
void tutti_detector_forget(struct tutti_detector *detector);
/* *changed becomes true if one is another than at the mark. Collective. */
TUTTI_CHECKED enum tutti_err tutti_detector_look(struct tutti_detector *detector, bool *changed);

#endif
