/* SPDX-License-Identifier: MIT */
/* run.h - simulate an FMU, or a system of FMUs, from start to stop. Every option is the same word as on the command line. */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>
#include <tutti/extra.h>
#include <tutti/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_run_stats; /* below */

/* How far a run is. */
struct tutti_progress {
    double start, stop, time;
    double step;         /* the last communication step */
    unsigned long steps; /* accepted so far */
    double elapsed;      /* seconds since the loop began */
};

/* A variable that is recorded. */
struct tutti_recorded {
    const char *name;               /* as in the header of a result: "unit.var" */
    const char *unit, *description; /* NULL: none */
};

/* Functions of a program that see every row that is recorded, as it comes: whatever the units run on, in the process that
 * called. */
struct tutti_watcher {
    void *context;
    /* Once, before the first row: what will be recorded; good during the call. NULL: not wanted. Whatever it returns but 0
     * ends the run with that error; call tutti_extra_fail for its message. */
    enum tutti_err (*columns)(void *context, const struct tutti_recorded *shown, size_t count);
    /* values[i] is that of shown[i], numbers of all types as doubles; NaN for texts. Likewise. */
    enum tutti_err (*row)(void *context, double t, const double *values);
};

/* A file that does not lie where its name says. */
struct tutti_file_alias {
    const char *name; /* as messages show it: "dir/ball.fmu", "car.ssp/resources/wheel.fmu" */
    const char *path; /* where it lies; folders are named by themselves, not by what is in them */
    bool system;      /* it is a system (.ssp, .ssd, or such a folder), not an FMU or another file */
    bool if_missing;  /* `name` is without folders; for every FMU called so that is not where it should be */
};

/* Zeroed, with `files` set, is a valid set of options: everything else has its default. All pointers are borrowed until
 * tutti_run returns. What an option does not say, the annotation org.tutti of an SSP may. */
struct tutti_run_options {
    /* One FMU; or one system: "x.ssp", "x.ssp#Variant.ssd", "x.ssd"; or several FMUs, each "x.fmu" or "NAME=x.fmu".
     * Folders with the same, unpacked, will do. */
    const char *const *files;
    size_t file_count;
    const char *const *connect; /* "A.y=B.u", "A.y*2+1=B.u" */
    size_t connect_count;
    bool convert; /* connections may round: Real to Integer, numbers to Boolean */
    bool has_start, has_stop, has_step, has_output_step, has_rtol, has_atol, has_solver_step, has_h_max, has_h_min,
        has_event_tolerance, has_quantum, has_divergence, has_realtime;
    double start, stop;            /* the file's default experiment, else 0 and 1 */
    double step;                   /* communication step: default experiment, else (stop - start) / 500 */
    const char *const *unit_steps; /* "UNIT=H": a step of its own, a multiple of `step` */
    size_t unit_step_count;
    double output_step; /* interval of recorded points: every communication point */
    /* Co-Simulation: rtol is handed to the FMU's own solver: default experiment, else none. Model Exchange: default
     * experiment, else 1e-4; atol, times the nominal value of a state: rtol / 100. */
    double rtol, atol;
    const char *interface; /* "cs", "me", "auto" */
    const char *solver;    /* for Model Exchange: "cvode", "bdf", ...; NULL: "cvode"; "bdf" where inputs change */
    double solver_step;    /* of fixed-step solvers: the communication step */
    double h_max;          /* longest step of the others: (stop - start) / 50; and of a control: (stop - start) / 10 */
    const char
        *predictor; /* when inputs change: "auto", "restart", "proceed", "correct-1", "correct-2", "correct-all" */
    const char *jacobian; /* "auto", "sparse", "dense", "plain" */
    /* Features that are not used although FMUs claim them: of all units, or of those named. */
    bool no_event_mode, no_directional_derivatives;
    const char *const *no_event_mode_units;
    size_t no_event_mode_unit_count;
    const char *const *no_directional_derivatives_units;
    size_t no_directional_derivatives_unit_count;
    const char *filter;              /* "none", "average" */
    const struct tutti_extra *extra; /* equations to integrate with those of the FMU; see <tutti/extra.h> */
    /* How coupled units are stepped; NULL or "auto": whatever fits the system, with its reasons in the log. */
    const char *coupling;    /* "jacobi", "seidel", "relax" */
    const char *control;     /* "fixed", "converge", "richardson", "slope", "embedded", "diverge", "quantum" */
    const char *extrapolate; /* "0", "1", "2" */
    const char *events;      /* "none", "early", "output" */
    bool correct, smooth;    /* with jacobi */
    const char *error_per;   /* what a tolerance bounds: errors of the whole run, "time" (default), or of a "step" */
    const char *sweeps;      /* of relax: "seidel", "jacobi" */
    const char *accelerate;  /* of relax: "none", "aitken", "anderson" */
    unsigned max_iterations; /* of relax: 10 */
    const char *order;       /* "A,B,C": units that step in this order, with seidel */
    double h_min;            /* shortest step of a control: (stop - start) / 1e8; h_max is the longest */
    double event_tolerance;  /* to which events are located in time: rtol times the first step */
    double quantum;          /* of the control quantum: how far an output may move in a step */
    double divergence;       /* of the control diverge: 1e-3 */
    double realtime;         /* simulated time goes so many times as fast as that of the clock: as fast as it can */
    const char *step_log;    /* a CSV file with a line per attempt at a step */
    /* Where units run; at most one of the first four. None: here, in one thread. */
    unsigned threads;         /* so many threads of this process */
    unsigned processes;       /* so many workers on this machine */
    const char *nodes;        /* "HOST:PORT,...", or a file with a line per node: tutti node */
    bool mpi;                 /* this process is one of those that mpiexec started */
    const char *const *place; /* "UNIT=RANK": automatic */
    size_t place_count;
    const char *const *costs; /* "UNIT=SECONDS": what a unit takes, for the placement; none: estimated */
    size_t cost_count;
    const char *mode; /* "optimistic": signals are sent before it is known whether the step is good; "prudent": after */
    bool has_timeout;
    double timeout;         /* seconds that a worker or node may go without a sign of life: for ever */
    const char *key;        /* file with this machine's secret key, for nodes beyond this machine */
    const char *const *set; /* "UNIT.VAR=VALUE"; a single FMU: "VAR=VALUE" */
    size_t set_count;
    const char *const *inputs; /* CSV files with input trajectories: each drives other inputs */
    size_t input_count;
    const char *interpolate; /* between their rows: "linear" (Real inputs that are continuous), "hold" */
    const char
        *input_at; /* what a Co-Simulation FMU sees of them in a step: "auto", "slope", "begin", "middle", "end" */
    const char *const *record; /* patterns; "none" alone records nothing; none given: all outputs */
    size_t record_count;
    const struct tutti_file_alias *aliases; /* of `files`, of files that a system names, and of `inputs` */
    size_t alias_count;
    const char *output; /* result file; "-" for CSV on standard output, see tutti_set_standard_output; NULL: none */
    const struct tutti_watcher *watcher; /* who is shown what is recorded; NULL: none */
    bool timing;                         /* measure the time of every do-step (stats.seconds), not of some */
    bool fmu_logging;                    /* ask the FMU for its debug messages */

    const struct tutti_log *log; /* NULL: silent */
    /* Called now and then, some ten times a second at most. */
    void (*progress)(void *context, const struct tutti_progress *progress);
    void *progress_context;
    /* Called at most once, by the thread that called, when the result is closed and everything is counted, but before the FMUs of
     * this process are freed, which may crash: time to tell how it went. `err` is what will be returned, tutti_err_message says
     * why. Not called for units that run elsewhere (threads, processes, nodes, mpi), nor if a run did not begin. */
    void (*finished)(void *context, enum tutti_err err, const struct tutti_run_stats *stats);
    void *finished_context;
    /* The run ends at the next communication point once this is not 0 (a signal handler may set it). */
    const volatile sig_atomic_t *interrupt;
};

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
    double seconds; /* in do-steps: measured with options.timing, else estimated from some of them */
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
 * releases it); the result file then holds everything up to the failure. INTERRUPTED if options.interrupt ended the run. */
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
