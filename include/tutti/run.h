/* SPDX-License-Identifier: MIT */
/* run.h - simulate an FMU, or a system of FMUs, from start to stop. */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one FMU did in a run. */
struct tutti_unit_stats {
    char *name, *fmu;
    char *fmi, *interface; /* "2.0", "cs" */
    int rank;
    bool uses_events;                                      /* event mode is used */
    char *solver;                                          /* of Model Exchange, else NULL */
    unsigned long do_steps, accepted, rejected, auxiliary; /* the first is the sum of the others */
    unsigned long rollbacks, gets, sets, init_evaluations, solver_steps, rhs_evaluations, jacobian_evaluations,
        directional_derivatives, solver_error_failures, solver_other_failures, solver_restarts;
    double seconds; /* in do-steps: measured with the option stats-exact, else estimated from some of them */
    double save_seconds, restore_seconds; /* taking snapshots of its state, and going back to them */
    double set_seconds, get_seconds;      /* handing over inputs, and reading what others need; as `seconds` */
};

/* What a run did. */
struct tutti_run_stats {
    double start, stop; /* stop: where the run really ended */
    unsigned long steps, rejected, iterations, events_located, exchanges, rows;
    double setup_seconds, loop_seconds;
    unsigned long init_loops;      /* algebraic loops that were solved at the start */
    unsigned long init_iterations; /* ... in so many iterations of Newton's method, all together */
    /* "jacobi" ("none" for one unit), "fixed", "none", "local" */
    char *coupling, *control, *events, *fabric;
    unsigned extrapolate; /* order */
    /* Why `auto` chose them; NULL where an option did, or where there is nothing to couple. */
    char *coupling_reason, *control_reason, *extrapolate_reason, *events_reason;
    bool correct, smooth;
    unsigned long not_converged; /* steps that went on though their iteration had not come to rest */
    unsigned long forced;        /* steps that were accepted because they could not be shorter */
    /* Where a control bounds the error of the run: what its steps did wrong, added up, in the output in which that is most; NULL:
     * not known. */
    char *estimated_in;     /* "left.x" */
    double estimated_error; /* as a multiple of the tolerance */
    double estimated_size;  /* in its own unit */
    unsigned long overruns; /* points that came later than --realtime asked for */
    double most_late;       /* ... the worst, in seconds */
    int ranks;
    bool terminated_by_fmu;
    bool uses_events;
    struct tutti_unit_stats *units;
    size_t unit_count;
};

/* Releases what tutti_run put into `stats`. */
TUTTI_API void tutti_run_stats_fini(struct tutti_run_stats *stats);

/* Simulates. `stats` (may be NULL) is filled also when the run fails on its way (tutti_run_stats_fini
 * releases it); the result file then holds everything up to the failure. INTERRUPTED if
 * tutti_options_set_interrupt's flag ended the run. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_run(const struct tutti_run_options *options,
                                                 struct tutti_run_stats *stats);

/* What the output "-" stands for from now on, in all threads: an open descriptor, which stays yours; 1 until then. FMUs may print
 * to standard output. The library leaves that as it is; a program that wants the result alone there duplicates descriptor 1
 * before the run, lets it lead elsewhere, and hands over the duplicate. The command does so. */
TUTTI_API void tutti_set_standard_output(int descriptor);

/* "0.1.0" */
TUTTI_API const char *tutti_version(void);

#ifdef __cplusplus
}
#endif
#endif
