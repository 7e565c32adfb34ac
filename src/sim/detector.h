/* SPDX-License-Identifier: MIT */
/* detector.h - which events a run looks for inside a macro step, and what it does about them. */
#ifndef TT_SIM_DETECTOR_H
#define TT_SIM_DETECTOR_H

#include "base/rollback_list.h"
#include "base/options/option_words.h"
#include "sim/rank.h"
#include "sim/step_result.h"

/* How discontinuities are found. Whatever the kind, times that FMUs announce are ends of steps. */
struct tt_detection {
    const char *name;
    /* A unit that returns early ends the step for all: the others are rolled back, and step to that point. Otherwise it
     * crosses its event alone and continues. */
    bool early;
    /* A step in which a discrete output changes is taken back, and the change located. */
    bool outputs;
};

#define TUTTI_DECLARE_DETECTION(name, word, meaning) extern const struct tt_detection tt_detection_##name;
TUTTI_DETECTIONS(TUTTI_DECLARE_DETECTION)
#undef TUTTI_DECLARE_DETECTION

/* By name; NULL for "auto". ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tt_detector_find_kind(const char *name, const struct tt_detection **out);

/* All discrete outputs of a unit: Boolean, integer, Enumeration, String, Binary, discrete Real. */
struct tt_discrete_outputs {
    struct tt_signals now, start;
    uint32_t *variables; /* of these */
};

/* The flapping outputs found so far. */
struct tt_flapping {
    int in_a_row; /* steps, however short, in which one has changed */
    bool ignored; /* they change in every step: no events */
};

/* The state of event detection. Zeroed: no detection. */
struct tt_detector {
    struct tt_rank *rank;
    struct tt_discrete_outputs *discretes; /* per member; NULL: changes are not looked for */
    struct tt_flapping *restless;          /* likewise */
    bool known;                            /* they are still what they were at the mark */
};

/* Lays them out; for units that have none this costs nothing. */
TUTTI_CHECKED enum tutti_err tt_detector_open(struct tt_detector *detector, struct tt_rank *rank);
void tt_detector_close(struct tt_detector *detector);
/* Registers the state that later steps depend on. */
TUTTI_CHECKED enum tutti_err tt_detector_register(struct tt_detector *detector, struct tt_rollback_list *remembered);
/* Returns true if any unit of a rank has discrete outputs. */
bool tt_detector_has_outputs(const struct tt_rank *rank);
/* Called at the beginning of a macro step: saves the present values. Outputs that have not changed are not read again. */
TUTTI_CHECKED enum tutti_err tt_detector_save_start(struct tt_detector *detector);
/* Records that the last change was located at the very start of a step (`at_once`), or later. A unit whose changes are
 * all at starts is excluded from detection, which is logged. */
void tt_detector_count_change(struct tt_detector *detector, const struct tt_step_result *result, bool at_once);
/* Events were crossed: they may be others. */
void tt_detector_invalidate(struct tt_detector *detector);
/* Ends `result`, which reached its target, by a changed output if one differs from the start of the macro step. Collective. */
TUTTI_CHECKED enum tutti_err tt_detector_detect(struct tt_detector *detector, double target,
                                                struct tt_step_result *result);

#endif
