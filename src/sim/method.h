/* SPDX-License-Identifier: MIT */
/* method.h - how the macro steps of a run are made: what tt_choose_method (choose.h) has decided. It does not change
 * afterwards. */
#ifndef TT_SIM_METHOD_H
#define TT_SIM_METHOD_H

#include <tutti/err.h>

struct tt_component_traits;
struct tt_control;
struct tt_coupling;
struct tt_detection;

/* The order of the reasons. */
enum tt_choice_number {
    TUTTI_CHOICE_COUPLING,
    TUTTI_CHOICE_CONTROL,
    TUTTI_CHOICE_EXTRAPOLATE,
    TUTTI_CHOICE_EVENTS,
    TUTTI_CHOICES
};

/* What a method does, besides the four choices. */
enum tt_method_trait {
    /* The choices apply: components are coupled, or the steps of the only one, which a table drives, are controlled. */
    TUTTI_METHOD_GENERAL = 1u << 0,
    TUTTI_METHOD_COUPLED = 1u << 1,
    TUTTI_METHOD_VARIES = 1u << 2,      /* macro steps have different sizes */
    TUTTI_METHOD_PER_TIME = 1u << 3,    /* errors are bounded per unit of time: norm.h */
    TUTTI_METHOD_GOES_BACK = 1u << 4,   /* steps may be taken back: every macro step begins with a snapshot */
    TUTTI_METHOD_TOGETHER = 1u << 5,    /* at an event all components stand where it is: a step ends there for all */
    TUTTI_METHOD_BY_ATTEMPTS = 1u << 6, /* macro steps are made by step.c; otherwise by the coupling alone */
    /* Components are taken back, if only for trial steps that measure derivatives: this is tested at the start. */
    TUTTI_METHOD_RELIES_ON_ROLLBACK = 1u << 7,
    TUTTI_METHOD_CORRECTS = 1u << 8,     /* outputs, with couplings that take it */
    TUTTI_METHOD_SOLVES = 1u << 9,       /* outputs are solved for where they are corrected */
    TUTTI_METHOD_SMOOTHS = 1u << 10,     /* inputs, with couplings that take it */
    TUTTI_METHOD_LAST_ONLY = 1u << 11,   /* iterations repeat the last own step of the components' solvers only */
    TUTTI_METHOD_ACCELERATES = 1u << 12, /* sweeps, though no option says how */
    /* The tolerance is for the run, and outputs in algebraic loops belong to inputs of the step before. */
    TUTTI_METHOD_LATE = 1u << 13,
    TUTTI_METHOD_IN_SEQUENCE = 1u << 14, /* components step one after the other */
    /* Signals are sent once the step is known to be good (Galtier 2015). */
    TUTTI_METHOD_DEFERS_EXCHANGE = 1u << 15,
    TUTTI_METHOD_ALL_SIGNALS = 1u << 16,  /* every rank computes the same from the signals of all components */
    TUTTI_METHOD_ROWS_BY_STEP = 1u << 17, /* the step that FMUs propose is the distance of rows */
    TUTTI_METHOD_ALWAYS_WARNS = 1u << 18, /* the log's level does not suppress the warning */

    /* Read before components are opened, from the choice that descriptions allow (struct tt_rank.expected). */
    TUTTI_METHOD_SHARES_TOLERANCE = 1u << 19, /* errors of macro steps use up a part of the tolerance */
    TUTTI_METHOD_MOVES_INPUTS = 1u << 20,     /* no option excludes that connected inputs move inside a step */
    /* The options ask for a method that takes components back: --rollback auto may fork them. */
    TUTTI_METHOD_FORKS = 1u << 21,
    TUTTI_METHOD_FREE_STEPS = 1u << 22,  /* steps of components need not fit together */
    TUTTI_METHOD_NEEDS_LOOPS = 1u << 23, /* the choice depends on the gains of algebraic loops */
};

struct tt_method {
    const struct tt_coupling *coupling;
    const struct tt_control *control;
    const struct tt_detection *detection;
    unsigned order;       /* of extrapolation; TUTTI_CUBIC: of movement between both ends of a step */
    unsigned is;          /* of enum tt_method_trait */
    unsigned table_order; /* the order that values of tables leave, where components hold them; 0: none does */

    /* Why `auto` chose it, or what follows from an option; "": an option named it. */
    char reasons[TUTTI_CHOICES][160];
    /* Steps are fixed because of this component, which `fixed_because` describes; NULL: there is none. Borrowed from
     * the traits, as are the components below. */
    const struct tt_component_traits *fixed_by;
    const char *fixed_because;
    /* Cubics: the outputs of the first move on lines, the second does not follow inputs inside a step; NULL: none. */
    const struct tt_component_traits *on_lines, *holding;
    char warning[640];    /* "": none */
    enum tutti_err error; /* TUTTI_OK: the method can be used */
    char refusal[2048];   /* the error's message */
};

#endif
