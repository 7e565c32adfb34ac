/* SPDX-License-Identifier: MIT */
/* options.h - how to run: a set of options, each set by its name, as on the command line without its dashes.
 *
 *     struct tutti_run_options *options;
 *     if (tutti_options_make(&options) || tutti_options_set(options, "file", "car.ssp") ||
 *         tutti_options_set(options, "rtol", "1e-6") || tutti_options_set(options, "output", "car.csv"))
 *         puts(tutti_err_message());
 *
 * docs/options.md lists them; tutti_options_describe tells a program. */
#ifndef TUTTI_OPTIONS_H
#define TUTTI_OPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>
#include <tutti/extra.h>
#include <tutti/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_run_options;
struct tutti_run_stats; /* <tutti/stats.h> */

/* A set in which nothing is given. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_make(struct tutti_run_options **out);
/* NULL is fine. Not while a run or a simulation uses it. */
TUTTI_API void tutti_options_free(struct tutti_run_options *options);

/* Sets an option to what `value` says, which is copied. Options that name files, connections, values and the like ("file", "connect",
 * "set", "input", "record", "place", "step" with a unit) add to what they have; others replace it. A flag is "true" or "false". NULL
 * for a value: as if it had never been set. ARGUMENT, with what would be right, for a name or a value that is none. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_set(struct tutti_run_options *options, const char *name,
                                                         const char *value);

/* The same for a number. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_set_number(struct tutti_run_options *options, const char *name,
                                                                double value);

/* A word that an option takes. */
struct tutti_option_word {
    const char *name, *text; /* text: what it means; may be NULL */
};

struct tutti_option_description {
    const char *name;
    const char *argument;                  /* "T"; NULL for a flag */
    const char *help;                      /* in brackets at its end: what holds if it is not given */
    const struct tutti_option_word *words; /* that it takes, the default first; ended by a NULL name; NULL: any text */
    bool repeatable;                       /* set again, it adds */
};

/* The option with this number, from 0 on; false: there are fewer. Texts are static. */
TUTTI_API bool tutti_options_describe(size_t number, struct tutti_option_description *out);

/* Messages of the library name options as tutti_options_set does: "rtol". With `dashes`, from now on, in all threads: "--rtol". */
TUTTI_API void tutti_options_name_with_dashes(bool dashes);

/* ---- what is not text; it is copied unless it says borrowed ---- */

/* How far a run is. */
struct tutti_progress {
    double start, stop, time;
    double step;         /* the last communication step */
    unsigned long steps; /* accepted so far */
    double elapsed;      /* seconds since the loop began, without those in which it paused */
    bool paused;         /* by one who watches the run (the option "live") */
    bool is_study;       /* of a sweep or an estimation: these are no times but numbers of runs */
};

/* A variable that is recorded. */
struct tutti_recorded {
    const char *name;               /* as in the header of a result: "unit.var" */
    const char *unit, *description; /* NULL: none */
    const char *type;               /* "Float64", "Boolean", ...: as FMI 3.0 calls them; static */
    bool is_text;                   /* a String or a Binary */
};

/* Functions of a program that see every row that is recorded, as it comes: whatever the units run on, in the process that called. */
struct tutti_watcher {
    void *context;
    /* Once, before the first row: what will be recorded; good during the call. NULL: not wanted. Whatever it returns but 0
     * ends the run with that error; call tutti_extra_fail for its message. */
    enum tutti_err (*columns)(void *context, const struct tutti_recorded *shown, size_t count);
    /* Before every row, for every text in it: that of shown[column], a Binary as pairs of hexadecimal digits; good during the call.
     * NULL: not wanted. Likewise, as the next one. */
    enum tutti_err (*text)(void *context, size_t column, const char *text);
    /* values[i] is that of shown[i], numbers of all types as doubles; NaN for texts. */
    enum tutti_err (*row)(void *context, double t, const double *values);
};

/* NULL: as if it had never been set. */
TUTTI_API void tutti_options_set_watcher(struct tutti_run_options *options, const struct tutti_watcher *watcher);
/* Where messages go; NULL: nowhere. */
TUTTI_API void tutti_options_set_log(struct tutti_run_options *options, const struct tutti_log *log);
/* Called now and then, some ten times a second at most. */
TUTTI_API void tutti_options_set_progress(struct tutti_run_options *options,
                                          void (*progress)(void *context, const struct tutti_progress *progress),
                                          void *context);
/* Called at most once, by the thread that called, when the result is closed and everything is counted, but before the FMUs of this
 * process are freed, which may crash: time to tell how it went. `err` is what will be returned, tutti_err_message says why. Not
 * called for units that run elsewhere (threads, processes, nodes, mpi), nor if a run did not begin. */
TUTTI_API void tutti_options_set_finished(struct tutti_run_options *options,
                                          void (*finished)(void *context, enum tutti_err err,
                                                           const struct tutti_run_stats *stats),
                                          void *context);
/* A file that a run reads. */
struct tutti_used_file {
    const char *role; /* "system", "fmu", "input", "state", or "resource": what a system refers to besides FMUs */
    const char *name; /* as messages show it: "car.ssp/resources/wheel.fmu" */
    const char *path; /* where it lies as long as the run lasts; a folder, if it is one */
};
/* Called for every file that a run reads, by the thread that called, once all are known and before units are made. Not called
 * if the system cannot be loaded. What it is told is good during the call. */
TUTTI_API void tutti_options_set_used(struct tutti_run_options *options,
                                      void (*used)(void *context, const struct tutti_used_file *file), void *context);
/* What a run on nodes is known by in their logs: random, and of one run only. NULL: one is made for each run. */
enum { TUTTI_RUN_ID_SIZE = 16 };
TUTTI_API void tutti_options_set_run_id(struct tutti_run_options *options, const unsigned char id[TUTTI_RUN_ID_SIZE]);
/* The run ends at the next communication point once this is not 0 (a signal handler may set it). Borrowed. */
TUTTI_API void tutti_options_set_interrupt(struct tutti_run_options *options, const volatile sig_atomic_t *interrupt);
/* Equations to integrate with those of a Model Exchange FMU; see <tutti/extra.h>. Borrowed. */
TUTTI_API void tutti_options_set_extra(struct tutti_run_options *options, const struct tutti_extra *extra);

#ifdef __cplusplus
}
#endif
#endif
