/* SPDX-License-Identifier: MIT */
/* unit.h - what can be stepped.
 *
 * A unit is one FMU in a run, with whatever it takes to make it step: for Co-Simulation the FMU's own solver. Masters see
 * only this interface. A kind is one file that exports one const struct; to add one: copy cs.c, list it in unit.c, run
 * `ctest -L unit`.
 *
 * Life of a unit: new, configure, enter_init, [get, set ...], exit_init, [set, step, get, event ...], terminate,
 * free. */
#ifndef TUTTI_UNIT_UNIT_H
#define TUTTI_UNIT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "fmi/fmu.h"
#include "fmi/instance.h"
#include "system/setting.h"
#include "unit/signals.h"

struct tutti_unit;

struct tutti_unit_options {
    const char *name;            /* borrowed for the unit's life */
    const struct tutti_log *log; /* borrowed for the unit's life */
    bool logging_on;             /* let the FMU tell its debug messages */
    bool timing;                 /* measure the time spent in the FMU */
    /* Inputs that move inside a step (FMI 3.0 intermediate update): value references of the FMU's variables with
     * intermediateUpdate, and who writes their values at t into `values`. Borrowed. NULL: none. */
    const uint32_t *moving;
    size_t moving_count;
    void (*moving_sample)(void *context, double t, double *values);
    void *moving_context;
};

struct tutti_unit_counts {
    unsigned long do_steps, gets, sets, init_evaluations;
    double seconds; /* in do-steps, if timing */
};

/* What an event brought. */
struct tutti_unit_event {
    bool terminate;
    double next_event; /* INFINITY: none announced */
};

struct tutti_unit_kind {
    const char *name; /* "cs" */
    enum tutti_interface_kind interface;
    size_t size; /* bytes of the kind's struct, which starts with a struct tutti_unit */

    /* Brings the FMU to life. Called once, on a zeroed struct with the common part filled in. */
    enum tutti_err (*start)(struct tutti_unit *unit, const struct tutti_unit_options *options);
    /* Releases whatever start made, also after a failed start; may call the FMU. */
    void (*finish)(struct tutti_unit *unit);

    /* Structural parameters; called at most once, before anything else is set. */
    enum tutti_err (*configure)(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count);
    enum tutti_err (*enter_init)(struct tutti_unit *unit, const struct tutti_experiment_setup *setup);
    enum tutti_err (*exit_init)(struct tutti_unit *unit);

    /* One FMI call each. */
    enum tutti_err (*set)(struct tutti_unit *unit, const struct tutti_block *block);
    enum tutti_err (*get)(struct tutti_unit *unit, struct tutti_block *block);
    /* Slopes of Real inputs over the coming step; only if unit->can says TUTTI_CAN_INPUT_DERIVATIVES. */
    enum tutti_err (*set_slopes)(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                 const double *slopes);

    /* From t towards t + h. Never an error for a short step: see struct tutti_step. */
    enum tutti_err (*step)(struct tutti_unit *unit, double t, double h, struct tutti_step *step);
    /* Event mode at the time reached, only if unit->has_events: enter (not right after exit_init, which leaves the
     * unit in it), then set inputs if need be, then settle: iterate until the discrete states rest, and back to
     * stepping unless the FMU wants to end. */
    enum tutti_err (*enter_event)(struct tutti_unit *unit);
    enum tutti_err (*settle)(struct tutti_unit *unit, struct tutti_unit_event *event);
    /* The end of a run that went well; called at most once, nothing but finish follows. */
    enum tutti_err (*terminate)(struct tutti_unit *unit);
};

extern const struct tutti_unit_kind tutti_unit_cs;

struct tutti_unit {
    const struct tutti_unit_kind *kind;
    const char *name;
    struct tutti_fmu *fmu; /* borrowed */
    uint32_t can;          /* TUTTI_CAN_* that FMU and library offer */
    bool has_events;       /* event mode is used */
    bool uniform;          /* steps of one size only */
    uint64_t *sizes;       /* per variable: values of structural parameters that are extents; NULL: there are none */
    struct tutti_unit_counts counts;
};

/* The kind of unit that an FMU can be; UNSUPPORTED, saying why, if there is none. */
TUTTI_CHECKED enum tutti_err tutti_unit_kind_for(const struct tutti_fmu *fmu, const struct tutti_unit_kind **kind);
/* Makes a unit of the kind that fits the FMU. `fmu` is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_unit_new(struct tutti_unit **out, struct tutti_fmu *fmu,
                                            const struct tutti_unit_options *options);
void tutti_unit_free(struct tutti_unit *unit);

/* Before the initialisation: structural parameters among `settings`, in configuration mode; then all others but inputs. */
TUTTI_CHECKED enum tutti_err tutti_unit_apply(struct tutti_unit *unit, const struct tutti_setting *settings,
                                              size_t count);
/* Inputs among `settings`, after enter_init: FMI 2.0 takes them there only. */
TUTTI_CHECKED enum tutti_err tutti_unit_apply_inputs(struct tutti_unit *unit, const struct tutti_setting *settings,
                                                     size_t count);

/* An extent of an array now. */
uint64_t tutti_unit_dimension(const struct tutti_unit *unit, const struct tutti_dimension *dimension);
/* Number of values of a variable now (1 for a scalar). LIMIT if it is beyond reason. */
TUTTI_CHECKED enum tutti_err tutti_unit_extent(const struct tutti_unit *unit, uint32_t variable, size_t *extent);
/* Where an element lies among the values of its variable (row-major), by the present extents. ARGUMENT if it is
 * outside. */
TUTTI_CHECKED enum tutti_err tutti_unit_element(const struct tutti_unit *unit, uint32_t variable,
                                                const struct tutti_indices *element, size_t *place);
/* Lays out variables with their present extents. */
TUTTI_CHECKED enum tutti_err tutti_unit_signals(const struct tutti_unit *unit, const uint32_t *variables, size_t count,
                                                struct tutti_signals *signals);

/* All blocks of a set of signals. */
TUTTI_CHECKED enum tutti_err tutti_unit_set(struct tutti_unit *unit, const struct tutti_signals *signals);
TUTTI_CHECKED enum tutti_err tutti_unit_get(struct tutti_unit *unit, struct tutti_signals *signals);

#endif
