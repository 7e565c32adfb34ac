/* SPDX-License-Identifier: MIT */
/* wires.h - the signals between the units of a run as flat arrays, which the step loop uses instead of names.
 *
 * All outputs with readers lie in one array, `signals`, each unit's in a separate slice, by type, so that an FMI call
 * writes them directly into it. Inputs are gathered likewise. Copying inputs without a conversion, nearly all of them,
 * is one loop over an index list; all others (other types, conversions, sums) are a list of wires.
 *
 * Invariants:
 *  W1  One set and one get call per unit, type and step.
 *  W2  Moving values allocates nothing, except for Strings and Binaries that grow.
 *  W3  Values that the master feeds to inputs are signals, too, after those of units: each in a separate place
 *      (`fed`), with derivatives if signals move. A unit receives them like connected outputs. The master computes
 *      them before a step; rolling back to its start does not change them.
 *  W4  Sources are offsets in `signals`, not addresses: they are equal on every rank, and in a copy (`source`).
 *  W5  Outputs and moving inputs of Float32 are stored as doubles, in separate blocks of Float64, as units accept
 *      and return them (fmu/instance.h). Movement, extrapolation and comparison use doubles only. */
#ifndef TT_SIM_SIGNALS_WIRES_H
#define TT_SIM_SIGNALS_WIRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/rollback_list.h"
#include "model/plan/structure.h"
#include "model/system/system.h"
#include "unit/unit.h"

/* One connection: `count` values. */
struct tt_wire {
    size_t from; /* offset in signals, bytes */
    void *to;    /* staged input */
    const struct tt_conversion *conversion;
    struct tt_owned *owned; /* String and Binary: of `to` */
    const struct tt_connection *connection;
    uint32_t count;
    bool adds; /* to what the wire before it brings there: Float64 only */
};

/* A Float64 output that units read, or an element of one. */
struct tt_real_signal {
    uint32_t place;     /* index of a double in signals */
    uint32_t node;      /* of the structure */
    uint32_t component; /* the component that has it */
    bool smooth;        /* continuous: moves between events */
    bool narrow;        /* a Float32: only 24 bits of it are significant */
    double nominal;     /* its nominal value; 1 unless the FMU declares one */
};

/* Where the values of a node lie. */
struct tt_slot {
    void *values;
    struct tt_owned *owned; /* String and Binary: of the first value */
    uint32_t reference, count;
    uint8_t type;                    /* enum tt_type, of the staged values (W5) */
    uint32_t wire_first, wire_count; /* inputs: the connections that end here */
    bool fed;                        /* by the master; at the start it gets nothing else */
    bool narrow;                     /* a Float32 that is staged as doubles (W5) */
};

/* Returns true for the values of a Float64 variable. */
static inline bool tt_wires_slot_is_double(const struct tt_slot *slot)
{
    return slot->type == TUTTI_TYPE_FLOAT64 && !slot->narrow;
}

/* Derivatives with which signals move in a step; those with which they are extrapolated. */
enum { TUTTI_MOST_ORDER = 3, TUTTI_MOST_EXTRAPOLATION = 2 };

/* How a unit receives the movement of its inputs: `count` pairs of reference and order, in one FMI call; or, with a
 * count of 0, by requesting them inside the step (FMI 3.0). */
struct tt_slopes {
    size_t count;
    uint32_t *references;
    size_t *elements; /* of arrays */
    int32_t *orders;
    double *values;
};

/* A piece of an array. */
struct tt_gather_part {
    uint32_t first, count;
};

/* A unit's share. */
struct tt_unit_wires {
    struct tt_block *outputs, *moving, *held; /* held: discrete inputs, set only when they change */
    uint8_t output_blocks, moving_blocks, held_blocks;
    bool held_changed;
    bool halves;                         /* its steps are made in two halves, with separate inputs: coupled_inputs.h */
    struct tt_slopes *slopes;            /* NULL: the unit takes none */
    uint32_t gather_first, gather_count; /* Float64 of `moving` */
    uint32_t wire_first, wire_count;     /* into `moving`, other than those */
    uint32_t held_first, held_count;     /* wires into `held` */
};

struct tt_wires {
    const struct tt_structure *structure; /* of the initial phase; borrowed */
    char *signals;
    size_t signal_size;
    size_t unit_size;      /* of these: saved in snapshots; values fed by the master follow, which it computes again */
    struct tt_slot *slots; /* per node of the structure */
    struct tt_unit_wires *units; /* per component */
    char *staged;                /* inputs that are not in `gathered` */
    size_t staged_size;
    double *gathered; /* gathered Float64 inputs of all units, in sequence */
    uint32_t *gather; /* where each comes from: index of a double in signals */
    uint32_t gather_count;
    /* Of those: what units of this rank read, in as few pieces as can be; and which components are not of it (NULL: all are). */
    struct tt_gather_part *parts;
    uint32_t part_count;
    const bool *others;
    /* How Float64 signals move from the beginning of a step on, and with them the inputs: derivatives of order 1 to 3. */
    unsigned order; /* 0: signals are held */
    double *slopes[TUTTI_MOST_ORDER], *gathered_slopes[TUTTI_MOST_ORDER];
    struct tt_real_signal *reals; /* every Float64 output that is read, element by element; by component */
    uint32_t *real_first;         /* per component, and one more */
    uint32_t real_count;
    uint32_t *fed; /* per input that the master feeds (system->fed): index of a double in signals, which is its own */
    bool plain;    /* gathering suffices in a step: units have no other moving inputs */
    struct tt_wire *wires;
    uint32_t wire_count;
    struct tt_arena arena;
};

/* Lays out the signals of units that are configured (arrays have their extents, and inputs of FMI 3.0 their start values:
 * elements that no connection reaches keep these). `units` is per component. */
TUTTI_CHECKED enum tutti_err tt_wire_layout_init(struct tt_wires *wires, const struct tt_structure *structure,
                                                 struct tt_unit *const *units);
/* From now on inputs are gathered for some components only: place[c] == rank. */
TUTTI_CHECKED enum tutti_err tt_wires_select_own(struct tt_wires *wires, const int32_t *place, int rank);
void tt_wires_fini(struct tt_wires *wires);

/* Stages the moving inputs of one unit with the values in `source`, which has the layout of wires->signals. LIMIT if a value does not
 * fit the destination's type. */
TUTTI_CHECKED enum tutti_err tt_wires_gather(struct tt_wires *wires, const char *source,
                                             const struct tt_unit_wires *unit);
/* Stages the moving inputs of all own units with the values in wires->signals. LIMIT as above. */
TUTTI_CHECKED enum tutti_err tt_wires_gather_all(struct tt_wires *wires);
/* Stages the discrete inputs of one unit with the values in `source`; sets unit->held_changed if one differs from before. */
TUTTI_CHECKED enum tutti_err tt_wires_gather_held(struct tt_wires *wires, const char *source,
                                                  struct tt_unit_wires *unit);
/* *other becomes true if the value that a wire carries from `source` differs from the staged one. */
TUTTI_CHECKED enum tutti_err tt_wires_value_differs(const struct tt_wires *wires, const char *source,
                                                    const struct tt_wire *wire, bool *other);
/* Makes room for derivatives up to `order`, all 0; units that take them get theirs with their inputs. */
TUTTI_CHECKED enum tutti_err tt_wires_enable_slopes(struct tt_wires *wires, unsigned order,
                                                    struct tt_unit *const *units);
/* Where the staged input at `place` of `gathered` is after `elapsed` of a step. */
double tt_wires_extrapolate(const struct tt_wires *wires, size_t place, double elapsed);
/* Hands the derivatives of the staged inputs to the unit; after their values. */
TUTTI_CHECKED enum tutti_err tt_wires_set_slopes(const struct tt_wires *wires, const struct tt_unit_wires *wired,
                                                 struct tt_unit *unit);
/* Where the output number `place` of system->read, which the master reads, is among the signals. */
const double *tt_wires_read_output(const struct tt_wires *wires, uint32_t place);
/* The size of a variable where it counts: its nominal value, or 1. */
double tt_wire_layout_nominal(const struct tt_var *var);
/* Returns true if the unit has connected Float32 variables, which hide small differences. */
bool tt_wires_has_narrow(const struct tt_wires *wires, uint32_t component);
/* The values of all reals, from `signals` or another array with its layout, as a dense vector. */
void tt_wires_get_reals(const struct tt_wires *wires, const char *signals, double *out);
/* Returns the real at a place in signals, the index of a double; TUTTI_NONE if there is none. */
uint32_t tt_wires_find_real(const struct tt_wires *wires, size_t place);
/* Registers a vector with a value per real, each owned by the unit of the output. */
TUTTI_CHECKED enum tutti_err tt_wires_register_reals(const struct tt_wires *wires, struct tt_rollback_list *remembered,
                                                     double *values);
/* Sets derivative number `order` (1 ...) of all signals. */
void tt_wires_store_slopes(struct tt_wires *wires, unsigned order, const double *values);
/* After other bytes were put into signals, where units have gone back to: reads Strings and Binaries there again, which
 * are pointers. `units` is per component. */
TUTTI_CHECKED enum tutti_err tt_wires_reread_texts(struct tt_wires *wires, struct tt_unit *const *units);

/* Returns true if a connection sets numbers of this input in every step. False for fed inputs, and where clocks tick. */
bool tt_wires_has_numbers(const struct tt_wires *wires, uint32_t node);
/* Computes the values that the present signals give it, laid out as gathered, into `values`; elements without a
 * connection are as gathered. Gathered values, and the unit's own, stay unchanged. LIMIT as above. */
TUTTI_CHECKED enum tutti_err tt_wires_get_incoming(const struct tt_wires *wires, uint32_t node, void *values);
/* Stages a single input, at the start. */
TUTTI_CHECKED enum tutti_err tt_wires_gather_node(struct tt_wires *wires, uint32_t node);
/* The unit's outputs, into signals. */
TUTTI_CHECKED enum tutti_err tt_wires_get_outputs(const struct tt_unit_wires *wires, struct tt_unit *unit);

/* The Strings and Binaries among the staged inputs of a run, kept for going back: their values are pointers to what
 * the next one is written over. */

struct tt_saved_texts;

/* In the arena; *out stays NULL if no wire has any. */
TUTTI_CHECKED enum tutti_err tt_wires_texts_init(struct tt_saved_texts **out, const struct tt_wires *wires,
                                                 struct tt_arena *arena);
void tt_wires_texts_fini(struct tt_saved_texts *texts); /* NULL is fine, here and below */
TUTTI_CHECKED enum tutti_err tt_wires_texts_save(struct tt_saved_texts *texts, const struct tt_wires *wires);
TUTTI_CHECKED enum tutti_err tt_wires_texts_restore(struct tt_saved_texts *texts, struct tt_wires *wires);

#endif
