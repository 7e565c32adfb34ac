/* SPDX-License-Identifier: MIT */
/* simulation.h - a simulation in the hands of a program: step by step, with a look at everything between steps, and ways back.
 *
 *     struct tutti_run_options *options;
 *     struct tutti_simulation *s;
 *     size_t z;
 *     if (tutti_options_make(&options) || tutti_options_set(options, "file", "car.ssp") ||
 *         tutti_simulation_open(&s, options) || tutti_simulation_set(s, "road.height=0.05") ||
 *         tutti_simulation_find(s, "body.z", &z) || tutti_simulation_start(s))
 *         puts(tutti_err_message());
 *
 * A simulation belongs to one thread at a time; any number of them may live side by side. It runs in the thread that calls:
 * options for other ranks (threads, processes, nodes, mpi) are refused. To run from start to stop in one go there is tutti_run;
 * whatever it can do (formats, solvers, masters, input files, recording, watchers) a simulation can, too.
 *
 * The life of a simulation: open, [find, set], start, [step, advance, find, get, put, set, save, restore], finish, free; reset leads
 * back to the beginning. Calls out of that order are refused with STATE. So are all but get, finish, reset and free once start, step, advance or restore have failed
 * on the way (an FMU, a solver, a watcher). What is refused as a wrong ARGUMENT, and INTERRUPTED (tutti_options_set_interrupt), end
 * nothing: it can go on. */
#ifndef TUTTI_SIMULATION_H
#define TUTTI_SIMULATION_H

#include <tutti/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_simulation;

/* Loads the files that the options name and checks them; no code of an FMU runs yet. `options` is borrowed until free. *out is set on success only. ARGUMENT, IO, FORMAT, UNSUPPORTED, ... as tutti_run. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_open(struct tutti_simulation **out,
                                                             const struct tutti_run_options *options);
/* Releases everything, however far it came; NULL is fine. A result that is not finished is closed with what is in it. */
TUTTI_API void tutti_simulation_free(struct tutti_simulation *simulation);

/* ---- variables ---- */

/* What is known of a variable. Texts are the simulation's, and good until finish or free. */
struct tutti_variable {
    const char *name;               /* "unit.var"; "var" for a single FMU */
    const char *unit, *description; /* NULL: none */
    const char *type;               /* "Float64", "Boolean", ...: as FMI 3.0 calls them */
    const char *causality;          /* "input", "output", "parameter", "local", ... */
    const char *variability;        /* "continuous", "discrete", "fixed", ... */
    double start;                   /* as its FMU has it, the first value of an array; NaN: none, or no number */
    double minimum, maximum;        /* -INFINITY, INFINITY: none */
    double nominal;                 /* its size where it counts; 1: none is given */
    bool is_text;                   /* String or Binary: tutti_simulation_get_text */
    size_t count;                   /* values: 1, or the elements of an array; before start 0 for arrays */
};

/* All variables of all units have numbers from 0 on. */
TUTTI_API size_t tutti_simulation_variable_count(const struct tutti_simulation *simulation);
/* The number of a variable, of an alias of one, or of an element of an array ("unit.x[2,3]"), by its name. It stays the same for
 * the life of the simulation. ARGUMENT, with the nearest name. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_find(struct tutti_simulation *simulation, const char *name,
                                                             size_t *variable);
/* ARGUMENT if there is no such number. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_describe(struct tutti_simulation *simulation, size_t variable,
                                                                 struct tutti_variable *out);

/* "UNIT.VAR=VALUE", as --set: before start a parameter or a start value; afterwards an input that nothing else drives, or a
 * tunable parameter, as tutti_simulation_put. ARGUMENT, with what would be right. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_set(struct tutti_simulation *simulation, const char *text);

/* ---- time ---- */

/* Makes the units, initialises them, records the first row. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_start(struct tutti_simulation *simulation);
/* Where it is; the start time before start. */
TUTTI_API double tutti_simulation_time(const struct tutti_simulation *simulation);
/* Where it ends, unless an FMU ends it before. */
TUTTI_API double tutti_simulation_stop(const struct tutti_simulation *simulation);
/* Is the stop time reached, or has an FMU ended the run? Steps then do nothing. Also after a failure, and after finish. */
TUTTI_API bool tutti_simulation_is_over(const struct tutti_simulation *simulation);
/* One macro step, as long as the master finds good. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation);
/* As many as it takes to get to t, to the bit; nothing if it is there. Times that differ by rounding errors only, as n * 0.1 and
 * the grid of steps or an event of an FMU do, are the same. ARGUMENT if t is before that, or beyond the stop time, or not in the
 * reach of an FMU that cannot vary its step. May come to its end before: tutti_simulation_time. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t);

/* ---- values, between steps ---- */

/* `count` must be that of the variable. Numbers of all types as doubles. Every call reads from the FMU: who wants many values
 * at every point has a watcher (tutti_options_set_watcher). ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get(struct tutti_simulation *simulation, size_t variable,
                                                            double *values, size_t count);
/* Many at once: each of the variables has one value. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get_many(struct tutti_simulation *simulation,
                                                                 const size_t *variables, size_t count, double *values);
/* The first value of a String; of a Binary as pairs of hexadecimal digits. Good until the next call for this variable. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get_text(struct tutti_simulation *simulation, size_t variable,
                                                                 const char **text);
/* From now on: an input that is neither connected nor driven by a file, or a tunable parameter. The unit takes it when the
 * next step begins (which is when get shows it): as an event where it has event mode, so that rows before and after are
 * recorded. A unit with steps of its own takes it when it begins the next of these. ARGUMENT for any other variable, and for a
 * value that is out of its bounds or not of its type (1.5 for an integer). */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_put(struct tutti_simulation *simulation, size_t variable,
                                                            const double *values, size_t count);

TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_put_many(struct tutti_simulation *simulation,
                                                                 const size_t *variables, size_t count,
                                                                 const double *values);

/* ---- ways back ---- */

/* A point of a simulation to go back to. */
struct tutti_point;

/* Keeps the point that the simulation is at: units, signals, what was put and not taken yet, everything that the master
 * remembers. *point is made if it is NULL, else used again. UNSUPPORTED, naming the unit, if one cannot go back. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation,
                                                             struct tutti_point **point);
/* Everything is as it was there, any number of times, to any point of this simulation; also where the stop time was reached, or
 * an FMU had ended the run. What follows is the same to the bit as before; only SUNDIALS' solvers for Model Exchange (cvode,
 * adams, dopri5, dopri8, dirk) begin anew there, always in the same way. Statistics go on counting; rows that a
 * recording (<tutti/recording.h>) has got since then go. ARGUMENT for a point of another simulation, or of a run before a reset. UNSUPPORTED while a result
 * file or a step log is written, whose times would run backwards: a watcher can tell apart what it is shown. UNSUPPORTED, too,
 * for a Model Exchange FMU without saved states that has crossed an event since; the simulation then has failed. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation,
                                                                const struct tutti_point *point);
/* The same point in a file, from which another process goes on, with a simulation of the same files and options; and going on. The
 * file is a checkpoint, as `tutti run` writes them; it appears whole or not at all, and what was there before is kept as
 * "PATH.previous", which is read where PATH is damaged. SUNDIALS' solvers begin anew, here as there. Values that were put and not taken
 * yet are among what is kept. UNSUPPORTED, naming units whose FMUs cannot serialise their states, and while a result file or a
 * step log is written (restore); ARGUMENT for a file of another simulation, FORMAT, IO. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation,
                                                                  const char *path);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation,
                                                                     const char *path);
/* NULL is fine. Points end with their simulation: finish and free release those that are left. */
TUTTI_API void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point);

/* ---- the next one ---- */

/* As tutti_simulation_open left it, for another run with other values: what was set since is forgotten, numbers of variables stay.
 * Allowed at any time, also after finish and after a failure; an FMU that was Fatal cannot be used again, as start then says.
 *
 * Files, descriptions and libraries stay loaded. FMUs are reset where that makes them as good as new, which is tried once by a few
 * steps, without a trace in results and logs; others are instantiated anew, and so are those beside units of the program's own
 * (<tutti/program.h>). The run that follows has the same bits as that of a new simulation.
 *
 * Points end, as with finish. A result file is closed, and the next start writes it anew; the options may get another recording or
 * watcher for it if they had one. The error of closing the file; it is reset all the same. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_reset(struct tutti_simulation *simulation);

/* ---- the end ---- */

/* Ends the units, closes the result. `stats` (may be NULL; of no other run) tells what was done. Also after a failed step,
 * to have the statistics: it then ends nothing and returns no error of its own but that of closing the result. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation,
                                                               struct tutti_run_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
