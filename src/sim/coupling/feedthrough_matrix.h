/* SPDX-License-Identifier: MIT */
/* feedthrough_matrix.h - D of a running system (Andersson 2016 eq. 5.8, 6.54): how the continuous outputs of its units follow
 * their continuous inputs where they are, between two steps.
 *
 * Of a unit that has directional derivatives, its own are taken; a Model Exchange unit always has some (by differences,
 * which its mode allows). A Co-Simulation FMU without them must not be read after its inputs are set, before it has made a
 * step: it is saved, makes a very short step with the inputs as they are, and one more per input with that moved a little,
 * and is restored each time. */
#ifndef TT_SIM_COUPLING_FEEDTHROUGH_MATRIX_H
#define TT_SIM_COUPLING_FEEDTHROUGH_MATRIX_H

#include "sim/rank.h"
#include "solve/lu.h"

/* A column of D: a connected Float64 input, or an element of one, that some output follows at once. */
struct tt_feedthrough_column {
    uint32_t place;             /* in wires.gathered */
    uint32_t unit;              /* the unit of the input: tt_feedthrough_matrix.units */
    uint32_t reference;         /* of the variable */
    double size;                /* of its values where they count */
    const struct tt_wire *wire; /* the wire of its value */
    uint32_t element;           /* the element on that wire */
    uint32_t source;            /* the real it comes from; TUTTI_NONE: a different type */
    bool sums;                  /* further wires add to it */
    uint32_t first;             /* of its entries */
};

struct tt_feedthrough_unit {
    uint32_t component;
    struct tt_member *member; /* NULL: another rank's */
    bool directional;         /* else short steps are tried */
    bool by_rows;             /* by adjoint derivatives, which need fewer evaluations */
    bool rows_tested;         /* they were compared with a directional derivative */
    bool unknown;             /* or impossible: its D is unknown, and assumed to be 0 */
    uint32_t column_first, column_count;
    struct tt_unit_saved *saved;
};

struct tt_feedthrough_matrix {
    struct tt_feedthrough_column *columns; /* by place; and one more, for where the last one's entries end */
    uint32_t column_count;
    struct tt_feedthrough_unit *units; /* those with columns */
    uint32_t unit_count;
    /* Entries, column by column, by row. Their values are the caller's. */
    uint32_t *rows;       /* wires.reals */
    uint32_t *references; /* of the output */
    uint32_t *knowns;     /* per column: the reference of the input */
    double *again;        /* room for values */
    uint32_t entry_count;
    bool *moves;                                      /* per place in wires.gathered: inside a step */
    double *base, *moved;                             /* room for the outputs of a unit */
    double *staged, *staged_slopes[TUTTI_MOST_ORDER]; /* its inputs during trials */
    struct tt_arena arena;
};

/* The scope of the request. */
struct tt_feedthrough_scope {
    bool entries;  /* else only which inputs move */
    bool may_miss; /* tolerates units without available values, also in an algebraic loop */
};

/* Builds the pattern from the dependencies in the model structures of the running phase. UNSUPPORTED, naming the unit,
 * if the values of a unit in an algebraic loop are unavailable. fini accepts a zeroed matrix; call it while the units
 * exist. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_init(struct tt_feedthrough_matrix *sensitivity, struct tt_rank *rank,
                                                        const struct tt_structure *running,
                                                        struct tt_feedthrough_scope scope);
void tt_feedthrough_matrix_fini(struct tt_feedthrough_matrix *sensitivity);

/* The values of one unit's entries (of this rank), where the unit is; `h` is the size of the run's steps there. *done
 * is false, and `values` is undefined, if they cannot be determined: at an event, at the end of the run, outside a
 * domain, on a jump. Trial steps count as auxiliary. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_measure(struct tt_feedthrough_matrix *sensitivity,
                                                           struct tt_rank *rank, uint32_t unit, double h,
                                                           double *values, bool *done);

/* The staged input at a place as it is where the member is now, or its derivative of order 1 or 2 there. */
double tt_feedthrough_matrix_input_value(const struct tt_feedthrough_matrix *sensitivity, const struct tt_rank *rank,
                                         const struct tt_member *member, uint32_t place, unsigned derivative);

/* The matrix I - D L of a running system (Andersson 2016 eq. 6.53), factorised: D is how outputs follow inputs
 * (feedthrough_matrix.h), L how inputs follow outputs along the connections. */

struct tt_feedthrough_factors {
    struct tt_lu *lu;
    double *values; /* of D L that it was made of */
    bool made;
};

struct tt_feedthrough_loop {
    const struct tt_feedthrough_matrix *sensitivity; /* borrowed */
    size_t *product_at; /* per entry of D: where its product with L is added; SIZE_MAX: nowhere */
    size_t product_count;
    double *values; /* of D L */
    struct tt_feedthrough_factors main, aside;
    unsigned long factorizations; /* so far */
    struct tt_arena arena;
};

/* `reals` is the number of rows. A zeroed one is fine for fini. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_init_loop(struct tt_feedthrough_loop *feedback,
                                                             const struct tt_feedthrough_matrix *sensitivity,
                                                             uint32_t reals);
void tt_feedthrough_matrix_fini_loop(struct tt_feedthrough_loop *feedback);

/* Solves (I - D L) x = right in place, with these values of D. An identical factorisation is reused; otherwise with
 * `aside` a second one is made without discarding the first, which will be needed again. *singular: there is no
 * solution, and `right` is unchanged. Results depend on D and `right` only, not on earlier factorisations. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_solve_loop(struct tt_feedthrough_loop *feedback, const double *d,
                                                              bool aside, double *right, bool *singular);

/* How much an input moves with the real that is its source. */
double tt_feedthrough_matrix_factor(const struct tt_feedthrough_column *column);

#endif
