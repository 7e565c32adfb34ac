/* SPDX-License-Identifier: MIT */
/* linear_model.h - the units of a rank and what connects them, linearised where they are, for step_operator.h. */
#ifndef TT_SIM_START_LINEAR_MODEL_H
#define TT_SIM_START_LINEAR_MODEL_H

#include "model/plan/step_order.h"
#include "sim/rank.h"
#include "sim/start/step_operator.h"

/* Units for Co-Simulation do not expose their states. If their FMU also supports Model Exchange, a second unit of it can be linearised with the
 * same parameters and inputs. */
enum tt_linear_twins {
    TUTTI_TWINS_NONE,
    TUTTI_TWINS_HERE,  /* its messages go to the log of the rank's units */
    TUTTI_TWINS_BESIDE /* in a child process: a crash there does not affect the run */
};

struct tt_linear_model {
    struct tt_linear_system system;
    bool by_twins; /* units for Co-Simulation were linearised by their Model Exchange interface */
    struct tt_arena arena;
};

/* Collective; for units that have left their initialisation, which are read but not changed. `running` is the structure
 * of the running phase, `sequence` the order of units that step sequentially. UNSUPPORTED where a unit cannot be
 * linearised, SOLVER where its derivatives are not finite; all ranks fail then. Release it also after a failure. */
TUTTI_CHECKED enum tutti_err tt_linear_model_init(struct tt_linear_model *model, struct tt_rank *rank,
                                                  const struct tt_structure *running,
                                                  const struct tt_step_sequence *sequence, enum tt_linear_twins twins);
void tt_linear_model_fini(struct tt_linear_model *model);

/* The connections of a system from continuous outputs to continuous inputs, number by number: the matrix L of Andersson
 * 2016 eq. 5.5, u = L y, as a list. */

/* `count` values, from one element on: input (to, to_element + e) += factor * output (from, from_element + e). */
struct tt_signal_link {
    uint32_t from, to; /* nodes of the job's structure */
    size_t from_element, to_element, count;
    double factor;
};

/* A Float64 variable that moves between events. */
bool tt_linear_model_is_real(const struct tt_var *var);
const struct tt_var *tt_linear_model_variable(const struct tt_structure *structure, uint32_t node);

typedef void tt_linear_model_visit_link(void *context, const struct tt_signal_link *link);
/* Of the running system: connections for the start only are none. */
void tt_linear_model_each_link(const struct tt_rank *rank, tt_linear_model_visit_link *visit, void *context);

/* UNSUPPORTED, naming it, if something continuous is connected that is neither an input nor an output: it has no place in u and y. */
TUTTI_CHECKED enum tutti_err tt_linear_model_check_links(const struct tt_rank *rank);

#endif
