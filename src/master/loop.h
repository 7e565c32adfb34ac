/* SPDX-License-Identifier: MIT */
/* loop.h - the loop of a run: from communication point to communication point.
 *
 * Invariants:
 *  R1  Times come from grids (base/time.h), the FMU or the input file, to the bit; nothing is added up.
 *  R2  A step ends at the earliest of: next communication point, next recorded point, next event that the FMU announced,
 *      next jump of an input (for units that keep slopes: next kink), stop.
 *  R3  At every point: values are read (recorded) first, inputs are set after, then comes the step: no read follows a set.
 *  R4  Whatever ends the run, rows recorded so far are in the file. */
#ifndef TUTTI_MASTER_LOOP_H
#define TUTTI_MASTER_LOOP_H

#include <tutti/run.h>

#include "base/time.h"
#include "master/experiment.h"
#include "master/inputs.h"
#include "master/observer.h"
#include "master/run.h"

struct run {
    const struct tutti_run_options *options;
    struct tutti_run_stats *stats;
    struct tutti_fmu *fmu;
    struct tutti_unit *unit;
    struct tutti_inputs inputs;
    struct tutti_observer observer;
    struct tutti_arena arena;
    struct tutti_times times;
    struct tutti_setting *settings;
    const struct tutti_visit *visit; /* NULL: none */
    double visit_at;
    enum tutti_interface_kind interface;
    struct tutti_integration integration;
    double span; /* stop - start: the scale for comparing times */
    char name[128];
    char *result; /* the result file, absolute, or "-"; NULL: none */

    struct tutti_grid communication, output;
    double t;
    double next_event;  /* that the FMU announced */
    double input_event; /* next jump of an input */
    double kink;        /* until then the unit knows how its inputs move (tutti_inputs_horizon) */
    double input_time;  /* t, or the jump that is the same point: where the inputs are read */
    bool ended;         /* by the FMU */
    bool plain;         /* nothing to do between steps: no inputs, no events, nothing recorded */
    int standstills;
    unsigned long countdown, interval; /* steps until the next look at the clock */
    double loop_start, last_look, last_flush, last_progress;
};

/* Lets the FMU, which is in event mode, settle; once more if it announces the next event for the same time. */
TUTTI_CHECKED enum tutti_err tutti_loop_settle(struct run *run);
/* From run->t to the end. */
TUTTI_CHECKED enum tutti_err tutti_loop(struct run *run);

#endif
