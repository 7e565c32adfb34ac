/* SPDX-License-Identifier: MIT */
/* linearize.h - an FMU, or a system of FMUs, as a linear system, at a time of a run:
 *
 *     x' = dx0 + A (x - x0) + B (u - u0)
 *     y  =  y0 + C (x - x0) + D (u - u0)
 *
 * x are its states, u its continuous Float64 inputs, y its continuous Float64 outputs; array elements are listed one by
 * one. A system has the states and outputs of all components, and the inputs without a connection, named
 * "component.variable". */
#ifndef TUTTI_LINEARIZE_H
#define TUTTI_LINEARIZE_H

#include <tutti/extra.h>
#include <tutti/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stability of the point against small deviations, from the eigenvalues of A. */
enum tutti_stability {
    TUTTI_STABILITY_UNKNOWN, /* no states, or no eigenvalues */
    TUTTI_STABLE,            /* asymptotically: all real parts are negative */
    TUTTI_MARGINAL,          /* none is positive, but some are 0 or indistinguishable from 0 */
    TUTTI_UNSTABLE,          /* at least one is positive */
};

struct tutti_linearization {
    double time;
    const char *fmi; /* "2.0"; "several" for a system with more than one version; static */
    size_t state_count, input_count, output_count;
    char **state_names, **input_names, **output_names;
    double *states, *derivatives, *inputs, *outputs; /* x0, dx0, u0, y0 */
    struct tutti_matrix a, b, c, d;
    bool exact;           /* computed by the FMU's directional derivatives; false: by differences */
    bool structure_known; /* the FMU declares its dependencies; false: the matrices are full */

    /* Eigenvalues of A by descending real part; conjugate pairs are adjacent, the positive imaginary part first. NULL
     * if A has more than some thousand states, which is logged. */
    size_t eigenvalue_count;
    double *eigenvalues_re, *eigenvalues_im;
    double margin; /* real parts up to this size are indistinguishable from 0 */
    enum tutti_stability stability;

    /* Number of components run by Co-Simulation: their states are hidden and count as constant; only their D is
     * determined. */
    size_t hidden_count;
    char **hidden_names;
};

/* Runs up to the time that the option "at" gives (default: the start time, right after the initialisation), linearises
 * after the events there, and ends the run. An FMU with both interfaces is run by Model Exchange unless the options
 * select one; "output" and "record" are ignored. `out` is filled only on success; tutti_linearization_fini releases it.
 * `stats` as in tutti_run. ARGUMENT if the time is outside the run; UNSUPPORTED if the matrices of a component cannot
 * be obtained; SOLVER if an algebraic loop between components is singular; FMU if one ends the simulation before that
 * time, or if an entry of a matrix is not finite. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_linearize(const struct tutti_run_options *options,
                                                       struct tutti_run_stats *stats, struct tutti_linearization *out);
TUTTI_API void tutti_linearization_fini(struct tutti_linearization *linearization);

/* "asymptotically stable", "on the margin of stability", "unstable", "unknown". Static. */
TUTTI_API const char *tutti_stability_name(enum tutti_stability stability);

#ifdef __cplusplus
}
#endif
#endif
