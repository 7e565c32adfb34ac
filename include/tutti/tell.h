/* SPDX-License-Identifier: MIT */
/* tell.h - descriptions of FMUs, systems and results: the findings of `tutti info`, `check`, `graph`, `analyze` and
 * `compare` as text for programs; and the pictures of `tutti plot`.
 *
 *     char *json = NULL;
 *     if (tutti_tell_info(&json, "car.ssp") == TUTTI_OK)
 *         puts(json);
 *     tutti_tell_free(json);
 *
 * Texts are UTF-8, and JSON unless stated otherwise, as the command prints with --json (docs/api.md). Later versions
 * may add keys; existing keys keep their names and meaning. A text is set on success only and belongs to the caller,
 * who releases it by tutti_tell_free. */
#ifndef TUTTI_TELL_H
#define TUTTI_TELL_H

#include <stddef.h>
#include <tutti/err.h>
#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL is allowed. */
TUTTI_API void tutti_tell_free(char *text);

/* ---- files and systems ---- */

/* Describes an FMU or a system ("car.ssp", "car.ssp#Variant.ssd"): variables, capabilities, components, connections,
 * default experiment. No code of an FMU runs. IO, FORMAT, LIMIT; ARGUMENT for a system in another tool's format. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_info(char **json, const char *file);

/* Options of tutti_tell_check. */
enum {
    TUTTI_CHECK_RUN = 1,    /* also runs FMUs on trial */
    TUTTI_CHECK_STRICT = 2, /* violations of FMI are errors even if a run tolerates them */
};
/* Reports faults in the files that the options name, and in "connect", "set" and the like:
 *     {"errors": 1, "warnings": 0, "findings": [{"severity": "error", "text": "...", "file": "...", "line": 3, "units": ["a"]}]}
 * `text` concerns `file` and `units`, where these are given. Every variant of a single .ssp is checked. A file that
 * cannot be read is a finding, too. Notes on trials go to the options' log. ARGUMENT if no file is named. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_check(char **json, const struct tutti_run_options *options,
                                                        unsigned how);

/* Describes the components of a system, their connections and dependencies, and algebraic loops. `form` is "json",
 * "dot" (for Graphviz), or "svg": a picture drawn by Graphviz's `dot`, which must be installed. `phase` is "initial" or
 * "run". Faults of the system go to the options' log as errors and warnings. No code of an FMU runs. ARGUMENT, IO,
 * FORMAT; UNSUPPORTED if `dot` is missing. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_graph(char **text, const struct tutti_run_options *options,
                                                        const char *form, const char *phase);

/* Initialises the system as for a run and reports the order of evaluation, loops, which couplings are stable (for small
 * steps and for the step of the options), and the choices of `auto`. With `ranks` > 0 it also reports the rank of each
 * component on that number of ranks. A system that cannot start or run with these options is reported as "failure"; an
 * error is returned only if it cannot be loaded. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_analysis(char **json, const struct tutti_run_options *options,
                                                           int ranks);

/* ---- results ---- */

/* An option of the functions below, by its name on the command line without dashes; a flag is "true" or "false". Some
 * options may be given more than once. */
struct tutti_tell_option {
    const char *name, *value;
};

/* Compares a result with a reference, within tolerances. Both are files of any format that tutti_result_open reads.
 * Options: "rtol", "atol", "ttol", "start", "stop", "variable" (a pattern; any number of them), "strict". The key
 * "agree" has the verdict, "variables" the largest difference of each, the worst first. Anomalies of the files go to
 * `log` (may be NULL). IO, FORMAT, ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_comparison(char **json, const char *result, const char *reference,
                                                             const struct tutti_tell_option *options, size_t count,
                                                             const struct tutti_log *log);

/* Draws one or two results by gnuplot, which must be installed. `form` is "svg", "png" or "pdf". *picture, `*size`
 * bytes, belongs to the caller (tutti_tell_free). Options: "variable" (patterns separated by commas; each makes a
 * panel), "xy" ("X,Y": Y over X), "steps" (a step log), "difference", "start", "stop", "y-log", "title", "size"
 * ("WIDTHxHEIGHT"). Anomalies go to `log` (may be NULL). IO, FORMAT, ARGUMENT; UNSUPPORTED if gnuplot is missing or
 * cannot draw this form. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_tell_plot(char **picture, size_t *size, const char *form,
                                                       const char *const *results, size_t result_count,
                                                       const struct tutti_tell_option *options, size_t option_count,
                                                       const struct tutti_log *log);

#ifdef __cplusplus
}
#endif
#endif
