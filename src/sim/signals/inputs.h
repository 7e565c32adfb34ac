/* SPDX-License-Identifier: MIT */
/* inputs.h - trajectory files drive the inputs of a unit. Units that share a file have one of these each. */
#ifndef TT_SIM_SIGNALS_INPUTS_H
#define TT_SIM_SIGNALS_INPUTS_H

#include "base/options/options.h"
#include "base/options/option_words.h"
#include "model/system/trajectory.h"
#include "unit/unit.h"

/* The values of a line that a Co-Simulation unit gets in a step: the line, if it accepts slopes or requests values;
 * otherwise, or if an option selects it, the value at one time of the step. */
enum tt_input_at {
#define TUTTI_LISTED(name, word, meaning) TUTTI_INPUT_##name,
    TUTTI_INPUT_TIMES(TUTTI_LISTED)
#undef TUTTI_LISTED
};

enum tt_interpolation {
#define TUTTI_LISTED(name, word, meaning) TUTTI_INTERPOLATE_##name,
    TUTTI_INTERPOLATIONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

struct tt_inputs_choice {
    enum tt_trajectory_form form; /* of floats, between rows */
    enum tt_input_at at;
};

/* From the options interpolate and input_at; ARGUMENT, with the possible values. */
TUTTI_CHECKED enum tutti_err tt_inputs_choose(const struct tutti_run_options *options, struct tt_inputs_choice *choice);

/* Some of the driven inputs of the unit. */
struct tt_input_set {
    uint32_t *variables;
    size_t count;
    struct tt_signals signals;
};

/* Where a unit's inputs are between two steps. Plain data: a snapshot copies it. */
struct tt_inputs_state {
    double time;           /* where the inputs are read: the unit's time, or a jump that equals it up to rounding */
    double event;          /* the next jump */
    double kink;           /* the next change of a slope; -INFINITY: it is set before every step */
    double row;            /* the next row at which a step must end without a jump; INFINITY: none */
    bool jumped;           /* there is a jump at `time` that the unit has not received yet */
    bool held_changed;     /* there are new values of held inputs that the unit has not received */
    double straight_until; /* the unit knows their movement until then */
    double step_start;     /* of the present step: a jump there has happened already */
    /* the time up to which the unit has held values, if it gets those of a later time than the step's beginning */
    double told;
    /* Events missed because steps were too long, up to `counted`: changes of held values that the unit received late,
     * or never; rows where the file is far from the unit's line. */
    double counted;
    unsigned long late, unseen, bent;
};

struct tt_inputs {
    struct tt_trajectory *trajectory;
    struct tt_inputs_choice choice; /* set before open */
    enum tt_interface_kind kind;
    enum tt_input_at
        at; /* choice.at, or what bounds errors better where that is auto: sim/start/input_rows.c, sim/component.c */
    bool halves;       /* steps are made in two halves: with the value at the beginning, with that at the end */
    bool ends_at_rows; /* steps end at rows that bend a line */
    double splinter;   /* unless they are this close to the end of the previous step */
    double slack;      /* a jump that is this soon after a point is at that point: for units of one step size */
    struct tt_input_set moving; /* continuous: new values at every step */
    struct tt_input_set held;   /* all others: new values at events only */
    struct tt_inputs_state now;
    size_t *signal_of;   /* per variable of the FMU: 1 + its place in its set, or 0 */
    size_t *column_of;   /* 1 + its first column, or 0 */
    void **column_slots; /* per column: where its value goes */
    /* Columns of inputs whose movement inside a step the FMU supports, as slopes or by intermediate update: Float64
     * scalars, in Model Exchange arrays and Float32, too. */
    size_t *slope_columns;
    uint32_t *slope_references;
    size_t *slope_elements;
    double *slopes;
    int32_t *slope_orders; /* all 1 */
    size_t continuous;     /* values that move between rows */
    size_t slope_count;
    /* The columns on curves, which a Model Exchange unit evaluates at any time: they have no slopes above. */
    size_t *curve_columns;
    uint32_t *curve_references;
    size_t *curve_elements;
    size_t curve_count;
    bool asked;     /* the FMU requests all of them inside its steps */
    bool *followed; /* per column: true if it is one of them */
};

/* Reads the chosen columns of `files` (borrowed) against `desc`, for a unit of this interface. `inputs` is zeroed but for
 * its choice. */
TUTTI_CHECKED enum tutti_err tt_inputs_open(struct tt_inputs *inputs, const struct tt_trajectory_file *files,
                                            size_t file_count, const struct tt_description *desc,
                                            enum tt_interface_kind kind, const struct tt_trajectory_input *columns,
                                            size_t count);
/* Also after a failed open, or on a zeroed struct. */
void tt_inputs_close(struct tt_inputs *inputs);

/* Lays out the inputs of `unit`, which is configured and not yet initialised, and has these settings. */
TUTTI_CHECKED enum tutti_err tt_inputs_bind(struct tt_inputs *inputs, struct tt_unit *unit,
                                            const struct tt_setting *settings, size_t count);

/* Attaches the curves of bound inputs to a newly created unit, which may evaluate them at any time. */
TUTTI_CHECKED enum tutti_err tt_inputs_attach_curves(struct tt_inputs *inputs, struct tt_unit *unit);

/* For struct tt_unit_options.moving_sample; context is the inputs. */
void tt_inputs_sample_moving(void *context, double t, double *values);

/* Returns true if a unit with these capabilities (TUTTI_CAN_*) gets values of one time in a step instead of lines. */
bool tt_inputs_are_held(const struct tt_inputs *inputs, uint32_t can);
/* Returns true if the values it gets depend on the length of its steps. Also for a unit that gets slopes, if inputs are
 * curves: it gets chords. */
bool tt_inputs_depend_on_steps(const struct tt_inputs *inputs, uint32_t can);
/* Returns true if an output of its FMU may directly depend on such an input. */
bool tt_inputs_feed_through(const struct tt_inputs *inputs, const struct tt_unit *unit);

/* Takes the values at t: those before a jump, or after it. */
void tt_inputs_sample(struct tt_inputs *inputs, double t, bool after);
/* Hands all values to the unit before the initialisation, as tt_unit_try_inputs does. */
TUTTI_CHECKED enum tutti_err tt_inputs_try_set(const struct tt_inputs *inputs, struct tt_unit *unit, bool *refused);
/* Hands all values to the unit: at the initialisation, and inside an event. */
TUTTI_CHECKED enum tutti_err tt_inputs_set_all(struct tt_inputs *inputs, struct tt_unit *unit);
/* Called when the unit has reached t: stores the values there of followed columns, for the record; all others are the
 * values last set. Detects jumps. */
void tt_inputs_update(struct tt_inputs *inputs, const struct tt_unit *unit, double t, double span);
/* In event mode: hands over the values after a jump, if there was one. */
TUTTI_CHECKED enum tutti_err tt_inputs_apply_jump(struct tt_inputs *inputs, struct tt_unit *unit);
/* Before a step: hands the values at t to the unit, and how they move until `target`, if it can take that. Held ones only
 * if they changed since (tt_inputs_update): for an FMU each set of a discrete input may be an event. */
TUTTI_CHECKED enum tutti_err tt_inputs_apply(struct tt_inputs *inputs, struct tt_unit *unit, double t, double target);
/* Before a step: fills in now.event, kink and row from now.time on. */
void tt_inputs_find_next(struct tt_inputs *inputs, const struct tt_unit *unit);

/* Where the current value of an input (of an array: the one at `place`) lives, or NULL if the file does not drive it. */
const void *tt_inputs_slot(const struct tt_inputs *inputs, uint32_t variable, size_t place);

/* Packs their position and values for a different process; and unpacks them. FORMAT. */
void tt_inputs_pack(const struct tt_inputs *inputs, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_inputs_unpack(struct tt_inputs *inputs, struct tt_byte_reader *in);

/* Returns the name of the file that drives a variable with a slot. */
const char *tt_inputs_file_name(const struct tt_inputs *inputs, uint32_t variable);

#endif
