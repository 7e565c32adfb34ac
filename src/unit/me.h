/* SPDX-License-Identifier: MIT */
/* me.h - Model Exchange as a unit: the FMU gives derivatives, one of our solvers makes steps of them. Shared by me*.c.
 *
 * The solver runs ahead: it takes steps of its own size, as far as `horizon` lets it, and the unit follows in its dense
 * output. Invariants:
 *  M1  t <= front; while they differ, t lies in the solver's last step.
 *  M2  The FMU stands at (t, x, inputs at t) whenever a function of the vtable returns; whatever moves it (right-hand
 *      sides, indicators, averages) is followed by tutti_me_place before that.
 *  M3  Indicators were looked at up to `front`: `event_at` is the first state event behind t, or INFINITY.
 *  M4  completedIntegratorStep is called once for every step of the solver that the unit leaves behind, at its end, or
 *      where the unit leaves it early (event, new inputs). */
#ifndef TUTTI_UNIT_ME_H
#define TUTTI_UNIT_ME_H

#include "solve/jacobian.h"
#include "unit/me_axis.h"
#include "unit/unit.h"

/* A continuous input, or an element of one: u(t) = value + sum of derivatives[k - 1] (t - since)^k / k!. */
enum { ME_INPUT_ORDERS = 3 };
struct me_input {
    double value, since;
    double derivatives[ME_INPUT_ORDERS];
};

struct me_input_variable {
    enum tutti_type type; /* Float64 or Float32 */
    uint32_t reference, variable;
    size_t first, extent; /* of its elements among the items */
};

struct me_inputs {
    struct me_input_variable *variables; /* by ascending type and reference; NULL: not asked for yet */
    size_t variable_count;
    struct me_input *items;
    size_t count;
    /* Those with a derivative that is not 0 in one of their elements, for one call per type and right-hand side. */
    size_t *moving; /* variables */
    size_t moving_count;
    uint32_t *references;
    double *values; /* as many as items */
    float *floats;  /* likewise */
};

enum { ME_CHATTER_EVENTS = 200 };

/* What the solver has to do before its next step. */
enum me_solver_task { ME_GO_ON, ME_RESUME, ME_RESTART };

struct me {
    struct tutti_unit unit;
    struct tutti_unit_options options;
    struct tutti_instance *instance;
    struct tutti_experiment_setup setup;
    size_t states, indicators; /* of the FMU */
    size_t extra_states;       /* behind them in the solver's vector */
    double t;
    double next_event; /* that the FMU announced */

    struct tutti_ode ode;
    struct tutti_pattern pattern;
    struct tutti_solver *solver; /* NULL: there is nothing to integrate */
    enum me_solver_task task;
    bool inputs_changed;                     /* between steps: indicators may have left their domains */
    double front;                            /* up to here the solution is known: solver->t, if there is a solver */
    struct tutti_solver_counts other_counts; /* evaluations that the solver does not know of */
    double *x;                               /* all states at t */
    double *ahead;                           /* ... at solver->t */
    double *scratch;                         /* as long as these */
    double *dx;                              /* likewise */
    double *nominals;                        /* likewise */
    struct me_axis variables;                /* the states; empty if the description does not tell */
    uint32_t *derivatives;                   /* references of their derivatives (FMI 2.0, 3.0) */
    bool ahead_open;                         /* M4: the solver's last step is not completed */
    char name[256];                          /* of a state, as last asked for */
    bool missed;                             /* the last right-hand side had no value ... */
    size_t bad_state;                        /* ... in this derivative; SIZE_MAX: the FMU discarded the point ... */
    bool bad_error;                          /* ... or returned Error there ... */
    double bad_time;                         /* ... here */
    unsigned long placements;                /* of the FMU, ever */
    double here_time;                        /* the last one */
    const double *here;                      /* ... whoever called keeps these states while it needs them */
    unsigned long seen;                      /* ... when a directional derivative was asked for last: at this point */
    double seen_time, *seen_states;
    bool jacobian_tested; /* directional derivatives of the derivatives were compared with differences ... */

    struct me_inputs inputs;

    /* Event indicators. */
    double *z, *z_left, *z_right, *z_scale;
    bool *positive; /* the domain that the FMU was told: z > 0 */
    bool near_zero; /* one of them, at the last event; until the step behind it is looked at */
    double event_at;
    size_t event_indicator; /* one that changed there */
    unsigned long events;   /* entered so far, the last one ... */
    double event_time;      /* ... here */
    bool own_event;   /* the FMU asked for the one at t: completedIntegratorStep, or a time that it announced ... */
    bool state_event; /* ... or an indicator left its domain there: not only inputs are new */
    bool switches;    /* the present event is one of these */
    double *slopes_before;  /* of all states, when the present event was entered ... */
    bool has_slopes_before; /* ... if the solver could go on behind it as if nothing had been */
    double *recent;         /* times of the last ME_CHATTER_EVENTS state events, a ring, to tell chattering */
    size_t recent_count;

    /* Averages over the present step (004 eq. 1): integral of the states since step_start. */
    double step_start;
    double *integral;
    bool averaged; /* there is a step to average over */

    struct me_extra *extra_equations; /* me_extra.c; NULL: none */
    struct tutti_ode fmu_ode;         /* the FMU without them */
    struct me_linear *linear;         /* me_linear.c; NULL: not asked for yet */
    uint32_t *timeless;               /* references of outputs that do not depend on time itself, ascending; likewise */
    size_t timeless_count;
};

/* me_place.c: where the FMU stands. */
/* Moves the FMU to a point of the solution. Discard: *discarded, if not NULL, else an error. A time that is before the
 * last event by rounding only (the solver calls that point by another double) is that of the event: FMI allows no other. */
TUTTI_CHECKED enum tutti_err tutti_me_place(struct me *me, double t, const double *x, bool *discarded);
/* The FMU at the unit's own point again (M2). */
TUTTI_CHECKED enum tutti_err tutti_me_place_back(struct me *me);
/* Solution at a time in the solver's last step. */
TUTTI_CHECKED enum tutti_err tutti_me_states_at(struct me *me, double t, double *x);

/* me_states.c: what the states are called. */
TUTTI_CHECKED enum tutti_err tutti_me_states_init(struct me *me);
void tutti_me_states_fini(struct me *me);
/* The name of state i, for people. Good until the next call. */
const char *tutti_me_state_name(void *context, size_t i); /* the context is a struct me */
/* Where the derivatives by `columns` (states, inputs) may be other than 0, by the model structure; *known is false, and
 * `pattern` left alone, if that says nothing. */
TUTTI_CHECKED enum tutti_err tutti_me_states_pattern(struct me *me, const struct me_axis *columns,
                                                     struct tutti_pattern *pattern, bool *known);

/* me_ode.c: the FMU as an initial value problem. */
TUTTI_CHECKED enum tutti_err tutti_me_ode_init(struct me *me);
void tutti_me_ode_fini(struct me *me);
/* Nominal values of the states, as error weights: positive and finite whatever the FMU says. *changed becomes true if
 * they are others than before. */
TUTTI_CHECKED enum tutti_err tutti_me_ode_read_nominals(struct me *me, bool *changed);
/* Compares the FMU's directional derivatives with differences where it stands, once, before they are relied on. Those that
 * fail or are wrong are none from then on (unit.can), and the user is told. */
TUTTI_CHECKED enum tutti_err tutti_me_ode_test_directional(struct me *me);
/* Adds what the FMU has to say to the error of a solver that cannot go on. */
enum tutti_err tutti_me_ode_explain(struct me *me, enum tutti_err err);

/* me_inputs.c: inputs that move. */
void tutti_me_inputs_fini(struct me *me);
/* Remembers values that were set; *news: one of them is new to the solution. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_note(struct me *me, const struct tutti_block *block, bool *news);
/* As of unit.h. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_derivatives(struct me *me, const uint32_t *references,
                                                         const size_t *elements, size_t count, const int32_t *orders,
                                                         const double *values, bool *news);
/* Finds those that move, after a change that note and derivatives did not make. */
void tutti_me_inputs_collect(struct me *me);
/* Takes all values from the FMU: at the end of the initialisation. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_read(struct me *me);
/* Hands all values at t to the FMU: when the unit goes back. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_write(struct me *me);
/* Hands the moving inputs at t to the FMU. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_apply(struct me *me, double t);
/* ... their averages from t0 to t1. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_apply_average(struct me *me, double t0, double t1);
/* Value, or derivative of some order, of an input at t. */
double tutti_me_input_at(const struct me_input *input, double t, int order);

/* me_events.c: state events. */
TUTTI_CHECKED enum tutti_err tutti_me_events_init(struct me *me);
void tutti_me_events_fini(struct me *me);
/* The domains where the FMU stands now. */
TUTTI_CHECKED enum tutti_err tutti_me_events_reset(struct me *me);
/* Did the indicators leave their domains where the FMU stands now (inputs changed)? */
TUTTI_CHECKED enum tutti_err tutti_me_events_check_here(struct me *me, bool *event);
/* Looks for the first event in (left, right] of the solver's last step: sets event_at. Moves the FMU. */
TUTTI_CHECKED enum tutti_err tutti_me_events_search(struct me *me, double left, double right);
/* A state event at t is entered; an error if they come too thick (chattering). */
TUTTI_CHECKED enum tutti_err tutti_me_events_note(struct me *me, double t);

/* me_saved.c */
enum tutti_err tutti_me_save(struct tutti_unit *unit, struct tutti_unit_saved **out);
enum tutti_err tutti_me_restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved);
void tutti_me_discard(struct tutti_unit *unit, struct tutti_unit_saved *saved);

/* me_derivatives.c */
enum tutti_err tutti_me_get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                               int32_t order, double *values);
enum tutti_err tutti_me_get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                        const uint32_t *knowns, size_t known_count, const double *seed,
                                        double *sensitivity);

#endif
