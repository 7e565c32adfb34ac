/* SPDX-License-Identifier: MIT */
/* apps/study/rerun.h - one simulation that is run again and again with other values: loaded once, reset between runs (tutti_simulation_reset). */
#ifndef TT_APPS_STUDY_RERUN_H
#define TT_APPS_STUDY_RERUN_H

#include <tutti/simulation.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/vector.h"
#include "base/options/options.h"

/* Rows of a run go there, as they come. */
struct tt_rerun_sink {
    void *context;
    /* Before the first row of each run: the variables that are recorded. NULL: not wanted. */
    enum tutti_err (*columns)(void *context, const struct tutti_recorded *shown, size_t count);
    /* all[i] is the value of the variable i of `columns`; wanted[i] that of place i (tt_rerun_request). */
    enum tutti_err (*row)(void *context, double t, const double *wanted, const double *all);
};

struct tt_rerun {
    struct tutti_run_options options; /* of each run; texts are borrowed from those that were given */
    struct tutti_simulation *simulation;
    const char **names; /* that are set; borrowed */
    size_t name_count;
    struct tt_rerun_sink sink;
    struct tutti_watcher watcher;
    struct tt_vector wanted; /* of const char *: variables that the sink requires, in this order */
    size_t *places;          /* of each among those that are recorded */
    double *row;             /* their values */
    size_t known;            /* capacity of `places` */
    struct tt_text setting;
    struct tt_arena arena;
    bool ran; /* it has to be reset before the next run */
};

/* Loads the files of `options`; `names` are the variables that runs will set: all must exist and be settable, with the
 * first `values`. No code of an FMU runs. Borrows `options` and `names`. tt_rerun_close follows in any case. ARGUMENT,
 * naming the variable, ... as tutti_simulation_open. */
TUTTI_CHECKED enum tutti_err tt_rerun_open(struct tt_rerun *trial, const struct tutti_run_options *options,
                                           const char **names, size_t count, const double *values);
void tt_rerun_close(struct tt_rerun *trial);

/* Adds a variable that the sink requires and returns its index. ARGUMENT if it does not exist or is not a number. */
TUTTI_CHECKED enum tutti_err tt_rerun_request(struct tt_rerun *trial, const char *name, size_t *place);
/* Besides these, the sink gets all that the options record (their --record, or all outputs). */
TUTTI_CHECKED enum tutti_err tt_rerun_request_recorded(struct tt_rerun *trial);
/* Nothing but these. */
TUTTI_CHECKED enum tutti_err tt_rerun_record_requested(struct tt_rerun *trial);

/* Nothing at all. */
TUTTI_CHECKED enum tutti_err tt_rerun_record_none(struct tt_rerun *trial);

/* Unpacks archives, so that processes that are forked need not. */
TUTTI_CHECKED enum tutti_err tt_rerun_prepare(struct tt_rerun *trial);
/* Begins a run, with these values of the names; `log`: of this run; NULL: silent. The caller steps the simulation. */
TUTTI_CHECKED enum tutti_err tt_rerun_start(struct tt_rerun *trial, const double *values, const struct tutti_log *log);
/* One run, with these values of the names. `log`: of this run; NULL: silent. *end: the time that it came to, also if it fails. */
TUTTI_CHECKED enum tutti_err tt_rerun_run(struct tt_rerun *trial, const double *values, const struct tutti_log *log,
                                          double *end);

#endif
