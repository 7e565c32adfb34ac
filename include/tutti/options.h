/* SPDX-License-Identifier: MIT */
/* options.h - how to run: a set of options, each set by its name, as on the command line without its dashes.
 *
 *     struct tutti_run_options *options;
 *     if (tutti_options_make(&options) || tutti_options_set(options, "file", "car.ssp") ||
 *         tutti_options_set(options, "rtol", "1e-6") || tutti_options_set(options, "output", "car.csv"))
 *         puts(tutti_err_message());
 *
 * docs/options.md lists the options; tutti_options_describe returns the list to programs. */
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

/* Creates a set in which no option is given. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_make(struct tutti_run_options **out);
/* NULL is allowed. Must not be called while a run or a simulation uses the set. */
TUTTI_API void tutti_options_free(struct tutti_run_options *options);

/* Sets an option; `value` is copied. Options that name files, connections, values and the like ("file", "connect",
 * "set", "input", "record", "place", "step" with a component) add to their earlier values; all others replace it. A
 * flag is "true" or "false". A NULL value removes the option. ARGUMENT for an unknown name or a wrong value; the
 * message says what is expected. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_set(struct tutti_run_options *options, const char *name,
                                                         const char *value);

/* Sets an option to a number; otherwise as tutti_options_set. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_options_set_number(struct tutti_run_options *options, const char *name,
                                                                double value);

/* A keyword that an option accepts. */
struct tutti_option_word {
    const char *name, *text; /* text: its meaning; may be NULL */
};

struct tutti_option_description {
    const char *name;
    const char *argument; /* placeholder of the argument, "T"; NULL for a flag */
    const char *help;     /* ends with the default in brackets */
    /* the keywords that it accepts, the default first; ended by a NULL name; NULL: any text */
    const struct tutti_option_word *words;
    bool repeatable; /* setting it again adds a value */
};

/* Describes the option `number`, counted from 0; false if there are fewer options. Texts are static. */
TUTTI_API bool tutti_options_describe(size_t number, struct tutti_option_description *out);

/* Selects how messages of the library name options: as tutti_options_set does, "rtol", or, with `dashes`, "--rtol".
 * Takes effect at once in all threads. */
TUTTI_API void tutti_options_name_with_dashes(bool dashes);

/* ---- options that are not text; they are copied unless stated as borrowed ---- */

/* The progress of a run. */
struct tutti_progress {
    double start, stop, time;
    double step;         /* the last communication step */
    unsigned long steps; /* accepted so far */
    double elapsed;      /* seconds since the loop began, excluding pauses */
    bool paused;         /* by a client that watches the run (the option "live") */
    bool is_study;       /* a sweep or an estimation: the fields are numbers of runs instead of times */
};

/* A variable that is recorded. */
struct tutti_recorded {
    const char *name;               /* as in the header of a result: "component.var" */
    const char *unit, *description; /* NULL: none */
    const char *type;               /* "Float64", "Boolean", ...: as FMI 3.0 calls them; static */
    bool is_text;                   /* a String or a Binary */
};

/* Functions of a program that receive every recorded row as it is made. They are called in the process that started the
 * run, wherever the components run. */
struct tutti_watcher {
    void *context;
    /* Called once, before the first row, with the recorded variables, which are valid during the call. NULL: not
     * called. A return value other than 0 ends the run with that error; call tutti_extra_fail to set its message. */
    enum tutti_err (*columns)(void *context, const struct tutti_recorded *shown, size_t count);
    /* Called before every row for every text in it, that of shown[column]; a Binary has pairs of hexadecimal digits.
     * `text` is valid during the call. NULL: not called. The return value is as for `columns`. */
    enum tutti_err (*text)(void *context, size_t column, const char *text);
    /* values[i] belongs to shown[i]; numbers of all types are doubles, texts are NaN. The return value is as for
     * `columns`. */
    enum tutti_err (*row)(void *context, double t, const double *values);
};

/* Sets the watcher; it is copied, its context is borrowed. NULL removes it. */
TUTTI_API void tutti_options_set_watcher(struct tutti_run_options *options, const struct tutti_watcher *watcher);
/* Sets the sink of messages; NULL: messages are dropped. */
TUTTI_API void tutti_options_set_log(struct tutti_run_options *options, const struct tutti_log *log);
/* Sets a function that is called at most about ten times a second. */
TUTTI_API void tutti_options_set_progress(struct tutti_run_options *options,
                                          void (*progress)(void *context, const struct tutti_progress *progress),
                                          void *context);
/* Sets a function that is called at most once, by the calling thread, when the result is closed and all statistics are
 * final, but before the FMUs of this process are freed, which may crash. It can report the outcome: `err` is what will
 * be returned, tutti_err_message gives the reason. It is not called if components run elsewhere (threads, processes,
 * nodes, mpi), or if the run did not begin. */
TUTTI_API void tutti_options_set_finished(struct tutti_run_options *options,
                                          void (*finished)(void *context, enum tutti_err err,
                                                           const struct tutti_run_stats *stats),
                                          void *context);
/* A file that a run reads. */
struct tutti_used_file {
    /* "system", "fmu", "input", "state", or "resource": a file other than an FMU that a system refers to */
    const char *role;
    const char *name; /* as messages show it: "car.ssp/resources/wheel.fmu" */
    const char *path; /* its location, valid during the run; may be a folder */
};
/* Sets a function that is called for every file that a run reads, by the calling thread, once all files are known and
 * before components are created. It is not called if the system cannot be loaded. Its argument is valid during the
 * call. */
TUTTI_API void tutti_options_set_used(struct tutti_run_options *options,
                                      void (*used)(void *context, const struct tutti_used_file *file), void *context);
/* Sets the random identifier of one run, which nodes write to their logs. NULL: each run makes an identifier. */
enum { TUTTI_RUN_ID_SIZE = 16 };
TUTTI_API void tutti_options_set_run_id(struct tutti_run_options *options, const unsigned char id[TUTTI_RUN_ID_SIZE]);
/* Sets a flag that ends the run at the next communication point once it is not 0; a signal handler may set it.
 * Borrowed. */
TUTTI_API void tutti_options_set_interrupt(struct tutti_run_options *options, const volatile sig_atomic_t *interrupt);
/* Sets equations that are integrated with those of a Model Exchange FMU; see <tutti/extra.h>. Borrowed. */
TUTTI_API void tutti_options_set_extra(struct tutti_run_options *options, const struct tutti_extra *extra);

#ifdef __cplusplus
}
#endif
#endif
