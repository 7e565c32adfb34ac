/* SPDX-License-Identifier: MIT */
/* wires.h - the signals between the units of a run as flat arrays: what the step loop touches instead of names.
 *
 * All outputs that are read lie in one piece, `signals`, each unit's in a slice of its own, by type, so that an FMI
 * call writes them straight into it. Inputs are staged likewise. Moving inputs without a conversion, nearly all of what there is, is one
 * loop over an index list; everything else (other types, conversions, sums) is a list of wires.
 *
 * Invariants:
 *  W1  One set and one get call per unit, type and step.
 *  W2  Moving values allocates nothing, except for Strings and Binaries that grow.
 *  W3  What the master feeds to inputs are signals, too, after those of units: each in a place of its own (`fed`), with derivatives
 *      if signals move. A unit gets them as it gets outputs of others. The master lays them before a step; going back to its start
 *      leaves them alone.
 *  W4  Sources are offsets in `signals`, not addresses: they mean the same on every rank, and in a copy (`source`).
 *  W5  Outputs and moving inputs of Float32 are staged as doubles, in blocks of Float64 of their own: units take and give them so
 *      (fmu/instance.h). What moves, is extrapolated and compared is doubles only. */
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
    uint32_t component; /* whose it is */
    bool smooth;        /* continuous: moves between events */
    bool narrow;        /* a Float32: no more than 24 bits of it mean something */
    double nominal;     /* its size where it counts: 1 unless the FMU says otherwise */
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

/* The values of a Float64 variable? */
static inline bool tt_wires_slot_is_double(const struct tt_slot *slot)
{
    return slot->type == TUTTI_TYPE_FLOAT64 && !slot->narrow;
}

/* Derivatives with which signals move in a step; those with which they are extrapolated. */
enum { TUTTI_MOST_ORDER = 3, TUTTI_MOST_EXTRAPOLATION = 2 };

/* How a unit is told that its inputs move: `count` pairs of reference and order, in one FMI call; or, with none of these,
 * by asking for them inside the step (FMI 3.0). */
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
    bool halves;              /* its steps are made in two halves, with inputs of their own: coupled_inputs.h */
    struct tt_slopes *slopes; /* NULL: the unit takes none */
    uint32_t gather_first, gather_count; /* Float64 of `moving` */
    uint32_t wire_first, wire_count;     /* into `moving`, other than those */
    uint32_t held_first, held_count;     /* wires into `held` */
};

struct tt_wires {
    const struct tt_structure *structure; /* of the initial phase; borrowed */
    char *signals;
    size_t signal_size;
    size_t
        unit_size; /* of these: what a point to go back to has; what the master feeds follows, and it lays that by itself */
    struct tt_slot *slots;       /* per node of the structure */
    struct tt_unit_wires *units; /* per component */
    const char *source;          /* moving inputs come from here: signals, or another array with the same layout */
    const char *held_source;     /* discrete ones from here: likewise */
    char *staged;                /* inputs that are not in `gathered` */
    size_t staged_size;
    double *gathered; /* staged Float64 inputs of all units, one after the other */
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
    bool plain;    /* gathering is all there is to do in a step: no unit has moving inputs but those */
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

/* Stages the moving inputs of one unit, or of all own ones. LIMIT if a value does not fit the destination's type. */
TUTTI_CHECKED enum tutti_err tt_wires_gather(struct tt_wires *wires, const struct tt_unit_wires *unit);
TUTTI_CHECKED enum tutti_err tt_wires_gather_all(struct tt_wires *wires);
/* Stages the discrete inputs; unit->held_changed becomes true if one is another than before. */
TUTTI_CHECKED enum tutti_err tt_wires_gather_held(struct tt_wires *wires, struct tt_unit_wires *unit);
/* *other becomes true if what a wire brings is another value than the one staged. */
TUTTI_CHECKED enum tutti_err tt_wires_value_differs(const struct tt_wires *wires, const struct tt_wire *wire,
                                                    bool *other);
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
/* Does the unit have connected Float32 variables, which hide small differences? */
bool tt_wires_has_narrow(const struct tt_wires *wires, uint32_t component);
/* The values of all reals, from `signals` or another array with its layout, as a dense vector. */
void tt_wires_get_reals(const struct tt_wires *wires, const char *signals, double *out);
/* The real at a place in signals, the index of a double; TUTTI_NONE: there is none. */
uint32_t tt_wires_find_real(const struct tt_wires *wires, size_t place);
/* A vector with a value per real is remembered, each with the unit whose output it is. */
TUTTI_CHECKED enum tutti_err tt_wires_register_reals(const struct tt_wires *wires, struct tt_rollback_list *remembered,
                                                     double *values);
/* Sets derivative number `order` (1 ...) of all signals. */
void tt_wires_store_slopes(struct tt_wires *wires, unsigned order, const double *values);
/* After other bytes were put into signals, where units have gone back to: reads Strings and Binaries there again, which
 * are pointers. `units` is per component. */
TUTTI_CHECKED enum tutti_err tt_wires_reread_texts(struct tt_wires *wires, struct tt_unit *const *units);

/* Does a connection bring numbers to this input in every step? Not to one that the master feeds, nor where clocks tick. */
bool tt_wires_has_numbers(const struct tt_wires *wires, uint32_t node);
/* ... what the present signals bring to it, as its staged values are, into `values`; elements without a connection are as they are
 * staged. Staged values, and the values that the unit received, stay unchanged. LIMIT as above. */
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
