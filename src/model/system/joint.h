/* SPDX-License-Identifier: MIT */
/* joint.h - ends of units joined by more than a connection: the master computes the values of their inputs.
 *
 * An end is an input, the force, and an output, the velocity in the direction in which this force acts: the power that
 * goes into the unit is their product. (Of rotations: torque and angular velocity; of circuits: any such pair.) */
#ifndef TT_MODEL_SYSTEM_JOINT_H
#define TT_MODEL_SYSTEM_JOINT_H

#include <stdint.h>

/* One end of a transmission line. */
struct tt_tlm_line_end {
    uint32_t force;    /* a place in system->fed */
    uint32_t velocity; /* a place in system->read */
    double force_factor, velocity_factor;
};

/* A lossless transmission line between two ends (sim/coupling/tlm.h). Both velocities have the same direction. */
struct tt_tlm_line {
    struct tt_tlm_line_end ends[2];
    double delay, impedance;
    const char *text; /* as it was given */
};

/* Default of --relax-time: the approximate number of steps after which violated constraints are met again. */
#define TUTTI_DEFAULT_RELAX_TIME 0.75

/* A constraint between ends, of one or more rows: sum of ratio times velocity is 0; and, if there are positions, so is the sum of
 * ratio times position and the offset. Its force on an end is the sum over the rows of ratio times the row's multiplier. */
struct tt_constraint {
    uint32_t end_count, row_count;
    const uint32_t *forces;     /* per end: a place in system->fed */
    const uint32_t *velocities; /* per end: a place in system->read */
    const uint32_t *positions;  /* indices of positions; NULL: velocities are constrained only */
    const double *ratios;       /* row after row, per end */
    const double *offsets;      /* per row */
    double compliance;          /* 0: it is rigid */
    const char *text;
};

#endif
