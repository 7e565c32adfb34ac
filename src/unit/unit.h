/* SPDX-License-Identifier: MIT */
/* unit.h - the interface of everything that can be stepped.
 *
 * A unit is one FMU in a run, with the means to step it: for Co-Simulation the FMU's internal solver, for Model
 * Exchange a solver of Tutti; for Scheduled Execution its partitions. Masters use only this interface. A kind is one
 * const struct; to add one: copy cs.c, list it in unit.c, run `ctest -L unit`.
 *
 * Life of a unit: new, set_up, configure, enter_init, [get, set ...], exit_init, [set, step, get, event ...],
 * terminate, free. Between steps: save, and restore any number of times. In place of enter_init ... exit_init: adopt. */
#ifndef TT_UNIT_UNIT_H
#define TT_UNIT_UNIT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/options/option_words.h"
#include "fmu/batched_call.h"
#include "fmu/fmu.h"
#include "fmu/instance.h"
#include "fmu/instance_clocks.h"
#include "model/system/setting.h"
#include "solve/solver.h"
#include "unit/clocked.h"
#include "unit/signals.h"

struct tt_unit;
struct tt_linear;         /* linear.h */
struct tt_unit_saved;     /* a saved point of a unit, whose content is private to the kind */
struct tutti_extra;       /* <tutti/extra.h> */
struct tt_replay;         /* replay.h */
struct tt_me_sensitivity; /* me_sensitivity.h */

/* An absolute tolerance of one state. */
struct tt_state_tolerance {
    uint32_t reference; /* of the state's variable */
    double scale;       /* in place of its nominal value: its tolerance in units of `atol` */
    const char *given;  /* the option's text, for messages; borrowed */
};

/* How a Model Exchange FMU is integrated. */
struct tt_integration {
    const struct tt_solver_kind *solver;   /* NULL: the default */
    const struct tt_solver_kind *replaced; /* the kind without checkpoints; NULL: this one */
    double rtol, atol;
    bool by_size; /* atol is not asked for: that of states without a declared nominal value follows their size */
    const struct tt_state_tolerance *state_tolerances; /* borrowed */
    size_t state_tolerance_count;
    double h_fixed, h_max, h_first;
    int max_order;
    enum tt_predictor predictor;
    enum tt_jacobian_mode jacobian;
    enum tt_linear_solver linear;
    bool average;                    /* outputs are those of the averages over a step (Lacoursiere 2017 eq. 1-3) */
    const struct tutti_extra *extra; /* equations that are integrated with the FMU's; NULL: none */
    struct tt_me_sensitivity *sensitivity; /* sensitivities to parameters; NULL: none. Borrowed */
};

/* Which interface of an FMU is wanted. */
enum tt_interface_choice {
#define TUTTI_LISTED(name, word, meaning) TUTTI_INTERFACE_##name,
    TUTTI_INTERFACES(TUTTI_LISTED)
#undef TUTTI_LISTED
};

/* The choice of one kind of interface. */
static inline enum tt_interface_choice tt_unit_interface_choice_of(enum tt_interface_kind kind)
{
    return kind == TUTTI_ME ? TUTTI_INTERFACE_ME : kind == TUTTI_SE ? TUTTI_INTERFACE_SE : TUTTI_INTERFACE_CS;
}

/* How a unit is taken back. */
enum tt_rollback {
#define TUTTI_LISTED(name, word, meaning) TUTTI_ROLLBACK_##name,
    TUTTI_ROLLBACKS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

/* Inputs that are functions of time. References and elements are borrowed for the unit's life. */
struct tt_input_curves {
    size_t count;
    const uint32_t *references;
    const size_t *elements; /* 0 of a scalar */
    /* The value of a curve at t, or its derivative of order 1. */
    double (*at)(void *context, size_t curve, double t, int order);
    void *context;
};

struct tt_unit_options {
    const char *name;            /* borrowed for the unit's life */
    const struct tutti_log *log; /* borrowed for the unit's life */
    bool logging_on;             /* let the FMU log its debug messages */
    bool timing;                 /* measure the time of every do-step; otherwise of a sample */
    uint32_t cannot;             /* TUTTI_CAN_* that are not used even if the FMU offers them */
    bool forked;                 /* in a separate process, rolled back by forking it (fmu/process/) */
    bool rejects;                /* FMI 1.0: taken back by rejecting its last step, if it can */
    bool is_fresh;               /* made beside a run to test the FMU (fresh.h): it is not tested itself */
    const volatile sig_atomic_t
        *interrupt; /* once it is not 0, a step ends with INTERRUPTED at the next chance; NULL: never */
    /* Inputs that move inside a step (FMI 3.0 intermediate update): value references of the FMU's variables with
     * intermediateUpdate, Float64 ones first, then Float32, and who writes their values at t into `values`. Borrowed. NULL: none. */
    const uint32_t *moving;
    size_t moving_count, moving_doubles; /* of these: Float64 variables */
    /* Returns the numbers of Float64 values and of the rest: arrays have their extents when the unit is configured. */
    void (*moving_extents)(void *context, size_t *doubles, size_t *floats);
    void (*moving_sample)(void *context, double t, double *values);
    void *moving_context;
    enum tt_interface_choice interface;
    struct tt_integration integration; /* Model Exchange only */
};

struct tt_unit_counts {
    unsigned long do_steps, gets, sets, init_evaluations, rollbacks;
    unsigned long points;                          /* that were saved to be gone back to; by the caller */
    unsigned long rejected, auxiliary, attributed; /* do-steps rejected, and auxiliary; classified so far */
    struct tt_solver_counts solver;                /* Model Exchange */
    struct tt_solver_counts beside; /* of a second instance, which makes steps for this one (sim/control/twin.h) */
};

/* How long calls of a unit took, in this process: a checkpoint contains the counts, and none of these. */
struct tt_unit_times {
    unsigned long from;  /* do-steps of processes before this one, which none of these times contains */
    double seconds;      /* in the do-steps after `from`, up to `timed`; see tt_unit_record_time */
    unsigned long timed; /* do-steps that `seconds` speaks for, with those of `from` */
    unsigned long next;  /* the next do-step to be measured */
    /* By the caller that steps the unit. */
    double save_seconds, restore_seconds; /* all of it */
    double set_seconds, get_seconds;      /* around the do-steps up to `exchanges_timed`, from some of them */
    unsigned long exchanges_timed;
};

/* The result of an event. */
struct tt_unit_event {
    bool terminate;
    double next_event; /* INFINITY: none announced */
};

/* Where a unit is, for a solver that leads it. */
struct tt_unit_joint_state {
    double *x, *nominals;     /* room for the states is the caller's */
    enum tt_solver_task task; /* the task since `take` */
    double next_event;        /* that the FMU announced; INFINITY: none */
    bool near_zero;           /* its last event left an indicator near zero (solve/crossing.h) */
};

/* The equations of a unit for a foreign solver, which has the states of several units as one problem. From `lead` on
 * the kind's `step` is not called any more: trial points are placed, in continuous-time mode, and `arrive` sets the
 * unit's position. Between a trial and the next `arrive` nothing else of the vtable but `get` may be called. */
struct tt_unit_equations {
    /* Once, after the initialisation. `back`: the solver's memory can be brought to another process. */
    void (*lead)(struct tt_unit *unit, bool back);
    void (*count)(const struct tt_unit *unit, size_t *states, size_t *indicators);
    void (*look)(const struct tt_unit *unit, struct tt_unit_joint_state *lead);
    /* Returns the sizes for absolute tolerances of the states, as in tt_ode.nominals. They are set again after an event
     * that `take` has not ended. */
    enum tutti_err (*size)(struct tt_unit *unit, double *sizes);
    void (*take)(struct tt_unit *unit); /* executes the plan of `look` */

    /* A trial point; inputs that a table moves follow. *discarded: the FMU has no values there. */
    enum tutti_err (*place)(struct tt_unit *unit, double t, const double *x, bool *discarded);
    /* Inputs there: a set that leaves no trace. */
    enum tutti_err (*put)(struct tt_unit *unit, const struct tt_block *block);
    /* Returns the FMU's derivatives there, with its inputs set. *bad: the first one not finite, or their number. */
    enum tutti_err (*get_derivatives)(struct tt_unit *unit, double *dx, size_t *bad, bool *discarded);
    /* How far event indicators are on the way out of their domains (solve/crossing.h); *bad as above. */
    enum tutti_err (*get_excess)(struct tt_unit *unit, double *excess, size_t *bad);
    enum tutti_err (*no_excess)(struct tt_unit *unit, double t, size_t bad); /* the error for that */

    /* The unit is there, and gets these inputs. */
    enum tutti_err (*arrive)(struct tt_unit *unit, double t, const double *x, const struct tt_block *inputs,
                             size_t input_blocks);
    /* A step of the solver ends where the unit is; *event: the FMU asks for event mode. */
    enum tutti_err (*complete)(struct tt_unit *unit, bool *event, bool *terminate);
    /* Sets the cause of the event that will be entered: `indicator` has left its domain (SIZE_MAX: none has), or the
     * FMU requested it (announced, or by `complete`). An error if state events are too frequent. */
    enum tutti_err (*meet)(struct tt_unit *unit, size_t indicator, bool own);
    const char *(*state_name)(struct tt_unit *unit, size_t i); /* good until the next call */
};

/* Who looks after the clocks of a unit; set by the rank that steps it. */
struct tt_unit_ticking {
    void *context;
    /* In event mode: called before every update of discrete states, while clocks tick; and after the last. NULL: none. */
    enum tutti_err (*before)(void *context);
    enum tutti_err (*after)(void *context);
    enum tutti_err (*update)(void *context); /* Scheduled Execution: in the callback of a partition */
    /* Waits for partitions that are being computed in other threads (sim/tasks.h). */
    enum tutti_err (*rest)(void *context);
};

struct tt_unit_kind {
    const char *name; /* "cs" */
    enum tt_interface_kind interface;
    size_t size; /* bytes of the kind's struct, which starts with a struct tt_unit */

    /* Brings the FMU to life. Called once, on a zeroed struct with the common part filled in. */
    enum tutti_err (*start)(struct tt_unit *unit, const struct tt_unit_options *options);
    /* Releases whatever start made, also after a failed start; may call the FMU. */
    void (*finish)(struct tt_unit *unit);

    /* The experiment; called once, before anything is set. */
    enum tutti_err (*set_up)(struct tt_unit *unit, const struct tt_experiment_setup *setup);
    /* Sets structural parameters; called at most once, before anything else is set. */
    enum tutti_err (*configure)(struct tt_unit *unit, const struct tt_setting *settings, size_t count);
    enum tutti_err (*enter_init)(struct tt_unit *unit);
    /* After an enter_init that failed: as new, before set_up. */
    enum tutti_err (*reset)(struct tt_unit *unit);
    enum tutti_err (*exit_init)(struct tt_unit *unit);

    /* Replaces both: the FMU has a state that was exported from it, at the start of the experiment. As after exit_init,
     * a unit with events is in event mode. */
    enum tutti_err (*adopt)(struct tt_unit *unit, const unsigned char *bytes, size_t size);
    /* The FMU's state between steps as its own bytes; the caller's (free). */
    enum tutti_err (*export_state)(struct tt_unit *unit, unsigned char **bytes, size_t *size);

    /* One FMI call each. */
    enum tutti_err (*set)(struct tt_unit *unit, const struct tt_block *block);
    enum tutti_err (*get)(struct tt_unit *unit, struct tt_block *block);
    /* As `set`, for values that FMUs may refuse with Error: *refused becomes true; the unit stays usable. Not counted. */
    enum tutti_err (*offer)(struct tt_unit *unit, const struct tt_block *block, bool *refused);
    enum tutti_err (*ask)(struct tt_unit *unit, struct tt_block *block, bool *refused);
    /* Derivatives (orders[i] = 1, 2, ...) of Real inputs from now on; set after their values, before the step. Only if
     * unit->can has TUTTI_CAN_INPUT_DERIVATIVES. If unit->keeps_slopes they apply until the input is set again,
     * otherwise for one step. elements[i] is the index in an array, which Model Exchange supports; NULL: all are
     * scalars. */
    /* Sets curves of continuous inputs, or elements of them, which the unit may evaluate at any time instead of
     * receiving values before steps. Called once, when the unit is configured. NULL: unsupported. Only Model Exchange. */
    enum tutti_err (*set_input_curves)(struct tt_unit *unit, const struct tt_input_curves *curves);
    enum tutti_err (*set_input_derivatives)(struct tt_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values);
    /* Returns derivatives in time, of order 1 ... unit->output_order, of Real outputs at the time reached. */
    enum tutti_err (*get_output_derivatives)(struct tt_unit *unit, const uint32_t *references, size_t count,
                                             int32_t order, double *values);
    /* Computes sensitivity = d(unknowns)/d(knowns) * seed: outputs by inputs (scalars), at the unit's position.
     * UNSUPPORTED if impossible. */
    enum tutti_err (*get_directional)(struct tt_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                      const uint32_t *knowns, size_t known_count, const double *seed,
                                      double *sensitivity);
    /* df/dx, df/du, dg/dx, dg/du where the unit is; `linear` holds its layout from the first call on. NULL: the kind has
     * no states to show. */
    enum tutti_err (*linearize)(struct tt_unit *unit, unsigned which, struct tt_linear **linear);

    /* From t towards t + h. Never an error for a short step: see struct tt_fmi_step. */
    enum tutti_err (*step)(struct tt_unit *unit, double t, double h, struct tt_fmi_step *step);
    /* Makes a call triple (fmu/batched_call.h) for set, step and get of these Float64 blocks (NULL: none) in the common
     * case, for steps without rollback. False: the unit's steps are more complex. NULL: unsupported by the kind. The
     * caller counts the steps. */
    bool (*make_triple)(struct tt_unit *unit, const struct tt_block *inputs, const struct tt_block *outputs,
                        struct tt_batched_call *triple);
    /* Scheduled Execution: computes a partition of the unit's instance and reads what it is to read (fmu/instance_clocks.h), where the unit is. NULL:
     * the kind has event mode, in which clocks tick (sim/ticks.h). */
    enum tutti_err (*activate)(struct tt_unit *unit, const struct tt_model_partition *partition,
                               struct tt_fmi_call_modes_watch *watch, double t);
    /* As step, for a unit that overlaps: may return while the FMU computes, *pending; end_step, with equal times, waits
     * for it; nothing else is called in between. NULL: unsupported by the kind. */
    enum tutti_err (*begin_step)(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out, bool *pending);
    enum tutti_err (*end_step)(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out);
    /* A partition was computed elsewhere, in `seconds`, and is read. NULL where `activate` is. */
    void (*note_activation)(struct tt_unit *unit, const struct tt_model_partition *partition, double seconds);
    /* Event mode at the time reached, only if unit->has_events: enter (not right after exit_init, which leaves the unit
     * in it), then set inputs if necessary, then settle: iterate until the discrete states converge, and return to
     * stepping unless the FMU requests the end. */
    enum tutti_err (*enter_event)(struct tt_unit *unit);
    enum tutti_err (*settle)(struct tt_unit *unit, struct tt_unit_event *event);
    /* Saves a point between steps into *saved, which is created if it is NULL, otherwise reused. UNSUPPORTED, naming
     * what the FMU lacks. The point is lost (restore says so) where the unit cannot undo what happened since. */
    enum tutti_err (*save)(struct tt_unit *unit, struct tt_unit_saved **saved);
    enum tutti_err (*restore)(struct tt_unit *unit, const struct tt_unit_saved *saved);
    void (*discard)(struct tt_unit *unit, struct tt_unit_saved *saved); /* NULL is fine */
    /* Returns to the beginning of the solver's last step among the steps that were made while unit->notes_last was set;
     * *t: that time. Can be repeated. NULL: the kind has no such steps. */
    enum tutti_err (*back_to_last)(struct tt_unit *unit, double *t);
    /* `pack` serialises a point for a process of this version of Tutti with an equal FMU; `unpack` makes a point of
     * this unit from the bytes, in *saved, which is NULL. UNSUPPORTED, naming what the FMU lacks; FORMAT. A unit at
     * that point continues like one that was restored there: parts that cannot be packed (the memory of some solvers)
     * restart. */
    enum tutti_err (*pack)(struct tt_unit *unit, const struct tt_unit_saved *saved, struct tt_byte_writer *parcel);
    enum tutti_err (*unpack)(struct tt_unit *unit, struct tt_byte_reader *in, struct tt_unit_saved **saved);
    /* The unit's counts and test results, which a rollback does not reset: a part of the data of `pack`. NULL: none. */
    void (*pack_counts)(const struct tt_unit *unit, struct tt_byte_writer *parcel);
    void (*unpack_counts)(struct tt_unit *unit, struct tt_byte_reader *in);
    /* The end of a run that went well; called at most once, nothing but finish follows. */
    enum tutti_err (*terminate)(struct tt_unit *unit);
    const struct tt_unit_equations *equations; /* NULL: the FMU solves its own */
};

extern const struct tt_unit_kind tt_unit_cs, tt_unit_me, tt_unit_se;

struct tt_unit {
    const struct tt_unit_kind *kind;
    const char *name;
    struct tt_fmu *fmu; /* borrowed */
    uint32_t can;       /* TUTTI_CAN_* that FMU and library offer */
    bool has_events;    /* event mode is used */
    bool forked;        /* it runs in a separate process, and is rolled back by forking it */
    bool rejects;       /* FMI 1.0: it can only reject its last step */
    bool uniform;       /* steps of one size only */
    bool keeps_slopes;  /* inputs keep their derivatives until they are set again */
    int output_order;   /* highest order of output derivatives; 0: none */
    /* Set by the rank that steps the unit. */
    bool overlaps;        /* its FMU can compute a step in a separate thread (canRunAsynchronuously): begin_step */
    bool notes_last;      /* steps note where the last own step of the solver begins: see back_to_last */
    bool asks_for_inputs; /* connected inputs are among options.moving: they can move inside a step */
    unsigned directional_tests; /* of its directional derivatives, so far */
    bool forgets;    /* it claims to save its state, and does not come back as it was (sim/start/startup_tests.h) */
    bool unsteady;   /* or only if noSetFMUStatePriorToCurrentPoint is set */
    bool undeclared; /* outputs follow inputs at once that the model structure denies (sim/start/startup_tests.h) */
    bool rushes;     /* its first step goes to the stop time (stop_time.h), and steps are errors */
    double
        back_to; /* the earliest point that may still be restored; INFINITY: none (noSetFMUStatePriorToCurrentPoint) */
    double step_size; /* of the step that is made next, where derivatives of inputs are set for it */
    double horizon;   /* inputs remain as set until then: a solver may look ahead, beyond the end of the step */
    uint64_t *sizes;  /* per variable: values of structural parameters that are extents; NULL: none */
    struct tt_instance *instance; /* NULL: of a shadow, and before it is instantiated */
    struct tt_clocked *clocked;   /* its variables that belong to clocks (clocked.h); NULL: none */
    struct tt_unit_ticking ticking;
    struct tt_unit_counts counts;
    struct tt_unit_times times;
    struct tt_replay *replay; /* it is restored by repeating its calls (replay.h); NULL: it is not */
};

/* Determines the kind of unit for an FMU. AUTO prefers Co-Simulation, unless `solver_named`: an explicit solver implies
 * Model Exchange. UNSUPPORTED, with the reason, if no kind fits. */
TUTTI_CHECKED enum tutti_err tt_unit_kind_for(const struct tt_fmu *fmu, enum tt_interface_choice choice,
                                              bool solver_named, const struct tt_unit_kind **kind);
/* Checks whether the FMU can be run here in one of its interfaces: the error has the reason. Nothing is loaded. */
TUTTI_CHECKED enum tutti_err tt_unit_check_runnable(const struct tt_fmu *fmu);
/* Makes a unit of the kind that fits the FMU and the options. `fmu` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_unit_new(struct tt_unit **out, struct tt_fmu *fmu,
                                         const struct tt_unit_options *options);
void tt_unit_free(struct tt_unit *unit);

/* Before the initialisation: structural parameters among `settings`, in configuration mode; then all others but inputs. */
TUTTI_CHECKED enum tutti_err tt_unit_apply(struct tt_unit *unit, const struct tt_setting *settings, size_t count);
/* Inputs among `settings`, after enter_init: FMI 2.0 takes them there only. */
TUTTI_CHECKED enum tutti_err tt_unit_apply_inputs(struct tt_unit *unit, const struct tt_setting *settings,
                                                  size_t count);
/* Returns true if the variable can be set while the unit runs: an input, or a tunable parameter. */
bool tt_unit_is_settable_late(const struct tt_unit *unit, uint32_t variable);
/* Those among `settings`, of a unit that has adopted a state. */
TUTTI_CHECKED enum tutti_err tt_unit_apply_tunable(struct tt_unit *unit, const struct tt_setting *settings,
                                                   size_t count);
/* Sets inputs before it, in an FMU that may refuse them: some compute their initial values in enter_init. */
TUTTI_CHECKED enum tutti_err tt_unit_try_inputs(struct tt_unit *unit, const struct tt_setting *settings, size_t count,
                                                bool *refused);
/* The values of one variable before anything is computed, as its description and `settings` have them, into `block`, which
 * is that variable's alone. */
TUTTI_CHECKED enum tutti_err tt_unit_describe_start(const struct tt_unit *unit, uint32_t variable,
                                                    const struct tt_setting *settings, size_t count,
                                                    struct tt_block *block);
/* Before the initialisation (FMI 3.0): reads the values of one variable, with its `settings`, into such a `block`. If
 * the FMU does not return them yet, the values of its description. */
TUTTI_CHECKED enum tutti_err tt_unit_get_start(struct tt_unit *unit, uint32_t variable,
                                               const struct tt_setting *settings, size_t count, struct tt_block *block);

/* Slots of kinds that add nothing to what unit->instance does; set and get count. */
TUTTI_CHECKED enum tutti_err tt_unit_default_enter_init(struct tt_unit *unit);
TUTTI_CHECKED enum tutti_err tt_unit_default_reset(struct tt_unit *unit);
TUTTI_CHECKED enum tutti_err tt_unit_default_exit_init(struct tt_unit *unit);
TUTTI_CHECKED enum tutti_err tt_unit_default_export_state(struct tt_unit *unit, unsigned char **bytes, size_t *size);
TUTTI_CHECKED enum tutti_err tt_unit_default_set(struct tt_unit *unit, const struct tt_block *block);
TUTTI_CHECKED enum tutti_err tt_unit_default_get(struct tt_unit *unit, struct tt_block *block);
TUTTI_CHECKED enum tutti_err tt_unit_default_try_set(struct tt_unit *unit, const struct tt_block *block, bool *refused);
TUTTI_CHECKED enum tutti_err tt_unit_default_try_get(struct tt_unit *unit, struct tt_block *block, bool *refused);
TUTTI_CHECKED enum tutti_err tt_unit_default_terminate(struct tt_unit *unit);

/* For kinds: structural parameters among `settings`, in configuration mode (I4), then the extents of arrays. */
TUTTI_CHECKED enum tutti_err tt_unit_configure(struct tt_unit *unit, struct tt_instance *instance,
                                               const struct tt_setting *settings, size_t count);
/* For kinds: tt_saved_state_import. Warns of a state whose time, if the FMU reports it, is not the experiment's start. */
TUTTI_CHECKED enum tutti_err tt_unit_adopt(struct tt_unit *unit, struct tt_instance *instance,
                                           const struct tutti_log *log, const unsigned char *bytes, size_t size);
/* For kinds: updates discrete states of an instance in event mode until they converge. */
TUTTI_CHECKED enum tutti_err tt_unit_update_discrete(const struct tt_unit *unit, struct tt_instance *instance,
                                                     struct tt_discrete_update *discrete);
/* For kinds: directional derivatives of the FMU; at least one value per reference (arrays). UNSUPPORTED if it has none,
 * or declares them and fails, or returns values that are not numbers: such an FMU is not called again (`unit->can`),
 * with one warning. The caller uses differences then. */
TUTTI_CHECKED enum tutti_err tt_unit_get_directional(struct tt_unit *unit, struct tt_instance *instance,
                                                     const struct tutti_log *log, const uint32_t *unknowns,
                                                     size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                                     const double *seed, size_t seed_count, double *sensitivity,
                                                     size_t sensitivity_count);
/* For kinds: directional derivatives are not used any more; `why` is a sentence for the user. */
void tt_unit_disable_directional(struct tt_unit *unit, const struct tutti_log *log, const char *why);
/* For kinds: returns true if a directional derivative contradicts the differences to both sides of a point. Only if
 * these agree with each other, so that there is neither a kink nor much noise, and far beyond their error. */
bool tt_unit_differences_contradict(double derivative, double ahead, double behind);
/* Unknowns that follow inputs, along a seed: what they are beside the point, and how far that is. */
struct tt_central_difference {
    double *here, *ahead, *behind, distance; /* here may be NULL */
};
/* For kinds, where reading after setting is allowed: moves the inputs by about `share` of their size to both sides, reads, and
 * moves them back. */
TUTTI_CHECKED enum tutti_err tt_unit_central_difference(struct tt_unit *unit, struct tt_instance *instance,
                                                        const uint32_t *unknowns, size_t unknown_count,
                                                        const uint32_t *knowns, size_t known_count, const double *seed,
                                                        double share, struct tt_central_difference *beside);
/* For kinds, at such a point: tests the FMU's directional derivatives of outputs by inputs, along this seed, against
 * differences. Contradicting ones are disabled, with a warning. */
TUTTI_CHECKED enum tutti_err tt_unit_test_directional(struct tt_unit *unit, struct tt_instance *instance,
                                                      const struct tutti_log *log, const uint32_t *unknowns,
                                                      size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                                      const double *seed, const double *sensitivity);
/* For kinds: records the time of the last counted do-step. Sets times.next to the next step to measure: with
 * `all` the next one, otherwise so rarely that the cost is negligible. */
void tt_unit_record_time(struct tt_unit *unit, bool all, double seconds);
/* Returns the seconds in all do-steps: measured if all were, otherwise estimated. */
double tt_unit_seconds(const struct tt_unit *unit);
/* Returns the seconds in all do-steps of this process, given those in the do-steps up to number `timed`; 0 without any. */
double tt_unit_scale_seconds(const struct tt_unit *unit, double seconds, unsigned long timed);
/* The counts are those of an earlier process now: times are measured from here on. */
void tt_unit_restart_times(struct tt_unit *unit);
/* For kinds, at the end: reports suppressed messages of the FMU. */
void tt_unit_report(const struct tt_unit *unit, const struct tt_instance *instance, const struct tutti_log *log);

/* Values for the result of the equations that a program added (options.integration.extra), where the unit is. Only for a Model
 * Exchange unit that has some. */
TUTTI_CHECKED enum tutti_err tt_me_extra_values(struct tt_unit *unit, double *values);

/* An extent of an array now. */
uint64_t tt_unit_dimension(const struct tt_unit *unit, const struct tt_dimension *dimension);
/* Number of values of a variable now (1 for a scalar). LIMIT if it is beyond reason. */
TUTTI_CHECKED enum tutti_err tt_unit_extent(const struct tt_unit *unit, uint32_t variable, size_t *extent);
/* Where an element lies among the values of its variable (row-major), by the present extents. ARGUMENT if it is
 * outside. */
TUTTI_CHECKED enum tutti_err tt_unit_element(const struct tt_unit *unit, uint32_t variable,
                                             const struct tt_indices *element, size_t *place);
/* Lays out variables with their present extents. */
TUTTI_CHECKED enum tutti_err tt_unit_signals(const struct tt_unit *unit, const uint32_t *variables, size_t count,
                                             struct tt_signals *signals);

/* All blocks of a set of signals. */
TUTTI_CHECKED enum tutti_err tt_unit_set(struct tt_unit *unit, const struct tt_signals *signals);
TUTTI_CHECKED enum tutti_err tt_unit_get(struct tt_unit *unit, struct tt_signals *signals);

#endif
