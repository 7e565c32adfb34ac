/* SPDX-License-Identifier: MIT */
/* linearize.h - an FMU, or a system of FMUs, as a linear system, at a time of a run:
 *
 *     x' = dx0 + A (x - x0) + B (u - u0)
 *     y  =  y0 + C (x - x0) + D (u - u0)
 *
 * x are its states, u its continuous Float64 inputs, y its continuous Float64 outputs; elements of arrays one by
 * one. Of a system: the states and outputs of all units, and the inputs that no connection reaches, named "unit.variable". */
#ifndef TUTTI_LINEARIZE_H
#define TUTTI_LINEARIZE_H

#include <tutti/extra.h>
#include <tutti/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the eigenvalues of A say about small deviations from the point. */
enum tutti_stability {
    TUTTI_STABILITY_UNKNOWN, /* no states, or no eigenvalues */
    TUTTI_STABLE,            /* asymptotically: all real parts are negative */
    TUTTI_MARGINAL,          /* none is positive, but some are 0, or too near to tell */
    TUTTI_UNSTABLE,          /* at least one is positive */
};

struct tutti_linearization {
    double time;
    const char *fmi; /* "2.0"; "several" of a system with more than one; static */
    size_t state_count, input_count, output_count;
    char **state_names, **input_names, **output_names;
    double *states, *derivatives, *inputs, *outputs; /* x0, dx0, u0, y0 */
    struct tutti_matrix a, b, c, d;
    bool exact;           /* by the FMU's directional derivatives; else by differences */
    bool structure_known; /* the FMU says where zeros are; else every place is in the matrices */

    /* Of A: by descending real part; conjugate pairs side by side, the positive imaginary part first. There are none
     * (NULL) for more than some thousand states; the log says so then. */
    size_t eigenvalue_count;
    double *eigenvalues_re, *eigenvalues_im;
    double margin; /* real parts up to this size cannot be told from 0 */
    enum tutti_stability stability;

    /* Units for Co-Simulation: their states cannot be seen and count as constant, and only D is found of them. */
    size_t hidden_count;
    char **hidden_names;
};

/* Runs up to the time that the option "at" gives (the start time, right after the initialisation), linearises after the events there,
 * and ends the run. An FMU that has both interfaces is taken by Model Exchange, if the options leave it open; "output" and "record" have no
 * meaning here. `out` is filled only on success; tutti_linearization_fini releases it. `stats` as in tutti_run. ARGUMENT if the time is not in
 * the run, UNSUPPORTED if there is no way to the matrices of a unit, SOLVER if an algebraic loop between units is singular, FMU if one ends
 * the simulation before that time or an entry of a matrix is not a finite number. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_linearize(const struct tutti_run_options *options,
                                                       struct tutti_run_stats *stats, struct tutti_linearization *out);
TUTTI_API void tutti_linearization_fini(struct tutti_linearization *linearization);

/* "asymptotically stable", "on the margin of stability", "unstable", "unknown". Static. */
TUTTI_API const char *tutti_stability_name(enum tutti_stability stability);

#ifdef __cplusplus
}
#endif
#endif
