/* SPDX-License-Identifier: MIT */
/* norm.h - how large an error is: a difference of outputs weighed by the tolerances, and, where these hold for the whole run, by
 * the part of it that a step may take. */
#ifndef TT_SIM_CONTROL_NORM_H
#define TT_SIM_CONTROL_NORM_H

#include "sim/control/scale.h"
#include "sim/extrapolation.h"
#include "sim/outputs.h"

/* Which outputs count (outputs.h). */
enum tt_weighed {
    TUTTI_WEIGH_SMOOTH,    /* the continuous ones */
    TUTTI_WEIGH_ALL,       /* these, and discrete ones that units read */
    TUTTI_WEIGH_CONNECTED, /* those that units read, continuous or discrete */
};

struct tt_norm {
    const struct tt_outputs *outputs;             /* these two are borrowed */
    const struct tt_extrapolation *extrapolation; /* tells how long ago signals began, or jumped */
    double rtol, atol;                            /* of error control and iteration */
    bool by_size;    /* no --atol is given: that of signals without a declared nominal value follows their size */
    bool knows_all;  /* every rank has the values of all reals (wires.reals) */
    bool *declared;  /* per output: its FMU declares a nominal value */
    double *nominal; /* ... its nominal value, */
    double *seen;    /* ... and its largest size at accepted points; with knows_all of all reals, else of own ones */
    double largest;  /* of all of them, on all ranks; 0: nothing is known yet */
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

/* What counts for the steps that follow. */
TUTTI_CHECKED enum tutti_err tt_norm_register(struct tt_norm *norm, struct tt_rollback_list *remembered);

/* Where all inputs move in a step: makes the error of the run proportional to rtol (an aim of Soederlind 2006; the exponent was measured). Else runs at loose
 * tolerances, which make few and long steps, are better than asked for, since predictions over such steps overestimate the
 * error. So steps are held to a tolerance that goes with a power of rtol a little above 1. After tt_norm_open. */
void tt_norm_calibrate(struct tt_norm *norm);

/* How much of the run's tolerance a step may take: as much as it is of the run. After the start and after events, where steps
 * have to be short because little is known, a fixed part; as long as the errors of these points are seen in predictions. */
double tt_norm_step_share(const struct tt_norm *norm, double h);

/* The weighted norm of a difference of outputs after a step of size h, and the output with the largest share (TUTTI_NONE:
 * none): its root mean square (Nicolai 2019 eq. 5, with the mean inside of the root); or, per unit of time, the largest
 * one. `now` says how large outputs are. The same bits wherever units are. Collective. */
TUTTI_CHECKED enum tutti_err tt_norm_compute(const struct tt_norm *norm, const double *difference, const double *now,
                                             double h, enum tt_weighed weighed, double *value, uint32_t *driver);

/* After the last step: the estimated error of the run, into the rank's statistics. Collective. */
TUTTI_CHECKED enum tutti_err tt_norm_estimate_run(const struct tt_norm *norm);

#endif
