/* SPDX-License-Identifier: MIT */
/* tell.h - what can be told of FMUs, systems and results: what `tutti info`, `check`, `graph`, `analyze` and `compare` find, as text for
 * programs; and the pictures of `tutti plot`.
 *
 *     char *json = NULL;
 *     if (tutti_tell_info(&json, "car.ssp") == TUTTI_OK)
 *         puts(json);
 *     tutti_tell_free(json);
 *
 * Texts are UTF-8, and JSON unless something else is said: what the command prints with --json (docs/api.md). Keys are added with time; those
 * that are there keep their names and their meaning. A text is set on success only, and the caller's: tutti_tell_free. */
#ifndef TUTTI_TELL_H
#define TUTTI_TELL_H

#include <stddef.h>
#include <tutti/err.h>
#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL is fine. */
TUTTI_API void tutti_tell_free(char *text);

/* ---- before anything runs ---- */

/* An FMU, or a system ("car.ssp", "car.ssp#Variant.ssd"): variables, capabilities, components, connections, default experiment. No code of an
 * FMU runs. IO, FORMAT, LIMIT; ARGUMENT for a system in another tool's format. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_info(char **json, const char *file);

/* How to check. */
enum {
    TUTTI_CHECK_RUN = 1,    /* FMUs are run on trial, too */
    TUTTI_CHECK_STRICT = 2, /* what contradicts FMI is an error also where a run goes on */
};
/* What is wrong with the files that the options name, and with "connect", "set" and the like:
 *     {"errors": 1, "warnings": 0, "findings": [{"severity": "error", "text": "...", "file": "...", "line": 3, "units": ["a"]}]}
 * `text` is about `file`, where there is one, and about the `units` that are named, if any. Every variant of a single .ssp is checked. Files
 * that cannot be read are findings, too. Notes on trials go to the options' log. ARGUMENT: no file is named. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_check(char **json, const struct tutti_run_options *options,
                                                        unsigned how);

/* The units of a system, their connections, what depends on what, algebraic loops. `form` is "json", "dot" (for Graphviz), or "svg": a picture
 * that Graphviz's `dot` draws, which must be installed. `phase` is "initial" or "run". What is wrong with the system goes to the options'
 * log, as errors and warnings, and the rest is told. No code of an FMU runs. ARGUMENT, IO, FORMAT; UNSUPPORTED: there is no `dot`. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_graph(char **text, const struct tutti_run_options *options,
                                                        const char *form, const char *phase);

/* The system is initialised as for a run: order of evaluation, loops, which couplings are stable, for small steps and with that of the options, what `auto` chooses.
 * With `ranks` > 0 also which of so many ranks would get which unit. A system that cannot be started, or run with these options, is told as well ("failure");
 * an error comes back if it cannot be loaded. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_analysis(char **json, const struct tutti_run_options *options,
                                                           int ranks);

/* ---- results ---- */

/* An option of the functions below, by its name on the command line without dashes, as text; a flag is "true" or "false". Some may be given
 * more than once. */
struct tutti_tell_option {
    const char *name, *value;
};

/* Does a result agree with a reference, within tolerances? Both are files of any format that tutti_result_open reads. Options: "rtol", "atol",
 * "ttol", "start", "stop", "variable" (a pattern; any number of them), "strict". "agree" in what is told is the answer, "variables" has the
 * largest difference of each, the worst first. What is odd about the files goes to `log` (may be NULL). IO, FORMAT, ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_comparison(char **json, const char *result, const char *reference,
                                                             const struct tutti_tell_option *options, size_t count,
                                                             const struct tutti_log *log);

/* A picture of one or two results, which gnuplot draws; it must be installed. `form` is "svg", "png" or "pdf". *picture, `*size` bytes, is the
 * caller's (tutti_tell_free). Options: "variable" (patterns with commas between; each makes a panel), "xy" ("X,Y": Y over X), "steps" (a step
 * log), "difference", "start", "stop", "y-log", "title", "size" ("WIDTHxHEIGHT"). What is odd goes to `log` (may be NULL). IO, FORMAT,
 * ARGUMENT; UNSUPPORTED: there is no gnuplot, or it cannot draw this form. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_plot(char **picture, size_t *size, const char *form,
                                                       const char *const *results, size_t result_count,
                                                       const struct tutti_tell_option *options, size_t option_count,
                                                       const struct tutti_log *log);

#ifdef __cplusplus
}
#endif
#endif
