/* SPDX-License-Identifier: MIT */
/* master.h - the four choices that make a master (coupling, control, extrapolation, events), and what they need from step to
 * step. */
#ifndef TUTTI_MASTER_MASTER_H
#define TUTTI_MASTER_MASTER_H

#include "master/extrapolation.h"
#include "master/outputs.h"
#include "master/scale.h"
#include "master/snapshot.h"
#include "master/stepper.h"
#include "plan/sequence.h"

struct tutti_coupling;
struct tutti_control;
struct tutti_detection;
struct tutti_discretes;
struct tutti_member;
struct tutti_radii;
struct tutti_relaxation;
struct tutti_correction;
struct tutti_step_log;

/* What steps have told of the errors of the next ones, where these are bounded per unit of time. */
struct tutti_learned {
    double noise; /* so much of a difference, in tolerances, does not fall with the step; 0: none is known */
    double noise_h, noise_seen; /* a step that was not good, and what was seen there, to compare with; 0: none */
    double gauge;               /* an error as a part of what predictions say of it */
    unsigned least;             /* steps that could not be shorter, and were not good */
    unsigned gauge_due;         /* ... which is measured again after so many steps */
    double announced, bent_at;  /* a point that a step ends at because a table bends there, or the like: next, last */
};

struct tutti_master {
    bool general; /* the choices apply: units are coupled, or steps of the only one are controlled, which a table drives
                   */
    const struct tutti_coupling *coupling;
    const struct tutti_control *control;
    const struct tutti_detection *detection;
    struct tutti_extrapolation extrapolation;
    unsigned order;         /* of extrapolation */
    bool corrects, smooths; /* with jacobi */
    char reasons[4][160];   /* of coupling, control, extrapolation, events, where `auto` chose; "": somebody did */
    const struct tutti_member *blame; /* steps are fixed because of this unit; NULL: of none ... */
    const char *blame_for;            /* ... which does this */
    bool goes_back;                   /* steps may be taken back: every macro step begins with a snapshot */
    bool by_attempts;                 /* macro steps are made by macro.c; else by the coupling alone */

    double rtol, atol; /* of error control and iteration */
    bool per_time; /* errors are bounded per unit of time, on the scale that signals have in this run (scale.h), as long
                          as that can be done */
    struct tutti_scale scale;
    struct tutti_learned learned;
    bool by_means;        /* inputs that are held have their mean: coupling.h */
    bool holds;           /* some unit's inputs are held in a step although they move */
    unsigned table_order; /* the order that values of tables leave, where units hold them; 0: no unit does */
    double event_tolerance;
    double quantum, divergence;
    unsigned most_iterations;

    struct tutti_outputs outputs;
    struct tutti_stepper stepper;
    struct tutti_snapshot start;         /* of the macro step */
    struct tutti_structure running;      /* dependencies of the running phase */
    const struct tutti_radii *stability; /* of their loops, at the start; NULL: not looked at yet */
    struct tutti_sequence sequence;      /* of couplings that step unit by unit */
    const uint32_t *positions;           /* per component: its place in it; NULL: units step in their own order */
    struct tutti_relaxation *relax;      /* NULL: another coupling */
    struct tutti_correction *correction; /* NULL: none */
    struct tutti_discretes *discretes;   /* per member; NULL: nobody looks */
    bool prudent;                        /* signals are sent once the step is known to be good (003) */
    bool owes_exchange;                  /* prudent: signals of the last step were not sent yet */
    bool discretes_known;                /* they are still what they were at the mark */
    uint32_t changed_member;             /* the last change that was seen */
    uint32_t changed_variable;
    struct tutti_step_log *log; /* NULL: none */
    double *where;              /* per gathered input: tutti_coupling_place_held */
    double *second;             /* ... and what it is in the second half of a step, where that has halves */
    double *before;             /* reals at the start of the macro step */
    double *values[4];          /* room for reals */
    double *partial;            /* per component, of a sum over reals: sum, largest, which */
    char *begin;                /* signals at the beginning of a coupling's step, if they move in it */

    /* How the coupling's last step went. */
    double early;                       /* a unit came back there, before the end; INFINITY: none did */
    uint32_t early_member;              /* ... this one */
    double owed_at;                     /* an event there that a unit came back with is still to be crossed ... */
    uint32_t owed_by;                   /* ... by this member, whether it comes back with it again or not */
    double paid_at;                     /* the last one was crossed there */
    const struct tutti_member *refused; /* this one discarded the step; NULL: none did */
    double refused_at;                  /* ... having come so far */
    unsigned iterations;
    bool converged;
    double divergence_found; /* between first and last iteration (000 eq. 5.22) */

    double cross_at;         /* the far side of an event that is located; -INFINITY: none */
    double crossed_here;     /* events at the start of a step were crossed there; -INFINITY: none */
    uint32_t crossed_member; /* ... for this one */
    unsigned long comeback;  /* the last macro step whose start a unit did not leave, counted from 1 */
    unsigned at_once;        /* macro steps in a row that ended at an event next to their start */
    bool crosses;            /* this step is the one over an event: units cross theirs by themselves */
    bool event;              /* this macro step ends at an event: with a row */
    unsigned long not_converged, forced, forced_balance;
};

#endif
