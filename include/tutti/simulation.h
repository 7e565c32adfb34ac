/* SPDX-License-Identifier: MIT */
/* simulation.h - a simulation that a program controls: step by step, with access to all values between steps, and with
 * saved points.
 *
 *     struct tutti_run_options *options;
 *     struct tutti_simulation *s;
 *     size_t z;
 *     if (tutti_options_make(&options) || tutti_options_set(options, "file", "car.ssp") ||
 *         tutti_simulation_open(&s, options) || tutti_simulation_set(s, "road.height=0.05") ||
 *         tutti_simulation_find(s, "body.z", &z) || tutti_simulation_start(s))
 *         puts(tutti_err_message());
 *
 * A simulation is used by one thread at a time; any number of simulations may exist. It runs in the calling thread:
 * options for other ranks (threads, processes, nodes, mpi) are rejected. tutti_run runs from start to stop in one call;
 * a simulation supports all its features (formats, solvers, masters, input files, recording, watchers).
 *
 * The calls of a simulation, in order: open, [find, set], start, [step, advance, find, get, put, set, save, restore],
 * finish, free; reset returns to the state after open. A call out of order fails with STATE. After start, step, advance
 * or restore has failed midway (an FMU, a solver, a watcher), only get, finish, reset and free are allowed. ARGUMENT
 * and INTERRUPTED (tutti_options_set_interrupt) do not end the simulation: it can continue. */
#ifndef TUTTI_SIMULATION_H
#define TUTTI_SIMULATION_H

#include <tutti/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_simulation;

/* Loads and checks the files that the options name, without running code of an FMU. `options` is borrowed until free.
 * *out is set on success only. ARGUMENT, IO, FORMAT, UNSUPPORTED, ... as tutti_run. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_open(struct tutti_simulation **out,
                                                             const struct tutti_run_options *options);
/* Releases the simulation in any state; NULL is allowed. A result that is not finished is closed with its rows so far. */
TUTTI_API void tutti_simulation_free(struct tutti_simulation *simulation);

/* ---- variables ---- */

/* The description of a variable. Texts belong to the simulation and are valid until finish or free. */
struct tutti_variable {
    const char *name;               /* "component.var"; "var" for a single FMU */
    const char *unit, *description; /* NULL: none */
    const char *type;               /* "Float64", "Boolean", ...: as FMI 3.0 calls them */
    const char *causality;          /* "input", "output", "parameter", "local", ... */
    const char *variability;        /* "continuous", "discrete", "fixed", ... */
    /* start value in the FMU, of an array the first; NaN if it has none or is not a number */
    double start;
    double minimum, maximum; /* -INFINITY, INFINITY: none */
    double nominal;          /* its nominal value; 1 if it has none */
    bool is_text;            /* String or Binary; read by tutti_simulation_get_text */
    size_t count;            /* number of values: 1, or the elements of an array; 0 for arrays before start */
};

/* The number of variables of all components; they are numbered from 0. */
TUTTI_API size_t tutti_simulation_variable_count(const struct tutti_simulation *simulation);
/* Finds the number of a variable, of an alias, or of an array element ("component.x[2,3]") by its name. The number
 * remains valid for the life of the simulation. ARGUMENT, with the nearest name. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_find(struct tutti_simulation *simulation, const char *name,
                                                             size_t *variable);
/* Describes a variable. ARGUMENT if the number does not exist. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_describe(struct tutti_simulation *simulation, size_t variable,
                                                                 struct tutti_variable *out);

/* Sets "COMPONENT.VAR=VALUE", as --set does: before start a parameter or a start value; afterwards an undriven input or
 * a tunable parameter, as tutti_simulation_put. ARGUMENT, with what is expected. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_set(struct tutti_simulation *simulation, const char *text);

/* ---- time ---- */

/* Creates the components, initialises them, records the first row. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_start(struct tutti_simulation *simulation);
/* Returns the current time; the start time before start. */
TUTTI_API double tutti_simulation_time(const struct tutti_simulation *simulation);
/* Returns the stop time. An FMU may end the simulation earlier. */
TUTTI_API double tutti_simulation_stop(const struct tutti_simulation *simulation);
/* Returns true if the stop time is reached, an FMU has ended the run, the simulation has failed, or finish was called.
 * Steps then have no effect. */
TUTTI_API bool tutti_simulation_is_over(const struct tutti_simulation *simulation);
/* Makes one macro step, whose size the master chooses. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation);
/* Makes macro steps until the time is exactly t; none if it is. Times that differ only by rounding errors, such as n *
 * 0.1 and a grid point or an event of an FMU, count as equal. ARGUMENT if t is before the current time, after the stop
 * time, or not reachable because an FMU cannot vary its step. May end earlier if an FMU ends the run: see
 * tutti_simulation_time. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t);

/* ---- values, between steps ---- */

/* Reads the values of a variable; `count` must be its count. Numbers of all types are doubles. Every call reads from
 * the FMU: to obtain many values at every point, use a watcher (tutti_options_set_watcher). ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get(struct tutti_simulation *simulation, size_t variable,
                                                            double *values, size_t count);
/* Reads many variables in one call; each must have one value. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get_many(struct tutti_simulation *simulation,
                                                                 const size_t *variables, size_t count, double *values);
/* Reads the first value of a String, or of a Binary as pairs of hexadecimal digits. Valid until the next call for this
 * variable. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_get_text(struct tutti_simulation *simulation, size_t variable,
                                                                 const char **text);
/* Sets an input that is neither connected nor driven by a file, or a tunable parameter, from now on. The value reaches
 * the component when the next step begins, and get returns it from then on. With event mode it is set as an event, so
 * that rows before and after it are recorded. A component with separate step sizes receives the value at the beginning
 * of its next step. ARGUMENT for any other variable, and for a value that is out of bounds or not of the variable's
 * type (1.5 for an integer). */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_put(struct tutti_simulation *simulation, size_t variable,
                                                            const double *values, size_t count);

TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_put_many(struct tutti_simulation *simulation,
                                                                 const size_t *variables, size_t count,
                                                                 const double *values);

/* ---- saved points ---- */

/* A saved point of a simulation. */
struct tutti_point;

/* Saves the current point: components, signals, values that were put and not yet set, all memory of the master. *point
 * is created if it is NULL, otherwise reused. UNSUPPORTED, naming the component, if one cannot be restored. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation,
                                                             struct tutti_point **point);
/* Restores a point of this simulation, any number of times, even after the stop time was reached or an FMU had ended
 * the run. The continuation is identical to the bit; only SUNDIALS' solvers for Model Exchange (cvode, adams, dopri5,
 * dopri8, dirk) restart there, always in an equal way. Statistics keep counting; later rows of a recording
 * (<tutti/recording.h>) are removed. ARGUMENT for a point of a different simulation, or of a run before a reset.
 * UNSUPPORTED while a result file or a step log is written, since times would run backwards; a watcher can handle this.
 * UNSUPPORTED also for a Model Exchange FMU without saved states that has crossed an event since; the simulation then
 * has failed. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation,
                                                                const struct tutti_point *point);
/* Saves the current point to a file, or resumes at it: a different process can resume with a simulation of equal files
 * and options. The file is a checkpoint, as `tutti run` writes it. It appears complete or not at all; the earlier file
 * is kept as "PATH.previous", which is read if PATH is damaged. SUNDIALS' solvers restart, both in the saving and in
 * the resuming simulation. Values that were put and not yet set are saved. UNSUPPORTED, naming components whose FMUs
 * cannot serialise their states, and while a result file or a step log is written (restore); ARGUMENT for a file of a
 * different simulation, FORMAT, IO. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation,
                                                                  const char *path);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation,
                                                                     const char *path);
/* NULL is allowed. finish and free release all points that remain. */
TUTTI_API void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point);

/* ---- repeated runs ---- */

/* Returns to the state after tutti_simulation_open, for a run with different values: values that were set are
 * forgotten, numbers of variables remain valid. Allowed at any time, also after finish and after a failure. An FMU that
 * reported Fatal cannot be used again; start then fails.
 *
 * Files, descriptions and libraries stay loaded. An FMU is reset if a reset makes it equal to a new instance, which is
 * tested once by a few steps that do not appear in results or logs; otherwise it is instantiated again, as are all FMUs
 * in a system with program components (<tutti/program.h>). The run that follows is identical to the bit to that of a
 * new simulation.
 *
 * Points are released, as by finish. A result file is closed, and the next start overwrites it; a recording or watcher
 * in the options may be replaced. Returns the error of closing the file; the reset happens in any case. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_reset(struct tutti_simulation *simulation);

/* ---- the end ---- */

/* Terminates the components and closes the result. `stats` receives the statistics; it may be NULL and must not belong
 * to a different run. After a failed step it only fills `stats` and returns no error except that of closing the result. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation,
                                                               struct tutti_run_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
