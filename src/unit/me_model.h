/* SPDX-License-Identifier: MIT */
/* me_model.h - a Model Exchange FMU as an initial value problem: where it stands, its states, derivatives and inputs. */
#ifndef TT_UNIT_ME_MODEL_H
#define TT_UNIT_ME_MODEL_H

#include "fmu/instance.h"
#include "solve/ode.h"
#include "solve/pattern.h"
#include "solve/solver.h"
#include "unit/me_inputs.h"
#include "unit/unit.h"

/* Variables of an FMU as an axis of a matrix: states, derivatives, inputs, outputs, one row or column per
 * scalar; arrays are several. */

struct tt_me_axis {
    size_t count;         /* variables */
    uint32_t *references; /* of each */
    uint32_t *indices;    /* into desc.vars; TUTTI_NONE if the description does not have it */
    size_t *starts;       /* count + 1: place of its first scalar on the axis */
    size_t size;          /* scalars */
};

/* Allocates room for `count` variables; the axis is empty. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_init(struct tt_me_axis *axis, size_t count);
void tt_me_model_axis_fini(struct tt_me_axis *axis);
/* Puts a variable at the end; `extent` scalars. */
void tt_me_model_axis_add(struct tt_me_axis *axis, uint32_t reference, uint32_t index, size_t extent);
/* All continuous Float64 variables of a causality. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_collect(struct tt_me_axis *axis, const struct tt_unit *unit,
                                                      enum tt_causality causality);
/* The name of a scalar, into `out`: "x", "x[3]"; "state 4" (with `word` "state") if it has none. */
void tt_me_model_axis_name(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t i, const char *word,
                           char *out, size_t size);

/* Returns the names of all `count` scalars, each in separate memory; tt_me_model_axis_free_names releases them, also
 * after a failure. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_names(const struct tt_me_axis *axis, const struct tt_unit *unit,
                                                    size_t count, const char *word, char ***out);
void tt_me_model_axis_free_names(char **names, size_t count);
/* FMI 1.0's negated aliases (scalars): from what the reference holds to the variable, and back. */
void tt_me_model_axis_negate(const struct tt_me_axis *axis, const struct tt_unit *unit, double *values);
/* Returns the nominal value of each scalar; 1 unless the FMU declares one. The array belongs to the caller (free);
 * NULL: no memory. */
double *tt_me_model_axis_nominals(const struct tt_me_axis *axis, const struct tt_unit *unit);

/* Where the matrix d(rows)/d(columns) may be other than zero: row variable k is the unknown `unknowns[k]`, NULL if the model
 * structure does not have it. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                      const struct tt_unknown *const *unknowns,
                                                      const struct tt_me_axis *columns, struct tt_pattern *pattern);
/* As above for the outputs `rows`. *known becomes true if the model structure declares the dependencies of one. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_outputs_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                              const struct tt_me_axis *columns,
                                                              struct tt_pattern *pattern, bool *known);

/* Events of the FMU. */
struct tt_me_calendar {
    unsigned long events; /* entered so far */
    double event_time;    /* time of the last one */
    double next_event;    /* that the FMU announced */
};

struct tt_me_model {
    struct tt_unit *unit; /* the unit that has it; all four are borrowed */
    struct tt_instance *instance;
    const struct tt_unit_options *options;
    const char *solver_name; /* for messages */
    struct tt_experiment_setup setup;
    size_t states;
    struct tt_ode ode; /* the FMU alone; its context is this struct */
    struct tt_pattern pattern;
    struct tt_solver_counts counts; /* evaluations that the solver does not know of */
    struct tt_me_calendar calendar;

    double *nominals;            /* of the states, then of extra equations */
    double *sizes;               /* the sizes for absolute tolerances, tt_me_model_size_states; ode.nominals */
    bool *declared;              /* the states with a declared nominal value */
    double *largest;             /* sizes of the states at restarts */
    size_t extra;                /* equations */
    double *scales;              /* in place of nominal values of the states, where > 0; NULL: nowhere */
    double *scratch;             /* as long as the states */
    struct tt_me_axis variables; /* the states; empty if the description does not list them */
    uint32_t *derivatives;       /* references of their derivatives (FMI 2.0, 3.0) */
    char name[256];              /* of a state, as last asked for */

    bool missed;      /* the last right-hand side had no value */
    size_t bad_state; /* in this derivative; SIZE_MAX: the FMU discarded the point */
    bool bad_error;   /* it returned Error there */
    double bad_time;  /* the time of that */

    unsigned long placements; /* of the FMU, ever */
    double here_time;         /* the last one */
    const double *here;       /* the caller's states of that point */
    unsigned long seen;       /* counter of the point at which a directional derivative was last computed */
    double seen_time, *seen_states;
    bool jacobian_tested; /* directional derivatives of the derivatives were compared with differences */

    /* Outputs of most FMUs follow every move of the FMU, but those of some tools change only when derivatives or
     * indicators are computed (OpenModelica 1.11 and 1.12). So these are computed once at a point before outputs are
     * read there. */
    bool moved;          /* the FMU has computed neither since it was moved, or got inputs */
    bool lags;           /* its outputs are seen to follow only then */
    unsigned lag_tests;  /* how often outputs were read before and after */
    size_t indicators;   /* of the FMU */
    double *computed;    /* the derivatives, or indicators, there; for derivatives `computed_at` is set */
    double *computed_at; /* the FMU's point */
    bool is_computed;    /* and they are those of the point here_time, computed_at, with the present inputs */

    struct tt_me_inputs inputs;
};

/* How many reads show whether outputs lag. */
enum { ME_MOST_LAG_TESTS = 32 };

/* Once the FMU is initialised; unit, instance, options, setup and states are set. */
TUTTI_CHECKED enum tutti_err tt_me_model_init(struct tt_me_model *model, size_t extra_states);
/* Zeroed is fine, too. */
void tt_me_model_fini(struct tt_me_model *model);

/* Moves the FMU to a point of the solution. Discard: *discarded, if not NULL, otherwise an error. A time before the
 * last event by rounding only (the solver represents that point by a different double) is replaced by that of the
 * event: FMI permits no earlier time. */
TUTTI_CHECKED enum tutti_err tt_me_model_place(struct tt_me_model *model, double t, const double *x, bool *discarded);

/* The FMU gets inputs. */
static inline void tt_me_model_invalidate(struct tt_me_model *model)
{
    model->moved = true;
    model->is_computed = false;
}
/* Reads variables at the FMU's current point, in continuous-time mode. `beside`: at one of many trial points: once
 * ME_MOST_LAG_TESTS reads have shown that outputs do not lag, no derivatives are computed there. */
TUTTI_CHECKED enum tutti_err tt_me_model_get(struct tt_me_model *model, const struct tt_block *block, bool beside);
/* Computes the derivatives, otherwise the indicators, if the FMU has not done so at its point. */
TUTTI_CHECKED enum tutti_err tt_me_model_compute(struct tt_me_model *model);

/* Returns the name of state i, for messages; after the FMU's states are those of extra equations. Valid until the next
 * call. The context is a struct tt_me_model. */
const char *tt_me_model_state_name(void *context, size_t i);
/* Returns where the derivatives by `columns` (states, inputs) may be nonzero, by the model structure; *known is false,
 * and `pattern` unchanged, if that declares nothing. */
TUTTI_CHECKED enum tutti_err tt_me_model_pattern(struct tt_me_model *model, const struct tt_me_axis *columns,
                                                 struct tt_pattern *pattern, bool *known);
/* Reads nominal values of the states, as error weights: always positive and finite. *changed: they have changed. */
TUTTI_CHECKED enum tutti_err tt_me_model_read_nominals(struct tt_me_model *model, bool *changed);
/* Before a restart from the states x. Without --atol and a declared nominal value the absolute tolerance of a state is
 * at most rtol times the largest size that it had at a restart: a state of 1e-6 must not count as noise. For a state
 * that is 0 there, the derivative predicts its size. */
TUTTI_CHECKED enum tutti_err tt_me_model_size_states(struct tt_me_model *model, double t, const double *x);
/* Compares the FMU's directional derivatives with differences at the current point, once, before they are used. Failing
 * or wrong ones are disabled (unit->can), with a warning. */
TUTTI_CHECKED enum tutti_err tt_me_model_test_directional(struct tt_me_model *model);
/* Adds the FMU's messages to the error of a solver that cannot continue. */
enum tutti_err tt_me_model_explain(struct tt_me_model *model, enum tutti_err err);

/* The data that a rollback restores, except for the FMU's own state and its point. */
struct tt_me_model_saved {
    struct tt_me_calendar calendar;
    double *nominals, *sizes, *largest;
    struct tt_me_input *inputs;
};
/* tt_me_model_saved_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_me_model_saved_init(struct tt_me_model_saved *saved, const struct tt_me_model *model);
void tt_me_model_saved_fini(struct tt_me_model_saved *saved);
void tt_me_model_save(const struct tt_me_model *model, struct tt_me_model_saved *saved);
void tt_me_model_restore(struct tt_me_model *model, const struct tt_me_model_saved *saved);
/* Packs a model's data as bytes, and unpacks it into data created for that model. The parcel records failures. */
void tt_me_model_pack(const struct tt_me_model *model, const struct tt_me_model_saved *saved,
                      struct tt_byte_writer *parcel);
void tt_me_model_unpack(const struct tt_me_model *model, struct tt_byte_reader *in, struct tt_me_model_saved *saved);

#endif
