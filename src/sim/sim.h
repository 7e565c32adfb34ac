/* SPDX-License-Identifier: MIT */
/* sim.h - the four choices that make a master (coupling, control, extrapolation, events), and what they need from step to
 * step. */
#ifndef TT_SIM_SIM_H
#define TT_SIM_SIM_H

#include "sim/control/norm.h"
#include "sim/step_size.h"
#include "sim/coupled_inputs.h"
#include "sim/detector.h"
#include "sim/extrapolation.h"
#include "sim/fast.h"
#include "sim/coupling/tlm.h"
#include "sim/component.h"
#include "sim/outputs.h"
#include "sim/refresh.h"
#include "model/plan/step_order.h"
#include "sim/method.h"
#include "sim/snapshot.h"
#include "sim/traits.h"

struct tt_coupling;
struct tt_control;
struct tt_correction;
struct tt_record;
struct tt_reporter;
struct tt_step_log;
struct tt_step_counts;
struct tt_twin;

/* Knowledge from previous steps about the errors of the next ones, if these are bounded per unit of time. */
struct tt_error_model {
    double noise; /* so much of a difference, in tolerances, does not fall with the step; 0: none is known */
    double noise_h, noise_seen; /* a step that was not good, and what was seen there, to compare with; 0: none */
    double gauge;               /* an error as a part of what predictions say of it */
    unsigned least;             /* steps that could not be shorter, and were not good */
    unsigned gauge_due;         /* which is measured again after this number of steps */
    double announced, bent_at;  /* a point that a step ends at because a table bends there, or the like: next, last */
};

/* An event that a macro step meets. */
enum tt_event_kind { TUTTI_EVENT_NONE, TUTTI_EVENT_AT_START, TUTTI_EVENT_ON_THE_WAY, TUTTI_EVENT_LOCATED };

struct tt_step_event {
    enum tt_event_kind kind;
    uint32_t component; /* whose event it is */
    double at;
};

/* A master's memory from step to step, of a size that does not depend on the system: plain data. */
struct tt_step_history {
    struct tt_step_size stepper;
    struct tt_error_model learned;
    struct tt_step_event pending;  /* on the way: a component returned with it; handled at the end of the step to it */
    struct tt_step_event passed;   /* the last of these that was handled */
    struct tt_step_event located;  /* its far side: the step to it crosses the event */
    struct tt_step_event at_start; /* the last one handled at the start of a macro step */
    unsigned long steps;           /* macro steps that were begun, but for those that the lane makes at once */
    unsigned long located_in;      /* the last of them that led across a located event; 0: none has */
    unsigned long comeback;        /* the last of them whose start a unit did not leave */
    unsigned at_once;              /* macro steps in a row that ended at an event next to their start */
    unsigned long forced_balance;  /* steps that were not good, against those that were */
    bool event;                    /* the last macro step ended at an event: with a row */
};

/* Outputs that a control compares, as vectors of `outputs`. Values of an attempt are valid until the next one. */
struct tt_step_comparison {
    double *whole;      /* at the end of a step in one piece */
    double *halves;     /* at the end of the same step in two halves */
    double *middle;     /* between these */
    double *difference; /* of two of them, or of one and what was foretold */
    void *remembered;   /* master->remembered at the start of both ways; NULL: neither changes it */
};

/* Whether steps are bounded by the stability of the coupling: observations of accepted and slightly longer steps. */
struct tt_stiffness {
    double h, error;              /* of the last accepted step */
    bool blown;                   /* since then a step was rejected whose error was far more than its size explains */
    unsigned long accepted, back; /* steps; those that had nearly the size of the one before again, after such a one */
    bool told;
};

struct tt_sim {
    struct tt_rank *rank;
    struct tt_record *observer;   /* records rows */
    struct tt_reporter *reporter; /* to a conductor, if one listens (rank->reports); these are borrowed */
    struct tt_traits traits;      /* what `chosen` was chosen from */
    struct tt_method chosen;
    struct tt_step_history memory;
    /* All that counts for the steps that follow, besides units and signals: `memory`, what the parts below have of it, and what a
     * coupling or a control adds when it is opened. Who goes back to a point brings all of it back. */
    struct tt_rollback_list remembered;
    /* Numbers that options give. */
    double event_tolerance, divergence;
    const double *quanta; /* per output: how far it may move; NULL: the control does not ask */
    unsigned most_iterations;
    /* How units step, and what they see of each other. */
    void *coupling;                      /* the coupling's own state */
    struct tt_structure running;         /* dependencies of the running phase */
    struct tt_step_sequence sequence;    /* of couplings that step unit by unit */
    const uint32_t *positions;           /* per component: its place in it; NULL: units step in their own order */
    struct tt_step_rules rules;          /* of all steps, except those across a located event */
    struct tt_step_rules crossing_rules; /* of these: components cross their events alone */
    struct tt_finite finite;
    struct tt_stiffness stiffness;
    struct tt_fast_path lane; /* where the coupling alone makes macro steps */
    uint32_t *
        lane_first; /* per wave of the sequence, and one more: its first unit there; NULL: units step in their own order */
    struct tt_extrapolation extrapolation;
    struct tt_coupled_inputs staging;
    struct tt_correction *correction; /* NULL: none */
    struct tt_tlm *tlm;               /* NULL: none */
    bool exchange_deferred;           /* the signals of the last step were not sent yet */
    /* How steps are judged. */
    struct tt_outputs outputs;
    struct tt_norm norm;
    struct tt_step_comparison compared;
    bool *held; /* per output: a unit reads it that holds it in a step; NULL: none does (sim/control/control.c) */
    struct tt_detector detector;
    struct tt_snapshot start;            /* of the macro step */
    struct tt_refresh renewal;           /* of what rows show */
    struct tt_twin *twin;                /* makes steps in one piece; NULL: this rank does */
    struct tt_step_log *log;             /* NULL: none */
    struct tt_step_counts *made;         /* for viewers; NULL: none */
    unsigned long not_converged, forced; /* counted */
};

#endif
