/* SPDX-License-Identifier: MIT */
/* job.h - the definition of a run: the system, the options with the system's annotation, times, input tables. It is
 * made once; all ranks of a run read it, and it is constant while they run. */
#ifndef TT_SIM_JOB_JOB_H
#define TT_SIM_JOB_JOB_H

#include "base/options/options.h"
#include "model/plan/structure.h"
#include "model/system/system.h"
#include "model/system/trajectory.h"
#include "sim/checkpoint/checkpoint.h"
#include "sim/job/driven_inputs.h"
#include "sim/job/schedule.h"
#include "sim/job/state_files.h"
#include "sim/job/times.h"
#include "unit/unit.h"

struct tt_rank;

/* A look at all units in the middle of a run: called once, at time `at`, after events there; the run then ends. Not called if an FMU ended
 * it before, or there. Units are of Model Exchange, where the options leave that open and the FMU has it. */
struct tt_visit {
    bool has_at;
    double at; /* default: the start time */
    enum tutti_err (*visit)(void *context, struct tt_rank *rank);
    void *context;
};

struct tt_run_extension;
enum { TUTTI_COMPANIONS = 2 };

struct tt_job {
    const struct tutti_run_options *asked; /* as they were given; borrowed */
    struct tutti_run_options options;      /* the options with the system's annotation */
    struct tt_system *system;
    struct tt_structure structure;     /* dependencies of the initial phase */
    struct tt_times times;             /* as asked for and proposed; a rank may have to fit the step to its units */
    struct tt_trajectory_file *tables; /* the input files, and those of the system */
    size_t table_count;
    struct tt_me_sensitivity *sensitivity; /* NULL: it is not asked for; options.extra otherwise */
    struct tt_formulas formulas;           /* inputs that are functions of time */
    struct tt_schedule schedule;           /* of clocks */
    struct tt_state_files states;          /* that units begin with, and that are written at the end */
    char *result;                          /* the result file, absolute, or "-"; NULL: none */
    char *checkpoint;                      /* the file of checkpoints, absolute; NULL: none */
    struct tt_bytes identity;              /* for checkpoints: identity of the run (run/run_identity.h); borrowed */
    struct tt_checkpoint *resume;          /* the checkpoint to resume at; NULL: none */
    const struct tt_visit *visit;          /* NULL: none */
    double visit_at;
    /* The tables of the input files are borrowed from the job that it renews. All units run by Model Exchange, in one
     * solver, without an explicit option (sim/job/integration.h). */
    bool borrows_tables, joins;
    const struct tt_run_extension
        *companions[TUTTI_COMPANIONS]; /* go along with the run (sim/execution.h), in this order; NULL: none */
    bool is_fed;                       /* by one of them, at points: inputs of units get values from outside */
    const int32_t *place; /* per component: its rank; NULL: a single rank. Set, and owned, by the launcher of ranks */
};

/* Loads the system, settles options and times, reads the input files. `options` and `visit` (NULL: none) are borrowed
 * for the job's life. Faults of the system are an error that names the first and counts the rest. */
TUTTI_CHECKED enum tutti_err tt_job_load(struct tt_job *job, const struct tutti_run_options *options,
                                         const struct tt_visit *visit);
/* The same for a run, which writes files: they must not be those that are read. */
TUTTI_CHECKED enum tutti_err tt_job_open(struct tt_job *job, const struct tutti_run_options *options,
                                         const struct tt_visit *visit);
/* Makes an open job with different options for its files, which are not read again: FMUs and packages, with loaded
 * libraries, and input files are taken from the job. Warnings are not repeated. After a failure the job is unchanged. */
TUTTI_CHECKED enum tutti_err tt_job_reopen(struct tt_job *job, const struct tutti_run_options *options);
/* The same for options that differ in their sets and their log only. False: it takes tt_job_reopen; the job is as it was. */
bool tt_job_apply_settings(struct tt_job *job, const struct tutti_run_options *options);
/* Returns true if a table or an expression drives inputs of components. */
bool tt_job_drives_inputs(const struct tt_job *job);
/* Returns the location of a file that the options name, besides FMUs and packages: its path, or that of an alias. NULL:
 * it must not be read (tt_model_files_fail_foreign). */
const char *tt_job_find_path(const struct tutti_run_options *options, const char *name);
/* Describes what a run reads from `path`: "the model", or the option that names it; NULL if it reads nothing from it,
 * as far as the options show. */
const char *tt_job_path_is_read(const struct tutti_run_options *options, const char *path);
/* Unpacks the archives of all FMUs, so that ranks that are forked need not do it each for itself. */
TUTTI_CHECKED enum tutti_err tt_job_unpack(const struct tt_job *job);
/* After a failed load or open nothing needs to be closed; calling it then, or on a zeroed job, is allowed. */
void tt_job_close(struct tt_job *job);

/* The options' description of a system: its files, connections and values. */

/* Borrowed from the options. */
struct tt_system_source tt_job_system_source(const struct tutti_run_options *options);

#endif
