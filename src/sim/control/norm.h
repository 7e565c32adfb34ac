/* SPDX-License-Identifier: MIT */
/* norm.h - how large an error is: a difference of outputs weighed by the tolerances, and, where these hold for the whole run, by
 * the part of it that a step may take. */
#ifndef TT_SIM_CONTROL_NORM_H
#define TT_SIM_CONTROL_NORM_H

#include "base/rollback_list.h"
#include "sim/extrapolation.h"
#include "sim/outputs.h"

/* The sizes of outputs in this run, and their permitted errors.
 *
 * Errors count as a part of the range that an output has moved over so far. (In the first hundredth of the run the
 * range is small, so it is extrapolated at the present speed; likewise for an output that begins to move later.) A
 * signal that hardly moves is measured by a hundredth of its size: 300 K are not computed to a part of 1 mK.
 *
 * Errors of accepted steps are summed per output, as an estimate for the whole run if errors neither decay nor grow.
 * Only own units are stored. */

struct tt_scale {
    const struct tt_outputs *outputs; /* the outputs it belongs to; borrowed */
    double *low, *high;               /* of outputs at accepted points; infinite before the first */
    double *step;                     /* errors of the attempt that is being judged */
    double *sum;                      /* sums over all accepted steps; for direct outputs the maximum */
    /* it has feed-through, and so has the errors of its inputs at a point, but does not accumulate errors; accumulated
     * errors of its unit's states show in other outputs */
    bool *direct;
};

TUTTI_CHECKED enum tutti_err tt_norm_open_scale(struct tt_scale *scale, const struct tt_outputs *outputs);
/* Registers the memory of accepted steps; nothing if it was not opened. */
TUTTI_CHECKED enum tutti_err tt_norm_register_scale(struct tt_scale *scale, struct tt_rollback_list *remembered);
/* Outputs at an accepted point. */
void tt_norm_update_scale(struct tt_scale *scale, const double *values);
/* Returns true while ranges are still too small to be meaningful. */
bool tt_norm_scale_is_early(const struct tt_scale *scale);
/* That of one output, if a step of size h led to `now`, which it moved it by `move`. */
double tt_norm_output_scale(const struct tt_scale *scale, uint32_t output, double now, double move, double h);
/* The step with the errors `step` is accepted. */
void tt_norm_accept_scale(struct tt_scale *scale);

/* Which outputs count (outputs.h). */
enum tt_weighed {
    TUTTI_WEIGH_SMOOTH,    /* the continuous ones */
    TUTTI_WEIGH_ALL,       /* these, and discrete ones that units read */
    TUTTI_WEIGH_CONNECTED, /* those that units read, continuous or discrete */
};

struct tt_norm {
    const struct tt_outputs *outputs;             /* these two are borrowed */
    const struct tt_extrapolation *extrapolation; /* has the time since signals began, or jumped */
    double rtol, atol;                            /* of error control and iteration */
    bool by_size;        /* no --atol is given: that of signals without a declared nominal value follows their size */
    bool knows_all;      /* every rank has the values of all reals (wires.reals) */
    bool *declared;      /* per output: its FMU declares a nominal value */
    double *nominal;     /* its nominal value */
    double *seen;        /* its largest size at accepted points; with knows_all of all reals, otherwise of own ones */
    double largest;      /* of all of them, on all ranks; 0: nothing is known yet */
    unsigned long begun; /* macro steps */
    bool
        per_time; /* errors are bounded per unit of time, on the scale that signals have in this run, as long as that can be
                      done */
    double calibration;    /* then: the tolerance that steps are held to, as a multiple of rtol and atol */
    struct tt_scale scale; /* then: that one */
    double *before;        /* outputs at the start of the macro step */
    double *partial;       /* per component, of a sum over outputs: sum, largest, which */
};

/* Room in the rank's arena; tolerances are set before. */
TUTTI_CHECKED enum tutti_err tt_norm_open(struct tt_norm *norm, const struct tt_outputs *outputs,
                                          const struct tt_extrapolation *extrapolation);

/* At the start of a macro step, with the outputs there in norm->before. Collective. */
TUTTI_CHECKED enum tutti_err tt_norm_begin_step(struct tt_norm *norm);

/* The absolute part of an output's tolerance, where its size is `size` now. Without a declared nominal value it is at most
 * rtol times that size: a signal of 1e-6 must not count as noise. Beside larger signals it is measured by
 * a ten-thousandth of the largest one. */
double tt_norm_absolute_tolerance(const struct tt_norm *norm, uint32_t output, double size);

/* Registers the state that later steps depend on. */
TUTTI_CHECKED enum tutti_err tt_norm_register(struct tt_norm *norm, struct tt_rollback_list *remembered);

/* If all inputs move in a step: makes the error of the run proportional to rtol (an aim of Soederlind 2006; the
 * exponent was measured). Otherwise runs at loose tolerances, with few and long steps, are too accurate, since
 * predictions over such steps overestimate the error. So the tolerance of steps is a power of rtol slightly above 1.
 * After tt_norm_open. */
void tt_norm_calibrate(struct tt_norm *norm);

/* How much of the run's tolerance a step may take: as much as it is of the run. After the start and after events, where steps
 * have to be short because little is known, a fixed part; as long as the errors of these points are seen in predictions. */
double tt_norm_step_share(const struct tt_norm *norm, double h);

/* Computes the weighted norm of a difference of outputs after a step of size h, and the output with the largest share
 * (TUTTI_NONE: none): the root mean square (Nicolai 2019 eq. 5, with the mean inside the root); or, per unit of time,
 * the maximum. `now` has the present sizes of outputs. Equal bits for any placement of units. Collective. */
TUTTI_CHECKED enum tutti_err tt_norm_compute(const struct tt_norm *norm, const double *difference, const double *now,
                                             double h, enum tt_weighed weighed, double *value, uint32_t *driver);

/* After the last step: the estimated error of the run, into the rank's statistics. Collective. */
TUTTI_CHECKED enum tutti_err tt_norm_estimate_run(const struct tt_norm *norm);

#endif
